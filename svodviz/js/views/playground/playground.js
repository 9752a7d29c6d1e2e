// The playground: choices for the loops of one kernel, tried live, and every point that was tried.

import { button, counted, duration, h } from "../../kit/dom.js";
import { keepFocus } from "../../kit/focus.js";
import { cacheBars, foundAt, percent } from "./cachebars.js";
import { ReplayPlayer } from "./replay.js";
import { PlayControls } from "./playcontrols.js";
import { levelChoice, roofline, speed, verdict } from "./roofline.js";
import { tuningTree } from "./tuningtree.js";

const PAUSE = 250; // ms after the last change before it is tried
const TEXTS = [["loops", "Loops"], ["lowered", "Lowered"], ["asm", "Assembly"]];

export class PlaygroundView {
  constructor(store, look) {
    Object.assign(this, { store, look, current: -1, level: 0, textOf: "loops", found: [] });
    this.controls = new PlayControls((text, again) => this.later(text, again));
    this.player = new ReplayPlayer();
    this.state = h("p", { class: "play-state", role: "status" });
    this.results = h("div", { class: "play-results" });
    this.root = h("div", { class: "playground-view", tabindex: "0", role: "group",
      "aria-label": "Playground" });
    this.notice = h("p", { class: "hint" });
    store.requests?.onLive(() => this.showIfSeen());
    store.requests?.onLost(() => this.showIfSeen());
  }

  get recorded() {
    return this.store.model.playground;
  }

  get name() {
    return this.store.stage.units[this.store.state.unit]?.name ?? "";
  }

  /** The same with what it does: "k7 matmul+relu". */
  get called() {
    return this.store.model.shortOf(this.name);
  }

  get kernel() {
    return this.recorded.kernels[this.name];
  }

  get point() {
    const points = this.kernel?.points ?? [];
    return points[this.current] ?? points.findLast((it) => it?.time) ?? points.at(-1);
  }

  get isLive() {
    return Boolean(this.store.requests?.isLive);
  }

  showIfSeen() {
    if (this.root.isConnected) this.show();
  }

  show() {
    if (this.shown !== this.name) {
      this.shown = this.name;
      this.current = -1;
      this.player.stop();
    }
    if (!this.kernel) {
      this.showNothing();
      if (this.isLive) this.open(this.name);
      return;
    }
    this.controls.onlyShow(Boolean(this.store.requests?.isExported));
    this.controls.show(this.kernel, this.point?.text ?? this.kernel.own);
    this.controls.enable(this.isLive);
    this.draw();
  }

  showNothing() {
    const words = this.isLive ? "Looking at the kernel …"
      : `Nothing was tried for ${this.called || "this kernel"} when this page was made. To try `
      + "choices a Python kernel has to run; svodviz.playground(x) tries some, and keeps them for "
      + "exports.";
    const tuning = this.tuning();
    this.root.replaceChildren(h("div", { class: "play-main" }, h("p", { class: "empty" }, words),
      tuning ?? ""));
  }

  /** Asks Python for a kernel's loops, then tries the usual points. */
  async open(name) {
    if (this.opening === name) return;
    this.opening = name;
    try {
      this.recorded.kernels[name] = await this.ask("kernel", { kernel: name });
      for (const text of ["plain", "own"]) {
        if (this.recorded.kernels[name].points.length < 2) await this.attempt(text, false, name);
      }
      if (this.name === name) this.show();
    } catch (error) {
      this.root.replaceChildren(h("p", { class: "empty" }, error.message));
    } finally {
      this.opening = "";
    }
  }

  ask(name, args) {
    return this.store.requests.ask(`playground: ${name}`, args, (words) => this.tell(`${words} …`));
  }

  tell(words) {
    this.state.textContent = words;
  }

