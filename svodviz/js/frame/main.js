// The explorer: puts the panes together, follows the theme, and syncs its state with the model.

import { renderComparison } from "../compare/compare.js";
import { Revisions } from "../data/revisions.js";
import { isConnected } from "../data/kernel.js";
import { Arrival, arrived } from "../data/later.js";
import { Model } from "../data/model.js";
import { unpacked, withWire } from "../data/packed.js";
import { Requests } from "../data/requests.js";
import { Store } from "../data/store.js";
import { glossaryPage, hints } from "../glossary/words.js";
import { Inspector } from "../inspector/inspector.js";
import { button, h, icon } from "../kit/dom.js";
import { keepFocus } from "../kit/focus.js";
import { followTheme } from "../kit/theme.js";
import { renderQuiz } from "../quiz/quiz.js";
import { makeViews, viewOf } from "../views/views.js";
import { Address } from "./address.js";
import { CopyMenu } from "./copymenu.js";
import { RevisionBar } from "./revisionbar.js";
import { keyPage, keyTable, listenToKeys } from "./keys.js";
import { legendOf } from "./legend.js";
import { OwnTab } from "./owntab.js";
import { Panels } from "./panels.js";
import { Passes } from "./passes.js";
import { rememberRoom } from "./remembering.js";
import { drawMissed } from "./restoring.js";
import { Ribbon } from "./ribbon.js";
import { Search } from "./search.js";
import { keepWhenSaved } from "./saving.js";
import { StepCard } from "./stepcard.js";
import { ToolBar } from "./toolbar.js";
import { TraceBar } from "./tracebar.js";
import { WholePage } from "./wholepage.js";

/** Pages other than the explorer of one compilation, by the format of their data. */
const PAGES = { "svodviz-comparison": renderComparison, "svodviz-quiz": renderQuiz };

const HEARD = 8000; // milliseconds that words stay in the status line

class Explorer {
  constructor(model, saved, fullPage, requests, revisions) {
    this.store = new Store(model, saved, requests, revisions);
    const look = { fullPage, onStatus: () => this.updateStatus() };
    this.views = makeViews(this.store, look);
    this.passes = new Passes(this.store);
    this.inspector = new Inspector(this.store, new StepCard(this.store).root);
    this.root = h("div", { class: fullPage ? "svodviz full-page" : "svodviz", tabindex: "-1" });
    this.whole = new WholePage(this.root, fullPage, () => this.showWhole());
    this.revisionBar = new RevisionBar(this.store, () => this.remark());
    this.keys = keyTable(this.store, this);
    const words = button("glossary", () => this.toggleGlossary());
    this.help = keyPage(this.keys, () => this.toggleHelp(), words);
    this.glossary = glossaryPage(() => this.toggleGlossary());
    this.build(fullPage);
    this.panels = new Panels(this.store, this.root, this);
    this.address = fullPage
      ? new Address(this.store, this.search.field, () => this.search.show()) : null;
    if (!fullPage) this.tellOfKernel(requests);
    listenToKeys(this.root, this.keys, this);
    hints(this.root, (word) => this.store.model.operations[word] ?? "");
    this.store.subscribe(() => this.show());
  }

  build(fullPage) {
    this.buildTools(fullPage);
    this.pane = h("div", { class: "pane", tabindex: "-1" });
    this.obstacle = h("span", { class: "obstacle", role: "status" });
    this.announced = h("span", { class: "announced", role: "status" });
    this.status = h("span", { class: "status-text" });
    this.legend = h("span", { class: "legend" });
    this.root.append(...[
      fullPage && h("h1", { class: "unseen" }, this.store.model.name),
      h("div", { class: "frame" },
        button("Skip to the view", () => this.skip(), { class: "skip" }),
        new Ribbon(this.store).root,
        this.passes.root,
        h("main", { class: "centre" }, this.revisionBar.root, this.bar.root,
          new TraceBar(this.store).root, this.pane,
          h("div", { class: "status" }, this.obstacle, this.announced, this.status, this.legend)),
        this.inspector.root),
      this.help, this.glossary, this.copies.root, this.search.list,
    ].filter(Boolean));
  }

