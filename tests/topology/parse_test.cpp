// The grammar of topologies and edge lists: valid input, and errors for the rest.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/topology/topology.hpp"
#include "wormcube/tests/sanitized.hpp"
#include "wormcube/tests/temporary_file.hpp"
#include "wormcube/tests/topology/samples.hpp"

#include <string>

#include <catch2/catch.hpp>

using namespace wormcube;
using Catch::Matchers::Contains;

TEST_CASE("a topology's name is the text that it was read from", "[topology]") {
  const std::string text = GENERATE(from_range(samples::texts()));
  CHECK(Topology::parse(text).name() == text);
}

TEST_CASE("a multiplication sign between sizes is an x", "[topology]") {
  CHECK(Topology::parse("torus:8\xC3\x97"
                        "4\xC3\x97"
                        "2")
            .name() == "torus:8x4x2");
  CHECK_THROWS_AS(Topology::parse("graph:no\xC3\x97"
                                  "such.txt"),
                  UsageError);
}

TEST_CASE("the named shapes are products of graphs", "[topology]") {
  const auto shapes = [](const char* text) {
    std::string list;
    const Topology topology = Topology::parse(text);
    for (int d = 0; d < topology.dimensions(); ++d) list += topology.factor(d).name() + " ";
    return list;
  };
  CHECK(shapes("torus:8x4x2") == "ring:8 ring:4 ring:2 ");
  CHECK(shapes("mesh:6x4") == "line:6 line:4 ");
  CHECK(shapes("hypercube:3") == "line:2 line:2 line:2 ");
  CHECK(shapes("hypercube:0").empty());
  CHECK(shapes("ghc:4x3") == "complete:4 complete:3 ");
  CHECK(shapes("torus:4x4*line:3") == "ring:4 ring:4 line:3 ");
  CHECK(shapes("tree:8*complete:3*hypercube:1*ring:5") == "tree:8 complete:3 line:2 ring:5 ");
  CHECK(Topology::parse("torus:04x3").name() == "torus:4x3");
  CHECK(Topology::parse("hypercube:20").nodes() == 1 << 20);
}

