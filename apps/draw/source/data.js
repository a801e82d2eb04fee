// The page's data: unpacks numbers, the network, and each algorithm's messages and blocks.
// SPDX-License-Identifier: Apache-2.0

/** Decodes {"enc", "count", "data"} into bytes. */
async function bytesOf(packed) {
  const text = atob(packed.data);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  if (packed.enc === "raw") return bytes;
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Reads LEB128 numbers one after the other. */
class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }
  next() {
    let value = 0, factor = 1;
    for (;;) {
      const byte = this.bytes[this.at++];
      value += (byte & 127) * factor;
      if (byte < 128) return value;
      factor *= 128;
    }
  }
  signed() {
    const z = this.next();
    return z % 2 === 0 ? z / 2 : -(z + 1) / 2;
  }
}
const reader = async (packed) => new Reader(await bytesOf(packed));

/** All numbers of a packed list. */
async function numbers(packed) {
  const input = await reader(packed);
  return Float64Array.from({ length: packed.count }, () => input.next());
}

export class Network {
  static async from(json) {
    const network = new Network();
    Object.assign(network, json);
    const [places, lanes] = await Promise.all([reader(json.places), reader(json.lanes)]);
    const vertices = json.nodes + json.switches;
    network.x = new Float32Array(vertices);
    network.y = new Float32Array(vertices);
    for (let v = 0, x = 0, y = 0; v < vertices; ++v) {
      x += places.signed(), y += places.signed();
      network.x[v] = x / 10, network.y[v] = y / 10;
    }
    network.lanes = [];
    let slots = 0;
    for (let from = 0;
         network.lanes.length * 7 <= json.lanes.count && lanes.at < lanes.bytes.length;) {
      from += lanes.signed();
      const lane = {
        link: network.lanes.length,
        from,
        to: from + lanes.signed(),
        dimension: lanes.next(),
        slot: lanes.next()
      };
      const flags = lanes.next();
      lane.dateline = (flags & 1) !== 0, lane.thin = (flags & 2) !== 0,
      lane.tick = (flags & 4) !== 0;
      const count = lanes.next();
      lane.gap = lanes.next();
      lane.points = new Float32Array(2 * count);
      let x = Math.round(network.x[from] * 10), y = Math.round(network.y[from] * 10);
      for (let i = 0; i < count; ++i) {
        x += lanes.signed(), y += lanes.signed();
        lane.points[2 * i] = x / 10, lane.points[2 * i + 1] = y / 10;
      }
      slots = Math.max(slots, lane.slot + 1);
      network.lanes.push(lane);
    }
    network.slots = slots;
    network.out = new Map();  // (vertex, slot) -> link
    for (const lane of network.lanes) network.out.set(lane.from * slots + lane.slot, lane.link);
    return network;
  }
  name(vertex) {
    return this.label(vertex).split("\n")[0];
  }
  /** The name, and in hypercubes a line with the bits. */
  label(vertex) { return this.names.length > 0 ? this.names[vertex] : String(vertex); }
  coordinates(node) {
    const result = [];
    let stride = this.nodes;
    for (const { size } of this.dimensions) {
      stride /= size;
      result.push(Math.floor(node / stride) % size);
    }
    return result;
  }
  linkName(link) {
    return `${this.name(this.lanes[link].from)}→${this.name(this.lanes[link].to)}`;
  }
  /**
   * The links that share one stub with this link: a node's links in a complete dimension between
   * planes.
   */
  bundle(link) {
    const lane = this.lanes[link];
    if (lane.gap === 0) return [link];
    const start = ({ points, gap }) => points.slice(0, 2 * gap).join();
    return this.lanes
        .filter(
            (other) => other.from === lane.from && other.dimension === lane.dimension &&
                other.gap > 0 && start(other) === start(lane))
        .map((other) => other.link);
  }
  /**
   * Whether a link's stub is labelled with the number of the node at its other end, in the same
   * plane; numbers of other planes are smaller.
   */
  hasNumber({ points, gap, to }) {
    const x = points[2 * gap - 2], y = points[2 * gap - 1];
    return this.labels.some(
        ([at, base, text, size]) => size > 9 && text === this.name(to) &&
            Math.hypot(at - x, base - 3.3 - y) < 16);
  }
  linkOf(from, to) { return this.lanes.findIndex((lane) => lane.from === from && lane.to === to); }
  /** The links of a path that starts at a node, and the virtual channel on each. */
  walk(node, way) {
    const links = [], channels = [];
    let dimension = -1, channel = 0, at = node;
    for (const slot of way) {
      const link = this.out.get(at * this.slots + slot), lane = this.lanes[link];
      if (lane.dimension !== dimension) channel = 0, dimension = lane.dimension;
      if (lane.dateline) channel = 1;
      links.push(link), channels.push(channel);
      at = lane.to;
    }
    return { links, channels };
  }
}