  buildTools(fullPage) {
    this.tabs = h("div", { class: "segmented", role: "group", "aria-label": "View" });
    this.units = h("select", {
      class: "unit-choice", "aria-label": "Kernel",
      onchange: () => this.store.set({ unit: Number(this.units.value) }),
    });
    this.search = new Search(this);
    const keys = button("?", () => this.toggleHelp(), { "aria-label": "Keys", title: "Keys (?)" });
    this.wholeButton = button("", () => this.whole.toggle(), {
      class: "whole-page", "aria-label": "Full page", title: "Full window on or off (f)",
      "aria-pressed": "false", hidden: !this.whole.isPossible,
    });
    this.wholeButton.append(icon("M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4"));
    this.ownTab = new OwnTab(this.root, this.store.model.name,
      (words) => { this.obstacle.textContent = words; });
    this.copies = new CopyMenu(this, (words) => this.say(words));
    this.look = h("span", { class: "look" }); // its button says which theme is the other one
    this.bar = new ToolBar(
      [this.tabs, this.units, h("span", { class: "spacer" }), this.search.hits,
        this.search.next, this.search.field, this.copies.button, keys, this.wholeButton,
        this.ownTab.button, this.look],
      [this.look, keys, this.copies.button, this.ownTab.button, this.wholeButton,
        this.search.next, this.units, this.search.hits, this.search.field]);
    if (!fullPage) this.look.hidden = true;
  }

  /** Past ribbon, passes and tools, to what they are about. */
  skip() {
    const first = this.pane.querySelector("[tabindex='0'], button:not([tabindex='-1']), select");
    (first ?? this.pane).focus();
  }

  toggleWhole() {
    this.whole.toggle();
  }

  showWhole() {
    this.wholeButton.setAttribute("aria-pressed", String(this.whole.isOn));
    this.ownTab.offer();
    this.show();
  }

  /** In a notebook a reader expects answers: where there are none, the page says why. */
  tellOfKernel(requests) {
    const tell = () => {
      this.obstacle.textContent = requests.obstacle && `○ ${requests.obstacle}`;
      this.store.revisions?.tell();
    };
    requests.onLive(tell);
    requests.onLost(tell);
    tell();
  }

  /** Says something in the status line for a while. */
  say(words) {
    clearTimeout(this.silence);
    this.announced.textContent = words;
    this.silence = setTimeout(() => { this.announced.textContent = ""; }, HEARD);
  }

  get view() {
    return this.views[viewOf(this.store)];
  }

  show() {
    const { state } = this.store;
    this.root.dataset.stage = state.stage;
    this.root.dataset.view = state.view;
    this.views.timeline.critical = state.critical;
    this.views.graph.critical = state.critical && state.stage === "schedule";
    this.showTabs();
    this.showUnits();
    this.panels.show();
    this.bar.fit();
    if (this.pane.firstChild !== this.view.root) this.pane.replaceChildren(this.view.root);
    this.view.show();
    this.inspector.look(this.view === this.views.graph ? this.views.graph.picture : null);
    if (this.search.text) this.search.show();
    this.updateStatus();
  }

  showTabs() {
    const { state } = this.store;
    keepFocus(this.tabs, () =>
      this.tabs.replaceChildren(...this.store.allowedViews().map((view) =>
        button(this.store.model.viewById.get(view).label, () => this.store.set({ view }), {
          "aria-pressed": String(view === state.view), "data-view": view,
        }))));
  }

  showUnits() {
    const { stage, state } = this.store;
    this.units.hidden = stage.units.length < 2 || state.view === "columns";
    this.units.replaceChildren(...stage.units.map((unit, position) =>
      h("option", { value: position, selected: position === state.unit,
        title: this.store.model.kernelByName.get(unit.name)?.title },
      this.store.model.shortOf(unit.name))));
  }

  updateStatus() {
    if (!this.status || !this.view.root.isConnected) return;
    this.status.textContent = this.view.status();
    this.status.title = this.status.textContent;
    this.legend.replaceChildren(...legendOf(this.store.model, this.view.present?.()));
  }

  /** Shows a match of the search in its stage; groups of the graph around it open. */
  visitNamed({ stage, entity, at, group }) {
    const { model } = this.store;
    this.store.set({ stage, path: "", ...at,
      ...(entity >= 0 ? { selected: model.entities[entity] } : {}) });
    if (this.view === this.views.graph && entity >= 0) this.views.graph.uncover(entity, group);
  }

