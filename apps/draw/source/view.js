// The network's picture: SVG for small networks, canvas for large ones, with the same content.
// SPDX-License-Identifier: Apache-2.0
import {plural, stepText, svg} from "./dom.js";
import {cut, measured, middle, pathOf, reach, wormParts, wormWidth} from "./shapes.js";

export function loadColour(load) {
  return `var(--load-${load <= 1 ? load : load === 2 ? 2 : load === 3 ? 3 : load < 8 ? 4 : 8})`;
}
const dimensionColour = (d) => `var(--dim-${d % 6})`;
const hue = (place) => `oklch(var(--hue-light) 0.13 ${(360 * place).toFixed(1)})`;
/** Above this number of thin lanes (links of complete graphs) only used ones are drawn. */
const most_thin = 240;
const most_numbers = 256, least_text = 6.5, tick_strength = 0.45;
/** How long a finger must rest, in milliseconds, to point instead of press. */
const long_press = 500;
/** How long a released channel flashes, in milliseconds of real time, and its opacity at first. */
const flash_time = 120, flash_strength = 0.6;

/** The colour of a worm's part, as selected on the page. */
function partColour(view, worm, dimension) {
  switch (view.options.colour) {
    case "sender": return hue(worm.from / view.network.nodes);
    case "receiver": return hue(worm.to / view.network.nodes);
    case "phase": {
      const phase = view.play.phase(view.stepNumber);
      return phase < 0 ? "var(--load-1)" : dimensionColour(phase);
    }
    default: return dimensionColour(dimension);
  }
}