  /** Tries choices once nothing has changed for a moment; only the last ones, one at a time. */
  later(text, again) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.next(text, again), PAUSE);
  }

  async next(text, again) {
    this.waiting = [text, again, this.name];
    if (this.isTrying) return;
    this.isTrying = true;
    while (this.waiting) {
      const job = this.waiting;
      this.waiting = null;
      await this.attempt(...job).catch((error) => this.tell(error.message));
    }
    this.isTrying = false;
  }

  async attempt(choices, again, kernel) {
    const point = await this.ask("try", { kernel, choices, again });
    const { points } = this.recorded.kernels[kernel];
    points[point.number] = { ...point, trace: points[point.number]?.trace ?? point.trace };
    this.tell("");
    if (this.name !== kernel || !this.root.isConnected) return;
    this.current = point.number;
    if (!this.waiting && !point.refused) this.controls.show(this.kernel, point.text);
    this.controls.enable(true);
    this.draw();
  }

  choose(number) {
    this.current = number;
    this.controls.show(this.kernel, this.point.text);
    this.controls.enable(this.isLive);
    this.controls.root.hidden = Boolean(this.store.requests?.isExported);
    this.draw();
  }

  /** The last point before the present one that has figures, to compare with. */
  get before() {
    const { points } = this.kernel;
    return points.slice(0, Math.max(0, this.point.number)).findLast((it) => it.cache) ?? null;
  }

  draw() {
    if (!this.kernel || !this.point) return;
    const { point } = this;
    const sections = point.refused
      ? [section("Not possible", h("p", { class: "play-refused" }, `✗ ${point.refused}`))]
      : [this.roofs(point), section("Caches", ...cacheBars(point, this.before)), this.trace(point),
        this.texts(point)];
    keepFocus(this.results, () => this.results.replaceChildren(
      headline(point, this.called), this.history(), ...sections, this.tuning() ?? ""));
    if (this.root.firstChild !== this.controls.root) {
      this.root.replaceChildren(this.controls.root, h("div", { class: "play-main" },
        this.notice, this.state, this.results));
    }
    this.notice.hidden = this.isLive;
    const why = this.store.requests?.obstacle || "No Python kernel has answered yet.";
    this.notice.textContent = `${why} What was tried can be looked at; `
      + "new choices are tried where Python is there: svodviz.playground(x) in a notebook.";
    this.look.onStatus();
  }

  history() {
    const { points } = this.kernel;
    const best = Math.min(...points.map((it) => it.time?.seconds ?? Infinity));
    const row = (point) => h(
      "tr", {
        class: point === this.point ? "selected" : "", "data-point": point.number,
        "aria-current": point === this.point ? "true" : null,
      },
      h("td", {}, String(point.number)),
      h("td", { class: "words point-name" }, button(point.label || point.text,
        () => this.choose(point.number), { class: "entity-link", title: point.text })),
      h("td", { class: "figure" }, timeWords(point), point.time?.seconds === best && " ★"),
      h("td", { class: "figure" }, point.time ? `${speed(point).toPrecision(3)}` : ""),
      h("td", { class: "figure" }, point.cache ? percent(foundAt(point.cache)[0][2]) : "–"));
    return section(
      "Tried",
      h("div", { class: "figures play-table play-history", tabindex: "0", role: "region",
        "aria-label": "Tried" },
        h("table", {},
          h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "#"),
            h("th", { scope: "col", class: "words before-link" }, "choices"),
            ...["time", "GFLOP/s", "L1 hits"].map((it) => h("th", { scope: "col" }, it)))),
          h("tbody", {}, ...points.filter(Boolean).map(row)))),
      best < Infinity && h("p", { class: "hint" }, "★ the fastest"));
  }

  /** The limits of as many threads as the point uses. */
  roofs(point) {
    const threads = Math.min(point.cache?.tasks ?? 1, this.kernel.cores);
    const roofs = this.recorded.roofs[threads];
    if (!point.flops) {
      return section("Roofline", h("p", { class: "hint" },
        "The kernel computes nothing with floats: it has no place in the roofline model."));
    }
    if (!roofs) {
      const words = this.isLive ? "The limits of this machine were not measured yet."
        : "The limits of the machine were not measured when this page was made.";
      return section("Roofline", h("p", { class: "hint" }, words),
        this.isLive && button("Measure this machine", () => this.measure(threads)));
    }
    const names = roofs.levels.map(([name]) => name);
    const points = this.kernel.points.filter((it) => it?.time);
    const words = `${roofs.threads} thread${roofs.threads > 1 ? "s" : ""} of ${roofs.name}; `
      + "bytes from the simulated caches, time and limits measured.";
    return section(
      "Roofline",
      h("div", { class: "play-buttons" },
        levelChoice(names, this.level, (level) => { this.level = level; this.draw(); }),
        this.isLive && button("Measure this machine again", () => this.measure(threads))),
      roofline(points, roofs, this.level, point.number, (number) => this.choose(number)),
      h("p", {}, verdict(point, roofs, this.level)), h("p", { class: "hint" }, words));
  }

  async measure(threads) {
    try {
      this.recorded.roofs[threads] = await this.ask("roofs", { threads });
      this.tell("");
    } catch (error) {
      this.tell(error.message);
    }
    this.draw();
  }

  trace(point) {
    if (point.trace) {
      this.player.show(point.trace, point.texts.lowered);
      return section("Memory accesses", this.player.root);
    }
    const words = point.unseen ? `Its accesses are not known: ${point.unseen}.`
      : "No trace of this point's memory accesses was recorded.";
    const canAsk = this.isLive && !point.unseen;
    return section("Memory accesses", canAsk
      ? button("Replay the memory accesses", () => this.record(point))
        : h("p", { class: "hint" }, words));
  }

  async record(point) {
    const kernel = this.name;
    try {
      point.trace = await this.ask("trace", { kernel, point: point.number });
      this.tell("");
    } catch (error) {
      this.tell(error.message);
    }
    this.draw();
  }

  texts(point) {
    const tabs = h("div", { class: "segmented", role: "group", "aria-label": "Code" },
      ...TEXTS.map(([id, label]) => button(`${label} (${point.texts[id].length})`, () => {
        this.textOf = id;
        this.draw();
      }, { "aria-pressed": String(id === this.textOf) })));
    const lines = point.texts[this.textOf];
    return section("Code", tabs, h("pre", { class: "block play-code", tabindex: "0",
      "aria-label": "Code of this point" }, lines.join("\n")));
  }

  /** The trials of `Options(tune=…)` for the kernel; null where nothing was searched. */
  tuning() {
    const tuning = this.recorded.tunings[this.name];
    if (!tuning) return null;
    const box = h("input", { type: "checkbox", checked: Boolean(this.withRefused),
      onchange: () => {
        this.withRefused = box.checked;
        if (this.kernel) this.draw();
        else this.showNothing();
      } });
    const take = (text) => {
      if (this.isLive && this.kernel) this.controls.take(text);
      else if (this.kernel) this.controls.show(this.kernel, text);
    };
    return section("Search history",
      h("label", { class: "only" }, box, "including refused ones"),
      ...tuningTree(tuning, this.withRefused, take));
  }

  search(text) {
    const wanted = text.toLowerCase();
    const points = this.kernel?.points.filter(Boolean) ?? [];
    this.found = wanted ? points.filter((it) =>
      `${it.label} ${it.text}`.toLowerCase().includes(wanted)) : [];
    return this.found;
  }

  visit(hit) {
    this.choose(hit.number);
  }

  fit() {
    for (const it of [this.root, ...this.root.children]) it.scrollTop = 0;
  }

  /** The roofline, for a picture to take away. */
  paper() {
    const svg = this.root.querySelector("svg.roofline");
    if (!svg) return null;
    const { x, y, width, height } = svg.viewBox.baseVal;
    return { svg: () => svg, box: [x, y, x + width, y + height] };
  }

  status() {
    if (!this.kernel) return "nothing tried yet";
    const { points } = this.kernel;
    return `${this.called}: ${counted(points.length, "point")} tried`;
  }
}

