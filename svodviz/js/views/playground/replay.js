// Replays the memory accesses of a kernel, an interval or one access at a time.

import { button, count, h, s } from "../../kit/dom.js";

const SPEEDS = [1, 4, 12, 30].map((it) => [it, `${it} steps/s`]);
const TAIL = 24; // accesses before the present one that are still shown

/**
 * The outline of runs of cells, in elements.
 * @param {number[]} runs first cell and count, alternately
 * @param {number[]} memory [name, label, rows, columns, tall, wide]
 */
export function cellsPath(runs, [, , rows, columns, tall, wide]) {
  const across = Math.ceil(columns / wide);
  const done = [];
  let open = []; // rectangles of cells that end in the row before: [row, column, width, height]
  let now = [];
  let last = -1;
  const add = (row, column, width) => {
    if (row !== last) {
      done.push(...open.filter((it) => !now.includes(it)));
      open = row === last + 1 ? now : (done.push(...now), []);
      now = [];
      last = row;
    }
    const above = open.find((it) => it[1] === column && it[2] === width);
    if (above) above[3] += 1;
    now.push(above ?? [row, column, width, 1]);
  };
  for (let i = 0; i < runs.length; i += 2) {
    let [cell, left] = [runs[i], runs[i + 1]];
    while (left > 0) {
      const column = cell % across;
      const taken = Math.min(left, across - column);
      add(Math.floor(cell / across), column, taken);
      cell += taken;
      left -= taken;
    }
  }
  return [...new Set([...done, ...open, ...now])].map(([row, column, width, high]) => rectangle(
    column * wide, row * tall, Math.min(width * wide, columns - column * wide),
    Math.min(high * tall, rows - row * tall))).join("");
}

const rectangle = (x, y, w, high) => `M${x} ${y}h${w}v${high}h${-w}z`;

/** The outline of elements that follow each other in a memory. */
export function elementsPath(first, lanes, [, , rows, columns]) {
  const least = Math.max(1, columns / 48, rows / 48);
  let path = "";
  for (let at = first; at < first + lanes;) {
    const [row, column] = [Math.floor(at / columns), at % columns];
    const width = Math.min(first + lanes - at, columns - column);
    path += rectangle(column, row, Math.max(width, least), least);
    at += width;
  }
  return path;
}

/** The number of steps of a replay in a mode. */
export function lengthOf(trace, mode) {
  return mode === "steps" ? trace.steps.length / 3 : trace.intervals.length;
}

/** One access of a trace: its site, memory, element, whether it missed. */
export function stepAt(trace, position) {
  const [site, element, missed] = trace.steps.slice(position * 3, position * 3 + 3);
  const [line, memory, lanes, isStore] = trace.sites[site];
  return { line, memory, lanes, isStore: Boolean(isStore), element, missed: Boolean(missed) };
}

/** The picture at a position: paths of cells touched before, touched now, and missed. */
export function pictureAt(trace, mode, position) {
  return mode === "steps" ? stepPicture(trace, position) : intervalPicture(trace, position);
}

function intervalPicture(trace, position) {
  const [, , touched, missed] = trace.intervals[position];
  const before = trace.intervals[position - 1]?.[2];
  return trace.memories.map((memory, index) => ({
    before: before ? cellsPath(before[index], memory) : "",
    touched: cellsPath(touched[index], memory),
    missed: cellsPath(missed[index], memory),
    isStore: trace.sites.some((site) => site[1] === index && site[3]),
  }));
}

function stepPicture(trace, position) {
  const now = stepAt(trace, position);
  const tail = [];
  for (let it = Math.max(0, position - TAIL); it < position; it += 1) tail.push(stepAt(trace, it));
  return trace.memories.map((memory, index) => {
    const path = (step) => elementsPath(step.element, step.lanes, memory);
    const isHere = now.memory === index;
    return {
      before: tail.filter((step) => step.memory === index).map(path).join(""),
      touched: isHere ? path(now) : "",
      missed: isHere && now.missed ? path(now) : "",
      isStore: isHere && now.isStore,
    };
  });
}

/** The picture at a position, in words. */
export function wordsAt(trace, mode, position, lines) {
  if (mode === "steps") {
    const step = stepAt(trace, position);
    const [name, label] = trace.memories[step.memory];
    const what = `${step.isStore ? "store to" : "load from"} ${label || name}`;
    const which = step.lanes > 1 ? `elements ${step.element} … ${step.element + step.lanes - 1}`
      : `element ${step.element}`;
    return `Access ${count(position + 1)}: ${what}, ${which}: `
      + `${step.missed ? "✗ miss in the first cache" : "✓ hit in the first cache"}. `
      + (lines?.[step.line] ?? "").trim();
  }
  const [accesses, misses] = trace.intervals[position];
  const start = trace.intervals.slice(0, position).reduce((sum, interval) => sum + interval[0], 0);
  const share = accesses ? (100 * (1 - misses / accesses)).toFixed(1) : "0";
  return `Accesses ${count(start + 1)} to ${count(start + accesses)} of ${count(trace.total)}: `
    + `${share} % hit the first cache.`;
}

