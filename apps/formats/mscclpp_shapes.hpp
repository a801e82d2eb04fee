// Which operands each operation of an MSCCL++ plan takes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/apps/formats/mscclpp.hpp"

#include <cstdint>
#include <optional>

namespace wormcube::apps {

/// Where the operands of an operation lie.
enum class OperandPlace : std::uint8_t { own, packets, remote, group };

/// The operands that an operation takes: the first, then all others.
struct PlanOperands {
  OperandPlace first, others;
  int least, most;
};
struct PlanShape {
  PlanOperands sources, targets;
  bool pairs = false;  // as many targets as sources
};

inline constexpr int any_number = 1 << 20;

inline std::optional<PlanShape> plan_shape(PlanType type, bool port) {
  using enum OperandPlace;
  constexpr PlanOperands one{own, own, 1, 1}, all_own{own, own, 1, any_number};
  constexpr PlanOperands own_then_remote{own, remote, 1, any_number};
  constexpr PlanOperands own_then_packets{own, packets, 1, any_number};
  constexpr PlanOperands all_remote{remote, remote, 1, any_number}, one_group{group, group, 1, 1};
  constexpr PlanOperands one_packet{packets, packets, 1, 1};
  switch (type) {
    case PlanType::put:
    case PlanType::pws:
    case PlanType::pwsf:
      return PlanShape{all_own, all_remote, true};
    case PlanType::ppkt:
      return PlanShape{port ? PlanOperands{packets, packets, 1, any_number} : all_own, all_remote,
                       true};
    case PlanType::get:
      return PlanShape{all_remote, all_own, true};
    case PlanType::copy:
    case PlanType::cpkt:
      return PlanShape{one, one};
    case PlanType::re:
      return PlanShape{all_own, all_own};
    case PlanType::res:
      return PlanShape{all_own, own_then_remote};
    case PlanType::rre:
      return PlanShape{own_then_remote, all_own};
    case PlanType::rres:
      return PlanShape{own_then_remote, own_then_remote};
    case PlanType::rppkt:
      return PlanShape{one_packet, all_remote};
    case PlanType::upkt:
      return PlanShape{one_packet, one};
    case PlanType::repkt:
      return PlanShape{own_then_packets, all_own};
    case PlanType::respkt:
      return PlanShape{own_then_packets, own_then_remote};
    case PlanType::recpkt:
    case PlanType::recspkt:
      return PlanShape{own_then_packets, {own, remote, 2, any_number}};
    case PlanType::glres:
      return PlanShape{one_group, one_group};
    case PlanType::gstore:
      return PlanShape{one, one_group};
    case PlanType::gstorepkt:
      return PlanShape{one_packet, one_group};
    default:
      return std::nullopt;
  }
}

inline bool needs_port(PlanType type) {
  return type == PlanType::pws || type == PlanType::pwsf || type == PlanType::flush;
}
inline bool may_use_port(PlanType type) {
  return needs_port(type) || type == PlanType::put || type == PlanType::ppkt ||
         type == PlanType::rppkt || type == PlanType::signal || type == PlanType::wait ||
         type == PlanType::rlxsignal || type == PlanType::rlxwait;
}

}  // namespace wormcube::apps