export class Play {
  static async from(json, network, cost) {
    const play = new Play();
    play.json = json, play.network = network, play.check = json.check, play.phases = json.phases;
    play.algorithm = json.algorithm, play.operation = json.operation;
    play.blockBytes = cost.block_bytes;
    play.steps = json.check.steps;
    play.first = [0];
    if (json.messages === null) {
      play.aggregate = json.messages_reason;
      const loads = await reader(json.loads);
      play.total = new Float64Array(network.lanes.length);
      play.worst = new Int32Array(network.lanes.length);
      for (let link = 0; link < play.total.length; ++link)
        play.total[link] = loads.next(), play.worst[link] = loads.next();
      play.groups = await Groups.from(json.groups, network.nodes);
      for (let step = 0; step < play.steps; ++step) play.first.push(0);
      play.from = play.to = play.size = play.way = new Int32Array(0);
    } else {
      await play.readMessages(json);
    }
    play.cache = new Map();
    play.sets = json.sets ? {...json.sets, of: await numbers(json.sets.of) } : null;
    play.work = json.works ? await numbers(json.works) : null;
    play.replay = json.replay ? await Replay.from(json.replay, play) : null;
    play.blocks = await Blocks.from(json, play);
    return play;
  }

  async readMessages(json) {
    const input = await reader(json.messages);
    const count = this.check.messages;
    for (const key of ["from", "to", "size", "way"]) this[key] = new Int32Array(count);
    let i = 0;
    for (let step = 0; step < this.steps; ++step) {
      let from = 0;
      for (let left = input.next(); left > 0; --left, ++i) {
        from += input.next();
        this.from[i] = from;
        this.to[i] = from + input.signed();
        this.size[i] = input.next();
        this.way[i] = input.next();
      }
      this.first.push(i);
    }
    this.sizes = json.sizes, this.ways = json.ways;
    this.mostBytes = this.sizes.reduce((most, bytes) => Math.max(most, bytes), 1);
  }

