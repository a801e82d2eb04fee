// Tests the pages in a real browser: they show the same figures as the program's other output.
//
//   node pages.mjs PROGRAM BROWSER [--plugins FOLDER] [CASE..]
//
// FOLDER has the plugins built from tests/browser/hostile.cpp; without it their tests are skipped.
// Needs puppeteer-core and axe-core from apps/draw (npm ci there); without them it reports that and is skipped.
// SPDX-License-Identifier: Apache-2.0
import { execFileSync, spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const [, , programPath = "", browserPath, ...rest] = process.argv, program = resolve(programPath);
const flag = rest.indexOf("--plugins"), plugins = flag < 0 ? null : resolve(rest[flag + 1]), wanted = rest.filter((_, i) => flag < 0 || (i !== flag && i !== flag + 1));
const draw = resolve(dirname(fileURLToPath(import.meta.url)), "../../apps/draw");
const require = createRequire(join(draw, "package.json"));
let puppeteer, axe;
try {
  puppeteer = (await import(pathToFileURL(require.resolve("puppeteer-core")).href)).default;
  axe = readFileSync(require.resolve("axe-core"), "utf8");
} catch {
  console.log("skipped: puppeteer-core and axe-core are missing; run npm ci in apps/draw");
  process.exit(0);
}
if (!browserPath || !existsSync(browserPath)) {
  console.log("skipped: no browser; install chromium");
  process.exit(0);
}

const folder = mkdtempSync(join(tmpdir(), "wormcube-pages-"));
const run = (...args) => execFileSync(program, args, { encoding: "utf8", maxBuffer: 1 << 28, cwd: folder });
let failures = 0, checks = 0;
function expect(what, differences) {
  ++checks;
  const list = Array.isArray(differences) ? differences : differences ? [differences] : [];
  if (list.length === 0) return;
  ++failures;
  console.log(`FAILED: ${what}\n  ${list.slice(0, 6).join("\n  ")}${list.length > 6 ? `\n  .. (${list.length} in all)` : ""}`);
}
const differ = (what, found, wantedValue) => (JSON.stringify(found) === JSON.stringify(wantedValue) ? [] : [`${what}: ${JSON.stringify(found)}, not ${JSON.stringify(wantedValue)}`]);

const browser = await puppeteer.launch({
  executablePath: browserPath, headless: true, userDataDir: join(folder, "profile"),
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

/** Opens a file as a page. Any console output or request is a failure. */
async function open(file, { fragment = "", width = 1440, height = 900, dark = false, still = true, script = true, before = null, touch = false } = {}) {
  const page = await browser.newPage();
  const noise = [];
  page.on("console", (message) => noise.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => noise.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => { noise.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => { if (!request.url().startsWith(pathToFileURL(folder).href) && !request.url().startsWith("data:")) noise.push(`request: ${request.url()}`); });
  await page.setViewport({ width, height, hasTouch: touch });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }, { name: "prefers-reduced-motion", value: still ? "reduce" : "no-preference" }]);
  await page.setJavaScriptEnabled(script);
  if (before) await page.evaluateOnNewDocument(before);
  await page.goto(pathToFileURL(join(folder, file)).href + fragment);
  if (script) await page.waitForSelector("body[data-ready]", { timeout: 60000 });
  return { page, noise };
}
/** The findings of axe in a page that has loaded it. */
const findings = () => axe.run({ resultTypes: ["violations"] }).then(({ violations }) => violations.map((violation) => `${violation.id}: ${violation.nodes.slice(0, 3).map((node) => node.html.slice(0, 120)).join(" | ")}`));
const set = (page, fragment) => page.evaluate((text) => { location.hash = text; return new Promise((done) => { addEventListener("hashchange", () => requestAnimationFrame(() => requestAnimationFrame(done)), { once: true }); }); }, fragment);

// Reads the contents of a page from its elements.

const readFigures = (page) => page.$$eval("tr[data-figure]", (rows) => Object.fromEntries(rows.map((row) => [row.dataset.figure, [...row.querySelectorAll("td")].map((cell) => cell.textContent.replace(/[\u202f\s]/g, ""))])));
const readStep = (page) => page.evaluate(() => {
  const names = new Map([...document.querySelectorAll("[data-name]")].map((lane) => [lane.dataset.link, lane.dataset.name]));
  return {
    worms: [...document.querySelectorAll("g.worm")].map((worm) => ({ from: Number(worm.dataset.from), to: Number(worm.dataset.to), bytes: Number(worm.dataset.bytes), route: worm.dataset.links === "" ? [] : worm.dataset.links.split(" ").map(Number), channels: worm.dataset.channels === "" ? [] : worm.dataset.channels.split(" ").map(Number), drawn: worm.querySelectorAll("path").length })),
    loads: Object.fromEntries([...document.querySelectorAll("g.load-number")].map((number) => [number.dataset.link, Number(number.querySelector("text").textContent)])),
    names: Object.fromEntries(names),
  };
});

const shown = (value) => (value === null || value === undefined ? "–" : String(Number.isInteger(value) || Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(4))));
function compareFigures(found, check) {
  // The bound on transmission is a time with contention, so it stands beside the busiest link's blocks where links are shared.
  const bound = check.lower_bound.transmission_blocks, shared = shown(check.link_blocks) !== shown(check.transmission_blocks);
  const rows = { "start-ups": ["startups", check.formulas.startups, check.lower_bound.startups], "transmission, blocks": ["transmission_blocks", check.formulas.transmission_blocks, shared ? null : bound], ...(shared ? { "busiest link, blocks": ["link_blocks", check.formulas.link_blocks, bound] } : {}), "rearranged, blocks": ["rearranged_blocks", check.formulas.rearranged_blocks, null], "highest link load": ["link_load_max", check.formulas.link_load, 1] };
  const result = [];
  for (const [name, [key, formula, lowest]] of Object.entries(rows)) {
    const cells = found[name] ?? [];
    result.push(...differ(`${name}, counted`, cells[0], shown(check[key])));
    result.push(...differ(`${name}, formula`, cells[1]?.replace(/[=≈≠]/, ""), formula === null || formula === undefined ? "none" : shown(formula)));
    if (cells[1]?.endsWith("=") !== (shown(formula) === cells[0])) result.push(`${name}: counted ${cells[0]}, formula ${cells[1]}`);
    result.push(...differ(`${name}, bound`, cells[2], shown(lowest)));
    if (lowest > 0 && name !== "highest link load" && parseFloat(cells[3]) < 0.995) result.push(`${name}: a bound is beaten: ${cells[3]}`);
  }
  return result;
}
function compareStep(found, step) {
  const worms = step.messages.map((message) => ({ from: message.from, to: message.to, bytes: message.bytes, route: message.route.map((hop) => hop.link), channels: message.route.map((hop) => hop.virtual_channel) }));
  const result = differ("worms", found.worms.map(({ drawn, ...worm }) => worm), worms);
  result.push(...differ("loads", found.loads, Object.fromEntries(step.links.filter((link) => link.messages > 1).map((link) => [link.link, link.messages]))));
  for (const worm of found.worms) if (worm.drawn === 0) result.push(`worm ${worm.from} -> ${worm.to} is not drawn`);
  for (const link of step.links) {
    const name = link.link_name.replace("->", "→");
    if (/^\d+→\d+$/.test(name) && found.names[link.link] && /^\d+→\d+$/.test(found.names[link.link])) result.push(...differ(`name of link ${link.link}`, found.names[link.link], name));
  }
  return result;
}

// Pictures as numbers: the places of nodes, and the lines of links and worms.

const pointsOf = (d) => [...d.matchAll(/(-?[\d.]+) (-?[\d.]+)/g)].map(([, x, y]) => [Number(x), Number(y)]);
const polylines = (d) => d.split("M").filter(Boolean).map((part) => pointsOf(`M${part}`));
const readDrawing = (page) => page.evaluate(() => {
  const all = (selector, f) => [...document.querySelectorAll(selector)].map(f);
  return {
    nodes: Object.fromEntries(all(".node .box", (box) => [box.parentNode.dataset.node, [Number(box.getAttribute("x")) + Number(box.getAttribute("width")) / 2, Number(box.getAttribute("y")) + Number(box.getAttribute("height")) / 2]])),
    lanes: all(".lane:not(.left-out)", (lane) => lane.getAttribute("d")),
    bands: all(".band", (band) => band.getAttribute("d")),
    worms: all("g.worm .body", (path) => [`${path.parentNode.dataset.from}>${path.parentNode.dataset.to}`, path.getAttribute("d")]),
    heads: all("g.worm .head", (path) => path.getAttribute("d")),
    bars: all(".node .bar", (bar) => [bar.parentNode.dataset.node, ...["x", "y", "width"].map((name) => Number(bar.getAttribute(name)))]).filter(([, , , width]) => width > 0),
    numbers: all("g.load-number text", (text) => [text.textContent, [Number(text.getAttribute("x")), Number(text.getAttribute("y"))]]),
  };
});
function readStill(text) {
  const tags = [...text.matchAll(/<(path|rect|text)\b([^>]*)>([^<]*)/g)].map(([, name, rest, content]) => ({ name, content, ...Object.fromEntries([...rest.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, key, value]) => [key, value])) }));
  const of = (kind) => tags.filter((tag) => tag.class === kind);
  return {
    nodes: Object.fromEntries(tags.filter((tag) => tag["data-node"] !== undefined).map((tag) => [tag["data-node"], [Number(tag.x) + Number(tag.width) / 2, Number(tag.y) + Number(tag.height) / 2]])),
    lanes: of("lanes").map((tag) => tag.d), bands: of("band").map((tag) => tag.d), heads: of("head").map((tag) => tag.d),
    bars: of("held").map((tag) => [tag["data-of"], Number(tag.x), Number(tag.y), Number(tag.width)]),
    worms: of("worm").map((tag) => [`${tag["data-from"]}>${tag["data-to"]}`, tag.d]), numbers: of("load").map((tag) => [tag.content, [Number(tag.x), Number(tag.y)]]),
  };
}
/** Differences apart from the scale and the place of the whole picture; both round to tenths. */
function compareDrawings(page, still) {
  const names = Object.keys(page.nodes);
  if (JSON.stringify(Object.keys(still.nodes)) !== JSON.stringify(names)) return ["other nodes"];
  const mean = (of, axis) => names.reduce((sum, name) => sum + of[name][axis], 0) / names.length;
  const middles = [page.nodes, still.nodes].map((of) => [mean(of, 0), mean(of, 1)]);
  const spread = (of, [x, y]) => Math.sqrt(names.reduce((sum, name) => sum + (of[name][0] - x) ** 2 + (of[name][1] - y) ** 2, 0));
  const scale = spread(still.nodes, middles[1]) / spread(page.nodes, middles[0]);
  const moved = ([x, y]) => [(x - middles[1][0]) / scale + middles[0][0], (y - middles[1][1]) / scale + middles[0][1]];
  const apart = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]), near = 0.1 + 0.2 / scale, found = [];
  for (const name of names) if (apart(page.nodes[name], moved(still.nodes[name])) > near) found.push(`node ${name} lies elsewhere`);
  const sameLine = (a, b) => a.length === b.length && a.every((point, i) => apart(point, moved(b[i])) <= near);
  const compare = (what, ours, theirs, same) => {
    const left = [...theirs];
    for (const one of ours) {
      const i = left.findIndex((other) => same(one, other));
      if (i < 0) found.push(`${what} ${JSON.stringify(one)} is not in the still`);
      else left.splice(i, 1);
    }
    if (left.length > 0) found.push(`${what}: ${left.length} more in the still`);
  };
  const flat = (paths) => paths.flatMap(polylines);
  for (const what of ["lanes", "bands", "heads"]) compare(what, flat(page[what]), flat(still[what]), sameLine);
  compare("worms", page.worms.map(([name, d]) => [name, polylines(d)]), still.worms.map(([name, d]) => [name, polylines(d)]), ([a, ours], [b, theirs]) => a === b && ours.length === theirs.length && ours.every((line, i) => sameLine(line, theirs[i])));
  compare("bars", page.bars, still.bars, ([a, x, y, width], [b, otherX, otherY, otherWidth]) => a === b && apart([x, y], moved([otherX, otherY])) <= near && Math.abs(width - otherWidth / scale) <= near);
  compare("numbers", page.numbers, still.numbers, ([a, at], [b, other]) => a === b && apart(at, moved(other)) <= near);
  return found;
}

/**
 * The keyboard stops from the beginning of a page until the focus leaves it: each element's number in the document, its position, and its
 * failure: it does not change when focused, or lies outside the window. Also returns all elements that can be reached.
 */
