// Makes bundle/ from source/. `node build.mjs --check` reports whether bundle/ is up to date.
// SPDX-License-Identifier: Apache-2.0
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
let build;
try {
  ({ build } = await import("esbuild"));
} catch {
  console.log("skipped: esbuild is missing; run npm ci in apps/draw");
  process.exit(0);
}

const here = dirname(fileURLToPath(import.meta.url));
const outputs = ["player.js", "plot.js", "gallery.js", "page.css"];
const check = process.argv.includes("--check");
let stale = 0;
for (const name of outputs) {
  const result = await build({
    entryPoints: [join(here, "source", name)],
    bundle: true,
    minify: true,
    write: false,
    charset: "utf8",
    legalComments: "none",
    target: ["chrome111", "firefox113", "safari16.4"],
    format: name.endsWith(".js") ? "iife" : undefined,
  });
  const made = "Made from apps/draw/source by apps/draw/build.mjs.";
  const text = `/* ${made} SPDX-License-Identifier: Apache-2.0 */\n${result.outputFiles[0].text}`;
  const file = join(here, "bundle", name);
  if (check) {
    let now = "";
    try { now = readFileSync(file, "utf8"); } catch { /* missing: stale */ }
    if (now === text) continue;
    console.error(`${name}: bundle/${name} is out of date: run \`npm run build\``);
    ++stale;
  } else {
    writeFileSync(file, text);
    console.log(`${name} ${text.length}`);
  }
}
process.exitCode = stale > 0 ? 1 : 0;
