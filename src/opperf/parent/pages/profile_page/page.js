"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const [step, by, search, count] = ["step", "by", "search", "count"].map(id => document.getElementById(id));

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

for (const event of ["input", "change"]) {
  search.addEventListener(event, show);
  by.addEventListener(event, show);
}