/** The part that both kinds of picture share: selection, zoom, and event handlers. */
class View {
  constructor(network, play, handlers) {
    this.network = network, this.play = play, this.handlers = handlers;
    this.options = { links: "worms", colour: "dimension", load: "step" };
    this.stepNumber = -1;
    this.working = "";         // what nodes do between two steps, while no worm is under way
    this.clock = null;         // the replay's time in microseconds
    this.flashes = new Map();  // link and channel -> when the flash began
    this.selected = null;
    this.pointed = null;  // the element under the pointer
    const [x, y, width, height] = network.box;
    this.box = { x, y, width, height };
    this.zoom = { x, y, width, height };
  }
  fit() {
    this.zoom = {...this.box };
    this.rezoom();
  }
  zoomBy(factor, x = this.zoom.x + this.zoom.width / 2, y = this.zoom.y + this.zoom.height / 2) {
    const scale = Math.max(1, Math.min(24, (this.box.width / this.zoom.width) * factor));
    const width = this.box.width / scale, height = this.box.height / scale;
    const fx = (x - this.zoom.x) / this.zoom.width, fy = (y - this.zoom.y) / this.zoom.height;
    this.zoom = { x: x - fx * width, y: y - fy * height, width, height };
    if (scale === 1) this.zoom = {...this.box };
    this.rezoom();
  }
  /** Converts a point of the screen to user units. */
  user(event) {
    const box = this.element.getBoundingClientRect();
    const scale = Math.min(box.width / this.zoom.width, box.height / this.zoom.height);
    const left = box.left + (box.width - scale * this.zoom.width) / 2,
          top = box.top + (box.height - scale * this.zoom.height) / 2;
    return {
      x: this.zoom.x + (event.clientX - left) / scale,
      y: this.zoom.y + (event.clientY - top) / scale,
      scale
    };
  }
  listen() {
    const element = this.element;
    element.addEventListener("wheel", (event) => {
      event.preventDefault();
      const { x, y } = this.user(event);
      this.zoomBy(Math.exp(-event.deltaY / 400), x, y);
    }, { passive: false });
    element.addEventListener("dblclick", () => this.fit());
    const fingers = new Map();
    let moved = 0, apart = 0, resting = 0, pressed = false;
    const point = (what, event) => {
      this.point(what);
      this.handlers.hover(what, event);
    };
    element.addEventListener("pointerdown", (event) => {
      fingers.set(event.pointerId, event);
      moved = 0, apart = 0, pressed = false;
      clearTimeout(resting);
      if (event.pointerType !== "touch" || fingers.size > 1) return;
      resting = setTimeout(() => {
        pressed = true;
        point(this.hit(event), event);
      }, long_press);
    });
    // A resting finger shows the page's tip, not the browser's menu.
    element.addEventListener("contextmenu", (event) => {
      if (fingers.size > 0 && event.pointerType === "touch") event.preventDefault();
    });
    element.addEventListener("pointermove", (event) => {
      if (!fingers.has(event.pointerId)) {
        point(this.hit(event), event);
        return;
      }
      const before = fingers.get(event.pointerId);
      fingers.set(event.pointerId, event);
      if (fingers.size === 2) {
        clearTimeout(resting);
        const [a, b] = [...fingers.values()],
                  distance = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
        const middle = this.user(
            { clientX: (a.clientX + b.clientX) / 2, clientY: (a.clientY + b.clientY) / 2 });
        if (apart > 0) this.zoomBy(distance / apart, middle.x, middle.y);
        apart = distance, moved = 99;
        return;
      }
      const dx = event.clientX - before.clientX, dy = event.clientY - before.clientY;
      moved += Math.abs(dx) + Math.abs(dy);
      if (moved >= 4) clearTimeout(resting);
      if (pressed) {
        point(this.hit(event), event);
        return;
      }
      if (moved < 4 || this.zoom.width >= this.box.width) return;
      const { scale } = this.user(event);
      this.zoom.x -= dx / scale, this.zoom.y -= dy / scale;
      this.rezoom();
    });
    const end = (event) => {
      const was = fingers.delete(event.pointerId);
      clearTimeout(resting);
      if (was && event.type === "pointerup" && moved < 4 && !pressed)
        this.handlers.choose(this.hit(event));
    };
    for (const type of ["pointerup", "pointercancel", "pointerleave"])
      element.addEventListener(type, end);
    element.addEventListener("pointerleave", () => point(null));
  }
  /** Curves join the stubs without numbers of links that are pointed at or selected. */
  point(what) {
    const link = what?.kind === "link" ? what.link : -1;
    if (link === (this.pointed ?? -1)) return;
    this.pointed = link < 0 ? null : link;
    this.drawJoins();
  }
  /** The curves: [[start, control, end]]. */
  joins() {
    const links =
        new Set([this.pointed, this.selected?.kind === "link" ? this.selected.link : null].filter(
            (link) => link !== null && link !== undefined));
    const { x, y, width, height } = this.box;
    return [...links]
        .flatMap((link) => this.network.bundle(link))
        .map((link) => this.network.lanes[link])
        .filter((lane) => lane.gap > 0 && !this.network.hasNumber(lane))
        .map(({ points, gap }) => {
          const [x0, y0, x1, y1] = points.slice(2 * gap - 2, 2 * gap + 2), mx = (x0 + x1) / 2,
                             my = (y0 + y1) / 2, length = Math.hypot(x1 - x0, y1 - y0) || 1;
          // The curve bends towards the picture's middle, so it stays inside.
          const inwards = (x + width / 2 - mx) * (y1 - y0) - (y + height / 2 - my) * (x1 - x0) < 0 ?
              -1 :
              1,
                bend = (inwards * Math.min(0.16 * length, 60)) / length;
          return [[x0, y0], [mx + bend * (y1 - y0), my - bend * (x1 - x0)], [x1, y1]];
        });
  }
  /**
   * The worms, links and nodes of the selection; null if nothing is selected. All other worms fade.
   * `kept`: the nodes on a block's path; all other nodes fade then.
   */
  relevant(step) {
    const chosen = this.selected;
    if (!chosen) return null;
    const worms = new Set(), links = new Set(), nodes = new Set(), kept = new Set();
    if (chosen.kind === "node") {
      nodes.add(chosen.node);
      for (const worm of step?.worms ?? [])
        if (worm.from === chosen.node || worm.to === chosen.node) worms.add(worm.message);
    } else if (chosen.kind === "link") {
      links.add(chosen.link);
      for (const worm of step?.worms ?? [])
        if (worm.links.includes(chosen.link)) worms.add(worm.message);
    } else if (chosen.kind === "worm") {
      worms.add(chosen.message);
      nodes.add(this.play.from[chosen.message]).add(this.play.to[chosen.message]);
    } else if (chosen.kind === "block") {
      nodes.add(chosen.origin).add(chosen.destination);
      for (const message of chosen.way) {
        worms.add(message);
        kept.add(this.play.from[message]).add(this.play.to[message]);
      }
      for (const worm of step?.worms ?? [])
        if (worms.has(worm.message)) worm.links.forEach((link) => links.add(link));
    }
    return { worms, links, nodes, kept };
  }
  /** The messages of a step, or those in flight at a time of the replay. */
  under(stepNumber) {
    if (this.clock !== null) return this.play.moment(this.clock);
    return this.play.aggregate || this.working || stepNumber >= this.play.steps ?
        null :
        this.play.step(stepNumber);
  }
  /** Shows a time of the replay; redraws when the set of worms in flight has changed. */
  showAt(clock, playing, force) {
    const worms = this.play.replay.alive(clock).join(" ");
    if (playing && this.clock !== null && clock > this.clock) {
      for (const { link, channel } of this.play.replay.releasedBetween(this.clock, clock))
        this.flashes.set(`${link} ${channel}`, performance.now());
    } else {
      this.flashes.clear();
    }
    this.clock = clock;
    if (force || worms !== this.alive || this.options.links === "load") {
      this.alive = worms;
      this.show(this.play.replay.complete(clock), 0, playing);
    } else {
      this.frame(0, playing);
    }
  }
  /** The channels that flash now: [{link, channel, strength}]. */
  flashing() {
    const now = performance.now();
    return [...this.flashes].flatMap(([key, since]) => {
      const left = 1 - (now - since) / flash_time, [link, channel] = key.split(" ").map(Number);
      if (left > 0) return [{ link, channel, strength: flash_strength * left }];
      this.flashes.delete(key);
      return [];
    });
  }
  momentOf(worm) {
    return this.clock === null ? undefined : this.play.replay.moment(worm.message, this.clock);
  }
  /** A node's message to itself, at the node's upper right corner. */
  loop(worm) {
    const { x, y, radius, large } = this.network, scale = large ? 0.4 : 1;
    const at = `M${x[worm.from] + radius - 6 * scale} ${y[worm.from] - radius}a${9 * scale} ${
        9 * scale} 0 1 1 ${6 * scale} ${6 * scale}`;
    return {
      parts: [{ d: at, dimension: 0, channel: 0, strand: false, ahead: false, width: 2.6 }],
      arrow: "",
      tipDimension: 0,
      tipStrand: false,
      start: null
    };
  }
  /** The edge around a node of a set: its width, and half of the side of its square. */
  get edge() {
    const r = this.network.radius, width = Math.min(3, 0.25 * r);
    return { width, out: r + 0.5 * width + 0.8 };
  }
  totals() {
    const loads = this.play.loads();
    let most = 1;
    for (const bytes of loads.total) most = Math.max(most, bytes);
    return {...loads, total: loads.total, worst: loads.worst, most };
  }
  /** Links with a colour: link -> {colour, width, number}. */
  coloured(step) {
    const result = new Map();
    const byLoad = this.options.links === "load" || this.play.aggregate;
    if (byLoad && (this.options.load === "all" || this.play.aggregate)) {
      const { total, worst, most } = this.totals();
      total.forEach((bytes, link) => {
        if (bytes === 0) return;
        const level = Math.max(1, Math.min(5, Math.ceil((5 * bytes) / most)));
        result.set(link, {
          colour: `var(--seq-${level})`,
          width: this.network.lane * (1 + 1.67 * bytes / most),
          number: worst[link] > 1 ? worst[link] : 0
        });
      });
      return result;
    }
    for (const [link, load] of step?.load ?? []) {
      if (load > 1)
        result.set(
            link, { colour: loadColour(load), width: 1.8 * this.network.offset, number: load });
      else if (byLoad)
        result.set(link, { colour: loadColour(1), width: this.network.lane, number: 0 });
    }
    return result;
  }
}

