// Shapes: cuts, shifts and joins polylines; makes the parts of a worm at a moment of its step.
// SPDX-License-Identifier: Apache-2.0

/** The phases of a step: heads advance, bodies move, tails release their links. */
export const paths_held = 0.4, tails_start = 0.7;

/** How far the head and the tail of a worm are, in links; `longest`: the step's longest path. */
export function reach(s, hops, longest) {
  const head = Math.min(1, (s / paths_held) * (longest / Math.max(1, hops))) * hops;
  const tail = s <= tails_start ?
      0 :
      Math.min(1, ((s - tails_start) / (1 - tails_start)) * (longest / Math.max(1, hops))) * hops;
  return { head, tail };
}

const length = (p, i) => Math.hypot(p[2 * i + 2] - p[2 * i], p[2 * i + 3] - p[2 * i + 1]);

/** Lengths along a lane without its gap, cached in the lane. */
export function measured(lane) {
  if (lane.length === undefined) {
    lane.length = 0;
    const n = lane.points.length / 2;
    for (let i = 0; i + 1 < n; ++i)
      if (lane.gap === 0 || i + 1 !== lane.gap) lane.length += length(lane.points, i);
  }
  return lane.length;
}

/**
 * The points of a lane between two fractions of its length, shifted to the right: lists of [x, y],
 * split at the gap.
 */
export function cut(lane, from, to, shift = 0) {
  const all = measured(lane), begin = from * all, end = to * all;
  const pieces = [];
  let piece = null, at = 0;
  const n = lane.points.length / 2, p = lane.points;
  for (let i = 0; i + 1 < n; ++i) {
    if (lane.gap !== 0 && i + 1 === lane.gap) {
      piece = null;
      continue;
    }
    const l = length(p, i), a = Math.max(begin, at), b = Math.min(end, at + l);
    if (b > a || (b === a && l > 0 && from === to && piece === null)) {
      const dx = (p[2 * i + 2] - p[2 * i]) / l, dy = (p[2 * i + 3] - p[2 * i + 1]) / l;
      const point = (d) => [p[2 * i] + dx * d - shift * dy, p[2 * i + 1] + dy * d + shift * dx];
      if (piece === null) pieces.push(piece = [point(a - at)]);
      piece.push(point(b - at));
    }
    at += l;
  }
  return pieces;
}

const short = (x) => Math.round(x * 10) / 10;
export function pathOf(pieces) {
  let d = "";
  for (const piece of pieces) {
    piece.forEach(([x, y], i) => { d += `${i === 0 ? "M" : "L"}${short(x)} ${short(y)}`; });
  }
  return d;
}

/** Joins consecutive pieces under a node; gaps stay. */
function join(pieces, more) {
  for (const piece of more) {
    const last = pieces[pieces.length - 1];
    const near = last &&
        Math.hypot(last[last.length - 1][0] - piece[0][0], last[last.length - 1][1] - piece[0][1]) <
            46;
    if (near && more.indexOf(piece) === 0) last.push(...piece);
    else pieces.push(piece);
  }
}

/** The strand of each worm on a shared link: message -> link -> number. */
export function strands(step) {
  if (!step.strands) {
    step.strands = new Map();
    const taken = new Map();
    for (const worm of step.worms) {
      for (const link of worm.links) {
        if (step.load.get(link) < 2) continue;
        const number = taken.get(link) ?? 0;
        taken.set(link, number + 1);
        step.strands.set(`${worm.message} ${link}`, number);
      }
    }
  }
  return step.strands;
}
export const strandWidth = (load) => Math.max(0.7, Math.min(1.4, 3.4 / load));
export const strandGap = (load) => Math.min(3.4, 7 / load);

/** Where lanes are near each other, worms are narrower than their heads too. */
export const wormWidth = (bytes, most, offset) =>
    (2.8 + 2.4 * Math.sqrt(bytes / Math.max(1, most))) * Math.min(1, offset / 5);

/**
 * The parts of a worm at moment s of its step: [{d, dimension, channel, strand, width, ahead}], its
 * head as a path, and its start. Consecutive parts that look the same are joined. `moment`: how far
 * head and tail are, from a replay.
 */
