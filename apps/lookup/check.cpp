// Compares the answers of a lookup with the table, in parts.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/lookup/run.hpp"

#include <algorithm>
#include <vector>

namespace wormcube::apps {

namespace {

/// What one walk through the table must find for a key that was looked up.
struct Wanted {
  Key key;
  Value value = 0;
  unsigned char found = 0;
};

}  // namespace

double answer_check_bytes(std::size_t keys) { return static_cast<double>(keys) * sizeof(Wanted); }

// For the keys that were looked up, not for the table: the keys are a part, the table is whole.
std::size_t count_wrong_answers(const LookupJob& job, const LookupResult& result) {
  const Loaded own(job.keys, result.here);
  const std::span<const Key> keys{reinterpret_cast<const Key*>(own.bytes().data()),
                                  result.here.count};
  if (result.values.size() != keys.size() || result.found.size() != keys.size()) {
    return std::max<std::size_t>(keys.size(), 1);
  }
  std::vector<Wanted> wanted;
  wanted.reserve(keys.size());
  for (const Key key : keys) wanted.push_back({key});
  std::ranges::sort(wanted, {}, &Wanted::key);
  wanted.erase(std::unique(wanted.begin(), wanted.end(),
                           [](const Wanted& a, const Wanted& b) { return a.key == b.key; }),
               wanted.end());
  const auto find = [&](Key key) {
    const auto at = std::ranges::lower_bound(wanted, key, {}, &Wanted::key);
    return at != wanted.end() && at->key == key ? &*at : nullptr;
  };
  job.table.walk(
      [&](std::size_t /*row*/, std::span<const Key> of_table, std::span<const Value> values) {
        for (std::size_t k = 0; k < of_table.size(); ++k) {
          if (Wanted* const entry = find(of_table[k])) *entry = {of_table[k], values[k], 1};
        }
      });
  std::size_t wrong = 0;
  for (std::size_t k = 0; k < keys.size(); ++k) {
    const Wanted& entry = *find(keys[k]);
    if (result.found[k] != entry.found || result.values[k] != entry.value) ++wrong;
  }
  return wrong;
}

}  // namespace wormcube::apps
