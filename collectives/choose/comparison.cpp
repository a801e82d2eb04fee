// Times by block size, crossovers, and the parts of two modelled times side by side.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/collectives/choose/comparison.hpp"

#include "wormcube/runtime/base/units.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace wormcube {

namespace {

double us_of_call(const ComparedCall& call) {
  return call.us.value_or(std::numeric_limits<double>::infinity());
}

/// Positions by time, without those that have none.
std::vector<std::size_t> by_time(std::span<const ComparedCall> calls) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].us) order.push_back(i);
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return us_of_call(calls[i]); });
  return order;
}

std::string blocks_text(const std::optional<double>& blocks) {
  return blocks ? count_text(*blocks) : "-";
}

std::string us_text(double us) { return figure_text(us) + " us"; }

/// "12 start-ups instead of 6": of the slower call, then of the faster.
struct Difference {
  double us;  ///< that the slower call takes longer; negative: the faster does
  std::string text, reverse;
};

std::string instead(std::string_view what, double many, double few) {
  return fmt::format("{} ({} instead of {})", what, count_text(many), count_text(few));
}

/// What passes the ports or the busiest links, whichever limits a call.
std::string transfer_of(const ComparedCall& call) {
  const Prediction& p = call.weighed.prediction;
  switch (call.parts->limit) {
    case Limit::ports:
      break;
    case Limit::link:
      return fmt::format("{} blocks on the busiest link, which messages share",
                         blocks_text(p.link_blocks));
    case Limit::bus:
      return fmt::format("{} blocks on a node's bus, which its ports share",
                         blocks_text(p.injected_blocks));
  }
  return fmt::format("{} blocks at a port", blocks_text(p.transmission_blocks));
}

std::vector<Difference> differences(const ComparedCall& slow, const ComparedCall& fast) {
  const Prediction &s = slow.weighed.prediction, &f = fast.weighed.prediction;
  std::vector<Difference> all;
  const auto add = [&](double ModelTime::*part, std::string text, std::string reverse) {
    const double us = (*slow.parts).*part - (*fast.parts).*part;
    all.push_back({us, std::move(text), std::move(reverse)});
  };
  const auto count = [&](std::string_view what, double ModelTime::*part,
                         std::optional<double> Prediction::*member) {
    const double of_slow = (s.*member).value_or(0), of_fast = (f.*member).value_or(0);
    add(part, instead(what, of_slow, of_fast), instead(what, of_fast, of_slow));
  };
  count("start-ups", &ModelTime::startups_us, &Prediction::startups);
  // In front of a busy link or bus a step has one hop.
  const auto hops = [](const ComparedCall& call) {
    const Prediction& p = call.weighed.prediction;
    return (call.parts->limit == Limit::ports ? p.hops : p.startups).value_or(0);
  };
  add(&ModelTime::hops_us, instead("hops", hops(slow), hops(fast)),
      instead("hops", hops(fast), hops(slow)));
  const auto transfer = [&](const ComparedCall& more, const ComparedCall& less) {
    return fmt::format("transfer ({}; {}: {})", transfer_of(more), less.name, transfer_of(less));
  };
  add(&ModelTime::transfer_us, transfer(slow, fast), transfer(fast, slow));
  count("rearranged blocks", &ModelTime::rearrange_us, &Prediction::rearranged_blocks);
  count("combined blocks", &ModelTime::combine_us, &Prediction::combined_blocks);
  std::ranges::stable_sort(all, {}, [](const Difference& each) { return -std::abs(each.us); });
  return all;
}

}  // namespace

std::size_t fastest_of(std::span<const ComparedCall> calls) {
  const std::vector<std::size_t> order = by_time(calls);
  return order.empty() ? calls.size() : order.front();
}

std::optional<double> margin_of(std::span<const ComparedCall> calls) {
  const std::vector<std::size_t> order = by_time(calls);
  if (order.size() < 2 || *calls[order[0]].us == 0) return std::nullopt;
  return *calls[order[1]].us / *calls[order[0]].us;
}

Comparison::Comparison(const Choice& choice, std::vector<std::string> names, CallFigures* figures)
    : choice_(choice), names_(std::move(names)), figures_(figures), weights_(choice.weights()) {
  for (const std::string& name : names_) {
    open_.push_back(parse_collective(choice.operation, name, choice.arguments));
  }
}