TEST_CASE("a text that is no topology is a usage error that points at the part", "[topology]") {
  const auto [text, expected] = GENERATE(table<std::string, std::string>({
      {"", "topology '' is empty"},
      {"torus:8xq",
       "topology 'torus:8xq': 'q' at position 9 is not a size; expected a whole number of 1 or "
       "more, as in torus:8x8"},
      {"ring", "'ring' at position 1 needs ':' and a value, as in ring:7"},
      {"ring:", "a size is missing at position 6"},
      {":7", "unknown shape '' at position 1"},
      {"rung:7",
       "unknown shape 'rung' at position 1 (did you mean 'ring'?); available: ring:7 line:5 "
       "torus:8x8"},
      {"Ring:7", "unknown shape 'Ring'"},
      {" ring:7", "unknown shape ' ring' at position 1"},
      {"ring: 7", "' 7' at position 6 is not a size"},
      {"ring:7 ", "'7 ' at position 6 is not a size"},
      {"ring:0", "'0' at position 6 is not a size"},
      {"ring:-4", "'-4' at position 6"},
      {"ring:+4", "'+4' at position 6"},
      {"ring:4.5", "'4.5' at position 6"},
      {"ring:0x10", "'ring' takes one size"},
      {"ring:7q", "'7q' at position 6"},
      {"ring:4x4",
       "'4x4' at position 6: 'ring' takes one size; for more dimensions write torus:8x8"},
      {"line:4x4", "write mesh:6x4"},
      {"complete:4x4", "write ghc:4x3"},
      {"tree:4x4", "write tree:4*tree:2"},
      {"hypercube:4x4", "'4x4' at position 11 is not a number of dimensions"},
      {"hypercube:-1", "'-1' at position 11"},
      {"hypercube:21", "'21' at position 11 is too large; a number of dimensions may be up to 20"},
      {"hypercube:", "a number of dimensions is missing at position 11"},
      {"torus:8x", "a size is missing at position 9"},
      {"torus:x8", "a size is missing at position 7"},
      {"torus:8xx8", "a size is missing at position 9"},
      {"torus:8X8", "'8X8' at position 7"},
      {"torus:8,8", "'8,8' at position 7"},
      {"torus:8x0", "'0' at position 9 is not a size"},
      {"ring:4*", "a shape is missing at position 8"},
      {"*ring:4", "a shape is missing at position 1"},
      {"ring:4**line:3", "a shape is missing at position 8"},
      {"ring:4*lines:3", "unknown shape 'lines' at position 8"},
      {"ring:4*line:q", "'q' at position 13 is not a size"},
      {"ring:4:5", "'4:5' at position 6"},
      {"ring:1048577", "'1048577' at position 6 is too large; a size may be up to 1048576"},
      {"ring:99999999999999999999999", "is too large"},
      {"torus:1024x1025", "'1025' at position 12 makes it 1049600 nodes; the limit is 1048576"},
      {"torus:1048576x1048576x1048576x1048576", "the limit is 1048576"},
      {"hypercube:20*ring:2", "'2' at position 19 makes it 2097152 nodes"},
      {"star:0", "'0' at position 6 is not a size"},
      {"star:4x4", "'star' takes one size; for more dimensions write star:4*star:3"},
      {"petersen:10", "':' at position 9: 'petersen' is one graph and takes no size"},
      {"ring:3*petersen:", "':' at position 16"},
      {"ccc", "'ccc' at position 1 needs ':' and a value, as in ccc:3"},
      {"ccc:0", "'0' at position 5 is not a number of dimensions"},
      {"ccc:17", "'17' at position 5 is too large; a number of dimensions may be up to 16"},
      {"ring:524289*ccc:1", "'1' at position 17 makes it 1048578 nodes"},
      {"butterfly:17", "a number of levels may be up to 16"},
      {"star-graph:10", "'10' at position 12 is too large; a number of places may be up to 9"},
      {"bubble-sort:q", "'q' at position 13 is not a number of places"},
      {"circulant:", "a size is missing at position 11"},
      {"circulant:12", "an offset is missing at position 13, as in circulant:12+1+3"},
      {"circulant:12+", "an offset is missing at position 14"},
      {"circulant:12+0", "'0' at position 14 is not an offset"},
      {"circulant:12+12", "offset 12; with 12 nodes, expected 1 to 11"},
      {"circulant:12+3+1+9", "offset 9 is given twice (it is also 3)"},
      {"circulant:12+2+4",
       "'12+2+4' at position 11: circulant:12+2+4: not connected: 2 divides the number of nodes "
       "and all offsets"},
      {"cayley:", "a permutation is missing at position 8"},
      {"cayley:213+", "a permutation is missing at position 12"},
      {"cayley:213+2134", "'2134' is not a permutation of 1 to 3"},
      {"cayley:223", "'223' is not a permutation of 1 to 3; expected each digit once"},
      {"cayley:214", "'214' is not a permutation of 1 to 3"},
      {"cayley:123", "permutation 123 is the identity"},
      {"cayley:2134567891", "a permutation of 10 places; expected 1 to 9"},
      {"graph:", "a file name is missing at position 7"},
      {"graph:/nonexistent/wires", "graph:/nonexistent/wires: cannot open the file"},
      {"graph:/", "graph:/: cannot read the file: Is a directory"},
  }));
  CAPTURE(text);
  CHECK_THROWS_AS(Topology::parse(text), UsageError);
  CHECK_THROWS_WITH(Topology::parse(text), Contains(expected));
}

TEST_CASE("an edge list is read with comments, blank lines and any white space", "[topology]") {
  const test::TemporaryFile file(".graph",
                                 "# a square\n0 1\n\n  1\t2 # side\r\n2 3\r\n   # nothing\n3 0");
  const Graph graph = Graph::read(file.path());
  CHECK(graph.nodes() == 4);
  CHECK(graph.links() == 8);
  CHECK(graph.diameter() == 2);
  CHECK(graph.name() == "graph:" + file.path());

  const Topology product = Topology::parse("ring:3*graph:" + file.path() + "*line:2");
  CHECK(product.nodes() == 24);
  CHECK(product.size(1) == 4);
  CHECK(product.name() == "ring:3*graph:" + file.path() + "*line:2");
  CHECK(Topology::parse(product.name()) == product);
}

