// One run, measured: the items by time, with their estimates, and what came out.

import { button, count, counted, h, nanoseconds } from "../../kit/dom.js";
import { picture } from "../../kit/valuepicture.js";
import { RowsView } from "./rowsview.js";
import { RunTable } from "./runtable.js";

const TITLES = { asking: "The program runs", failed: "One run, not measured" };

export class RunView extends RowsView {
  constructor(store, look) {
    super(store, look);
    this.table = new RunTable(store, (loop) => this.refold(loop));
    this.again = button("Measure", () => store.measured.ask(), {
      title: "Runs the program for about a second; data that it writes in place stay as they are",
    });
    this.head = h("div", { class: "run-head" }, h("div", {}, this.title, this.words), this.again);
    this.body = h("div", { class: "run-body" });
    this.root = this.made({ class: "run-view", "aria-label": "Run" }, this.head, this.body);
    store.onHover(() => { if (this.root.isConnected) this.light(); });
  }

  get items() {
    return this.store.model.schedule.items;
  }

  /** A reader who opens the stage asks for the run. */
  show() {
    const { measured } = this.store;
    measured.want();
    this.offer(this.again);
    if (this.shown !== measured.version) this.fill(measured);
    this.light();
    this.look.onStatus();
  }

  fill(measured) {
    this.shown = measured.version;
    const { words, answer } = measured;
    this.title.textContent = measured.answer && !measured.problem ? this.summary(answer)
      : TITLES[measured.state] || "Not run yet";
    const sentence = `${words[0].toUpperCase()}${words.slice(1)}.`;
    this.words.textContent = measured.isKnown ? this.remarks(answer) : sentence;
    const isThere = Boolean(answer && !answer.problem);
    this.body.replaceChildren(...(isThere
      ? [this.table.draw(this.ran), ...this.rest(answer)] : []));
  }

  /** The table with other iterations listed; the button that was pressed keeps the focus. */
  refold(loop) {
    this.fill(this.store.measured);
    this.light();
    this.body.querySelector(`[data-loop="${loop}"] button`)?.focus();
  }

  get ran() {
    return this.items.filter((it) => it.run);
  }

  get sum() {
    return this.ran.reduce((sum, it) => sum + it.measured, 0);
  }

  summary({ whole }) {
    const run = whole === null ? "" : `; one run() takes ${nanoseconds(whole)}`;
    return `${counted(this.ran.length, "item")} in ${nanoseconds(this.sum)}${run}`;
  }

  remarks({ rounds, machine, call }) {
    return `Each time is the median of ${counted(rounds, "round")} over all items, in their order `
      + `and on the program's own data, on ${machine}. A call of a kernel that does nothing takes `
      + `${nanoseconds(call)}: every kernel's time has that in it.`;
  }

  rest({ notes, results }) {
    return [
      notes.length > 0 && section("Skipped or changed",
        h("ul", {}, ...notes.map((note) => h("li", {}, note)))),
      results.length > 0 && section("Results", h("div", { class: "run-results" },
        ...results.map((value, number) => result(value, number)))),
    ].filter(Boolean);
  }

  light() {
    const { selected, hovered, model } = this.store;
    const { itemOf } = model.schedule;
    const related = model.related(itemOf.has(hovered) ? hovered : selected);
    for (const row of this.body.querySelectorAll(".run-row")) {
      const entity = Number(row.dataset.entity);
      row.classList.toggle("selected", entity === selected);
      row.classList.toggle("related", related.has(entity) && entity !== selected);
      row.classList.toggle("found", this.found.has(entity));
    }
  }

  search(text) {
    const wanted = text.toLowerCase();
    const { schedule } = this.store.model;
    const hits = schedule.items.filter((it) =>
      wanted && it.run && schedule.nameOf(it).toLowerCase().includes(wanted));
    this.found = new Set(hits.map((it) => it.e));
    this.light();
    return hits;
  }

  status() {
    const { measured } = this.store;
    if (!measured.isKnown) return "the program runs only on demand";
    const estimated = this.items.reduce((sum, it) => sum + it.ns, 0);
    return `items in order of time · measured ${nanoseconds(this.sum)}, `
      + `estimated ${nanoseconds(estimated)}`;
  }
}

function section(title, ...children) {
  return h("section", { class: "run-section" }, h("h4", {}, title), ...children);
}

/** A result: type, shape, least and greatest, the first elements, a picture. */
function result(value, number) {
  const facts = [
    ["dtype", value.dtype], ["shape", value.shape],
    ...["min", "max", "mean"].filter((name) => name in value).map((name) => [name, value[name]]),
    ...[["NaN", value.nan], ["infinite", value.inf]].filter(([, odd]) => odd)
      .map(([name, odd]) => [name, `${count(odd)} of ${count(value.size)}`]),
    ["first", value.first.join("  ") + (value.size > value.first.length ? "  …" : "")],
  ];
  return h("div", { class: "run-result" }, h("h5", {}, `result ${number}`),
    value.picture && picture(value),
    h("dl", { class: "facts" }, ...facts.map(([name, text]) =>
      [h("dt", {}, name), h("dd", {}, String(text))])));
}
