// Rectangles on lines, drawn on one canvas, to enlarge, move and point at. Those that share a pixel are drawn once, so that
// hundreds of thousands follow the hand.
const [rowHeight, tallest, scaleHeight] = [20, 1600, 24];  // CSS pixels
const digit = 6.6;  // what a character is wide, in pixels

const color = name => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const isNarrow = () => innerWidth < 700;
// What would not be seen, or would turn the text around, as JavaScript writes it.
const plain = text => text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, one => `\\u{${one.codePointAt(0).toString(16)}}`);

function scaled(value, base, units) {
  let unit = 0;
  while (unit < units.length - 1 && Number(value.toPrecision(3)) >= base) [value, unit] = [value / base, unit + 1];
  return `${value < base ? value.toPrecision(3) : Math.round(value)} ${units[unit]}`;
}

const seconds = nanoseconds => nanoseconds ? scaled(nanoseconds, 1000, ["ns", "us", "ms", "s"]) : "0";
const bytes = held => held < 1000 ? `${held} B` : scaled(held / 1000, 1000, ["kB", "MB", "GB", "TB"]);

// The place of the first of ordered values for which something holds.
function first(count, holds) {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle; else low = middle + 1;
  }
  return low;
}

class Spans {
  // `own` says what the spans are: fill(span), ink(span), name(span), said(span) in lines, labels of lines at the left,
  // ticks(low, high) along the bottom, pressed(span), and what is painted over them, on `below` more pixels.
  constructor(id, own) {
    this.canvas = document.getElementById(id);
    this.words = document.getElementById("words");
    Object.assign(this, {below: 0, labels: [], ticks: null, paint() {}, pressed() {}, saidBelow: () => [], ...own});
    this.pointed = this.drag = null;
    const on = (name, act) => this.canvas.addEventListener(name, act);
    on("pointerdown", event => this.down(event));
    on("pointermove", event => this.move(event));
    on("pointerup", event => this.up(event));
    on("pointercancel", () => { this.drag = null; this.redraw(); });
    on("pointerleave", () => this.leave());
    on("dblclick", () => this.look(this.whole));
    on("wheel", event => this.wheel(event));
    on("keydown", event => this.key(event));
    new ResizeObserver(() => this.redraw()).observe(this.canvas);
  }

  // Take what is drawn: the spans of each line in order, and where each span begins and ends.
  show({lines, from, until, whole}) {
    Object.assign(this, {lines, from, until, whole, pointed: null});
    this.row = Math.max(2, Math.min(rowHeight, tallest / lines.length));
    this.bottom = this.row * lines.length;
    this.height = this.bottom + this.below + (this.ticks ? scaleHeight : 0);
    this.canvas.style.height = `${this.height}px`;
    this.look(whole);
  }

  // Show a stretch, cut to what there is.
  look([low, high]) {
    const [begin, end] = this.whole;
    const length = Math.min(Math.max(high - low, 10), end - begin);
    const start = Math.min(Math.max(low, begin), end - length);
    this.view = [start, start + length];
    this.redraw();
  }

  zoom(factor, about = (this.view[0] + this.view[1]) / 2) {
    this.look(this.view.map(value => about + (value - about) * factor));
  }

  pan(share) {
    const by = share * (this.view[1] - this.view[0]);
    this.look(this.view.map(value => value + by));
  }

  get gutter() {
    if (isNarrow() || !this.labels.length) return 0;
    return Math.min(220, 12 + digit * Math.max(...this.labels.map(([, text]) => text.length)));
  }

  x(value) {
    const [low, high] = this.view;
    return this.gutterNow + (value - low) / (high - low) * (this.width - this.gutterNow);
  }

  value(x) {
    const [low, high] = this.view;
    return low + (x - this.gutterNow) / (this.width - this.gutterNow) * (high - low);
  }

  // The span at a point, or within a pixel of it; null where there is none.
  at(x, y) {
    const spans = this.lines[Math.floor(y / this.row)];
    if (!spans || y < 0 || x < this.gutterNow) return null;
    const [before, after] = [this.value(x - 1), this.value(x + 1)];
    const place = first(spans.length, one => this.from[spans[one]] > after) - 1;
    const span = place < 0 ? null : spans[place];
    return span !== null && this.until[span] >= before && this.fill(span) ? span : null;
  }

  redraw() {
    this.frame ??= requestAnimationFrame(() => { this.frame = null; this.draw(); });
  }