export class SvgView extends View {
  print(stepNumber, s) { this.show(stepNumber, s, false); }
  constructor(network, play, handlers) {
    super(network, play, handlers);
    this.groups = {};
    for (const name
             of ["frames", "links", "bands", "flashes", "trail", "worms", "sets", "nodes",
                 "numbers", "joins"])
      this.groups[name] = svg("g", { class: name });
    this.element =
        svg("svg", { class: "network", role: "img", preserveAspectRatio: "xMidYMid meet" },
            svg("defs", {},
                svg("pattern", {
                  id: "hatch",
                  width: 4,
                  height: 4,
                  patternUnits: "userSpaceOnUse",
                  patternTransform: "rotate(45)"
                },
                    svg("rect", { width: 2, height: 4, fill: "var(--bg)" }))),
            ...Object.values(this.groups));
    this.makeFixed();
    this.rezoom();
    this.listen();
    new ResizeObserver(() => this.fitText()).observe(this.element);
  }
  rezoom() {
    const { x, y, width, height } = this.zoom;
    this.element.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
    this.fitText();
  }
  /**
   * Hides text that is too small to read on the screen. Nodes' numbers grow in their nodes as long
   * as they fit there; then they have no second line with bits.
   */
  fitText() {
    const { clientWidth, clientHeight } = this.element, { network } = this;
    if (clientWidth === 0) return;
    const scale = Math.min(clientWidth / this.zoom.width, clientHeight / this.zoom.height);
    const least = least_text / scale, r = network.radius, grown = network.number_size < least;
    const letters = Math.max(...this.numbers.map(({ text }) => text.textContent.length));
    this.element.classList.toggle(
        "tiny-numbers", grown && least > Math.min(1.4 * r, (2 * r - 2) / (0.7 * letters)));
    this.element.classList.toggle("grown-numbers", grown);
    const size = grown ? least : network.number_size;
    if (this.size !== size) {
      this.size = size;
      for (const { text, y, middle } of this.numbers) {
        text.setAttribute("font-size", size);
        text.setAttribute("y", grown ? middle + 0.36 * size : y);
      }
    }
    this.element.classList.toggle("tiny-labels", 9.5 * scale < least_text);
    this.element.classList.toggle("tiny-loads", 12.4 * scale < 9);
  }

  makeFixed() {
    const { network, groups } = this;
    for (const [x, y, width, height, caption] of network.frames) {
      groups.frames.append(
          svg("rect", { x, y, width, height, rx: 12, class: "frame" }),
          svg("text", { x: x + 12, y: y + 17, class: "caption" }, caption));
    }
    for (const [x, y, text, size] of network.labels)
      groups.frames.append(svg("text", { x, y, "font-size": size, class: "label" }, text));
    const crowded = network.lanes.filter((lane) => lane.thin).length > most_thin;
    this.lanes = network.lanes.map((lane) => {
      const path = svg("path", {
        d: pathOf(cut(lane, 0, 1)),
        class: lane.thin ? "lane thin" : "lane",
        "stroke-width": lane.thin ? 1.4 : network.lane,
        "data-link": lane.link,
        "data-name": network.linkName(lane.link),
        style: lane.tick ?
            `stroke:${dimensionColour(lane.dimension)};stroke-opacity:${tick_strength}` :
            null
      });
      if (lane.thin && crowded) path.classList.add("left-out");
      groups.links.append(path);
      return path;
    });
    this.makeSets();
    const r = network.radius;
    this.nodes = [], this.numbers = [];  // numbers: each node's first line
    for (let v = 0; v < network.nodes + network.switches; ++v) {
      const x = network.x[v], y = network.y[v], g = svg("g", { class: "node", "data-node": v });
      if (v >= network.nodes) {
        g.append(svg("circle", { cx: x, cy: y, r: 0.72 * r }), svg("title", {}, network.name(v)));
      } else {
        g.append(
            svg("rect", {
              x: x - r - 3.5,
              y: y - r - 3.5,
              width: 2 * r + 7,
              height: 2 * r + 7,
              rx: 0.45 * r + 3,
              class: "ring"
            }),
            svg("rect",
                { x: x - r, y: y - r, width: 2 * r, height: 2 * r, rx: 0.45 * r, class: "box" }));
        const lines = network.label(v).split("\n");
        const bar = this.play.blocks.kind ? 1 : 0, size = network.number_size;
        lines.forEach((line, i) => {
          const up = Math.max(1.5, 15.9 - r);  // two lines end above the bar
          const dy = lines.length > 1 ? (i - 0.5) * 9.2 + 3 - up * bar : size * 0.36 - 3 * bar;
          const text =
              svg("text", { x, y: y + dy, "font-size": size, "data-length": line.length }, line);
          g.append(text);
          if (i === 0) this.numbers.push({ text, y: y + dy, middle: y - 3 * bar });
        });
        if (bar) {
          const width = 2 * r - 9;
          g.append(
              svg("rect",
                  { x: x - width / 2, y: y + r - 7.5, width, height: 3, rx: 1.5, class: "track" }),
              svg("rect", {
                x: x - width / 2,
                y: y + r - 7.5,
                width: 0,
                height: 3,
                rx: 1.5,
                class: "bar",
                "data-width": width
              }));
        }
      }
      groups.nodes.append(g);
      this.nodes.push(g);
    }
  }

  /** An edge around each node of a set, and a frame around each cell. */
  makeSets() {
    const { network, play, groups } = this;
    for (const [x, y, width, height] of play.sets?.cells ?? [])
      groups.sets.append(svg("rect", { x, y, width, height, rx: network.radius, class: "cell" }));
    const { width, out } = this.edge;
    for (let v = 0; v < network.nodes; ++v) {
      const set = play.setOf(v);
      if (!set) continue;
      groups.sets.append(svg("rect", {
        x: network.x[v] - out,
        y: network.y[v] - out,
        width: 2 * out,
        height: 2 * out,
        rx: 0.5 * out,
        class: "set",
        style: `stroke:var(${set.colour})`,
        "stroke-width": width,
        "stroke-dasharray": set.dashed ? "4 2" : null
      }));
    }
  }

