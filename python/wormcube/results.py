"""The results of each command; made from docs/schemas by ./run docs."""
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses
from typing import Any, Dict, List, Optional

from .result import Result

__all__ = ["Algorithm", "Best", "Check", "Fft", "Machine", "Replay", "Reproduction", "Run", "TopologyFacts", "Transpose"]


@dataclasses.dataclass(frozen=True)
class Best(Result):
    """A result of `wormcube best`."""

    _columns = (
        "operation", "topology", "ports", "block_bytes", "winner", "model_time_us", "runner_up", "margin",
    )
    _nested = {
        "cost_model": "CostModel", "ranking": "Ranked", "provenance": "Provenance",
    }

    operation: str
    topology: str
    nodes: int
    ports: str
    block_bytes: int
    cost_model: CostModel
    cost: str
    links: int
    equal_cost_factor: float
    ties: List[str]
    ranking: List[Ranked]
    provenance: Provenance
    winner: Optional[str] = None
    winner_reason: Optional[str] = None
    model_time_us: Optional[float] = None
    model_time_us_reason: Optional[str] = None
    links_time_us: Optional[float] = None
    links_time_us_reason: Optional[str] = None
    margin: Optional[float] = None
    margin_reason: Optional[str] = None
    formula_winner: Optional[str] = None
    formula_winner_reason: Optional[str] = None
    formula_takes: Optional[float] = None
    formula_takes_reason: Optional[str] = None
    winner_link_blocks: Optional[float] = None
    winner_link_blocks_reason: Optional[str] = None
    bound_blocks: Optional[float] = None
    bound_blocks_reason: Optional[str] = None
    bound_ratio: Optional[float] = None
    bound_ratio_reason: Optional[str] = None
    startups_bound: Optional[float] = None
    startups_bound_reason: Optional[str] = None
    bound_tight: Optional[bool] = None
    bound_tight_reason: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class CostModel(Result):
    """A part of a result."""

    ts_us: float
    tw_us_per_byte: float
    tr_us_per_byte: float
    tc_us_per_byte: float
    th_us: float
    tw_link_us_per_byte: float
    flit_bytes: float
    tw_bus_us_per_byte: Optional[float] = None
    tw_bus_us_per_byte_reason: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class Ranked(Result):
    """A part of a result."""

    _nested = {
        "predicted": "Predicted",
    }

    algorithm: str
    options: Dict[str, Any]
    ports: str
    same_bits: str
    predicted: Predicted
    model_time_us: Optional[float] = None
    model_time_us_reason: Optional[str] = None
    model_contention: Optional[str] = None
    model_contention_reason: Optional[str] = None
    replayed_ps: Optional[int] = None
    replayed_ps_reason: Optional[str] = None
    work_bytes: Optional[int] = None
    work_bytes_reason: Optional[str] = None
    measured_us: Optional[float] = None
    measured_us_reason: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class Predicted(Result):
    """A part of a result."""

    startups: Optional[float] = None
    startups_reason: Optional[str] = None
    transmission_blocks: Optional[float] = None
    transmission_blocks_reason: Optional[str] = None
    rearranged_blocks: Optional[float] = None
    rearranged_blocks_reason: Optional[str] = None
    combined_blocks: Optional[float] = None
    combined_blocks_reason: Optional[str] = None
    working_blocks: Optional[float] = None
    working_blocks_reason: Optional[str] = None
    link_load: Optional[float] = None
    link_load_reason: Optional[str] = None
    link_blocks: Optional[float] = None
    link_blocks_reason: Optional[str] = None
    hops: Optional[float] = None
    hops_reason: Optional[str] = None
    injected_blocks: Optional[float] = None
    injected_blocks_reason: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class Provenance(Result):
    """A part of a result."""

    schema: int
    version: str
    command: str
    settings: Dict[str, Any]
    host: str
    cores: int
    memory_estimate_bytes: int
    memory_peak_bytes: int
    date: str