  clear() {
    if (!this.help.hidden) return this.toggleHelp();
    if (!this.glossary.hidden) return this.toggleGlossary();
    if (this.copies.isOpen) return this.copies.close();
    if (this.bar.isOpen) return this.bar.shut();
    if (this.whole.isOn) return this.whole.leave();
    this.search.clear();
    this.store.set({ selected: "", path: "", critical: false });
    return this.root.focus();
  }

  toggleText() {
    const { view } = this.store.state;
    const views = this.store.allowedViews();
    const wanted = view === "text" ? views[0] : "text";
    if (views.includes(wanted)) this.store.set({ view: wanted });
  }

  toggleCritical() {
    this.store.set({ critical: !this.store.state.critical });
  }

  toggleHelp() {
    this.open(this.help.hidden ? this.help : null);
  }

  toggleGlossary() {
    this.open(this.glossary.hidden ? this.glossary : null);
  }

  /** Opens a page of help over all else; without one, closes the one that is open. */
  open(page) {
    for (const each of [this.help, this.glossary]) each.hidden = each !== page;
    this.root.querySelector(".frame").inert = Boolean(page);
    (page?.querySelector("input, button") ?? this.root).focus();
  }

  fit() {
    this.view.fit?.();
  }

  visitNeighbour(side) {
    const { picture } = this.views.graph;
    const chosen = picture?.byEntity.get(this.store.selected);
    const near = picture?.neighbours.get(chosen)?.[side][0];
    if (near) this.store.select((side === "inputs" ? near.from : near.to).row.e);
  }

  /** True if there are several revisions, and Python to show them. */
  get mayTurn() {
    const { revisions, requests } = this.store;
    return Boolean(revisions?.areSeveral && !requests.obstacle);
  }

  /** Shows the revision before or after. */
  turn(by) {
    if (this.mayTurn) this.store.revisions.turn(by);
  }

  /** Marks what changed, or no more. */
  remark() {
    this.store.revisions.mark(this.store.model);
    this.store.set({});
  }

  /** The place of the reader, in addition to the state: for the explorer of another revision. */
  get place() {
    const active = this.root.getRootNode().activeElement;
    return {
      graph: this.views.graph.place, text: this.views.text.pane.place,
      columns: this.views.columns.columns.map(({ pane }) => pane.place),
      search: this.search.text, isWhole: this.whole.isOn,
      hadFocus: this.root.contains(active), height: this.root.style.height,
    };
  }

  /** Goes to where the reader was in another revision. */
  resume({ graph, text, columns, search, isWhole, hadFocus, height }) {
    this.views.graph.resume(graph);
    this.views.text.pane.resume(text);
    this.views.columns.resume(columns);
    this.search.text = search;
    this.root.style.height = height; // as it was dragged
    if (isWhole) this.whole.enter();
    if (hadFocus) this.root.focus({ preventScroll: true });
  }

  close() {
    const parts = [this.panels, this.bar, this.whole, this.revisionBar, this.address];
    parts.forEach((it) => it?.close());
    this.views.text.editing.close();
    this.views.columns.columns.forEach(({ editing }) => editing.close());
  }

  showLineage() {
    this.panels.open("inspector", true);
    this.inspector.body.querySelector(".lineage")?.scrollIntoView({ block: "nearest" });
  }
}

/** Keeps the state of the page and the model's `state` equal, without echoes. */
function sync(store, model, arrival) {
  const { requests } = store;
  let isOurs = false;
  let isOver = false;
  const publish = () => {
    if (isOver) return;
    isOurs = true;
    model.set("state", { ...store.state });
    if (!requests.obstacle) model.save_changes(); // else nobody is there to take them
    isOurs = false;
  };
  store.subscribe(publish);
  const adopt = () => {
    if (!isOurs) arrival.adopt(model.get("state"));
  };
  model.on("change:state", adopt);
  publish();
  return () => {
    isOver = true;
    model.off("change:state", adopt);
  };
}

/** Marks the root once the first picture has been painted. */
function markReady(root) {
  requestAnimationFrame(() => requestAnimationFrame(() => { root.dataset.ready = "true"; }));
}

