// `wormcube draw`, `plot` and related options: the files that they write, and their errors.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/tests/cli/program.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube::test;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

namespace {

/// One sentence, exit code 2, nothing on standard output.
void is_refused(const std::string& arguments, const std::string& expected) {
  const Output output = run_wormcube(arguments);
  INFO("wormcube " << arguments << "\n" << output.out << output.err);
  CHECK(output.exit == 2);
  CHECK(output.out.empty());
  CHECK(std::ranges::count(output.err, '\n') == 1);
  CHECK_THAT(output.err, StartsWith("wormcube: ") && Contains(expected));
}

/// A plot of a file of this text is refused.
void plot_is_refused(const std::string& text, const std::string& expected) {
  const TemporaryFile file(".json");
  file.write(text);
  is_refused("plot " + file.path() + " --svg -", expected);
}

}  // namespace

TEST_CASE("plot refuses what it cannot plot", "[cli][draw]") {
  is_refused("plot /nonexistent.json --svg -", "cannot read '/nonexistent.json': No such file");
  is_refused("plot / --svg -", "cannot read '/'");
  plot_is_refused("median 5", "is not JSON");
  plot_is_refused("", "0 results with times; a plot needs 1 or more");
  plot_is_refused("[]", "0 results with times; a plot needs 1 or more");
  plot_is_refused("{\"operation\":\"alltoall\"}", "0 results with times");
  plot_is_refused("[1, \"two\", null, {\"paper\": \"kim\", \"rows\": 7}]", "0 results with times");
  const auto row = [](int schema) {
    return "{\"operation\":\"shift\",\"algorithm\":\"x\",\"topology\":\"ring:4\",\"block_bytes\":8,"
           "\"time_median_us\":5,\"provenance\":{\"schema\":" +
           std::to_string(schema) + "}}";
  };
  plot_is_refused("[" + row(1) + "," + row(2) + "]", "has results of schemas 1 and 2");
  const TemporaryFile one(".json"), other(".json");
  one.write(row(1));
  other.write(row(2));
  is_refused("plot " + one.path() + " " + other.path() + " --svg -", "has schema 1, '");
  is_refused("plot " + one.path(), "missing output; use --html FILE, --svg FILE or --tidy FILE");
  is_refused("plot " + one.path() + " --svg - --ratio-to y",
             "no results of 'y' to compare with; available: x");
  const Output plotted = run_wormcube("plot " + one.path() + " --svg -");
  CHECK(plotted.exit == 0);
  CHECK_THAT(plotted.out, StartsWith("<svg") && Contains("data-y=\"5\""));
}

TEST_CASE("a bare picture has no title, table or command", "[cli][draw]") {
  const std::string drawing = "draw allgather --on ring:4 --algorithm ring --step 0 --svg -";
  const Output whole = run_wormcube(drawing), bare = run_wormcube(drawing + " --bare");
  for (const char* const text : {"allgather on ring:4", ">start-ups<", "wormcube draw"}) {
    CHECK_THAT(whole.out, Contains(text));
  }
  CHECK_THAT(bare.out, StartsWith("<svg") && Contains(">step 0<") && !Contains(">start-ups<") &&
                           !Contains("wormcube draw"));
  is_refused("draw allgather --on ring:4 --html - --bare", "--bare has no effect without --svg");
  const TemporaryFile times(".json");
  REQUIRE(
      run_wormcube("list allgather --on ring:4,ring:8 --bytes 8,64 --json " + times.path()).exit ==
      0);
  const std::string plotting = "plot " + times.path() + " --svg -";
  CHECK_THAT(run_wormcube(plotting).out,
             Contains("the fastest algorithm") && Contains("wormcube list"));
  CHECK_THAT(run_wormcube(plotting + " --bare").out,
             StartsWith("<svg") && Contains(">64<") && !Contains("wormcube list"));
  is_refused("plot " + times.path() + " --html - --bare", "--bare has no effect without --svg");
}

TEST_CASE("plot draws every finite number, with few lines", "[cli][draw]") {
  const auto row = [](const char* algorithm, double bytes, double us) {
    return nlohmann::json{{"operation", "shift"}, {"algorithm", algorithm},
                          {"topology", "ring:4"}, {"block_bytes", bytes},
                          {"time_median_us", us}, {"time_quartile1_us", 0},
                          {"nodes", 1e308},       {"algbw_gb_per_s", us}};
  };
  constexpr double values[] = {5e-324, 1e-308, 1e-30, 1,
                               12345,  1e300,  1e308, 1.7976931348623157e308};
  for (const double one : values) {
    for (const double other : values) {
      const TemporaryFile file(".json");
      file.write(nlohmann::json{row("x", 8, one), row("y", 8, other), row("x", 1e308, other),
                                row("y", 1e308, one)}
                     .dump());
      const Output plotted = run_wormcube("plot --copy-limit 1e-300 " + file.path() + " --svg -");
      CAPTURE(one, other, plotted.err);
      CHECK(plotted.exit == 0);
      CHECK_THAT(plotted.out, StartsWith("<svg") && !Contains("\"nan") && !Contains("\"-nan") &&
                                  !Contains("\"inf") && !Contains("\"-inf"));
      CHECK(plotted.out.size() < 100'000);
    }
  }
  const TemporaryFile paper(".json");
  paper.write(
      R"([{"paper":"kim","rows":[{"topology":"ring:4","row":"r","startups":{"counted":1e308}},
          {"topology":"ring:5","row":"r","startups":{"counted":1e-308,"corrected":0}},
          {"topology":"ring:6","row":"r","startups":{"counted":-1}}]},
         {"paper":"wang-tseng","series":[{"name":"EDN","points":[{"n":4,"steps":1e308},
          {"n":1e308,"steps":2},{"n":-5,"steps":1}]}]}])");
  const TemporaryFile html(".html");
  CHECK(run_wormcube("plot " + paper.path() + " --html " + html.path()).exit == 0);
  CHECK(html.text().size() < 1'000'000);
}