@dataclasses.dataclass(frozen=True)
class Check(Result):
    """A result of `wormcube check`."""

    _columns = (
        "operation", "algorithm", "topology", "startups", "messages", "transmission_blocks", "transmission_bytes",
        "rearranged_blocks", "combined_blocks", "link_load_max", "delivered", "exactly_once", "passed",
    )
    _nested = {
        "arguments": "Arguments", "predicted": "Predicted", "formulas": "Predicted", "lower_bound": "LowerBound", "cost_model":
        "CostModel", "counted_by": "CountedBy", "model_time_parts_us": "ModelTimeParts", "time_lockstep_us":
        "CheckTimeLockstepUs", "provenance": "Provenance",
    }

    nodes: int
    provenance: Provenance
    operation: Optional[str] = None
    algorithm: Optional[str] = None
    options: Optional[Dict[str, Any]] = None
    arguments: Optional[Arguments] = None
    topology: Optional[str] = None
    ports: Optional[str] = None
    startups: Optional[int] = None
    transmission_blocks: Optional[float] = None
    rearranged_blocks: Optional[float] = None
    combined_blocks: Optional[float] = None
    link_blocks: Optional[float] = None
    injected_blocks: Optional[float] = None
    messages: Optional[int] = None
    total_blocks: Optional[float] = None
    block_hops: Optional[float] = None
    steps: Optional[int] = None
    sum_max_hops: Optional[int] = None
    max_hops: Optional[int] = None
    link_load_max: Optional[int] = None
    contention_free_claimed: Optional[bool] = None
    has_formulas: Optional[bool] = None
    port_violations: Optional[int] = None
    matched: Optional[bool] = None
    delivered: Optional[bool] = None
    delivered_reason: Optional[str] = None
    exactly_once: Optional[bool] = None
    exactly_once_reason: Optional[str] = None
    exactly_once_claimed: Optional[bool] = None
    keeps_order: Optional[bool] = None
    keeps_order_reason: Optional[str] = None
    same_bits: Any = None
    same_bits_reason: Optional[str] = None
    proof: Optional[str] = None
    arrivals: Optional[str] = None
    peak_blocks: Optional[float] = None
    working_blocks: Optional[float] = None
    deadlock_free: Optional[bool] = None
    virtual_channels: Optional[int] = None
    seed: Optional[int] = None
    predicted: Optional[Predicted] = None
    formulas: Optional[Predicted] = None
    lower_bound: Optional[LowerBound] = None
    bound_met: Optional[bool] = None
    bound_met_reason: Optional[str] = None
    optimal: Optional[bool] = None
    optimal_reason: Optional[str] = None
    block_bytes: Optional[int] = None
    cost_model: Optional[CostModel] = None
    counted_by: Optional[CountedBy] = None
    model_time_parts_us: Optional[ModelTimeParts] = None
    model_limited_by: Optional[str] = None
    model_limited_by_reason: Optional[str] = None
    model_time_us: Optional[float] = None
    model_time_us_reason: Optional[str] = None
    model_contention: Optional[str] = None
    model_contention_reason: Optional[str] = None
    source: Optional[str] = None
    origin: Optional[str] = None
    remark: Optional[str] = None
    remark_reason: Optional[str] = None
    passed: Optional[bool] = None
    passed_reason: Optional[str] = None
    failures: Optional[List[str]] = None
    step_bytes: Optional[List[int]] = None
    step_load: Optional[List[int]] = None
    step_cost_bytes: Optional[List[int]] = None
    time_lockstep: Optional[float] = None
    time_lockstep_us: Optional[CheckTimeLockstepUs] = None
    status: Optional[str] = None
    schedule: Optional[str] = None
    format: Optional[str] = None
    operation_reason: Optional[str] = None
    arguments_reason: Optional[str] = None
    transmission_bytes: Optional[int] = None
    link_bytes: Optional[int] = None
    rearranged_bytes: Optional[int] = None
    combined_bytes: Optional[int] = None
    total_bytes: Optional[int] = None
    byte_hops: Optional[int] = None
    unmatched: Optional[int] = None
    broken_laws: Optional[int] = None
    order: Any = None
    order_reason: Optional[str] = None
    brackets: Any = None
    brackets_reason: Optional[str] = None
    problems: Optional[List[str]] = None
    notes: Optional[List[str]] = None
    witness: Optional[str] = None
    free_of_contention: Optional[List[str]] = None
    contention: Optional[List[str]] = None
    no_steps: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class Arguments(Result):
    """A part of a result."""

    root: Optional[int] = None
    distance: Optional[int] = None
    sources: Optional[List[int]] = None
    permutation: Optional[str] = None
    operator: Optional[str] = None
    type: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class LowerBound(Result):
    """A part of a result."""

    startups: Optional[float] = None
    startups_reason: Optional[str] = None
    transmission_blocks: Optional[float] = None
    transmission_blocks_reason: Optional[str] = None
    port_blocks: Optional[float] = None
    port_blocks_reason: Optional[str] = None
    transmission_source: Optional[str] = None
    transmission_source_reason: Optional[str] = None
    tight: Optional[bool] = None
    tight_reason: Optional[str] = None
    exact: Optional[str] = None
    exact_reason: Optional[str] = None
    source: Optional[str] = None
    source_reason: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class CountedBy(Result):
    """A part of a result."""

    startups: str
    transmission_blocks: str
    rearranged_blocks: str
    combined_blocks: str
    link_blocks: str
    hops: str
    injected_blocks: str


@dataclasses.dataclass(frozen=True)
class ModelTimeParts(Result):
    """A part of a result."""

    startups: Optional[float] = None
    startups_reason: Optional[str] = None
    hops: Optional[float] = None
    hops_reason: Optional[str] = None
    transfer: Optional[float] = None
    transfer_reason: Optional[str] = None
    rearrangement: Optional[float] = None
    rearrangement_reason: Optional[str] = None
    combining: Optional[float] = None
    combining_reason: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class CheckTimeLockstepUs(Result):
    """A part of a result."""

    total: float
    startups: float
    hops: float
    transfer: float
    rearrangement: float
    combining: float


