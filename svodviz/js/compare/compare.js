// Two compilations side by side: what changed in tables, linked graphs, linked texts.

import { isConnected } from "../data/kernel.js";
import { Model } from "../data/model.js";
import { Requests } from "../data/requests.js";
import { Store } from "../data/store.js";
import { button, h } from "../kit/dom.js";
import { keepKeys } from "../kit/focus.js";
import { followTheme } from "../kit/theme.js";
import { ChangesTab } from "./changes.js";
import { SIDES } from "./difference.js";
import { GraphsTab } from "./graphs.js";
import { TextsTab } from "./texts.js";

const TABS = [["changes", "Changes"], ["graphs", "Graphs"], ["texts", "Texts"]];


/** The state of the page and both compilations; tabs subscribe. */
export class Comparison {
  constructor(wire, saved, requests) {
    Object.assign(this, { wire, requests, listeners: [] });
    this.models = SIDES.map((side) => new Model(wire[side]));
    this.stores = this.models.map((model) => new Store(model));
    this.labels = this.models[1].stages.map(({ id, label }) => [id, label])
      .filter(([id]) => wire.stages[id]?.length);
    const first = this.labels.find(([id]) => this.differs(id)) || this.labels[0];
    this.state = { tab: "changes", stage: first[0], unit: -1, selected: "" };
    this.state = this.sound({ ...this.state, ...saved });
    this.mark();
  }

  /** The name of a kernel in b, or in a if b has none of that name. */
  shortOf(name) {
    const [a, b] = this.models.map((model) => model.shortOf(name));
    return b === name ? a : b;
  }

  differs(stage) {
    return this.wire.stages[stage].some((pair) => !pair.same);
  }

  get pairs() {
    return this.wire.stages[this.state.stage];
  }

  get pair() {
    return this.pairs[this.state.unit];
  }

  /** A state without impossible parts; a stage opens at its first difference. */
  sound(wanted) {
    const state = { ...wanted };
    if (!TABS.some(([id]) => id === state.tab)) state.tab = "changes";
    if (!this.labels.some(([id]) => id === state.stage)) state.stage = this.labels[0][0];
    const pairs = this.wire.stages[state.stage];
    if (!pairs[state.unit]) state.unit = Math.max(0, pairs.findIndex((pair) => !pair.same));
    if (!this.sideOf(state.selected)) state.selected = "";
    return state;
  }

  /** [side, entity] of a selection such as "a graph:3"; null where there is none. */
  sideOf(selected) {
    const [side, ...rest] = String(selected).split(" ");
    const at = SIDES.indexOf(side);
    const entity = at < 0 ? -1 : this.models[at].entity(rest.join(" "));
    return entity < 0 ? null : [at, entity];
  }

  set(patch) {
    const isElsewhere = patch.stage && patch.stage !== this.state.stage;
    this.state = this.sound({ ...this.state, ...(isElsewhere ? { unit: -1 } : {}), ...patch });
    this.listeners.forEach((listener) => listener());
  }

  subscribe(listener) {
    this.listeners.push(listener);
  }

  /** Gives every drawn node its mark, and finds the partners of all entities. */
  mark() {
    this.partners = [new Map(), new Map()];
    const tell = (at, pair, id, entities, mark) => {
      const scene = this.models[at].stageById.get(id).units[pair[SIDES[at]]]?.scene;
      if (!scene) return;
      scene.rowOf ??= new Map(scene.nodes.map((row, node) => [row.e, node]));
      scene.marks ??= new Map();
      entities.forEach((entity) => scene.marks.set(scene.rowOf.get(entity), mark));
    };
    for (const [id, pairs] of Object.entries(this.wire.stages)) {
      for (const pair of pairs) {
        const changed = pair.partners.filter(([, , differs]) => differs);
        pair.partners.forEach(([a, b]) => {
          this.partners[0].set(a, b);
          this.partners[1].set(b, a);
        });
        SIDES.forEach((_, at) => {
          tell(at, pair, id, pair.only[at], at ? "added" : "removed");
          tell(at, pair, id, changed.map((it) => it[at]), "changed");
        });
      }
    }
  }
}