  /** The set that a node is marked as a member of: {name, colour, dashed}; undefined: none. */
  setOf(node) { return this.sets?.names[this.sets.of[node] - 1]; }
  /** Whether a message uses virtual channel 1 of a link. */
  get crossesDatelines() {
    return this.crosses ??= this.from.some(
               (from, i) => this.network.walk(from, this.ways[this.way[i]]).channels.includes(1));
  }
  worms(step) { return this.first[step + 1] - this.first[step]; }
  bytes(message) { return this.sizes[this.size[message]]; }
  inBlocks(bytes) { return bytes / this.blockBytes; }
  stepOf(message) {
    let low = 0, high = this.steps;
    while (high - low > 1) {
      const middle = low + high >> 1;
      if (this.first[middle] <= message) low = middle;
      else high = middle;
    }
    return low;
  }
  /** A step's messages with their paths, and each link's load. The last few steps are cached. */
  step(step) {
    const known = this.cache.get(step);
    if (known) return known;
    const load = new Map(), worms = [];
    let longest = 1;
    for (let i = this.first[step]; i < this.first[step + 1]; ++i) {
      const way = this.network.walk(this.from[i], this.ways[this.way[i]]);
      longest = Math.max(longest, way.links.length);
      worms.push({
        message: i,
        from: this.from[i],
        to: this.to[i],
        bytes: this.bytes(i),
        links: way.links,
        channels: way.channels
      });
      for (const link of way.links) load.set(link, (load.get(link) ?? 0) + 1);
    }
    const busy = new Uint8Array(this.network.nodes);
    for (const worm of worms) busy[worm.from] = busy[worm.to] = 1;
    const result = { step, worms, load, longest, busy };
    if (this.cache.size > 8) this.cache.delete(this.cache.keys().next().value);
    this.cache.set(step, result);
    return result;
  }
  /**
   * The same for the messages in flight at a time of the replay. Each channel has one worm, so no
   * link is shared.
   */
  moment(t) {
    const worms = this.replay.alive(t).map((i) => {
      const way = this.network.walk(this.from[i], this.ways[this.way[i]]);
      return {
        message: i,
        from: this.from[i],
        to: this.to[i],
        bytes: this.bytes(i),
        links: way.links,
        channels: way.channels
      };
    });
    const load = new Map(), busy = new Uint8Array(this.network.nodes);
    for (const worm of worms) {
      busy[worm.from] = busy[worm.to] = 1;
      const { head, tail } = this.replay.moment(worm.message, t);
      for (let k = Math.floor(tail); k < head; ++k) load.set(worm.links[k], 1);
    }
    return { step: this.replay.complete(t), worms, load, longest: 1, busy };
  }
  /** Every link's bytes and highest load over all steps. */
  loads() {
    if (this.total) return this;
    const links = this.network.lanes.length;
    this.total = new Float64Array(links);
    this.worst = new Int32Array(links);
    const load = new Int32Array(links);
    for (let step = 0; step < this.steps; ++step) {
      const used = [];
      for (let i = this.first[step]; i < this.first[step + 1]; ++i) {
        for (const link of this.network.walk(this.from[i], this.ways[this.way[i]]).links) {
          this.total[link] += this.bytes(i);
          if (load[link]++ === 0) used.push(link);
        }
      }
      for (const link of used) {
        this.worst[link] = Math.max(this.worst[link], load[link]);
        load[link] = 0;
      }
    }
    return this;
  }
  /**
   * Pairs of the bytes that a node rearranges and combines before each step and after the last one;
   * null if there are none.
   */
  worksOf(node) {
    if (this.work === null) return null;
    const length = 2 * (this.steps + 1),
          works = this.work.subarray(node * length, (node + 1) * length);
    return works.some((bytes) => bytes > 0) ? works : null;
  }
  phase(step) {
    let found = -1;
    this.phases.forEach((phase, i) => {
      if (phase.first <= step && step <= phase.last) found = i;
    });
    return found;
  }
  /** The time of each step and of the work before it, in µs; last, the work after all steps. */
  times(cost) {
    if (this.replay)
      return [
        ...this.replay.steps.map(({ start, end, busiest }) => ({ work: start, start, end, busiest })),
        { work: this.replay.time, start: this.replay.time, end: this.replay.time }
      ];
    // Each step has its share of the model time: its own start-up, bytes, and the mean of the hops.
    const scale = cost.bytes / this.blockBytes, c = this.check, model = this.modelParts(cost);
    const own = [], weights = [];
    for (let step = 0; step <= this.steps; ++step) {
      own.push(
          scale *
          (cost.tr * this.json.step_rearranged_bytes[step] +
           cost.tc * this.json.step_combined_bytes[step]));
      const bytes =
          step < this.steps ? (cost.shared ? c.step_cost_bytes[step] : c.step_bytes[step]) : 0;
      const sends = step < this.steps && (this.aggregate ? bytes > 0 : this.worms(step) > 0);
      weights.push(sends ? cost.ts + model.hop + model.rate * scale * bytes : 0);
    }
    const all = weights.reduce((sum, weight) => sum + weight, 0);
    const result = [];
    let at = 0;
    own.forEach((work, step) => {
      const transfer = all > 0 ? (model.sending * weights[step]) / all : 0;
      result.push({ work: at, start: at + work, end: at + work + transfer });
      at += work + transfer;
    });
    return result;
  }
  counts() {
    const c = this.check;
    return {
      startups: c.startups,
      hops: c.sum_max_hops,
      shared: c.link_blocks,
      injected: c.injected_blocks,
      free: c.transmission_blocks,
      rearranged: c.rearranged_blocks,
      combined: c.combined_blocks
    };
  }
  /**
   * As model_time() in collectives/core/cost.cpp: either the longest message ends last, or the
   * busiest link or bus works without a pause. `sending` is the time of this and of the start-ups;
   * `limit` is the part that decides, `moved` the blocks that it moves, and `hop` and `rate` are
   * the time of a step's hops and of a byte in it.
   */
  modelParts(cost, bytes = cost.bytes) {
    const n = this.counts(), a = n.startups, flit = cost.flit;
    const flits = (blocks) => Math.max(a, (bytes * blocks) / flit);
    const part = (limit, hops, moved, rate) => ({
      limit, moved, rate, time: cost.th * hops + rate * flit * flits(moved),
      hop: a === 0 ? 0 : (cost.th * hops) / a
    });
    const parts = [part("ports", n.hops, n.free, cost.tw)];
    if (cost.shared) {
      parts.push(part("link", a, n.shared, cost.tw * cost.links));
      if (cost.bus > 0 && n.injected > 0)
        parts.push(part("bus", a, n.injected, cost.tw * cost.bus));
    }
    const { time, ...decides } = parts.reduce((most, one) => (one.time > most.time ? one : most));
    return { ...decides, sending: cost.ts * a + time };
  }
  modelTime(cost, bytes = cost.bytes) {
    const n = this.counts();
    return this.modelParts(cost, bytes).sending +
        bytes * (cost.tr * n.rearranged + cost.tc * n.combined);
  }
}