std::string Comparison::name(std::size_t i) const {
  const std::string& given = names_[i];
  return given.substr(0, given.find(':')).find('.') == given.npos ? given : open_[i].text();
}

std::vector<ComparedCall> Comparison::at(Bytes block_bytes) {
  choice_.block_bytes = block_bytes;
  std::vector<ComparedCall> calls;
  for (std::size_t i = 0; i < open_.size(); ++i) {
    Priced form = form_of(names_[i], open_[i], choice_, weights_);
    ComparedCall call{std::move(form.collective), name(i), form.weighed, {}, {}, {}};
    call.parts = call.weighed.parts(choice_.model, block_bytes);
    if (figures_ != nullptr) {
      const auto& answer = (*figures_)(call.collective, block_bytes,
                                       takes_all_ports(*open_[i].algorithm, choice_.ports));
      if (answer.figure) call.us = figures_->shown(*answer.figure);
      call.reason = answer.reason;
    } else if (call.parts) {
      call.us = call.parts->total_us;
    } else {
      call.reason = no_counts;
    }
    calls.push_back(std::move(call));
  }
  return calls;
}

Bytes Comparison::unit() const {
  return std::max<Bytes>(1, open_.front().arguments.reduction.element_bytes);
}

std::vector<Crossover> Comparison::crossovers(Bytes low, Bytes high, std::size_t first,
                                              std::size_t last) {
  if (first == last) return {};
  if (figures_ != nullptr) return {{low, high, first, last}};
  std::vector<Crossover> all;
  while (first != last) {
    Bytes before = low, after = high;
    std::size_t next = last;
    while (after - before >= 2 * unit()) {
      const Bytes middle = (before + (after - before) / 2) / unit() * unit();
      const std::size_t here = fastest_of(at(middle));
      if (here == first) {
        before = middle;
      } else {
        after = middle, next = here;
      }
    }
    all.push_back({before, after, first, next, true});
    first = next, low = after;
  }
  return all;
}

std::string crossover_text(const Crossover& crossover, std::span<const ComparedCall> calls) {
  const std::string& first = calls[crossover.first].name;
  const std::string& next = calls[crossover.next].name;
  if (crossover.exact) {
    return fmt::format("crossover: {} up to {} B, {} from {} B on", first, crossover.after, next,
                       crossover.from);
  }
  return fmt::format("crossover between {} and {}: {}, then {}",
                     bytes_text(static_cast<double>(crossover.after)),
                     bytes_text(static_cast<double>(crossover.from)), first, next);
}

std::vector<std::string> explain(std::span<const ComparedCall> calls, Bytes bytes,
                                 std::string_view cost) {
  const std::vector<std::size_t> order = by_time(calls);
  if (order.size() < 2) return {};
  const ComparedCall &fast = calls[order[0]], &slow = calls[order[1]];
  const std::string size = bytes_text(static_cast<double>(bytes));
  if (*slow.us == *fast.us) {
    return {fmt::format("{}: {} and {} take the same time, {}.", size, fast.name, slow.name,
                        us_text(*fast.us))};
  }
  std::string text = fmt::format("{}: {} is the fastest ({}); next is {} ({}).", size, fast.name,
                                 us_text(*fast.us), slow.name, us_text(*slow.us));
  if (!fast.parts || !slow.parts) return {text};
  const double all = slow.parts->total_us - fast.parts->total_us;
  if (all <= 0) {
    return {text + fmt::format(" The formula ranks {} first ({} against {}). A {} also counts the "
                               "time spent waiting for links and for other nodes, and that "
                               "decides.",
                               slow.name, us_text(slow.parts->total_us),
                               us_text(fast.parts->total_us),
                               cost == "measured" ? "measurement" : "replay")};
  }
  constexpr double share = 0.05;  // smaller parts do not decide
  std::string more, less;
  for (const Difference& each : differences(slow, fast)) {
    if (std::abs(each.us) < share * all) continue;
    std::string& list = each.us > 0 ? more : less;
    list += fmt::format("{}{} for {}", list.empty() ? "" : ", ", us_text(std::abs(each.us)),
                        each.us > 0 ? each.text : each.reverse);
  }
  if (!more.empty()) {
    text += fmt::format(" {}{} takes longer: {}.", cost == "formula" ? "" : "By formula, ",
                        slow.name, more);
  }
  if (!less.empty()) text += fmt::format(" {} loses less time than it gains: {}.", fast.name, less);
  return {text};
}

}  // namespace wormcube
