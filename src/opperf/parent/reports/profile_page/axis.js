// The axis of time: a stretch within a window in which nothing ran is drawn as a narrow one, or it would fill the chart.
const emptyShare = 0.2;  // of the window, from which on an empty stretch is narrowed
const narrowShare = 0.02;  // of the window, which is left of it
const axes = new Map();

// Where no span lies between two others; those of steps and modules only frame what runs.
function gapsOf([from, length]) {
  const gaps = [];
  let until = null;
  for (let span = 0; span < time.begin.length; span++) {
    if (["step", "module"].includes(kindOf(span))) continue;
    const [begin, end] = [time.begin[span] - from, time.end[span] - from];
    if (begin >= length || end <= 0) continue;
    if (until !== null && begin - until > emptyShare * length) gaps.push([until, begin]);
    until = Math.max(until ?? 0, end);
  }
  return gaps;
}

// Between nanoseconds of the profile and seconds on the axis, of the window that is chosen.
function axisOf(number) {
  if (axes.has(number)) return axes.get(number);
  const [from, length] = time.windows[number];
  const gaps = gapsOf([from, length]);
  const width = narrowShare * length;
  const at = value => {
    let place = value - from;
    for (const [begin, end] of gaps) {
      const within = Math.min(Math.max(value - from - begin, 0), end - begin);
      place -= within * (1 - width / (end - begin));
    }
    return place / 1e9;
  };
  const back = place => {
    let value = place * 1e9;
    for (const [begin, end] of gaps) {
      if (value <= begin) break;
      value += Math.min(value - begin, width) * ((end - begin) / width - 1);
    }
    return from + value;
  };
  const axis = {from, length, gaps, at, back, end: at(from + length)};
  axes.set(number, axis);
  return axis;
}

// Round times within a stretch of the axis, away from what is narrowed; null leaves them to the chart.
function ticksOf({from, gaps, at}, low, high) {
  if (!gaps.length) return null;
  const step = 10 ** Math.floor(Math.log10((at(high) - at(low)) * 1e9 / 4));
  const values = [];
  const isClear = value => gaps.every(([begin, end]) => value <= begin || value >= end);
  for (const part of [[low - from, gaps[0][0]], ...gaps.map(([, end], i) => [end, gaps[i + 1]?.[0] ?? high - from])]) {
    const [begin, end] = [Math.max(part[0], low - from), Math.min(part[1], high - from)];
    const own = step * ([1, 2, 5].find(digit => (end - begin) / (digit * step) <= 6) ?? 10);
    for (let value = Math.ceil(begin / own) * own; value <= end; value += own) if (isClear(value)) values.push(value);
  }
  return {tickvals: values.map(value => at(from + value)), ticktext: values.map(value => value ? seconds(value) : "0")};
}

// What is said where a stretch is narrowed.
function notesOf({from, gaps, at}) {
  return gaps.map(([begin, end]) => ({
    x: (at(from + begin) + at(from + end)) / 2, y: 0.5, yref: "paper", text: `${seconds(end - begin)} empty`,
    textangle: -90, showarrow: false, font: {color: color("faint"), size: 11},
  }));
}