/** The traffic between groups of consecutive nodes, over all steps. */
export class Groups {
  static async from(json, nodes) {
    const groups = new Groups();
    groups.per = json.per, groups.rows = Math.ceil(nodes / json.per);
    groups.bytes = await numbers(json.bytes), groups.messages = await numbers(json.messages);
    groups.most = groups.bytes.reduce((most, amount) => Math.max(most, amount), 1);
    groups.sent = new Float64Array(groups.rows), groups.received = new Float64Array(groups.rows);
    groups.bytes.forEach((amount, i) => {
      groups.sent[Math.floor(i / groups.rows)] += amount;
      groups.received[i % groups.rows] += amount;
    });
    groups.busiest =
        groups.sent.reduce((most, amount, i) => Math.max(most, amount + groups.received[i]), 1);
    return groups;
  }
  of(node) { return Math.floor(node / this.per); }
  /** A node's colour level, 0 .. 3, by the bytes that its group sends and receives. */
  level(node) {
    const amount = this.sent[this.of(node)] + this.received[this.of(node)];
    return amount === 0 ? 0 : Math.max(1, Math.ceil((3 * amount) / this.busiest));
  }
}

/** When each message of a replay holds its channels, in microseconds. */
export class Replay {
  static async from(json, play) {
    const replay = new Replay(), input = await reader(json.times), count = play.from.length;
    Object.assign(
        replay,
        { play, machine: json.machine, blocked: json.blocked_messages, time: json.time_ps / 1e6 });
    replay.ready = new Float64Array(count), replay.delivered = new Float64Array(count),
    replay.gone = new Float64Array(count);
    replay.first = new Int32Array(count + 1);
    for (let i = 0; i < count; ++i)
      replay.first[i + 1] = replay.first[i] + play.ways[play.way[i]].length + 1;
    for (const key of ["requested", "granted", "released"])
      replay[key] = new Float64Array(replay.first[count]);
    let last = 0;
    const us = (picoseconds) => picoseconds / 1e6;
    for (let i = 0; i < count; ++i) {
      if (play.from[i] === play.to[i]) {
        replay.ready[i] = replay.delivered[i] = replay.gone[i] = -1;
        continue;
      }
      last += input.signed();
      replay.ready[i] = us(last);
      const a = replay.first[i], end = replay.first[i + 1];
      let at = last, held = 0;
      for (let k = a; k < end; ++k) {
        at += input.signed();
        replay.requested[k] = us(at);
        at += input.signed();
        replay.granted[k] = us(at);
        if (k === a) held = at;
      }
      at += input.signed();
      replay.delivered[i] = us(at);
      for (let k = a; k < end - 1; ++k) replay.released[k] = us(held += input.signed());
      replay.released[end - 1] = us(at);
      replay.gone[i] = Math.max(us(at), us(held));
    }
    replay.windows();
    return replay;
  }
  /**
   * A step lasts from the start of its first message to the arrival of its last one. Its box ends
   * where the next one begins.
   */
  windows() {
    const { play } = this;
    this.steps = [];
    for (let step = 0; step < play.steps; ++step) {
      let start = Infinity, end = 0;
      for (let i = play.first[step]; i < play.first[step + 1]; ++i) {
        if (this.ready[i] < 0) continue;
        start = Math.min(start, this.ready[i]), end = Math.max(end, this.delivered[i]);
      }
      this.steps.push({ start, end });
    }
    let next = this.time;
    for (let step = play.steps - 1; step >= 0; --step) {
      const window = this.steps[step];
      window.complete = window.end;
      window.start = Math.min(window.start, next),
      window.end = Math.max(window.start, Math.min(window.end, next));
      next = window.start;
    }
    this.steps.forEach((window, step) => { window.busiest = this.busiest(step, window); });
    this.order = Array.from(this.ready.keys())
                     .filter((i) => this.ready[i] >= 0)
                     .sort((a, b) => this.ready[a] - this.ready[b]);
  }
  /** When most messages of a step are under way, within its box. */
  busiest(step, { start, end }) {
    const events = [];
    for (let i = this.play.first[step]; i < this.play.first[step + 1]; ++i)
      if (this.ready[i] >= 0) events.push([this.ready[i], 1], [this.delivered[i], -1]);
    events.sort(([a, up], [b, other]) => a - b || up - other);
    let most = 0, now = 0, at = (start + end) / 2;
    events.forEach(([t, up], k) => {
      now += up;
      if (now <= most || t >= end) return;
      most = now, at = (Math.max(t, start) + Math.min(events[k + 1][0], end)) / 2;
    });
    return at;
  }
  /** The number of steps whose messages have all arrived. */
  complete(t) {
    let done = 0, latest = 0;
    for (const { complete } of this.steps) {
      latest = Math.max(latest, complete);
      if (latest > t) break;
      ++done;
    }
    return done;
  }
  alive(t) {
    const result = [];
    for (const i of this.order) {
      if (this.ready[i] > t) break;
      if (this.gone[i] > t) result.push(i);
    }
    return result.sort((a, b) => a - b);
  }
  /**
   * The channels that are released after one time and no later than another: [{link, channel}].
   */
  releasedBetween(after, until) {
    const result = [], { play } = this;
    for (const i of this.order) {
      if (this.ready[i] > until) break;
      if (this.gone[i] <= after) continue;
      let way = null;
      for (let k = this.first[i]; k < this.first[i + 1] - 1; ++k) {
        if (this.released[k] <= after || this.released[k] > until) continue;
        way ??= play.network.walk(play.from[i], play.ways[play.way[i]]);
        result.push(
            { link: way.links[k - this.first[i]], channel: way.channels[k - this.first[i]] });
      }
    }
    return result;
  }
  /**
   * How far head and tail are, in links. `waits`: the index of the channel that the message waits
   * for, the number of its links for the ejection port, -1 if it moves.
   */
  moment(i, t) {
    const a = this.first[i], hops = this.first[i + 1] - a - 1;
    let head = hops, tail = 0, waits = -1;
    for (let k = 0; k <= hops; ++k) {
      if (t < this.granted[a + k]) {
        if (t >= this.requested[a + k]) waits = k;
        const left = k === 0 ? this.ready[i] : this.granted[a + k - 1],
              span = this.requested[a + k] - left;
        head = k === 0 ? 0 : k - 1 + (span > 0 ? Math.min(1, (t - left) / span) : 1);
        break;
      }
    }
    for (let k = 0; k < hops; ++k) {
      const before = k === 0 ?
          this.released[a] - (hops > 1 ? this.released[a + 1] - this.released[a] : 0) :
          this.released[a + k - 1];
      if (t >= this.released[a + k]) tail = k + 1;
      else {
        if (t > before) tail = k + (t - before) / (this.released[a + k] - before);
        break;
      }
    }
    return { head, tail: Math.min(tail, head), waits };
  }
  /** The message that holds the channel that another one waits for; -1 if none is found. */
  holder(i, waits, t) {
    const { play } = this, { network } = play,
                 way = network.walk(play.from[i], play.ways[play.way[i]]);
    for (const other of this.alive(t)) {
      if (other === i) continue;
      const a = this.first[other], hops = this.first[other + 1] - a - 1;
      if (waits >= way.links.length) {
        if (play.to[other] === play.to[i] && this.granted[a + hops] <= t &&
            t < this.delivered[other])
          return other;
        continue;
      }
      const others = network.walk(play.from[other], play.ways[play.way[other]]);
      for (let k = 0; k < hops; ++k) {
        if (others.links[k] === way.links[waits] && others.channels[k] === way.channels[waits] &&
            this.granted[a + k] <= t && t < this.released[a + k])
          return other;
      }
    }
    return -1;
  }
}

