const charts = {};
const acts = {
  in: chart => chart.zoom(0.5), out: chart => chart.zoom(2), whole: chart => chart.look(chart.whole),
  before: chart => chart.pan(-0.5), after: chart => chart.pan(0.5),
  picture: chart => chart.canvas.toBlob(blob => save([blob], "image/png", `${chart.canvas.id}.png`)),
};

async function start() {
  show();
  if (data.flame.names) charts.flame = data.flame.state ? changeOf(data.flame, data.calls) : flameOf(data.flame);
  if (!step) return;
  const packed = [...document.querySelectorAll(".trace")].map(script =>
    Uint8Array.from(atob(script.textContent), one => one.charCodeAt(0)));
  document.getElementById("save")?.addEventListener("click", () =>
    save(packed, "application/gzip", "timeline.json.gz"));
  const trace = beside((await Promise.all(packed.map(unpacked))).map(traceOf), ["before", "after"]);
  charts.timeline = timelineOf(trace, packed.length > 1 ? data.windows : data.windows.map(window => [window]));
  charts.timeline.choose(step.value);
  step.addEventListener("change", () => charts.timeline.choose(step.value));
  drawLegend(trace, charts.timeline);
}

for (const button of document.querySelectorAll("[data-act]"))
  button.addEventListener("click", () => acts[button.dataset.act](charts[button.dataset.chart]));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  fills.clear();
  for (const chart of Object.values(charts)) chart.redraw();
});
start().catch(problem => {
  document.getElementById("legend").textContent = `This browser cannot draw the timeline: ${problem.message}`;
});