  draw() {
    const {canvas, height} = this;
    this.width = canvas.clientWidth;
    this.gutterNow = this.gutter;
    if (!this.lines || !this.width) return;
    [canvas.width, canvas.height] = [this.width, height].map(size => Math.round(size * devicePixelRatio));
    const pen = this.pen = canvas.getContext("2d");
    pen.scale(devicePixelRatio, devicePixelRatio);
    pen.font = "12px system-ui, sans-serif";
    pen.textBaseline = "middle";
    this.box(0, 0, this.width, height, color("paper"));
    for (const [value, text] of this.ticks?.(...this.view) ?? []) {
      this.box(this.x(value), 0, 1, height - scaleHeight, color("line"));
      const align = this.width - this.x(value) < 30 ? "right" : "center";
      this.write(text, align === "right" ? this.width : this.x(value), height - scaleHeight / 2, color("faint"), align);
    }
    this.lines.forEach((spans, line) => this.drawLine(spans, line * this.row));
    this.box(0, 0, this.gutterNow, height - (this.ticks ? scaleHeight : 0), color("paper"));
    for (const [line, text] of this.gutterNow ? this.labels : []) {
      const cut = text.slice(0, (this.gutterNow - 8) / digit);
      this.write(cut, 0, (line + 0.5) * this.row, color("ink"));
    }
    this.paint(pen);
    if (this.drag?.to) {
      const [from, to] = [this.drag.from, this.drag.to].map(value => this.x(value));
      pen.globalAlpha = 0.25;
      this.box(from, 0, to - from, this.bottom, color("mark"));
      pen.globalAlpha = 1;
    }
  }

  drawLine(spans, y) {
    const {pen, from, until, width, gutterNow, view: [low, high], row} = this;
    const scale = (width - gutterNow) / (high - low);
    let edge = gutterNow;  // up to here a span is drawn already
    for (let place = first(spans.length, one => until[spans[one]] >= low); place < spans.length; place++) {
      const span = spans[place];
      if (from[span] > high) break;
      const right = Math.min(gutterNow + (until[span] - low) * scale, width);
      if (right < edge) continue;
      const fill = this.fill(span);
      if (!fill) continue;
      const left = Math.max(gutterNow + (from[span] - low) * scale, edge);
      const room = Math.max(right - left, 1);
      this.box(left, y + 0.5, room > 3 ? room - 0.7 : room, row - 1, fill);
      edge = left + room;
      if (room < 30 || row < 12) continue;
      const name = this.name(span), most = Math.floor((room - 6) / digit);
      this.write(name.length > most ? `${name.slice(0, most - 1)}…` : name, left + 4, y + row / 2, this.ink(span));
    }
  }

  box(x, y, width, height, fill) {
    this.pen.fillStyle = fill;
    this.pen.fillRect(x, y, width, height);
  }

  write(text, x, y, fill, align = "left") {
    Object.assign(this.pen, {fillStyle: fill, textAlign: align});
    this.pen.fillText(plain(text), x, y);
  }

  down(event) {
    if (event.button) return;
    this.canvas.setPointerCapture(event.pointerId);
    const moves = event.shiftKey || event.pointerType === "touch";
    this.drag = {x: event.offsetX, from: this.value(event.offsetX), view: moves ? this.view : null};
  }

  move(event) {
    const {offsetX: x, offsetY: y, clientX, clientY} = event;
    if (this.drag && Math.abs(x - this.drag.x) > 4) this.drag.far = true;
    if (this.drag?.far) {
      if (this.drag.view) this.look(this.view.map(value => value + this.drag.from - this.value(x)));
      else this.drag.to = this.value(Math.max(x, this.gutterNow));
      this.redraw();
    }
    const span = this.at(x, y);
    if (span !== this.pointed) { this.pointed = span; this.redraw(); }
    this.tell(span === null ? this.saidBelow(x, y) : this.said(span), clientX, clientY);
  }

  up(event) {
    const {drag} = this;
    this.drag = null;
    if (drag?.to) this.look([drag.from, drag.to].sort((one, other) => one - other));
    else if (drag && !drag.far && this.at(event.offsetX, event.offsetY) !== null)
      this.pressed(this.at(event.offsetX, event.offsetY));
    this.redraw();
  }

  leave() {
    this.pointed = null;
    this.words.hidden = true;
    this.redraw();
  }

  // Say lines where the pointer is, within the window.
  tell([title, ...lines], x, y) {
    const {words} = this;
    words.hidden = !title;
    if (!title) return;
    const heading = document.createElement("b");
    heading.textContent = plain(title);
    words.replaceChildren(heading, ...lines.map(line => `\n${plain(line)}`));
    words.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - words.offsetWidth - 8))}px`;
    words.style.top = `${y + 18 + words.offsetHeight > innerHeight ? y - 10 - words.offsetHeight : y + 18}px`;
  }

  // The page scrolls, unless a key says otherwise.
  wheel(event) {
    const across = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
    if (event.ctrlKey || event.metaKey) this.zoom(2 ** (event.deltaY / 300), this.value(event.offsetX));
    else if (across) this.pan(across / this.width);
    else return;
    event.preventDefault();
  }

  key(event) {
    const acts = {
      "+": () => this.zoom(0.5), "-": () => this.zoom(2), "0": () => this.look(this.whole),
      ArrowLeft: () => this.pan(-0.2), ArrowRight: () => this.pan(0.2),
    };
    if (!acts[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    acts[event.key]();
    event.preventDefault();
  }
}

function save(parts, type, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(parts, {type}));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
