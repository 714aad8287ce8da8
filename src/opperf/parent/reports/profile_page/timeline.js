// Spans and memory over time. Times are whole nanoseconds since the first span; on the axis, seconds of the window.
const time = decode(data.time);
// Bars that are drawn at a time: with more, a browser takes seconds to answer.
const mostSpans = 2000;
const mostReadings = 2000;
let draws = 0;

function decode(time) {
  const sums = steps => { let sum = 0; return Float64Array.from(steps, step => sum += step); };
  const begin = sums(time.begin);
  const end = begin.map((value, place) => value + time.length[place]);
  const order = Uint32Array.from(begin.keys()).sort((one, other) => time.length[other] - time.length[one]);
  const memory = time.memory.map(({name, time, held}) => ({name, held, time: sums(time)}));
  return {...time, begin, end, order, memory};
}

function scaled(value, base, units) {
  let unit = 0;
  while (unit < units.length - 1 && Number(value.toPrecision(3)) >= base) [value, unit] = [value / base, unit + 1];
  return `${value < base ? value.toPrecision(3) : Math.round(value)} ${units[unit]}`;
}

const seconds = nanoseconds => scaled(nanoseconds, 1000, ["ns", "us", "ms", "s"]);
const bytes = held => held < 1000 ? `${held} B` : scaled(held / 1000, 1000, ["kB", "MB", "GB", "TB"]);

const kindOf = span => time.kinds[time.whats[time.what[span]][1]];

function description(span, from) {
  const [name, , said] = time.whats[time.what[span]];
  const [allocated, device] = [time.allocated[span] ?? null, time.device[span] ?? null];
  return [
    `<b>${name}</b>`, `${seconds(time.length[span])}, from ${seconds(time.begin[span] - from)} on`, said,
    ...(allocated === null ? [] : [`allocated ${bytes(allocated)}`]),
    ...(device === null ? [] : [`on the device ${seconds(device)}`]),
  ].join("<br>");
}

// The lines of which a window has spans, each with its place from the top.
function linesOf([from, length]) {
  const used = new Set();
  for (let span = 0; span < time.begin.length; span++)
    if (time.begin[span] < from + length && time.end[span] > from) used.add(time.line[span]);
  return new Map([...used].sort((one, other) => one - other).map((line, place) => [line, place]));
}

// The longest spans of a stretch, and how many others there are.
function longest(low, high, lines) {
  const seen = [];
  let others = 0, most = 0;
  for (const span of time.order) {
    if (time.begin[span] >= high || time.end[span] <= low || !lines.has(time.line[span])) continue;
    if (seen.length < mostSpans) seen.push(span);
    else if (!others++) most = time.length[span];
  }
  return [seen, others ? `${others} spans of at most ${seconds(most)} are not drawn: enlarge to see them.` : ""];
}

// How much was held within a stretch: of many readings the most and the least of each part.
function held({name, time, held}, low, high, at) {
  const from = Math.max(0, time.findLastIndex(one => one <= low));
  const after = time.findIndex(one => one > high);
  const until = time.at(-1) < low ? from : after < 0 ? time.length : after;
  const part = Math.ceil(2 * (until - from) / mostReadings) || 1;
  const shown = [];
  for (let place = from; place < until; place += part) {
    let [least, most] = [place, place];
    for (let one = place; one < Math.min(until, place + part); one++) {
      if (held[one] < held[least]) least = one;
      if (held[one] > held[most]) most = one;
    }
    shown.push(...new Set([Math.min(least, most), Math.max(least, most)]));
  }
  return {
    type: "scatter", mode: "lines", name, yaxis: "y2", line: {shape: "hv", width: 1.5}, fill: "tozeroy",
    // What is held is held until something changes, or nobody looks any more.
    x: [...shown.map(one => at(Math.max(low, time[one]))), at(Math.min(high, time.at(-1)))],
    y: [...shown.map(one => held[one]), held[shown.at(-1)] ?? null],
    hovertemplate: `%{y:.3s}B<extra>${name}</extra>`,
  };
}

function spansOf(kind, shown, lines, low, high, {from, at}) {
  const spans = shown.filter(span => time.whats[time.what[span]][1] === kind);
  // Cut to what is shown, so that names of spans that began before it are seen.
  const begins = spans.map(span => Math.max(low, time.begin[span]));
  const ends = spans.map(span => Math.min(high, time.end[span]));
  return {
    type: "bar", orientation: "h", ...look(time.kinds[kind]), name: time.kinds[kind], width: 0.9,
    base: begins.map(at), x: begins.map((begin, place) => at(ends[place]) - at(begin)),
    y: spans.map(span => lines.get(time.line[span])), ids: spans.map(String),
    text: spans.map(span => time.whats[time.what[span]][0]),
    textposition: "inside", insidetextanchor: "start", textangle: 0,
    customdata: spans.map(span => description(span, from)), hovertemplate: "%{customdata}<extra></extra>",
  };
}

// Draw a stretch of a window, as its axis has it; without one, the whole.
function drawTime(range) {
  if (!step) return;
  const axis = axisOf(step.value);
  const [start, stop] = range ?? [0, axis.end];
  const [low, high] = [start, stop].map(axis.back);
  const lines = linesOf([axis.from, axis.length]);
  const [shown, said] = longest(low, high, lines);
  document.getElementById("not-drawn").textContent = said;
  const traces = [
    ...time.kinds.map((_, kind) => spansOf(kind, shown, lines, low, high, axis)),
    ...time.memory.map(one => held(one, low, high, axis.at)),
  ];
  // A line of its own for each thread that has spans here.
  const tops = time.threads.map((_, thread) =>
    [...lines.keys()].find(line => time.tops[thread] <= line && line < time.tops[thread + 1]));
  const named = time.threads.filter((_, thread) => tops[thread] !== undefined);
  const below = time.memory.length ? 150 : 0;
  const all = layout(
    {range: [start, stop], ticks: "outside", tickcolor: color("paper"), tickformat: "~s", ticksuffix: "s", fixedrange: false, uirevision: draws++,
     ...ticksOf(axis, low, high)},
    {tickvals: tops.filter(top => top !== undefined).map(top => lines.get(top)), ticktext: named,
     showticklabels: !isNarrow()}, 40, lines.size,
    {barmode: "overlay", dragmode: isNarrow() ? false : "zoom", uniformtext: {mode: "hide", minsize: 9},
     uirevision: "kept", annotations: notesOf(axis), showlegend: true, legend: {orientation: "h", y: 1, yanchor: "bottom"}},
  );
  if (below) {
    all.height += below;
    const share = below / (all.height - 72);
    all.yaxis.domain = [share, 1];
    all.yaxis2 = {
      domain: [0, share - 0.02], fixedrange: true, automargin: true, rangemode: "tozero", nticks: 5,
      tickformat: "~s", ticksuffix: "B", gridcolor: color("line"), zerolinecolor: color("line"),
    };
    all.xaxis.anchor = "y2";
  }
  Plotly.react("timeline", traces, all, config);
}