  /** Redraws a step: its worms, bands and idle nodes. */
  show(stepNumber, s, playing) {
    this.stepNumber = stepNumber;
    const step = this.under(stepNumber);
    this.current = step;
    const { bands, worms, numbers, trail, nodes } = this.groups;
    for (const group of [bands, worms, numbers, trail]) group.replaceChildren();
    const relevant = this.relevant(step);
    this.element.classList.toggle("chosen", relevant !== null);
    this.element.classList.toggle("following", this.selected?.kind === "block");
    const coloured = this.coloured(step);
    for (const [link, look] of coloured) {
      const lane = this.network.lanes[link];
      const band = svg("path", {
        d: pathOf(cut(lane, 0, 1)),
        class: "band",
        stroke: look.colour,
        "stroke-width": look.width,
        "data-link": link
      });
      if (relevant?.links.has(link)) band.classList.add("kept");
      bands.append(band);
    }
    if (relevant && this.selected.kind === "link") {
      bands.append(svg("path", {
        d: pathOf(cut(this.network.lanes[this.selected.link], 0, 1)),
        class: "pinned",
        "stroke-width": this.network.lane + 2
      }));
    }
    this.drawTrail(trail);
    this.drawJoins();
    this.worms = [];
    if (step && (this.options.links === "worms")) {
      for (const worm of step.worms) {
        const g = svg("g", {
          class: "worm",
          "data-message": worm.message,
          "data-from": worm.from,
          "data-to": worm.to,
          "data-bytes": worm.bytes,
          "data-links": worm.links.join(" "),
          "data-channels": worm.channels.join(" ")
        });
        if (relevant?.worms.has(worm.message)) g.classList.add("kept");
        this.worms.push({ worm, g });
        worms.append(g);
      }
    } else if (step) {
      this.worms = [];
    }
    let count = 0;
    for (const [link, look] of coloured) {
      if (look.number < 2 || ++count > most_numbers) continue;
      const [x, y] = middle(this.network.lanes[link]);
      numbers.append(svg(
          "g", {
            class: relevant?.links.has(link) ? "load-number kept" : "load-number",
            "data-link": link,
            "data-load": look.number
          },
          svg("circle", {
            cx: x,
            cy: y,
            r: 6.2,
            fill: this.options.load === "all" && this.options.links === "load" ? "var(--load-2)" :
                                                                                 look.colour
          }),
          svg("text", { x, y: y + 2.9 }, look.number)));
    }
    this.nodes.forEach((g, v) => {
      if (v >= this.network.nodes) return;
      if (this.play.groups)
        g.querySelector(".box").style.fill = `var(--seq-${this.play.groups.level(v)})`;
      g.classList.toggle("idle", step !== null && !step.busy[v]);
      g.classList.toggle("selected", relevant?.nodes.has(v) ?? false);
      g.classList.toggle("kept", relevant?.kept.has(v) ?? false);
    });
    this.frame(s, playing);
    this.describe(step);
  }

  drawJoins() {
    this.groups.joins.replaceChildren(...this.joins().map(
        ([a, b, c]) => svg("path", {
          d: `M${a[0]} ${a[1]}Q${b[0].toFixed(1)} ${b[1].toFixed(1)} ${c[0]} ${c[1]}`,
          class: "join"
        })));
  }
  drawTrail(trail) {
    if (this.selected?.kind !== "block") return;
    const discs = [];
    for (const message of this.selected.way) {
      const { links } =
          this.network.walk(this.play.from[message], this.play.ways[this.play.way[message]]);
      for (const link of links) {
        trail.append(svg("path", {
          d: pathOf(cut(this.network.lanes[link], 0, 1)),
          class: "way",
          "stroke-width": 2.6 * this.network.offset,
          "data-message": message
        }));
      }
      if (links.length === 0) continue;
      const [x, y] = middle(this.network.lanes[links[0]]);
      discs.push(
          svg("g", { class: "stop" }, svg("circle", { cx: x, cy: y, r: 8 }),
              svg("text", { x, y: y + 3.2 }, this.play.stepOf(message))));
    }
    this.groups.numbers.append(...discs);
  }

