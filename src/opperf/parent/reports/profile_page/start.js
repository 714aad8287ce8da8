function draw() {
  drawShares();
  drawTime();
  drawFlame();
}

draw();
show();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
if (step) {
  step.addEventListener("change", () => drawTime());
  const chart = document.getElementById("timeline");
  chart.on("plotly_relayout", change => {
    if (Object.keys(change).some(name => name.startsWith("xaxis."))) drawTime(chart.layout.xaxis.range);
  });
  chart.on("plotly_doubleclick", () => drawTime());
  const pointed = ({points}) => points[0].id && Number(points[0].id);
  chart.on("plotly_hover", event => { if (pointed(event)) drawFlow(pointed(event)); });
  chart.on("plotly_unhover", clearFlow);
  chart.on("plotly_click", event => { if (pointed(event)) goAlongFlow(pointed(event)); });
}