TEST_CASE("an edge list that cannot be read is a usage error with the line's number",
          "[topology]") {
  const auto [text, expected] = GENERATE(table<std::string, std::string>({
      {"0 1\n1 q\n", "line 2: 'q' is not a vertex number"},
      {"0 1\n# fine\n1 2 3\n", "line 3: 3 words; expected two vertex numbers, as in '0 1'"},
      {"0\n", "line 1: 1 word; expected two"},
      {"0 1\n\n1 -2\n", "line 3: '-2' is not a vertex number"},
      {"0 1\n2 2\n", "line 2: edge 2 2 is a loop"},
      {"0 1\n1 2\n1 0\n", "line 3: edge 1 0 is already on line 1"},
      {"5 4\n0 1\n1 2\n1 0\n4 5\n", "line 4: edge 1 0 is already on line 2"},
      {"0 1048576\n", "line 1: vertex 1048576 is too large; vertices may be 0 to 1048575"},
      {"0 99999999999999999999\n", "line 1: vertex 99999999999999999999 is too large"},
      {"0 1\n2 3\n", "vertex 2 cannot be reached from vertex 0"},
      {"0 2\n", "vertex 1 cannot be reached from vertex 0: it has no edge"},
      {"1 2\n2 3\n3 1\n", "vertex 0 has no edge; vertices are numbered from 0, not from 1"},
      {"0 1 0.5\n", "line 1: 3 words; expected two vertex numbers, as in '0 1' (an edge has no"},
      {"0;1\n1;2\n", "line 1: 1 word; expected two"},
      {"0; 1\n",
       "line 1: '0;' is not a vertex number; expected a whole number of 0 or more (separate"},
      {"\xff\xfe"
       "0 1\n",
       "line 1: the text is UTF-16"},
      {"0 \x1b[31m1234567890123456789012345\n",
       "line 1: '\\x1b[31m1234567890123456789...' is not a"},
      {std::string("0 1\n1 2\0\n", 9), "line 2: a byte of value 0"},
      {"0 1\n" + std::string(5000, '7'),
       "line 2: the line has 5000 bytes; lines may have up to 4096"},
      {"0 1\n" + std::string(4097, '7') + "\n1 2\n", "line 2: the line has 4097 bytes"},
      {"# nothing\n", "no edge in the file"},
      {"", "no edge in the file"},
  }));
  CAPTURE(text);
  const test::TemporaryFile file(".graph", text);
  CHECK_THROWS_AS(Graph::read(file.path()), UsageError);
  CHECK_THROWS_WITH(Topology::parse("graph:" + file.path()),
                    Contains("graph:" + file.path()) && Contains(expected));
}

TEST_CASE("an edge list may have a byte order mark, and commas between the numbers", "[topology]") {
  const test::TemporaryFile file(".graph",
                                 "\xef\xbb\xbf"
                                 "0,1\n1, 2\n2 ,0\n");
  const Graph graph = Graph::read(file.path());
  CHECK(graph.nodes() == 3);
  CHECK(graph.links() == 6);
}

TEST_CASE("an edge list of 300000 vertices and a million edges is read", "[topology]") {
  std::string text;
  constexpr Rank n = sanitized ? 50'000 : 300'000;
  for (Rank v = 0; v < n; ++v) {
    for (const Rank step : {1, 7, 1000}) {
      text += std::to_string(v) + " " + std::to_string((v + step) % n) + "\n";
    }
  }
  const test::TemporaryFile file(".graph", text);
  const Graph graph = Graph::read(file.path());
  CHECK(graph.nodes() == n);
  CHECK(graph.links() == 6 * n);
  CHECK_FALSE(graph.routable());
  CHECK(graph.diameter() == std::nullopt);
}
