// Gather along the hypercube's tree, lowest bit first: blocks of one size, and of any.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/scatter/halving_tree.hpp"

namespace wormcube::algorithms {

WORMCUBE_ALGORITHM(gather_hypercube){
    .operation = operations::gather,
    .name = "hypercube",
    .summary = "along the hypercube's tree, lowest bit first; 2^d nodes of every network",
    .source =
        "Grama, Gupta, Karypis, Kumar, sec. 4.4, Fig. 4.15, Eq. 4.6, problems 4.7, 4.24, 4.26",
    .exactly_once = true,
    .remark = "free of contention but on arbitrary graphs",
    .rows = {{"4.1", "", "hypercube:6"},
             {"4.2", "", "line:8"},
             {"4.2", "", "ring:8"},
             {"4.2", "", "mesh:4x4"},
             {"4.2", "", "torus:4x4"},
             {"4.2", "", "tree:8"},
             {"4.2", "", "complete:8"}},
    .needs = {needs::nodes_power_of_two()},
    .instead = {"halving"},
    .predict = predict_halving<HalvingTree::image>,
    .program = gather_program<HalvingTree::image>,
};

WORMCUBE_ALGORITHM(gatherv_hypercube){
    .operation = operations::gatherv,
    .name = "hypercube",
    .summary = "along the hypercube's tree, lowest bit first; 2^d nodes of every network",
    .source =
        "Grama, Gupta, Karypis, Kumar, sec. 4.4, Fig. 4.15, Eq. 4.6, problems 4.7, 4.24, 4.26",
    .exactly_once = true,
    .remark = "free of contention but on arbitrary graphs",
    .needs = {needs::nodes_power_of_two()},
    .instead = {"halving"},
    .predict = predict_halving_uneven<HalvingTree::image>,
    .program = gather_program<HalvingTree::image>,
};

}  // namespace wormcube::algorithms
