// The axis of time: a stretch within a window in which nothing ran is drawn as a narrow one, or it would fill the chart.
const emptyShare = 0.2;  // of the window, from which on an empty stretch is narrowed
const narrowShare = 0.02;  // of the window, which is left of it

// Where no span lies between two others; those of steps and modules only frame what runs.
function gapsOf({begin, end, kind}, [low, length]) {
  const gaps = [];
  let until = null;
  for (let span = 0; span < begin.length; span++) {
    if (kind[span] === "step" || kind[span] === "module" || begin[span] >= low + length || end[span] <= low) continue;
    if (until !== null && begin[span] - until > emptyShare * length) gaps.push([until, begin[span]]);
    until = Math.max(until ?? low, end[span]);
  }
  return gaps;
}

// Between nanoseconds of the profile and those of the axis, for a window; where another has the same scale, nothing is narrowed.
function axisOf(trace, [low, length], narrows) {
  const gaps = narrows ? gapsOf(trace, [low, length]) : [];
  const width = narrowShare * length;
  const at = value => {
    let place = value - low;
    for (const [begin, end] of gaps)
      place -= Math.min(Math.max(value - begin, 0), end - begin) * (1 - width / (end - begin));
    return place;
  };
  const back = place => {
    let value = place + low;
    for (const [begin, end] of gaps) {
      if (value <= begin) break;
      value += Math.min(value - begin, width) * ((end - begin) / width - 1);
    }
    return value;
  };
  return {low, gaps, at, back, end: at(low + length), ticks: ticksOf(low, gaps, at, back)};
}

// Round times within a stretch of the axis, away from what is narrowed, each with its text.
function ticksOf(low, gaps, at, back) {
  return (from, until) => {
    const [begin, end] = [back(from), back(until)];
    const edges = [begin, ...gaps.flat().filter(edge => edge > begin && edge < end), end];
    const isEmpty = value => gaps.some(([from, until]) => value > from && value < until);
    const parts = edges.slice(1).map((edge, place) => [edges[place], edge]).filter(([a, b]) => !isEmpty((a + b) / 2));
    return parts.flatMap(([a, b]) => {
      const most = Math.max(1, Math.floor((at(b) - at(a)) / (until - from) * (isNarrow() ? 4 : 10)));
      const power = 10 ** Math.floor(Math.log10((b - a) / most));
      const step = power * [1, 2, 5, 10].find(digit => (b - a) / (digit * power) <= most);
      const values = [];
      for (let value = Math.ceil((a - low) / step) * step; value <= b - low; value += step) values.push(value);
      return values.map(value => [at(low + value), seconds(value)]);
    });
  };
}
