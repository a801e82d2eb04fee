// The conditions on networks that algorithms share.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/core/needs.hpp"

#include <algorithm>
#include <bit>

#include <fmt/core.h>

namespace wormcube::needs {

std::string has_factor(const Topology& topology, const Graph& graph) {
  // Failed links turn a network into one graph, which has its name.
  if (graph.shape() == Shape::graph && graph.name() == topology.name()) {
    return fmt::format("{} is one arbitrary graph", topology.name());
  }
  return fmt::format("{} has {}", topology.name(), graph.name());
}

namespace {

bool is_power_of_two(Rank x) { return std::has_single_bit(static_cast<unsigned>(x)); }

/// A condition on each factor; the complaint shows the first that fails.
template <class Good>
Need factors(std::string text, Good good) {
  return {std::move(text), [good](const Topology& topology) -> std::optional<std::string> {
            for (int d = 0; d < topology.dimensions(); ++d) {
              if (!good(topology.factor(d))) {
                return has_factor(topology, topology.factor(d));
              }
            }
            return std::nullopt;
          }};
}

/// A condition on each size.
template <class Good>
Need sizes(std::string text, Good good) {
  return {std::move(text), [good](const Topology& topology) -> std::optional<std::string> {
            for (const Rank size : topology.sizes()) {
              if (!good(size)) return fmt::format("{} has {}", topology.name(), size);
            }
            return std::nullopt;
          }};
}

template <class Good>
Need dimensions(std::string text, Good good) {
  return {std::move(text), [good](const Topology& topology) -> std::optional<std::string> {
            if (good(topology.dimensions())) return std::nullopt;
            return fmt::format("{} has {}", topology.name(), topology.dimensions());
          }};
}

bool is_line(const Graph& graph) { return graph.is(Shape::line); }

}  // namespace

Need lines() { return factors("every dimension must be a line", is_line); }

Need rings() {
  return factors("every dimension must be a ring",
                 [](const Graph& graph) { return graph.is(Shape::ring); });
}

Need rings_of_three() {
  return factors("every dimension must be a ring of 3 nodes or more, or of 1",
                 [](const Graph& graph) { return graph.wraps() || graph.nodes() == 1; });
}

Need rings_of_three_or_lines() {
  return {"all dimensions must be lines, or rings of 3 nodes or more",
          [](const Topology& topology) -> std::optional<std::string> {
            if (!lines().complaint(topology)) return std::nullopt;
            return rings_of_three().complaint(topology);
          }};
}

Need lines_and_rings() {
  return factors("every dimension must be a line or a ring",
                 [](const Graph& graph) { return graph.has_direction(); });
}

Need line_or_ring() {
  return {"needs one line or ring", [](const Topology& topology) -> std::optional<std::string> {
            if (topology.dimensions() != 1) {
              return fmt::format("{} has {} dimensions", topology.name(), topology.dimensions());
            }
            if (topology.factor(0).has_direction()) return std::nullopt;
            return fmt::format("{} is not one", topology.name());
          }};
}

Need dimensions(int exactly) {
  return dimensions(fmt::format("needs {} dimension{}", exactly, exactly == 1 ? "" : "s"),
                    [=](int n) { return n == exactly; });
}

Need dimensions_at_least(int least) {
  return dimensions(fmt::format("needs {} dimensions or more", least),
                    [=](int n) { return n >= least; });
}

Need multiples_of(Rank divisor) {
  return sizes(fmt::format("every dimension must be a multiple of {}", divisor),
               [=](Rank size) { return size % divisor == 0; });
}

Need powers_of_two() { return sizes("every dimension must be a power of 2", is_power_of_two); }

Need nodes_power_of_two() {
  return {"the number of nodes must be a power of 2",
          [](const Topology& topology) -> std::optional<std::string> {
            if (is_power_of_two(topology.nodes())) return std::nullopt;
            return fmt::format("{} has {}", topology.name(), topology.nodes());
          }};
}

Need hypercube() {
  return {"needs a hypercube", [](const Topology& topology) -> std::optional<std::string> {
            if (topology.is_hypercube()) return std::nullopt;
            return fmt::format("{} is not one ({} nodes)", topology.name(), topology.nodes());
          }};
}

Need square_mesh_of_power_of_two() {
  return {"needs a mesh of 2^d x 2^d", [](const Topology& topology) -> std::optional<std::string> {
            const bool square = topology.dimensions() == 2 &&
                                topology.size(0) == topology.size(1) &&
                                is_power_of_two(topology.size(0)) && is_line(topology.factor(0)) &&
                                is_line(topology.factor(1));
            if (square) return std::nullopt;
            return fmt::format("{} is not one", topology.name());
          }};
}

Need equal_sizes() {
  return {"all dimensions must be of one size",
          [](const Topology& topology) -> std::optional<std::string> {
            for (const Rank size : topology.sizes()) {
              if (size != topology.size(0)) {
                return fmt::format("{} has {} and {}", topology.name(), topology.size(0), size);
              }
            }
            return std::nullopt;
          }};
}

Need nodes_at_most(Rank most) {
  return {fmt::format("runs on at most {} nodes", most),
          [most](const Topology& topology) -> std::optional<std::string> {
            if (topology.nodes() <= most) return std::nullopt;
            return fmt::format("{} has {}", topology.name(), topology.nodes());
          }};
}

}  // namespace wormcube::needs