@dataclasses.dataclass(frozen=True)
class Fft(Result):
    """A result of `wormcube fft`."""

    _columns = (
        "topology", "algorithm", "method", "shape", "time_median_us", "passed",
    )
    _nested = {
        "median_run_us": "FftMedianRunUs", "schedule": "FftSchedule", "cost_model": "CostModel", "modelled": "FftModelled",
        "checks": "FftChecks", "peak": "FftPeak", "provenance": "Provenance",
    }

    topology: str
    nodes: int
    machine_ports: str
    executor: str
    network: str
    eager_limit: int
    iterations: int
    warmup: int
    seed: int
    cost_model: CostModel
    provenance: Provenance
    operation: Optional[str] = None
    algorithm: Optional[str] = None
    ports: Optional[str] = None
    exchanges: Optional[int] = None
    block_bytes: Optional[int] = None
    padding_bytes: Optional[int] = None
    messages: Optional[int] = None
    bytes_moved: Optional[int] = None
    links_used: Optional[int] = None
    links_used_reason: Optional[str] = None
    link_messages_max: Optional[int] = None
    link_messages_max_reason: Optional[str] = None
    link_bytes_max: Optional[int] = None
    link_bytes_max_reason: Optional[str] = None
    blocked: Optional[int] = None
    blocked_reason: Optional[str] = None
    peak_bytes: Optional[int] = None
    remark: Optional[str] = None
    remark_reason: Optional[str] = None
    times_us: Optional[List[float]] = None
    time_min_us: Optional[float] = None
    time_quartile1_us: Optional[float] = None
    time_median_us: Optional[float] = None
    time_quartile3_us: Optional[float] = None
    time_max_us: Optional[float] = None
    median_run_us: Optional[FftMedianRunUs] = None
    schedule: Optional[FftSchedule] = None
    schedule_reason: Optional[str] = None
    transport: Optional[str] = None
    transport_reason: Optional[str] = None
    channel_capacity: Optional[int] = None
    channel_capacity_reason: Optional[str] = None
    routers: Optional[int] = None
    routers_reason: Optional[str] = None
    faults: Optional[List[str]] = None
    faults_reason: Optional[str] = None
    virtual_channels: Optional[int] = None
    virtual_channels_reason: Optional[str] = None
    lock_step: Optional[bool] = None
    lock_step_reason: Optional[str] = None
    window: Optional[int] = None
    window_reason: Optional[str] = None
    workers: Optional[int] = None
    workers_reason: Optional[str] = None
    pinned: Optional[bool] = None
    pinned_reason: Optional[str] = None
    processes: Optional[int] = None
    mpi_library: Optional[str] = None
    modelled: Optional[FftModelled] = None
    modelled_reason: Optional[str] = None
    input: Optional[str] = None
    shape: Optional[List[int]] = None
    real: Optional[bool] = None
    inverse: Optional[bool] = None
    method: Optional[str] = None
    busy_nodes: Optional[int] = None
    checks: Optional[FftChecks] = None
    serial_us: Optional[float] = None
    serial_us_reason: Optional[str] = None
    peak: Optional[FftPeak] = None
    peak_reason: Optional[str] = None
    passed: Optional[bool] = None
    passed_reason: Optional[str] = None
    status: Optional[str] = None
    failures: Optional[List[str]] = None


@dataclasses.dataclass(frozen=True)
class FftMedianRunUs(Result):
    """A part of a result."""

    wall: float
    cores: int
    computing: float
    rearranging: float
    combining: float
    host: float
    moving_data: float
    network: float
    idle: float


@dataclasses.dataclass(frozen=True)
class FftSchedule(Result):
    """A part of a result."""

    steps: int
    startups: int
    transmission_bytes: int
    rearranged_bytes: int
    byte_hops: int
    max_hops: int
    link_load_max: int
    port_violations: int
    matched: bool
    deadlock_free: bool


@dataclasses.dataclass(frozen=True)
class FftModelled(Result):
    """A part of a result."""

    _nested = {
        "model": "MachineModel", "parts_ps": "FftModelledPartsPs",
    }

    model: MachineModel
    computing: str
    gigaflops: Optional[float] = None
    gigaflops_reason: Optional[str] = None
    memory_gb_per_s: Optional[float] = None
    memory_gb_per_s_reason: Optional[str] = None
    time_ps: Optional[int] = None
    time_ps_reason: Optional[str] = None
    parts_ps: Optional[FftModelledPartsPs] = None
    messages: Optional[int] = None
    blocked_messages: Optional[int] = None
    blocked_ps: Optional[int] = None


@dataclasses.dataclass(frozen=True)
class MachineModel(Result):
    """A part of a result."""

    startup_ps: int
    flit_bytes: int
    flit_ps: int
    hop_ps: int
    credit_ps: int
    depth: int
    rearrange_ps: int
    rearrange_per_bytes: int
    combine_ps: int
    combine_per_bytes: int
    lock_step: bool
    port_ps: int
    port_slots: int
    forwarding: str
    virtual_channels: int
    full_rate: bool
    machine: Optional[str] = None
    machine_reason: Optional[str] = None
    packet_bytes: Optional[int] = None
    packet_bytes_reason: Optional[str] = None
    node_ps: Optional[int] = None
    node_ps_reason: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class FftModelledPartsPs(Result):
    """A part of a result."""

    startups: int
    transfer: int
    contention: int
    rearranging: int
    combining: int
    computing: int


