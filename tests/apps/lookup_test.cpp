// Distributed table lookup: every size of table and keys, on every number of nodes.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/io/array.hpp"
#include "wormcube/apps/lookup/made.hpp"
#include "wormcube/apps/lookup/run.hpp"
#include "wormcube/runtime/base/error.hpp"
#include "wormcube/runtime/machine/machine.hpp"
#include "wormcube/tests/apps/damaging.hpp"
#include "wormcube/tests/apps/support.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>
#include <vector>

#include <catch2/catch.hpp>

using namespace wormcube;
using namespace wormcube::apps;
using namespace wormcube::apps::testing;
using Catch::Matchers::Contains;

namespace {

Algorithms automatic_lookup() { return {"auto", lookup_operations()}; }

template <class T>
Source list_of(const std::vector<T>& values) {
  return to_array<T>(ElementType::int64, values, {values.size()});
}

LookupJob job_of(const std::vector<Key>& table, const std::vector<Value>& values,
                 const std::vector<Key>& keys, TableBy by = TableBy::hash) {
  return {{list_of(table), list_of(values)}, list_of(keys), by, {}};
}

template <class T>
std::vector<T> all_of(const Source& source) {
  const Array array = read_all(source);
  return {elements<T>(array).begin(), elements<T>(array).end()};
}

// Written for itself: row by row.
void require_answers(const LookupJob& job, const LookupResult& result) {
  const auto keys = all_of<Key>(job.keys), rows = all_of<Key>(job.table.keys);
  const auto values = all_of<Value>(job.table.values);
  REQUIRE(result.values.size() == keys.size());
  for (std::size_t k = 0; k < keys.size(); ++k) {
    const auto row = std::ranges::find(rows, keys[k]) - rows.begin();
    const bool is_there = row < std::ssize(rows);
    REQUIRE(result.found[k] == (is_there ? 1 : 0));
    if (is_there) REQUIRE(result.values[k] == values[static_cast<std::size_t>(row)]);
  }
}

}  // namespace

TEST_CASE("a lookup answers every key on every network, size and distribution", "[apps][lookup]") {
  const auto topology =
      Topology::parse(GENERATE("complete:1", "ring:2", "line:3", "ring:7", "torus:4x2",
                               "hypercube:4", "complete:31", "tree:8"));
  for (const std::size_t entries : {0, 1, 5, 200}) {
    for (const std::size_t lookups : {0, 1, 3, 100}) {
      for (const TableBy by : {TableBy::hash, TableBy::block}) {
        CAPTURE(topology.name(), entries, lookups, static_cast<int>(by));
        LookupJob job = generate_lookup(entries, lookups, 0.3, 1);
        job.by = by;
        const LookupResult result = run_lookup(proof(topology), automatic_lookup(), job);
        require_answers(job, result);
        CHECK(result.passed());
        if (entries == 0) CHECK(result.absent == lookups);
        REQUIRE(result.figures.schedule);
        CHECK(result.figures.schedule->matched());
        CHECK(result.figures.schedule->port_violations == 0);
      }
    }
  }
}

TEST_CASE("a lookup finds the least and the greatest keys, and one key many times",
          "[apps][lookup]") {
  constexpr Key least = std::numeric_limits<Key>::min(), greatest = std::numeric_limits<Key>::max();
  for (const TableBy by : {TableBy::hash, TableBy::block}) {
    const LookupJob job =
        job_of({greatest, 0, least, -1}, {10, 11, 12, 13},
               {least, least, 1, greatest, least, -1, 0, greatest - 1, least + 1, least}, by);
    const LookupResult result =
        run_lookup(proof(Topology::parse("ring:3")), automatic_lookup(), job);
    require_answers(job, result);
    CHECK(result.absent == 3);
  }
}

TEST_CASE("each key has one owner, and blocks are ranges of keys", "[apps][lookup]") {
  const KeyRange keys{-50, 49};
  const KeyOwner block(TableBy::block, 10, keys), hash(TableBy::hash, 10, keys);
  Rank before = 0;
  std::vector<int> hashed(10);
  for (Key key = -60; key < 60; ++key) {
    CHECK(block(key) >= before);
    CHECK(block(key) < 10);
    before = block(key);
    ++hashed.at(static_cast<std::size_t>(hash(key)));
  }
  CHECK(before == 9);
  CHECK(block(-50) == 0);
  CHECK(std::ranges::max(hashed) < 30);  // 12 in the mean
}