async function keyboardStops(page, key) {
  const back = key.startsWith("Shift+");
  const wantedStops = await page.evaluate((fromEnd) => {
    document.activeElement?.blur?.();
    scrollTo(0, 0);
    const all = [...document.querySelectorAll("*")];
    all.forEach((element, i) => { element.__number = i; });
    // The keyboard focus starts at the last click: at the beginning, or at the end.
    const mark = document.createElement("span");
    mark.tabIndex = -1;
    fromEnd ? document.body.append(mark) : document.body.prepend(mark);
    mark.focus(), mark.remove();
    const seen = (element) => element.checkVisibility({ visibilityProperty: true }) && !element.closest("dialog:not([open]), #print, noscript");
    return all.filter((element) => (element.matches("a[href], button, input, select, textarea, summary, [tabindex]") && element.tabIndex >= 0) || element.matches("button, input, select")).filter((element) => !element.disabled && seen(element)).map((element) => element.__number);
  }, back);
  const stops = [], picture = () => page.screenshot({ encoding: "base64" });  // of the visible part
  for (let i = 0; i < wantedStops.length + 3; ++i) {
    if (back) await page.keyboard.down("Shift");
    await page.keyboard.press("Tab");
    if (back) await page.keyboard.up("Shift");
    const at = await page.evaluate(() => {
      const element = document.activeElement;
      if (!element || element === document.body || element.__number === undefined) return null;
      const box = element.getBoundingClientRect(), { outlineWidth, outlineStyle } = getComputedStyle(element);
      return { number: element.__number, name: element.getAttribute("aria-label") ?? element.textContent.trim().slice(0, 30), tag: element.localName, left: box.left, top: box.top, width: box.width, height: box.height, x: box.left + scrollX, y: box.top + scrollY, outline: outlineStyle === "none" ? 0 : parseFloat(outlineWidth), card: [...document.querySelectorAll("header, .card, figure, section")].findIndex((card) => card.contains(element)) };
    });
    if (!at || at.number === stops[0]?.number) break;
    stops.push(at);
    if (back) continue;
    const { width, height } = page.viewport(), clip = { x: Math.max(0, at.left - 6), y: Math.max(0, at.top - 6) };
    clip.width = Math.min(width, at.left + at.width + 6) - clip.x, clip.height = Math.min(height, at.top + at.height + 6) - clip.y;
    for (const key of ["x", "y"]) clip[key] = Math.floor(clip[key]);
    for (const key of ["width", "height"]) clip[key] = Math.ceil(clip[key]);
    if (clip.width < 8 || clip.height < 8) { at.failure = "outside of the window"; continue; }
    const held = await picture();
    await page.evaluate(() => { const element = document.activeElement; window.__held = element; element.style.setProperty("outline", "none", "important"); });
    const bare = await picture();
    await page.evaluate(() => window.__held.style.removeProperty("outline"));
    const changed = await page.evaluate(async (a, b, { x, y, width, height }) => {
      const pixels = async (data) => {
        const image = new Image();
        image.src = `data:image/png;base64,${data}`;
        await image.decode();
        const canvas = Object.assign(document.createElement("canvas"), { width, height }), context = canvas.getContext("2d");
        context.drawImage(image, -x, -y);
        return context.getImageData(0, 0, width, height).data;
      };
      const first = await pixels(a), second = await pixels(b), light = (data, i) => { const part = (c) => { const v = c / 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }; return 0.2126 * part(data[i]) + 0.7152 * part(data[i + 1]) + 0.0722 * part(data[i + 2]); };
      let count = 0;
      for (let i = 0; i < first.length; i += 4) {
        const l = light(first, i), m = light(second, i);
        if ((Math.max(l, m) + 0.05) / (Math.min(l, m) + 0.05) >= 3) ++count;  // required by WCAG for a visible focus
      }
      return count;
    }, held, bare, clip);
    // The ring is two pixels wide along the visible edges; most of it must be visible.
    const inside = (value, end) => value >= -2 && value <= end + 2;
    const edges = clip.width * (inside(at.top, height) + inside(at.top + at.height, height)) + clip.height * (inside(at.left, width) + inside(at.left + at.width, width));
    if (at.outline < 2) at.failure = `an outline of ${at.outline} px`;
    else if (changed < 1.2 * edges || edges === 0) at.failure = `${changed} pixels show it, of ${Math.round(2 * edges)}`;
  }
  return { stops, wanted: wantedStops };
}
/** Stops out of order: cards follow the document's order, stops in a card go by line from left to right. */
const disorder = (stops) => stops.slice(1).flatMap((at, i) => {
  const last = stops[i], line = at.y >= last.y + last.height - 1 || last.y >= at.y + at.height - 1;
  const before = at.number < last.number || (at.card === last.card && (line ? at.y < last.y : at.x < last.x));
  return before ? [`${at.name} after ${last.name}`] : [];
});

/** Visible words that overlap others, and nodes that lie on links of other nodes. */
function findCollisions() {
  const found = [], texts = [];
  const clipped = (box, element) => {
    let { left, top, right, bottom } = box;
    for (let at = element; at && at !== document.documentElement; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.visibility === "hidden" || (style.clipPath !== "none" && at.classList.contains("hidden"))) return null;
      if (style.overflowX === "visible" && style.overflowY === "visible") continue;
      const edge = at.getBoundingClientRect();
      left = Math.max(left, edge.left), top = Math.max(top, edge.top), right = Math.min(right, edge.right), bottom = Math.min(bottom, edge.bottom);
    }
    return right - left > 0.5 && bottom - top > 0.5 ? { left, top, right, bottom } : null;
  };
  // Fixed elements lie above the page, which scrolls below them.
  const layerOf = (element) => {
    for (let at = element; at; at = at.parentElement) if (getComputedStyle(at).position === "fixed") return at;
    return null;
  };
  // Line boxes are higher than their letters.
  const add = (text, element, box, size) => {
    const middle = (box.top + box.bottom) / 2, half = Math.min(box.bottom - box.top, 0.72 * size) / 2;
    const seen = box.width > 0 && clipped({ left: box.left + 0.3, right: box.right - 0.3, top: middle - half, bottom: middle + half }, element);
    if (seen) texts.push({ ...seen, text: text.trim(), element, fixed: layerOf(element) });
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.textContent.trim() || element.closest("script, style, noscript, title, option, .tip, dialog, #print")) continue;
    const svg = element.ownerSVGElement, range = document.createRange();
    range.selectNodeContents(node);
    const scale = svg ? Math.abs(svg.getScreenCTM().a) : 1, size = parseFloat(getComputedStyle(element).fontSize) * scale;
    for (const box of range.getClientRects()) add(node.textContent, element, box, size);
  }
  for (let i = 0; i < texts.length; ++i) {
    for (let j = 0; j < i; ++j) {
      const a = texts[i], b = texts[j];
      if (a.element !== b.element && a.fixed === b.fixed && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom) found.push(`"${a.text.slice(0, 40)}" (${a.element.getAttribute("class") ?? a.element.localName}) lies on "${b.text.slice(0, 40)}" (${b.element.getAttribute("class") ?? b.element.localName})`);
    }
  }
  const nodes = [...document.querySelectorAll("svg.network .node")].map((node) => {
    const box = node.querySelector(".box"), circle = node.querySelector("circle"), of = (element, name) => Number(element.getAttribute(name));
    const name = box ? (node.querySelector("text")?.textContent ?? "") : node.querySelector("title").textContent;
    return box ? { name, x: of(box, "x") + of(box, "width") / 2, y: of(box, "y") + of(box, "height") / 2, r: of(box, "width") / 2, square: true } : { name, x: of(circle, "cx"), y: of(circle, "cy"), r: of(circle, "r"), square: false };
  });
  const names = new Set(nodes.map(({ name }) => name));
  let lanes = 0;
  for (const lane of document.querySelectorAll("svg.network .lane")) {
    const ends = lane.dataset.name.split("→"), half = Number(lane.getAttribute("stroke-width")) / 2;
    if (!ends.every((name) => names.has(name))) found.push(`link ${lane.dataset.name} joins a missing node`);
    ++lanes;
    const length = lane.getTotalLength(), on = new Set();
    for (let at = 0; at <= length; at += 1.5) {
      const { x, y } = lane.getPointAtLength(at);
      for (const node of nodes) {
        if (ends.includes(node.name)) continue;
        const away = node.square ? Math.max(Math.abs(x - node.x), Math.abs(y - node.y)) : Math.hypot(x - node.x, y - node.y);
        if (away < node.r + half) on.add(node.name);
      }
    }
    for (const name of on) found.push(`node ${name} lies on link ${lane.dataset.name}`);
  }
  return { found, texts: texts.length, nodes: nodes.length, lanes };
}

/**
 * Finds worms off the lanes of their routes, stubs with a wrong number, cables whose two lanes cross, and links that are not drawn exactly
 * once.
 */
function findStrays() {
  const found = [], number = (text) => Number(text), lanes = new Map();
  const polylines = (d) => d.split("M").filter(Boolean).map((part) => [...part.matchAll(/(-?[\d.]+) (-?[\d.]+)/g)].map(([, x, y]) => [number(x), number(y)]));
  for (const lane of document.querySelectorAll("svg.network .lane")) {
    const link = number(lane.dataset.link);
    if (lanes.has(link)) found.push(`link ${lane.dataset.name} is drawn twice`);
    lanes.set(link, { name: lane.dataset.name, lines: polylines(lane.getAttribute("d")), width: number(lane.getAttribute("stroke-width")) });
  }
  const away = ([px, py], [[ax, ay], [bx, by]]) => {
    const dx = bx - ax, dy = by - ay, t = Math.max(0, Math.min(1, ((px - ax) * dx + (py - ay) * dy) / Math.max(1e-9, dx * dx + dy * dy)));
    return Math.hypot(px - ax - t * dx, py - ay - t * dy);
  };
  const pieces = (line) => line.slice(1).map((point, i) => [line[i], point]);
  const nodes = [...document.querySelectorAll("svg.network .node")].map((node) => {
    const box = node.querySelector(".box, circle"), of = (name) => number(box.getAttribute(name));
    return box.localName === "rect" ? { x: of("x") + of("width") / 2, y: of("y") + of("height") / 2, r: of("width") / 2 } : { x: of("cx"), y: of("cy"), r: of("r") / 0.72 };
  });
  let points = 0;
  for (const worm of document.querySelectorAll("g.worm")) {
    const route = worm.dataset.links === "" ? [] : worm.dataset.links.split(" ").map((link) => lanes.get(number(link)));
    if (route.length === 0) continue;
    const own = route.flatMap(({ lines }) => lines.flatMap(pieces)), ends = new Set(route.flatMap(({ name }) => name.split("→")));
    const under = [...document.querySelectorAll("svg.network .node")].map((node, i) => [node, nodes[i]]).filter(([node]) => ends.has(node.querySelector("text") ? node.querySelector("text").textContent : node.querySelector("title").textContent)).map(([, node]) => node);
    // Strands of a shared link lie up to 7 / 2 strands beside its middle.
    for (const body of worm.querySelectorAll(".body")) {
      for (const line of polylines(body.getAttribute("d"))) {
        for (const [a, b] of pieces(line)) {
          const steps = Math.max(1, Math.ceil(Math.hypot(b[0] - a[0], b[1] - a[1]) / 3));
          for (let i = 0; i <= steps; ++i) {
            const point = [a[0] + ((b[0] - a[0]) * i) / steps, a[1] + ((b[1] - a[1]) * i) / steps];
            ++points;
            if (own.some((piece) => away(point, piece) < 3.7) || under.some(({ x, y, r }) => Math.max(Math.abs(point[0] - x), Math.abs(point[1] - y)) < r + 1)) continue;
            found.push(`worm ${worm.dataset.from} to ${worm.dataset.to} lies off its lanes at ${point.map(Math.round)}`);
            i = steps;
          }
        }
      }
    }
  }
  // The number of the other end stands beside a stub.
  let stubs = 0;
  for (const label of document.querySelectorAll("svg.network .label")) {
    const at = [number(label.getAttribute("x")), number(label.getAttribute("y")) - 3.3];
    const near = [...lanes.values()].filter(({ lines }) => lines.length === 2).map(({ name, lines }) => ({ to: name.split("→")[1], off: Math.hypot(lines[0][lines[0].length - 1][0] - at[0], lines[0][lines[0].length - 1][1] - at[1]) })).sort((a, b) => a.off - b.off)[0];
    if (!near || near.off > 16) { found.push(`the number ${label.textContent} is at no stub`); continue; }
    ++stubs;
    if (near.to !== label.textContent) found.push(`the stub to ${near.to} has the number ${label.textContent}`);
  }
  const crosses = ([a, b], [c, d]) => {
    const side = ([px, py], [qx, qy], [rx, ry]) => Math.sign((qx - px) * (ry - py) - (qy - py) * (rx - px));
    return side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0;
  };
  const byName = new Map([...lanes.values()].map((lane) => [lane.name, lane]));
  for (const [name, lane] of byName) {
    const back = byName.get(name.split("→").reverse().join("→"));
    if (!back) found.push(`link ${name} has no opposite link`);
    else if (lane.lines.flatMap(pieces).some((piece) => back.lines.flatMap(pieces).some((other) => crosses(piece, other)))) found.push(`the lanes of ${name} cross`);
  }
  return { found, points, stubs };
}