@dataclasses.dataclass(frozen=True)
class FftChecks(Result):
    """A part of a result."""

    _nested = {
        "inverse": "FftCheck", "parseval": "FftCheck", "closed_form": "FftCheck", "serial": "FftCheck", "bins": "FftCheck",
    }

    inverse: FftCheck
    parseval: FftCheck
    closed_form: FftCheck
    serial: FftCheck
    bins: FftCheck


@dataclasses.dataclass(frozen=True)
class FftCheck(Result):
    """A part of a result."""

    error: Optional[float] = None
    error_reason: Optional[str] = None
    error_of_eps_log2_n: Optional[float] = None
    error_of_eps_log2_n_reason: Optional[str] = None
    tolerance: Optional[float] = None
    tolerance_reason: Optional[str] = None
    passed: Optional[bool] = None
    passed_reason: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class FftPeak(Result):
    """A part of a result."""

    bin: int
    period: float
    period_shortest: float
    magnitude: float
    chance: float
    period_longest: Optional[float] = None
    period_longest_reason: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class Algorithm(Result):
    """A result of `wormcube list`."""

    _columns = (
        "operation", "algorithm", "topology", "admitted", "ports", "contention_free", "exactly_once", "model_time_us",
        "chosen_by_auto",
    )
    _nested = {
        "arguments": "Arguments", "options": "AlgorithmOptions", "predicted": "Predicted", "lower_bound": "LowerBound",
        "cost_model": "CostModel", "counted_by": "CountedBy", "model_time_parts_us": "ModelTimeParts", "provenance":
        "Provenance",
    }

    operation: str
    operation_summary: str
    algorithm: str
    ports: str
    contention_free: bool
    exactly_once: bool
    considered_by_auto: bool
    summary: str
    source: str
    origin: str
    options: List[AlgorithmOptions]
    needs: List[str]
    provenance: Provenance
    chosen_by_auto: Optional[bool] = None
    chosen_by_auto_reason: Optional[str] = None
    chosen_by_auto_all_ports: Optional[bool] = None
    chosen_by_auto_all_ports_reason: Optional[str] = None
    chosen_options: Optional[Dict[str, Any]] = None
    arguments: Optional[Arguments] = None
    same_bits: Optional[str] = None
    remark: Optional[str] = None
    remark_reason: Optional[str] = None
    topology: Optional[str] = None
    admitted: Optional[bool] = None
    refusal: Optional[str] = None
    refusal_reason: Optional[str] = None
    predicted: Optional[Predicted] = None
    lower_bound: Optional[LowerBound] = None
    block_bytes: Optional[int] = None
    cost_model: Optional[CostModel] = None
    counted_by: Optional[CountedBy] = None
    model_time_parts_us: Optional[ModelTimeParts] = None
    model_limited_by: Optional[str] = None
    model_limited_by_reason: Optional[str] = None
    model_time_us: Optional[float] = None
    model_time_us_reason: Optional[str] = None
    model_contention: Optional[str] = None
    model_contention_reason: Optional[str] = None
    replayed_ps: Optional[int] = None
    replayed_ps_reason: Optional[str] = None
    work_bytes: Optional[int] = None
    work_bytes_reason: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class AlgorithmOptions(Result):
    """A part of a result."""

    name: str
    values: str
    default: str
    help: str


