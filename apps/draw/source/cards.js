// The cards beside the picture: figures, blocks, the selection.
// SPDX-License-Identifier: Apache-2.0
import {bytes, figure, h, plural, time} from "./dom.js";

/** In dark mode larger counts are brighter, otherwise darker. */
const isDark = () => (document.documentElement.dataset.theme ||
    (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";

/** "=" for figures that are equal as printed, "≈" for nearly equal ones, "≠" for others. */
const relation = (a, b) =>
    (figure(a) === figure(b) ? "=" : Math.abs(a - b) <= 5e-4 * Math.max(1, Math.abs(b)) ? "≈" : "≠");
const relation_words = { "=": "equal", "≈": "nearly equal", "≠": "different" };
const relation_classes = { "=": "ok", "≈": "mute", "≠": "warn" };

/**
 * Rows of the figures: all numbers are those of `check --json`. The bound on transmission is a time
 * with contention. Where links are shared, it is therefore compared with the busiest link's blocks.
 */
export function figureRows(check, replay = null) {
  const bound = check.lower_bound ?? {}, formula = check.formulas ?? {};
  const shared = figure(check.link_blocks) !== figure(check.transmission_blocks);
  const rows = [
    ["start-ups", check.startups, formula.startups, bound.startups, formula.startups_reason],
    [
      "transmission, blocks", check.transmission_blocks, formula.transmission_blocks,
      shared ? null : bound.transmission_blocks, formula.transmission_blocks_reason
    ],
    ...(shared ? [[
      "busiest link, blocks", check.link_blocks, formula.link_blocks, bound.transmission_blocks,
      formula.link_blocks_reason
    ]] :
                 []),
    [
      "rearranged, blocks", check.rearranged_blocks, formula.rearranged_blocks, null,
      formula.rearranged_blocks_reason
    ],
  ];
  if (check.combined_blocks > 0)
    rows.push([
      "combined, blocks", check.combined_blocks, formula.combined_blocks, null,
      formula.combined_blocks_reason
    ]);
  rows.push(
      ["highest link load", check.link_load_max, formula.link_load, 1, formula.link_load_reason]);
  rows.push([
    "model time, µs", check.time_lockstep_us.total, check.model_time_us, null,
    check.model_time_us_reason
  ]);
  if (replay)
    rows.push([
      "replayed, µs", replay.time, null, null, "computed from the times of each message"
    ]);
  return rows;
}

export function figuresCard(check, replay = null) {
  const body = figureRows(check, replay).map(([name, counted, formula, bound, reason]) => {
    const known = formula !== null && formula !== undefined;
    const sign = known ? relation(counted, formula) : "";
    let ratio = bound > 0 ? `${(counted / bound).toFixed(2)} ×` : "";
    let state = "";
    if (name === "highest link load") {
      ratio = counted <= 1 ? "no contention" : `${figure(counted)} on a link`;
      state = counted <= 1 ? "ok" : "warn";
    }
    return h(
        "tr", { "data-figure": name }, h("th", { scope: "row" }, name),
        h("td", { class: "counted" }, figure(counted)),
        h("td", { title: known ? null : reason ?? "the source gives no formula" },
          known ? figure(formula) : h("span", { class: "mute" }, "none"),
          known ? h("span",
                    { class: relation_classes[sign], "aria-label": relation_words[sign] },
                    ` ${sign}`) :
                  " "),
        h("td", {}, figure(bound)), h("td", { class: `ratio ${state}` }, ratio));
  });
  return [
    h("h2", {}, "Figures"),
    h("table", { class: "figures" },
      h("thead", {},
        h("tr", {},
          ["", "counted", "formula", "bound", "ratio"].map(
              (text, i) =>
                  h("th", { scope: "col" },
                    i === 0 ? h("span", { class: "hidden" }, "figure") : text)))),
      h("tbody", {}, body))
  ];
}

/** Colour level of a count up to `most`: 0 for none, then 1 to 5 by its logarithm. */
const level = (count, most) =>
    (count <= 0    ? 0 :
         most <= 1 ? 3 :
                     1 + Math.min(4, Math.round((4 * Math.log(count)) / Math.log(most))));

/** The traffic between groups of nodes, for networks too large for worms. */
export class Traffic {
  constructor(play) {
    this.play = play;
    this.canvas =
        h("canvas",
          { class: "matrix", role: "img", "aria-label": "bytes sent between groups of nodes" });
    this.hover = h("p", { class: "caption hover" });
    const { most } = play.groups;
    this.note = h("p", { class: "caption" });
    this.scale =
        h("div", { class: "scale", "aria-hidden": "true" },
          [0, 1, 2, 3, 4, 5].map((i) => h("i", { style: `background:var(--seq-${i})` })),
          h("span", {}, "0"), h("span", {}, ""), h("span", {}, bytes(most)));
    this.element =
        h("section", { class: "card blocks traffic", "aria-label": "Traffic between groups" },
          h("div", { class: "head" }, h("h2", {}, "Between groups of nodes")),
          h("div", { class: "matrix-row" }, this.canvas,
            h("div", {}, this.note, this.scale, this.hover)),
          h("p", { class: "caption reason" }, `Blocks are not tracked: ${play.blocks.reason}.`));
    for (const type of ["pointerdown", "pointermove"])
      this.canvas.addEventListener(type, (event) => this.point(event));
    this.canvas.addEventListener("pointerleave", () => { this.hover.textContent = ""; });
  }
  draw() {
    const { per, rows, bytes: amounts, most } = this.play.groups,
                                       cell = Math.max(
                                           3, Math.floor((innerHeight >= 1000 ? 256 : 192) / rows)),
                                       size = cell * rows, ratio = devicePixelRatio || 1;
    this.note.textContent = `Row: ${plural(per, "node")} that ${
        per === 1 ? "sends" : "send"}. Column: ${plural(per, "node")} that ${
        per === 1 ? "receives" : "receive"}. ${
        isDark() ? "Brighter" : "Darker"}: more bytes, over all steps. ${rows} groups in all.`;
    this.cell = cell;
    this.canvas.width = this.canvas.height = size * ratio;
    this.canvas.style.width = this.canvas.style.height = `${size}px`;
    const context = this.canvas.getContext("2d"),
          style = getComputedStyle(document.documentElement);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    amounts.forEach((amount, i) => {
      context.fillStyle =
          style
              .getPropertyValue(
                  `--seq-${amount === 0 ? 0 : Math.max(1, Math.ceil((5 * amount) / most))}`)
              .trim();
      context.fillRect((i % rows) * cell, Math.floor(i / rows) * cell, cell, cell);
    });
  }
  point(event) {
    const { rows, per, bytes: amounts, messages } = this.play.groups, { nodes } = this.play.network,
                                                box = this.canvas.getBoundingClientRect();
    const row = Math.floor((event.clientY - box.top) / this.cell),
          column = Math.floor((event.clientX - box.left) / this.cell);
    if (row < 0 || column < 0 || row >= rows || column >= rows) return;
    const group = (i) =>
              (per === 1 ? `node ${i}` :
                           `nodes ${i * per} .. ${Math.min(nodes, (i + 1) * per) - 1}`),
          i = row * rows + column;
    this.hover.textContent = `${group(row)} to ${group(column)}: ${bytes(amounts[i])} in ${
        plural(messages[i], "message")}`;
  }
}

/** The matrix of nodes (rows) and blocks (columns). */
export class Matrix {
  constructor(play, state, choose) {
    this.play = play, this.state = state, this.choose = choose;
    this.canvas = h(
        "canvas",
        { class: "matrix", tabindex: 0, role: "img", "aria-label": "which blocks each node has" });
    this.note = h("p", { class: "caption" });
    this.progress = h("p", { class: "caption progress" });
    this.scale = h("div", { class: "scale", "aria-hidden": "true" });
    this.hover = h("p", { class: "caption hover" });
    this.switch = h("div", { class: "switch", role: "group", "aria-label": "Columns" });
    const { blocks } = play;
    const moves = blocks.kind === "moves";
    const pairs = moves && blocks.count >= play.network.nodes * 2;
    if (pairs) {
      for (const [value, text] of [["destination", "by destination"], ["origin", "by origin"]]) {
        this.switch.append(
            h("button", {
              type: "button",
              "aria-pressed": state.blocks === value,
              "data-blocks": value,
              onclick: () => { state.set({ blocks: value }); }
            },
              text));
      }
    }
    this.element =
        h("section", { class: "card blocks", "aria-label": "Blocks" },
          h("div", { class: "head" }, h("h2", {}, "Blocks"), pairs ? this.switch : null));
    if (!blocks.kind) {
      this.element.append(h("p", { class: "caption reason" }, blocks.reason));
      return;
    }
    this.element.append(
        h("div", { class: "matrix-row" }, this.canvas,
          h("div", {}, this.note, this.scale, this.progress, this.hover)));
    this.canvas.addEventListener("click", (event) => this.click(event));
    for (const type of ["pointerdown", "pointermove"])
      this.canvas.addEventListener(type, (event) => this.point(event));
    this.canvas.addEventListener("pointerleave", () => { this.hover.textContent = ""; });
    this.columnsOf();
  }
  columnsOf() {
    const { blocks, network } = this.play, p = network.nodes;
    this.groups = p > 128 ? 64 : p;
    const per = Math.ceil(p / this.groups);
    this.groups = Math.ceil(p / per);
    this.perRow = per;
    if (blocks.kind === "intervals") {
      this.columns = Math.min(blocks.units, 128),
      this.perColumn = Math.ceil(blocks.units / this.columns);
    } else if (blocks.kind === "copies") {
      this.columns = Math.min(blocks.units, Math.max(this.groups, Math.min(128, blocks.units))),
      this.perColumn = Math.ceil(blocks.units / this.columns);
      this.columns = Math.ceil(blocks.units / this.perColumn);
    } else {
      this.columns = this.groups, this.perColumn = per;
    }
  }
  columnOf(block) {
    const { blocks } = this.play;
    const by = this.state.blocks === "origin" || blocks.count <= this.play.network.nodes ?
        (blocks.count <= this.play.network.nodes && blocks.destinations === undefined ?
             block % this.play.network.nodes :
             this.state.blocks === "origin" ? blocks.origin[block] :
                                              blocks.destination[block]) :
        blocks.destination[block];
    return Math.floor(by / this.perColumn);
  }
  /** The column of every block, by destination or by origin as selected. */
  columnsOfBlocks() {
    if (this.columnsBy !== this.state.blocks) {
      this.columnsBy = this.state.blocks;
      this.columnTable =
          Uint16Array.from({ length: this.play.blocks.count }, (_, block) => this.columnOf(block));
    }
    return this.columnTable;
  }
  /** \param clock  the replay's time; null without a replay */
  draw(moment, clock = null) {
    const { blocks, network } = this.play;
    if (!blocks.kind) return;
    this.moment = moment;
    for (const button of this.switch.children)
      button.setAttribute("aria-pressed", button.dataset.blocks === this.state.blocks);
    const room = innerHeight >= 1000 ? 256 : 192;
    const rows = this.groups, cell = Math.max(3, Math.floor(room / rows)),
          wide = blocks.kind === "intervals" && this.columns <= 2 ?
        Math.floor(room / this.columns) :
        Math.max(3, Math.floor(room / this.columns));
    const width = wide * this.columns, height = cell * rows, ratio = devicePixelRatio || 1;
    this.cell = { wide, cell };
    const { canvas } = this;
    canvas.width = width * ratio, canvas.height = height * ratio;
    canvas.style.width = `${width}px`, canvas.style.height = `${height}px`;
    const context = canvas.getContext("2d"), style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const seq = [0, 1, 2, 3, 4, 5].map((i) => colour(`--seq-${i}`));
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = seq[0];
    context.fillRect(0, 0, width, height);
    const selectedNode = this.state.select?.kind === "node" ? this.state.select.node : -1;
    this.values = null;
    if (blocks.kind === "moves") {
      const counts = new Int32Array(rows * this.columns), places = blocks.placesAt(moment),
            columns = this.columnsOfBlocks(), { parts, destination, units } = blocks;
      for (let unit = 0; unit < units; ++unit) {
        const block = parts === 1 ? unit : Math.floor(unit / parts);
        if (destination[block] >= 0)
          ++counts[Math.floor(places[unit] / this.perRow) * this.columns + columns[block]];
      }
      const most = Math.max(
          1, blocks.parts * this.perColumn * Math.max(1, Math.round(blocks.count / network.nodes)));
      this.values = counts;
      counts.forEach((count, i) => {
        if (count === 0) return;
        context.fillStyle = seq[level(count, most)];
        context.fillRect(
            (i % this.columns) * wide, Math.floor(i / this.columns) * cell, wide, cell);
      });
      const by = blocks.count <= network.nodes ? "the block's destination" :
          this.state.blocks === "origin"       ? "the blocks' origin" :
                                                 "the blocks' destination";
      this.note.textContent = `Row: ${
          this.perRow > 1 ? `${this.perRow} nodes, as there are more than 128` : "node"}. Column: ${
          this.perColumn > 1 ? `${this.perColumn} nodes; ` : ""}${by}. ${
          isDark() ? "Brighter" : "Darker"}: more blocks.`;
      this.scale.replaceChildren(
          ...seq.map((c) => h("i", { style: `background:${c}` })), h("span", {}, "0"),
          h("span", {}, "1"), h("span", {}, figure(most)));
    } else if (blocks.kind === "copies") {
      const counts = new Int32Array(rows * this.columns);
      for (let node = 0; node < network.nodes; ++node) {
        for (let unit = 0; unit < blocks.units; ++unit) {
          const since = blocks.since[node * blocks.units + unit];
          if (since < 0 || since > moment) continue;
          ++counts[Math.floor(node / this.perRow) * this.columns +
                   Math.floor(unit / this.perColumn)];
          if (this.perRow > 1 || this.perColumn > 1) continue;
          const x = unit * wide, y = node * cell, own = since === 0;
          context.fillStyle = seq[own ? 5 : 3];
          context.fillRect(x, y, wide - (wide > 5 ? 1 : 0), cell - (cell > 5 ? 1 : 0));
          if (since === moment && moment > 0 && Math.min(wide, cell) >= 6) {
            context.strokeStyle = colour("--bg"), context.lineWidth = 1;
            context.strokeRect(x + 1.5, y + 1.5, wide - 4, cell - 4);
          }
        }
      }
      this.values = counts;
      if (this.perRow > 1 || this.perColumn > 1) {
        counts.forEach((count, i) => {
          if (count === 0) return;
          context.fillStyle = seq[level(count, this.perRow * this.perColumn)];
          context.fillRect(
              (i % this.columns) * wide, Math.floor(i / this.columns) * cell, wide, cell);
        });
      }
      const what =
          this.play.operation === "barrier" ?
          "the row's node knows that the column's node has arrived" :
          "the node has the block";
      const column = blocks.bases[network.nodes] === 1 || blocks.parts > 1 ? "packet" :
          this.play.operation === "barrier"                                ? "a node" :
                                              "the block's origin";
      this.note.textContent = `Row: node. Column: ${column}. Filled: ${
          what}; ${isDark() ? "brightest" : "darkest"}: its own block; ring: ${
          blocks.arrivals ? "the latest arrival" : "arrived in the last step"}.`;
      this.scale.replaceChildren();
    } else {
      const p = network.nodes, prefix = this.play.operation.endsWith("scan");
      const strong = colour("--dim-0"), ok = colour("--ok"), track = colour("--faint"),
            pale = seq[2];
      for (let node = 0; node < p; ++node) {
        for (let column = 0; column < this.columns; ++column) {
          const runs = blocks.covered(node, column * this.perColumn, moment);
          if (runs.length === 0) continue;
          const x = column * wide + 0.5, y = node * cell, w = wide - 1,
                thick = Math.max(1, Math.floor(cell * 0.55));
          context.fillStyle = track;
          context.fillRect(x, y + cell / 2 - 0.5, w, 1);
          const wanted = prefix ? node + (this.play.operation === "exscan" ? 0 : 1) : p;
          for (const [first, end] of runs) {
            const inside = Math.min(end, wanted);
            const whole = first === 0 && inside === wanted;
            if (inside > first) {
              context.fillStyle = whole ? ok : strong;
              context.fillRect(
                  x + (w * first) / p, y + (cell - thick) / 2,
                  Math.max(1, (w * (inside - first)) / p), thick);
            }
            if (end > wanted) {
              context.fillStyle = pale;
              const from = Math.max(first, wanted);
              context.fillRect(
                  x + (w * from) / p, y + (cell - thick) / 2, Math.max(1, (w * (end - from)) / p),
                  thick);
            }
          }
        }
      }
      this.note.textContent = prefix ?
          "Row: node. Bar: the nodes whose operands its prefix covers; paler: other operands " +
              "that it has; green: complete." :
          "Row: node. Column: block. Bar: the nodes whose operands a partial result covers; " +
              "green: complete.";
      this.scale.replaceChildren();
    }
    context.strokeStyle = colour("--ink"), context.lineWidth = 2;
    if (selectedNode >= 0)
      context.strokeRect(
          1, Math.floor(selectedNode / this.perRow) * cell, width - 2, Math.max(cell, 3));
    const block = this.state.select?.kind === "block" ? this.state.select : null;
    if (block) {
      const place = blocks.kind === "moves" ? blocks.placesAt(moment)[block.block * blocks.parts] :
                                              block.destination;
      const column = blocks.kind === "moves" ?
          this.columnOf(block.block) :
          Math.floor((block.block * blocks.parts) / this.perColumn);
      const many =
          blocks.kind === "moves" ? 1 : Math.max(1, Math.round(blocks.parts / this.perColumn));
      context.strokeRect(
          column * wide - 1, Math.floor(place / this.perRow) * cell - 1, many * wide + 2, cell + 2);
    }
    const { done, all } = blocks.progress(moment);
    const when = moment >= blocks.moments ? "At the end" :
        clock === null                    ? `Before step ${moment}` :
                                            `At ${time(clock)}`;
    if (all > 0) {
      this.progress.replaceChildren(
          `${when}: `, h("b", {}, `${Math.floor((100 * done) / all)} %`),
          ` of ${figure(all)} blocks have reached their destination.`);
      this.progress.dataset.done = done, this.progress.dataset.all = all;
    } else {
      this.progress.textContent = `${when}.`;
    }
  }
  /** \param moment  at which a block arrived; 0: it was there from the start */
  sinceText(moment) {
    const { arrivals } = this.play.blocks;
    return moment === 0 ? "its own" :
                          `since ${arrivals ? time(arrivals[moment - 1]) : `step ${moment - 1}`}`;
  }
  cellAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const row = Math.floor((event.clientY - box.top) / this.cell.cell),
          column = Math.floor((event.clientX - box.left) / this.cell.wide);
    return { row, column, node: Math.min(this.play.network.nodes - 1, row * this.perRow) };
  }
  /** The first block in a cell of the matrix; -1: the cell is empty. */
  blockAt({ row, column }) {
    const { blocks } = this.play;
    if (blocks.kind === "moves") {
      const places = blocks.placesAt(this.moment);
      for (let unit = 0; unit < blocks.units; ++unit) {
        const block = Math.floor(unit / blocks.parts);
        if (blocks.destination[block] >= 0 && Math.floor(places[unit] / this.perRow) === row &&
            this.columnOf(block) === column)
          return block;
      }
      return -1;
    }
    if (blocks.kind === "copies") return Math.floor((column * this.perColumn) / blocks.parts);
    return -1;
  }
  click(event) {
    const cell = this.cellAt(event), { blocks } = this.play;
    const block = this.blockAt(cell);
    if (block < 0) this.choose({ kind: "node", node: cell.node });
    else if (blocks.kind === "moves")
      this.choose({
        kind: "block",
        block,
        origin: blocks.origin[block],
        destination: blocks.destination[block],
        way: blocks.way(block)
      });
    else
      this.choose({
        kind: "block",
        block,
        origin: blocks.origin[block],
        destination: cell.node,
        way: blocks.way(block, cell.node)
      });
  }
  point(event) {
    const cell = this.cellAt(event), { blocks, network } = this.play;
    if (cell.row >= this.groups || cell.column >= this.columns) return;
    const node = network.name(cell.node);
    if (blocks.kind === "moves") {
      const count = this.values[cell.row * this.columns + cell.column];
      const block = count === 1 ? this.blockAt(cell) : -1;
      this.hover.textContent = `Node ${node}: ${plural(count, "block")} ${
          this.state.blocks === "origin" ?
              "from" :
              "for"} ${network.name(Math.min(network.nodes - 1, cell.column * this.perColumn))}${
          block < 0 ? "" : `, ${this.sinceText(blocks.arrival(block, this.moment))}`}`;
    } else if (blocks.kind === "copies") {
      const since = blocks.since[cell.node * blocks.units + cell.column * this.perColumn];
      this.hover.textContent = `Node ${node}, block ${cell.column}: ${
          since < 0 || since > this.moment ? "not yet" : this.sinceText(since)}`;
    } else {
      const runs = blocks.covered(cell.node, cell.column * this.perColumn, this.moment);
      this.hover.textContent = `Node ${node}: ${
          runs.length === 0 ?
              "nothing" :
              runs.map(([a, b]) => (b - a === 1 ? a : `${a} .. ${b - 1}`)).join(", ")}`;
    }
  }
}

const table = (heads, rows, attributes = {}) =>
    h("table", attributes,
      h("thead", {}, h("tr", {}, heads.map((text) => h("th", { scope: "col" }, text)))),
      h("tbody", {}, rows));
const cells = (...values) => h("tr", {}, values.map((value) => h("td", {}, value)));
const most_rows = 500;

function blocksText(play, bytesOf) {
  const n = bytesOf / play.blockBytes;
  return Number.isInteger(n) || n >= 0.01 ? figure(Number(n.toFixed(2))) : bytes(bytesOf);
}

/** The outgoing links of a node. */
const portsOf = (network, node) => network.lanes.filter((lane) => lane.from === node);
/**
 * The messages that a node sends and receives in a step, by port: [{port, out, coming}]. Idle ports
 * are included.
 */
function byPort(play, node, ports, out, coming) {
  const { network } = play, links = (i) => network.walk(play.from[i], play.ways[play.way[i]]).links;
  const parts = ports.map((lane) => ({ port: network.name(lane.to), lane, out: [], coming: [] })),
        itself = { port: "itself", out: [], coming: [] };
  const put = (i, key, fits) =>
      (parts.find(({ lane }) => fits(lane, links(i))) ?? itself)[key].push(i);
  for (const i of out) put(i, "out", (lane, way) => lane.link === way[0]);
  for (const i of coming)
    put(i, "coming",
        (lane, way) => way.length > 0 && lane.to === network.lanes[way[way.length - 1]].from &&
            lane.dimension === network.lanes[way[way.length - 1]].dimension);
  return itself.out.length + itself.coming.length > 0 ? [...parts, itself] : parts;
}
/** "32 r", "4 c": the blocks that a node rearranges and combines before a step. */
const workText =
    (play, works, step) => [[works[2 * step], "r"], [works[2 * step + 1], "c"]]
                               .filter(([amount]) => amount > 0)
                               .map(([amount, what]) => `${blocksText(play, amount)} ${what}`)
                               .join(" ");

/** A message's times in the replay; while it waits, also the channel and its holder. */
function lifeText(play, i, clock) {
  const { network, replay } = play, a = replay.first[i], hops = replay.first[i + 1] - a - 1;
  const span = `Started at ${time(replay.ready[i])}, path reserved at ${
      time(replay.granted[a + hops])}, arrived at ${time(replay.delivered[i])}.`;
  const { waits } = clock >= replay.ready[i] && clock < replay.delivered[i] ?
      replay.moment(i, clock) :
      { waits: -1 };
  if (waits < 0) return span;
  const way = network.walk(play.from[i], play.ways[play.way[i]]),
        holder = replay.holder(i, waits, clock);
  const what = waits < hops ?
      `channel ${way.channels[waits]} of link ${network.linkName(way.links[waits])}` :
      `the ejection port of ${network.name(play.to[i])}`;
  return `Waits for ${what}${
      holder < 0 ? "" :
                   `, which ${network.name(play.from[holder])} → ${
                       network.name(play.to[holder])} holds`}. ${span}`;
}

/** The card with all details of the selection. */
export function selectionCard(play, chosen, step, goTo, clock = null) {
  const { network } = play;
  if (!chosen)
    return [
      h("h2", {}, "Nothing selected"),
      h("p", { class: "caption" },
        "Click a node, a worm, a link or a block; Esc clears the selection.")
    ];
  const hopsText = (message) => {
    const { links } = network.walk(play.from[message], play.ways[play.way[message]]);
    const dimensions = [...new Set(links.map((link) => network.lanes[link].dimension))];
    return `${plural(links.length, "hop")}${
        network.dimensions.length > 1 && links.length > 0 ? `, dimension ${dimensions.join(", ")}` :
                                                            ""}`;
  };
  const stepButton = (n) =>
      h("button", { type: "button", class: "plain", onclick: () => goTo(n) }, n);
  if (chosen.kind === "switch")
    return [
      h("h2", {}, `Switch ${network.name(chosen.node)}`),
      h("p", { class: "caption" }, "Messages pass through a switch; it does not send or receive.")
    ];
  if (play.aggregate) {
    const group = chosen.kind === "node" ? play.groups.of(chosen.node) : -1;
    return chosen.kind === "link" ?
        [
          h("h2", {}, `Link ${network.linkName(chosen.link)}`),
          h("p", { class: "caption" },
            `${bytes(play.loads().total[chosen.link])} in all; up to ${
                plural(play.loads().worst[chosen.link], "message")} in a step`)
        ] :
        [
          h("h2", {}, `Node ${network.name(chosen.node)}`),
          h("p", { class: "caption" },
            `One of the ${plural(play.groups.per, "node")} of group ${group}, which ${
                play.groups.per === 1 ? "sends" : "send"} ${bytes(play.groups.sent[group])} and ${
                play.groups.per === 1 ? "receives" :
                                        "receive"} ${bytes(play.groups.received[group])} in all.`)
        ];
  }
  if (chosen.kind === "node") {
    const rows = [], node = chosen.node,
          allPorts = play.json.ports === "all" ? portsOf(network, node) : null;
    const works = play.worksOf(node);
    for (let t = 0; t < play.steps; ++t) {
      const out = [], coming = [];
      for (let i = play.first[t]; i < play.first[t + 1]; ++i) {
        if (play.from[i] === node) out.push(i);
        if (play.to[i] === node) coming.push(i);
      }
      // An all-port node has one or more rows for each port; a message to itself uses no port.
      const parts = allPorts === null ? [{ port: null, out, coming }] :
                                        byPort(play, node, allPorts, out, coming);
      let first = true;
      for (const part of parts) {
        for (let k = 0;
             k < Math.max(1, part.out.length, part.coming.length) && rows.length < most_rows; ++k) {
          const a = part.out[k], b = part.coming[k];
          rows.push(
              h("tr", { class: t === step ? "now" : "" }, h("td", {}, first ? stepButton(t) : ""),
                allPorts === null ? null : h("td", { class: "mute" }, k === 0 ? part.port : ""),
                h("td", {}, a === undefined ? "–" : `→ ${network.name(play.to[a])}`),
                h("td", {}, b === undefined ? "–" : `← ${network.name(play.from[b])}`),
                h("td", {}, a === undefined ? "" : blocksText(play, play.bytes(a))),
                h("td", { class: "mute" },
                  a === undefined ? "" : plural(play.ways[play.way[a]].length, "hop")),
                works === null ?
                    null :
                    h("td", { class: "mute work" }, first ? workText(play, works, t + 1) : "")));
          first = false;
        }
      }
    }
    const before = works === null ? "" : workText(play, works, 0);
    const notes = works === null ?
        null :
        h("p", { class: "caption" },
          `${
              before === "" ?
                  "" :
                  `Before step 0: ${
                      before}. `}Work after the step: blocks rearranged (r), blocks combined (c).`);
    const coordinates = network.dimensions.length > 1 ?
        h("span", { class: "mute" }, `(${network.coordinates(node).join(", ")})`) :
        null;
    return [
      h("h2", {}, `Node ${network.name(node)} `, coordinates),
      h("div", { class: "selection-row" },
        table(
            [
              "step", ...(allPorts === null ? [] : ["port"]), "to", "from", "blocks", "route",
              ...(works === null ? [] : ["work"])
            ],
            rows, { class: "program" }),
        memory(play, node, clock === null ? step : play.blocks.momentAt(clock))),
      notes
    ];
  }
  if (chosen.kind === "link") {
    const rows = [], busy = [];
    for (let t = 0; t < play.steps; ++t) {
      const { worms } = play.steps <= 400 || t === step ? play.step(t) : { worms: [] };
      const on = worms.filter((worm) => worm.links.includes(chosen.link));
      busy.push(on.length);
      if (on.length > 0 && rows.length < most_rows)
        rows.push(h(
            "tr", { class: t === step ? "now" : "" }, h("td", {}, stepButton(t)),
            h("td", {},
              on.map((worm) => `${network.name(worm.from)} → ${network.name(worm.to)}`)
                  .join(", ")),
            h("td", {}, blocksText(play, on.reduce((sum, worm) => sum + worm.bytes, 0))),
            h("td", { class: on.length > 1 ? "warn" : "" }, on.length)));
    }
    const idle = busy.filter((n) => n === 0).length;
    return [
      h("h2", {}, `Link ${network.linkName(chosen.link)} `,
        h("span", { class: "mute" }, `dimension ${network.lanes[chosen.link].dimension}`)),
      h("p", { class: "caption" }, `idle in ${idle} of ${plural(play.steps, "step")}`),
      play.steps <= 120 ?
          h("div", { class: "busy", "aria-hidden": "true" },
            busy.map((n) => h("i", { class: n === 0 ? "" :
                                         n === 1    ? "one" :
                                                      "more" }))) :
          null,
      table(["step", "messages", "blocks", "load"], rows)
    ];
  }
  if (chosen.kind === "worm") {
    const i = chosen.message, way = network.walk(play.from[i], play.ways[play.way[i]]);
    const carried = [];
    if (play.blocks.kind === "moves" || play.blocks.kind === "copies") {
      play.blocks.forRuns(i, (first, end) => {
        for (let unit = first; unit < end && carried.length < 64; ++unit) {
          const block = Math.floor(unit / play.blocks.parts),
                destination = play.blocks.destination[block];
          carried.push(
              play.blocks.kind === "moves" ?
                  `${network.name(play.blocks.origin[block])}→${network.name(destination)}` :
                  `of ${network.name(play.blocks.origin[block])}${
                      play.blocks.parts > 1 ? ` part ${unit % play.blocks.parts}` : ""}`);
        }
      });
    }
    return [
      h("h2", {}, `Message ${network.name(play.from[i])} → ${network.name(play.to[i])} `,
        h("span", { class: "mute" }, `step ${play.stepOf(i)}`)),
      h("p", { class: "caption" },
        `${blocksText(play, play.bytes(i))} blocks, ${bytes(play.bytes(i))}; ${
            plural(way.links.length, "hop")}`),
      clock === null || play.replay.ready[i] < 0 ?
          null :
          h("p", { class: "caption life" }, lifeText(play, i, clock)),
      table(
          ["link", "channel", "load"],
          way.links.map(
              (link, k) => cells(
                  network.linkName(link), `${way.channels[k]}`,
                  play.step(play.stepOf(i)).load.get(link)))),
      carried.length > 0 ? h("p", { class: "caption" },
                             `Blocks: ${carried.join(" ")}${
                                 play.blocks.carried(i) > carried.length ?
                                     ` .. (${figure(play.blocks.carried(i))} in all)` :
                                     ""}`) :
                           null
    ];
  }
  const rows = chosen.way.map(
      (i) =>
          h("tr", { class: play.stepOf(i) === step ? "now" : "" },
            h("td", {}, stepButton(play.stepOf(i))), h("td", {}, network.name(play.from[i])),
            h("td", {}, network.name(play.to[i])), h("td", {}, blocksText(play, play.bytes(i))),
            h("td", { class: "mute" }, hopsText(i))));
  const hops = chosen.way.reduce((sum, i) => sum + play.ways[play.way[i]].length, 0);
  return [
    h("h2", {}, `Block ${network.name(chosen.origin)} → ${network.name(chosen.destination)}`),
    chosen.way.length > 0 ? table(
                                ["step", "from", "to", "message, blocks", "route"], rows,
                                { class: "way", "data-hops": hops }) :
                            h("p", { class: "caption" }, "This block does not move."),
    h("p", { class: "caption sum" },
      `${plural(hops, "hop")} in all; the shortest path has ${
          shortest(network, chosen.origin, chosen.destination)}`)
  ];
}

/** The number of links on a shortest path, by breadth-first search. */
export function shortest(network, from, to) {
  const distance = new Int32Array(network.x.length).fill(-1), queue = [from];
  distance[from] = 0;
  if (!network.leaving) {
    network.leaving = Array.from(network.x, () => []);
    for (const lane of network.lanes) network.leaving[lane.from].push(lane.to);
  }
  for (let i = 0; i < queue.length && distance[to] < 0; ++i) {
    for (const next of network.leaving[queue[i]])
      if (distance[next] < 0) distance[next] = distance[queue[i]] + 1, queue.push(next);
  }
  return distance[to];
}

/** The blocks that a node holds: origin down, destination across. */
function memory(play, node, moment) {
  const { blocks, network } = play, p = network.nodes;
  if (blocks.kind !== "moves" || p > 128 || blocks.count < p * p) return null;
  const size = p <= 64 ? 128 : p, canvas = h("canvas", {
                                    class: "memory",
                                    width: size,
                                    height: size,
                                    role: "img",
                                    "aria-label": `the blocks that node ${network.name(node)} holds`
                                  });
  const context = canvas.getContext("2d"), style = getComputedStyle(document.documentElement),
        cell = size / p;
  const colour = (name) => style.getPropertyValue(name).trim();
  context.fillStyle = colour("--seq-0");
  context.fillRect(0, 0, size, size);
  const places = blocks.placesAt(moment);
  for (let unit = 0; unit < blocks.units; unit += blocks.parts) {
    if (places[unit] !== node) continue;
    const block = unit / blocks.parts, origin = blocks.origin[block],
          destination = blocks.destination[block];
    context.fillStyle = colour(
        origin === node          ? "--dim-0" :
            destination === node ? "--ok" :
                                   "--dim-2");
    context.fillRect(destination * cell, origin * cell, Math.max(1, cell), Math.max(1, cell));
  }
  return h(
      "figure", {}, canvas,
      h("figcaption", { class: "caption" },
        "Blocks in its memory: origin ↓, destination →. " +
            "Blue: its own; green: arrived; purple: in transit."));
}
export {time};
