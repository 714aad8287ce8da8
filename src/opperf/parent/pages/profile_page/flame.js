// Lines of Python as a flame graph, from the outermost at the top to the operators that they called. `own` says what
// frames are, where they are other than that.
function flameOf({names, full, outer, took, operator}, own = {}) {
  const depth = [], from = [], free = [], lines = [];
  outer.forEach((frame, place) => {
    depth[place] = frame < 0 ? 0 : depth[frame] + 1;
    from[place] = free[place] = frame < 0 ? 0 : free[frame];
    free[frame] += took[place];
    (lines[depth[place]] ??= []).push(place);
  });
  for (const line of lines) line.sort((one, other) => from[one] - from[other]);
  const until = from.map((value, place) => value + took[place]);
  const chart = new Spans("flame", {
    fill: frame => color(operator[frame] ? "operator" : "frame"), name: frame => names[frame],
    ink: frame => operator[frame] ? "#ffffff" : color("ink"), pressed: frame => chart.look([from[frame], until[frame]]),
    said: frame => [full[frame] || names[frame], `${seconds(took[frame])}, ${(100 * took[frame] / took[0]).toPrecision(3)} %`],
    ...own,
  });
  chart.show({lines, from, until, whole: [0, took[0]]});
  return chart;
}