@dataclasses.dataclass(frozen=True)
class Machine(Result):
    """A result of `wormcube machines`."""

    _columns = (
        "name", "network", "year", "unit", "ports", "startup_ps", "flit_bytes", "flit_ps", "hop_ps",
    )
    _nested = {
        "provenance": "Provenance",
    }

    name: str
    unit: str
    ports: str
    flit_bytes: int
    flit_ps: int
    credit_ps: int
    depth: int
    cautions: List[str]
    kib_alone_ps: int
    provenance: Provenance
    network: Optional[str] = None
    year: Optional[int] = None
    startup_ps: Optional[int] = None
    startup_ps_reason: Optional[str] = None
    hop_ps: Optional[int] = None
    hop_ps_reason: Optional[str] = None
    rearrange_ps_per_byte: Optional[int] = None
    rearrange_ps_per_kib: Optional[int] = None
    combine_ps_per_byte: Optional[int] = None
    combine_ps_per_kib: Optional[int] = None
    port_mb_per_s: Optional[int] = None
    port_ps: Optional[int] = None
    port_slots: Optional[int] = None
    packet_bytes: Optional[int] = None
    node_ps: Optional[int] = None
    sure: Optional[str] = None
    notes: Optional[List[str]] = None
    source: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class Replay(Result):
    """A result of `wormcube replay`."""

    _columns = (
        "operation", "algorithm", "schedule", "topology", "block_bytes", "time_ps", "efficiency", "blocked_messages", "status",
    )
    _nested = {
        "arguments": "Arguments", "model": "MachineModel", "bounds": "ReplayBounds", "messages": "Message", "nodes": "Node",
        "links": "Link", "critical_path": "Piece", "provenance": "Provenance",
    }

    topology: str
    nodes_in_all: int
    steps_in_all: int
    ports: str
    model: MachineModel
    lock_step_form_ps: int
    lock_step_form_exact: bool
    lock_step_form_note: str
    uncontended_ps: int
    formula_at_least: bool
    bounds: ReplayBounds
    blocked_messages: int
    blocked_ps: int
    lost_contention_ps: int
    lost_ports_ps: int
    lost_late_partners_ps: int
    busiest_link_use: float
    mean_link_use: float
    messages_in_all: int
    events: int
    provenance: Provenance
    operation: Optional[str] = None
    operation_reason: Optional[str] = None
    algorithm: Optional[str] = None
    algorithm_reason: Optional[str] = None
    options: Optional[Dict[str, Any]] = None
    options_reason: Optional[str] = None
    arguments: Optional[Arguments] = None
    arguments_reason: Optional[str] = None
    schedule: Optional[str] = None
    schedule_reason: Optional[str] = None
    block_bytes: Optional[int] = None
    block_bytes_reason: Optional[str] = None
    time_ps: Optional[int] = None
    time_ps_reason: Optional[str] = None
    formula_us: Optional[float] = None
    formula_us_reason: Optional[str] = None
    efficiency: Optional[float] = None
    efficiency_reason: Optional[str] = None
    busiest_link: Optional[str] = None
    busiest_link_reason: Optional[str] = None
    messages: Optional[List[Message]] = None
    messages_reason: Optional[str] = None
    nodes: Optional[List[Node]] = None
    nodes_reason: Optional[str] = None
    links: Optional[List[Link]] = None
    links_reason: Optional[str] = None
    critical_path: Optional[List[Piece]] = None
    critical_path_reason: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class ReplayBounds(Result):
    """A part of a result."""

    ports_of_schedule_ps: int
    links_of_schedule_ps: int
    highest_ps: int
    startups_ps: Optional[int] = None
    startups_ps_reason: Optional[str] = None
    ports_ps: Optional[int] = None
    ports_ps_reason: Optional[str] = None
    links_ps: Optional[int] = None
    links_ps_reason: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class Message(Result):
    """A part of a result."""

    step: int
    from_: int
    to: int
    tag: int
    bytes: int
    hops: int
    waited_ps: int
    shared_ps: int
    posted_ps: Optional[int] = None
    posted_ps_reason: Optional[str] = None
    sent_ps: Optional[int] = None
    sent_ps_reason: Optional[str] = None
    delivered_ps: Optional[int] = None
    delivered_ps_reason: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class Node(Result):
    """A part of a result."""

    node: int
    steps_ps: List[int]
    finish_ps: Optional[int] = None
    finish_ps_reason: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class Link(Result):
    """A part of a result."""

    link: int
    link_name: str
    virtual_channel: int
    messages: int
    flits: int
    busy_ps: int
    waited_ps: int


@dataclasses.dataclass(frozen=True)
class Piece(Result):
    """A part of a result."""

    kind: str
    from_ps: int
    to_ps: int
    node: int
    step: int
    bytes: int
    to: Optional[int] = None
    to_reason: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class Reproduction(Result):
    """A result of `wormcube reproduce`."""

    _columns = (
        "paper", "citation", "passed",
    )
    _nested = {
        "rows": "Row", "refused": "Refused", "errata": "Erratum", "provenance": "Provenance", "series": "Series",
    }

    paper: str
    citation: str
    rows: Any
    refused: List[Refused]
    errata: List[Erratum]
    provenance: Provenance
    passed: Optional[bool] = None
    passed_reason: Optional[str] = None
    figure: Optional[int] = None
    series: Optional[List[Series]] = None
    failures: Optional[List[str]] = None


@dataclasses.dataclass(frozen=True)
class Row(Result):
    """A part of a result."""

    _nested = {
        "startups": "Figure", "transmission_blocks": "Figure", "rearranged_blocks": "Figure", "working_blocks": "Figure",
    }

    topology: str
    row: str
    algorithm: str
    options: Dict[str, Any]
    startups: Figure
    transmission_blocks: Figure
    rearranged_blocks: Figure
    working_blocks: Figure
    peak_blocks: Optional[float] = None
    peak_blocks_reason: Optional[str] = None
    link_load_max: Optional[int] = None
    link_load_max_reason: Optional[str] = None
    port_violations: Optional[int] = None
    port_violations_reason: Optional[str] = None
    remark: Optional[str] = None
    remark_reason: Optional[str] = None
    delivered: Optional[bool] = None
    delivered_reason: Optional[str] = None
    exactly_once: Optional[bool] = None
    exactly_once_reason: Optional[str] = None
    passed: Optional[bool] = None
    passed_reason: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class Figure(Result):
    """A part of a result."""

    formula: str
    printed: Optional[float] = None
    printed_reason: Optional[str] = None
    corrected: Optional[float] = None
    corrected_reason: Optional[str] = None
    counted: Optional[float] = None
    counted_reason: Optional[str] = None
    as_printed: Optional[bool] = None
    as_printed_reason: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class Product(Result):
    """A part of a result."""

    _nested = {
        "exchanges": "Exchange",
    }

    topology: str
    nodes: int
    average_status: str
    average_distance: str
    cut_bound: str
    exchanges: List[Exchange]


