// Makes elements. Text is inserted as text, never as markup.
// SPDX-License-Identifier: Apache-2.0

const space = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}
export const h = (name, attributes, ...children) =>
    fill(document.createElement(name), attributes, children);
export const svg = (name, attributes, ...children) =>
    fill(document.createElementNS(space, name), attributes, children);

/** Formats a number: thousands separated; four significant digits, and all digits of integers. */
export function figure(value) {
  if (value === null || value === undefined) return "–";
  const digits = Math.max(4, Math.floor(Math.log10(Math.abs(value) || 1)) + 1);
  const text = Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(digits)));
  const [whole, part] = text.split(".");
  const parted = whole.length > 3 ? whole.replace(/\B(?=(\d{3})+$)/g, "\u202f") : whole;
  return part ? `${parted}.${part}` : parted;
}
/** Formats microseconds as µs, ms or s, with the four digits of the program's tables. */
export function time(us) {
  if (us < 1000) return `${Number(us.toPrecision(4))} µs`;
  if (us < 1e6) return `${Number((us / 1000).toPrecision(4))} ms`;
  return `${Number((us / 1e6).toPrecision(4))} s`;
}
export function bytes(n) {
  const units = ["B", "KiB", "MiB", "GiB"];
  let i = 0;
  for (; n >= 1024 && i + 1 < units.length; ++i) n /= 1024;
  return `${Number(n.toPrecision(3))} ${units[i]}`;
}
export const plural = (n, what, many = `${what}s`) => `${figure(n)} ${n === 1 ? what : many}`;
/** "step 0 (of 0 to 5)": steps are numbered from 0. */
export const stepText = (step, steps) =>
    `step ${step} ${steps === 1 ? "(the only one)" : `(of 0 to ${steps - 1})`}`;
/** Replaces the x of dimensions by a multiplication sign; for titles only. */
export const crossed = (text) => text.replace(/(\d)x(?=\d)/g, "$1×");
