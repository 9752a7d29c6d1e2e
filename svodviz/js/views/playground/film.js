// The accesses of a kernel over its memories, played frame by frame, or one by one.

import { button, count, h, s } from "../../kit/dom.js";

const SPEEDS = [1, 4, 12, 30].map((it) => [it, `${it} steps/s`]);
const TAIL = 24; // accesses before the present one that are still shown

/**
 * The outline of runs of cells, in elements.
 * @param {number[]} runs first cell and count, by turns
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

/** How many pictures a film has in a mode. */
export function lengthOf(film, mode) {
  return mode === "steps" ? film.steps.length / 3 : film.frames.length;
}

/** One access of a film: its site, memory, element, whether it missed. */
export function stepAt(film, position) {
  const [site, element, missed] = film.steps.slice(position * 3, position * 3 + 3);
  const [line, memory, lanes, isStore] = film.sites[site];
  return { line, memory, lanes, isStore: Boolean(isStore), element, missed: Boolean(missed) };
}

/** The picture at a position, for each memory: paths of what was before, is touched, and missed. */
export function pictureAt(film, mode, position) {
  return mode === "steps" ? stepPicture(film, position) : framePicture(film, position);
}

function framePicture(film, position) {
  const [, , touched, missed] = film.frames[position];
  const before = film.frames[position - 1]?.[2];
  return film.memories.map((memory, index) => ({
    before: before ? cellsPath(before[index], memory) : "",
    touched: cellsPath(touched[index], memory),
    missed: cellsPath(missed[index], memory),
    isStore: film.sites.some((site) => site[1] === index && site[3]),
  }));
}

function stepPicture(film, position) {
  const now = stepAt(film, position);
  const tail = [];
  for (let it = Math.max(0, position - TAIL); it < position; it += 1) tail.push(stepAt(film, it));
  return film.memories.map((memory, index) => {
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
export function wordsAt(film, mode, position, lines) {
  if (mode === "steps") {
    const step = stepAt(film, position);
    const [name, label] = film.memories[step.memory];
    const what = `${step.isStore ? "store to" : "load from"} ${label || name}`;
    const which = step.lanes > 1 ? `elements ${step.element} … ${step.element + step.lanes - 1}`
      : `element ${step.element}`;
    return `Access ${count(position + 1)}: ${what}, ${which}: `
      + `${step.missed ? "✗ not in the first cache" : "✓ in the first cache"}. `
      + (lines?.[step.line] ?? "").trim();
  }
  const [accesses, misses] = film.frames[position];
  const start = film.frames.slice(0, position).reduce((sum, frame) => sum + frame[0], 0);
  const share = accesses ? (100 * (1 - misses / accesses)).toFixed(1) : "0";
  return `Accesses ${count(start + 1)} to ${count(start + accesses)} of ${count(film.total)}: `
    + `${share} % found in the first cache.`;
}

/** The player of one film at a time. */
export class FilmPlayer {
  constructor() {
    Object.assign(this, { film: null, mode: "frames", position: 0, speed: 4, timer: 0 });
    this.play = button("▶ Play", () => this.toggle(), { class: "film-play" });
    this.slider = h("input", {
      type: "range", class: "slider", min: 0, "aria-label": "Position in the run",
      oninput: () => { this.stop(); this.go(Number(this.slider.value)); },
    });
    this.modes = h(
      "select", { "aria-label": "What is played", onchange: () => this.setMode(this.modes.value) },
      h("option", { value: "frames" }, "the whole run"),
      h("option", { value: "steps" }, "one by one"));
    this.speeds = h(
      "select", { "aria-label": "Speed", onchange: () => this.setSpeed(Number(this.speeds.value)) },
      ...SPEEDS.map(([value, words]) =>
        h("option", { value, selected: value === this.speed }, words)));
    this.words = h("p", { class: "film-words", "aria-live": "off" });
    this.stage = h("div", { class: "film-stage" });
    this.controls = h(
      "div", { class: "film-controls" },
      button("|◀", () => this.jump(0), { "aria-label": "First picture" }),
      button("◀", () => this.jump(this.position - 1), { "aria-label": "Step back" }),
      this.play,
      button("▶|", () => this.jump(this.position + 1), { "aria-label": "Step" }),
      this.slider, this.modes, this.speeds);
    this.root = h("div", { class: "film" }, this.controls, this.words, this.stage, legend());
  }

  /** Shows a film from its beginning; `lines` are the lowered instructions it was made from. */
  show(film, lines) {
    if (film === this.film) return;
    this.stop();
    Object.assign(this, { film, lines, position: 0 });
    this.build();
    this.go(0);
  }

  build() {
    this.layers = this.film.memories.map(([name, label, rows, columns]) => {
      const layers = ["before", "touched", "missed"];
      const parts = layers.map((kind) => s("path", { class: kind, d: "" }));
      const ratio = Math.min(2.2, Math.max(0.12, rows / columns));
      const title = label ? `${label} (${name})` : name;
      const svg = s(
        "svg", {
          class: "film-memory", viewBox: `0 0 ${columns} ${rows}`, preserveAspectRatio: "none",
          role: "img", "aria-label": `${title}, ${rows} by ${columns}`,
          style: `aspect-ratio: ${1 / ratio}`,
        },
        s("rect", { class: "film-ground", width: columns, height: rows }), ...parts);
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
    if (!this.film) return;
    const last = lengthOf(this.film, this.mode) - 1;
    this.position = Math.max(0, Math.min(last, position));
    this.slider.max = String(Math.max(0, last));
    this.slider.value = String(this.position);
    if (last < 0) return;
    const pictures = pictureAt(this.film, this.mode, this.position);
    pictures.forEach((picture, index) => {
      const { parts, svg } = this.layers[index];
      parts[0].setAttribute("d", picture.before);
      parts[1].setAttribute("d", picture.touched);
      parts[2].setAttribute("d", picture.missed);
      svg.classList.toggle("stored", picture.isStore);
    });
    this.words.textContent = wordsAt(this.film, this.mode, this.position, this.lines);
  }

  toggle() {
    if (this.timer) this.stop();
    else this.start();
  }

  start() {
    if (!this.film) return;
    if (this.position >= lengthOf(this.film, this.mode) - 1) this.go(0);
    this.play.textContent = "❚❚ Pause";
    this.timer = setInterval(() => this.tick(), 1000 / this.speed);
  }

  tick() {
    const isOver = this.position >= lengthOf(this.film, this.mode) - 1;
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
  return h("p", { class: "film-legend" }, ...entries.map(([kind, words]) => h(
    "span", {}, s("svg", { class: "film-key", viewBox: "0 0 16 12", "aria-hidden": "true" },
      s("path", { class: "touched", d: kind === "missed" ? "M0 0h16v12h-16z" : "" }),
      s("path", { class: kind, d: "M0 0h16v12h-16z" })), words)));
}
