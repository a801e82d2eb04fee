// The total exchange algorithms.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/registry.hpp"

#include "wormcube/collectives/alltoall/bokhari_quadrant.hpp"
#include "wormcube/collectives/alltoall/hypercube_all_port.hpp"
#include "wormcube/collectives/alltoall/hypercube_pairwise.hpp"
#include "wormcube/collectives/alltoall/kim.hpp"
#include "wormcube/collectives/alltoall/mesh.hpp"
#include "wormcube/collectives/alltoall/naive_direct.hpp"
#include "wormcube/collectives/alltoall/product/multiport.hpp"
#include "wormcube/collectives/alltoall/product/multiport_general.hpp"
#include "wormcube/collectives/alltoall/product/product.hpp"
#include "wormcube/collectives/alltoall/ring.hpp"
#include "wormcube/collectives/alltoall/scott_direct.hpp"
#include "wormcube/collectives/alltoall/shift.hpp"
#include "wormcube/collectives/alltoall/suh_mesh.hpp"
#include "wormcube/collectives/alltoall/suh_torus.hpp"
#include "wormcube/collectives/alltoall/sundar_cyclic.hpp"
#include "wormcube/collectives/alltoall/tseng_diagonal.hpp"

#include <array>

namespace wormcube {

namespace {

// The product exchanges have no parameters of their own.
template <void (*require)(const Topology&)>
void require_here(const Topology& topology, const Parameters& /*parameters*/) {
  require(topology);
}
template <Prediction (*predict)(const Topology&)>
Prediction predict_here(const Topology& topology, const Parameters& /*parameters*/) {
  return predict(topology);
}

}  // namespace

std::span<const Algorithm> alltoall_algorithms() {
  constexpr auto operation = Operation::alltoall;
  static const std::array table{
      Algorithm{
          .operation = operation,
          .name = "ring",
          .summary = "neighbours in one direction, bundles that shrink; one line or ring",
          .source = "Grama, Gupta, Karypis, Kumar, sec. 4.5.1, Eq. 4.7",
          .require = require_alltoall_ring,
          .predict = predict_alltoall_ring,
          .program = call<alltoall_ring>,
      },
      Algorithm{
          .operation = operation,
          .name = "mesh",
          .summary = "the ring algorithm dimension by dimension; meshes and tori",
          .source = "Grama, Gupta, Karypis, Kumar, sec. 4.5.2, Eq. 4.8",
          .require = require_alltoall_mesh,
          .predict = predict_alltoall_mesh,
          .program = call<alltoall_mesh>,
      },
      Algorithm{
          .operation = operation,
          .name = "hypercube-pairwise",
          .summary = "every pair of nodes meets once; hypercubes",
          .source = "Grama, Gupta, Karypis, Kumar, sec. 4.5.3, Algorithm 4.10, Eq. 4.10",
          .require = require_alltoall_hypercube_pairwise,
          .predict = predict_alltoall_hypercube_pairwise,
          .program = call<alltoall_hypercube_pairwise>,
      },
      Algorithm{
          .operation = operation,
          .name = "hypercube-all-port",
          .summary = "d rotated copies of the log p exchange on all links at once; hypercubes",
          .source = "Grama, Gupta, Karypis, Kumar, sec. 4.5.3 and 4.7.2",
          .ports = Ports::all,
          .require = require_alltoall_hypercube_all_port,
          .predict = predict_alltoall_hypercube_all_port,
          .program = call<alltoall_hypercube_all_port>,
          .parts = parts_alltoall_hypercube_all_port,
      },
      Algorithm{
          .operation = operation,
          .name = "shift",
          .summary = "step i sends to the node i ranks on; every network",
          .source = "Grama, Gupta, Karypis, Kumar, sec. 4.5.3 with the permutations of 4.6",
          .contention_free = false,
          .remark = "free of contention on hypercubes and complete networks",
          .require = require_alltoall_shift,
          .predict = predict_alltoall_shift,
          .program = call<alltoall_shift>,
      },
      Algorithm{
          .operation = operation,
          .name = "suh-torus",
          .summary = "rings of 4x4 cells, then two hops, then one; tori with sizes of 4, 8, 12, ..",
          .source = "Suh, Shin, as given by Kim et al., sec. 2; n dimensions after its description",
          .require = require_alltoall_suh_torus,
          .predict = predict_alltoall_suh_torus,
          .program = call<alltoall_suh_torus>,
      },
      Algorithm{
          .operation = operation,
          .name = "kim-a1",
          .summary =
              "masters of 2x2 cells exchange for all; tori with sizes of 8, 16, .., or all 4",
          .source = "Kim et al., sec. 2.3, with phases 3 and 4 mended",
          .remark = "n > 2 dimensions: our extension",
          .require = require_alltoall_kim_a1,
          .predict = predict_alltoall_kim_a1,
          .program = alltoall_kim_a1,
      },
      Algorithm{
          .operation = operation,
          .name = "kim-recursive",
          .summary = "the torus is divided k times, masters exchange for all; --divisions k",
          .source = "Kim et al., sec. 2.2 (A_{n-1}, the default) and 2.3",
          .remark = "A_k between A_1 and A_{n-1}, n > 2 dimensions: our extension",
          .require = require_alltoall_kim_recursive,
          .predict = predict_alltoall_kim_recursive,
          .program = alltoall_kim_recursive,
      },
      Algorithm{
          .operation = operation,
          .name = "tseng-diagonal",
          .summary =
              "diagonals, rings of both dimensions by turns; 2-D tori with sizes of 4, 8, ..",
          .source = "Tseng, Gupta, Panda, by their row in Kim et al., Table 1",
          .remark = "reconstruction",
          .require = require_alltoall_tseng_diagonal,
          .predict = predict_alltoall_tseng_diagonal,
          .program = call<alltoall_tseng_diagonal>,
      },
      Algorithm{
          .operation = operation,
          .name = "suh-mesh",
          .summary =
              "rings of every second node, then 2x2 cells; meshes of any dimensions and sizes",
          .source = "Suh, Shin, Yalamanchili, sec. 3 and 4, Table 1",
          .remark = "odd sizes, parity and overlap orders and folded rings are ours",
          .require = require_alltoall_suh_mesh,
          .predict = predict_alltoall_suh_mesh,
          .program = alltoall_suh_mesh,
      },
      Algorithm{
          .operation = operation,
          .name = "bokhari-quadrant",
          .summary = "quadrants exchange with quadrants, and divide; meshes 2^d x 2^d",
          .source = "Bokhari, Berryman 1992, by its row in Suh, Shin, Yalamanchili, Table 2",
          .remark = "reconstruction",
          .require = require_alltoall_bokhari_quadrant,
          .predict = predict_alltoall_bokhari_quadrant,
          .program = call<alltoall_bokhari_quadrant>,
      },
      Algorithm{
          .operation = operation,
          .name = "sundar-cyclic",
          .summary = "halves exchange with halves, rows and columns at once; meshes 2^d x 2^d",
          .source = "Sundar et al. 1994, by its row in Suh, Shin, Yalamanchili, Table 2",
          .remark = "reconstruction",
          .require = require_alltoall_sundar_cyclic,
          .predict = predict_alltoall_sundar_cyclic,
          .program = call<alltoall_sundar_cyclic>,
      },
      Algorithm{
          .operation = operation,
          .name = "scott-direct",
          .summary = "single blocks at the bisection bound; meshes R x C, both multiples of 4",
          .source = "Scott 1991 (the bound)",
          .remark = "construction ours",
          .require = require_alltoall_scott_direct,
          .predict = predict_alltoall_scott_direct,
          .program = call<alltoall_scott_direct>,
      },
      Algorithm{
          .operation = operation,
          .name = "naive-direct",
          .summary = "single blocks, shifts packed first-fit; lines and rings, up to 1024 nodes",
          .source = "none; a baseline for scott-direct",
          .remark = "no formula: the costs predicted are those of its plan",
          .require = require_alltoall_naive_direct,
          .predict = predict_alltoall_naive_direct,
          .program = call<alltoall_naive_direct>,
      },
      Algorithm{
          .operation = operation,
          .name = "product",
          .summary = "single blocks, dimension after dimension; any product of graphs",
          .source = "Dimakopoulos, Dimopoulos 1998, Algorithm A2, Theorem 2, Corollary 2",
          .require = require_here<require_alltoall_product>,
          .predict = predict_here<predict_alltoall_product>,
          .program = call<alltoall_product>,
      },
      Algorithm{
          .operation = operation,
          .name = "product-naive",
          .summary = "the same, one block at a time in all dimensions but the first",
          .source = "Dimakopoulos, Dimopoulos 1998, Algorithm A1",
          .remark = "not meant to be fast: where the theory starts from",
          .require = require_here<require_alltoall_product_naive>,
          .predict = predict_here<predict_alltoall_product_naive>,
          .program = call<alltoall_product_naive>,
      },
      Algorithm{
          .operation = operation,
          .name = "product-multiport",
          .summary = "single blocks, all dimensions at once; 1, 2, 4, .. equal graphs",
          .source = "Dimakopoulos, Dimopoulos 1998, Algorithm A3, Theorem 4, Corollary 3",
          .ports = Ports::all,
          .require = require_here<require_alltoall_product_multiport>,
          .predict = predict_here<predict_alltoall_product_multiport>,
          .program = call<alltoall_product_multiport>,
      },
      Algorithm{
          .operation = operation,
          .name = "product-multiport-general",
          .summary = "single blocks, all dimensions at once; any product of graphs",
          .source = "ours, after Algorithm A3 of Dimakopoulos, Dimopoulos 1998",
          .ports = Ports::all,
          .remark = "our extension; no optimality claimed",
          .require = require_here<require_alltoall_product_multiport_general>,
          .predict = predict_here<predict_alltoall_product_multiport_general>,
          .program = call<alltoall_product_multiport_general>,
      },
  };
  return table;
}

}  // namespace wormcube