/**
 * The blocks that each node has at any moment. Without a replay, moment t is before step t. With
 * one, moment k is after the k-th time at which messages arrive.
 */
export class Blocks {
  static async from(json, play) {
    const blocks = new Blocks();
    Object.assign(blocks, json.blocks);
    blocks.play = play, blocks.nodes = play.network.nodes;
    blocks.order(play);
    if (!blocks.kind) return blocks;
    const p = blocks.nodes;
    if (json.blocks.bases) {
      const bases = await reader(json.blocks.bases);
      blocks.bases = new Int32Array(json.blocks.bases.count);
      for (let i = 0, sum = 0; i < blocks.bases.length; ++i) blocks.bases[i] = sum += bases.next();
    }
    if (blocks.kind === "intervals") {
      await blocks.readIntervals(json);
      return blocks;
    }
    blocks.count = blocks.units / blocks.parts;
    blocks.origin = new Int32Array(blocks.count);
    for (let node = 0; node < p; ++node)
      blocks.origin.fill(node, blocks.bases[node], blocks.bases[node + 1]);
    blocks.destination = new Int32Array(blocks.count);
    if (json.blocks.destinations) {
      const input = await reader(json.blocks.destinations);
      for (let i = 0; i < blocks.count; ++i) blocks.destination[i] = input.next() - 1;
    } else {
      for (let i = 0; i < blocks.count; ++i) blocks.destination[i] = i % p;
    }
    if (!blocks.direct) await blocks.readRuns(json);
    blocks.kind === "moves" ? blocks.prepareMoves() : blocks.prepareCopies();
    return blocks;
  }

