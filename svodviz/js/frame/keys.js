// Keys, which act only while the explorer has the focus, and the page that lists them.

import { button, h } from "../kit/dom.js";
import { cycleFocus, keepKeys } from "../kit/focus.js";
import { reveal } from "../views/graph/reveal.js";

/** The stages that digits lead to, in the order of 1 … 9, 0. */
function numbered(model) {
  return model.stages.filter((stage) => !stage.asked).slice(0, 10);
}

/** The keys of the stages that are made when they are asked for. */
const ASKED = { llvm_passes: "l", run: "m" };

/** The key that leads to a stage; "" where there is none. */
export function keyOfStage(model, stage) {
  if (stage.asked) return ASKED[stage.id] ?? "";
  const place = numbered(model).indexOf(stage);
  return place < 0 ? "" : String((place + 1) % 10);
}

/** Rows [keys, words, action, task]; the first row of which a key is one acts. */
export function keyTable(store, views) {
  const step = (by) => () => store.moveStep(by);
  const neighbour = (side) => () => views.visitNeighbour(side);
  const shown = (side) => () => store.state.view === "graph" && reveal(views.views.graph, side);
  const stage = (digit) => numbered(store.model)[(digit + 9) % 10];
  const offered = (id) => store.model.stageById.get(id)?.units.length
    && (id === "run" ? store.measured.isOffered : store.requests.offers(id));
  const visit = (id) => () => {
    if (offered(id)) store.set({ stage: id });
  };
  const steer = (key) => views.view.steer?.(key);
  return [
    ...of("Stages and views", [
      [[..."1234567890"], "stage by its position in the ribbon",
        (key) => stage(Number(key)) && store.set({ stage: stage(Number(key)).id })],
      [["l"], "LLVM's passes", visit("llvm_passes")],
      [["m"], "the run: measured times", visit("run")],
      [["g"], "graph or text", () => views.toggleText()],
      [["t"], "linked columns", () => store.set({ view: "columns" })],
      ...(views.whole.isPossible
        ? [[["f"], "full window on or off", () => views.toggleWhole()]] : []),
      ...(store.revisions ? [[["Ctrl Z", "Ctrl Y"], "previous or next revision",
        (key) => views.turn(key === "Ctrl Y" ? 1 : -1)]] : []),
    ]),
    ...of("Step through passes", [
      [["ArrowUp"], "previous pass", () => store.movePass(-1)],
      [["ArrowDown"], "next pass", () => store.movePass(1)],
      [["ArrowLeft"], "previous rewrite", step(-1)],
      [["ArrowRight"], "next rewrite", step(1)],
      [["n"], "next changed pass", () => store.movePass(1, true)],
      [["p"], "previous changed pass", () => store.movePass(-1, true)],
    ]),
    ...of("Search and select", [
      [["/"], "search", () => views.search.focus()],
      [["Ctrl K"], "search: ↑ ↓ choose from the list of all stages, Enter goes to the next match",
        () => views.search.focus()],
      [["I"], "select the first input", neighbour("inputs")],
      [["O"], "select the first user", neighbour("users")],
      [["h"], "lineage of the selection", () => views.showLineage()],
      [["Escape"], "leave the full window; else clear selection and search",
        () => views.clear()],
    ]),
    ...of("Graph", [
      [[" "], "fit the drawing", () => views.fit()],
      [["Enter"], "fold or unfold the group of the selection", () => views.view.toggleFold?.()],
      [["s"], "show only the selection and its neighbours; again: more of them, then all; on the "
        + "timeline: zoom out", (key) => { views.view.toggleOnly?.(); steer(key); }],
      [["i"], "reveal the inputs of the selection: unfolded and in view", shown("inputs")],
      [["o"], "reveal the users of the selection: unfolded and in view", shown("users")],
      [["P"], "paths from the selection to the next one; again: off",
        () => store.set({ path: store.state.path ? "" : store.state.selected })],
      [["c"], "critical path only", () => views.toggleCritical()],
    ]),
    ...of("Timeline", [
      [["w"], "zoom in on the timeline", steer],
      [["a", "d"], "earlier or later on the timeline", steer],
      [[",", "."], "previous or next item of the timeline", steer],
    ]),
    ...of("Help", [
      [["?"], "this list", () => views.toggleHelp()],
      [["G"], "the glossary", () => views.toggleGlossary()],
    ]),
  ];
}

