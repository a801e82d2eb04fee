// Scatter by halving, dimension by dimension: blocks of one size, and of any.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/scatter/halving_tree.hpp"

namespace wormcube::algorithms {

WORMCUBE_ALGORITHM(scatter_mesh){
    .operation = operations::scatter,
    .name = "mesh",
    .summary = "by halving, dimension by dimension; every network",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.4, problem 4.7",
    .exactly_once = true,
    .remark = "free of contention but on arbitrary graphs, and trees without 2^d leaves",
    .rows = {{"4.4", "", "mesh:4x4"}, {"4.4", "", "mesh:3x5"}},
    .predict = predict_halving<HalvingTree::dimensions>,
    .program = scatter_program<HalvingTree::dimensions>,
};

WORMCUBE_ALGORITHM(scatterv_mesh){
    .operation = operations::scatterv,
    .name = "mesh",
    .summary = "by halving, dimension by dimension; every network",
    .source = "Grama, Gupta, Karypis, Kumar, sec. 4.4, problem 4.7",
    .exactly_once = true,
    .remark = "free of contention but on arbitrary graphs, and trees without 2^d leaves",
    .predict = predict_halving_uneven<HalvingTree::dimensions>,
    .program = scatter_program<HalvingTree::dimensions>,
};

}  // namespace wormcube::algorithms
