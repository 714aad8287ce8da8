"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const [step, by, search, count] = ["step", "by", "search", "count"].map(id => document.getElementById(id));

function sort(table, place) {
  const heads = table.tHead.rows[0].cells;
  const numbers = heads[place].classList.contains("number");
  const before = heads[place].getAttribute("aria-sort");
  const down = before ? before === "ascending" : numbers;
  for (const head of heads) head.removeAttribute("aria-sort");
  heads[place].setAttribute("aria-sort", down ? "descending" : "ascending");
  const key = row => row.cells[place].dataset.key;
  const rows = [...table.tBodies[0].rows].sort((one, other) => {
    const [a, b] = [key(one), key(other)];
    if (a === "" || b === "") return (a === "") - (b === "");  // what is not known stands last
    const order = numbers ? a - b : a.localeCompare(b);
    return down ? -order : order;
  });
  table.tBodies[0].append(...rows);
}

function show() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const place of document.querySelectorAll(".scroll[id]")) place.hidden = place.id !== `by-${by.value}`;
  for (const said of document.querySelectorAll("[data-of]")) said.hidden = said.dataset.of !== by.value;
  const rows = [...document.querySelectorAll(`#by-${by.value} tbody tr`)];
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = !words.every(word => text.includes(word));
  }
  count.textContent = `${rows.filter(row => !row.hidden).length} of ${rows.length} rows`;
}

for (const table of document.querySelectorAll("table")) {
  table.querySelectorAll("th button").forEach((button, place) => {
    button.addEventListener("click", () => sort(table, place));
  });
}
for (const event of ["input", "change"]) {
  search.addEventListener(event, show);
  by.addEventListener(event, show);
}