function section(title, ...children) {
  return h("section", { class: "play-section" }, h("h3", {}, title), ...children);
}

function timeWords({ time, refused, unmeasured }) {
  if (time) return duration(time.seconds);
  return refused ? "✗ not possible" : unmeasured ? "not measured" : "";
}

/** The outcome, in a line or two. */
function headline(point, kernel) {
  const name = point.label || `point ${point.number}`;
  if (point.refused) return h("h3", { class: "play-head" }, `${kernel}: ${name}`);
  if (!point.time) {
    return h("div", { class: "play-head" }, h("h3", {}, `${kernel}: ${name}`),
      h("p", {}, `Not measured: ${point.unmeasured}.`));
  }
  const { seconds, low, high, usual, samples } = point.time;
  const ratio = usual / seconds;
  const words = ratio >= 0.97 && ratio <= 1.03 ? "as fast as the compiler's own choices"
    : ratio > 1 ? `${ratio.toPrecision(3)} times as fast as the compiler's own choices`
      : `${(1 / ratio).toPrecision(3)} times as slow as the compiler's own choices`;
  return h(
    "div", { class: "play-head" },
    h("h3", {}, `${kernel}: ${name}: ${duration(seconds)}`),
    h("p", {}, `${words}, measured alternately with them: the median of ${samples} samples, `
      + `half of them between ${duration(low)} and ${duration(high)}. The results agree.`));
}