/** Replays one trace at a time. */
export class ReplayPlayer {
  constructor() {
    Object.assign(this, { trace: null, mode: "intervals", position: 0, speed: 4, timer: 0 });
    this.play = button("▶ Play", () => this.toggle(), { class: "replay-play" });
    this.slider = h("input", {
      type: "range", class: "slider", min: 0, "aria-label": "Position in the run",
      oninput: () => { this.stop(); this.go(Number(this.slider.value)); },
    });
    this.modes = h(
      "select", { "aria-label": "What to replay", onchange: () => this.setMode(this.modes.value) },
      h("option", { value: "intervals" }, "the whole run"),
      h("option", { value: "steps" }, "one access at a time"));
    this.speeds = h(
      "select", { "aria-label": "Speed", onchange: () => this.setSpeed(Number(this.speeds.value)) },
      ...SPEEDS.map(([value, words]) =>
        h("option", { value, selected: value === this.speed }, words)));
    this.words = h("p", { class: "replay-words", "aria-live": "off" });
    this.stage = h("div", { class: "replay-stage" });
    this.controls = h(
      "div", { class: "replay-controls" },
      button("|◀", () => this.jump(0), { "aria-label": "First step" }),
      button("◀", () => this.jump(this.position - 1), { "aria-label": "Step back" }),
      this.play,
      button("▶|", () => this.jump(this.position + 1), { "aria-label": "Step" }),
      this.slider, this.modes, this.speeds);
    this.root = h("div", { class: "replay" }, this.controls, this.words, this.stage, legend());
  }

  /** Shows a trace from its beginning; `lines` are the lowered instructions it was made from. */
  show(trace, lines) {
    if (trace === this.trace) return;
    this.stop();
    Object.assign(this, { trace, lines, position: 0 });
    this.build();
    this.go(0);
  }

  build() {
    this.layers = this.trace.memories.map(([name, label, rows, columns]) => {
      const layers = ["before", "touched", "missed"];
      const parts = layers.map((kind) => s("path", { class: kind, d: "" }));
      const ratio = Math.min(2.2, Math.max(0.12, rows / columns));
      const title = label ? `${label} (${name})` : name;
      const svg = s(
        "svg", {
          class: "replay-memory", viewBox: `0 0 ${columns} ${rows}`, preserveAspectRatio: "none",
          role: "img", "aria-label": `${title}, ${rows} by ${columns}`,
          style: `aspect-ratio: ${1 / ratio}`,
        },
        s("rect", { class: "replay-ground", width: columns, height: rows }), ...parts);
      const figure = h("figure", {}, h("figcaption", {}, h("b", {}, title),
        h("small", {}, ` ${count(rows)} × ${count(columns)}`)), svg);
      return { figure, parts, svg };
    });
    this.stage.replaceChildren(...this.layers.map((it) => it.figure));
  }

  setMode(mode) {
    this.stop();
    this.mode = mode;
    this.go(0);
  }

  setSpeed(speed) {
    this.speed = speed;
    if (this.timer) {
      this.stop();
      this.start();
    }
  }

  jump(position) {
    this.stop();
    this.go(position);
  }

  go(position) {
    if (!this.trace) return;
    const last = lengthOf(this.trace, this.mode) - 1;
    this.position = Math.max(0, Math.min(last, position));
    this.slider.max = String(Math.max(0, last));
    this.slider.value = String(this.position);
    if (last < 0) return;
    const pictures = pictureAt(this.trace, this.mode, this.position);
    pictures.forEach((picture, index) => {
      const { parts, svg } = this.layers[index];
      parts[0].setAttribute("d", picture.before);
      parts[1].setAttribute("d", picture.touched);
      parts[2].setAttribute("d", picture.missed);
      svg.classList.toggle("stored", picture.isStore);
    });
    this.words.textContent = wordsAt(this.trace, this.mode, this.position, this.lines);
  }

  toggle() {
    if (this.timer) this.stop();
    else this.start();
  }

  start() {
    if (!this.trace) return;
    if (this.position >= lengthOf(this.trace, this.mode) - 1) this.go(0);
    this.play.textContent = "❚❚ Pause";
    this.timer = setInterval(() => this.tick(), 1000 / this.speed);
  }

  tick() {
    const isOver = this.position >= lengthOf(this.trace, this.mode) - 1;
    if (isOver || !this.root.isConnected) this.stop();
    else this.go(this.position + 1);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = 0;
    this.play.textContent = "▶ Play";
  }
}

function legend() {
  const entries = [["touched", "touched now"], ["missed", "… and missed in the first cache"],
    ["before", "touched just before"]];
  return h("p", { class: "replay-legend" }, ...entries.map(([kind, words]) => h(
    "span", {}, s("svg", { class: "replay-key", viewBox: "0 0 16 12", "aria-hidden": "true" },
      s("path", { class: "touched", d: kind === "missed" ? "M0 0h16v12h-16z" : "" }),
      s("path", { class: kind, d: "M0 0h16v12h-16z" })), words)));
}
