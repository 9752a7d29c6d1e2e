// The changes, in tables: figures, kernels, passes. Each row leads to its view.

import { button, counted, h } from "../kit/dom.js";

const WORDS = { "=": "the same", "~": "differs", "−": "only in a", "+": "only in b" };
const BAR = 140; // pixels of the longer of two bars

/** The way to a comparison with measured times, for the person who made its page. */
const MEASURED = {
  "command line": "make the page again with svodviz diff --measure",
  Python: "make the page with explore(a, b, measure=True)",
};

export class ChangesTab {
  constructor(comparison) {
    this.comparison = comparison;
    this.all = false;
    this.measured = null;
    this.root = h("div", { class: "changes", tabindex: "0" });
    const refill = () => { if (this.root.isConnected) this.fill(); };
    comparison.requests.onLive(refill);
    comparison.requests.onLost(refill);
  }

  show() {
    if (!this.root.firstChild) this.fill();
  }

  fill() {
    this.root.replaceChildren(
      h("section", { class: "changes-figures" }, h("h4", {}, "Figures"), this.figures(),
        this.measure()),
      h("section", {}, h("h4", {}, "Kernels"), this.kernels()),
      h("section", {}, h("h4", {}, "Passes"), this.passes()),
      ...Object.entries(this.comparison.wire.missing).map(([stage, why]) =>
        h("p", { class: "note" }, `${stage} is missing: ${why}`)),
    );
  }

  /** A table; `figures` are the positions of columns with numbers. */
  table(head, rows, figures = []) {
    return h("div", { class: "table-scroll", tabindex: "0" }, h("table", {},
      h("thead", {}, h("tr", {}, ...head.map((it, at) =>
        h("th", { scope: "col", class: figures.includes(at) ? "figure" : null }, it)))),
      h("tbody", {}, ...rows)));
  }

  figures() {
    const { figures } = this.comparison.wire;
    const rows = this.measured
      ? [...figures.filter(([name]) => name !== this.measured[0]), this.measured] : figures;
    return this.table(["", "", "a", "b", "change", "a over b"], rows.map((row) => {
      const [name, , a, b, wordsA, wordsB, change] = row;
      const mark = a === b ? "=" : "~";
      return h("tr", { "data-mark": mark }, signOf(mark), h("th", { scope: "row" }, name),
        h("td", { class: "figure" }, wordsA), h("td", { class: "figure" }, wordsB),
        h("td", { class: "figure change" }, change), h("td", {}, bars(a, b)));
    }), [2, 3, 4]);
  }

  /** The button that runs both programs, or why there is none. */
  measure() {
    const { requests, wire } = this.comparison;
    if (!requests.isLive) {
      const isKnown = this.measured || wire.figures.some(([name]) => name.startsWith("measured"));
      return !isKnown && h("p", { class: "hint" },
        `No measured times: ${MEASURED[requests.maker] ?? MEASURED.Python}. `,
        !requests.isExported && (requests.obstacle || "No Python kernel has answered yet."));
    }
    this.words = h("span", { class: "hint", role: "status" });
    return h("p", {}, button("Measure both", () => this.ask()), " ", this.words);
  }

  ask() {
    const said = this.words;
    this.comparison.requests.ask("measure_both", {}, (words) => { said.textContent = words; })
      .then((row) => { this.measured = row; this.fill(); },
        (error) => { said.textContent = error.message; });
  }

  kernels() {
    const { kernels } = this.comparison.wire;
    if (!kernels.length) return h("p", { class: "hint" }, "Neither has a kernel.");
    const names = kernels[0].figures.map(([name]) => name);
    const called = (pair) => this.comparison.models.map((model, side) =>
      h("th", { scope: "row" }, model.shortOf([pair.a, pair.b][side] ?? "–")));
    return this.table(["", "a", "b", ...names, ""], kernels.map((pair, at) => h(
      "tr", { "data-mark": pair.mark }, signOf(pair.mark), ...called(pair),
      ...pair.figures.map((row) => h("td", { class: "figure" }, ...figureWords(row))),
      h("td", {}, this.lead("loops", at, `loops of ${pair.b ?? pair.a}`)),
    )), names.map((_, at) => at + 3));
  }

  lead(stage, unit, words) {
    const isThere = this.comparison.labels.some(([id]) => id === stage);
    return isThere && button("loops", () => this.comparison.set({ tab: "texts", stage, unit }),
      { class: "entity-link", "aria-label": `Compare the ${words}` });
  }

  passes() {
    const { passes } = this.comparison.wire;
    const differing = passes.filter((row) => row[5] !== "=");
    const rows = this.all ? passes : differing;
    const same = passes.length - differing.length;
    return h("div", {},
      rows.length > 0 && this.table(["", "over", "pass", "a", "b", "rules"], rows.map(
        ([stage, kernel, name, a, b, mark, rules]) => h("tr", { "data-mark": mark }, signOf(mark),
          h("td", {}, `${stage} ${this.comparison.shortOf(kernel)}`.trim()),
          h("th", { scope: "row" }, name),
          h("td", {}, a || "–"), h("td", {}, b || "–"), h("td", { class: "why" }, rules)))),
      same > 0 && h("p", {}, button(
        `${this.all ? "hide" : "show"} ${same} ${same === 1 ? "pass" : "passes"} `
          + "with the same rewrites",
        () => { this.all = !this.all; this.fill(); }, { "aria-pressed": String(this.all) })));
  }

  status() {
    const { wire } = this.comparison;
    const differ = (rows, mark) => rows.filter((row) => mark(row) !== "=").length;
    const kernels = differ(wire.kernels, (it) => it.mark);
    const passes = differ(wire.passes, (it) => it[5]);
    return `${kernels} of ${counted(wire.kernels.length, "kernel")} and ${passes} of ${
      wire.passes.length} passes differ`;
  }
}

function signOf(mark) {
  return h("td", { class: "mark", "data-mark": mark },
    h("span", { "aria-hidden": "true" }, mark),
    h("span", { class: "unseen" }, WORDS[mark]));
}

/** "12" where both are equal or one is missing, else "12 → 14". */
function figureWords([, , a, b, wordsA, wordsB]) {
  if (a === b) return [wordsA];
  if (a === null) return [wordsB];
  if (b === null) return [wordsA];
  return [wordsA, " → ", h("strong", {}, wordsB)];
}

/** Two bars on one scale, a above b; the numbers stand next to them. */
function bars(a, b) {
  const most = Math.max(a ?? 0, b ?? 0);
  const bar = (value, side) => h("span", { class: `compare-bar side-${side}`,
    style: `width:${most ? Math.max(1, (BAR * (value ?? 0)) / most) : 0}px` });
  return h("span", { class: "bars", "aria-hidden": "true" }, bar(a, "a"), bar(b, "b"));
}
