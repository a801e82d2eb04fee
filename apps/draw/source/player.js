// The player's page: one algorithm alone, or several on one clock.
// SPDX-License-Identifier: Apache-2.0
import {Network, Play} from "./data.js";
import {bytes, crossed, figure, h, plural, stepText, time} from "./dom.js";
import {figuresCard, Matrix, selectionCard, Traffic} from "./cards.js";
import {algorithmColours, costCard, crossoverPlot, formulasCard, replayCard} from "./compare.js";
import {chooseBlock, fragmentOf, readFragment, resting, State} from "./state.js";
import {Strip} from "./strip.js";
import {makeView} from "./view.js";

const step_seconds = 1.2, speeds = [0.25, 0.5, 1, 2, 4, 8], idle_share = 0.25;
const clamp = (x, low, high) => Math.max(low, Math.min(high, x));
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

const icons = {
  first: "M3 3v10h2V3zm3 5 7 5V3z",
  back: "M10.5 2.5 5 8l5.500 5.500 1.500-1.500L8 8l4-4z",
  play: "M4 2.500v11L13 8z",
  pause: "M4 3h3v10H4zm5 0h3v10H9z",
  forward: "M5.500 2.500 4 4l4 4-4 4 1.500 1.500L11 8z",
};
function iconButton(icon, label, action, extra = {}) {
  const button =
      h("button", { type: "button", "aria-label": label, title: label, onclick: action, ...extra });
  button.innerHTML = `<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path d="${
      icons[icon]}" fill="currentColor"/></svg>`;
  return button;
}

function choices(label, key, values, state) {
  const buttons = values.map(
      ([value, text]) =>
          h("button", {
            type: "button",
            "data-key": key,
            "data-value": value,
            onclick: () => state.set({ [key]: value })
          },
            text));
  return {
    element:
        h("div", { class: "choice" }, h("span", { class: "mute" }, label),
          h("div", { class: "switch", role: "group", "aria-label": label }, buttons)),
    refresh: () => buttons.forEach(
        (button) => button.setAttribute("aria-pressed", state[key] === button.dataset.value))
  };
}

/** The four verdicts of `check`. */
function verdicts(check) {
  const chip = (kind, text, title) =>
      h("span", { class: `verdict ${kind}`, title },
        `${
            kind === "ok"       ? "✓" :
                kind === "warn" ? "!" :
                                  "?"} ${text}`);
  return [
    check.delivered === null ? chip("grey", "delivery not proved", check.proof) :
        check.delivered      ? chip("ok", "delivered, proved", check.proof) :
                               chip("warn", "not delivered", check.proof),
    check.exactly_once === null ?
        chip("grey", "exactly once: not checked", check.arrivals) :
        check.exactly_once ?
        chip("ok", "exactly once", check.arrivals) :
        chip(check.exactly_once_claimed ? "warn" : "grey", "not exactly once", check.arrivals),
    check.link_load_max <= 1 ?
        chip("ok", "no contention", "no link carries two messages in a step") :
        chip(
            "warn", `link load up to ${check.link_load_max}`,
            "most messages on one link in one step"),
    check.deadlock_free ?
        chip("ok", "deadlock-free", "the routes' channel dependency graph has no cycle") :
        chip("warn", "can deadlock", check.failures.join("; ")),
  ];
}

const dimensionName = (network, d) => {
  if (network.dimensions.length === 2 && !network.hypercube)
    return `dimension ${d} ${d === 0 ? "↓" : "→"}`;
  return `dimension ${d}`;
};

/** Where the keys stop in a step: when most messages are under way, or at rest in the middle. */
const stopOf = ({ start, end, busiest }) => busiest ?? start + resting * (end - start);

/**
 * Every mark of the picture and of the timeline, and what it means; of several algorithms in a
 * comparison.
 */
