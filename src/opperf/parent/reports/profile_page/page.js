"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const [step, by, search, count] = ["step", "by", "search", "count"].map(id => document.getElementById(id));
// Kinds differ by pattern as well, for eyes and printers that see no colours.
const patterns = {kernel: "/", task: "\\", api: "."};
// Named one by one: plotly's own choice has a button that sends the chart to its makers.
const whole = {name: "whole", title: "Show all of it", icon: Plotly.Icons.home, click: () => drawTime()};
const buttons = [["toImage"], ["zoom2d", "pan2d"], ["zoomIn2d", "zoomOut2d", whole]];
const config = {
  responsive: true, displaylogo: false, showSendToCloud: false, modeBarButtons: buttons, doubleClick: false,
};

function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function isNarrow() {
  return innerWidth < 700;
}

function look(kind) {
  const pattern = {shape: patterns[kind] || "", fillmode: "overlay", size: 6, solidity: 0.15};
  return {
    marker: {color: color(kind), line: {width: 0.5, color: color("paper")}, pattern},
    insidetextfont: {color: kind === "operator" ? "#ffffff" : "#000000"},
  };
}

function layout(xaxis, yaxis, top, lines, more) {
  const axis = {gridcolor: color("line"), zerolinecolor: color("line"), automargin: true, fixedrange: true};
  return {
    height: top + 32 + Math.min(1600, 24 * lines),
    font: {color: color("ink"), size: 12},
    paper_bgcolor: color("paper"),
    plot_bgcolor: color("paper"),
    margin: {l: 8, r: 16, t: top, b: 32},
    hoverlabel: {align: "left", bgcolor: color("band"), bordercolor: color("faint"), font: {color: color("ink")}},
    xaxis: {...axis, ...xaxis},
    yaxis: {
      ...axis, showgrid: false, zeroline: false, ticks: "outside", ticklen: 4, tickcolor: color("paper"),
      range: [lines - 0.5, -0.5], ...yaxis,
    },
    ...more,
  };
}

function drawShares() {
  const {names, shares, said, others} = data.shares[by.value];
  if (!document.getElementById("shares")) return;
  document.getElementById("others").textContent = others;
  const lines = names.map((_, line) => line);
  const bars = {
    type: "bar", orientation: "h", ...look("operator"), x: shares, y: lines,
    text: said, textposition: "auto", textangle: 0, cliponaxis: false,
    customdata: names, hovertemplate: "%{customdata}<br>%{text}<extra></extra>",
  };
  const most = isNarrow() ? 18 : 60;
  const short = names.map(name => name.length > most ? name.slice(0, most - 1).replace(/&\w*$/, "") + "…" : name);
  Plotly.react("shares", [bars], layout(
    {tickformat: "~%", rangemode: "tozero"},
    {tickvals: lines, ticktext: short}, 8, lines.length, {showlegend: false},
  ), {...config, displayModeBar: false});
}

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
  for (const place of document.querySelectorAll(".wide")) place.hidden = place.id !== `by-${by.value}`;
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
by.addEventListener("change", drawShares);
for (const event of ["input", "change"]) {
  search.addEventListener(event, show);
  by.addEventListener(event, show);
}