/** The rows of keys for one task. */
const of = (task, rows) => rows.map((row) => [...row, task]);

const NAMES = { ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→", " ": "Space",
  Escape: "Esc", I: "Shift I", O: "Shift O", P: "Shift P", G: "Shift G" };
const nameOf = (keys) => (keys.length > 2 ? `${keys[0]} … ${keys[keys.length - 1]}`
  : keys.map((key) => NAMES[key] || key).join(" "));

/** True if a field of the page takes the key. */
function isTyping(event) {
  const target = event.composedPath()[0];
  if (event.key === "Escape" || !target.matches) return false;
  if (target.matches("input[type=range]")) return event.key.startsWith("Arrow");
  if (target.matches("button, summary")) return event.key === " " || event.key === "Enter";
  return target.matches("input:not([type=checkbox]), select, textarea");
}

/** Undo is the revision before, redo the next. */
function turnOf({ key, ctrlKey, metaKey, shiftKey, altKey }) {
  if (altKey || !(ctrlKey || metaKey)) return 0;
  const letter = key.toLowerCase();
  if (letter === "z") return shiftKey ? 1 : -1;
  return letter === "y" ? 1 : 0;
}

/** Ctrl+K searches, as in many editors. */
const isSearch = ({ key, ctrlKey, metaKey, altKey, shiftKey }) =>
  key.toLowerCase() === "k" && (ctrlKey || metaKey) && !altKey && !shiftKey;

/** The editor runs its text with Ctrl+Enter, and takes back: notebooks have these keys too. */
function isFieldsOwn(event) {
  const isField = Boolean(event.composedPath()[0].matches?.("textarea"));
  return isField && (event.key === "Enter" || turnOf(event) !== 0);
}

/** Listens on the explorer's root, so other widgets and the notebook keep their keys. */
export function listenToKeys(root, table, explorer = { mayTurn: false }) {
  keepKeys(root, (event) => isFieldsOwn(event) || isSearch(event)
    || (explorer.mayTurn && turnOf(event) !== 0));
  root.addEventListener("keydown", (event) => {
    if (isSearch(event) && explorer.search) {
      event.preventDefault();
      event.stopPropagation();
      explorer.search.focus();
      return;
    }
    const by = isTyping(event) ? 0 : turnOf(event);
    if (by && explorer.mayTurn) {
      event.preventDefault();
      event.stopPropagation();
      explorer.turn(by);
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isOurs = !isTyping(event);
    const row = isOurs && table.find(([keys]) => keys.includes(event.key));
    // The notebook must not take letters typed into our fields for commands either.
    event.stopPropagation();
    if (!row) return;
    event.preventDefault();
    row[2](event.key);
  });
}

/** The page of keys; hidden until asked for. `others` leads to other pages of help. */
export function keyPage(table, close, others) {
  const tasks = [...new Set(table.map(([, , , task]) => task))];
  const rowsOf = (wanted) => table.filter(([, , , task]) => task === wanted)
    .flatMap(([keys, words]) => [h("dt", {}, h("kbd", {}, nameOf(keys))), h("dd", {}, words)]);
  return h(
    "div",
    {
      class: "key-page", role: "dialog", "aria-label": "Keys", "aria-modal": "true", hidden: true,
      onkeydown: cycleFocus,
    },
    h("div", { class: "key-card" },
      h("div", { class: "key-head" }, h("h3", {}, "Keys"), others, button("close", close)),
      h("div", { class: "key-tasks" }, ...tasks.map((task) =>
        h("section", {}, h("h4", {}, task), h("dl", {}, ...rowsOf(task)))))),
  );
}
