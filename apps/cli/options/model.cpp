// The options of the modelled machine.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/options/model.hpp"

#include "wormcube/apps/cli/options/machine.hpp"
#include "wormcube/apps/cli/options/numbers.hpp"
#include "wormcube/apps/cli/output/files.hpp"
#include "wormcube/runtime/base/error.hpp"

#include <charconv>

#include <fmt/core.h>

namespace wormcube::cli {

namespace {

/// A time of the command line in ticks.
Ticks ticks_of(const std::string& text, const std::string& unit, std::string_view what) {
  if (unit == "us") return parse_microseconds(text, what);
  Ticks ticks = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ticks);
  if (error != std::errc{} || end != text.data() + text.size() || ticks < 0) {
    throw UsageError(
        fmt::format("{}: '{}' is not a whole number of picoseconds (--unit ps)", what, text));
  }
  return ticks;
}

/// "0.0005", or "0.5/KiB".
Rate rate_of(std::string text, const std::string& unit, std::string_view what) {
  constexpr std::string_view per_kib = "/KiB";
  constexpr std::int64_t kib = 1024;
  if (!text.ends_with(per_kib)) return {ticks_of(text, unit, what), 1};
  text.resize(text.size() - per_kib.size());
  return {ticks_of(text, unit, what), kib};
}

double us(Ticks ticks) { return static_cast<double>(ticks) / 1e6; }
double us_per_byte(const Rate& rate) { return us(rate.ticks) / static_cast<double>(rate.bytes); }

}  // namespace

ModelOptions::Resolved ModelOptions::resolve(bool replays) const {
  Resolved resolved;
  MachineModel& model = resolved.model;
  if (!machine.empty()) {
    resolved.profile = find_machine(machine);
    model = resolved.profile->model;
    if (!resolved.profile->startup && (startup_option == nullptr || startup_option->count() == 0)) {
      throw UsageError(fmt::format("machine {}: its start-up time is unknown; give it with --ts",
                                   resolved.profile->name));
    }
  }
  const bool own = machine.empty();
  const auto given = [&](const CLI::Option* option) {
    return own || (option != nullptr && option->count() > 0);
  };
  if (own) model.credit = 1;
  if (given(startup_option)) model.startup = ticks_of(startup, unit, "--ts");
  if (given(flit_option)) model.flit_bytes = flit_bytes;
  if (given(slots_option)) model.slots = slots;
  if (given(rearrange_option)) model.rearrange = rate_of(rearrange, unit, "--tr");
  if (given(combine_option)) model.combine = rate_of(combine, unit, "--tc");
  const bool flit_changes = !flit_time.empty() || given(transfer_option);
  if (!flit_time.empty()) {
    model.flit = ticks_of(flit_time, unit, "--flit-time");
  } else if (given(transfer_option)) {
    const WideTicks flit = WideTicks{ticks_of(transfer, unit, "--tw")} * model.flit_bytes;
    if (flit >= no_tick) throw UsageError("--tw times --flit is too large");
    model.flit = static_cast<Ticks>(flit);
    if (model.flit == 0) {
      throw UsageError("--tw 0: a flit must take time; give --flit-time, at least one picosecond");
    }
  } else if (flit_option != nullptr && flit_option->count() > 0) {
    throw UsageError(fmt::format(
        "--flit {} changes the flit size of machine {}: also give the flit's time (--flit-time or "
        "--tw)",
        flit_bytes, resolved.profile->name));
  }
  if (!hop.empty()) {
    model.hop = ticks_of(hop, unit, "--hop");
  } else if (own || (!resolved.profile->hop && flit_changes)) {
    model.hop = model.flit;
  }
  if (!credit.empty()) model.credit = ticks_of(credit, unit, "--credit");
  if (flit_changes) model.port = 0;
  if (!port_time.empty()) model.port = ticks_of(port_time, unit, "--port-time");
  if (port_slots_option != nullptr && port_slots_option->count() > 0) {
    model.port_slots = port_slots;
  }
  if (packet_option != nullptr && packet_option->count() > 0) {
    model.forwarding = packet_bytes == 0 ? Forwarding::wormhole : Forwarding::packets;
    if (packet_bytes > 0 && packet_bytes < model.flit_bytes) {
      throw UsageError(fmt::format("--packet {}: a packet needs at least one flit, {} B",
                                   packet_bytes, model.flit_bytes));
    }
    if (packet_bytes > 0) model.packet = packet_bytes / model.flit_bytes;
  }
  if (!node_time.empty()) {
    if (model.forwarding != Forwarding::packets) {
      throw UsageError("--node-time has no effect on worms: give --packet");
    }
    model.node = ticks_of(node_time, unit, "--node-time");
  }
  if (model.forwarding != Forwarding::packets && node_time.empty()) model.node = 0;
  model.lock_step = lock_step;
  if (store_and_forward == "once") model.forwarding = Forwarding::store_once;
  if (store_and_forward == "each") model.forwarding = Forwarding::store_each;
  resolved.cost.hop_us = us(model.hop);
  if (!replays && model.hop == 0) model.hop = 1;
  model.require_valid();
  resolved.cost.startup_us = us(model.startup);
  resolved.cost.transfer_us = us(model.port_flit()) / static_cast<double>(model.flit_bytes);
  resolved.cost.link_us = us(model.flit) / static_cast<double>(model.flit_bytes);
  resolved.cost.flit_bytes = static_cast<double>(model.flit_bytes);
  if (model.node > 0 && model.forwarding == Forwarding::packets) {
    resolved.cost.bus_us = us(model.node) / static_cast<double>(model.flit_bytes);
  }
  resolved.cost.rearrange_us = us_per_byte(model.rearrange);
  resolved.cost.combine_us = us_per_byte(model.combine);
  return resolved;
}

