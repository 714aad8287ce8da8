// The profile as Perfetto reads it: Chrome's trace events. Times are whole nanoseconds since the first of them.
async function unpacked(packed) {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

function traceOf({traceEvents}) {
  const threads = new Map();  // tracks by number: those of a thread stand together
  const named = (event, what) => event.ph === "M" && event.name === what;
  for (const {pid, tid, args} of traceEvents.filter(event => named(event, "thread_name")))
    threads.set(`${pid}/${tid}`, {pid, tid, thread: args.thread, name: args.name, height: 0, ends: []});
  const events = traceEvents.filter(event => event.ph === "X");
  const begin = Float64Array.from(events, event => Math.round(event.ts * 1000));
  const end = begin.map((value, span) => value + Math.round(events[span].dur * 1000));
  const depth = events.map(({pid, tid}, span) => {
    const thread = threads.get(`${pid}/${tid}`);
    while (thread.ends.length && thread.ends.at(-1) <= begin[span]) thread.ends.pop();
    thread.height = Math.max(thread.height, thread.ends.push(end[span]));
    return thread.ends.length - 1;
  });
  const several = new Set(events.map(({pid}) => pid)).size > 1;
  const heads = new Map();
  for (const one of threads.values()) heads.set(`${one.pid}/${one.thread}`, heads.get(`${one.pid}/${one.thread}`) ?? one.tid);
  const head = one => heads.get(`${one.pid}/${one.thread}`);
  const order = [...threads.values()].sort((a, b) => a.pid - b.pid || head(a) - head(b) || a.tid - b.tid);
  let line = 0;
  for (const thread of order) {
    thread.top = line;
    thread.title = several ? `${thread.name} of ${thread.pid}` : thread.name;
    line += thread.height;
  }
  return {
    events, begin, end, kind: events.map(event => event.cat), kinds: [...new Set(events.map(event => event.cat))],
    line: events.map(({pid, tid}, span) => threads.get(`${pid}/${tid}`).top + depth[span]), lines: line,
    threads: order, memory: memoryOf(traceEvents, events, end, several),
    flows: flowsIn(traceEvents, events, begin),
  };
}

// Several traces in one, each below its heading; `side` is the place of the trace that a span is of.
function beside(traces, names) {
  if (traces.length === 1) return {...traces[0], side: traces[0].events.map(() => 0), heads: []};
  const whole = {events: [], begin: [], end: [], kind: [], line: [], side: [], threads: [], memory: [], flows: [], heads: []};
  let top = 0;
  traces.forEach((trace, side) => {
    const spans = whole.events.length;
    whole.heads.push({name: names[side], line: top++});
    for (const name of ["events", "begin", "end", "kind"]) for (const value of trace[name]) whole[name].push(value);
    for (const line of trace.line) whole.line.push(top + line);
    for (const _ of trace.events) whole.side.push(side);
    for (const thread of trace.threads) whole.threads.push({...thread, top: top + thread.top});
    for (const device of trace.memory) whole.memory.push({...device, side, title: `${names[side]}: ${device.title}`});
    for (const pair of trace.flows) whole.flows.push(pair.map(span => span + spans));
    top += trace.lines;
  });
  return {...whole, kinds: [...new Set(whole.kind)], lines: top};
}

// What each device held, from each time on; what was held last is held until its process was last seen.
function memoryOf(traceEvents, events, end, several) {
  const devices = new Map(), ends = new Map();
  events.forEach(({pid}, span) => ends.set(pid, Math.max(ends.get(pid) ?? 0, end[span])));
  for (const {ph, pid, name, ts, args} of traceEvents) {
    if (ph !== "C") continue;
    const title = `${name} held${several ? ` by ${pid}` : ""}`;
    if (!devices.has(title)) devices.set(title, {title, time: [], held: [], end: ends.get(pid) ?? 0});
    devices.get(title).time.push(Math.round(ts * 1000));
    devices.get(title).held.push(args.bytes);
  }
  for (const one of devices.values()) one.end = Math.max(one.end, one.time.at(-1));
  return [...devices.values()];
}

// Pairs of spans: what ran forward, and what ran backward for it. An end of an arrow is the innermost span from there on.
function flowsIn(traceEvents, events, begin) {
  const spans = new Map(events.map(({pid, tid}, span) => [`${pid}/${tid}/${begin[span]}`, span]));
  const ends = {s: new Map(), f: new Map()};
  for (const {ph, id, pid, tid, ts} of traceEvents)
    ends[ph]?.set(id, spans.get(`${pid}/${tid}/${Math.round(ts * 1000)}`));
  return [...ends.s].map(([id, forward]) => [forward, ends.f.get(id)]).filter(pair => !pair.includes(undefined));
}
