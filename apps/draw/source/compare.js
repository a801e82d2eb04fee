// Comparison on one clock: sliders for the cost model, formulas, the fastest by block size.
// SPDX-License-Identifier: Apache-2.0
import {bytes, figure, h, plural, svg, time} from "./dom.js";

export const algorithmColours = [0, 3, 2, 4, 5];
const dashes = [null, "6 4", "2 3", "9 3 2 3"];

/**
 * `first`: the fastest algorithm at the smallest size. `changes`: the sizes from which another one
 * is the fastest, [{bytes, from, to}].
 */
export function crossovers(plays, cost, low, high) {
  const best = (m) => {
    const times = plays.map((play) => play.modelTime(cost, m));
    return times.reduce((least, t, i) => (t < times[least] - 1e-12 ? i : least), 0);
  };
  const pieces = 400, changes = [], first = best(low);
  let ahead = first, at = low;
  for (let k = 1; k <= pieces; ++k) {
    const end = low * (high / low) ** (k / pieces);
    // A change between two of these sizes; more than one is not looked for.
    if (best(end) !== ahead) {
      let before = at, after = end;
      for (let i = 0; i < 60; ++i) {
        const middle = (before + after) / 2;
        if (best(middle) === ahead) before = middle;
        else after = middle;
      }
      const to = best(after);
      changes.push({ bytes: after, from: ahead, to });
      ahead = to;
    }
    at = end;
  }
  return { first, changes };
}

const slider_steps = 300;
export function costCard(state, base) {
  const parts = [
    ["ts", base.ts, (v) => time(v)],
    ["th", base.th, (v) => time(v)],
    ["tw", base.tw, (v) => `${figure(Number((1000 * v).toPrecision(3)))} ns / B`],
    ["tr", base.tr, (v) => `${figure(Number((1000 * v).toPrecision(3)))} ns / B`],
    ["tc", base.tc, (v) => `${figure(Number((1000 * v).toPrecision(3)))} ns / B`],
    ["bytes", base.bytes, (v) => bytes(Math.round(v))]
  ];
  const rows = parts.map(([key, start, text]) => {
    const from = start > 0 ? start : 0.001;
    const output = h("output", {}, text(state.cost[key]));
    const toValue = (n) => {
      const v = from * 10 ** ((6 * n) / slider_steps - 3);
      return key === "bytes" ? Math.max(1, Math.round(v)) : Number(v.toPrecision(3));
    };
    const toStep = (v) =>
        Math.round(((Math.log10(Math.max(v, 1e-12) / from) + 3) * slider_steps) / 6);
    const input = h("input", {
      type: "range",
      min: 0,
      max: slider_steps,
      value: toStep(state.cost[key]),
      "aria-label": key === "bytes" ? "m, bytes of a block" : key,
      "data-cost": key,
      oninput: () => { state.setCost({ [key]: toValue(Number(input.value)) }); }
    });
    const refresh = () => {
      output.textContent = text(state.cost[key]);
      if (document.activeElement !== input) input.value = toStep(state.cost[key]);
    };
    return {
      refresh,
      row: h("label", { class: "slider" }, h("i", {}, key === "bytes" ? "m" : key), input, output)
    };
  });
  const shared = [true, false].map(
      (value) =>
          h("button", {
            type: "button",
            "data-shared": String(value),
            onclick: () => state.setCost({ shared: value })
          },
            value ? "included" : "ignored"));
  const card =
      h("section", { class: "card cost", "aria-label": "Cost model" }, h("h2", {}, "Cost model"),
        rows.map(({ row }) => row),
        h("div", { class: "row" }, h("span", { class: "mute" }, "Contention"),
          h("div", { class: "switch", role: "group", "aria-label": "Contention" }, shared)));
  return {
    element: card,
    refresh() {
      rows.forEach(({ refresh }) => refresh());
      shared.forEach(
          (button) => button.setAttribute(
              "aria-pressed", (button.dataset.shared === "true") === state.cost.shared));
    }
  };
}