  /** Shows one moment of the step; only the worms' paths change. */
  frame(s, playing) {
    for (const { worm, g } of this.worms) {
      const moment = this.momentOf(worm);
      const { parts, arrow, tipDimension, tipStrand, tipLoad, start } = worm.links.length > 0 ?
          wormParts(
              worm, this.current, this.network, s,
              wormWidth(worm.bytes, this.play.mostBytes, this.network.offset),
              moment) :
          this.loop(worm);
      const paths = [];
      if (moment) g.dataset.waits = moment.waits;
      for (const part of parts) {
        const colour = part.strand ? "var(--bg)" : partColour(this, worm, part.dimension);
        const dash = part.ahead                                        ? "1 4" :
            part.channel === 1 && !part.strand                         ? "7 3" :
            this.options.colour === "dimension" && part.dimension >= 6 ? "10 2" :
                                                                         null;
        paths.push({
          d: part.d,
          stroke: colour,
          "stroke-width": part.width,
          "stroke-dasharray": dash,
          class: part.ahead ? "ahead" : "body"
        });
        if (moment && moment.waits >= 0 && !part.ahead)
          paths.push(
              { d: part.d, stroke: "url(#hatch)", "stroke-width": part.width, class: "hatch" });
        if (playing && !part.ahead && !part.strand &&
            (moment ? moment.waits < 0 && moment.head === worm.links.length : s > 0.4 && s < 0.7)) {
          paths.push({
            d: part.d,
            stroke: "var(--bg)",
            "stroke-width": 0.26 * part.width,
            "stroke-dasharray": "1.5 9",
            "stroke-dashoffset": moment ? -(performance.now() / 12) % 120 : -120 * s,
            class: "flow"
          });
        }
      }
      if (arrow)
        paths.push({
          d: arrow,
          fill: tipStrand ? "var(--bg)" : partColour(this, worm, tipDimension),
          stroke: tipStrand ? loadColour(tipLoad) : null,  // apart from the strands beside it
          class: "head"
        });
      if (start)
        paths.push({
          d: `M${start.x - start.r} ${start.y}a${start.r} ${start.r} 0 1 0 ${2 * start.r} 0a${
              start.r} ${start.r} 0 1 0 ${- 2 * start.r} 0`,
          fill: partColour(this, worm, start.dimension),
          class: "start"
        });
      while (g.childNodes.length > paths.length) g.lastChild.remove();
      while (g.childNodes.length < paths.length) g.append(svg("path"));
      paths.forEach((attributes, i) => {
        const path = g.childNodes[i];
        for (const name
                 of ["stroke", "stroke-width", "stroke-dasharray", "stroke-dashoffset", "fill",
                     "class", "d"]) {
          const value = attributes[name] ?? (name === "fill" ? "none" : null);
          if (value === null) path.removeAttribute(name);
          else if (path.getAttribute(name) !== String(value)) path.setAttribute(name, value);
        }
      });
    }
    if (this.clock !== null) {
      this.groups.flashes.replaceChildren(
          ...this.flashing().map(({ link, channel, strength }) => svg("path", {
                                   d: pathOf(cut(this.network.lanes[link], 0, 1)),
                                   class: "flash",
                                   "stroke-width": 1.8 * this.network.offset,
                                   "stroke-opacity": strength.toFixed(2),
                                   "data-flash": link,
                                   "data-channel": channel
                                 })));
    }
    const after = this.momentOfBlocks(s);
    if (this.barsAt !== after || this.barsOf !== this.play) this.fillBars(after);
  }
  /** For printed steps of a replay: when the step's first message starts. */
  momentOfBlocks(s) {
    const { blocks, replay } = this.play;
    if (replay)
      return blocks.momentAt(this.clock ?? replay.steps[this.stepNumber]?.start ?? Infinity);
    return s >= 0.7 ? this.stepNumber + 1 : this.stepNumber;
  }
  fillBars(moment) {
    this.barsAt = moment, this.barsOf = this.play;
    const { blocks } = this.play,
                   share = blocks.kind ? blocks.shareOf(Math.min(moment, blocks.moments)) : null;
    if (!share) return;
    this.nodes.forEach((g, v) => {
      const bar = g.querySelector(".bar");
      if (!bar) return;
      bar.setAttribute("width", Math.max(0, share[v]) * Number(bar.dataset.width));
      g.dataset.share = share[v].toFixed(3);
    });
  }
  describe(step) {
    const { network, play } = this;
    let text = `${network.shape}, `;
    if (play.aggregate) text += "links by load over all steps";
    else if (this.working) text += this.working;
    else if (!step) text += "after the last step";
    else if (this.clock !== null)
      text += `${step.worms.length} messages in flight, ${
          step.worms.filter((worm) => this.momentOf(worm).waits >= 0).length} of them waiting`;
    else {
      const most = Math.max(0, ...step.load.values()), phase = play.phase(step.step),
            blocks = play.check.step_bytes[step.step] / play.blockBytes;
      text +=
          `${stepText(step.step, play.steps)}${phase >= 0 ? `, ${play.phases[phase].name}` : ""}: ${
              plural(step.worms.length, "message")}${
              step.worms.length === 0 ? "" : ` of up to ${plural(blocks, "block")}`}, ${
              most > 1 ? `a link carries ${most}` : "no link carries two"}`;
    }
    this.element.setAttribute("aria-label", text);
  }
  hit(event) {
    const target = event.target.closest?.("[data-node],[data-message],[data-link]");
    if (!target || !this.element.contains(target)) return null;
    if (target.dataset.node !== undefined) {
      const node = Number(target.dataset.node);
      return node < this.network.nodes ? { kind: "node", node } : { kind: "switch", node };
    }
    if (target.dataset.message !== undefined)
      return { kind: "worm", message: Number(target.dataset.message) };
    return { kind: "link", link: Number(target.dataset.link) };
  }
}

/** The theme's colours as values: a canvas cannot use CSS variables. */
class Colours {
  constructor(element) { this.style = getComputedStyle(element), this.known = new Map(); }
  get(text) {
    const name = /^var\((--[\w-]+)\)$/.exec(text)?.[1];
    if (!name) return text.replace("var(--hue-light)", this.variable("--hue-light"));
    return this.variable(name);
  }
  variable(name) {
    if (!this.known.has(name)) this.known.set(name, this.style.getPropertyValue(name).trim());
    return this.known.get(name);
  }
}

