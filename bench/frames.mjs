// How long pages of `wormcube draw` take to open, and their frame rate.
//
//   node bench/frames.mjs CHROMIUM FILE.html[#FRAGMENT]..
//
// Needs puppeteer-core of apps/draw (npm ci there).
// SPDX-License-Identifier: Apache-2.0
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const [, , executablePath, ...files] = process.argv;
const require = createRequire(join(dirname(fileURLToPath(import.meta.url)), "../apps/draw/package.json"));
const puppeteer = (await import(pathToFileURL(require.resolve("puppeteer-core")).href)).default;
const browser = await puppeteer.launch({ executablePath, headless: true, args: ["--no-sandbox", "--disable-gpu"] });
const frames = 120;
for (const spec of files) {
  const [file, fragment = ""] = spec.split("#");
  const page = await browser.newPage();
  await page.setViewport({ width: 1440, height: 900 });
  const begun = performance.now();
  await page.goto(`${pathToFileURL(resolve(file)).href}#${fragment}`);
  await page.waitForSelector("body[data-ready]", { timeout: 120000 });
  const opened = performance.now() - begun;
  await page.keyboard.press(" ");
  const times = await page.evaluate((count) => new Promise((done) => {
    const at = [];
    const frame = (now) => { at.push(now); at.length <= count ? requestAnimationFrame(frame) : done(at.slice(1).map((time, i) => time - at[i]).sort((a, b) => a - b)); };
    requestAnimationFrame(frame);
  }), frames);
  console.log(`${spec}: open in ${(opened / 1000).toFixed(2)} s; median of ${frames} frames ${times[frames / 2].toFixed(1)} ms, ${(1000 / times[frames / 2]).toFixed(0)} a second`);
  await page.close();
}
await browser.close();