@dataclasses.dataclass(frozen=True)
class Exchange(Result):
    """A part of a result."""

    label: str
    algorithm: str
    ports: str
    steps: int
    lower_bound: str
    lower_bound_source: str
    met: bool
    optimal: bool
    peak_blocks: float
    remark: Optional[str] = None
    remark_reason: Optional[str] = None
    predicted: Optional[float] = None
    predicted_reason: Optional[str] = None
    delivered: Optional[bool] = None
    delivered_reason: Optional[str] = None
    exactly_once: Optional[bool] = None
    exactly_once_reason: Optional[str] = None
    passed: Optional[bool] = None
    passed_reason: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class Claim(Result):
    """A part of a result."""

    topology: str
    place: str
    figure: str
    formula: str
    errata: List[str]
    passed: bool
    algorithm: Optional[str] = None
    algorithm_reason: Optional[str] = None
    printed: Optional[float] = None
    printed_reason: Optional[str] = None
    corrected: Optional[float] = None
    corrected_reason: Optional[str] = None
    counted: Optional[float] = None
    counted_reason: Optional[str] = None
    as_printed: Optional[bool] = None
    as_printed_reason: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class Place(Result):
    """A part of a result."""

    _nested = {
        "figures": "ChapterFigure",
    }

    place: str
    topology: str
    figures: List[ChapterFigure]
    errata: List[str]
    passed: bool
    operation: Optional[str] = None
    operation_reason: Optional[str] = None
    algorithm: Optional[str] = None
    algorithm_reason: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class ChapterFigure(Result):
    """A part of a result."""

    figure: str
    formula: str
    printed: float
    corrected: float
    counted: float
    as_printed: bool


@dataclasses.dataclass(frozen=True)
class Refused(Result):
    """A part of a result."""

    topology: str
    reason: str


@dataclasses.dataclass(frozen=True)
class Erratum(Result):
    """A part of a result."""

    name: str
    place: str
    printed: str
    correct: str


@dataclasses.dataclass(frozen=True)
class Series(Result):
    """A part of a result."""

    _nested = {
        "points": "SeriesPoints",
    }

    name: str
    counted: bool
    source: str
    points: List[SeriesPoints]


@dataclasses.dataclass(frozen=True)
class SeriesPoints(Result):
    """A part of a result."""

    n: int
    steps: float


@dataclasses.dataclass(frozen=True)
class Run(Result):
    """A result of `wormcube run`."""

    _columns = (
        "operation", "algorithm", "topology", "block_bytes", "time_median_us", "model_time_us", "algbw_gb_per_s", "passed",
    )
    _nested = {
        "arguments": "Arguments", "counted_by": "CountedBy", "model_time_parts_us": "ModelTimeParts", "wrong_pairs":
        "RunWrongPairs", "predicted": "Predicted", "cost_model": "CostModel", "provenance": "Provenance",
    }

    operation: str
    algorithm: str
    options: Dict[str, Any]
    arguments: Arguments
    topology: str
    nodes: int
    ports: str
    block_bytes: int
    in_place: bool
    iterations: int
    warmup: int
    calls: int
    executor: str
    network: str
    eager_limit: int
    seed: int
    cost_model: CostModel
    source: str
    origin: str
    provenance: Provenance
    times_us: Optional[List[float]] = None
    time_min_us: Optional[float] = None
    time_quartile1_us: Optional[float] = None
    time_median_us: Optional[float] = None
    time_quartile3_us: Optional[float] = None
    time_max_us: Optional[float] = None
    time_back_to_back_us: Optional[float] = None
    time_back_to_back_us_reason: Optional[str] = None
    counted_by: Optional[CountedBy] = None
    model_time_parts_us: Optional[ModelTimeParts] = None
    model_limited_by: Optional[str] = None
    model_limited_by_reason: Optional[str] = None
    model_time_us: Optional[float] = None
    model_time_us_reason: Optional[str] = None
    model_contention: Optional[str] = None
    model_contention_reason: Optional[str] = None
    data_bytes: Optional[float] = None
    data_bytes_reason: Optional[str] = None
    algbw_gb_per_s: Optional[float] = None
    algbw_gb_per_s_reason: Optional[str] = None
    busbw_gb_per_s: Optional[float] = None
    busbw_gb_per_s_reason: Optional[str] = None
    wrong: Optional[int] = None
    wrong_reason: Optional[str] = None
    first_wrong: Optional[str] = None
    wrong_pairs: Optional[List[RunWrongPairs]] = None
    wrong_pairs_reason: Optional[str] = None
    messages: Optional[int] = None
    link_bytes_max: Optional[float] = None
    link_bytes_max_reason: Optional[str] = None
    blocked: Optional[int] = None
    blocked_reason: Optional[str] = None
    deadlock_free: Optional[bool] = None
    deadlock_free_reason: Optional[str] = None
    parked: Optional[int] = None
    peak_bytes: Optional[int] = None
    predicted: Optional[Predicted] = None
    transport: Optional[str] = None
    transport_reason: Optional[str] = None
    channel_capacity: Optional[int] = None
    channel_capacity_reason: Optional[str] = None
    routers: Optional[int] = None
    routers_reason: Optional[str] = None
    faults: Optional[List[str]] = None
    faults_reason: Optional[str] = None
    virtual_channels: Optional[int] = None
    virtual_channels_reason: Optional[str] = None
    lock_step: Optional[bool] = None
    lock_step_reason: Optional[str] = None
    window: Optional[int] = None
    window_reason: Optional[str] = None
    workers: Optional[int] = None
    workers_reason: Optional[str] = None
    pinned: Optional[bool] = None
    pinned_reason: Optional[str] = None
    processes: Optional[int] = None
    mpi_library: Optional[str] = None
    remark: Optional[str] = None
    remark_reason: Optional[str] = None
    passed: Optional[bool] = None
    passed_reason: Optional[str] = None
    status: Optional[str] = None
    failures: Optional[List[str]] = None