/** For replays: each algorithm's time, and the modelled machine. */
export function replayCard(plays) {
  const rows = plays.map(
      (play, i) =>
          h("div", { class: "formula", "data-algorithm": play.algorithm },
            h("b", { style: `color:var(--line-${algorithmColours[i]})` }, play.algorithm),
            h("b", { class: "total", "data-us": play.replay.time }, time(play.replay.time)),
            h("span", { class: play.replay.blocked > 0 ? "warn" : "mute" },
              play.replay.blocked > 0 ? `${plural(play.replay.blocked, "message")} waited` :
                                        "no message waited"),
            h("span", { class: "terms mute" },
              play.check.model_time_us === null ? "no formula" :
                                                  `by formula ${time(play.check.model_time_us)}`)));
  return h(
      "section", { class: "card", "aria-label": "Replay" },
      h("h2", {}, "Replayed on a modelled machine"), rows,
      h("p", { class: "caption" }, plays[0].replay.machine));
}

export function formulasCard(plays, state) {
  const rows = plays.map((play, i) => {
    const n = play.counts(), cost = state.cost;
    const { limit, moved } = play.modelParts(cost), byPorts = limit === "ports";
    const terms = [
      `${figure(n.startups)} ts`, `${figure(byPorts ? n.hops : n.startups)} th`,
      `${figure(moved)} m tw${limit === "bus" ? " on a node's bus" : ""}`
    ];
    if (n.rearranged > 0) terms.push(`${figure(n.rearranged)} m tr`);
    if (n.combined > 0) terms.push(`${figure(n.combined)} m tc`);
    const load = play.check.link_load_max;
    return h(
        "div", { class: "formula", "data-algorithm": play.algorithm },
        h("b", { style: `color:var(--line-${algorithmColours[i]})` }, play.algorithm),
        h("span", { class: "terms" }, terms.join(" + ")),
        h("span", { class: load > 1 ? "warn" : "mute" },
          load <= 1       ? "no contention" :
              byPorts ? `a link carries ${load}` :
                        `${figure(n.free)} m tw without contention`),
        h("b", { class: "total", "data-us": play.modelTime(cost) }, time(play.modelTime(cost))));
  });
  return [h("h2", {}, "Formulas"), rows];
}

/** A name in lines of at most `letters`, broken after ":" and "-". */
function labelLines(name, letters) {
  const lines = [""];
  for (const part of name.match(/[^:-]*[:-]?/g)) {
    if (lines[lines.length - 1] !== "" && lines[lines.length - 1].length + part.length > letters)
      lines.push("");
    lines[lines.length - 1] += part;
  }
  return lines;
}

/**
 * A log-log plot of time by block size. A band shows the fastest algorithm, a ring each change, and
 * a line that the reader can drag shows m.
 */
