// Both call trees as one flame graph: colour, pattern and sign say which side of a place takes longer, or is alone.
const signs = {wider: "▲", narrower: "▼", new: "+", gone: "−", same: "="};
Object.assign(patterns, {new: [[0, 6, 6, 0]], gone: [[0, 6, 6, 0], [0, 0, 6, 6]]});

function changeOf(frames, byCalls) {
  const {names, full, before, after, state, calls} = frames;
  const amount = byCalls ? count => `${count} call${count === 1 ? "" : "s"}` : seconds;
  const signed = value => value ? `${value < 0 ? "−" : "+"}${amount(Math.abs(value))}` : "";
  const told = (value, count) => `${amount(value)}${count && !byCalls ? `, ${count} calls of its own` : ""}`;
  const ratio = frame => before[frame] && after[frame] ? `, ${(after[frame] / before[frame]).toPrecision(3)} of it` : "";
  return flameOf(frames, {
    fill: frame => fillOf(state[frame]), ink: frame => color(state[frame] === "same" ? "ink" : "on-change"),
    name: frame => `${signs[state[frame]]} ${names[frame]} ${signed(after[frame] - before[frame])}`.trimEnd(),
    said: frame => [
      full[frame] || names[frame], `before: ${told(before[frame], calls[frame][0])}`,
      `after: ${told(after[frame], calls[frame][1])}`, `${signed(after[frame] - before[frame]) || "no change"}${ratio(frame)}`,
    ],
  });
}
