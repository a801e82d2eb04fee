// Gather by interval halving, any number of nodes: blocks of one size, and of any.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/scatter/halving_tree.hpp"

namespace wormcube::algorithms {

WORMCUBE_ALGORITHM(gather_halving){
    .operation = operations::gather,
    .name = "halving",
    .summary = "by interval halving, any number of nodes; every network",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.4, problem 4.1",
    .exactly_once = true,
    .remark = "free of contention in one dimension, and where all sizes are powers of two",
    .rows = {{"4.3", "", "line:7"}},
    .predict = predict_halving<HalvingTree::first>,
    .program = gather_program<HalvingTree::first>,
};

WORMCUBE_ALGORITHM(gatherv_halving){
    .operation = operations::gatherv,
    .name = "halving",
    .summary = "by interval halving, any number of nodes; every network",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.4, problem 4.1",
    .exactly_once = true,
    .remark = "free of contention in one dimension, and where all sizes are powers of two",
    .rows = {{"4.3", "", "line:7"}},
    .predict = predict_halving_uneven<HalvingTree::first>,
    .program = gather_program<HalvingTree::first>,
};

}  // namespace wormcube::algorithms