export function crossoverPlot(plays, state, base) {
  const letter = 6.8, most_letters = 18;
  const labels = plays.map((play) => labelLines(play.algorithm, most_letters));
  const longest = Math.max(...labels.flat().map((line) => line.length));
  const width = 400, height = 250, left = 58, right = Math.max(96, 12 + letter * longest),
        top = 14, bottom = 44;
  const low = Math.max(1, base.bytes / 128), high = base.bytes * 256, cost = state.cost;
  const x = (m) => left + ((width - left - right) * Math.log(m / low)) / Math.log(high / low);
  const m_at = (px) => low * (high / low) ** ((px - left) / (width - left - right));
  const values = plays.map((play) => [play.modelTime(cost, low), play.modelTime(cost, high)]);
  const least = Math.min(...values.map(([a]) => a)) * 0.8,
        most = Math.max(...values.map(([, b]) => b)) * 1.25;
  const y = (us) =>
      height - bottom - ((height - top - bottom) * Math.log(us / least)) / Math.log(most / least);
  const marks = [];
  for (let e = Math.ceil(Math.log10(least)); e <= Math.log10(most); ++e) {
    const us = 10 ** e;
    marks.push(
        svg("path", { d: `M${left} ${y(us)}H${width - right}`, class: "rule" }),
        svg("text", { x: left - 6, y: y(us) + 4, class: "tick end" },
            us >= 1e6 ? `${us / 1e6} s` :
                us >= 1000 ? `${us / 1000} ms` :
                             `${us} µs`));
  }
  for (let i = 0; i <= 3; ++i) {
    const m = low * (high / low) ** (i / 3);
    marks.push(svg("text", { x: x(m), y: height - bottom + 26, class: "tick" }, bytes(m)));
  }
  const { first, changes } = crossovers(plays, cost, low, high);
  const ends = plays.map((play, i) => ({ i, y: y(play.modelTime(cost, high)), play }))
                   .sort((a, b) => a.y - b.y);
  ends.forEach((end, k) => {
    const before = ends[k - 1];
    end.at = k === 0 ? end.y : Math.max(end.y, before.at + 3 + 13 * labels[before.i].length);
  });
  plays.forEach((play, i) => {
    let d = "";
    for (let k = 0; k <= 48; ++k) {
      const m = low * (high / low) ** (k / 48);
      d += `${k === 0 ? "M" : "L"}${x(m).toFixed(1)} ${y(play.modelTime(cost, m)).toFixed(1)}`;
    }
    marks.push(svg("path", {
      d,
      class: "line",
      stroke: `var(--line-${algorithmColours[i]})`,
      "stroke-dasharray": dashes[i]
    }));
  });
  for (const { i, at } of ends)
    labels[i].forEach(
        (line, k) => marks.push(svg("text", {
          x: width - right + 8,
          y: at + 4 + 13 * k,
          class: "name",
          fill: `var(--line-${algorithmColours[i]})`
        },
            line)));
  let from = low, who = first;
  for (const change of [...changes, { bytes: high, to: -1 }]) {
    marks.push(svg("rect", {
      x: x(from),
      y: height - bottom + 3,
      width: Math.max(0, x(change.bytes) - x(from)),
      height: 6,
      fill: `var(--line-${algorithmColours[who]})`,
      "data-ahead": plays[who].algorithm
    }));
    from = change.bytes, who = change.to;
  }
  for (const change of changes) {
    const us = plays[change.to].modelTime(cost, change.bytes);
    marks.push(
        svg("path", { d: `M${x(change.bytes)} ${y(us)}V${height - bottom}`, class: "drop" }),
        svg("circle", {
          cx: x(change.bytes),
          cy: y(us),
          r: 4.5,
          class: "crossing",
          "data-bytes": change.bytes
        }),
        svg("text", { x: x(change.bytes) + 8, y: y(us) + 15, class: "crossing-size" },
            bytes(change.bytes)));
  }
  const now = Math.max(low, Math.min(high, cost.bytes));
  marks.push(
      svg("path", { d: `M${x(now)} ${top}V${height - bottom}`, class: "now" }),
      svg("text", { x: x(now) + 5, y: top + 9, class: "tick start" }, `${bytes(cost.bytes)} now`));
  const picture =
      svg("svg", {
        viewBox: `0 0 ${width} ${height}`,
        class: "crossover",
        role: "img",
        "aria-label": `time by block size: ${plays[first].algorithm} is fastest at first${
            changes.map((change) => `, ${plays[change.to].algorithm} from ${bytes(change.bytes)}`)
                .join("")}`
      },
          ...marks);
  const drag = (event) => {
    const box = picture.getBoundingClientRect();
    state.setCost({
      bytes: Math.max(
          1,
          Math.round(m_at(Math.max(
              left, Math.min(width - right, ((event.clientX - box.left) * width) / box.width)))))
    });
  };
  picture.addEventListener("pointerdown", drag);
  picture.addEventListener("pointermove", (event) => {
    if (event.buttons & 1) drag(event);
  });
  return [h("h2", {}, "Fastest by block size"), picture];
}
