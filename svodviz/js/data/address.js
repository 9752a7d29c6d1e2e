// The place of a reader in an explorer as a part of an address, and back. Pure.
//
// An address is anybody's text: what it names is taken over where there is such a thing, the rest
// of it is as in an explorer that has just been opened.

/**
 * @typedef {import("./store.js").Store} Store
 * @typedef {import("./wire.js").State} State
 * @typedef {{state: Partial<State>, search: string}} Place
 */

export const LONGEST = 4000; // characters: longer ones do not survive chats and mails
const WHOLE = /^-?\d{1,9}$/;
const FLAG = "yes";

/**
 * The parts of a state in an address, in order: name, text in the address, and where it says
 * something. Rows of lists have a text for each of their entries.
 * @type {[keyof State, (state: State, store: Store) => string | string[],
 *   (state: State, store: Store) => boolean][]}
 */
const PARTS = [
  ["stage", ({ stage }) => stage, () => true],
  ["view", ({ view }) => view, ({ view }, { stage }) => view !== stage.view],
  ["unit", ({ unit }, { stage }) => stage.units[unit].name,
    ({ unit, selected }, { stage }) => stage.units.length > 1 && (unit > 0 || selected !== "")],
  ["pass", (state) => String(state.pass), ({ stage }) => stage === "passes"],
  ["step", ({ step }) => String(step), ({ stage, step }) => stage === "passes" && step >= 0],
  ["selected", ({ selected }) => selected, ({ selected }) => selected !== ""],
  ["path", ({ path }) => path, ({ path }) => path !== ""],
  ["columns", ({ columns }) => columns, ({ view }) => view === "columns"],
  ["folding", ({ folding }) => folding, ({ view, folding }) => view === "graph" && folding !== ""],
  ["open", ({ open }) => open, ({ view }) => view === "graph"],
  ["only", ({ only }) => only, ({ view }) => view === "graph"],
  ["overlay", ({ overlay }) => overlay, ({ view, overlay }) => view === "graph" && overlay !== ""],
  ["across", () => FLAG, ({ across, view }) => across && view === "graph"],
  ["filtered", () => FLAG, ({ filtered }) => filtered],
  ["critical", () => FLAG, ({ critical }) => critical],
  ["machine", ({ machine }) => machine,
    ({ view, machine }) => view === "machine" && machine !== ""],
  ["level", ({ level }) => String(level),
    ({ view, level }) => view === "llvm_passes" && level >= 0],
  ["llvm_pass", (state) => String(state.llvm_pass), ({ view }) => view === "llvm_passes"],
];

/**
 * The place on screen, e.g. `stage=loops&unit=k0&selected=loops:0:12`. Where it would be too long,
 * it is without the names of groups and nodes.
 * @param {Store} store @param {string} search what is searched for
 */
export function addressOf(store, search) {
  const whole = written(store, search, PARTS);
  const short = PARTS.filter(([name]) => name !== "open" && name !== "only");
  return whole.length <= LONGEST ? whole : written(store, search, short).slice(0, LONGEST);
}

/** @param {Store} store @param {string} search @param {typeof PARTS} parts */
function written(store, search, parts) {
  const { state } = store;
  const words = new URLSearchParams();
  for (const [name, text, isSaid] of parts) {
    if (isSaid(state, store)) [text(state, store)].flat().forEach((it) => words.append(name, it));
  }
  if (search) words.append("search", search);
  return words.toString().replace(/%3A/g, ":").replace(/%2C/g, ",");
}

/**
 * The place that an address names; null where it names no stage of this explorer.
 * @param {string} address @param {Store} store
 * @returns {Place | null}
 */
export function placeOf(address, store) {
  if (address.length > LONGEST) return null;
  const words = new URLSearchParams(address);
  const stage = store.model.stageById.get(words.get("stage") ?? "");
  if (!stage) return null;
  const { start } = store;
  /** @param {"pass" | "step" | "level" | "llvm_pass"} name */
  const whole = (name) => {
    const text = words.get(name) ?? "";
    return WHOLE.test(text) ? Number(text) : start[name];
  };
  const unit = stage.units.findIndex(({ name }) => name === words.get("unit"));
  return {
    search: words.get("search") ?? "",
    state: {
      stage: stage.id, view: words.get("view") ?? stage.view, unit: Math.max(0, unit),
      pass: whole("pass"), step: whole("step"), selected: words.get("selected") ?? "",
      path: words.get("path") ?? "",
      columns: words.has("columns") ? words.getAll("columns") : start.columns,
      folding: words.get("folding") ?? "", open: words.getAll("open"), only: words.getAll("only"),
      overlay: words.get("overlay") ?? "", critical: words.get("critical") === FLAG,
      across: words.get("across") === FLAG,
      machine: words.get("machine") ?? "", level: whole("level"), llvm_pass: whole("llvm_pass"),
    },
  };
}