TEST_CASE("plot reads up to a limit, of devices and sparse files too", "[cli][draw]") {
  const std::string limit = "has more than 256 MiB, the limit of plot";
  is_refused("plot /dev/zero --svg -", limit);
  const TemporaryFile sparse(".json", "[");
  std::filesystem::resize_file(sparse.path(), std::uintmax_t{1} << 40);
  is_refused("plot " + sparse.path() + " --svg -", limit);
}

TEST_CASE("the map of all ports has the algorithms that need one", "[cli][draw]") {
  const TemporaryFile file(".json"), svg(".svg");
  CHECK(run_wormcube("list allreduce --on torus:4x4,torus:8x8 --bytes 8,64 --ts 50 --json " +
                     file.path())
            .exit == 0);
  double least = 1e300;
  std::string fastest;
  for (const auto& row : nlohmann::json::parse(file.text())) {
    if (row.value("topology", "") != "torus:4x4" || row.value("block_bytes", 0) != 8 ||
        row.value("model_contention", "unknown") == "unknown" ||
        !row["model_time_us"].is_number()) {
      continue;
    }
    if (row["model_time_us"] < least) least = row["model_time_us"], fastest = row["algorithm"];
  }
  CHECK(run_wormcube("plot " + file.path() + " --svg " + svg.path()).exit == 0);
  const std::string second = svg.path().substr(0, svg.path().size() - 4) + "-2.svg";
  const std::string map = read_text(second);
  std::filesystem::remove(second);
  CHECK_THAT(map, Contains("the fastest algorithm with all ports by model time"));
  CHECK_THAT(map, Contains("data-x=\"8\" data-nodes=\"16\" data-winner=\"" + fastest));
}

TEST_CASE("control characters of names do not reach a picture, a page or a schedule",
          "[cli][draw]") {
  const TemporaryFile file(".json"), html(".html");
  file.write(
      "[{\"operation\":\"shift\",\"algorithm\":\"x\\u0001\\u001b[31m\\uffff\",\"topology\":\"ring:"
      "4\","
      "\"block_bytes\":8,\"time_median_us\":5}]");
  const Output plotted = run_wormcube("plot " + file.path() + " --svg -");
  CHECK_THAT(plotted.out, Contains("x\\x01\\x1b[31m\\xef\\xbf\\xbf"));
  CHECK(run_wormcube("plot " + file.path() + " --html " + html.path()).exit == 0);
  for (const std::string& text : {plotted.out, html.text()}) {
    CHECK(std::ranges::none_of(text, [](char c) { return c == '\x01' || c == '\x1b'; }));
  }
  for (const std::string bad : {"a\nb", "a\x01", "a\xff", "a\xed\xa0\x80"}) {
    const TemporaryFile graph("-" + bad + ".txt", "0 1\n1 2\n");
    is_refused("show alltoall --on 'graph:" + graph.path() + "' --write-schedule -",
               "has a control character, or a byte that is not UTF-8");
  }
  const TemporaryFile graph("-\xc3\xa4 \xe2\x82\xac.txt", "0 1\n1 2\n"), schedule(".txt");
  CHECK(run_wormcube("show alltoall --on 'graph:" + graph.path() + "' --write-schedule " +
                     schedule.path())
            .exit == 0);
  CHECK(run_wormcube("check --schedule " + schedule.path()).exit == 0);
}

TEST_CASE("draw refuses what is too large, with both numbers", "[cli][draw]") {
  is_refused("draw alltoall --on ring:4",
             "missing output; use --html FILE, --svg FILE, --pdf FILE or --frames DIR");
  is_refused("draw alltoall --on complete:400 --html -",
             "complete:400 has 159600 links, the limit for pictures is 100000");
  is_refused("topology complete:400 --svg -", "159600 links, the limit for pictures is 100000");
  is_refused("draw alltoall --on torus:4x4 --algorithm all --html -", "a page compares at most 4");
  is_refused("draw alltoall --on torus:4x4 --algorithm shift,mesh --svg -",
             "2 algorithms, but a still picture shows one");
  is_refused("draw alltoall --on ring:6 --algorithm shift --step 5 --svg -",
             "step 5: there are 5 steps");
  is_refused("draw alltoall --on torus:18x18 --algorithm shift --clock replay --html -",
             "104652 messages; --clock replay is limited to 100000");
  is_refused("draw alltoall --on ring:4 --clock replay --store-and-forward once --html -",
             "--clock replay shows worms");
  is_refused("draw alltoall --on ring:4 --html - --svg -",
             "only one of --html, --svg, --pdf and --thumbnail");
  is_refused("run shift --on ring:4 --plot times.gif",
             "the name must end with .html, .svg, .pdf or .png");
  is_refused("run shift --on ring:4 --plot /nonexistent/x.svg", "/nonexistent/x.svg");
}