void add_model_options(CLI::App& app, ModelOptions& options) {
  constexpr const char* group = "Modelled machine";
  const auto time = [&](const char* name, std::string& value, const char* what) {
    return app.add_option(name, value, what)->type_name("TIME")->group(group);
  };
  app.add_option("--machine", options.machine,
                 "Take the constants from a machine profile (listed by `wormcube machines`); "
                 "explicit options override the profile")
      ->type_name("NAME|FILE.json")
      ->group(group);
  options.startup_option =
      time("--ts", options.startup, "Start-up time per message, spent by the sender")
          ->capture_default_str();
  options.transfer_option =
      time("--tw", options.transfer, "Transfer time per byte; a flit takes --flit times as long")
          ->capture_default_str();
  options.rearrange_option =
      time("--tr", options.rearrange, "Rearrangement time per byte, or per KiB as TIME/KiB")
          ->capture_default_str();
  options.combine_option =
      time("--tc", options.combine, "Combining time per byte, or per KiB as TIME/KiB")
          ->capture_default_str();
  app.add_option("--unit", options.unit, "Unit of all times: microseconds or picoseconds")
      ->type_name("us|ps")
      ->check(one_of({"us", "ps"}))
      ->capture_default_str()
      ->group(group);
  options.flit_option = app.add_option("--flit", options.flit_bytes, "Number of bytes in a flit")
                            ->type_name("BYTES")
                            ->check(between(1, 1 << 30))
                            ->capture_default_str()
                            ->group(group);
  time("--flit-time", options.flit_time,
       "Time of a flit on a link or port (default: --tw times --flit)");
  time("--hop", options.hop,
       "Time from a flit's start on a link to its earliest start on the next one (default: a "
       "flit's time on a link)");
  time("--credit", options.credit,
       "Time from a flit's start on the next link until its buffer slot can be reused (default: "
       "one picosecond)");
  options.slots_option = app.add_option("--slots", options.slots,
                                        "Number of flits that a virtual channel's buffer can hold")
                             ->type_name("N")
                             ->check(between(1, 1 << 30))
                             ->capture_default_str()
                             ->group(group);
  time("--port-time", options.port_time,
       "Time of a flit at a node's port; must not be less than its time on a link (the default)");
  options.port_slots_option =
      app.add_option(
             "--port-slots", options.port_slots,
             "Number of flits that the buffer behind an injection port can hold (default: --slots)")
          ->type_name("N")
          ->check(between(1, 1 << 30))
          ->group(group);
  options.packet_option =
      app.add_option("--packet", options.packet_bytes,
                     "Send messages as packets of this size (0: send them as worms)")
          ->type_name("BYTES")
          ->check(between(0, 1 << 30))
          ->group(group);
  time("--node-time", options.node_time,
       "With --packet and all-port nodes: time of a flit on the bus between a node and its ports "
       "(default: no bus)");
  app.add_flag("--lockstep", options.lock_step, "Synchronise all nodes after each step")
      ->group(group);
  app.add_option("--store-and-forward", options.store_and_forward,
                 "Store whole messages in routers instead of sending worms; the start-up time is "
                 "spent once, or at each hop")
      ->type_name("once|each")
      ->check(one_of({"once", "each"}))
      ->group(group);
  add_virtual_channels_option(app, options.virtual_channels);
}