  /** Messages in the order in which their blocks arrive, and the first one of each moment. */
  order(play) {
    const { replay } = play;
    if (!replay) {
      this.coming = Int32Array.from(play.from.keys()), this.first = play.first,
      this.moments = play.steps;
      return;
    }
    // A message from a node to itself changes nothing.
    this.coming =
        Int32Array.from(replay.order).sort((a, b) => replay.delivered[a] - replay.delivered[b]);
    this.first = [], this.arrivals = [];
    this.coming.forEach((message, i) => {
      const t = replay.delivered[message];
      if (i === 0 || t !== this.arrivals[this.arrivals.length - 1])
        this.first.push(i), this.arrivals.push(t);
    });
    this.moments = this.first.length;
    this.first.push(this.coming.length);
  }
  /** The moment at a time of the replay: how many arrival times have passed. */
  momentAt(t) {
    let low = 0, high = this.moments ?? 0;
    while (low < high) {
      const middle = low + high >> 1;
      if (this.arrivals[middle] <= t) low = middle + 1;
      else high = middle;
    }
    return low;
  }
  /**
   * For a replay, for each node and step: the last arrival of a message that the node receives in
   * this or an earlier step. In a step in which it receives nothing, the arrival of its sends
   * counts. -1 if there is none.
   */
  completions() {
    const { play, nodes } = this, result = new Int32Array(nodes * play.steps).fill(-1),
                        sent = new Int32Array(nodes * play.steps).fill(-1);
    for (let moment = 0; moment < this.moments; ++moment) {
      for (let i = this.first[moment]; i < this.first[moment + 1]; ++i) {
        const message = this.coming[i], step = play.stepOf(message);
        result[play.to[message] * play.steps + step] =
            sent[play.from[message] * play.steps + step] = moment;
      }
    }
    sent.forEach((moment, i) => {
      if (result[i] < 0) result[i] = moment;
    });
    for (let node = 0; node < nodes; ++node) {
      for (let step = 1; step < play.steps; ++step)
        result[node * play.steps + step] =
            Math.max(result[node * play.steps + step], result[node * play.steps + step - 1]);
    }
    return result;
  }