TEST_CASE("pictures of networks are pictures", "[cli][draw]") {
  CHECK_THAT(run_wormcube("topology tree:4 --svg -").out, StartsWith("<svg") && Contains("circle"));
  const Output way = run_wormcube("topology torus:4x4 --route 0,5 --svg - --layout folded");
  CHECK_THAT(way.out, StartsWith("<svg") && Contains("data-from=\"0\" data-to=\"5\""));
  CHECK_THAT(run_wormcube("topology ring:5 --thumbnail -").out, !Contains("<text"));
}

TEST_CASE("a file's name makes a picture SVG, PDF or PNG", "[cli][draw]") {
  CHECK_THAT(run_wormcube("draw broadcast --on mesh:2x2 --pdf -").out, StartsWith("%PDF-1."));
  const TemporaryFile file(".json"), svg(".svg"), pdf(".pdf"), png(".png");
  REQUIRE(run_wormcube("list alltoall --on torus:4x4 --bytes 8..64 --json " + file.path()).exit ==
          0);
  const std::vector<std::string> commands{"draw broadcast --on mesh:2x2 --quiet", "topology ring:5",
                                          "show shift --on ring:4 --step 0",
                                          "reproduce wang-tseng --sizes 3", "plot " + file.path()};
  for (const std::string& command : commands) {
    CAPTURE(command);
    CHECK(run_wormcube(command + " --svg " + svg.path()).exit == 0);
    CHECK_THAT(svg.text(), StartsWith("<svg"));
    CHECK(run_wormcube(command + " --svg " + pdf.path()).exit == 0);
    CHECK_THAT(pdf.text(), StartsWith("%PDF-1.") && EndsWith("%%EOF\n"));
    CHECK(run_wormcube(command + " --svg " + png.path()).exit == 0);
    CHECK_THAT(png.text(), StartsWith("\x89PNG"));
  }
  CHECK(run_wormcube("run shift --on ring:4 --iterations 2 --quiet --plot " + pdf.path()).exit ==
        0);
  CHECK_THAT(pdf.text(), StartsWith("%PDF-1."));
}

TEST_CASE("without rsvg-convert PDF and PNG are refused at once, and the package is named",
          "[cli][draw]") {
  const std::string empty = "PATH=/nonexistent";
  const TemporaryFile pdf(".pdf"), svg(".svg");
  for (const std::string command : {"draw alltoall --on torus:64x64", "topology torus:64x64",
                                    "show alltoall --on torus:64x64 --step 0",
                                    "reproduce wang-tseng", "plot /nonexistent.json"}) {
    CAPTURE(command);
    const Output refused = run_wormcube(command + " --svg " + pdf.path(), empty);
    CHECK(refused.exit == 2);
    CHECK_THAT(refused.err, Contains("PDF needs rsvg-convert (Debian: apt-get install "
                                     "librsvg2-bin); SVG needs nothing"));
  }
  const Output run = run_wormcube("run alltoall --on torus:64x64 --plot x.png", empty);
  const Output drawn =
      run_wormcube("draw broadcast --on ring:4 --quiet --svg " + svg.path(), empty);
  CHECK(run.exit == 2);
  CHECK_THAT(run.err, Contains("PNG needs rsvg-convert"));
  CHECK(drawn.exit == 0);
}

TEST_CASE("a player by replay has the replay's time", "[cli][draw]") {
  const std::string call = "alltoall --on ring:4 --algorithm shift --bytes 256 ";
  const auto replay = run_wormcube("replay " + call + "--machine t3e --json -").json();
  const std::string page = run_wormcube("draw " + call + "--machine t3e --html -").out;
  CHECK_THAT(page, Contains("\"time_ps\":" + replay["time_ps"].dump()));
  CHECK_THAT(run_wormcube("draw " + call + "--html -").out, !Contains("\"time_ps\""));
}

TEST_CASE("a page by formula accepts hops that take no time, a replay does not", "[cli][draw]") {
  const std::string call = "draw alltoall --on ring:4 --algorithm ring --hop 0 --html - --clock ";
  const auto page = run_wormcube(call + "formula");
  CHECK(page.exit == 0);
  CHECK_THAT(page.out, Contains("\"th_us\":0"));
  const auto refused = run_wormcube(call + "replay");
  CHECK(refused.exit == 2);
  CHECK_THAT(refused.err, Contains("the hop time is 0"));
}