export function wormParts(
    worm, step, network, s, width, moment = reach(s, worm.links.length, step.longest)) {
  const { head, tail } = moment;
  const parts = [];
  let tip = null;
  const shared = worm.links.some((link) => step.load.get(link) > 1);
  const free = shared ? Math.min(2.6, width) : width;
  const slots = shared ? strands(step) : null;
  worm.links.forEach((link, i) => {
    const lane = network.lanes[link], load = step.load.get(link);
    const strand = load > 1;
    const shift =
        strand ? (slots.get(`${worm.message} ${link}`) - (load - 1) / 2) * strandGap(load) : 0;
    const add = (a, b, ahead) => {
      if (b <= a) return;
      const pieces = cut(lane, a, b, shift);
      const last = parts[parts.length - 1];
      const alike = last && last.dimension === lane.dimension &&
          last.channel === worm.channels[i] && last.strand === strand && last.ahead === ahead &&
          !strand;
      if (alike) {
        join(last.pieces, pieces);
      } else {
        parts.push({
          pieces,
          dimension: lane.dimension,
          channel: worm.channels[i],
          strand,
          ahead,
          width: ahead ? 1.3 :
              strand   ? strandWidth(load) :
                         free
        });
      }
    };
    const held = Math.max(0, Math.min(1, head - i)), gone = Math.max(0, Math.min(1, tail - i));
    add(gone, held, false);
    add(Math.max(held, gone), 1, true);
    if (head > i && head <= i + 1 && head > tail)
      tip = {
        lane,
        at: held,
        shift,
        strand,
        load,
        dimension: lane.dimension,
        width: strand ? strandWidth(load) : free
      };
  });
  // The body ends inside its arrow.
  let arrow = "", start = null;
  if (tip) {
    const pieces = cut(
        tip.lane, Math.max(0, tip.at - 14 / Math.max(14, measured(tip.lane))), tip.at, tip.shift);
    const piece = pieces[pieces.length - 1];
    if (piece && piece.length > 1) {
      const [x, y] = piece[piece.length - 1], [x0, y0] = piece[piece.length - 2];
      const l = Math.hypot(x - x0, y - y0) || 1, dx = (x - x0) / l, dy = (y - y0) / l;
      // An arrow does not reach into the cable's other lane.
      const size = tip.strand ? 8 : 1.25 * tip.width + 3,
            half = Math.min(0.54 * size, network.offset - 0.3);
      const at = (back, side) =>
          `${short(x - back * dx - side * dy)} ${short(y - back * dy + side * dx)}`;
      arrow = `M${at(0, 0)}L${at(size, half)}L${at(0.7 * size, 0)}L${at(size, -half)}Z`;
      const body = parts.filter((part) => !part.ahead).pop();
      if (body) {
        const end = body.pieces[body.pieces.length - 1], [ex, ey] = end[end.length - 1];
        if (Math.hypot(ex - x, ey - y) < 0.5)
          end[end.length - 1] = [ex - Math.min(4, l) * dx, ey - Math.min(4, l) * dy];
      }
    }
  }
  if (tail === 0 && parts.length > 0 && !parts[0].strand) {
    const [x, y] = parts[0].pieces[0][0];
    start = { x, y, r: 0.31 * parts[0].width * 2, dimension: parts[0].dimension };
  }
  for (const part of parts) part.d = pathOf(part.pieces);
  return {
    parts,
    arrow,
    tipDimension: tip?.dimension ?? 0,
    tipStrand: tip?.strand ?? false,
    tipLoad: tip?.load ?? 0,
    start
  };
}

/**
 * A point shortly before the middle of a lane, so that the discs of a cable's two directions lie
 * apart. For a lane with a gap, the point is on its first stub.
 */
export function middle(lane) {
  const pieces = cut(lane, 0, lane.gap > 0 ? 0.25 : 0.4);
  const last = pieces[pieces.length - 1];
  return last ? last[last.length - 1] : [lane.points[0] ?? 0, lane.points[1] ?? 0];
}