@dataclasses.dataclass(frozen=True)
class RunWrongPairs(Result):
    """A part of a result."""

    from_: int
    to: int


@dataclasses.dataclass(frozen=True)
class TopologyFacts(Result):
    """A result of `wormcube topology`."""

    _columns = (
        "topology", "nodes", "links", "diameter", "deadlock_free", "average_distance",
    )
    _nested = {
        "dimensions": "TopologyFactsDimensions", "link_bounds": "TopologyFactsLinkBounds", "neighbours":
        "TopologyFactsNeighbours", "route": "TopologyFactsRoute", "ring": "TopologyFactsRing", "provenance": "Provenance",
    }

    topology: str
    description: str
    nodes: int
    links: int
    ports_min: int
    ports_max: int
    virtual_channels: int
    channels: int
    deadlock_free: bool
    dimensions: List[TopologyFactsDimensions]
    distance_from: int
    nodes_at_distance: List[int]
    nodes_alike: bool
    eccentricity: int
    bound_cut_searched: str
    bound_cut_cables: int
    bound_cut_part: int
    link_bounds: TopologyFactsLinkBounds
    provenance: Provenance
    diameter: Optional[int] = None
    diameter_reason: Optional[str] = None
    halving_cut_cables: Optional[int] = None
    halving_cut_cables_reason: Optional[str] = None
    halving_cut_dimension: Optional[int] = None
    halving_cut_dimension_reason: Optional[str] = None
    cycle: Optional[str] = None
    cycle_reason: Optional[str] = None
    cables: Optional[List[List[Any]]] = None
    cables_reason: Optional[str] = None
    eccentricity_min: Optional[int] = None
    eccentricity_min_reason: Optional[str] = None
    eccentricity_max: Optional[int] = None
    eccentricity_max_reason: Optional[str] = None
    status_min: Optional[int] = None
    status_min_reason: Optional[str] = None
    status_max: Optional[int] = None
    status_max_reason: Optional[str] = None
    status: Optional[int] = None
    status_reason: Optional[str] = None
    average_status: Optional[str] = None
    average_status_reason: Optional[str] = None
    average_status_value: Optional[float] = None
    average_status_value_reason: Optional[str] = None
    average_distance: Optional[str] = None
    average_distance_reason: Optional[str] = None
    average_distance_value: Optional[float] = None
    average_distance_value_reason: Optional[str] = None
    bound_one_port: Optional[str] = None
    bound_one_port_reason: Optional[str] = None
    bound_one_port_value: Optional[float] = None
    bound_one_port_value_reason: Optional[str] = None
    bound_cut: Optional[str] = None
    bound_cut_reason: Optional[str] = None
    bound_cut_value: Optional[float] = None
    bound_cut_value_reason: Optional[str] = None
    edge_connectivity: Optional[int] = None
    edge_connectivity_reason: Optional[str] = None
    bound_tree: Optional[int] = None
    bound_tree_reason: Optional[str] = None
    node: Optional[int] = None
    neighbours: Optional[List[TopologyFactsNeighbours]] = None
    route: Optional[List[TopologyFactsRoute]] = None
    ring: Optional[TopologyFactsRing] = None


@dataclasses.dataclass(frozen=True)
class TopologyFactsDimensions(Result):
    """A part of a result."""

    shape: str
    size: int
    links: int
    diameter: Optional[int] = None
    diameter_reason: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class TopologyFactsLinkBounds(Result):
    """A part of a result."""

    _nested = {
        "broadcast": "LinkBound", "allgather": "LinkBound", "allreduce": "LinkBound", "alltoall": "LinkBound",
    }

    broadcast: LinkBound
    allgather: LinkBound
    allreduce: LinkBound
    alltoall: LinkBound


@dataclasses.dataclass(frozen=True)
class LinkBound(Result):
    """A part of a result."""

    blocks: float
    tight: bool
    source: str


@dataclasses.dataclass(frozen=True)
class TopologyFactsNeighbours(Result):
    """A part of a result."""

    port: int
    dimension: int
    link: int
    link_name: str
    direction: Optional[str] = None
    direction_reason: Optional[str] = None
    node: Optional[int] = None
    node_reason: Optional[str] = None