class Page {
  constructor(comparison, fullPage) {
    this.comparison = comparison;
    this.tabs = { changes: new ChangesTab(comparison), graphs: new GraphsTab(comparison, fullPage),
      texts: new TextsTab(comparison) };
    this.choice = h("div", { class: "segmented", role: "group", "aria-label": "View" });
    this.stages = h("select", { "aria-label": "Stage",
      onchange: () => comparison.set({ stage: this.stages.value }) });
    this.units = h("select", { "aria-label": "Part",
      onchange: () => comparison.set({ unit: Number(this.units.value) }) });
    this.steps = h("span", { class: "steps", role: "group", "aria-label": "Differences" },
      button("↑", () => this.step(-1), { "aria-label": "Previous difference (p)" }),
      button("↓", () => this.step(1), { "aria-label": "Next difference (n)" }));
    this.tools = h("div", { class: "tools" }, this.choice, this.stages, this.units, this.steps,
      h("span", { class: "spacer" }));
    this.pane = h("div", { class: "compare-pane" });
    this.status = h("div", { class: "status", role: "status" });
    this.root = h(
      "div", { class: fullPage ? "svodviz compare full-page" : "svodviz compare", tabindex: "-1",
        onkeydown: (event) => this.key(event) },
      h("div", { class: "compare-frame" }, this.heading(), this.tools, this.pane, this.status),
    );
    keepKeys(this.root);
    comparison.subscribe(() => this.show());
  }

  heading() {
    const { names, same } = this.comparison.wire;
    return h("header", { class: "compare-head" },
      ...names.map((name, at) => h("h3", { class: `side-${SIDES[at]}` },
        h("span", { class: "side-name" }, SIDES[at]), name)),
      same && h("p", { class: "hint" }, "No difference."));
  }

  get tab() {
    return this.tabs[this.comparison.state.tab];
  }

  show() {
    const { comparison } = this;
    const { state } = comparison;
    this.root.dataset.tab = state.tab;
    this.choice.replaceChildren(...TABS.map(([tab, words]) => button(words,
      () => comparison.set({ tab }), { "aria-pressed": String(tab === state.tab) })));
    this.stages.replaceChildren(...comparison.labels.map(([id, label]) => h("option",
      { value: id, selected: id === state.stage },
      `${comparison.differs(id) ? "~" : "="} ${label}`)));
    this.units.replaceChildren(...comparison.pairs.map((pair, unit) => h("option",
      { value: unit, selected: unit === state.unit },
      `${markOf(pair)} ${comparison.shortOf(pair.name)}`)));
    const isTables = state.tab === "changes";
    [this.stages, this.steps].forEach((it) => { it.hidden = isTables; });
    this.units.hidden = isTables || comparison.pairs.length < 2;
    if (this.pane.firstChild !== this.tab.root) this.pane.replaceChildren(this.tab.root);
    this.tab.show();
    this.status.textContent = this.tab.status();
  }

  step(by) {
    this.tab.step?.(by);
    this.status.textContent = this.tab.status();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    // The notebook must not take our keys for commands.
    event.stopPropagation();
    const by = { n: 1, p: -1 }[event.key];
    if (!by || event.target.matches("select, input")) return;
    event.preventDefault();
    this.step(by);
  }
}

/** The sign of a pair of parts. */
export function markOf(pair) {
  if (pair.a < 0) return "+";
  if (pair.b < 0) return "−";
  return pair.same ? "=" : "~";
}

/** The page of a comparison, for the widget and for exports. */
export function renderComparison({ model, el, fullPage = false }) {
  const requests = new Requests(model, isConnected(el));
  const comparison = new Comparison(model.get("wire"), model.get("state"), requests);
  const page = new Page(comparison, fullPage);
  el.append(page.root);
  const repaint = () => page.tab.draw?.();
  const stopTheme = followTheme(page.root, fullPage ? page.tools : null, repaint);
  page.show();
  let isOurs = false;
  const publish = () => {
    isOurs = true;
    model.set("state", { ...comparison.state });
    if (!requests.obstacle) model.save_changes(); // else nobody is there to take them
    isOurs = false;
  };
  const adopt = () => { if (!isOurs) comparison.set(model.get("state")); };
  comparison.subscribe(publish);
  model.on("change:state", adopt);
  const watcher = new ResizeObserver(repaint);
  watcher.observe(page.pane);
  requestAnimationFrame(() => requestAnimationFrame(() => { page.root.dataset.ready = "true"; }));
  return () => {
    stopTheme();
    model.off("change:state", adopt);
    requests.close();
    watcher.disconnect();
    page.root.remove();
  };
}
