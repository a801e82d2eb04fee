// The gallery's index: filters and a search field. Without this script all cards are visible.
// SPDX-License-Identifier: Apache-2.0
const cards = [...document.querySelectorAll(".gallery-card")],
      find = document.getElementById("find");
let family = "";
function filter() {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const card of cards) {
    const text = `${card.textContent} ${card.querySelector("img").alt}`.toLowerCase();
    card.hidden = (family !== "" && card.dataset.family !== family) ||
        !words.every((word) => text.includes(word));
  }
  for (const section of document.querySelectorAll("section.operation"))
    section.hidden = ![...section.querySelectorAll(".gallery-card")].some((card) => !card.hidden);
}
for (const button of document.querySelectorAll("[data-family-filter]")) {
  button.addEventListener("click", () => {
    family = button.dataset.familyFilter;
    for (const other of document.querySelectorAll("[data-family-filter]"))
      other.setAttribute("aria-pressed", other === button);
    filter();
  });
}
find?.addEventListener("input", filter);
addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== find) {
    event.preventDefault();
    find?.focus();
  }
});
const themes = ["", "light", "dark"];
document.getElementById("theme")?.addEventListener("click", () => {
  const { dataset } = document.documentElement;
  dataset.theme = themes[(themes.indexOf(dataset.theme ?? "") + 1) % 3];
});
document.body.dataset.ready = "1";