TEST_CASE("a lookup works with every registered algorithm", "[apps][lookup]") {
  const auto topology = Topology::parse(GENERATE("ring:6", "mesh:4x3", "hypercube:3", "ghc:4x3"));
  const LookupJob job = generate_lookup(50, 100, 0.5, 3);
  for (const Operation operation : lookup_operations()) {
    for (const Collective& collective : admitted(operation, topology)) {
      CAPTURE(topology.name(), operation->name, collective.text());
      Algorithms algorithms = automatic_lookup();
      algorithms.use(collective);
      if (collective.name() == "two-phase") {  // a node does not know the sizes of all pairs
        CHECK_THROWS_AS(run_lookup(proof(topology), algorithms, job), UsageError);
        continue;
      }
      CHECK(run_lookup(proof(topology), algorithms, job).passed());
    }
  }
}

TEST_CASE("a lookup's dry run repeats what its messages were", "[apps][lookup]") {
  const auto topology = Topology::parse(GENERATE("torus:4x2", "ring:1", "line:5"));
  const LookupJob job = generate_lookup(30, 77, 0.2, 5);
  CHECK_NOTHROW(require_repeated(
      topology, [&](const Runner& runner) { run_lookup(runner, automatic_lookup(), job); }));
}

TEST_CASE("a machine looks up, as threads and as fibers", "[apps][lookup][machine]") {
  const auto executor = GENERATE(ExecutorKind::threads, ExecutorKind::fibers);
  for (const char* const name : {"torus:4x4", "ring:7", "hypercube:3"}) {
    Machine machine(Topology::parse(name), {.executor = executor, .timing = true});
    const LookupJob job = generate_lookup(1000, 5000, 0.1, 1);
    const LookupResult result = run_lookup(on(machine), automatic_lookup(), job);
    CHECK(result.passed());
    REQUIRE(result.figures.schedule);
    CHECK(result.figures.schedule->messages == result.figures.messages);
    CHECK(result.figures.schedule->total_bytes == result.figures.bytes_moved);
  }
}

TEST_CASE("a check of a lookup counts every wrong answer", "[apps][lookup]") {
  const LookupJob job = generate_lookup(20, 40, 0.4, 1);
  const LookupResult good = run_lookup(proof(Topology::parse("ring:3")), automatic_lookup(), job);
  CHECK(good.absent > 0);
  CHECK(good.absent < 40);
  for (std::size_t k = 0; k < job.keys.elements(); ++k) {
    LookupResult bad = good;
    bad.values[k] ^= 1;
    CHECK(count_wrong_answers(job, bad) == 1);
    bad = good;
    bad.found[k] ^= 1;
    CHECK(count_wrong_answers(job, bad) == 1);
  }
}

TEST_CASE("a lookup over damaging collectives does not pass", "[apps][lookup]") {
  const LookupJob job = generate_lookup(100, 200, 0, 1);
  Algorithms damaged = automatic_lookup();
  damaged.use(damaging<operations::alltoallv>());
  const LookupResult result = run_lookup(proof(Topology::parse("ring:4")), damaged, job);
  CHECK(result.wrong > std::size_t{0});
  CHECK_FALSE(result.passed());
  Algorithms counts = automatic_lookup();
  counts.use(damaging<operations::alltoall>());
  CHECK_THROWS_WITH(run_lookup(proof(Topology::parse("ring:4")), counts, job),
                    Contains("received a count of"));
}

TEST_CASE("a lookup that cannot be is refused before it runs", "[apps][lookup]") {
  const Runner unused{Topology::parse("ring:3"), [](const Program&) -> Statistics {
                        FAIL("it ran");
                        return {};
                      }};
  CHECK_THROWS_WITH(run_lookup(unused, automatic_lookup(), job_of({4, 5, 6, 5}, {0, 0, 0, 0}, {})),
                    Contains("key 5 occurs in rows 1 and 3"));
  CHECK_THROWS_WITH(run_lookup(unused, automatic_lookup(), job_of({4, 5}, {0}, {})),
                    Contains("2 keys and 1 values"));
  CHECK_THROWS_WITH(run_lookup(unused, Algorithms("hypercube-pairwise", lookup_operations()),
                               generate_lookup(3, 3, 0, 1)),
                    Contains("hypercube-pairwise"));
  CHECK_THROWS_WITH(generate_lookup(3, 3, 1.5, 1), Contains("1.5"));
}