function legend(plays, state) {
  const [play] = plays, { network } = play, items = [], compares = plays.length > 1;
  const sample = (style, text, kind = "") =>
      h("span", { class: "sample" }, h("i", { style: style || null, class: kind || null }), text);
  const parts = (name, levels, text) => h(
      "span", { class: "sample" },
      levels.map((i) => h("i", { class: "part", style: `background:var(--${name}-${i})` })), text);
  const allSteps = play.aggregate || (state.links === "load" && state.load === "all"),
        worms = !play.aggregate && state.links === "worms";
  if (allSteps) items.push(parts("seq", [1, 2, 3, 4, 5], "links: bytes over all steps"));
  if (play.groups)
    items.push(parts(
        "seq", [1, 2, 3],
        `nodes: bytes sent and received by their group of ${figure(play.groups.per)}`));
  if (worms) {
    if (state.colour === "dimension") {
      const real = network.dimensions.map((dimension, d) => [dimension, d])
                       .filter(([dimension]) => dimension.size > 1);
      if (compares && real.length > 2)
        items.push(parts(
            "dim", real.slice(0, 6).map(([, d]) => d % 6),
            `dimensions ${real[0][1]} to ${real[real.length - 1][1]}`));
      else
        for (const [, d] of real.slice(0, 8))
          items.push(sample(`background:var(--dim-${d % 6})`, dimensionName(network, d)));
      if (real.length > 6)
        items.push(sample("--c:var(--ink)", "dimension 6 and higher", "long-dashes"));
    } else if (state.colour === "phase" && compares) {
      items.push(parts("dim", [0, 1, 2, 3, 4, 5], "the algorithm's phases"));
    } else if (state.colour === "phase") {
      play.phases.slice(0, 6).forEach(
          (phase, i) => items.push(sample(`background:var(--dim-${i % 6})`, phase.name)));
      items.push(sample("background:var(--load-1)", "no phase"));
    } else {
      items.push(sample("", `${state.colour}, by rank`, "hues"));
    }
    items.push(
        sample("", "message: from the disc to the arrow; wider: more bytes", "message"),
        sample("", "path not reserved yet", "dots"));
    if (plays.some(({ crossesDatelines }) => crossesDatelines))
      items.push(sample("--c:var(--ink)", "virtual channel 1, after the dateline", "dashes"));
    if (play.replay)
      items.push(
          sample("", "waits for a channel", "hatched"), sample("", "released channel", "released"));
  } else if (!allSteps) {
    items.push(sample("background:var(--load-1)", "link with one message"));
  }
  items.push(sample("background:var(--load-0)", "idle link"));
  // A replay shows one message at a time on a channel; the others wait.
  if (!play.aggregate && plays.some(({ check, replay }) => !replay && check.link_load_max > 1))
    items.push(parts(
        "load", [2, 3, 4, 8], "contention: 2, 3, 4 or more, 8 or more messages on a link"));
  if (!play.aggregate) items.push(sample("", "node that neither sends nor receives", "idle-node"));
  if (network.switches > 0) items.push(sample("", "switch", "circle"));
  const sets = new Map(plays.flatMap(({ sets }) => sets?.names ?? [])
                           .map((set) => [`${set.colour} ${set.dashed} ${set.name}`, set]));
  for (const { name, colour, dashed } of sets.values())
    items.push(sample(`--c:var(${colour})`, name, dashed ? "node-set dashed" : "node-set"));
  if (plays.some(({ sets }) => sets?.cells.length > 0)) items.push(sample("", "cell", "cell"));
  if (plays.some(({ blocks }) => blocks.kind) && !network.large && network.nodes <= 256)
    items.push(sample("", "the node's share of its result", "share"));
  if (network.labels.length > 0)
    items.push(h("span", { class: "sample stub-number" }, h("b", {}, network.labels[0][2]),
        network.nodes > 256 ? "first node of the row or column" :
                              "at a stub: the node at its other end"));
  if (state.select) items.push(sample("", "selected node", "selected-node"));
  if (state.select?.kind === "block")
    items.push(sample("background:var(--trail)", "the block's path, numbered by step", "trail"));
  items.push(sample(
      "", play.replay ? "timeline: steps that overlap" : "timeline: largest message of the step",
      "bars"));
  if (compares && !play.replay)
    items.push(sample("", "timeline: rearranging or combining blocks", "works"));
  return items;
}

/** One network with its head: the single view, or one part of a comparison. */
class Scene {
  constructor(state, play, handlers) {
    this.state = state, this.play = play;
    this.view = makeView(play.network, play, handlers);
  }
  /**
   * \param clock    the replay's time
   * \param working  what nodes do between two steps; empty in a step
   */
  update(step, at, clock, playing, working = "") {
    const { state, view, play } = this;
    view.working = working;
    const key = `${play.replay ? "" : step} ${working} ${state.links} ${state.colour} ${state.load} ${
        JSON.stringify(state.select)} ${state.theme}`;
    if (key !== this.key) {
      view.options = { links: state.links, colour: state.colour, load: state.load };
      view.selected =
          state.comparing && (state.select?.kind === "worm" || state.select?.kind === "block") ?
          null :
          state.select;
      play.replay ? view.showAt(clock, playing, true) : view.show(step, at, playing);
      this.key = key;
    } else if (play.replay) {
      view.showAt(clock, playing, false);
    } else {
      view.frame(at, playing);
    }
  }
}

/** Sentences about the algorithm, and about its phases: they lie in one place, one is visible. */
function ideaCard(play) {
  return h(
      "section", { class: "card idea", "aria-label": "Explanation" },
      h("h2", {}, "How it works"), h("p", {}, play.json.explanation), phaseTexts(play));
}
function phaseTexts(play) {
  const explained = play.phases.filter(({ explanation }) => explanation);
  return explained.length === 0 ?
      null :
      h("div", { class: "phase-texts" },
        play.phases.map(
            (phase, i) => h(
                "p", { "data-phase": i },
                h("b", {}, `Phase ${i + 1} of ${play.phases.length}, ${phase.name}: `),
                phase.explanation)));
}
/** What nodes do before a step, or after the last one. */
function workText(play, step) {
  const works = [
    ["rearranging blocks", play.json.step_rearranged_bytes],
    ["combining blocks", play.json.step_combined_bytes]
  ].filter(([, amounts]) => amounts[step] > 0);
  return `${works.map(([what]) => what).join(", ")} ${
      step < play.steps ? `before step ${step}` : "after the last step"}`;
}
/** Shows the sentence of one phase. */
function showPhase(element, phase) {
  if (element.dataset.phase === String(phase)) return;
  element.dataset.phase = phase;
  for (const text of element.querySelectorAll(".phase-texts p"))
    text.classList.toggle("now", Number(text.dataset.phase) === phase);
}