  async readRuns(json) {
    const input = await reader(json.blocks.runs), messages = this.play.check.messages;
    // A message stores its number of runs, then two numbers for each run.
    const runs = new Int32Array(json.blocks.runs.count - messages);
    this.runStart = new Int32Array(messages + 1);
    let filled = 0;
    for (let i = 0; i < messages; ++i) {
      let at = 0;
      for (let left = input.next(); left > 0; --left) {
        at += input.next();
        const length = input.next() + 1;
        runs[filled++] = at, runs[filled++] = at + length;
        at += length;
      }
      this.runStart[i + 1] = filled;
    }
    this.runs = runs;
  }
  /** Calls f(first, end) for each run of units in a message. */
  forRuns(message, f) {
    if (this.direct) {
      const unit = this.play.from[message] * this.nodes + this.play.to[message];
      f(unit, unit + 1);
      return;
    }
    for (let i = this.runStart[message]; i < this.runStart[message + 1]; i += 2)
      f(this.runs[i], this.runs[i + 1]);
  }
  /**
   * For blocks that move: the moment at which a block arrived where it is; 0 if it started there.
   */
  arrival(block, moment) {
    const unit = block * this.parts;
    for (let at = moment; at > 0; --at) {
      for (let i = this.first[at - 1]; i < this.first[at]; ++i)
        if (this.carries(this.coming[i], unit)) return at;
    }
    return 0;
  }
  carried(message) {
    let sum = 0;
    this.forRuns(message, (first, end) => { sum += end - first; });
    return sum;
  }
  carries(message, unit) {
    let found = false;
    this.forRuns(message, (first, end) => { found ||= first <= unit && unit < end; });
    return found;
  }

  // Moves: the place of each block, step by step. Copies of the places are kept at intervals.

  prepareMoves() {
    const Numbers = this.nodes > 65536 ? Uint32Array : Uint16Array;
    const start = new Numbers(this.units);
    for (let unit = 0; unit < this.units; ++unit)
      start[unit] = this.origin[Math.floor(unit / this.parts)];
    const kept = Math.max(1, Math.floor(64e6 / (this.units * start.BYTES_PER_ELEMENT)));
    this.every = Math.max(8, Math.ceil(this.moments / kept));
    this.snapshots = new Map([[0, start]]);
    this.now = { moment: 0, places: start.slice() };
  }
  /** The node that has each unit at a moment. */
  placesAt(moment) {
    const behind = Math.floor(moment / this.every) * this.every;
    if (this.now.moment > moment || (this.snapshots.has(behind) && behind > this.now.moment)) {
      let from = behind;
      while (!this.snapshots.has(from)) from -= this.every;
      this.now = { moment: from, places: this.snapshots.get(from).slice() };
    }
    const { places } = this.now;
    while (this.now.moment < moment) {
      for (let i = this.first[this.now.moment]; i < this.first[this.now.moment + 1]; ++i) {
        this.forRuns(
            this.coming[i], (first, end) => places.fill(this.play.to[this.coming[i]], first, end));
      }
      ++this.now.moment;
      if (this.now.moment % this.every === 0 && !this.snapshots.has(this.now.moment))
        this.snapshots.set(this.now.moment, places.slice());
    }
    return places;
  }

  // Copies: the moment from which a node has a block; 0 from the start, -1 never.

  prepareCopies() {
    this.since = new Int32Array(this.nodes * this.units).fill(-1);
    for (let unit = 0; unit < this.units; ++unit)
      this.since[this.origin[Math.floor(unit / this.parts)] * this.units + unit] = 0;
    for (let moment = 0; moment < this.moments; ++moment) {
      for (let i = this.first[moment]; i < this.first[moment + 1]; ++i) {
        const base = this.play.to[this.coming[i]] * this.units;
        this.forRuns(this.coming[i], (first, end) => {
          for (let unit = first; unit < end; ++unit)
            if (this.since[base + unit] < 0) this.since[base + unit] = moment + 1;
        });
      }
    }
  }

  // Reductions: the ranks whose operands a partial result covers.