/** Called by anywidget as soon as there is a widget, in view or not. */
export function initialize({ model }) {
  keepWhenSaved(model.widget_manager);
  drawMissed(model.widget_manager);
}

/** The widget's entry: anywidget calls it with its model, an exported page with a small one. */
export async function render(context) {
  try {
    const made = await contextOf({ ...context, host: context.model });
    return await (PAGES[made.model.get("wire").format] || renderExplorer)(made);
  } catch (error) {
    return refused(context.el, error);
  }
}

/** Says in the place of a page why there is none: its data may be anybody's. */
function refused(el, error) {
  console.error(error);
  const words = h("p", { class: "svodviz refused", role: "alert", "data-theme": "light" },
    `This explorer cannot be shown: ${error.message}`);
  el.append(words);
  return () => words.remove();
}

/** The views that can be rendered with the data that the model has at present. */
async function contextOf(context) {
  const { host } = context;
  const given = host.get("wire");
  if (given instanceof Error) throw given;
  const wire = await unpacked(given);
  const model = wire === given ? host : withWire(host, wire);
  const later = await arrived(host.get("later"));
  return { ...context, model, later };
}

/** An explorer, and after it those of the revisions that follow, each in the place of the last. */
async function renderExplorer(context) {
  const { host, fullPage = false } = context;
  const revisions = !fullPage && host.get("live") ? new Revisions(host) : null;
  await revisions?.read();
  let wire = host.get("wire"); // of the revision that is shown
  let shown = mount(context, revisions);
  let isClosed = false;
  const turn = async () => {
    const given = host.get("wire");
    shown.freeze();
    const next = await contextOf(context);
    await revisions.read();
    // While it was unpacked, a still newer one may have come.
    if (isClosed || host.get("wire") !== given) return;
    wire = given;
    shown = mount(next, revisions, shown);
  };
  const remark = async () => {
    const given = host.get("changes");
    await revisions.read();
    const isOfIt = host.get("wire") === wire && host.get("changes") === given;
    if (!isClosed && isOfIt) shown.explorer.remark();
  };
  if (revisions) {
    host.on("change:wire", turn);
    host.on("change:changes", remark);
  }
  return () => {
    isClosed = true;
    host.off("change:wire", turn);
    host.off("change:changes", remark);
    revisions?.close();
    shown.leave();
  };
}

/** One revision in the page; `last` is the one that gives way to it. */
function mount({ model, el, later, fullPage = false }, revisions, last = null) {
  const requests = new Requests(model, isConnected(el));
  const data = new Model(model.get("wire"));
  if (later && data.isWaiting) data.append(later);
  revisions?.mark(data);
  const explorer = new Explorer(data, model.get("state"), fullPage, requests, revisions);
  const { root } = explorer;
  if (revisions) revisions.settle = () => requests.ask("ping");
  if (last) {
    const { place } = last.explorer;
    last.explorer.root.replaceWith(root);
    last.leave();
    explorer.resume(place);
  } else {
    el.append(root);
  }
  const repaint = () => explorer.view.draw?.();
  const stopTheme = followTheme(root, fullPage ? explorer.look : null, repaint);
  if (fullPage) rememberRoom(explorer.store);
  explorer.show();
  if (fullPage && window.top === window && document.activeElement === document.body) {
    root.focus({ preventScroll: true }); // its keys work at once
  }
  explorer.address?.begin();
  const arrival = new Arrival(model, explorer.store);
  const stopSync = sync(explorer.store, model, arrival);
  explorer.ownTab.know(model);
  const adopt = () => explorer.store.measured.adopt();
  model.on("change:recorded", adopt);
  const watcher = new ResizeObserver(repaint);
  watcher.observe(explorer.pane);
  markReady(root);
  /** Neither tells Python of its state nor takes one: the next revision is on its way. */
  const freeze = () => {
    stopSync();
    arrival.close();
  };
  const leave = () => {
    freeze();
    stopTheme();
    model.off("change:recorded", adopt);
    requests.close();
    watcher.disconnect();
    explorer.close();
    root.remove(); // the notebook keeps `el` even when its output is gone
  };
  return { explorer, freeze, leave };
}

export default { initialize, render };
