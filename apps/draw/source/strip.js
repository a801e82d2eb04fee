// The strip of steps: one box per step, or a time axis.
// SPDX-License-Identifier: Apache-2.0
import {figure, plural, stepText, svg} from "./dom.js";
import {loadColour} from "./view.js";

/** Space at both ends for the frame around the first and the last step. */
const edge = 5;
/** Boxes wider than this many pixels have a caption, as long as fits. */
const captioned = 90, letter = 5.4;
let strips = 0;

export class Strip {
  constructor(play, scrub) {
    this.play = play, this.hatch = `strip-hatch-${++strips}`;
    this.element = svg("svg", {
      class: "strip",
      role: "slider",
      tabindex: -1,
      "aria-label": "step",
      "aria-valuemin": 0,
      "aria-valuemax": Math.max(0, play.steps - 1)
    });
    let held = false;
    const at = (event) => {
      const box = this.element.getBoundingClientRect();
      scrub(this.invert(event.clientX - box.left));
    };
    this.element.addEventListener("pointerdown", (event) => {
      held = true;
      this.element.setPointerCapture?.(event.pointerId);
      at(event);
    });
    this.element.addEventListener("pointermove", (event) => {
      if (held) at(event);
    });
    for (const type of ["pointerup", "pointercancel"])
      this.element.addEventListener(type, () => { held = false; });
  }
  /** Boxes have equal width, or the times [{start, end, work}] on a common axis. */
  layout(width, times = null, total = 1) {
    this.width = width, this.total = total;
    const inner = width - 2 * edge;
    const n = Math.max(1, this.play.steps), gap = n > 300 || times ? 0 : Math.min(4, inner / n / 5);
    this.boxes = [];
    for (let t = 0; t < this.play.steps; ++t) {
      if (times)
        this.boxes.push({
          x: edge + (inner * times[t].start) / total,
          w: Math.max(1, (inner * (times[t].end - times[t].start)) / total),
          work: edge + (inner * times[t].work) / total
        });
      else this.boxes.push({ x: edge + (inner * t) / n + gap / 2, w: inner / n - gap, work: null });
    }
    this.times = times;
    if (times) {
      const { work, start } = times[this.play.steps], at = (t) => edge + (inner * t) / total;
      this.last = { work: at(work), x: at(start) };
    }
    this.draw();
  }
  /** A place on the strip: the time on a common axis, or a step and the moment in it. */
  invert(x) {
    if (this.times)
      return { clock: Math.max(0, ((x - edge) * this.total) / (this.width - 2 * edge)) };
    for (let t = this.boxes.length - 1; t >= 0; --t) {
      const box = this.boxes[t];
      if (x >= box.x || t === 0)
        return { step: t, at: Math.max(0, Math.min(0.999, (x - box.x) / Math.max(1, box.w))) };
    }
    return { step: 0, at: 0.55 };
  }
  draw() {
    const { play, width } = this, c = play.check;
    const top = this.times     ? 9 :
        play.phases.length > 0 ? 24 :
                                 10,
          full = this.times ? 20 : 34, bottom = top + full, height = bottom + 20;
    this.element.setAttribute("width", width), this.element.setAttribute("height", height);
    this.element.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const most = c.step_bytes.reduce((a, b) => Math.max(a, b), 1);
    const marks = [];
    const phases = this.times ? [] : play.phases;
    phases.forEach((phase, i) => {
      const x0 = this.boxes[phase.first].x,
            last = this.boxes[Math.min(phase.last, this.boxes.length - 1)], x1 = last.x + last.w;
      const letters = Math.floor((x1 - x0) / 6.8), text = `${i + 1} ${phase.name}`;
      marks.push(svg("path", {
        d: `M${x0 + 1} ${top - 3}V${top - 6}H${x1 - 1}V${top - 3}`,
        class: "bracket",
        stroke: `var(--dim-${i % 6})`
      }));
      if (letters >= 2)
        marks.push(
            svg("text", { x: x0 + 1, y: top - 10, class: "phase" },
                text.length > letters ? text.slice(0, Math.max(1, letters - 1)) + "…" : text,
                svg("title", {}, phase.name)));
    });
    this.rects = [];
    if (this.boxes.length > 300 && !this.times) {
      const areas = new Map();  // by colour
      this.boxes.forEach((box, t) => {
        const colour = loadColour(Math.max(1, c.step_load[t]));
        areas.set(
            colour,
            `${areas.get(colour) ?? ""}M${box.x.toFixed(2)} ${bottom}V${
                (bottom - (full * c.step_bytes[t]) / most).toFixed(1)}H${
                (box.x + box.w).toFixed(2)}V${bottom}Z`);
      });
      for (const [fill, d] of areas) marks.push(svg("path", { d, class: "area", fill }));
    }
    const roomy = this.boxes.every((each) => each.w > 20),
          pitch = (width - 2 * edge) / Math.max(1, this.boxes.length);
    const every = roomy ? 1 : [10, 20, 50, 100].find((n) => n * pitch > 32) ?? 100;
    let free = 0;  // where the last number ends
    const fits = (box, texts) => texts.find((text) => letter * text.length < box.w - 6) ?? "";
    const caption = (t) =>
        (play.aggregate ?
             "" :
             `${plural(play.worms(t), "worm")} · ${
                 plural(c.step_bytes[t] / play.blockBytes, "block")}`);
    const work = (box) => {
      if (box.x - box.work <= 0.8) return;
      marks.push(svg("rect", {
        x: box.work,
        y: top + full * 0.5,
        width: box.x - box.work,
        height: full * 0.4,
        class: "work",
        fill: `url(#${this.hatch})`
      }));
    };
    this.boxes.forEach((box, t) => {
      if (this.boxes.length > 300 && !this.times) return;
      const idle = c.step_bytes[t] === 0 && (play.aggregate || play.worms(t) === 0);
      const ground =
          svg("rect", {
            x: box.x,
            y: top,
            width: Math.max(0.5, box.w),
            height: full,
            rx: Math.min(4, box.w / 3),
            class: idle ? "ground idle" : "ground",
            fill: idle ? `url(#${this.hatch})` : null
          },
              svg("title", {}, `step ${t}: ${caption(t)}, load ${c.step_load[t]}`));
      const inside = box.w > captioned && !this.times && !play.aggregate ?
          fits(box, [caption(t), plural(play.worms(t), "worm")]) :
          "";
      const room = inside ? full - 14 : full - 2;
      const high = Math.max(idle ? 0 : 1.5, room * (c.step_bytes[t] / most));
      const rect = svg("rect", {
        x: box.x + (box.w > 8 ? 3 : 0),
        y: bottom - 1 - high,
        width: Math.max(0.5, box.w - (box.w > 8 ? 6 : 0)),
        height: high,
        rx: box.w > 8 ? 2 : 0,
        class: "bar",
        fill: loadColour(Math.max(1, c.step_load[t])),
        "data-step": t
      });
      if (this.times) work(box);
      marks.push(ground, rect);
      this.rects.push(rect);
      if (inside)
        marks.push(svg("text", { x: box.x + box.w / 2, y: top + 10, class: "inside" }, inside));
      const middle = box.x + box.w / 2, half = 3.5 * String(t).length;
      if (t % every !== 0 || middle - half < free) return;
      free = middle + half + 3;
      marks.push(svg(
          "text", { x: middle, y: bottom + 15, class: "step-number", "data-step": t }, figure(t)));
    });
    if (this.times) work(this.last);
    this.current = svg("rect", { class: "current", rx: 6, y: top - 2, height: full + 4 });
    this.playhead = svg("path", { class: "playhead" });
    this.knob = svg("circle", { class: "knob", r: 4.5, cy: top - 4 });
    const hatch =
        svg("defs", {},
            svg("pattern", {
              id: this.hatch,
              width: 4,
              height: 4,
              patternUnits: "userSpaceOnUse",
              patternTransform: "rotate(45)"
            },
                svg("rect", { width: 1.4, height: 4, class: "stripe" })));
    this.element.replaceChildren(hatch, ...marks, this.current, this.playhead, this.knob);
    this.top = top, this.bottom = bottom;
  }
  /** \param place  {step, at}, and on a common axis {clock, working} */
  show({ step, at, clock, working }) {
    const box = this.boxes[Math.min(step, this.boxes.length - 1)];
    if (!box) return;
    const inner = this.width - 2 * edge,
          x = this.times           ? edge + inner * Math.min(1, clock / this.total) :
        step >= this.boxes.length ? box.x + box.w :
                                    box.x + at * box.w;
    const gap = step < this.boxes.length ? box : this.last,
          [from, to] = working ? [gap.work, gap.x] : [box.x, box.x + box.w];
    this.current.setAttribute("x", from - 1),
        this.current.setAttribute("width", Math.max(3, to - from + 2));
    this.knob.setAttribute("cx", x);
    this.playhead.setAttribute("d", `M${x} ${this.bottom - 12}v14`);
    const begun = working ? step - 1 : step, mark = `${step} ${begun}`;
    if (this.marked !== mark) {
      this.rects.forEach((rect, t) => rect.setAttribute("opacity", t <= begun ? 0.95 : 0.45));
      for (const text of this.element.querySelectorAll(".step-number"))
        text.classList.toggle("now", !working && Number(text.dataset.step) === step);
      this.marked = mark;
      this.element.setAttribute("aria-valuenow", Math.min(step, this.play.steps - 1));
      this.element.setAttribute(
          "aria-valuetext", stepText(Math.min(step, this.play.steps - 1), this.play.steps));
    }
  }
}