export class CanvasView extends View {
  constructor(network, play, handlers) {
    super(network, play, handlers);
    this.still = document.createElement("canvas");
    this.moving = document.createElement("canvas");
    this.element = document.createElement("div");
    this.element.className = "network canvas";
    this.element.setAttribute("role", "img");
    this.element.append(this.still, this.moving);
    this.grid = null;
    this.listen();
    new ResizeObserver(() => this.resize()).observe(this.element);
  }
  /**
   * Draws with a given number of pixels, independent of the window, before the document shows the
   * canvas. Printed pages have one canvas.
   */
  print(stepNumber, s, width) {
    this.fixed = true;
    this.element.style.aspectRatio = `${this.box.width} / ${this.box.height}`;
    for (const canvas of [this.still, this.moving])
      canvas.width = width, canvas.height = Math.round((width * this.box.height) / this.box.width);
    this.show(stepNumber, s);
    const context = this.still.getContext("2d");
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.moving, 0, 0);
    this.moving.remove();
  }
  resize() {
    if (this.fixed) return;
    const ratio = Math.min(2, devicePixelRatio || 1), { clientWidth, clientHeight } = this.element;
    if (clientWidth === 0) return;
    for (const canvas of [this.still, this.moving]) {
      canvas.width = Math.round(clientWidth * ratio),
      canvas.height = Math.round(clientHeight * ratio);
    }
    this.redraw();
  }
  rezoom() { this.redraw(); }
  drawJoins() {
    if (this.stepNumber >= 0) this.frame(this.moment);
  }
  /** Pixels of the page per user unit. */
  get shownScale() { return this.scale / Math.min(2, devicePixelRatio || 1); }
  get isNear() { return this.network.radius * this.shownScale >= 9; }
  /** Light stripes, the same as in an SVG picture. */
  hatch(context, colours) {
    const tile = document.createElement("canvas"), unit = this.network.large ? 0.5 : 1, size = 16;
    tile.width = tile.height = size;
    const drawing = tile.getContext("2d");
    drawing.fillStyle = colours.get("var(--bg)");
    drawing.fillRect(0, 0, size / 2, size);
    const pattern = context.createPattern(tile, "repeat");
    pattern.setTransform(new DOMMatrix().rotate(45).scale((4 * unit) / size));
    return pattern;
  }
  redraw() {
    if (this.stepNumber < 0) return;
    this.drawStill();
    this.frame(this.moment ?? 0.55, false);
  }
  scaled(canvas) {
    const context = canvas.getContext("2d");
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    const scale = Math.min(canvas.width / this.zoom.width, canvas.height / this.zoom.height);
    context.setTransform(
        scale, 0, 0, scale, (canvas.width - scale * this.zoom.width) / 2 - scale * this.zoom.x,
        (canvas.height - scale * this.zoom.height) / 2 - scale * this.zoom.y);
    this.scale = scale;
    return context;
  }
  add(path, lane, from = 0, to = 1) {
    if (from === 0 && to === 1) {
      const p = lane.points;
      for (let i = 0; i < p.length; i += 2)
        (i === 0 || i === 2 * lane.gap ? path.moveTo(p[i], p[i + 1]) : path.lineTo(p[i], p[i + 1]));
      return;
    }
    for (const piece of cut(lane, from, to))
      piece.forEach(([x, y], i) => (i === 0 ? path.moveTo(x, y) : path.lineTo(x, y)));
  }

  show(stepNumber, s) {
    this.stepNumber = stepNumber, this.moment = s;
    this.current = this.under(stepNumber);
    if (!this.fixed && (this.still.width < 8 || this.still.clientWidth === 0)) this.resize();
    else this.drawStill();
    this.frame(s, false);
    SvgView.prototype.describe.call(this, this.current);
    this.element.dataset.worms = this.current ? this.current.worms.length : 0;
    this.element.dataset.step = stepNumber;
  }
  drawStill() {
    const context = this.scaled(this.still), colours = new Colours(this.element),
          { network } = this;
    const relevant = this.relevant(this.current);
    context.lineCap = "round";
    for (const [x, y, width, height, caption] of network.frames) {
      context.fillStyle = colours.get("var(--panel)"),
      context.strokeStyle = colours.get("var(--faint)"), context.lineWidth = 1;
      context.beginPath();
      context.roundRect(x, y, width, height, 8);
      context.fill(), context.stroke();
      if (11 * this.shownScale < least_text) continue;
      context.fillStyle = colours.get("var(--mute)"), context.font = "600 11px sans-serif";
      context.textAlign = "left";
      context.fillText(caption, x + 8, y + 14);
    }
    const idle = new Path2D(), ticks = new Map();
    for (const lane of network.lanes) {
      if (lane.thin && network.lanes.length >= 20000) continue;
      if (lane.tick && !ticks.has(lane.dimension)) ticks.set(lane.dimension, new Path2D());
      this.add(lane.tick ? ticks.get(lane.dimension) : idle, lane);
    }
    context.strokeStyle = colours.get("var(--load-0)"), context.lineWidth = network.lane;
    context.stroke(idle);
    context.globalAlpha = tick_strength;
    for (const [dimension, path] of ticks) {
      context.strokeStyle = colours.get(dimensionColour(dimension));
      context.stroke(path);
    }
    context.globalAlpha = 1;
    const bands = new Map();
    for (const [link, look] of this.coloured(this.current)) {
      const key = `${look.colour} ${Math.round(look.width * 2) / 2}`;
      if (!bands.has(key)) bands.set(key, { path: new Path2D(), look });
      this.add(bands.get(key).path, network.lanes[link]);
    }
    for (const { path, look } of bands.values()) {
      context.strokeStyle = colours.get(look.colour), context.lineWidth = look.width;
      context.stroke(path);
    }
    if (this.selected?.kind === "block") {
      const trail = new Path2D();
      for (const message of this.selected.way) {
        for (const link of network
                 .walk(this.play.from[message], this.play.ways[this.play.way[message]])
                 .links)
          this.add(trail, network.lanes[link]);
      }
      context.strokeStyle = colours.get("var(--trail)"), context.globalAlpha = 0.5,
      context.lineWidth = 3 * network.offset;
      context.stroke(trail);
      context.globalAlpha = 1;
    }
    if (this.selected?.kind === "link") {
      const path = new Path2D();
      this.add(path, network.lanes[this.selected.link]);
      context.strokeStyle = colours.get("var(--ink)"), context.lineWidth = network.lane + 2;
      context.stroke(path);
    }
    // Busy nodes, then idle ones.
    const r = network.radius, busy = new Path2D(), free = new Path2D();
    for (let v = 0; v < network.nodes; ++v) {
      (this.current && !this.current.busy[v] ? free : busy)
          .roundRect(network.x[v] - r, network.y[v] - r, 2 * r, 2 * r, 0.45 * r);
    }
    for (let v = network.nodes; v < network.nodes + network.switches; ++v) {
      busy.moveTo(network.x[v] + 0.72 * r, network.y[v]);
      busy.arc(network.x[v], network.y[v], 0.72 * r, 0, 7);
    }
    context.lineWidth = Math.min(1.3, 0.18 * r);
    context.fillStyle = colours.get("var(--bg)"),
    context.strokeStyle = colours.get("var(--nodeLine)");
    if (this.play.groups) this.fillGroups(context, colours);
    else context.fill(busy);
    context.stroke(busy);
    context.fillStyle = colours.get("var(--idle)"),
    context.strokeStyle = colours.get("var(--faint)");
    context.fill(free), context.stroke(free);
    this.drawSets(context, colours);
    context.fillStyle = colours.get("var(--ink)");
    for (const v of relevant?.nodes ?? []) {
      context.beginPath();
      context.roundRect(network.x[v] - r - 1, network.y[v] - r - 1, 2 * r + 2, 2 * r + 2, 0.45 * r);
      context.fill();
    }
    context.textAlign = "center";
    context.fillStyle = colours.get("var(--mute)");
    for (const [x, y, text, size] of network.labels) {
      if (size * this.shownScale < least_text) continue;
      context.font = `${size}px sans-serif`;
      context.fillText(text, x, y);
    }
    if (this.isNear) {
      for (let v = 0; v < network.nodes; ++v) {
        const chosen = relevant?.nodes.has(v);
        context.fillStyle = colours.get(chosen ? "var(--bg)" : "var(--ink)");
        const label = network.name(v);
        context.font = `600 ${Math.min(r * 0.9, (3.2 * r) / label.length)}px sans-serif`;
        context.fillText(label, network.x[v], network.y[v] + 0.3 * r);
      }
      this.drawNumbers(context, colours);
    }
  }
  /** The same marks as those of an SVG picture. */
  drawSets(context, colours) {
    const { network, play } = this, { width, out } = this.edge, paths = new Map();
    for (let v = 0; v < network.nodes; ++v) {
      const set = play.setOf(v);
      if (!set) continue;
      if (!paths.has(set)) paths.set(set, new Path2D());
      paths.get(set).roundRect(
          network.x[v] - out, network.y[v] - out, 2 * out, 2 * out, 0.5 * out);
    }
    context.lineWidth = width;
    for (const [set, path] of paths) {
      context.strokeStyle = colours.get(`var(${set.colour})`);
      context.setLineDash(set.dashed ? [4, 2] : []);
      context.stroke(path);
    }
    context.strokeStyle = colours.get("var(--mute)"), context.lineWidth = 1.2;
    context.setLineDash([5, 4]);
    for (const [x, y, w, height] of play.sets?.cells ?? []) context.strokeRect(x, y, w, height);
    context.setLineDash([]);
  }
  /** Colours nodes by the bytes that their groups send and receive. */
  fillGroups(context, colours) {
    const { network } = this, r = network.radius, levels = [0, 1, 2, 3].map(() => new Path2D());
    for (let v = 0; v < network.nodes; ++v)
      levels[this.play.groups.level(v)].rect(network.x[v] - r, network.y[v] - r, 2 * r, 2 * r);
    levels.forEach((path, level) => {
      context.fillStyle = colours.get(`var(--seq-${level})`);
      context.fill(path);
    });
    context.fillStyle = colours.get("var(--bg)");
  }
  /** Discs with loads above 1 and with the steps of a block's path. A node limits their size. */
  drawNumbers(context, colours) {
    const r = 0.44 * this.network.radius, disc = (link, text, colour) => {
      const [x, y] = middle(this.network.lanes[link]);
      context.fillStyle = colour;
      context.beginPath();
      context.arc(x, y, r, 0, 7);
      context.fill();
      context.fillStyle = colours.get("var(--load-text)"),
      context.font = `700 ${1.32 * r}px sans-serif`;
      context.fillText(text, x, y + 0.47 * r);
    };
    const { x, y, width, height } = this.zoom;
    let count = 0;
    for (const [link, look] of this.coloured(this.current)) {
      const [px, py] = this.network.lanes[link].points;
      if (look.number < 2 || px < x || px > x + width || py < y || py > y + height ||
          ++count > most_numbers)
        continue;
      disc(
          link, look.number,
          colours.get(
              this.options.load === "all" && this.options.links === "load" ? "var(--load-2)" :
                                                                             look.colour));
    }
    this.element.dataset.numbers = count;
    if (this.selected?.kind !== "block") return;
    for (const message of this.selected.way) {
      const { links } =
          this.network.walk(this.play.from[message], this.play.ways[this.play.way[message]]);
      if (links.length > 0) disc(links[0], this.play.stepOf(message), colours.get("var(--trail)"));
    }
  }
  /** Pieces of the same colour, width and opacity form one path. */
  frame(s) {
    this.moment = s;
    const context = this.scaled(this.moving);
    const colours = new Colours(this.element), flashing = this.flashing();
    context.lineCap = "round", context.strokeStyle = colours.get("var(--ink)"),
    context.lineWidth = 1.8 * this.network.offset;
    const lit = new Map();
    for (const { link, strength } of flashing) {
      const level = Math.ceil(10 * strength) / 10;
      if (!lit.has(level)) lit.set(level, new Path2D());
      this.add(lit.get(level), this.network.lanes[link]);
    }
    for (const [strength, path] of lit) {
      context.globalAlpha = strength;
      context.stroke(path);
    }
    context.globalAlpha = 1;
    this.element.dataset.flashes = flashing.length;
    if (this.current && this.options.links === "worms") this.drawWorms(context, colours, s);
    const joins = this.joins();
    this.element.dataset.joins = joins.length;
    if (joins.length === 0) return;
    context.strokeStyle = colours.get("var(--ink)"),
    context.lineWidth = Math.max(0.5, 1 / this.shownScale);
    context.beginPath();
    for (const [a, b, c] of joins) context.moveTo(...a), context.quadraticCurveTo(...b, ...c);
    context.stroke();
  }
  drawWorms(context, colours, s) {
    const relevant = this.relevant(this.current);
    const thick = this.network.large ? 1 : 2.2, heads = this.isNear,
          byDimension = this.options.colour === "dimension";
    const waiting = new Map();  // width -> path of waiting worms
    let waits = 0;
    // Opacity rises towards the head in three parts, with very many worms in two.
    const sections = this.current.worms.length > 2000 ?
        [[0, 2 / 3, 0.55, 1.75], [2 / 3, 1, 1, 2.8]] :
        [[0, 1 / 3, 0.4, 1.5], [1 / 3, 2 / 3, 0.7, 2], [2 / 3, 1, 1, 2.8]];
    const batches = new Map(), arrows = new Map();
    for (const worm of this.current.worms) {
      const moment = this.momentOf(worm),
            { head, tail } = moment ?? reach(s, worm.links.length, this.current.longest);
      const stands = moment !== undefined && moment.waits >= 0;
      if (stands) ++waits;
      const fades = relevant !== null && !relevant.worms.has(worm.message);
      if (worm.links.length === 0) {
        const { parts: [{ d }] } = this.loop(worm), colour = partColour(this, worm, 0),
                               key = `loop ${colour} ${fades}`;
        if (!batches.has(key))
          batches.set(
              key, { path: new Path2D(), colour, alpha: fades ? 0.26 : 1, width: thick, dash: [] });
        batches.get(key).path.addPath(new Path2D(d));
        continue;
      }
      if (head <= tail) continue;
      const length = head - tail;
      worm.links.forEach((link, i) => {
        const lane = this.network.lanes[link];
        const shared = this.current.load.get(link) > 1;
        const colour = shared ? "var(--bg)" : partColour(this, worm, lane.dimension);
        for (const [from, to, strength, wide] of sections) {
          const a = Math.max(0, Math.min(1, tail + from * length - i)),
                b = Math.max(0, Math.min(1, tail + to * length - i));
          if (b <= a) continue;
          const alpha = (fades ? 0.26 : 1) * strength, width = shared ? 0.7 : thick * wide;
          // Dashes are drawn at large scales only.
          const dash = !heads || shared          ? [] :
              worm.channels[i] === 1             ? [3.5, 1.5] :
              byDimension && lane.dimension >= 6 ? [5, 1] :
                                                   [];
          const key = `${colour} ${alpha} ${width} ${dash}`;
          if (!batches.has(key))
            batches.set(key, { path: new Path2D(), colour, alpha, width, dash });
          this.add(batches.get(key).path, lane, a, b);
          if (!stands) continue;
          if (!waiting.has(width)) waiting.set(width, new Path2D());
          this.add(waiting.get(width), lane, a, b);
        }
        if (heads && head > i && head <= i + 1) {
          const pieces = cut(lane, Math.max(0, head - i - 0.3), head - i),
                piece = pieces[pieces.length - 1];
          if (!piece || piece.length < 2) return;
          const [x, y] = piece[piece.length - 1], [x0, y0] = piece[piece.length - 2],
                    l = Math.hypot(x - x0, y - y0) || 1;
          const dx = (x - x0) / l, dy = (y - y0) / l, size = 2.4 * this.network.offset;
          if (!arrows.has(colour)) arrows.set(colour, new Path2D());
          const path = arrows.get(colour);
          path.moveTo(x, y),
              path.lineTo(x - size * dx - 0.5 * size * dy, y - size * dy + 0.5 * size * dx);
          path.lineTo(x - size * dx + 0.5 * size * dy, y - size * dy - 0.5 * size * dx),
              path.closePath();
        }
      });
    }
    context.lineCap = "butt";
    for (const { path, colour, alpha, width, dash } of batches.values()) {
      context.globalAlpha = alpha, context.strokeStyle = colours.get(colour),
      context.lineWidth = width;
      context.setLineDash(dash);
      context.stroke(path);
    }
    context.globalAlpha = 1;
    context.setLineDash([]);
    if (waiting.size > 0) {
      context.strokeStyle = this.hatch(context, colours);
      for (const [width, path] of waiting) {
        context.lineWidth = width;
        context.stroke(path);
      }
    }
    if (this.clock !== null) this.element.dataset.waiting = waits;
    for (const [colour, path] of arrows) {
      context.fillStyle = colours.get(colour);
      context.fill(path);
    }
  }
  /** The nearest node or link, looked up in a grid of cells one pitch wide. */
  hit(event) {
    const { x, y, scale } = this.user(event), { network } = this;
    const cell = 24, key = (i, j) => i * 65536 + j;
    if (!this.grid) {
      this.grid = new Map();
      const put = (px, py, what) => {
        const k = key(Math.floor(px / cell), Math.floor(py / cell));
        if (!this.grid.has(k)) this.grid.set(k, []);
        this.grid.get(k).push({ x: px, y: py, ...what });
      };
      for (let v = 0; v < network.nodes; ++v) put(network.x[v], network.y[v], { node: v });
      for (const lane of network.lanes) {
        for (const f of [0.2, 0.5, 0.8])
          for (const piece of cut(lane, f, Math.min(1, f + 0.001)))
            put(piece[0][0], piece[0][1], { link: lane.link });
      }
    }
    let best = null, least = Math.max(network.radius, 8 / scale);
    for (let i = -1; i <= 1; ++i) {
      for (let j = -1; j <= 1; ++j) {
        for (const what of this.grid.get(key(Math.floor(x / cell) + i, Math.floor(y / cell) + j)) ??
             []) {
          const away = Math.hypot(what.x - x, what.y - y) - (what.node !== undefined ? 3 : 0);
          if (away < least) least = away, best = what;
        }
      }
    }
    if (!best) return null;
    return best.node !== undefined ? { kind: "node", node: best.node } :
                                     { kind: "link", link: best.link };
  }
}

/** Makes an SVG up to 256 nodes and 2000 marks in a step, otherwise a canvas. */
export function makeView(network, play, handlers) {
  let most = 0;
  for (let step = 0; step < play.steps; ++step) most = Math.max(most, play.worms(step));
  const small = network.nodes <= 256 &&
      2 * most + (network.lanes.some((lane) => lane.thin) ? 0 : network.lanes.length) <= 4000;
  return small && most <= 2000 ? new SvgView(network, play, handlers) :
                                 new CanvasView(network, play, handlers);
}