@dataclasses.dataclass(frozen=True)
class TopologyFactsRoute(Result):
    """A part of a result."""

    link: int
    link_name: str
    virtual_channel: int
    dimension: int


@dataclasses.dataclass(frozen=True)
class TopologyFactsRing(Result):
    """A part of a result."""

    order: List[int]
    kind: Any
    load: int
    longest_hop: int


@dataclasses.dataclass(frozen=True)
class Transpose(Result):
    """A result of `wormcube transpose`."""

    _columns = (
        "topology", "algorithm", "shape", "type", "time_median_us", "passed",
    )
    _nested = {
        "median_run_us": "TransposeMedianRunUs", "schedule": "TransposeSchedule", "cost_model": "CostModel", "modelled":
        "TransposeModelled", "provenance": "Provenance",
    }

    topology: str
    nodes: int
    machine_ports: str
    executor: str
    network: str
    eager_limit: int
    iterations: int
    warmup: int
    seed: int
    cost_model: CostModel
    provenance: Provenance
    operation: Optional[str] = None
    algorithm: Optional[str] = None
    ports: Optional[str] = None
    exchanges: Optional[int] = None
    block_bytes: Optional[int] = None
    padding_bytes: Optional[int] = None
    messages: Optional[int] = None
    bytes_moved: Optional[int] = None
    links_used: Optional[int] = None
    links_used_reason: Optional[str] = None
    link_messages_max: Optional[int] = None
    link_messages_max_reason: Optional[str] = None
    link_bytes_max: Optional[int] = None
    link_bytes_max_reason: Optional[str] = None
    blocked: Optional[int] = None
    blocked_reason: Optional[str] = None
    peak_bytes: Optional[int] = None
    remark: Optional[str] = None
    remark_reason: Optional[str] = None
    times_us: Optional[List[float]] = None
    time_min_us: Optional[float] = None
    time_quartile1_us: Optional[float] = None
    time_median_us: Optional[float] = None
    time_quartile3_us: Optional[float] = None
    time_max_us: Optional[float] = None
    median_run_us: Optional[TransposeMedianRunUs] = None
    schedule: Optional[TransposeSchedule] = None
    schedule_reason: Optional[str] = None
    transport: Optional[str] = None
    transport_reason: Optional[str] = None
    channel_capacity: Optional[int] = None
    channel_capacity_reason: Optional[str] = None
    routers: Optional[int] = None
    routers_reason: Optional[str] = None
    faults: Optional[List[str]] = None
    faults_reason: Optional[str] = None
    virtual_channels: Optional[int] = None
    virtual_channels_reason: Optional[str] = None
    lock_step: Optional[bool] = None
    lock_step_reason: Optional[str] = None
    window: Optional[int] = None
    window_reason: Optional[str] = None
    workers: Optional[int] = None
    workers_reason: Optional[str] = None
    pinned: Optional[bool] = None
    pinned_reason: Optional[str] = None
    processes: Optional[int] = None
    mpi_library: Optional[str] = None
    modelled: Optional[TransposeModelled] = None
    modelled_reason: Optional[str] = None
    input: Optional[str] = None
    shape: Optional[List[int]] = None
    type: Optional[str] = None
    gb_per_s: Optional[float] = None
    wrong: Optional[int] = None
    wrong_reason: Optional[str] = None
    passed: Optional[bool] = None
    passed_reason: Optional[str] = None
    status: Optional[str] = None
    failures: Optional[List[str]] = None


@dataclasses.dataclass(frozen=True)
class TransposeMedianRunUs(Result):
    """A part of a result."""

    wall: float
    cores: int
    computing: float
    rearranging: float
    combining: float
    host: float
    moving_data: float
    network: float
    idle: float


@dataclasses.dataclass(frozen=True)
class TransposeSchedule(Result):
    """A part of a result."""

    steps: int
    startups: int
    transmission_bytes: int
    rearranged_bytes: int
    byte_hops: int
    max_hops: int
    link_load_max: int
    port_violations: int
    matched: bool
    deadlock_free: bool


@dataclasses.dataclass(frozen=True)
class TransposeModelled(Result):
    """A part of a result."""

    _nested = {
        "model": "MachineModel", "parts_ps": "TransposeModelledPartsPs",
    }

    model: MachineModel
    computing: str
    gigaflops: Optional[float] = None
    gigaflops_reason: Optional[str] = None
    memory_gb_per_s: Optional[float] = None
    memory_gb_per_s_reason: Optional[str] = None
    time_ps: Optional[int] = None
    time_ps_reason: Optional[str] = None
    parts_ps: Optional[TransposeModelledPartsPs] = None
    messages: Optional[int] = None
    blocked_messages: Optional[int] = None
    blocked_ps: Optional[int] = None


@dataclasses.dataclass(frozen=True)
class TransposeModelledPartsPs(Result):
    """A part of a result."""

    startups: int
    transfer: int
    contention: int
    rearranging: int
    combining: int
    computing: int