/** Records about one second of a playing page, frame by frame: [step, worms and playhead]. */
async function playing(page) {
  await page.keyboard.press("Home");
  for (let i = 0; i < 3; ++i) await page.keyboard.press("]");
  await page.keyboard.press(" ");
  return page.evaluate(() => new Promise((done) => {
    const seen = [], look = () => {
      if (document.querySelector("[data-control=play]").getAttribute("aria-label") === "play") return done(seen);
      seen.push([document.body.dataset.step, [...document.querySelectorAll("g.worm path, .playhead")].map((path) => `${path.getAttribute("d")} ${path.getAttribute("stroke-dashoffset")}`).join()]);
      return requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }));
}

/** The test triggers each frame: nextFrame(milliseconds since the last one). */
function framesByHand() {
  let now = 0, waiting = [];
  performance.now = () => now;
  window.requestAnimationFrame = (call) => waiting.push(call);
  window.nextFrame = (ms) => { const calls = waiting; now += ms, waiting = []; for (const one of calls) one(now); };
}

const cases = {
  async "one network of each kind, one algorithm of every operation"() {
    const pages = [
      ["alltoall", "torus:8x8", "suh-torus"], ["alltoall", "mesh:6x4", "suh-mesh"], ["alltoall", "hypercube:4", "hypercube-pairwise"], ["allgather", "ring:12", "all-port"], ["broadcast", "tree:8", "tree"], ["alltoall", "torus:8x8", "shift"], ["allreduce", "torus:5x3", "ring"],
      ["alltoall", "ring:4*line:3", "product"], ["alltoall", "torus:4x4x4", "suh-torus"], ["allgather", "petersen", "bruck"], ["broadcast", "torus:5x5", "wang-tseng"], ["shift", "line:5", null], ["alltoall", "complete:6", "shift"], ["scatter", "hypercube:5", null],
      ["reduce", "ring:8", null], ["allreduce", "torus:4x4", null], ["reduce_scatter", "hypercube:3", null], ["scan", "mesh:4x4", null], ["exscan", "ring:8", null], ["barrier", "ring:6", null], ["gather", "ghc:3x3", null], ["permute", "hypercube:4", null],
      ["k_broadcast", "torus:4x4", null], ["k_alltoall", "torus:4x4", null], ["k_reduce", "hypercube:3", null], ["k_gather", "ring:6", null], ["allgatherv", "ring:6", null], ["alltoallv", "ring:6", null], ["scatterv", "ring:6", null], ["gatherv", "ring:6", null], ["reduce_scatterv", "hypercube:3", null],
    ];
    let tampered = false;
    for (const [operation, network, algorithm] of pages) {
      const what = `${operation} on ${network}`;
      const call = [operation, "--on", network, ...(algorithm ? ["--algorithm", algorithm] : [])];
      run("draw", ...call, "--html", "page.html", "--quiet");
      const check = JSON.parse(run("check", ...call, "--json", "-")), show = JSON.parse(run("show", ...call, "--json", "-"));
      const { page, noise } = await open("page.html");
      expect(`${what}: figures`, compareFigures(await readFigures(page), check));
      const last = show.steps.length - 1;
      for (const step of new Set([0, 1, Math.floor(last / 2), last].filter((t) => t <= last))) {
        await set(page, `#step=${step}&at=0.55`);
        expect(`${what}: step ${step}`, compareStep(await readStep(page), show.steps[step]));
      }
      if (!tampered && last >= 0) {
        // The comparisons must fail if something is wrong.
        tampered = true;
        const before = await readStep(page);
        await page.evaluate(() => document.querySelector("g.worm").remove());
        expect("a worm left out is found", compareStep(await readStep(page), show.steps[last]).length > 0 ? [] : ["not found"]);
        expect("a wrong load is found", compareStep({ ...before, loads: { 0: 7 } }, show.steps[last]).length > 0 ? [] : ["not found"]);
        expect("a wrong figure is found", compareFigures(await readFigures(page), { ...check, startups: check.startups + 1 }).length > 0 ? [] : ["not found"]);
      }
      // At the end every block has reached its destination.
      await set(page, `#step=${Math.max(0, last)}&at=1`);
      const progress = await page.$eval(".progress", (element) => ({ ...element.dataset })).catch(() => null);
      if (progress?.all) expect(`${what}: blocks at the end`, differ("blocks", progress.done, progress.all));
      else if (!["reduce", "allreduce", "reduce_scatter", "scan", "exscan", "k_reduce", "reduce_scatterv"].includes(operation)) expect(`${what}: blocks`, [`no blocks: ${await page.$eval(".blocks", (card) => card.textContent)}`]);
      expect(`${what}: geometry`, await page.evaluate(() => {
        const boxes = [...document.querySelectorAll(".node .box")].map((node) => node.getBoundingClientRect()), found = [];
        for (let i = 0; i < boxes.length; ++i) for (let j = 0; j < i; ++j) if (boxes[i].left < boxes[j].right && boxes[j].left < boxes[i].right && boxes[i].top < boxes[j].bottom && boxes[j].top < boxes[i].bottom) found.push(`nodes ${j} and ${i} overlap`);
        for (const lane of document.querySelectorAll(".lane")) if (!lane.getAttribute("d")) found.push(`link ${lane.dataset.link} has no drawing`);
        const picture = document.querySelector("svg.network"), view = picture.viewBox.baseVal;
        for (const group of picture.querySelectorAll(":scope > g")) {
          const box = group.getBBox();
          if (box.width > 0 && (box.x < view.x - 0.5 || box.y < view.y - 0.5 || box.x + box.width > view.x + view.width + 0.5 || box.y + box.height > view.y + view.height + 0.5)) found.push(`${group.getAttribute("class")} leaves the picture`);
        }
        return found;
      }));
      await set(page, `#step=${Math.min(1, last)}&at=0.55`);
      const strays = await page.evaluate(findStrays);
      expect(`${what}: worms on their lanes, stubs with their numbers`, [...(strays.points > 0 ? [] : ["no worm was looked at"]), ...strays.found]);
      if (algorithm === "suh-torus" && network === "torus:8x8") {
        expect("as many stubs as there are", differ("stubs", strays.stubs, 32));
        const spoil = async (what_, change) => {
          await set(page, "#step=2&at=0.55"), await set(page, "#step=1&at=0.55");
          await page.evaluate(change);
          const { found } = await page.evaluate(findStrays);
          expect(`${what_} is found`, found.length > 0 ? [] : ["not found"]);
        };
        await spoil("a worm on the other lane", () => { const body = document.querySelector("g.worm .body"); body.setAttribute("d", body.getAttribute("d").replace(/(-?[\d.]+) (-?[\d.]+)/g, (_, x, y) => `${Number(x) + 10} ${Number(y) + 10}`)); });
        await spoil("a wrong number at a stub", () => { document.querySelector("svg.network .label").textContent = "5"; });
        await page.evaluate(() => { document.querySelector("svg.network .label").textContent = "56"; });
        await spoil("a link that is drawn twice", () => { const lane = document.querySelector("svg.network .lane"); lane.after(lane.cloneNode()); });
      }
      expect(`${what}: nothing on the console, no request`, noise);
      await page.close();
    }
  },

  async "a still picture shows the same as the page"() {
    for (const [operation, network, algorithm, step] of [["alltoall", "torus:8x8", "suh-torus", 2], ["alltoall", "mesh:4x4", "shift", 5], ["allgather", "hypercube:4", "bruck", 1], ["broadcast", "tree:8", "tree", 1], ["alltoall", "torus:4x4x4", "suh-torus", 0], ["allgather", "ccc:3", "bruck", 2], ["alltoall", "ring:12", "ring", 0], ["alltoall", "ring:4*line:3*complete:5", "product", 3], ["scatter", "mesh:4x4", "halving", 1], ["reduce_scatter", "ring:8", "bruck", 2], ["allreduce", "ring:6", "ring", 3], ["scan", "hypercube:4", "hypercube", 2], ["barrier", "ring:6", "dissemination", 1], ["alltoall", "hypercube:6", "bine", 3]]) {
      const call = [operation, "--on", network, "--algorithm", algorithm];
      run("draw", ...call, "--html", "page.html", "--quiet");
      run("draw", ...call, "--step", String(step), "--svg", "still.svg", "--quiet");
      const { page, noise } = await open("page.html", { fragment: `#step=${step}` });
      const drawing = await readDrawing(page), still = readStill(readFileSync(join(folder, "still.svg"), "utf8"));
      expect(`${operation} on ${network}`, [...(drawing.worms.length > 0 && drawing.lanes.length > 0 && drawing.bars.length > 0 ? [] : ["nothing is drawn"]), ...compareDrawings(drawing, still)]);
      for (const [what, other] of [["a worm left out", { ...still, worms: still.worms.slice(1) }], ["a bar left out", { ...still, bars: still.bars.slice(1) }], ["a bar that is longer", { ...still, bars: still.bars.map(([node, x, y, width], i) => [node, x, y, i === 0 ? width + 3 : width]) }], ["a node elsewhere", { ...still, nodes: { ...still.nodes, 1: [still.nodes[1][0] + 3, still.nodes[1][1]] } }], ["lanes mirrored", { ...still, lanes: still.lanes.map((d) => d.replace(/(-?[\d.]+) (-?[\d.]+)/g, (_, x, y) => `${x} ${Number(y) + 10}`)) }]]) {
        expect(`${network}: ${what} is found`, compareDrawings(drawing, other).length > 0 ? [] : ["not found"]);
      }
      expect("nothing on the console, no request", noise);
      await page.close();
    }
  },

  async "no words on others, no node on a foreign link"() {
    writeFileSync(join(folder, "cables.txt"), "0 1\n1 2\n2 3\n3 0\n3 4\n4 5\n5 6\n6 4\n2 7\n");
    let tampered = false;
    for (const network of ["line:9", "line:40", "ring:12", "ring:40", "mesh:6x4", "torus:8x8", "torus:4x4x4", "mesh:2x3x2x2", "hypercube:3", "hypercube:4", "hypercube:6", "hypercube:8", "complete:6", "complete:20", "ghc:4x3", "ring:4*line:3*complete:5", "star:8", "tree:8", "tree:16", "petersen", "ccc:3", "butterfly:3", "circulant:12+1+3", "twisted:4x8", "star-graph:4", "bubble-sort:4", "cayley:2134+2341", "graph:cables.txt"]) {
      run("draw", "alltoall", "--on", network, "--algorithm", "shift", "--html", "page.html", "--quiet");
      for (const [what, options] of [["wide", {}], ["phone", { width: 390, height: 844 }]]) {
        const { page, noise } = await open("page.html", { ...options, fragment: "#step=2" });
        const { found, texts, nodes, lanes } = await page.evaluate(findCollisions);
        expect(`${network}, ${what}`, [...(texts > 20 && nodes > 1 && lanes > 1 ? [] : [`${texts} texts, ${nodes} nodes, ${lanes} lanes`]), ...found]);
        expect("nothing on the console, no request", noise);
        if (!tampered) {
          tampered = true;
          await page.evaluate(() => { const at = (node, name) => Number(document.querySelector(`.node[data-node="${node}"] .box`).getAttribute(name)), box = document.querySelector('.node[data-node="5"] .box'); for (const name of ["x", "y"]) box.setAttribute(name, (at(0, name) + at(1, name)) / 2); });
          expect("a node on a foreign link is found", (await page.evaluate(findCollisions)).found.some((text) => text === "node 5 lies on link 0→1") ? [] : ["not found"]);
          await page.evaluate(() => { const [a, b] = document.querySelectorAll(".node text"); a.setAttribute("x", b.getAttribute("x")), a.setAttribute("y", Number(b.getAttribute("y")) + 4); });
          expect("a word on another is found", (await page.evaluate(findCollisions)).found.some((text) => text.startsWith('"1" (text) lies on "0"')) ? [] : ["not found"]);
          await page.evaluate(() => document.querySelector(".node text").remove());
          expect("a link to nowhere is found", (await page.evaluate(findCollisions)).found.some((text) => text.endsWith("joins a missing node")) ? [] : ["not found"]);
        }
        await page.close();
      }
    }
  },

  async "with reduced motion steps change at once"() {
    run("draw", "alltoall", "--on", "torus:8x8", "--algorithm", "suh-torus", "--html", "page.html", "--quiet");
    run("draw", "alltoall", "--on", "mesh:4x4", "--algorithm", "shift", "--clock", "replay", "--html", "replay.html", "--quiet");
    run("draw", "alltoall", "--on", "torus:4x4", "--algorithm", "suh-torus,shift", "--html", "several.html", "--quiet");
    for (const [file, fragment, most] of [["page.html", "", 6], ["replay.html", "", 15], ["several.html", "#play=suh-torus,shift", 40]]) {
      for (const still of file === "page.html" ? [true, false] : [true]) {
        const { page, noise } = await open(file, { still, fragment });
        const seen = await playing(page), pictures = new Set(seen.map(([, picture]) => picture));
        if (still) expect(`${file}: pictures while it plays`, pictures.size <= most && pictures.size >= 3 ? [] : [`${pictures.size} of ${seen.length} frames`]);
        else expect(`${file}: with motion worms move`, pictures.size > most || pictures.size > 0.6 * seen.length ? [] : [`${pictures.size} of ${seen.length} frames`]);
        if (still && file === "page.html") expect("one picture a step", differ("pictures", pictures.size, new Set(seen.map(([step]) => step)).size));
        expect("nothing on the console, no request", noise);
        await page.close();
      }
    }
  },

  async "by replay a node has the blocks that have arrived"() {
    const shares = (page) => page.$$eval(".node[data-share]", (nodes) => nodes.map((node) => Number(node.dataset.share)));
    const differs = (found, wantedShares) => found.flatMap((share, node) => (Math.abs(share - wantedShares[node]) < 0.001 ? [] : [`node ${node}: ${share}, not ${wantedShares[node]}`]));
    let between = 0;
    for (const [operation, network, algorithm] of [["alltoall", "mesh:4x4", "shift"], ["broadcast", "mesh:4x4", "halving"], ["reduce", "ring:8", "halving"]]) {
      const call = [operation, "--on", network, "--algorithm", algorithm];
      run("draw", ...call, "--clock", "replay", "--html", "page.html", "--quiet");
      const replay = JSON.parse(run("replay", ...call, "--json", "-")), p = replay.nodes.length;
      const { page, noise } = await open("page.html");
      for (const part of [0.1, 0.35, 0.6, 0.85, 1]) {
        const ps = Math.round((replay.time_ps * part) / 1e4) * 1e4, arrived = replay.messages.filter((message) => message.delivered_ps <= ps);
        await set(page, `#t=${ps / 1e6}`);
        // A message of shift carries one block, of halving the only block; of a reduction, the operands that its sender has by then.
        const has = Array.from({ length: p }, (_, node) => (operation === "broadcast" ? Number(node === 0) : 1 / p));
        for (const { from, to } of [...arrived].sort((a, b) => a.delivered_ps - b.delivered_ps)) {
          has[to] = operation === "alltoall" ? has[to] + 1 / p : operation === "broadcast" ? 1 : has[to] + has[from];
          if (operation === "reduce") has[from] = 0;
        }
        const found = await shares(page);
        expect(`${operation} at ${ps} ps`, [...differ("nodes", found.length, p), ...differs(found, has)]);
        if (operation === "alltoall") {
          expect(`${operation} at ${ps} ps: blocks at home`, differ("done", await page.$eval(".progress", (progress) => Number(progress.dataset.done)), p + arrived.length));
          const whole = replay.messages.filter((message) => replay.messages.every((other) => other.step !== message.step || other.delivered_ps <= ps));
          if (whole.length < arrived.length) ++between;
          expect("a message more is found", differs(found, has.map((share, node) => (node === 3 ? share + 1 / p : share))).length > 0 ? [] : ["not found"]);
        }
      }
      expect("nothing on the console, no request", noise);
      await page.close();
    }
    expect("steps were in progress", between > 0 ? [] : ["only whole steps were seen"]);
  },

  async "links of stubs are joined while they are pointed at; a resting finger points"() {
    const tip = (page) => page.$eval(".tip", (element) => (element.hidden ? "" : element.textContent));
    // A point of a link's first stub, in the window.
    const stub = (page, name) => page.evaluate((wantedName) => {
      const lane = document.querySelector(`.lane[data-name="${wantedName}"]`), at = lane.getPointAtLength(0.3 * lane.getTotalLength());
      const { x, y } = new DOMPoint(at.x, at.y).matrixTransform(lane.getScreenCTM());
      return [x, y];
    }, name);
    const joined = (page) => page.$$eval(".join", (joins) => joins.map((join) => join.getAttribute("d").match(/-?[\d.]+/g).map(Number)));
    for (const [network, operation, algorithm, link, others] of [["torus:4x4x4", "alltoall", "suh-torus", "0→16", 1], ["complete:5*ring:4*line:3", "alltoall", "product", "0→12", 4]]) {
      run("draw", operation, "--on", network, "--algorithm", algorithm, "--html", "page.html", "--quiet");
      const { page, noise } = await open("page.html");
      expect(`${network}: no curve at rest`, differ("curves", (await joined(page)).length, 0));
      await page.mouse.move(...(await stub(page, link)));
      const curves = await joined(page);
      expect(`${network}: a curve for each link of the stub`, differ("curves", curves.length, others));
      const ends = await page.$eval(`.lane[data-name="${link}"]`, (lane) => lane.getAttribute("d").split("M").filter(Boolean).map((part) => part.match(/-?[\d.]+/g).map(Number)));
      expect(`${network}: from stub to stub`, curves.some((d) => Math.hypot(d[0] - ends[0][ends[0].length - 2], d[1] - ends[0][ends[0].length - 1]) < 0.2 && Math.hypot(d[4] - ends[1][0], d[5] - ends[1][1]) < 0.2) ? [] : [JSON.stringify([curves, ends])]);
      expect(`${network}: what it says`, (await tip(page)).includes(link) && ((await tip(page)).match(/→/g) ?? []).length === others ? [] : [await tip(page)]);
      await page.mouse.move(2, 2);
      expect(`${network}: then none`, differ("curves", (await joined(page)).length, 0));
      expect("nothing on the console, no request", noise);
      await page.close();
    }
    run("draw", "alltoall", "--on", "torus:32x32", "--algorithm", "suh-torus", "--html", "page.html", "--quiet");
    const large = await open("page.html", { fragment: "#link=0-31" });
    expect("on a canvas, too", differ("curves", await large.page.$eval(".network.canvas", (canvas) => canvas.dataset.joins), "1"));
    await large.page.keyboard.press("Escape");
    await large.page.waitForFunction(() => document.querySelector(".network.canvas").dataset.joins === "0");
    expect("nothing on the console, no request", large.noise);
    await large.page.close();

    run("draw", "alltoall", "--on", "torus:8x8", "--algorithm", "suh-torus", "--html", "page.html", "--quiet");
    const { page, noise } = await open("page.html", { width: 390, height: 844, touch: true });
    const kind = () => page.$eval(".selection", (card) => card.dataset.kind);
    const box = await (await page.$('.node[data-node="27"] .box')).boundingBox(), at = [box.x + box.width / 2, box.y + box.height / 2];
    const finger = await page.touchscreen.touchStart(...at);
    await page.waitForFunction(() => !document.querySelector(".tip").hidden);
    expect("a resting finger shows a tip", differ("tip", await tip(page), "node 27 (3, 3)"));
    await finger.end();
    expect("and chooses nothing", differ("kind", await kind(), "none"));
    await page.touchscreen.tap(...at);
    expect("one that taps does", differ("kind", await kind(), "node"));
    expect("nothing on the console, no request", noise);
    await page.close();
  },

  async "a node's program: a row for each port, and its rearranged blocks"() {
    const rows = (page) => page.$$eval(".program tbody tr", (all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
    const ports = ["allgather", "--on", "ring:12", "--algorithm", "all-port"];
    run("draw", ...ports, "--html", "page.html", "--quiet");
    const show = JSON.parse(run("show", ...ports, "--json", "-"));
    const { page, noise } = await open("page.html", { fragment: "#node=3" });
    const wantedRows = show.steps.flatMap(({ messages }) => ["2", "4"].map((port) => {
      const out = messages.find((message) => message.from === 3 && message.route[0].link_name === `3->${port}`), back = messages.find((message) => message.to === 3 && message.route[message.route.length - 1].link_name === `${port}->3`);
      return [port, out ? `→ ${out.to}` : "–", back ? `← ${back.from}` : "–"];
    }));
    const found = (await rows(page)).map((row) => row.slice(1, 4)), sorted = (list) => list.map((row) => row.join()).sort();
    expect("ports", differ("rows", sorted(found), sorted(wantedRows)));
    expect("some port is idle, some not", wantedRows.some((row) => row.includes("–")) && !wantedRows.every((row) => row.includes("–")) ? [] : [JSON.stringify(wantedRows)]);
    expect("nothing on the console, no request", noise);
    await page.close();

    const torus = ["alltoall", "--on", "torus:8x8", "--algorithm", "suh-torus"];
    run("draw", ...torus, "--html", "page.html", "--quiet");
    const check = JSON.parse(run("check", ...torus, "--json", "-")), opened = await open("page.html", { fragment: "#step=2&node=27" });
    const text = await opened.page.$eval(".selection", (card) => card.textContent), amounts = [...(/Before step 0: (\d+) r/.exec(text) ?? []).slice(1), ...(await rows(opened.page)).map((row) => /^(\d+) r$/.exec(row[row.length - 1])?.[1] ?? 0)].map(Number);
    expect("what node 27 rearranges", differ("blocks", amounts.reduce((sum, n) => sum + n, 0), check.rearranged_blocks));
    expect("the picture in words", differ("label", await opened.page.$eval("svg.network", (picture) => picture.getAttribute("aria-label")), "torus 8 by 8, step 2 (of 0 to 5), phase 3: two hops: 64 messages of up to 32 blocks, no link carries two"));
    expect("nothing on the console, no request", opened.noise);
    await opened.page.close();
  },

  async "sentences of the phases, one bright block, the marks of the legend, every row on a phone"() {
    const call = (operation, network, algorithm) => [operation, "--on", network, "--algorithm", algorithm];
    for (const [operation, network, algorithm] of [["alltoall", "torus:8x8", "suh-torus"], ["broadcast", "torus:5x5", "wang-tseng"], ["alltoall", "ring:4*line:3", "product"], ["allreduce", "ring:8", "reduce-scatter-allgather"], ["barrier", "ring:6", "dissemination"]]) {
      run("draw", ...call(operation, network, algorithm), "--html", "page.html", "--quiet");
      const wanted = JSON.parse(run("show", ...call(operation, network, algorithm), "--explain", "--json", "-"));
      const { page, noise } = await open("page.html");
      const sentences = () => page.$$eval(".idea p", (all) => all.filter((text) => getComputedStyle(text).visibility === "visible").map((text) => text.textContent));
      const faults = async () => {
        const found = [];
        for (let step = 0; step < wanted.steps_in_all; ++step) {
          await set(page, `#step=${step}`);
          const phase = wanted.phases.findLast(({ first, last }) => first <= step && step <= last), text = (await sentences()).join(" ");
          if (!text.includes(wanted.explanation)) found.push(`step ${step}: no idea: ${text}`);
          if (phase && !(phase.explanation.length > 20 && text.includes(phase.explanation))) found.push(`step ${step}: no sentence of ${phase.name}: ${text}`);
        }
        return found;
      };
      expect(`${operation} ${algorithm}: each phase has its sentence`, await faults());
      if (algorithm === "suh-torus") {
        await page.$eval(".phase-texts", (texts) => texts.lastChild.remove());
        expect("a phase without a sentence is found", (await faults()).length > 0 ? [] : ["not found"]);
      }
      expect("nothing on the console, no request", noise);
      await page.close();
    }
    run("draw", ...call("alltoall", "torus:8x8", "suh-torus"), "--html", "page.html", "--quiet");
    const { page, noise } = await open("page.html", { fragment: "#step=1&block=5-62" });
    const bright = () => page.evaluate(() => {
      const carriers = new Set([...document.querySelectorAll("path.way")].map((path) => path.dataset.message));
      return [...document.querySelectorAll("g.worm")].flatMap((worm) => ((Number(getComputedStyle(worm).opacity) > 0.5) === carriers.has(worm.dataset.message) ? [] : [`worm ${worm.dataset.from} to ${worm.dataset.to}`]));
    });
    for (const step of [0, 1, 2, 3]) {
      await set(page, `#step=${step}&block=5-62`);
      expect(`step ${step}: only the block's worm is bright`, await bright());
    }
    await page.addStyleTag({ content: ".worm { opacity: 1 !important; }" });
    expect("another bright worm is found", (await bright()).length > 0 ? [] : ["not found"]);
    expect("nothing on the console, no request", noise);
    await page.close();
    // The legend has a mark if the picture has it in some step.
    const marks = { dashes: 'g.worm [stroke-dasharray="7 3"]', share: ".node .bar", "idle-node": ".node.idle", circle: ".node circle" };
    for (const [operation, network, algorithm] of [["alltoall", "torus:8x8", "suh-torus"], ["alltoall", "mesh:4x4", "shift"], ["broadcast", "tree:8", "tree"], ["allgather", "ring:12", "all-port"]]) {
      run("draw", ...call(operation, network, algorithm), "--html", "page.html", "--quiet");
      const steps = JSON.parse(run("check", ...call(operation, network, algorithm), "--json", "-")).steps, { page } = await open("page.html"), seen = new Set();
      for (let step = 0; step < steps; ++step) {
        await set(page, `#step=${step}`);
        for (const [name, selector] of Object.entries(marks)) if (await page.$(`svg.network ${selector}`)) seen.add(name);
      }
      const faults = () => page.evaluate((names, drawn) => names.flatMap((name) => {
        const explained = document.querySelector(`#page .legend i.${name}`) !== null;
        return explained || !drawn.includes(name) ? (explained && !drawn.includes(name) && name !== "idle-node" ? [`${name} is in the legend only`] : []) : [`${name} is not in the legend`];
      }), Object.keys(marks), [...seen]);
      expect(`${operation} on ${network}: the legend has each mark`, await faults());
      await page.$$eval("#page .legend i", (all) => all.forEach((mark) => mark.remove()));
      expect("a mark without a legend is found", (await faults()).length > 0 ? [] : ["not found"]);
      await page.close();
    }
    // On a phone no row of a table is cut.
    run("draw", ...call("alltoall", "torus:8x8", "suh-torus"), "--html", "page.html", "--quiet");
    const phone = await open("page.html", { width: 390, height: 844, fragment: "#node=27" });
    const cut = () => phone.page.$$eval("#page tr, #page .legend .sample, #page .idea p", (rows) => rows.filter((row) => row.checkVisibility() && !row.closest(".hidden")).flatMap((row) => {
      const box = row.getBoundingClientRect();
      if (box.left < -0.5 || box.right > innerWidth + 0.5) return [`${row.textContent.slice(0, 40)}: ${Math.round(box.left)} .. ${Math.round(box.right)}`];
      for (let at = row.parentElement; at && at !== document.body; at = at.parentElement) {
        const outer = at.getBoundingClientRect(), { overflowX, overflowY } = getComputedStyle(at);
        if (overflowX !== "visible" && (box.right > outer.right + 0.5 || box.left < outer.left - 0.5)) return [`${row.textContent.slice(0, 40)}: cut at the side`];
        if (overflowY !== "visible" && (box.bottom > outer.bottom + 0.5 || box.top < outer.top - 0.5)) return [`${row.textContent.slice(0, 40)}: cut below`];
      }
      return [];
    }));
    expect("phone: every row is there", await cut());
    await phone.page.addStyleTag({ content: ".selection { max-height: 60px; overflow: hidden; }" });
    expect("a row that is cut is found", (await cut()).length > 0 ? [] : ["not found"]);
    await phone.page.close();
  },

  async "the strip: captions in boxes of more than 90 px, idle steps hatched"() {
    for (const [what, call] of [["wide boxes", ["alltoall", "--on", "torus:8x8", "--algorithm", "suh-torus"]], ["narrow ones", ["alltoall", "--on", "line:13", "--algorithm", "shift"]], ["too narrow ones", ["alltoall", "--on", "ring:24", "--algorithm", "shift"]], ["more than 300", ["alltoall", "--on", "line:310", "--algorithm", "shift"]]]) {
      run("draw", ...call, "--html", "page.html", "--quiet");
      const { page, noise } = await open("page.html");
      const { boxes, texts, areas } = await page.evaluate(() => ({ boxes: [...document.querySelectorAll(".strip .ground")].map((box) => Number(box.getAttribute("width"))), texts: [...document.querySelectorAll(".strip .inside")].map((text) => [text.textContent, text.getBBox().width]), areas: [...document.querySelectorAll(".strip .area")].map((area) => area.getAttribute("fill")) }));
      expect(`${what}: captions`, differ("captions", texts.length, boxes.filter((width) => width > 90).length));
      expect(`${what}: they fit`, texts.filter(([, width]) => width > Math.min(...boxes)).map(([text]) => text));
      expect(`${what}: they say how many`, texts.every(([text]) => /^\d+ worms?( · [\d.]+ blocks?)?$/.test(text)) ? [] : [JSON.stringify(texts)]);
      expect(`${what}: an area above 300`, (what === "more than 300") === areas.length > 0 && new Set(areas).size === areas.length ? [] : [JSON.stringify(areas)]);
      expect("nothing on the console, no request", noise);
      await page.close();
    }
    run("draw", "alltoall", "--on", "torus:8x8", "--algorithm", "suh-torus,kim-a1", "--html", "page.html", "--quiet");
    const { page } = await open("page.html", { fragment: "#play=suh-torus,kim-a1" });
    const fills = await page.evaluate(() => [...document.querySelectorAll(".strip .work")].map((bar) => [bar.getAttribute("fill"), document.querySelector(/url\((.*)\)/.exec(bar.getAttribute("fill"))[1])?.localName]));
    expect("work between steps is hatched", fills.length > 5 && fills.every(([, name]) => name === "pattern") ? [] : [JSON.stringify(fills.slice(0, 3))]);
    await page.close();
  },

  async "a block's whole path, nodes, links, keys, the address"() {
    run("draw", "alltoall", "--on", "torus:8x8", "--algorithm", "suh-torus", "--html", "page.html", "--quiet");
    const show = JSON.parse(run("show", "alltoall", "--on", "torus:8x8", "--algorithm", "suh-torus", "--json", "-"));
    const { page, noise } = await open("page.html", { fragment: "#step=2&block=5-62" });
    const way = await page.$$eval("table.way tbody tr", (rows) => rows.map((row) => [...row.children].slice(0, 3).map((cell) => Number(cell.textContent))));
    const connected = way.length > 0 && way[0][1] === 5 && way[way.length - 1][2] === 62 && way.every((row, i) => i === 0 || row[1] === way[i - 1][2]);
    expect("a block's path is connected", connected ? [] : [JSON.stringify(way)]);
    const hops = way.reduce((sum, [step, from, to]) => sum + show.steps[step].messages.find((message) => message.from === from && message.to === to).route.length, 0);
    expect("its hops are those of the messages", differ("hops", Number(await page.$eval("table.way", (table) => table.dataset.hops)), hops));
    expect("its trail is drawn", (await page.$$("path.way")).length === hops ? [] : ["not as many links as hops"]);
    // By hand: a cell of the matrix, a node, a link.
    await page.keyboard.press("Escape");
    const matrix = await (await page.$(".matrix")).boundingBox();
    await page.mouse.click(matrix.x + matrix.width * 0.75 + 1, matrix.y + 2);
    await page.mouse.click(matrix.x + 1, matrix.y + 1);
    expect("a click in the matrix asks for a block or node", /block|node/.test(await page.$eval(".selection", (card) => card.dataset.kind)) ? [] : ["nothing is selected"]);
    await page.keyboard.press("Escape");
    await page.click('.node[data-node="27"]');
    expect("a click on a node", differ("head", await page.$eval(".selection h2", (head) => head.textContent.trim()), "Node 27 (3, 3)"));
    const first = show.steps[0].messages.find((message) => message.from === 27);
    expect("its program", differ("first message", await page.$eval(".program tbody tr", (row) => row.children[1].textContent), `→ ${first.to}`));
    await page.keyboard.press("Escape");
    expect("esc clears the selection", differ("selection", await page.$eval(".selection", (card) => card.dataset.kind), "none"));
    const step = () => page.$eval("body", (body) => Number(body.dataset.step));
    for (const [key, wantedStep] of [["Home", 0], ["ArrowRight", 1], ["ArrowRight", 2], ["ArrowLeft", 1], ["End", 5]]) {
      await page.keyboard.press(key);
      expect(`key ${key}`, differ("step", await step(), wantedStep));
    }
    await page.keyboard.press("Home");
    await page.keyboard.down("Shift"), await page.keyboard.press("ArrowRight"), await page.keyboard.up("Shift");
    expect("shift and right: the next phase", differ("step", await step(), 1));
    const pressed = (key) => page.$$eval(`[data-key=${key}]`, (buttons) => buttons.find((button) => button.getAttribute("aria-pressed") === "true")?.dataset.value);
    for (const [key, name, value] of [["l", "links", "load"], ["l", "links", "worms"], ["c", "colour", "sender"], ["a", "load", "all"]]) {
      await page.keyboard.press(key);
      expect(`key ${key}`, differ(name, await pressed(name), value));
    }
    await page.keyboard.press("b");
    expect("key b", differ("blocks", await page.$eval("[data-blocks=origin]", (button) => button.getAttribute("aria-pressed")), "true"));
    await page.keyboard.press("d");
    expect("key d", differ("theme", await page.$eval("html", (html) => html.dataset.theme), "light"));
    await page.keyboard.press("?");
    expect("key ?", (await page.$("dialog[open]")) ? [] : ["no dialog"]);
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => location.hash.includes("blocks=origin") && location.hash.includes("theme=light"));
    const hash = await page.evaluate(() => location.hash);
    await page.close();
    const again = await open("page.html", { fragment: hash });
    expect("the address restores the view", [...differ("step", await again.page.$eval("body", (body) => body.dataset.step), "1"), ...differ("colour", await again.page.$$eval("[data-key=colour]", (buttons) => buttons.find((button) => button.getAttribute("aria-pressed") === "true").dataset.value), "sender")]);
    await set(again.page, "#step=99999&node=-4&nonsense=1&at=7");
    expect("numbers are clamped, unknown keys ignored", differ("step", await again.page.$eval("body", (body) => body.dataset.step), "5"));
    expect("nothing on the console, no request", [...noise, ...again.noise]);
    await again.page.close();
  },

  async "the keyboard goes through a page in reading order with a visible focus"() {
    run("draw", "alltoall", "--on", "torus:4x4", "--algorithm", "suh-torus,shift", "--html", "page.html", "--quiet");
    run("list", "alltoall", "--on", "torus:4x4", "--bytes", "64,4K", "--json", "model.json", "--quiet");
    run("plot", "model.json", "--html", "plot.html");
    for (const [what, file, options] of [["player", "page.html", { fragment: "#play=suh-torus" }], ["player, dark", "page.html", { dark: true, fragment: "#play=suh-torus" }], ["player, phone", "page.html", { width: 390, height: 844, fragment: "#play=suh-torus" }], ["comparison", "page.html", {}], ["plot", "plot.html", {}], ["plot, dark", "plot.html", { dark: true }]]) {
      const { page, noise } = await open(file, options);
      const { stops, wanted: all } = await keyboardStops(page, "Tab");
      expect(`${what}: each control once`, [...(stops.length > 1 ? [] : ["no stops"]), ...differ("stops", stops.map(({ number }) => number), all)]);
      expect(`${what}: the focus is visible`, stops.flatMap(({ name, failure }) => (failure ? [`${name}: ${failure}`] : [])));
      expect(`${what}: the order is that of the page`, disorder(stops));
      const back = await keyboardStops(page, "Shift+Tab");
      expect(`${what}: backwards`, differ("stops", back.stops.map(({ number }) => number).reverse(), all));
      if (what === "player") {
        await page.addStyleTag({ content: ".primary:focus-visible { outline: none !important; }" });
        expect("a control whose focus is not seen is found", (await keyboardStops(page, "Tab")).stops.some(({ name, failure }) => failure && /play/.test(name)) ? [] : ["not found"]);
        await page.addStyleTag({ content: ".transport { flex-direction: row-reverse; }" });
        expect("an order that is not the page's is found", disorder((await keyboardStops(page, "Tab")).stops).length > 0 ? [] : ["not found"]);
        await page.$eval("[data-control=play]", (button) => { button.tabIndex = -1; });
        const { stops: fewer, wanted: still } = await keyboardStops(page, "Tab");
        expect("a control that the keyboard does not reach is found", differ("stops", fewer.map(({ number }) => number), still).length > 0 ? [] : ["not found"]);
      }
      expect(`${what}: nothing on the console, no request`, noise);
      await page.close();
    }
    // A dialog opened by a key gets the focus, and returns it when closed.
    const { page, noise } = await open("page.html", { fragment: "#play=suh-torus" });
    await page.focus(".picture");
    await page.keyboard.press("Enter");
    expect("enter: the network's first node", differ("node", await page.$eval(".selection h2", (head) => head.textContent.trim()), "Node 0 (0, 0)"));
    await page.keyboard.press("ArrowRight"), await page.keyboard.press("ArrowDown");
    expect("arrows: from node to node", differ("node", await page.$eval(".selection h2", (head) => head.textContent.trim()), "Node 5 (1, 1)"));
    await page.keyboard.press("Escape");
    for (const key of ["?", "/"]) {
      await page.keyboard.press(key);
      expect(`key ${key}`, await page.evaluate(() => (document.querySelector("dialog[open]")?.contains(document.activeElement) ? [] : [`on ${document.activeElement.outerHTML.slice(0, 80)}`])));
      for (let i = 0; i < 5; ++i) await page.keyboard.press("Tab");
      expect(`key ${key}: nothing behind`, await page.evaluate(() => (document.activeElement === document.body || document.querySelector("dialog[open]")?.contains(document.activeElement) ? [] : [`on ${document.activeElement.outerHTML.slice(0, 80)}`])));
      await page.keyboard.press("Escape");
      expect(`key ${key}: back`, await page.evaluate(() => (document.activeElement.matches(".picture") ? [] : [`on ${document.activeElement.outerHTML.slice(0, 80)}`])));
    }
    expect("nothing on the console, no request", noise);
    await page.close();
  },

  async "scrubbing the strip goes to a step, and back"() {
    const call = ["alltoall", "--on", "mesh:4x4", "--algorithm", "shift"];
    run("draw", ...call, "--html", "page.html", "--quiet");
    const show = JSON.parse(run("show", ...call, "--json", "-"));
    const { page, noise } = await open("page.html");
    for (const step of [9, 2, 14]) {
      const box = await (await page.$(`.strip [data-step="${step}"]`)).boundingBox();
      await page.mouse.click(box.x + box.width * 0.6, box.y + box.height / 2);
      expect(`a click on step ${step}`, [...differ("step", await page.$eval("body", (body) => Number(body.dataset.step)), step), ...compareStep(await readStep(page), show.steps[step])]);
    }
    expect("nothing on the console, no request", noise);
    await page.close();
  },

  async "by replay: messages in flight, waiting messages and the end are those of the replay"() {
    const call = ["alltoall", "--on", "torus:4x4", "--algorithm", "shift", "--bytes", "4K"];
    run("draw", ...call, "--clock", "replay", "--html", "page.html", "--quiet");
    const replay = JSON.parse(run("replay", ...call, "--json", "-")), startup = replay.model.startup_ps;
    const { page, noise } = await open("page.html");
    let waiting = 0;
    for (const share of [0.05, 0.2, 0.4, 0.63, 0.9]) {
      const ps = Math.round((replay.time_ps * share) / 1e4) * 1e4;
      await set(page, `#t=${ps / 1e6}`);
      const found = await page.$$eval("g.worm", (worms) => worms.map((worm) => [Number(worm.dataset.from), Number(worm.dataset.to), Number(worm.dataset.waits) >= 0]));
      const under = replay.messages.filter((message) => message.posted_ps + startup <= ps && ps < message.delivered_ps);
      const pairs = (list) => list.map(([from, to]) => `${from}->${to}`).sort();
      expect(`at ${ps} ps: worms in flight`, differ("worms", pairs(found), pairs(under.map((message) => [message.from, message.to]))));
      for (const [from, to, waits] of found) {
        if (!waits) continue;
        ++waiting;
        expect(`${from} to ${to} waits`, under.find((message) => message.from === from && message.to === to)?.waited_ps > 0 ? [] : ["the replay has no wait of it"]);
      }
    }
    const late = replay.messages.filter((message) => message.posted_ps + startup <= replay.time_ps * 0.2 && replay.time_ps * 0.2 < message.delivered_ps);
    expect("another time's worms are found to be others", differ("worms", await page.$$eval("g.worm", (worms) => worms.map((worm) => `${worm.dataset.from}->${worm.dataset.to}`).sort()), late.map(({ from, to }) => `${from}->${to}`).sort()).length > 0 ? [] : ["not found"]);
    expect("some wait", waiting > 0 ? [] : ["none"]);
    // The keys stop where most messages of a step are under way, not at its first instant.
    await page.keyboard.press("Home");
    const stops = [];
    for (let step = 0; step < 4; ++step) {
      await page.keyboard.press("ArrowRight");
      const ps = (await page.$eval("body", (body) => Number(body.dataset.clock))) * 1e6;
      stops.push((await page.$$("g.worm")).length);
      const of = replay.messages.filter((message) => message.step === step);
      const most = Math.max(...of.map(({ posted_ps }) => of.filter((other) => other.posted_ps <= posted_ps && posted_ps + startup < other.delivered_ps).length));
      const under = of.filter((message) => message.posted_ps + startup <= ps && ps < message.delivered_ps).length;
      expect(`step ${step}: most messages are under way`, under >= 0.5 * most && under > 0 ? [] : [`${under} of ${most} at ${ps}`]);
    }
    expect("messages at every stop", stops.every((count) => count > 0) ? [] : [stops.join()]);
    expect("a replay has one message at a time on a channel: no legend of contention", await page.$eval(".legend", (legend) => (legend.textContent.includes("contention") ? [legend.textContent] : [])));
    await page.keyboard.press("End");
    expect("the clock ends with the replay", differ("end", Math.round((await page.$eval("body", (body) => Number(body.dataset.clock))) * 1e6), replay.time_ps));
    expect("then no worm is in flight", differ("worms", (await page.$$("g.worm")).length, 0));
    expect("and every block is where it belongs", await page.$eval(".progress", (progress) => (progress.dataset.done === progress.dataset.all ? [] : [progress.textContent])));
    expect("its figure", differ("replayed", (await readFigures(page))["replayed, µs"][0], shown(replay.time_ps / 1e6)));
    expect("no sideways scrolling", await page.evaluate(() => (document.documentElement.scrollWidth <= innerWidth ? [] : ["too wide"])));
    expect("nothing on the console, no request", noise);
    await page.close();
  },

  async "by replay a channel that is released flashes for 120 ms"() {
    const call = ["alltoall", "--on", "torus:4x4", "--algorithm", "shift", "--bytes", "4K"], frame = 20, lasts = 120 / frame;
    run("draw", ...call, "--clock", "replay", "--html", "page.html", "--quiet");
    run("replay", ...call, "--trace", "trace.json", "--quiet");
    const { traceEvents } = JSON.parse(readFileSync(join(folder, "trace.json"), "utf8")), channels = new Map();
    for (const { ph, name, tid, args } of traceEvents) if (ph === "M" && name === "thread_name" && / vc /.test(args.name)) channels.set(tid, args.name.replace("->", "→"));
    const ends = traceEvents.filter(({ ph, cat }) => ph === "X" && cat === "link").map(({ tid, ts, dur }) => [channels.get(tid), ts + dur]);
    const watch = (page) => page.evaluate((ms) => {
      const frames = [], playing = () => document.querySelector("[data-control=play]").getAttribute("aria-label") === "pause";
      const name = (flash) => `${document.querySelector(`.lane[data-link="${flash.dataset.flash}"]`).dataset.name} vc ${flash.dataset.channel}`;
      while (playing() && frames.length < 1000) {
        nextFrame(ms);
        frames.push({ clock: Number(document.body.dataset.clock), flashes: [...document.querySelectorAll(".flash")].map((flash) => [name(flash), Number(flash.getAttribute("stroke-opacity"))]) });
      }
      return frames;
    }, frame);
    const differs = (frames, last) => frames.slice(0, -1).flatMap(({ clock, flashes }, i) => {
      const since = i < last ? 0 : frames[i - last].clock, wantedNames = [...new Set(ends.filter(([, end]) => since < end && end <= clock).map(([name]) => name))];
      return differ(`at ${clock}`, flashes.map(([name]) => name).sort(), wantedNames.sort());
    });
    for (const still of [false, true]) {
      const { page, noise } = await open("page.html", { still, before: framesByHand });
      await page.keyboard.press("Home");
      for (let i = 0; i < 3; ++i) await page.keyboard.press("]");
      await page.keyboard.press(" ");
      const frames = await watch(page), strengths = frames.flatMap(({ flashes }) => flashes.map(([, strength]) => strength));
      if (still) {
        expect("none with reduced motion", differ("flashes", strengths.length, 0));
      } else {
        expect("the channels that the trace has as released", [...(strengths.length > 100 ? [] : [`${strengths.length} flashes`]), ...differs(frames, lasts)]);
        expect("they fade", new Set(strengths).size === lasts && strengths.every((strength) => strength > 0 && strength <= 0.6) ? [] : [`${[...new Set(strengths)]}`]);
        expect("at the end there is none", differ("flashes", frames[frames.length - 1].flashes.length, 0));
        expect("a flash left out is found", differs(frames.map(({ clock, flashes }, i) => ({ clock, flashes: i === 40 ? flashes.slice(1) : flashes })), lasts).length > 0 ? [] : ["not found"]);
        expect("one that lasts a frame longer is found", differs(frames, lasts + 1).length > 0 ? [] : ["not found"]);
      }
      expect("nothing on the console, no request", noise);
      await page.close();
    }
  },

  async "by replay a canvas shows waiting messages and released channels"() {
    const call = ["permute", "--on", "torus:18x18", "--algorithm", "direct", "--permutation", "transpose", "--bytes", "4K"];
    run("draw", ...call, "--clock", "replay", "--html", "page.html", "--quiet");
    run("replay", ...call, "--trace", "trace.json", "--json", "replay.json", "--quiet");
    const replay = JSON.parse(readFileSync(join(folder, "replay.json"), "utf8")), startup = replay.model.startup_ps;
    // Pixels of the moving canvas that are like a colour.
    const pixels = (page, [r, g, b]) => page.$eval(".network.canvas canvas:last-child", (canvas, wantedColour) => {
      const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
      let n = 0;
      for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 100 && wantedColour.every((part, k) => Math.abs(data[i + k] - part) < 12)) ++n;
      return n;
    }, [r, g, b]);
    // Its pixels are read, often.
    const readable = () => { const before = HTMLCanvasElement.prototype.getContext; HTMLCanvasElement.prototype.getContext = function readableContext(kind) { return before.call(this, kind, { willReadFrequently: true }); }; };
    const { page, noise } = await open("page.html", { before: readable });
    let some = 0;
    for (const share of [0.6, 0.75, 0.9, 0.999]) {
      const ps = Math.round((replay.time_ps * share) / 1e4) * 1e4;
      await set(page, `#t=${ps / 1e6}`);
      const waiting = Number(await page.$eval(".network.canvas", (canvas) => canvas.dataset.waiting)), under = replay.messages.filter((message) => message.posted_ps + startup <= ps && ps < message.delivered_ps);
      expect(`at ${ps} ps: who waits may wait`, waiting <= under.filter((message) => message.waited_ps > 0).length ? [] : [`${waiting} of ${under.length}`]);
      if (waiting > 0) {
        ++some;
        expect(`at ${ps} ps: light stripes`, (await pixels(page, [255, 255, 255])) > 10 ? [] : [`${await pixels(page, [255, 255, 255])} pixels`]);
      }
    }
    expect("some wait", some > 0 ? [] : ["none"]);
    await set(page, `#t=${(startup - 1e6) / 1e6}`);
    expect("none waits before the first sets out", [...differ("light pixels", await pixels(page, [255, 255, 255]), 0), ...differ("waiting", await page.$eval(".network.canvas", (canvas) => Number(canvas.dataset.worms)), 0)]);
    expect("nothing on the console, no request", noise);
    await page.close();

    const { traceEvents } = JSON.parse(readFileSync(join(folder, "trace.json"), "utf8")), frame = 20, lasts = 120 / frame;
    const ends = traceEvents.filter(({ ph, cat }) => ph === "X" && cat === "link").map(({ tid, ts, dur }) => [tid, ts + dur]);
    const flashing = await open("page.html", { still: false, before: `(${framesByHand})(); (${readable})();` });
    await flashing.page.keyboard.press("Home");
    for (let i = 0; i < 3; ++i) await flashing.page.keyboard.press("]");
    await flashing.page.keyboard.press(" ");
    const frames = await flashing.page.evaluate((ms) => {
      const seen = [], playing_ = () => document.querySelector("[data-control=play]").getAttribute("aria-label") === "pause", canvas = document.querySelector(".network.canvas canvas:last-child");
      while (playing_() && seen.length < 2000) {
        nextFrame(ms);
        const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        let dark = 0;
        for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 60 && data[i] < 60 && data[i + 1] < 60 && data[i + 2] < 70) ++dark;
        seen.push({ clock: Number(document.body.dataset.clock), flashes: Number(canvas.parentElement.dataset.flashes), dark });
      }
      return seen;
    }, frame);
    const differs = (list, last) => list.slice(0, -1).flatMap(({ clock, flashes }, i) => differ(`flashes at ${clock}`, flashes, new Set(ends.filter(([, end]) => (i < last ? 0 : list[i - last].clock) < end && end <= clock).map(([tid]) => tid)).size));
    expect("as many channels flash as the trace has released", [...(frames.some(({ flashes }) => flashes > 0) ? [] : ["none"]), ...differs(frames, lasts)]);
    expect("they are drawn", frames.filter(({ flashes, dark }) => flashes > 20 && dark === 0).map(({ clock }) => `none at ${clock}`));
    expect("and nothing is where none is", frames.filter(({ flashes, dark }) => flashes === 0 && dark > 0).map(({ clock, dark }) => `${dark} pixels at ${clock}`));
    expect("flashes that last a frame longer are found", differs(frames, lasts + 1).length > 0 ? [] : ["not found"]);
    expect("nothing on the console, no request", flashing.noise);
    await flashing.page.close();
  },

  async "several algorithms on one clock"() {
    const names = ["suh-torus", "shift", "kim-a1"];
    run("draw", "alltoall", "--on", "torus:8x8", "--algorithm", names.join(","), "--html", "page.html", "--quiet");
    const checks_ = JSON.parse(run("check", "alltoall", "--on", "torus:8x8", "--algorithm", names.join(","), "--json", "-"));
    const list = JSON.parse(run("list", "alltoall", "--on", "torus:8x8", "--bytes", "1K", "--json", "-"));
    const { page, noise } = await open("page.html");
    expect("several algorithms open on the comparison", differ("networks", (await page.$$("svg.network")).length, names.length));
    const totals = () => page.$$eval(".formula", (rows) => Object.fromEntries(rows.map((row) => [row.dataset.algorithm, Number(row.querySelector(".total").dataset.us)])));
    const ends = () => page.$$eval(".scene-head .end", (heads) => heads.map((head) => Number(head.dataset.us)));
    const near = (what, a, b) => (Math.abs(a - b) <= 1e-6 * Math.max(1, b) ? [] : [`${what}: ${a}, not ${b}`]);
    const shared = await totals(), sharedEnds = await ends();
    // The closed form of docs/explanation/costs.md; links: whether they are shared.
    const time = (check, links = true, m = check.block_bytes) => {
      const cost = check.cost_model, a = check.startups, longest = cost.th_us * check.sum_max_hops + cost.tw_us_per_byte * m * check.transmission_blocks;
      const busiest = cost.th_us * a + cost.tw_link_us_per_byte * m * check.link_blocks;
      return cost.ts_us * a + (links ? Math.max(longest, busiest) : longest) + m * cost.tr_us_per_byte * check.rearranged_blocks;
    };
    names.forEach((name, i) => {
      const check = checks_.find((entry) => entry.algorithm === name);
      expect(`${name}: shared links, formula and clock`, [...near("formula", shared[name], time(check)), ...near("clock", sharedEnds[i], time(check))]);
      const row = list.find((entry) => entry.algorithm === name);
      if (row.model_time_us !== null && JSON.stringify(row.chosen_options) === JSON.stringify(check.options)) expect(`${name}: as list predicts`, near("time", shared[name], row.model_time_us));
    });
    await page.click("[data-shared=false]");
    const free = await totals();
    for (const name of names) {
      const check = checks_.find((entry) => entry.algorithm === name);
      expect(`${name}: links not charged`, near("formula", free[name], time(check, false)));
    }
    await page.click("[data-shared=true]");
    const crossing = await page.$$eval(".crossing", (circles) => circles.map((circle) => Number(circle.dataset.bytes)));
    const at = (name, m) => time(checks_.find((entry) => entry.algorithm === name), true, m);
    expect("the crossing is where the formulas are equal", crossing.length === 1 ? near("times", at("suh-torus", crossing[0]), at("shift", crossing[0])) : [`${crossing}`]);
    await page.$eval("[data-cost=bytes]", (slider) => { slider.value = 250; slider.dispatchEvent(new Event("input")); });
    const large = await totals();
    expect("the slider m moves the times", large["shift"] < large["suh-torus"] ? [] : [JSON.stringify(large)]);
    expect("its legend explains contention", await page.$eval("#page .legend", (legend) => (/contention: 2, 3/.test(legend.textContent) && /dimension 0/.test(legend.textContent) ? [] : [legend.textContent])));
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    expect("on paper, each algorithm", differ("heads", await page.$$eval("#print h1", (heads) => heads.map((head) => head.textContent.split(", ").pop())), names));
    expect("with pictures", (await page.$$eval("#print section", (all) => all.map((one) => one.querySelectorAll("figure").length))).every((n) => n > 0) ? [] : ["none"]);
    await page.evaluate(() => document.getElementById("print").remove());
    // One clock: the playheads stand below each other, before a step too.
    for (const t of [3, 40, 200, 700]) {
      await set(page, `#t=${t}`);
      const heads = await page.$$eval(".knob", (knobs) => knobs.map((knob) => Number(knob.getAttribute("cx"))));
      expect(`at ${t} us: playheads`, heads.every((x) => Math.abs(x - heads[0]) < 0.1) ? [] : [`${heads}`]);
    }
    const small = await open("page.html", { width: 1280, height: 720 });
    expect("no scrollbar", differ("height", await small.page.evaluate(() => document.documentElement.scrollHeight), 720));
    expect("nodes have numbers", await small.page.$$eval("svg.network .node text", (texts) => (texts.some((text) => text.checkVisibility() && text.getBoundingClientRect().height > 5) ? [] : ["none"])));
    await small.page.click("[aria-label=keys]");
    await small.page.click("dialog button");
    await small.page.keyboard.press(" ");
    expect("space plays after the help", await small.page.evaluate(() => (document.querySelector("dialog[open]") || document.querySelector("[data-control=play]").getAttribute("aria-label") !== "pause" ? ["not so"] : [])));
    await small.page.close();
    await page.keyboard.press("v");
    expect("key v: one alone", (await page.$$("svg.network")).length === 1 ? [] : ["still several"]);
    expect("nothing on the console, no request", noise);
    await page.close();
  },

  async "a large network is a canvas; too many messages are shown as loads, with a notice"() {
    run("draw", "alltoall", "--on", "torus:32x32", "--algorithm", "suh-torus", "--html", "page.html", "--quiet");
    const { page, noise } = await open("page.html", { fragment: "#step=14", still: false });
    expect("worms", differ("worms", await page.$eval(".network.canvas", (canvas) => canvas.dataset.worms), "1024"));
    const drawn = await page.$eval(".network.canvas canvas:last-child", (canvas) => { const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data; let n = 0; for (let i = 3; i < data.length; i += 4) if (data[i] > 0) ++n; return n; });
    expect("pixels of worms", drawn > 2000 ? [] : [`${drawn}`]);
    await page.keyboard.press(" ");
    await page.waitForFunction(() => Number(document.body.dataset.frames) >= 20, { timeout: 120000 });
    console.log(`  1024 worms: a frame takes ${await page.$eval("body", (body) => body.dataset.frame)} ms of script (depends on the machine's load)`);
    expect("nothing on the console, no request", noise);
    await page.close();
    run("draw", "broadcast", "--on", "torus:80x80", "--html", "page.html", "--quiet");
    const sent = JSON.parse(run("check", "broadcast", "--on", "torus:80x80", "--json", "-", "--prove-up-to", "0"));
    const large = await open("page.html");
    expect("traffic between groups of 100 nodes", /Row: 100 nodes that send.*64 groups in all/.test(await large.page.$eval(".traffic", (card) => card.textContent)) ? [] : [await large.page.$eval(".traffic", (card) => card.textContent)]);
    const matrix = await (await large.page.$(".traffic canvas")).boundingBox();
    let messages = 0;
    for (let row = 0; row < 64; ++row) {
      for (let column = 0; column < 64; ++column) {
        const text = await large.page.evaluate((x, y) => { document.querySelector(".traffic canvas").dispatchEvent(new PointerEvent("pointermove", { clientX: x, clientY: y })); return document.querySelector(".traffic .hover").textContent; }, matrix.x + 3 * column + 1.5, matrix.y + 3 * row + 1.5);
        messages += Number(/ in ([\d\u202f]+) message/.exec(text)[1].replaceAll("\u202f", ""));
      }
    }
    expect("its cells have every message", differ("messages", messages, sent.messages));
    expect("a notice with both numbers", /6400 nodes; worms are shown for up to 4096/.test(await large.page.$eval(".notice", (notice) => notice.textContent)) ? [] : [await large.page.$eval(".notice", (notice) => notice.textContent)]);
    expect("nothing on the console, no request", large.noise);
    await large.page.close();
  },

  async "a page above its size limit shows loads, with a notice"() {
    const call = ["alltoall", "--on", "torus:8x8", "--algorithm", "shift"];
    // The page contains its command, so both commands have the same length.
    const draw = (limit) => { run("draw", ...call, "--html", "page.html", "--page-limit", String(limit), "--quiet"); return readFileSync(join(folder, "page.html")).length; };
    const whole = draw(999999);
    expect("as many bytes as are allowed", differ("bytes", draw(whole), whole));
    expect("a byte less", draw(whole - 1) < whole ? [] : ["no smaller"]);
    const { page, noise } = await open("page.html"), notice = (await page.$eval(".notice", (element) => element.textContent)).replaceAll("\u202f", "");
    expect("both numbers", notice.includes(`4032 messages; a page with their worms needs ${whole} bytes, and the limit is ${whole - 1}`) ? [] : [notice]);
    expect("no worms", differ("worms", (await page.$$("g.worm")).length, 0));
    const show = JSON.parse(run("show", "alltoall", "--on", "torus:8x8", "--algorithm", "shift", "--json", "-")), totals = new Map();
    for (const { messages } of show.steps) for (const { bytes, route } of messages) for (const { link } of route) totals.set(link, (totals.get(link) ?? 0) + bytes);
    const most = Math.max(...totals.values()), bands = await page.$$eval(".band", (all) => all.map((band) => [Number(band.dataset.link), Number(band.getAttribute("stroke-width"))])), widest = Math.max(...bands.map(([, width]) => width));
    expect("links by what they carry", [...differ("links", bands.map(([link]) => link).sort((a, b) => a - b), [...totals.keys()].sort((a, b) => a - b)), ...bands.filter(([link, width]) => Math.abs(width / widest - (1 + (1.67 * totals.get(link)) / most) / 2.67) > 1e-3).map(([link, width]) => `link ${link}: ${width} of ${widest}`)]);
    expect("traffic of groups", (await page.$(".traffic canvas")) ? [] : ["none"]);
    expect("nothing on the console, no request", noise);
    await page.close();
    const refused = spawnSync(program, ["draw", ...call, "--html", join(folder, "none.html"), "--page-limit", "40K"], { encoding: "utf8" });
    expect("a page that is above it without worms", refused.status === 2 && /needs \d+ bytes, and the limit is 40960: .*--page-limit/.test(refused.stderr) && !existsSync(join(folder, "none.html")) ? [] : [`${refused.status}: ${refused.stderr}`]);
  },

  async "1024 nodes and 200 000 messages: opened, played, strokes per frame"() {
    const call = ["broadcast", "--on", "torus:32x32", "--algorithm", "circulant:packets=196", "--bytes", "256K"];
    run("draw", ...call, "--html", "page.html", "--quiet");
    run("draw", "alltoall", "--on", "torus:8x8", "--algorithm", "shift", "--html", "small.html", "--quiet");
    const { messages } = JSON.parse(run("check", ...call, "--json", "-")), bytes = (file) => readFileSync(join(folder, file)).length;
    expect("the number of messages", messages >= 200000 ? [] : [`${messages}`]);
    expect("files are small", [...(bytes("page.html") < 1e7 ? [] : [`${bytes("page.html")} bytes`]), ...(bytes("small.html") < 1e6 ? [] : [`shift on 64 nodes: ${bytes("small.html")} bytes`])]);
    const { page, noise } = await open("page.html", { fragment: "#step=100", still: false, before: () => {
      new MutationObserver(() => { if (document.body?.dataset.ready) window.readyAt ??= performance.now(); }).observe(document, { attributes: true, subtree: true, attributeFilter: ["data-ready"] });
      window.drawn = 0;
      for (const name of ["stroke", "fill"]) {
        const before = CanvasRenderingContext2D.prototype[name];
        CanvasRenderingContext2D.prototype[name] = function counted(...args) { ++window.drawn; return before.apply(this, args); };
      }
    } });
    expect("every node takes part", Number(await page.$eval(".network.canvas", (canvas) => canvas.dataset.worms)) > 1000 ? [] : [await page.$eval(".network.canvas", (canvas) => canvas.dataset.worms)]);
    await page.keyboard.press(" ");
    const frames = await page.evaluate(() => new Promise((done) => {
      const seen = [];
      let last = performance.now(), script = 0, drawn = window.drawn;
      requestAnimationFrame(function frame(now) {
        seen.push({ between: now - last, script, drawn: window.drawn - drawn });
        last = now, script = Number(document.body.dataset.frame), drawn = window.drawn;
        if (seen.length <= 60) requestAnimationFrame(frame); else done(seen.slice(1));
      });
    }));
    const median = (key) => frames.map((frame) => frame[key]).sort((a, b) => a - b)[30];
    // Frame times depend on the load and lack a graphics card, so they are reported, not checked.
    console.log(`  ready after ${(await page.evaluate(() => window.readyAt / 1000)).toFixed(2)} s, ${(1000 / median("between")).toFixed(0)} frames a second, ${median("script").toFixed(1)} ms of script a frame; ${bytes("page.html")} bytes`);
    // The number of strokes makes a frame slow: worms that look the same are one stroke.
    expect("strokes of a frame", Math.max(...frames.map(({ drawn }) => drawn)) <= 60 ? [] : [JSON.stringify(frames.map(({ drawn }) => drawn))]);
    expect("it plays", new Set(frames.map(({ drawn }) => drawn > 0)).has(true) ? [] : ["nothing is drawn"]);
    expect("nothing on the console, no request", noise);
    await page.close();
  },

  async "hostile names stay text; without JavaScript the figures are there"() {
    const name = `<img src=x onerror=alert(1)>"'&\u202e]]>${"<script>alert(2)</script>".replaceAll("/", "")}${"long".repeat(40)}.txt`;
    writeFileSync(join(folder, name), "0 1\n1 2\n2 0\n");
    run("draw", "allgather", "--on", `graph:${name}`, "--html", "page.html", "--quiet");
    const { page, noise } = await open("page.html");
    expect("the title has it as text", (await page.$eval("h1", (head) => head.textContent)).includes(name) ? [] : [await page.$eval("h1", (head) => head.textContent)]);
    expect("no element came of it", (await page.$$("img")).length === 0 ? [] : ["an img"]);
    expect("no sideways scrolling", await page.evaluate(() => (document.documentElement.scrollWidth <= innerWidth ? [] : ["too wide"])));
    expect("nothing on the console, no request, no dialog", noise);
    await page.close();
    const plain = await open("page.html", { script: false });
    const text = await plain.page.$eval("body", (body) => body.textContent);
    expect("without JavaScript", text.includes("start-ups") && (await plain.page.$$("noscript svg")).length === 1 ? [] : ["figures or picture are missing"]);
    await plain.page.close();
  },

  async "a million characters in a graph's file; a plugin's hostile words"() {
    const line = `# <script>alert(1)</script><img src=x onerror=alert(2)>"'&${"\u202e"}${"x".repeat(3900)}\n`;
    writeFileSync(join(folder, "long.txt"), `${line.repeat(260)}0 1\n1 2\n2 0\n`);
    run("draw", "allgather", "--on", "graph:long.txt", "--html", "page.html", "--quiet");
    const { page, noise } = await open("page.html");
    expect("comments of a million characters: three nodes", differ("nodes", (await page.$$(".node")).length, 3));
    expect("none of them is in the page", (await page.content()).includes("x".repeat(100)) ? ["a comment is in the page"] : []);
    expect("nothing on the console, no request, no dialog", noise);
    await page.close();
    writeFileSync(join(folder, "one-line.txt"), `0 1\n1 2 <script>${"x".repeat(1000000)}\n`);
    const refused = spawnSync(program, ["draw", "allgather", "--on", "graph:one-line.txt", "--html", "refused.html"], { encoding: "utf8", cwd: folder });
    expect("a line of a million characters is refused in a sentence", refused.status === 2 && refused.stderr.length < 300 && refused.stderr.includes("line 2") && !existsSync(join(folder, "refused.html")) ? [] : [`${refused.status}: ${refused.stderr.slice(0, 300)}`]);

    // Texts of a plugin, and an algorithm name that no plugin may have, are shown as text.
    const hostile = `<img src=x onerror=alert(3)>"'&\u202e]]></script><script>alert(4)</script><!--`;
    run("draw", "alltoall", "--on", "torus:4x4", "--algorithm", "suh-torus,shift", "--html", "page.html", "--quiet");
    const text = readFileSync(join(folder, "page.html"), "utf8"), block = /(<script type="application\/json" id="wormcube">)([^]*?)(<\/script>)/;
    const data = JSON.parse(block.exec(text)[2]);
    for (const play of data.plays) {
      for (const key of ["algorithm", "summary", "source"]) play[key] = hostile;
      for (const phase of play.phases) phase.name = hostile;
    }
    writeFileSync(join(folder, "hostile.html"), text.replace(block, (_, head, _data, end) => `${head}${JSON.stringify(data).replaceAll("<", "\\u003c")}${end}`));
    const scripts = (text.match(/<script/g) ?? []).length;
    for (const fragment of ["#step=1&node=3", "#step=1&block=1-6&colour=phase", `#play=0,1`]) {
      const opened = await open("hostile.html", { fragment });
      const counts = await opened.page.evaluate(() => [document.images.length, document.scripts.length, document.querySelectorAll("[onerror]").length]);
      expect(`${fragment}: no element came of a name`, differ("img, script, handlers", counts, [0, scripts, 0]));
      expect(`${fragment}: the name is there`, await opened.page.evaluate((name) => (document.body.innerText.includes(name) ? [] : [document.querySelector("header").innerText]), hostile));
      expect(`${fragment}: no sideways scrolling`, await opened.page.evaluate(() => (document.documentElement.scrollWidth <= innerWidth ? [] : ["too wide"])));
      await opened.page.keyboard.press("v");
      await opened.page.evaluate(() => dispatchEvent(new Event("beforeprint")));
      expect(`${fragment}: nor in a comparison or in print`, differ("img, script", await opened.page.evaluate(() => [document.images.length, document.scripts.length]), [0, scripts]));
      // The search for elements finds one.
      await opened.page.evaluate(() => document.querySelector("h1").insertAdjacentHTML("beforeend", "<img alt=''>"));
      expect("an element is found", differ("img", await opened.page.evaluate(() => document.images.length), 1));
      expect("nothing on the console, no request, no dialog", opened.noise);
      await opened.page.close();
    }
  },

  async "a plugin whose words are markup"() {
    if (plugins === null) {
      console.log("  not looked at: give the folder of the built plugins, --plugins FOLDER");
      return;
    }
    const hostile = `<img src=x onerror=alert(3)>"'&\u202e]]></script><script>alert(4)</script><!--`, call = ["--plugin", join(plugins, "libhostile_words.so")];
    const refused = spawnSync(program, ["--plugin", join(plugins, "libhostile_name.so"), "list", "broadcast"], { encoding: "utf8" });
    expect("a name of markup is refused", refused.status === 2 && refused.stderr.includes("a name has letters, digits") ? [] : [`${refused.status}: ${refused.stderr}`]);
    const strangers = (page) => page.evaluate(() => [document.images.length, document.querySelectorAll("[onerror]").length, [...document.scripts].filter((script) => script.textContent.startsWith("alert")).length]);
    const clean = async (what, page, noise) => {
      expect(`${what}: no element came of a word`, differ("img, handlers, scripts", await strangers(page), [0, 0, 0]));
      expect(`${what}: nothing on the console, no request, no dialog`, noise);
    };
    run(...call, "draw", "broadcast", "--on", "ring:6", "--algorithm", "hostile,halving", "--html", "page.html", "--quiet");
    for (const [what, options] of [["page", {}], ["phase", { fragment: "#step=3&colour=phase" }], ["comparison", { fragment: "#play=hostile,halving" }], ["phone", { width: 390, height: 844 }], ["without JavaScript", { script: false }]]) {
      const { page, noise } = await open("page.html", options);
      const text = await page.evaluate(() => document.body.textContent);
      if (what !== "comparison") expect(`${what}: its words are there`, text.includes(hostile) ? [] : [text.slice(0, 300)]);
      expect(`${what}: no sideways scrolling`, await page.evaluate(() => (document.documentElement.scrollWidth <= innerWidth ? [] : ["too wide"])));
      await clean(what, page, noise);
      if (what === "page") {
        await page.evaluate(() => document.querySelector("h1").insertAdjacentHTML("beforeend", "<img alt='' data-x onerror=''>"));
        expect("an element is found", differ("img, handlers, scripts", await strangers(page), [1, 1, 0]));
      }
      await page.close();
    }
    run(...call, "draw", "broadcast", "--on", "ring:6", "--algorithm", "hostile", "--svg", "still.svg", "--pdf", "still.pdf", "--quiet");
    run(...call, "run", "broadcast", "--on", "ring:6", "--algorithm", "hostile,halving", "--bytes", "64,1K", "--iterations", "2", "--plot", "plot.html", "--quiet");
    for (const file of ["still.svg", "plot.html"]) {
      const { page, noise } = await open(file, { script: file === "plot.html" });
      expect(`${file}: well formed`, await page.evaluate(() => (document.querySelector("parsererror") ? [document.querySelector("parsererror").textContent] : [])));
      await clean(file, page, noise);
      await page.close();
    }
    expect("the still picture has the words", readFileSync(join(folder, "still.svg"), "utf8").includes("&lt;img src=x") ? [] : ["they are missing"]);
  },

  async "phone, dark, print, and screen readers"() {
    run("draw", "alltoall", "--on", "torus:8x8", "--algorithm", "suh-torus,shift", "--html", "page.html", "--quiet");
    for (const [what, options] of [["light", { fragment: "#play=suh-torus" }], ["dark", { dark: true, fragment: "#play=suh-torus&step=2&node=27" }], ["phone", { width: 390, height: 844, fragment: "#play=suh-torus&node=27" }], ["comparison", {}], ["comparison, phone", { width: 390, height: 844 }]]) {
      const { page, noise } = await open("page.html", options);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(`${what}: no sideways scrolling`, wide <= 0 ? [] : [`${wide} px too wide`]);
      const head = () => page.$eval("header", (header) => (header.offsetHeight < 0.3 * innerHeight ? [] : [`${header.offsetHeight} of ${innerHeight} px`]));
      expect(`${what}: the head leaves room`, await head());
      if (what === "phone") {
        await page.$eval(".titles", (titles) => { titles.style.flexBasis = "0", titles.style.maxWidth = "50px"; });
        expect("a head that fills the screen is found", (await head()).length > 0 ? [] : ["not found"]);
        await page.$eval(".titles", (titles) => titles.removeAttribute("style"));
      }
      await page.evaluate(axe);
      expect(`${what}: axe`, await page.evaluate(findings));
      expect(`${what}: nothing on the console, no request`, noise);
      await page.close();
    }
    const both = await open("page.html");
    await both.page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    expect("a comparison prints the steps of both, at most 12 of each", differ("pictures", (await both.page.$$("#print figure")).length, 18));
    await both.page.close();
    const { page, noise } = await open("page.html", { fragment: "#play=suh-torus" });
    await page.emulateMediaType("print");
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    expect("print has all steps", differ("pictures", (await page.$$("#print figure")).length, 6));
    expect("print: worms", differ("worms", (await page.$$("#print figure:first-child g.worm")).length, 64));
    // Canvases of large networks are printed in the light theme's colours, each inside its figure.
    run("draw", "alltoall", "--on", "torus:17x16", "--algorithm", "mesh", "--html", "large.html", "--quiet");
    const large = await open("large.html", { dark: true });
    await large.page.emulateMediaType("print");
    await large.page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    const printed = await large.page.$$eval("#print figure", (figures) => figures.map((figure) => {
      const outer = figure.getBoundingClientRect(), colours = new Set();
      for (const canvas of figure.querySelectorAll("canvas")) {
        const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
        for (let i = 0; i < data.length; i += 4) if (data[i + 3] === 255) colours.add(`${data[i]},${data[i + 1]},${data[i + 2]}`);
        const box = canvas.getBoundingClientRect();
        if (box.width < 100 || box.left < outer.left - 1 || box.right > outer.right + 1 || box.top < outer.top - 1 || box.bottom > outer.bottom + 1) return `a canvas of ${box.width} x ${box.height} outside its figure`;
      }
      return figure.querySelectorAll("canvas").length === 1 && colours.has("221,226,233") && (colours.has("0,114,178") || colours.has("0,158,115")) ? "" : "no links and worms in the light theme's colours on one canvas";
    }));
    expect("print of canvases", [...(printed.length > 1 ? [] : ["no figures"]), ...printed.filter(Boolean)]);
    expect("nothing on the console, no request", large.noise);
    await large.page.close();
    expect("nothing on the console, no request", noise);
    await page.close();
  },

  async "plots: the points are those of the file"() {
    run("run", "alltoall", "--on", "ring:4", "--algorithm", "shift,ring", "--bytes", "64,256,1K", "--iterations", "3", "--json", "times.json", "--quiet");
    run("plot", "times.json", "--html", "page.html", "--svg", "plot.svg");
    const rows = JSON.parse(readFileSync(join(folder, "times.json"), "utf8"));
    const { page, noise } = await open("page.html");
    const points = await page.$$eval("svg.plot:first-of-type [data-x]", (marks) => marks.map((mark) => [mark.dataset.name, Number(mark.dataset.x), Number(mark.dataset.y)]));
    const first = await page.$eval("svg.plot", (plot) => [...plot.querySelectorAll("[data-x]")].map((mark) => [mark.dataset.name, Number(mark.dataset.x), Number(mark.dataset.y)]));
    const expected = rows.map((row) => [row.algorithm, row.block_bytes, row.time_median_us]);
    const sorted = (list) => list.map((point) => JSON.stringify(point)).sort();
    expect("points", points.length >= first.length ? differ("points", sorted(first), sorted(expected)) : ["none"]);
    expect("a table of them", (await page.$$("table tbody tr")).length >= expected.length ? [] : ["rows are missing"]);
    await page.evaluate(axe);
    expect("axe", await page.evaluate(findings));
    expect("nothing on the console, no request", noise);
    await page.close();
    run("run", "alltoall", "--on", "ring:4", "--algorithm", "shift,ring", "--bytes", "64,256", "--iterations", "2", "--plot", "once.html", "--json", "once.json", "--quiet");
    const once = await open("once.html"), values = await once.page.$eval("svg.plot", (plot) => [...plot.querySelectorAll("[data-y]")].map((mark) => Number(mark.dataset.y)));
    expect("run --plot has the run's points", differ("points", values.sort(), JSON.parse(readFileSync(join(folder, "once.json"), "utf8")).map((row) => row.time_median_us).sort()));
    expect("nothing on the console, no request", once.noise);
    await once.page.close();
  },

  async "plots of what other commands wrote"() {
    const marks = (page) => page.$$eval("svg.plot [data-name]", (all) => all.map((mark) => [mark.dataset.name, mark.dataset.x, Number(mark.dataset.y)]));
    const sorted = (list) => list.map((point) => JSON.stringify(point)).sort();
    const plot = async (file) => { run("plot", file, "--html", "page.html"); return open("page.html"); };

    run("reproduce", "kim", "--sizes", "4,8", "--json", "kim.json", "--quiet");
    const kim = JSON.parse(readFileSync(join(folder, "kim.json"), "utf8"));
    let { page, noise } = await plot("kim.json");
    expect("a paper's tables", differ("points", sorted(await marks(page)), sorted(kim.rows.flatMap((row) => ["startups", "transmission_blocks", "rearranged_blocks"].filter((key) => row[key].counted > 0).map((key) => [row.row, row.topology, row[key].counted])))));
    expect("nothing on the console, no request", noise);
    await page.close();

    // In dark mode every word is legible, and no mark keeps a light colour.
    const contrasts = (file) => file.page.$eval("svg.plot", (plot) => {
      const rgb = (text) => text.match(/[\d.]+/g).slice(0, 3).map((part) => { const c = Number(part) / 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; });
      const light = (text) => { const [r, g, b] = rgb(text); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
      const ground = light(getComputedStyle(plot.querySelector("rect")).fill);
      const ratio = (colour) => { const l = light(colour); return (Math.max(l, ground) + 0.05) / (Math.min(l, ground) + 0.05); };
      return {
        ground, texts: [...plot.querySelectorAll("text")].map((text) => [text.textContent, ratio(getComputedStyle(text).fill)]),
        marks: [...plot.querySelectorAll("[data-name]")].map((mark) => [mark.dataset.name, ratio(getComputedStyle(mark)[getComputedStyle(mark).stroke === "none" ? "fill" : "stroke"])]),
      };
    });
    for (const dark of [true, false]) {
      const opened = await open("page.html", { dark }), { ground, texts, marks: points } = await contrasts(opened);
      expect(`a paper's plot, ${dark ? "dark" : "light"}: its ground`, (ground < 0.2) === dark ? [] : [`${ground}`]);
      expect("words can be read", [...(texts.length > 10 ? [] : ["no words"]), ...texts.filter(([, contrast]) => contrast < 4.5).map(([text, contrast]) => `${text}: ${contrast.toFixed(2)}`)]);
      expect("marks can be seen", [...(points.length > 3 ? [] : ["no marks"]), ...points.filter(([, contrast]) => contrast < 3).map(([name, contrast]) => `${name}: ${contrast.toFixed(2)}`)]);
      expect("nothing on the console, no request", opened.noise);
      await opened.page.close();
    }

    run("list", "alltoall", "--on", "torus:4x4,torus:4x8", "--bytes", "64,4K", "--json", "model.json", "--quiet");
    const model = JSON.parse(readFileSync(join(folder, "model.json"), "utf8")).filter((row) => row.admitted && row.considered_by_auto && row.model_time_us !== null && row.model_contention !== "unknown");
    ({ page, noise } = await plot("model.json"));
    const cells = await page.$$eval("[data-winner]", (all) => all.map((cell) => ({ nodes: Number(cell.dataset.nodes), bytes: Number(cell.dataset.x), winner: cell.dataset.winner, factor: Number(cell.dataset.factor) })));
    expect("a winner for each network, size and port model", differ("cells", cells.length, 8));
    // In both themes the number of each cell is legible.
    for (const scheme of ["light", "dark"]) {
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
      const faint = await page.evaluate(() => {
        const rgb = (text) => text.match(/[\d.]+/g).slice(0, 3).map(Number), linear = (c) => (c <= 10.31 ? c / 12.92 / 255 : ((c / 255 + 0.055) / 1.055) ** 2.4), light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
        return [...document.querySelectorAll("[data-winner]")].flatMap((cell) => {
          const under = rgb(getComputedStyle(cell.closest("svg").querySelector("rect")).fill), over = rgb(getComputedStyle(cell).fill), part = Number(cell.getAttribute("opacity") ?? 1);
          const ground = light(over.map((c, i) => part * c + (1 - part) * under[i])), word = light(rgb(getComputedStyle(cell.nextElementSibling).fill)), contrast = (Math.max(ground, word) + 0.05) / (Math.min(ground, word) + 0.05);
          return contrast < 3 ? [`${cell.nextElementSibling.textContent} of ${cell.dataset.winner}: ${contrast.toFixed(2)}`] : [];
        });
      });
      expect(`numbers in the map of winners, ${scheme}`, faint);
    }
    for (const [i, cell] of cells.entries()) {
      const one_port = i < 4;  // the second map is for all ports and includes one-port algorithms
      const rivals = model.filter((row) => (!one_port || row.ports === "one") && row.block_bytes === cell.bytes && (row.topology === "torus:4x4") === (cell.nodes === 16)).map((row) => row.model_time_us).sort((a, b) => a - b);
      expect(`the fastest of ${cell.nodes} nodes and ${cell.bytes} bytes`, Math.abs(cell.factor - rivals[1] / rivals[0]) < 1e-4 * cell.factor ? [] : [`${cell.factor}, not ${rivals[1] / rivals[0]}`]);
    }
    expect("nothing on the console, no request", noise);
    await page.close();

    run("replay", "alltoall", "--on", "ring:4", "--algorithm", "shift,ring", "--bytes", "64,1K", "--json", "replay.json", "--quiet");
    ({ page } = await plot("replay.json"));
    expect("a replay", differ("points", sorted(await marks(page)), sorted(JSON.parse(readFileSync(join(folder, "replay.json"), "utf8")).map((row) => [row.algorithm, String(row.block_bytes), row.time_ps / 1e6]))));
    await page.close();

    writeFileSync(join(folder, "bench.json"), JSON.stringify({ context: { host_name: "h", num_cpus: 2, date: "d" }, benchmarks: [8, 64].map((size) => ({ name: `copy/two/${size}/real_time`, run_type: "iteration", real_time: 500 * size, time_unit: "ns" })) }));
    ({ page } = await plot("bench.json"));
    expect("benchmarks", differ("points", sorted(await marks(page)), sorted([["copy/two/real_time", "8", 4], ["copy/two/real_time", "64", 32]])));
    await page.close();

    // Names are shown as text.
    const hostile = `<img src=x onerror=alert(1)>"'&\u202e</svg><script>alert(2)</script>`;
    writeFileSync(join(folder, "hostile.json"), JSON.stringify([64, 256].map((size) => ({ operation: hostile, algorithm: hostile, topology: hostile, nodes: 4, block_bytes: size, time_median_us: size, made: { schema: 1, version: hostile, command: hostile, host: hostile, cores: 2, date: hostile } }))));
    ({ page, noise } = await plot("hostile.json"));
    expect("hostile names stay text", (await page.$$("img")).length === 0 && (await page.$$("script")).length === 1 && (await marks(page)).every(([name]) => name === hostile) ? [] : ["an element came of a name"]);
    expect("nothing on the console, no request", noise);
    await page.close();
  },

  async "the gallery: filters, search, every link"() {
    const made = spawnSync("python3", [join(draw, "gallery.py"), program, join(folder, "site"), "^(alltoall/suh-torus|broadcast/tree|barrier/dissemination|paper/wang-tseng|network/(petersen|torus:6x6))$"], { encoding: "utf8" });
    expect("it is made", made.status === 0 ? [] : [made.stderr]);
    const { page, noise } = await open("site/index.html");
    const visible = () => page.$$eval(".gallery-card:not([hidden]) .name", (names) => names.map((name) => name.firstChild.textContent.trim()).sort());
    const pictures = await page.$$eval(".gallery-card img", (all) => Promise.all(all.map(async (image) => { image.loading = "eager"; await image.decode().catch(() => {}); return image.naturalWidth > 0 ? "" : `${image.alt} has no picture`; })));
    expect("its pictures", [...differ("pictures", pictures.length, 5), ...pictures.filter(Boolean)]);
    const size = readFileSync(join(folder, "site", "index.html")).length, bundled = readFileSync(join(draw, "bundle", "page.css")).length + readFileSync(join(draw, "bundle", "gallery.js")).length;
    expect("a card more is less than 1.5 KB of the index", size - bundled < 3000 + 5 * 1500 ? [] : [`${size} bytes`]);
    // The pictures follow the page's theme, which overrides the system's.
    const ground = async () => {
      const box = await (await page.$(".gallery-card[data-family=torus] img")).boundingBox();
      const shot = await page.screenshot({ encoding: "base64", clip: { x: box.x, y: box.y, width: box.width, height: box.height } });
      return page.evaluate(async (data) => {
        const image = new Image();
        image.src = `data:image/png;base64,${data}`;
        await image.decode();
        const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height }), context = canvas.getContext("2d");
        context.drawImage(image, 0, 0);
        const { data: pixels } = context.getImageData(0, 0, image.width, image.height);
        let light = 0;
        for (let i = 0; i < pixels.length; i += 4) if (pixels[i] + pixels[i + 1] + pixels[i + 2] > 600) ++light;
        return light / (pixels.length / 4);
      }, shot);
    };
    for (const [theme, isLight] of [["light", true], ["dark", false]]) {
      await page.click("#theme");
      const share = await ground();
      expect(`its pictures, ${theme}`, share > 0.5 === isLight ? [] : [`${(100 * share).toFixed(0)} % of a picture is light`]);
    }
    await page.click("#theme");
    expect("all cards", differ("cards", await visible(), ["dissemination", "petersen", "suh-torus", "torus:6x6", "tree"]));
    await page.click("[data-family-filter=torus]");
    const tori = await page.$$eval(".gallery-card[data-family=torus]", (cards) => cards.length);
    expect("a family", differ("cards", (await visible()).length, tori));
    await page.click("[data-family-filter='']");
    await page.keyboard.press("/");
    await page.keyboard.type("suh");
    expect("a search", differ("cards", await visible(), ["suh-torus"]));
    const links = await page.$$eval("a[href]", (all) => all.map((link) => link.getAttribute("href")));
    expect("links", differ("links", links.length, 4));
    for (const link of links) expect(link, existsSync(join(folder, "site", link)) ? [] : ["is not there"]);
    await page.evaluate(axe);
    expect("axe", await page.evaluate(findings));
    await page.goto(pathToFileURL(join(folder, "site", "alltoall-suh-torus.html")).href);
    // Printed pages are light, without controls, and show the steps instead of the player.
    const paper = async () => {
      const media = await page.createCDPSession();
      await media.send("Emulation.setEmulatedMedia", { media: "print", features: [{ name: "prefers-color-scheme", value: "dark" }] });
      const seen = await page.evaluate(async () => {
        await Promise.all([...document.images].map((image) => image.decode().catch(() => {})));
        const shown = (selector) => [...document.querySelectorAll(selector)].filter((element) => element.checkVisibility()).length;
        return { ground: getComputedStyle(document.body).backgroundColor, card: [...document.querySelectorAll(".card")].map((card) => getComputedStyle(card).backgroundColor).find((colour) => colour !== "rgb(255, 255, 255)") ?? "", controls: shown(".gallery-tools, iframe"), steps: [...document.querySelectorAll(".steps img")].filter((image) => image.checkVisibility() && image.naturalWidth > 0).length, wide: document.documentElement.scrollWidth - innerWidth };
      });
      await media.send("Emulation.setEmulatedMedia", { media: "", features: [] });
      await media.detach();
      return seen;
    };
    expect("on paper, an algorithm", differ("page", await paper(), { ground: "rgb(255, 255, 255)", card: "", controls: 0, steps: 1, wide: 0 }));
    await page.goto(pathToFileURL(join(folder, "site", "index.html")).href);
    expect("on paper, the index", differ("page", await paper(), { ground: "rgb(255, 255, 255)", card: "", controls: 0, steps: 0, wide: 0 }));
    await page.goto(pathToFileURL(join(folder, "site", "alltoall-suh-torus.html")).href);
    expect("on a screen the player, not the steps", await page.evaluate(() => (document.querySelector("iframe").checkVisibility() && !document.querySelector(".steps").checkVisibility() ? [] : ["not so"])));
    const frame = await (await page.waitForSelector("iframe")).contentFrame();
    await frame.waitForSelector("body[data-ready]");
    expect("the player in its page", differ("title", await frame.$eval("h1", (head) => head.textContent.trim()), "alltoall on torus:8×8 suh-torus"));
    await page.goto(pathToFileURL(join(folder, "site", "paper-wang-tseng.html")).href);
    expect("a paper's figure", differ("plots", (await page.$$(".plots svg")).length, 1));
    for (const scheme of ["light", "dark"]) {
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
      const colours = await page.$eval(".plots svg", (plot) => [plot.querySelector("rect"), plot.querySelector("text")].map((element) => getComputedStyle(element).fill.match(/\d+/g).reduce((sum, part) => sum + Number(part), 0)));
      expect(`a paper's figure, ${scheme}`, colours[0] > colours[1] === (scheme === "light") ? [] : [`ground ${colours[0]}, words ${colours[1]}`]);
    }
    expect("nothing on the console, no request", noise);
    await page.close();
  },
  async "sets of nodes"() {
    const legendOf = (page) => page.$eval("#page .legend", (legend) => [...legend.querySelectorAll(".node-set, .cell")].map((sample) => sample.parentElement.textContent));
    run("draw", "alltoall", "--on", "torus:8x8", "--algorithm", "kim-a1", "--node-sets", "--html", "page.html", "--quiet");
    const marked = await open("page.html"), picture = run("draw", "alltoall", "--on", "torus:8x8", "--algorithm", "kim-a1", "--node-sets", "--step", "0", "--svg", "-");
    const names = await legendOf(marked.page);
    expect("the legend names the sets and the cells", names.length > 1 && names.every((name) => picture.includes(name)) ? [] : [JSON.stringify(names)]);
    const count = (name) => (picture.match(new RegExp(`class="${name}"`, "g")) ?? []).length;
    for (const name of ["set", "cell"]) expect(`as many as in a still picture: ${name}`, differ(name, (await marked.page.$$(`.sets .${name}`)).length, count(name)));
    expect("nothing on the console, no request", marked.noise);
    await marked.page.close();
    run("draw", "alltoall", "--on", "torus:8x8", "--algorithm", "kim-a1", "--html", "page.html", "--quiet");
    const plain = await open("page.html");
    expect("none without the option", differ("legend", await legendOf(plain.page), []));
    expect("no marks either", differ("marks", (await plain.page.$$(".sets rect")).length, 0));
    await plain.page.close();
    run("draw", "alltoall", "--on", "torus:24x24", "--algorithm", "kim-a1", "--node-sets", "--html", "page.html", "--quiet");
    const canvas = await open("page.html");
    expect("a canvas has the legend too", (await legendOf(canvas.page)).length > 1 ? [] : ["no entries"]);
    expect("nothing on the console, no request", canvas.noise);
    await canvas.page.close();
  },
};

try {
  for (const [name, test] of Object.entries(cases)) {
    if (wanted.length > 0 && !wanted.some((part) => name.includes(part))) continue;
    console.log(name);
    try {
      await test();
    } catch (error) {
      expect(name, [error.stack ?? String(error)]);
    }
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
console.log(failures === 0 ? `passed: ${checks} checks` : `${failures} of ${checks} checks failed`);
process.exit(failures === 0 ? 0 : 1);