std::string model_text(const MachineModel& model) {
  const auto rate = [](const Rate& r) {
    return microseconds_text(r.ticks) + (r.bytes == 1 ? " us per byte" : " us per KiB");
  };
  std::string text = fmt::format(
      "ts {} us, flits of {} B, {} us each, hop {} us, credit {} us, {} slots, tr {}, tc {}",
      microseconds_text(model.startup), model.flit_bytes, microseconds_text(model.flit),
      microseconds_text(model.hop), microseconds_text(model.credit), model.slots,
      rate(model.rearrange), rate(model.combine));
  text += model.lock_step ? "; lock step" : "; nodes are not synchronised between steps";
  if (model.port_flit() != model.flit) {
    text += fmt::format("; ports take {} us per flit", microseconds_text(model.port_flit()));
  }
  if (model.has_bus()) {
    text += fmt::format("; the node's bus takes {} us per flit", microseconds_text(model.node));
  }
  if (model.forwarding == Forwarding::packets) {
    text += fmt::format("; packets of {} B", model.packet * model.flit_bytes);
  } else if (model.stores()) {
    text += model.forwarding == Forwarding::store_once ? "; store and forward, one start-up"
                                                       : "; store and forward, a start-up per hop";
  } else if (!model.full_rate()) {
    text += "; below the full rate, because the buffers are shorter than hop + credit";
  }
  return text;
}

Json model_json(const ModelOptions::Resolved& resolved, int virtual_channels) {
  const MachineModel& model = resolved.model;
  Json json;
  put(json, "machine", resolved.profile ? Json(resolved.profile->name) : Json(nullptr),
      "no --machine: default constants, or those given as options");
  json["startup_ps"] = model.startup;
  json["flit_bytes"] = model.flit_bytes;
  json["flit_ps"] = model.flit;
  json["hop_ps"] = model.hop;
  json["credit_ps"] = model.credit;
  json["depth"] = model.slots;
  json["rearrange_ps"] = model.rearrange.ticks;
  json["rearrange_per_bytes"] = model.rearrange.bytes;
  json["combine_ps"] = model.combine.ticks;
  json["combine_per_bytes"] = model.combine.bytes;
  json["lock_step"] = model.lock_step;
  json["port_ps"] = model.port_flit();
  json["port_slots"] = model.port_buffer();
  put(json, "packet_bytes",
      model.forwarding == Forwarding::packets ? Json(model.packet * model.flit_bytes)
                                              : Json(nullptr),
      "messages move as worms");
  put(json, "node_ps", model.has_bus() ? Json(model.node) : Json(nullptr), "no bus");
  json["forwarding"] = model.forwarding == Forwarding::wormhole     ? "wormhole"
                       : model.forwarding == Forwarding::packets    ? "packets"
                       : model.forwarding == Forwarding::store_once ? "store-and-forward once"
                                                                    : "store-and-forward each";
  json["virtual_channels"] = virtual_channels;
  json["full_rate"] = model.full_rate();
  return json;
}

}  // namespace wormcube::cli