TEST_CASE("a table is walked through some rows at a time, to its last", "[apps][lookup]") {
  const std::vector<Key> keys{5, -1, 8, 3, 9, 0, 7};
  const std::vector<Value> values{50, 10, 80, 30, 90, 0, 70};
  for (const std::size_t count : {0, 1, 6, 7}) {
    for (const std::size_t at_a_time : {1, 2, 3, 7, 100}) {
      CAPTURE(count, at_a_time);
      TableRows rows{list_of(std::vector(keys.begin(), keys.begin() + count)),
                     list_of(std::vector(values.begin(), values.begin() + count)), at_a_time};
      std::size_t next = 0;
      rows.walk([&](std::size_t row, std::span<const Key> some, std::span<const Value> of_them) {
        CHECK(row == next);
        CHECK(some.size() == std::min(at_a_time, count - row));
        REQUIRE(of_them.size() == some.size());
        for (std::size_t k = 0; k < some.size(); ++k, ++next) {
          CHECK(some[k] == keys[next]);
          CHECK(of_them[k] == values[next]);
        }
      });
      CHECK(next == count);
    }
  }
}

TEST_CASE("processes keep the entries of their own nodes, and together all", "[apps][lookup]") {
  constexpr Rank p = 7;
  for (const std::size_t entries : {0, 1, 200}) {
    for (const TableBy by : {TableBy::hash, TableBy::block}) {
      LookupJob job = generate_lookup(entries, 0, 0, 3);
      const KeyOwner owner(by, p, job.table);
      const DistributedTable whole(owner, {0, p}, job.table, entries);
      for (const std::size_t at_a_time : {1, 13, 1000}) {
        job.table.at_a_time = at_a_time;
        std::size_t all = 0;
        for (const NodeRange nodes : {NodeRange{0, 3}, NodeRange{3, 3}, NodeRange{3, 7}}) {
          const std::size_t count = count_entries(owner, nodes, job.table);
          const DistributedTable part(owner, nodes, job.table, count);
          std::size_t kept = 0;
          for (Rank r = nodes.first; r < nodes.end; ++r) {
            kept += part.of_node(r).size();
            CHECK(std::ranges::equal(part.of_node(r), whole.of_node(r),
                                     [](const Entry& a, const Entry& b) {
                                       return a.key == b.key && a.value == b.value;
                                     }));
          }
          CHECK(kept == count);
          all += kept;
        }
        CHECK(all == entries);
      }
    }
  }
}

TEST_CASE("a key that is there twice is seen by the process of its owner alone, with both rows",
          "[apps][lookup]") {
  LookupJob job = job_of({1, 2, 3, 4, 2, 2}, {0, 0, 0, 0, 0, 0}, {});
  for (const std::size_t at_a_time : {1, 2, 4, 5, 6}) {
    job.table.at_a_time = at_a_time;
    const KeyOwner owner(TableBy::block, 4, job.table);
    REQUIRE(owner(2) == 1);
    CHECK_THROWS_WITH(DistributedTable(owner, {1, 2}, job.table, 3),
                      Contains("key 2 occurs in rows 1 and 4"));
    CHECK_NOTHROW(DistributedTable(owner, {0, 1}, job.table, 1));
    CHECK_NOTHROW(DistributedTable(owner, {2, 4}, job.table, 2));
  }
}

TEST_CASE("made keys are the same wherever a part of them begins", "[apps][lookup]") {
  const LookupJob job = generate_lookup(20, 50, 0.4, 9);
  const std::vector<Key> keys = all_of<Key>(job.keys), rows = all_of<Key>(job.table.keys);
  for (std::size_t first = 0; first < keys.size(); ++first) {
    const Loaded part(job.keys, {first, keys.size() - first});
    CHECK(std::memcmp(part.bytes().data(), &keys[first], part.bytes().size()) == 0);
  }
  std::set<Key> different(rows.begin(), rows.end());
  CHECK(different.size() == rows.size());
  const auto absent =
      std::ranges::count_if(keys, [&](Key key) { return std::ranges::count(rows, key) == 0; });
  CHECK(absent > 8);
  CHECK(absent < 32);
  for (const Key key : all_of<Key>(generate_lookup(20, 50, 1, 9).keys)) {
    CHECK(std::ranges::count(rows, key) == 0);
  }
}

TEST_CASE("a lookup of keys that are all absent passes", "[apps][lookup]") {
  const LookupJob job = generate_lookup(30, 40, 1, 2);
  const LookupResult result = run_lookup(proof(Topology::parse("ring:3")), automatic_lookup(), job);
  CHECK(result.passed());
  CHECK(result.absent == 40);
}
