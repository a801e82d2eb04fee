// The state of the player's page, and its form in the address.
// SPDX-License-Identifier: Apache-2.0
/** The part of a step at which its messages have their paths. */
export const resting = 0.55;
const clamp = (x, low, high) => Math.max(low, Math.min(high, x));

/** The state of the page; the address repeats it. */
export class State {
  constructor(data, plays) {
    this.plays = plays;
    const cost = data.cost;
    this.base = {
      ts: cost.ts_us,
      tw: cost.tw_us_per_byte,
      tr: cost.tr_us_per_byte,
      tc: cost.tc_us_per_byte,
      th: cost.th_us,
      links: cost.tw_us_per_byte > 0 ? cost.tw_link_us_per_byte / cost.tw_us_per_byte : 1,
      bus: cost.tw_us_per_byte > 0 ? (cost.tw_bus_us_per_byte ?? 0) / cost.tw_us_per_byte : 0,
      flit: cost.flit_bytes,
      bytes: cost.block_bytes,
      shared: true
    };
    this.cost = {...this.base };
    Object.assign(this, {
      shown: 0,
      comparing: plays.length > 1,
      step: 0,
      at: resting,
      clock: 0,
      playing: false,
      speed: 1,
      links: "worms",
      colour: "dimension",
      load: "step",
      blocks: "destination",
      theme: "",
      select: null
    });
    this.listeners = [];
  }
  get play() { return this.plays[this.shown]; }
  /** Comparisons and replays run on a clock; otherwise time advances by steps. */
  get byClock() { return this.comparing || this.play.replay !== null; }
  set(changes) {
    Object.assign(this, changes);
    for (const listener of this.listeners) listener(changes);
  }
  setCost(changes) { this.set({ cost: {...this.cost, ...changes } }); }
}

export function fragmentOf(state) {
  const parts = [];
  const put = (key, value, usual) => {
    if (value !== usual && value !== "" && value !== null && value !== undefined)
      parts.push(`${key}=${encodeURIComponent(value)}`);
  };
  if (state.byClock) put("t", Number(state.clock.toFixed(2)));
  else {
    put("step", state.step);
    put("at", Number(state.at.toFixed(2)), resting);
  }
  const s = state.select, name = s?.kind;
  if (name === "node") put("node", s.node);
  if (name === "link")
    put("link", `${state.play.network.lanes[s.link].from}-${state.play.network.lanes[s.link].to}`);
  if (name === "worm") put("worm", s.message);
  if (name === "block") put("block", `${s.origin}-${s.destination}`);
  if (state.comparing) put("play", state.plays.map((play) => play.algorithm).join(","));
  else if (state.plays.length > 1) put("play", state.play.algorithm);
  put("links", state.links, "worms"), put("colour", state.colour, "dimension"),
      put("load", state.load, "step"), put("blocks", state.blocks, "destination"),
      put("theme", state.theme, "");
  for (const key of ["ts", "th", "tw", "tr", "tc", "bytes"]) put(key, state.cost[key], state.base[key]);
  return parts.length > 0 ? `#${parts.join("&")}` : "#";
}

/** Unknown keys are ignored, numbers clamped. */
export function readFragment(state, hash = location.hash) {
  const given = new URLSearchParams(hash.slice(1));
  const changes = {};
  const number = (key, low, high) => {
    const value = given.has(key) ? Number(given.get(key)) : NaN;
    return Number.isFinite(value) ? clamp(value, low, high) : null;
  };
  const choice = (key, choices) => {
    if (choices.includes(given.get(key))) changes[key] = given.get(key);
  };
  const named = given.get("play")?.split(",") ?? [];
  if (named.length > 1 && state.plays.length > 1) changes.comparing = true;
  else if (named.length === 1) {
    const i = state.plays.findIndex((play) => play.algorithm === named[0]);
    if (i >= 0) changes.shown = i, changes.comparing = false;
  }
  const play = state.plays[changes.shown ?? state.shown];
  const step = number("step", 0, Math.max(0, play.steps - 1));
  if (step !== null) changes.step = Math.round(step), changes.at = resting;
  const at = number("at", 0, 1);
  if (at !== null) changes.at = at;
  const t = number("t", 0, 1e12);
  if (t !== null) changes.clock = t;
  choice("links", ["worms", "load"]),
      choice("colour", ["dimension", "sender", "receiver", "phase"]),
      choice("load", ["step", "all"]), choice("blocks", ["destination", "origin"]),
      choice("theme", ["light", "dark"]);
  const cost = {...state.cost };
  for (const key of ["ts", "th", "tw", "tr", "tc", "bytes"]) {
    const value = number(key, key === "bytes" ? 1 : 0, 1e12);
    if (value !== null) cost[key] = value;
  }
  changes.cost = cost;
  const nodes = play.network.nodes, pair = (key) => /^(\d+)-(\d+)$/.exec(given.get(key) ?? "");
  const node = number("node", 0, nodes - 1), worm = number("worm", 0, play.from.length - 1);
  if (node !== null) changes.select = { kind: "node", node: Math.round(node) };
  else if (pair("link")) {
    const link = play.network.linkOf(Number(pair("link")[1]), Number(pair("link")[2]));
    if (link >= 0) changes.select = { kind: "link", link };
  } else if (worm !== null && play.from.length > 0)
    changes.select = { kind: "worm", message: Math.round(worm) };
  else if (pair("block"))
    changes.select = chooseBlock(play, Number(pair("block")[1]), Number(pair("block")[2]));
  return changes;
}

export function chooseBlock(play, origin, destination) {
  const { blocks, network } = play;
  if (origin >= network.nodes || destination >= network.nodes ||
      !(blocks.kind === "moves" || blocks.kind === "copies"))
    return null;
  const block = blocks.between(origin, destination);
  if (block < 0) return null;
  return { kind: "block", block, origin, destination, way: blocks.way(block, destination) };
}
