// One run, measured: the items in order of time beside their estimates, and what came out.

import { button, count, counted, duration, h } from "./dom.js";
import { rateOf, ratioOf } from "./measured.js";
import { picture } from "./valuesheet.js";

const MOST = 300; // rows of the table
const HEADS = [
  ["item", "as the schedule names it; ◆ on the critical path by time"],
  ["measured", "the median of all rounds"],
  ["half between", "a quarter of the rounds took less than the first, a quarter more"],
  ["share", "of all items' time"],
  ["estimated", "what the compiler reckoned"],
  ["ratio", "measured, divided by estimated"],
  ["GB/s", "bytes read and written, in the time measured"],
  ["GFLOP/s", "operations, in the time measured"],
  ["bound by", "what most of the estimate is; the call: hardly longer than an empty one"],
];

const time = (ns) => duration(ns * 1e-9);

export class RunView {
  constructor(store, look) {
    this.store = store;
    this.look = look;
    this.found = new Set();
    this.title = h("h3", {});
    this.words = h("p", { class: "run-words", role: "status" });
    this.again = button("Measure", () => store.measured.ask(), {
      title: "Runs the program for about a second; data that it writes in place stay as they are",
    });
    this.head = h("div", { class: "run-head" }, h("div", {}, this.title, this.words), this.again);
    this.body = h("div", { class: "run-body" });
    this.root = h("div", {
      class: "run-view", tabindex: "0", role: "group", "aria-label": "Run",
      onclick: (event) => this.click(event),
      onmouseover: (event) => store.hover(this.entityAt(event)),
      onmouseleave: () => store.hover(-1),
    }, this.head, this.body);
    store.onHover(() => { if (this.root.isConnected) this.light(); });
  }

  get items() {
    return this.store.model.schedule.items;
  }

  entityAt(event) {
    const row = event.target.closest?.("[data-entity]");
    return row ? Number(row.dataset.entity) : -1;
  }

  click(event) {
    const entity = this.entityAt(event);
    if (entity >= 0) this.store.select(entity);
  }

  /** Who opens the stage asks for the run. */
  show() {
    const { measured } = this.store;
    measured.want();
    this.again.hidden = !measured.isLive || !measured.isPossible;
    this.again.disabled = measured.state === "asking";
    this.again.textContent = measured.isKnown ? "Measure again" : "Measure";
    if (this.shown !== measured.version) this.fill(measured);
    this.light();
    this.look.onStatus();
  }

  fill(measured) {
    this.shown = measured.version;
    const { words, answer } = measured;
    this.title.textContent = measured.answer && !measured.problem ? this.summary(answer)
      : "One run, measured";
    const sentence = `${words[0].toUpperCase()}${words.slice(1)}.`;
    this.words.textContent = measured.isKnown ? this.remarks(answer) : sentence;
    const isThere = Boolean(answer && !answer.problem);
    this.body.replaceChildren(...(isThere ? [this.table(), ...this.rest(answer)] : []));
  }

  get sum() {
    return this.items.reduce((sum, it) => sum + (it.measured ?? 0), 0);
  }

  summary({ whole }) {
    const reached = this.items.filter((it) => it.run).length;
    const run = whole === null ? "" : `; one run() takes ${time(whole)}`;
    return `${counted(reached, "item")} in ${time(this.sum)}${run}`;
  }

  remarks({ rounds, machine, call }) {
    return `Each time is the median of ${counted(rounds, "round")} over all items, in their order `
      + `and on the program's own data, on ${machine}. A call of a kernel that does nothing takes `
      + `${time(call)}: every kernel's time has that in it.`;
  }

  table() {
    const rows = this.items.filter((it) => it.run).sort((a, b) => b.measured - a.measured);
    const shown = rows.slice(0, MOST);
    const left = rows.slice(MOST);
    const rest = left.reduce((sum, it) => sum + it.measured, 0);
    return h("section", { class: "run-section" },
      h("div", { class: "run-table", tabindex: "0", role: "region", "aria-label": "Items by time" },
        h("table", {},
          h("thead", {}, h("tr", {}, ...HEADS.map(([name, words]) =>
            h("th", { scope: "col", title: words }, name)))),
          h("tbody", {}, ...shown.map((it) => this.row(it))))),
      left.length > 0 && h("p", { class: "more" },
        `and ${counted(left.length, "shorter item")} of ${time(rest)} in all, not listed`));
  }

  row(item) {
    const { run, measured } = item;
    const share = measured / Math.max(this.sum, 1e-9);
    const figures = [
      time(measured), `${time(run.low)} … ${time(run.high)}`, null, time(item.ns), ratioOf(item),
      rateOf(item.read + item.written, measured), rateOf(item.flops, measured),
    ];
    const name = `${item.position} ${this.store.model.schedule.nameOf(item)}`;
    return h(
      "tr", { class: "run-row", "data-entity": item.e, "data-position": item.position },
      h("td", { class: "run-name" },
        h("span", { class: "item-sign", "aria-hidden": "true" }, run.critical ? "◆" : ""),
        button(name, () => {}, { class: "entity-link", title: name,
          "aria-label": run.critical ? `${name}, on the critical path by time` : null })),
      ...figures.map((text) => (text === null ? this.share(share)
        : h("td", { class: "figure" }, text))),
      h("td", {}, run.bound || "–"));
  }

  share(share) {
    const words = share >= 0.0995 ? `${Math.round(100 * share)} %`
      : `${Number((100 * share).toPrecision(2))} %`;
    return h("td", { class: "figure run-share" },
      h("span", { class: "run-track", "aria-hidden": "true" },
        h("span", { class: "run-bar", style: `width:${Math.max(1, 100 * share)}%` })), words);
  }

  rest({ notes, results }) {
    return [
      notes.length > 0 && section("What was left out or done otherwise",
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

  visit(hit) {
    this.store.select(hit.e);
    this.body.querySelector(`[data-entity="${hit.e}"]`)?.scrollIntoView({ block: "nearest" });
  }

  fit() {
    this.root.scrollTop = 0;
  }

  status() {
    const { measured } = this.store;
    if (!measured.isKnown) return "nothing is run before somebody asks for it";
    const estimated = this.items.reduce((sum, it) => sum + it.ns, 0);
    return `items in order of time · measured ${time(this.sum)}, estimated ${time(estimated)}`;
  }
}

function section(title, ...children) {
  return h("section", { class: "run-section" }, h("h4", {}, title), ...children);
}

/** What came out: type, shape, least and greatest, the first elements, a picture. */
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
