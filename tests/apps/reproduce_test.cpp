// The papers' tables: every count equals its corrected formula, and the printed ones are off where
// the errata say so.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/reproduce/grama.hpp"
#include "wormcube/apps/reproduce/paper.hpp"
#include "wormcube/apps/reproduce/wang_tseng_steps.hpp"
#include "wormcube/collectives/choose/ranking.hpp"

#include <string>

#include <catch2/catch.hpp>

namespace {

using namespace wormcube;
using namespace wormcube::apps;

const ReproducedRow& row_of(const ReproducedTable& table, std::string_view label) {
  for (const ReproducedRow& row : table.rows) {
    if (row.row->label == label) return row;
  }
  throw std::runtime_error("no row " + std::string(label));
}

TEST_CASE("the table of Kim et al. counts as corrected, not as printed") {
  const ReproducedTable table = reproduce(kim_paper(), Topology::parse("torus:16x16"), {});
  for (const ReproducedRow& row : table.rows) {
    INFO(row.row->label);
    CHECK(row.passed());
    CHECK(row.check->delivered == true);
  }
  const ReproducedRow& a1 = row_of(table, "A1");
  CHECK(a1.startups.printed == 9.0);
  CHECK(a1.startups.counted == 9.0);
  CHECK(a1.transmission.printed == 1664.0);
  CHECK(a1.transmission.counted == 2176.0);
  CHECK(a1.rearrangement.counted == 2560.0);
  const ReproducedRow& recursive = row_of(table, "A_{n-1}");
  CHECK(recursive.transmission.printed == 7680.0);
  CHECK(recursive.transmission.counted == 6528.0);
  CHECK(recursive.rearrangement.printed == 12288.0);
  CHECK(recursive.rearrangement.counted == 7168.0);
  CHECK(recursive.check->peak_blocks == 16 * 16 * 16 / 2);
  CHECK(row_of(table, "[6] Suh").rearrangement.counted == 768.0);
  CHECK(row_of(table, "[10] Tseng").rearrangement.counted == 2304.0);
}

TEST_CASE("the tables of Suh, Shin and Yalamanchili count as printed on even meshes") {
  const auto network = GENERATE("mesh:4x4", "mesh:8x8", "mesh:6x10", "mesh:4x4x4");
  const ReproducedTable table = reproduce(suh_paper(), Topology::parse(network), {});
  for (const ReproducedRow& row : table.rows) {
    INFO(network << ": " << row.row->label);
    CHECK(row.passed());
    CHECK(row.startups.printed.value_or(-1) >= row.startups.counted);
    CHECK(row.transmission.printed.value_or(-1) >= row.transmission.counted);
  }
  const ReproducedRow& proposed = row_of(table, "proposed");
  CHECK(proposed.startups.printed == proposed.startups.counted);
  CHECK(proposed.transmission.printed == proposed.transmission.counted);
  CHECK(proposed.rearrangement.printed == proposed.rearrangement.counted);
}

TEST_CASE("a paper has no printed figure where its formula does not apply") {
  const ReproducedTable table = reproduce(suh_paper(), Topology::parse("mesh:5x7"), {});
  const ReproducedRow& proposed = row_of(table, "proposed");
  CHECK_FALSE(proposed.startups.printed);
  CHECK(proposed.passed());
  CHECK(table.refused.size() == 2);
}

// Sec. 5 of the paper's own model: A1 saves (N/4 - 3) start-ups over Suh's exchange and moves 3.5
// N^2 blocks and permutes 7 N^2 blocks more.
TEST_CASE("auto chooses between A1 and Suh where the formulas cross") {
  const Topology topology = Topology::parse("torus:32x32");
  const double saved_steps = 32 / 4 - 3, more_blocks = 3.5 * 32 * 32,
               more_rearranged = 7.0 * 32 * 32;
  CostModel model;
  model.transfer_us = 0.002;
  model.rearrange_us = 0.0003;
  constexpr Bytes block_bytes = 100;
  const double crossing = static_cast<double>(block_bytes) *
                          (more_blocks * model.transfer_us + more_rearranged * model.rearrange_us) /
                          saved_steps;
  const auto time = [&](std::string_view name) {
    const Collective collective(find_algorithm(operations::alltoall, name));
    return predicted_us(collective.predict(topology), model, block_bytes);
  };
  model.startup_us = crossing * 1.001;
  CHECK(time("kim-a1") < time("suh-torus"));
  model.startup_us = crossing * 0.999;
  CHECK(time("kim-a1") > time("suh-torus"));

  // `auto` follows: dear start-ups favour few steps, dear bytes few blocks.
  const auto choice = [&](double startup_us) {
    model.startup_us = startup_us;
    return cheapest({.operation = operations::alltoall,
                     .topology = topology,
                     .block_bytes = block_bytes,
                     .model = model});
  };
  const Collective few_steps = choice(1e6), few_blocks = choice(0);
  for (const Collective& collective : admitted(operations::alltoall, topology)) {
    if (collective.algorithm->ports == Ports::all) continue;
    const Prediction prediction = collective.predict(topology);
    if (!prediction.complete()) continue;
    INFO(collective.text());
    CHECK(few_steps.predict(topology).startups <= prediction.startups);
    CHECK(predicted_us(few_blocks.predict(topology), model, block_bytes) <=
          predicted_us(prediction, model, block_bytes));
  }
}

TEST_CASE("every figure of the textbook's chapter counts as corrected") {
  std::size_t as_printed = 0, figures = 0;
  for (const ChapterRow& row : chapter_rows()) {
    INFO(row.place << ": " << row.algorithm << " on " << row.network);
    const ChapterResult result = reproduce_row(row, {.prove_up_to = 0});
    CHECK(result.failures == std::vector<std::string>{});
    for (std::size_t i = 0; i < row.figures.size(); ++i, ++figures) {
      if (is_same_figure(result.counted[i], row.figures[i].printed)) ++as_printed;
    }
  }
  CHECK(grama_errata().size() == 22);
  CHECK(figures - as_printed == 10);
  ChapterRow wrong = chapter_rows().front();
  wrong.figures[0].corrected += 1;
  CHECK_FALSE(reproduce_row(wrong, {}).passed());
}

TEST_CASE("a claim about broadcasts fails if the count is not the corrected one") {
  BroadcastClaims claims = reproduce_theorems(Topology::parse("torus:5x5"), {}, 100);
  REQUIRE(claims.claims.size() == 4);
  for (BroadcastClaim& claim : claims.claims) {
    CHECK(claim.passed());
    if (!claim.counted) continue;
    claim.counted = *claim.counted + 5;
    CHECK_FALSE(claim.passed());
  }
  claims.claims[1].counted = claims.claims[1].corrected;
  claims.claims[1].failures = {"not delivered"};
  CHECK_FALSE(claims.claims[1].passed());
  for (const BroadcastClaim& claim :
       reproduce_theorems(Topology::parse("torus:5x5"), {}, 24).claims) {
    CHECK_FALSE(claim.counted);
  }
}

TEST_CASE("a row that is not recorded has no verdict") {
  const ReproducedTable table =
      reproduce(kim_paper(), Topology::parse("torus:64x64"), {}, {}, 4095);
  for (const ReproducedRow& row : table.rows) {
    CHECK_FALSE(row.check);
    CHECK_FALSE(row.verdict());
    CHECK(row.startups.corrected);
  }
}

}  // namespace
