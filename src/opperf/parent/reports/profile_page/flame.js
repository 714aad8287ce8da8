// Lines of Python as a flame graph, from the outermost at the top to the operators that they called.
function drawFlame() {
  const {names, outer, took, operator, said} = data.flame;
  if (!names) return;
  const depth = [];
  outer.forEach((frame, place) => depth[place] = frame < 0 ? 0 : depth[frame] + 1);
  const colors = operator.map(is => color(is ? "operator" : "frame"));
  const frames = {
    type: "icicle", branchvalues: "total", sort: false, tiling: {orientation: "v", pad: 0},
    ids: names.map((_, place) => `${place}`), labels: names, values: took,
    parents: outer.map(frame => frame < 0 ? "" : `${frame}`),
    marker: {colors, line: {width: 1, color: color("paper")}}, leaf: {opacity: 1}, pathbar: {thickness: 22},
    insidetextfont: {color: operator.map(is => is ? "#ffffff" : color("ink"))},
    textposition: "middle left", texttemplate: "%{label}", customdata: said, hovertemplate: "%{customdata}<extra></extra>",
  };
  Plotly.react("flame", [frames], layout({}, {}, 8, Math.max(...depth) + 2, {
    uniformtext: {mode: "hide", minsize: 9}, margin: {l: 8, r: 16, t: 8, b: 8},
  }), {...config, modeBarButtons: [["toImage"]]});
}