class Page {
  constructor(data, network, plays) {
    this.data = data, this.network = network;
    this.state = new State(data, plays);
    this.state.listeners.push((changes) => this.changed(changes));
    this.handlers = {
      choose: (what) => this.choose(what),
      hover: (what, event) => this.hovered(what, event)
    };
    this.tip = h("div", { class: "tip", role: "status", hidden: true });
    this.live = h("div", { class: "hidden", "aria-live": "polite" });
    this.root = h("div", { id: "page" });
    document.body.append(this.root, this.tip, this.live);
    // A button that was clicked does not keep the keyboard: the space bar plays.
    this.root.addEventListener("click", (event) => {
      if (event.detail > 0) event.target.closest("button")?.blur();
    }, true);
    Object.assign(this.state, readFragment(this.state));
    this.build();
    // A comparison opens while its first algorithm to send is in its first step.
    if (this.state.comparing && this.state.clock === 0) {
      this.state.clock = Math.min(...this.times.map(([first]) => stopOf(first)));
      this.refresh(true);
    }
    this.keys();
    // Reads the requested address: this page may have written another one since.
    addEventListener("hashchange", (event) => {
      const hash = new URL(event.newURL).hash;
      if (hash !== this.written) this.state.set(readFragment(this.state, hash));
    });
    let width = innerWidth;
    addEventListener("resize", () => {
      if (innerWidth !== width) {
        width = innerWidth;
        this.layoutStrips();
      }
      if (!this.state.comparing) this.drawMatrix(this.shown(this.state.shown));
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.repaint());
    addEventListener("beforeprint", () => this.makePrint());
  }

  // Building.

  build() {
    const { state } = this;
    document.documentElement.dataset.theme = state.theme;
    this.root.replaceChildren();
    this.root.className = state.comparing ? "comparing" : "";
    this.built = `${state.comparing} ${state.shown}`;
    this.scenes = [];
    this.matrix = this.selection = null;
    this.takeTimes();
    this.root.append(this.header());
    state.comparing ? this.buildComparison() : this.buildSingle();
    requestAnimationFrame(() => this.layoutStrips());
    this.refresh(true);
  }

  header() {
    const { state, data } = this, play = state.play, network = this.network;
    const name = (p, i) =>
        h("span", {
          class: "algorithm",
          style: state.comparing ? `color:var(--line-${algorithmColours[i]})` : null
        },
          p.algorithm);
    const title =
        h("h1", {}, `${data.plays[0].operation} on ${crossed(network.text)} `,
          state.comparing ? state.plays
                                .map(
                                    (p, i) =>
                                        [i === 0                          ? "" :
                                             i + 1 === state.plays.length ? " and " :
                                                                            ", ",
                                         name(p, i)])
                                .flat() :
                            name(play, 0));
    const block = this.data.cost.block_bytes;
    const below = state.comparing ?
        `${
            play.replay ? "replayed on a modelled machine" :
                          "timed by the cost model"}; blocks of ${bytes(state.cost.bytes)}` :
        [
          play.json.source, `${play.json.ports === "all" ? "all ports" : "one port"}`,
          `blocks of ${bytes(block)}`, plural(play.check.messages, "message"),
          ...(play.replay ? [`replayed: ${play.replay.machine}`] : [])
        ].join(" · ");
    const buttons = h("div", { class: "buttons" });
    if (state.plays.length > 1) {
      buttons.append(
          h("button", {
            type: "button",
            class: "wide-only compare",
            onclick: () => this.compare(!state.comparing)
          },
            state.comparing ? "One algorithm" : "Compare"));
      if (!state.comparing) {
        const select =
            h("select",
              { "aria-label": "algorithm", onchange: () => this.alone(Number(select.value)) },
              state.plays.map(
                  (p, i) => h("option", { value: i, selected: i === state.shown }, p.algorithm)));
        buttons.append(select);
      }
    }
    buttons.append(
        h("button", { type: "button", class: "wide-only", onclick: () => this.copyLink() }, "Link"),
        h("button", {
          type: "button",
          "aria-label": "theme",
          title: "theme: system, light, dark",
          onclick: () => this.cycleTheme()
        },
          "◐"),
        h("button",
          { type: "button", "aria-label": "keys", title: "keys", onclick: () => this.help() },
          "?"));
    return h(
        "header", {},
        h("div", { class: "titles" }, title,
          h("p", { class: "below", title: play.replay ? below : play.json.summary }, below)),
        state.comparing ? null : h("div", { class: "verdicts" }, verdicts(play.check)), buttons);
  }

  buildSingle() {
    const { state } = this, play = state.play;
    const scene = new Scene(state, play, this.handlers);
    this.scenes = [scene];
    const hasPhases = play.phases.length > 0;
    this.switches = play.aggregate ? [] : [
      choices("Links", "links", [["worms", "worms"], ["load", "load"]], state),
      choices(
          "Colour", "colour",
          [
            ["dimension", "dimension"], ["sender", "sender"], ["receiver", "receiver"],
            ...(hasPhases ? [["phase", "phase"]] : [])
          ],
          state),
      choices("Load of", "load", [["step", "this step"], ["all", "all steps"]], state),
    ];
    this.legend = h("div", { class: "legend" });
    this.table = h("div", { class: "hidden messages-table" });
    const notice = play.aggregate ? h("p", { class: "notice" },
                                      `Link loads over all steps, and traffic between groups of ${
                                          plural(play.groups.per, "node")}: ${play.aggregate}.`) :
                                    null;
    this.matrix =
        play.groups ? new Traffic(play) : new Matrix(play, state, (what) => this.choose(what));
    this.selection =
        h("section", { class: "card selection", "aria-label": "Selection", tabindex: 0 });
    this.strips = [new Strip(
        play,
        (to) => (play.replay ? this.scrubTime(to.clock) : this.scrub(to.step, to.at)))];
    const side =
        h("div", { class: "side" }, ideaCard(play),
          h("section", { class: "card", "aria-label": "Figures" },
            figuresCard(play.check, play.replay)),
          this.matrix.element, this.selection);
    const card =
        h("section", { class: "card picture", "aria-label": "Network", tabindex: 0 },
          h("div", { class: "switches" }, this.switches.map(({ element }) => element)), notice,
          h("div", { class: "stage" }, scene.view.element), this.legend, this.table);
    this.root.append(h("main", {}, card, side), this.timeline());
  }

  timeline() {
    const { state } = this;
    this.playButton = iconButton(
        "play", "play", () => this.toggle(), { class: "primary", "data-control": "play" });
    this.speedButton =
        h("button", {
          type: "button",
          class: "speed",
          "aria-label": "speed",
          onclick: () => this.faster(1, true)
        },
          "1 ×");
    this.status = h("div", { class: "status" });
    const transport =
        h("div", { class: "transport" }, iconButton("first", "first step", () => this.go(0)),
          iconButton("back", "previous step", () => this.stepBy(-1)), this.playButton,
          iconButton("forward", "next step", () => this.stepBy(1)), this.speedButton, this.status);
    const rows = this.strips.map(
        (strip, i) =>
            h("div", { class: "strip-row" },
              state.comparing ? h("b", { style: `color:var(--line-${algorithmColours[i]})` },
                                  ...state.plays[i].algorithm.split(/(?<=:)/).flatMap(
                                      (part, at) => at > 0 ? [h("wbr"), part] : [part])) :
                                null,
              h("div", { class: "strip-box" }, strip.element)));
    return h("section", { class: "card timeline", "aria-label": "Timeline" }, transport, rows);
  }

  buildComparison() {
    const { state } = this;
    this.scenes = state.plays.map((play) => new Scene(state, play, this.handlers));
    this.heads = state.plays.map(() => h("div", { class: "scene-head" }));
    this.strips = state.plays.map((play) => new Strip(play, (to) => this.scrubTime(to.clock)));
    this.switches = [];
    this.legend = h("div", { class: "legend" });
    this.ideas = state.plays.map(
        (play, i) => h(
            "div", {}, h("h3", { style: `color:var(--line-${algorithmColours[i]})` }, play.algorithm),
            h("p", {}, play.json.explanation), phaseTexts(play)));
    const networks =
        h("div", { class: `networks n${state.plays.length}` },
          this.scenes.map(
              (scene, i) =>
                  h("section",
                    { class: "card picture", "aria-label": state.plays[i].algorithm, tabindex: 0 },
                    this.heads[i], h("div", { class: "stage" }, scene.view.element))));
    const replayed = state.plays[0].replay;
    this.costs = costCard(state, state.base);
    this.crossover = h("section", { class: "card", "aria-label": "Crossover" });
    this.formulas = h("section", { class: "card", "aria-label": "Formulas" });
    this.root.append(
        h("main", {}, h("div", { class: "compared" }, networks, this.legend),
          h("div", { class: "side" },
            replayed ? replayCard(state.plays) : null, this.costs.element,
            h("section", { class: "card idea", "aria-label": "Explanation" },
              h("h2", {}, "How they work"), this.ideas),
            this.crossover, this.formulas)),
        this.timeline());
  }

  takeTimes() {
    const { state } = this;
    this.times = state.plays.map((play) => play.times(state.cost));
    this.total = Math.max(1e-9, ...this.times.map((times) => times[times.length - 1].end));
  }
  layoutStrips() {
    const { state } = this;
    this.takeTimes();
    for (const [i, strip] of this.strips.entries()) {
      const width = Math.max(120, Math.floor(strip.element.parentElement.clientWidth));
      strip.marked = null;
      strip.layout(
          width, state.byClock ? this.times[state.comparing ? i : state.shown] : null,
          state.comparing ? this.total : this.end());
    }
    this.refresh(state.byClock);
  }

  // The place in time.

  /** The clock's last time: over all algorithms in a comparison, or of the shown one. */
  end() {
    const { state } = this;
    if (state.comparing) return this.total;
    const times = this.times[state.shown];
    return Math.max(1e-9, times[times.length - 1].end);
  }
  /** Whether pictures move. With reduced motion steps change at once. */
  get moves() { return this.state.playing && !still(); }
  get jumps() { return this.state.playing && still(); }
  /** The shown step of one play, the moment in it, and the replay's time. */
  shown(i) {
    const { state, jumps } = this, play = state.plays[i];
    if (!state.byClock)
      return {
        step: Math.min(state.step, Math.max(0, play.steps - 1)),
        at: jumps ? resting : state.at
      };
    const place = this.placeAt(i, state.clock);
    if (!jumps) return {...place, at: place.done ? 1 : place.at, clock: state.clock };
    const { work, start, end } = this.times[i][place.step];
    if (place.done) return {...place, at: 1, clock: end };
    return place.working ? {...place, clock: (work + start) / 2 } :
                           {...place, at: resting, clock: start + resting * (end - start) };
  }
  /** The moment whose blocks the matrix shows. */
  blockMoment({ step, at, clock }) {
    const { blocks, replay } = this.state.play;
    return replay ? blocks.momentAt(clock) : Math.min(blocks.moments, at >= 0.7 ? step + 1 : step);
  }
  drawMatrix(place) {
    this.matrix?.draw(this.blockMoment(place), this.state.play.replay ? place.clock : null);
  }

  /**
   * In a comparison: the step of one play, and the moment in it, at the clock's time. `working`: the
   * step has not begun; nodes rearrange or combine blocks.
   */
  placeAt(i, clock) {
    const times = this.times[i], play = this.state.plays[i];
    for (let t = 0; t <= play.steps; ++t) {
      if (clock < times[t].start)
        return { step: t, at: 0, working: clock >= times[t].work };
      if (t === play.steps) break;
      if (clock < times[t].end)
        return {
          step: t,
          at: (clock - times[t].start) / Math.max(1e-12, times[t].end - times[t].start)
        };
    }
    return { step: play.steps, at: 0, done: true };
  }

  changed(changes) {
    const { state } = this;
    if ("theme" in changes) this.repaint();
    if (this.built !== `${state.comparing} ${state.shown}`) {
      this.build();
      this.write();
      return;
    }
    if ("cost" in changes && state.comparing) {
      this.layoutStrips();
      state.clock = Math.min(state.clock, this.total);
    }
    this.refresh(true);
    this.write();
  }
  repaint() {
    document.documentElement.dataset.theme = this.state.theme;
    for (const scene of this.scenes) scene.key = "";
    this.refresh(true);
  }

  refresh(whole) {
    const { state } = this;
    if (state.comparing) return this.refreshComparison(whole);
    const play = state.play;
    const place = this.shown(state.shown), { at } = place,
          step = Math.min(place.step, Math.max(0, play.steps - 1));
    state.step = step;
    if (play.steps > 0) this.scenes[0].update(step, at, place.clock, this.moves);
    this.strips[0].boxes && this.strips[0].show({...place, step });
    showPhase(this.root, play.phase(step));
    const moment = this.blockMoment({...place, step }), others = this.shownBlocks !== moment;
    if (whole || others) this.drawMatrix({...place, step });
    this.shownBlocks = moment;
    if (play.replay && !whole &&
        (state.select?.kind === "worm" || (others && state.select?.kind === "node")))
      this.showSelection(step, place.clock);
    if (play.replay) this.showTime(place.clock);
    if (whole || this.shownStep !== step) {
      this.switches.forEach((each) => each.refresh());
      this.legend.replaceChildren(...legend([play], state));
      this.showSelection(step, place.clock);
      if (!play.replay) this.showStep(step);
      this.shownStep = step;
    }
    this.refreshTransport();
    document.body.dataset.step = step;
  }
  showSelection(step, clock) {
    const { state } = this, play = state.play;
    this.selection.replaceChildren(
        ...[selectionCard(play, state.select, step, (n) => this.go(n), play.replay ? clock : null)]
            .flat()
            .filter(Boolean));
    this.selection.dataset.kind = state.select?.kind ?? "none";
  }
  /** For a replay: the time, and how many messages are in flight and waiting. */
  showTime(clock) {
    const { state } = this, { replay, network } = state.play, alive = replay.alive(clock);
    const waiting = alive.filter((i) => replay.moment(i, clock).waits >= 0).length;
    const facts = [
      `${plural(alive.length, "worm")} in flight`, `${waiting} waiting`,
      `${replay.complete(clock)} of ${plural(state.play.steps, "step")} complete`
    ];
    this.status.replaceChildren(
        h("b", {}, time(clock)), h("span", {}, ` of ${time(replay.time)}`),
        ...facts.map((text) => h("span", {}, text)));
    document.body.dataset.clock = state.clock;
    if (state.playing) return;
    this.live.textContent = `${time(state.clock)}, ${facts.join(", ")}`;
    const rows = alive.slice(0, 500).map(
        (i) => h(
            "tr", {}, h("td", {}, network.name(state.play.from[i])),
            h("td", {}, network.name(state.play.to[i])), h("td", {}, figure(state.play.bytes(i)))));
    this.table.replaceChildren(
        h("table", {}, h("caption", {}, "messages in flight"),
          h("thead", {},
            h("tr", {}, ["from", "to", "bytes"].map((text) => h("th", { scope: "col" }, text)))),
          h("tbody", {}, rows)));
  }
  showStep(step) {
    const { state } = this, play = state.play, c = play.check;
    const phase = play.phase(step);
    const worms = play.aggregate ? null : play.worms(step);
    const facts = [
      phase >= 0 ? `phase ${phase + 1} ${play.phases[phase].name}` : null,
      worms === null  ? null :
          worms === 0 ? "idle" :
                        plural(worms, "worm"),
      `largest message ${plural(c.step_bytes[step] / play.blockBytes, "block")}`,
      `link load ${c.step_load[step]}`
    ];
    if (play.steps === 0) this.status.replaceChildren(h("b", {}, "No steps"));
    else
      this.status.replaceChildren(
          h("b", {}, `Step ${step}`),
          h("span", {}, stepText(step, play.steps).replace(`step ${step}`, "")), ...facts.filter(Boolean).map((text) => h("span", {}, text)));
    if (!state.playing && play.steps > 0)
      this.live.textContent = `step ${step}, ${facts.filter(Boolean).join(", ")}`;
    if (!play.aggregate && play.steps > 0) {
      const count = play.worms(step), rows = [];
      for (let i = play.first[step]; i < Math.min(play.first[step + 1], play.first[step] + 500);
           ++i)
        rows.push(
            h("tr", {}, h("td", {}, this.network.name(play.from[i])),
              h("td", {}, this.network.name(play.to[i])), h("td", {}, figure(play.bytes(i)))));
      this.table.replaceChildren(
          h("table", {},
            h("caption", {},
              `messages of step ${step}${count > 500 ? `: the first 500 of ${count}` : ""}`),
            h("thead", {},
              h("tr", {}, ["from", "to", "bytes"].map((text) => h("th", { scope: "col" }, text)))),
            h("tbody", {}, rows)));
    }
  }
  refreshComparison(whole) {
    const { state } = this;
    if (!this.times) return;
    this.scenes.forEach((scene, i) => {
      const { play } = scene, place = this.shown(i), step = Math.min(place.step, play.steps - 1);
      const working = place.working ? workText(play, place.step) : "";
      scene.update(
          place.done || working ? place.step : step, place.at, place.clock, this.moves, working);
      this.strips[i].boxes && this.strips[i].show(place);
      const load = place.done || working ? 0 : play.check.step_load[step];
      const total = this.times[i][this.times[i].length - 1].end;
      showPhase(this.ideas[i], play.phase(step));
      const text = place.done ? "done" :
          working             ? working :
                                `${stepText(step, play.steps)}${
                        play.aggregate ? "" : `, ${plural(play.worms(step), "worm")}`}`;
      const key = `${text} ${load} ${total}`;
      if (whole || this.heads[i].dataset.key !== key) {
        this.heads[i].dataset.key = key;
        this.heads[i].replaceChildren(
            h("b", { style: `color:var(--line-${algorithmColours[i]})` }, play.algorithm),
            h("b", { class: "end", "data-us": total }, time(total)),
            h("span", { class: "mute text" }, text),
            play.check.link_load_max <= 1 ?
                h("span", { class: "ok" }, "✓ no contention") :
                h("span", { class: "warn" },
                  load > 1 ? `! link load ${load}, up to ${play.check.link_load_max}` :
                             `! link load up to ${play.check.link_load_max}`));
      }
    });
    this.status.replaceChildren(
        h("b", {}, time(state.clock)), h("span", {}, ` of ${time(this.total)}`));
    if (whole) {
      this.legend.replaceChildren(...legend(state.plays, state));
      this.costs.refresh();
      this.crossover.replaceChildren(...crossoverPlot(state.plays, state, state.base));
      this.formulas.replaceChildren(...formulasCard(state.plays, state).flat());
    }
    this.refreshTransport();
  }
  refreshTransport() {
    const { state } = this;
    const label = state.playing ? "pause" : "play";
    if (this.playButton.getAttribute("aria-label") !== label) {
      this.playButton.replaceWith(
          this.playButton = iconButton(
              label, label, () => this.toggle(), { class: "primary", "data-control": "play" }));
    }
    this.speedButton.textContent = `${state.speed} ×`;
  }

  // Playing and moving between steps.

  go(step) {
    const { state } = this;
    if (state.play.replay && !state.comparing) {
      const window = this.times[state.shown][clamp(step, 0, Math.max(0, state.play.steps - 1))];
      state.set({ clock: stopOf(window), playing: false });
      return;
    }
    this.goStep(step);
  }
  goStep(step) {
    this.state.set({
      step: clamp(step, 0, Math.max(0, this.state.play.steps - 1)),
      at: resting,
      playing: false
    });
  }
  scrub(step, at) {
    this.state.set({
      step: clamp(step, 0, Math.max(0, this.state.play.steps - 1)),
      at: at < 0.02 ? 0.02 : at,
      playing: false
    });
  }
  scrubTime(clock) { this.state.set({ clock: Math.min(clock, this.end()), playing: false }); }
  stepBy(n) {
    const { state } = this;
    if (state.byClock) {
      const stops = [
        ...new Set((state.comparing ? this.times : [this.times[state.shown]])
                       .flatMap((times) => times.map(stopOf)))
      ].sort((a, b) => a - b);
      const next = n > 0 ? stops.find((t) => t > state.clock + 1e-9) :
                           stops.filter((t) => t < state.clock - 1e-9).pop();
      state.set({ clock: next ?? (n > 0 ? this.end() : 0), playing: false });
    } else {
      this.go(state.step + n);
    }
  }
  phaseBy(n) {
    const { play, step } = this.state;
    const starts = play.phases.length > 0 ? play.phases.map((phase) => phase.first) : [0];
    const next = n > 0 ? starts.find((t) => t > step) : starts.filter((t) => t < step).pop();
    this.go(next ?? (n > 0 ? play.steps - 1 : 0));
  }
  faster(n, round = false) {
    const i = speeds.indexOf(this.state.speed) + n;
    this.state.set({ speed: speeds[round ? i % speeds.length : clamp(i, 0, speeds.length - 1)] });
  }
  toggle() {
    const { state } = this;
    if (state.playing) return state.set({ playing: false });
    if (state.byClock ? state.clock >= this.end() - 1e-9 :
                        state.step >= state.play.steps - 1 && state.at > 0.5)
      Object.assign(state, { step: 0, at: 0, clock: 0 });
    else if (!state.byClock && state.at === resting) state.at = 0;
    state.set({ playing: true });
    this.last = performance.now();
    requestAnimationFrame((now) => this.tick(now));
    return undefined;
  }
  tick(now) {
    const { state } = this;
    if (!state.playing) return;
    const seconds = Math.min(0.25, (now - this.last) / 1000) * state.speed;
    this.last = now;
    if (state.byClock) {
      const steps = Math.max(
                ...(state.comparing ? state.plays : [state.play]).map((play) => play.steps)),
            end = this.end();
      state.clock =
          Math.min(end, state.clock + (seconds * end) / (step_seconds * clamp(steps, 8, 24)));
      if (state.clock >= end) state.playing = false;
    } else {
      const idle = !state.play.aggregate && state.play.worms(state.step) === 0;
      let at = state.at + seconds / (step_seconds * (idle ? idle_share : 1)), { step } = state;
      if (at >= 1) {
        if (step >= state.play.steps - 1) at = 1, state.playing = false;
        else at = 0, ++step;
      }
      state.step = step, state.at = at;
    }
    const begun = performance.now();
    this.refresh(!state.playing);
    document.body.dataset.frame = (performance.now() - begun).toFixed(2);
    this.frames = (this.frames ?? 0) + 1;
    document.body.dataset.frames = this.frames;
    this.write();
    if (state.playing) requestAnimationFrame((next) => this.tick(next));
  }

  // Selection, tool tips, dialogs.

  choose(what) {
    const { state } = this;
    if (state.comparing && what?.kind === "worm") what = null;
    const same = what && state.select && JSON.stringify(what) === JSON.stringify(state.select);
    state.set({ select: same ? null : what });
    if (state.select && innerWidth >= 1100) this.selection?.scrollIntoView({ block: "nearest" });
  }
  hovered(what, event) {
    const { network } = this, { play } = this.state;
    if (!what) {
      this.tip.hidden = true;
      return;
    }
    let text = "";
    if (what.kind === "node")
      text = `node ${network.name(what.node)}${
          network.dimensions.length > 1 ? ` (${network.coordinates(what.node).join(", ")})` : ""}${
          play.setOf(what.node) ? `: ${play.setOf(what.node).name}` : ""}`;
    else if (what.kind === "switch") text = `switch ${network.name(what.node)}`;
    else if (what.kind === "link") {
      const load = (link) =>
          (play.aggregate ?
               0 :
               play.step(Math.min(this.state.step, play.steps - 1)).load.get(link) ?? 0);
      const one = (link) => `${network.linkName(link)}${
          play.aggregate       ? "" :
              load(link) === 0 ? ", idle" :
                                 `, load ${load(link)}`}`;
      const bundle = network.bundle(what.link);
      text = bundle.length === 1 ?
          `link ${one(what.link)}` :
          `links ${bundle.map(one).join("; ")}${
              play.aggregate ?
                  "" :
                  `; ${
                      plural(
                          bundle.reduce((sum, link) => sum + load(link), 0), "message")} in all`}`;
    } else if (what.kind === "worm" && !this.state.comparing)
      text = `${network.name(play.from[what.message])} → ${
          network.name(play.to[what.message])}, ${bytes(play.bytes(what.message))}`;
    this.tip.textContent = text;
    this.tip.hidden = text === "";
    // A finger does not cover the tip.
    this.tip.style.left = `${
        clamp(event.clientX + (event.pointerType === "touch" ? -60 : 14), 4, innerWidth - 190)}px`;
    this.tip.style.top =
        `${event.pointerType === "touch" ? Math.max(4, event.clientY - 64) : event.clientY + 16}px`;
  }
  alone(i) {
    if (i < this.state.plays.length)
      this.state.set(
          { comparing: false, shown: i, step: 0, at: resting, playing: false, select: null });
  }
  compare(on) {
    if (this.state.plays.length > 1)
      this.state.set({ comparing: on, playing: false, select: null });
  }
  cycleTheme() {
    this.state.set({ theme: { "": "light", light: "dark", dark: "" }[this.state.theme] });
  }
  async copyLink() {
    this.write(true);
    try {
      await navigator.clipboard.writeText(location.href);
      this.toast("Link copied.");
    } catch { this.toast("Copy the link from the address bar."); }
  }
  toast(text) {
    this.live.textContent = text;
    this.tip.textContent = text;
    this.tip.hidden = false;
    this.tip.style.left = "50%";
    this.tip.style.top = "70px";
    setTimeout(() => { this.tip.hidden = true; }, 1800);
  }
  find() {
    const { state, network } = this, input = h("input", {
                                       type: "text",
                                       "aria-label": "find a node, a block or a link",
                                       placeholder: "27, 5>62 (block), 3->4 (link)"
                                     });
    const dialog = this.dialog("Find", [
      h("form", { method: "dialog", onsubmit: () => { this.choose(found(input.value)); } }, input)
    ]);
    const found = (text) => {
      const index = (name) => {
        for (let v = 0; v < network.nodes; ++v)
          if (network.name(v) === name) return v;
        return -1;
      };
      const link = /^\s*(\w+)\s*->\s*(\w+)\s*$/.exec(text),
            block = /^\s*(\w+)\s*>\s*(\w+)\s*$/.exec(text);
      if (link) {
        const l = network.linkOf(index(link[1]), index(link[2]));
        return l < 0 ? null : { kind: "link", link: l };
      }
      if (block) return chooseBlock(state.play, index(block[1]), index(block[2]));
      const node = index(text.trim());
      return node < 0 ? null : { kind: "node", node };
    };
    dialog.showModal();
    input.focus();
  }
  dialog(title, children) {
    document.querySelector("dialog")?.remove();
    const dialog = h("dialog", { "aria-label": title }, h("h2", {}, title), children);
    dialog.addEventListener("close", () => dialog.remove());
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close();
    });
    document.body.append(dialog);
    return dialog;
  }
  help() {
    const keys = [
      ["space", "play, pause"], ["← →", "previous, next step"],
      ["shift ← →", "previous, next phase"],
      ["home end", "first, last step"], ["[ ]", "slower, faster"], ["+ − 0", "zoom, fit"],
      ["l c a", "show links as worms or load; change the colours; load of this step or all steps"],
      ["b", "blocks by destination or origin"], ["/", "find: 27, 5>62 (block), 3->4 (link)"],
      ["tab, enter, arrows", "move between cards; inside the network, between nodes"],
      ["1 .. 4, v", "one algorithm; comparison"], ["d p", "theme; print"],
      ["esc", "clear the selection"]
    ];
    const made = this.data.provenance;
    const command =
        Array.isArray(made.command) ? made.command.join(" ") : String(made.command ?? "");
    this.dialog(
            "Keys",
            [
              h("table", {},
                h("tbody", {},
                  keys.map(
                      ([key, does]) =>
                          h("tr", {}, h("th", { scope: "row" }, h("kbd", {}, key)),
                            h("td", {}, does))))),
              h("p", { class: "caption command" }, `wormcube ${made.version ?? ""} · ${command}`),
              h("form", { method: "dialog" }, h("button", {}, "Close"))
            ])
        .showModal();
  }

  keys() {
    addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]"))
        return;
      const typing = event.target.closest?.("input, select, textarea");
      if (typing && !(typing.type === "range" && !event.key.startsWith("Arrow"))) return;
      const { state } = this, network = event.target.closest?.(".picture");
      const next = (key, values) =>
          state.set({ [key]: values[(values.indexOf(state[key]) + 1) % values.length] });
      const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
      if (network && document.activeElement === network && state.select?.kind === "node" &&
          moves[event.key] && !event.shiftKey) {
        event.preventDefault();
        return this.walk(...moves[event.key]);
      }
      const actions = {
        " ": () => this.toggle(),
        ArrowLeft: () => (event.shiftKey ? this.phaseBy(-1) : this.stepBy(-1)),
        ArrowRight: () => (event.shiftKey ? this.phaseBy(1) : this.stepBy(1)),
        Home: () => (state.byClock ? state.set({ clock: 0, playing: false }) : this.go(0)),
        End: () => (state.byClock ?
            state.set({ clock: this.end(), playing: false }) :
            state.set({ step: Math.max(0, state.play.steps - 1), at: 1, playing: false })),
        "[": () => this.faster(-1),
        "]": () => this.faster(1),
        "+": () => this.scenes.forEach(({ view }) => view.zoomBy(1.25)),
        "=": () => this.scenes.forEach(({ view }) => view.zoomBy(1.25)),
        "-": () => this.scenes.forEach(({ view }) => view.zoomBy(0.8)),
        0: () => this.scenes.forEach(({ view }) => view.fit()),
        l: () => next("links", ["worms", "load"]),
        c: () => next("colour", ["dimension", "sender", "receiver",
            ...(state.play.phases.length > 0 ? ["phase"] : [])]),
        a: () => next("load", ["step", "all"]),
        b: () => next("blocks", ["destination", "origin"]),
        "/": () => this.find(),
        d: () => this.cycleTheme(),
        p: () => print(),
        "?": () => this.help(),
        Escape: () => state.set({ select: null }),
        v: () => this.compare(!state.comparing),
        1: () => this.alone(0),
        2: () => this.alone(1),
        3: () => this.alone(2),
        4: () => this.alone(3),
        Enter: () => {
          if (network && document.activeElement === network)
            state.set({ select: state.select ?? { kind: "node", node: 0 } });
          else
            return false;
          return true;
        },
      };
      const action = Object.hasOwn(actions, event.key) ? actions[event.key] : null;
      if (!action) return undefined;
      if (event.key === " " && event.target.closest?.("button") &&
          !event.target.closest("[data-control=play]"))
        return undefined;
      if (action() !== false || event.key !== "Enter") event.preventDefault();
      return undefined;
    });
  }
  /** Selects the nearest node in a direction from the selected one. */
  walk(dx, dy) {
    const { network, state } = this, at = state.select.node;
    let best = -1, least = Infinity;
    for (let v = 0; v < network.nodes; ++v) {
      const x = network.x[v] - network.x[at], y = network.y[v] - network.y[at],
            on = x * dx + y * dy, aside = Math.abs(x * dy - y * dx);
      if (on <= 0.5) continue;
      const away = on + 2.5 * aside;
      if (away < least) least = away, best = v;
    }
    if (best >= 0) state.set({ select: { kind: "node", node: best } });
  }

  // The address is written at most four times a second.

  write(now = false) {
    if (this.writing && !now) return;
    this.writing = true;
    const put = () => {
      this.writing = false;
      const fragment = fragmentOf(this.state);
      if (fragment === location.hash) return;
      this.written = fragment;
      try {
        history.replaceState(null, "", fragment);
      } catch { /* a page in a frame without an address */
      }
    };
    now ? put() : setTimeout(put, 250);
  }

  // Print shows the figures, and up to 12 steps as small multiples, of each shown algorithm.

  makePrint() {
    document.getElementById("print")?.remove();
    const { state } = this, drawn = [];
    const sections =
        (state.comparing ? state.plays : [state.play]).map((play) => this.printed(play, drawn));
    document.body.append(h("div", { id: "print" }, sections));
    // Colours can only be computed for elements in the document.
    const { theme } = document.documentElement.dataset, column = 1000;
    document.documentElement.dataset.theme = "light";
    for (const [t, view] of drawn) {
      view.options = { links: "worms", colour: "dimension", load: "step" };
      view.print(t, resting, column);
    }
    document.documentElement.dataset.theme = theme;
  }
  /** An algorithm on paper. \param drawn  gets its pictures: [step, view] */
  printed(play, drawn) {
    const { state, network } = this;
    let steps = Array.from({ length: play.steps }, (_, t) => t);
    if (steps.length > 12)
      steps = play.phases.length > 0 ? play.phases.map((phase) => phase.first).slice(0, 12) :
                                       steps.slice(0, 12);
    if (play.aggregate) steps = [0];
    const pictures = steps.map((t) => {
      const scene = new Scene(
          {...state, select: null, comparing: false, links: "worms", load: "step" }, play,
          { choose() {}, hover() {} });
      const phase = play.phase(t), c = play.check;
      return h(
          "figure", {},
          h("figcaption", {}, h("b", {}, `step ${t} `),
            `${phase >= 0 ? `${play.phases[phase].name} · ` : ""}${
                play.aggregate ? "link load over all steps" :
                                 `${plural(play.worms(t), "worm")} of ${
                                     plural(c.step_bytes[t] / play.blockBytes, "block")} · load ${c.step_load[t]}`}`),
          drawn.push([t, scene.view]) && scene.view.element);
    });
    const made = this.data.provenance,
          command =
              Array.isArray(made.command) ? made.command.join(" ") : String(made.command ?? "");
    return h(
        "section", {}, h("h1", {}, `${play.operation} on ${crossed(network.text)}, ${play.algorithm}`),
        h("p", {},
          [
            play.json.source, play.json.ports === "all" ? "all ports" : "one port",
            `blocks of ${bytes(play.blockBytes)}`,
            play.check.delivered ? "delivery proved" : "delivery not proved",
            play.check.deadlock_free ? "deadlock-free" : "can deadlock"
          ].join(" · ")),
        h("p", {}, play.json.explanation),
        play.phases.filter(({ explanation }) => explanation)
            .map(({ name, explanation }) => h("p", {}, h("b", {}, `${name}: `), explanation)),
        figuresCard(play.check)[1].cloneNode(true), h("div", { class: "pictures" }, pictures),
        h("div", { class: "legend" },
          legend([play], { links: "worms", colour: "dimension", load: "step", select: null })),
        h("p", { class: "caption command" },
          `wormcube ${made.version ?? ""} · ${command} · ${
              steps.length < play.steps ?
                  `${steps.length} of ${play.steps} steps · ` :
                  ""}a worm ends at its arrow; grey: idle link; ` +
              "the number at a stub is the node at its other end"));
  }
}

async function start() {
  const data = JSON.parse(document.getElementById("wormcube").textContent);
  const network = await Network.from(data.network);
  const plays = [];
  for (const play of data.plays) plays.push(await Play.from(play, network, data.cost));
  const page = new Page(data, network, plays);
  document.body.dataset.ready = "1";
  return page;
}
start().catch((error) => {
  document.body.append(
      h("p", { class: "failed", role: "alert" },
        `Cannot read this page's data: ${error.message}`));
  throw error;
});
