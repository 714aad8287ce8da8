// Spans and memory over time, of the window that is chosen: a stretch of each trace, all of them of one scale.
const memoryHeight = 130, mostFlows = 200;
// Kinds differ by pattern as well, for eyes and printers that see no colours.
const patterns = {kernel: [[0, 6, 6, 0]], task: [[0, 0, 6, 6]], api: [[2, 3, 4, 3]]};
const memoryColors = ["s1", "s4", "s5", "s3"];
const hidden = new Set();
const fills = new Map();

function fillOf(kind) {
  if (!fills.has(kind)) {
    const tile = document.createElement("canvas"), pen = tile.getContext("2d");
    tile.width = tile.height = 6;
    pen.fillStyle = color(kind);
    pen.fillRect(0, 0, 6, 6);
    pen.globalAlpha = 0.35;
    for (const [x, y, toX, toY] of patterns[kind] ?? []) { pen.moveTo(x, y); pen.lineTo(toX, toY); }
    pen.stroke();
    fills.set(kind, patterns[kind] ? pen.createPattern(tile, "repeat") : color(kind));
  }
  return fills.get(kind);
}

function timelineOf(trace, windows) {
  const {events, begin, end, kind, line, memory, flows, side, heads} = trace;
  let axes;

  function said(span) {
    const {name, args} = events[span];
    const flags = ["backward", "recomputed", "fused"].filter(flag => args[flag]);
    return [
      name, `${seconds(end[span] - begin[span])}, from ${seconds(begin[span] - axes[side[span]].low)} on`,
      [kind[span], ...flags].join(", "), args.module, args.shapes?.map(shape => shape.join("x") || "-").join(" "),
      args.allocated != null && `allocated ${bytes(args.allocated)}`,
      args.device != null && `on the device ${seconds(args.device)}`,
    ].filter(Boolean);
  }

  // What ran forward and what ran backward for it, where a span lies around one of these or within one.
  function flowsOf(span) {
    if (span === null || !["operator", "task"].includes(kind[span])) return [];
    const within = (one, other) => begin[one] >= begin[other] && end[one] <= end[other];
    const same = (one, other) => side[one] === side[other]
      && events[one].tid === events[other].tid && events[one].pid === events[other].pid;
    const isNear = other => same(span, other) && (within(span, other) || within(other, span));
    return flows.filter(pair => pair.some(isNear)).slice(0, mostFlows);
  }

  // A line for each, with a frame around both of its ends.
  function paintFlows(pen) {
    Object.assign(pen, {strokeStyle: color("ink"), lineWidth: 2});
    for (const pair of flowsOf(chart.pointed)) {
      if (pair.some(span => !chart.places.has(line[span]))) continue;
      const ends = pair.map(span => [chart.x(chart.from[span]), chart.x(chart.until[span]), chart.places.get(line[span])]);
      for (const [left, right, place] of ends) pen.strokeRect(left, place * chart.row + 1, right - left, chart.row - 2);
      const [[, x, place], [toX, , toPlace]] = ends;
      pen.beginPath();
      pen.moveTo(x, (place + 0.5) * chart.row);
      pen.lineTo(toX, (toPlace + 0.5) * chart.row);
      pen.stroke();
    }
  }

  const top = () => Math.max(1, ...memory.filter(one => !hidden.has(one.title)).map(one => one.most));
  const lastBefore = ({time}, value) => first(time.length, place => time[place] > value) - 1;

  function paintMemory(pen) {
    const most = top(), ground = chart.bottom + memoryHeight;
    const y = held => ground - held / most * (memoryHeight - 20);
    for (const share of most > 1 ? [0.5, 1] : []) {
      chart.box(chart.gutterNow, y(share * most), chart.width, 1, color("line"));
      chart.write(bytes(Math.round(share * most)), chart.gutterNow + 2, y(share * most) - 7, color("faint"));
    }
    memory.forEach((one, place) => {
      const {time, held, title, end} = one, axis = axes[one.side ?? 0], [low, right] = chart.view.map(axis.back);
      const high = axes.length > 1 ? Math.min(right, axis.back(axis.end)) : right;
      if (hidden.has(title)) return;
      pen.beginPath();
      let reading = Math.max(0, lastBefore(one, low)), before = 0;
      pen.moveTo(chart.x(axis.at(Math.max(low, time[reading]))), ground);
      for (; reading < time.length && time[reading] <= high; reading++) {
        const x = chart.x(axis.at(Math.max(low, time[reading])));
        pen.lineTo(x, y(before));
        pen.lineTo(x, y(before = held[reading]));
      }
      const x = chart.x(axis.at(Math.min(high, end)));
      pen.lineTo(x, y(before));
      pen.lineTo(x, ground);
      Object.assign(pen, {strokeStyle: color(memoryColors[place % 4]), fillStyle: color(memoryColors[place % 4])});
      Object.assign(pen, {lineWidth: 1.5, globalAlpha: 0.2});
      pen.fill();
      pen.globalAlpha = 1;
      pen.stroke();
      const peak = time[held.indexOf(one.most)];
      if (peak < low || peak > high) return;
      pen.setLineDash([4, 3]);
      pen.beginPath();
      pen.moveTo(chart.x(axis.at(peak)), y(one.most));
      pen.lineTo(chart.x(axis.at(peak)), ground);
      pen.stroke();
      pen.setLineDash([]);
    });
  }

  function paintGaps(pen) {
    const [axis] = axes;
    for (const [from, until] of axis.gaps) {
      pen.save();
      pen.translate(chart.x((axis.at(from) + axis.at(until)) / 2), (chart.bottom + chart.below) / 2);
      pen.rotate(-Math.PI / 2);
      chart.write(`${seconds(until - from)} empty`, 0, 0, color("faint"), "center");
      pen.restore();
    }
  }

  // Which trace lies below, and a line where its stretch ends.
  function paintHeads() {
    heads.forEach(({name, line}, place) => {
      const y = chart.places.get(line) * chart.row, below = chart.places.get(heads[place + 1]?.line) ?? chart.lines.length;
      chart.box(0, y, chart.width, 1, color("line"));
      chart.write(`${name}: ${seconds(axes[place].end)}`, chart.gutterNow + 4, y + chart.row / 2, color("ink"));
      chart.box(chart.x(axes[place].end), y, 2, below * chart.row - y, color("mark"));
    });
  }

  const chart = new Spans("timeline", {
    below: memory.length ? memoryHeight : 0, said, flows: flowsOf,
    fill: span => hidden.has(kind[span]) ? null : fillOf(kind[span]), name: span => events[span].name,
    ink: span => kind[span] === "operator" ? "#ffffff" : "#000000", ticks: (low, high) => axes[0].ticks(low, high),
    paint(pen) { paintMemory(pen); paintGaps(pen); paintHeads(); paintFlows(pen); },
    // Enlarge a stretch that has a span and its other half.
    pressed(span) {
      const spans = flowsOf(span).flat();
      if (!spans.length) return;
      const [low, high] = [Math.min(...spans.map(one => chart.from[one])), Math.max(...spans.map(one => chart.until[one]))];
      chart.look([1.02 * low - 0.02 * high, 1.02 * high - 0.02 * low]);
    },
    saidBelow(x, y) {
      if (!memory.length || y < chart.bottom || y > chart.bottom + memoryHeight || x < chart.gutterNow) return [];
      const times = axes.map(axis => axis.back(chart.value(x)));
      const held = memory.map(one => `${one.title}: ${bytes(one.held[lastBefore(one, times[one.side ?? 0])] ?? 0)}`);
      return [`at ${seconds(times[0] - axes[0].low)}`, ...held];
    },
  });
  for (const one of memory) one.most = one.held.reduce((most, held) => Math.max(most, held), 0);

  // Only the lines that a window has spans of, in it.
  chart.choose = number => {
    const stretches = windows[number], own = new Map(heads.map(({line}) => [line, []]));
    axes = stretches.map(stretch => axisOf(trace, stretch, stretches.length === 1));
    begin.forEach((value, span) => {
      const [low, length] = stretches[side[span]];
      if (value >= low + length || end[span] <= low) return;
      if (!own.has(line[span])) own.set(line[span], []);
      own.get(line[span]).push(span);
    });
    const order = [...own.keys()].sort((one, other) => one - other);
    chart.places = new Map(order.map((line, place) => [line, place]));
    chart.labels = trace.threads.map(({top, height, title}) =>
      [order.findIndex(line => line >= top && line < top + height), title]).filter(([place]) => place >= 0);
    const [from, until] = [begin, end].map(times => times.map((time, span) => axes[side[span]].at(time)));
    chart.show({lines: order.map(line => own.get(line)), from, until, whole: [0, Math.max(...axes.map(axis => axis.end))]});
  };
  return chart;
}

// What the colours are; press one to hide what has it.
function drawLegend(trace, chart) {
  const shades = new Map([...trace.kinds.map(kind => [kind, kind]),
    ...trace.memory.map(({title}, place) => [title, memoryColors[place % 4]])]);
  document.getElementById("legend").replaceChildren(...[...shades].map(([name, shade]) => {
    const button = document.createElement("button"), spot = document.createElement("i");
    spot.style.background = `var(--${shade})`;
    button.type = "button";
    button.ariaPressed = true;
    button.append(spot, plain(name));
    button.addEventListener("click", () => {
      if (!hidden.delete(name)) hidden.add(name);
      button.ariaPressed = !hidden.has(name);
      chart.redraw();
    });
    return button;
  }));
}
