// Plots: the values under the pointer, and the points as CSV. The pictures themselves need no
// script. SPDX-License-Identifier: Apache-2.0
const tip = document.createElement("div");
tip.className = "tip", tip.hidden = true;
document.body.append(tip);
for (const picture of document.querySelectorAll("svg.plot")) {
  const points = [...picture.querySelectorAll("[data-x]")];
  const columns = [...new Set(points.map((point) => Number(point.dataset.px)))];
  if (columns.length === 0) continue;
  picture.addEventListener("pointermove", (event) => {
    const box = picture.getBoundingClientRect(),
          x = ((event.clientX - box.left) * picture.viewBox.baseVal.width) / box.width;
    const near = columns.reduce(
        (best, column) => (Math.abs(column - x) < Math.abs(best - x) ? column : best));
    const here = points.filter((point) => Number(point.dataset.px) === near && point.dataset.name);
    tip.replaceChildren(...[here[0]?.dataset.xText,
                            ...here.map((point) => `${point.dataset.name}: ${point.dataset.text}`)]
                            .filter(Boolean)
                            .map((text) => {
                              const line = document.createElement("div");
                              line.textContent = text;
                              return line;
                            }));
    tip.hidden = here.length === 0 || Math.abs(near - x) > 60;
    tip.style.left = `${Math.min(innerWidth - 260, event.clientX + 14)}px`,
    tip.style.top = `${event.clientY + 14}px`;
  });
  picture.addEventListener("pointerleave", () => { tip.hidden = true; });
}
for (const button of document.querySelectorAll("[data-csv]")) {
  button.addEventListener("click", () => {
    const rows = [...document.getElementById(button.dataset.csv).querySelectorAll("tr")].map(
        (row) => [...row.children]
                     .map(
                         (cell) =>
                             (/[",\n]/.test(cell.textContent) ?
                                  `"${cell.textContent.replaceAll('"', '""')}"` :
                                  cell.textContent))
                     .join(","));
    const link = document.createElement("a");
    link.href = `data:text/csv;charset=utf-8,${encodeURIComponent(rows.join("\r\n") + "\r\n")}`,
    link.download = "wormcube.csv";
    link.click();
  });
}
document.getElementById("theme")?.addEventListener("click", () => {
  const themes = ["", "light", "dark"], { dataset } = document.documentElement;
  dataset.theme = themes[(themes.indexOf(dataset.theme ?? "") + 1) % 3];
});
document.body.dataset.ready = "1";