  async readIntervals(json) {
    const input = await reader(json.blocks.runs);
    this.history = new Map();  // cell -> [{from, runs}], from: a moment
    const completions = this.play.replay ? this.completions() : null;
    for (let step = 0; step < this.play.steps; ++step) {
      let cell = 0;
      for (let left = input.next(); left > 0; --left) {
        cell += input.next();
        const runs = [];
        for (let n = input.next(); n > 0; --n) {
          const first = input.next();
          runs.push([first, first + input.next() + 1]);
        }
        if (!this.history.has(cell)) this.history.set(cell, []);
        const from = 1 +
            (completions ? completions[Math.floor(cell / this.units) * this.play.steps + step] :
                           step);
        this.history.get(cell).push({ from, runs });
      }
    }
  }
  /** The runs of ranks that a node's partial result for a column covers at a moment. */
  covered(node, column, moment) {
    const history = this.history.get(node * this.units + column) ?? [];
    let runs = this.startsWith(node, column) ? [[node, node + 1]] : [];
    for (const change of history)
      if (change.from <= moment) runs = change.runs;
    return runs;
  }
  startsWith() { return this.play.check.operation !== "barrier"; }

  // Progress, shares and paths for the page.

  /** The number of blocks that have reached their destination, and of all that have one. */
  progress(moment) {
    let done = 0, all = 0;
    if (this.kind === "moves") {
      const places = this.placesAt(moment), { parts, units, destination } = this;
      for (let unit = 0; unit < units; ++unit) {
        const wanted = destination[parts === 1 ? unit : Math.floor(unit / parts)];
        if (wanted < 0) continue;
        ++all;
        if (places[unit] === wanted) ++done;
      }
    } else if (this.kind === "copies") {
      for (let i = 0; i < this.since.length; ++i) {
        if (this.destination[Math.floor((i % this.units) / this.parts)] < 0) continue;
        ++all;
        if (this.since[i] >= 0 && this.since[i] <= moment) ++done;
      }
    }
    return { done, all };
  }
  /** The share of its result that each node has at a moment; null if unknown. */
  shareOf(moment) {
    const share = new Float32Array(this.nodes);
    if (this.kind === "moves") {
      const places = this.placesAt(moment), all = new Int32Array(this.nodes);
      for (let unit = 0; unit < this.units; ++unit) {
        const destination = this.destination[Math.floor(unit / this.parts)];
        if (destination < 0) continue;
        ++all[destination];
        if (places[unit] === destination) ++share[destination];
      }
      for (let node = 0; node < this.nodes; ++node)
        share[node] = all[node] > 0 ? share[node] / all[node] : -1;
      return share;
    }
    if (this.kind === "copies") {
      for (let node = 0; node < this.nodes; ++node) {
        for (let unit = 0; unit < this.units; ++unit) {
          const since = this.since[node * this.units + unit];
          if (since >= 0 && since <= moment) ++share[node];
        }
        share[node] /= this.units;
      }
      return share;
    }
    if (this.kind === "intervals") {
      for (let node = 0; node < this.nodes; ++node) {
        let most = 0;
        for (let column = 0; column < this.units; ++column) {
          let sum = 0;
          for (const [first, end] of this.covered(node, column, moment)) sum += end - first;
          most = Math.max(most, sum);
        }
        share[node] = most / this.nodes;
      }
      return share;
    }
    return null;
  }
  /** The number of the block from one node to another; -1 if there is none. */
  between(origin, destination) {
    for (let block = this.bases[origin]; block < this.bases[origin + 1]; ++block) {
      if (this.kind === "copies" || this.destination[block] === destination) return block;
    }
    return -1;
  }
  /** The messages that carry a block, in order; for copies, those on the path to one node. */
  way(block, destination) {
    const messages = [];
    const unit = block * this.parts;
    if (this.kind === "moves") {
      for (let i = 0; i < this.play.from.length; ++i) {
        if (this.play.from[i] === this.origin[block] || messages.length > 0 || !this.direct) {
          if (this.carries(i, unit)) messages.push(i);
        }
      }
      return messages;
    }
    let at = destination;
    while (at !== this.origin[block]) {
      const since = this.since[at * this.units + unit];
      if (since <= 0) break;
      let came = -1;
      for (let i = this.first[since - 1]; i < this.first[since] && came < 0; ++i) {
        if (this.play.to[this.coming[i]] === at && this.carries(this.coming[i], unit))
          came = this.coming[i];
      }
      if (came < 0) break;
      messages.unshift(came);
      at = this.play.from[came];
    }
    return messages;
  }
}
