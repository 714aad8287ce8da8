// From where an operator ran forward to where it ran backward.
const mostFlows = 200;

const threadOf = span => time.tops.findLastIndex(top => top <= time.line[span]);
const isWithin = (one, other) => time.begin[one] >= time.begin[other] && time.end[one] <= time.end[other];

// What ran forward and what ran backward for it, where a span lies around one of these or within one.
function flowsOf(span) {
  if (!["operator", "task"].includes(kindOf(span))) return [];
  const isNear = other =>
    (isWithin(span, other) || isWithin(other, span)) && threadOf(span) === threadOf(other);
  return time.flow.filter(pair => pair.some(isNear)).slice(0, mostFlows);
}

// Draw a line for each, with a frame around both of its ends.
function drawFlow(span) {
  const {from, length, at} = axisOf(step.value);
  const lines = linesOf([from, length]);
  const line = {color: color("ink"), width: 2};
  const frame = one => ({
    type: "rect", line, x0: at(time.begin[one]), x1: at(time.end[one]),
    y0: lines.get(time.line[one]) - 0.45, y1: lines.get(time.line[one]) + 0.45,
  });
  const flows = flowsOf(span).filter(pair => pair.every(one => lines.has(time.line[one])));
  if (!flows.length) return;
  Plotly.relayout("timeline", {shapes: flows.flatMap(([forward, backward]) => [frame(forward), frame(backward), {
    type: "line", line, x0: at(time.end[forward]), x1: at(time.begin[backward]),
    y0: lines.get(time.line[forward]), y1: lines.get(time.line[backward]),
  }])});
}

function clearFlow() {
  if (document.getElementById("timeline").layout.shapes?.length) Plotly.relayout("timeline", {shapes: []});
}

// Enlarge a stretch that has a span and its other half.
function goAlongFlow(span) {
  const spans = flowsOf(span).flat();
  if (!spans.length) return;
  const {at} = axisOf(step.value);
  const begin = at(Math.min(...spans.map(one => time.begin[one])));
  const end = at(Math.max(...spans.map(one => time.end[one])));
  drawTime([1.02 * begin - 0.02 * end, 1.02 * end - 0.02 * begin]);
  drawFlow(span);
}
