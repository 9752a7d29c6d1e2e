// The state of one explorer and the steps that change it. Views subscribe; nothing else is shared.
// Pure.

import { FOLDINGS } from "./graph/groupings.js";
import { overlaysOf } from "./graph/overlay.js";
import { LEVELS } from "./llvmtexts.js";
import { Measured } from "./measured.js";
import { Requests } from "./requests.js";
import { soundRoom } from "./room.js";

const COLUMNS = 3; // at first

/** @typedef {import("./wire.js").State} State */
/**
 * State: {stage, unit, view, pass, step, selected, path, columns, shares, panels, sizes, folding,
 * open, only, filtered, across, overlay, critical, machine, level, llvm_pass}; all is saved and
 * restored.
 * stage: its place in the ribbon · unit: position of the kernel · view: see views.py · pass:
 * position · step: see passreplay.js · selected: entity string or "" · path: another, to which all
 * paths lead · columns: stages · shares: of the width, for each column, or none for equal ones ·
 * panels: which were opened or closed · sizes: of panels, in pixels · folding: see groupings.js ·
 * open: groups drawn node by node · only: entities that alone are drawn, with their neighbours ·
 * filtered: whether texts show only what is related to the selection ·
 * across: whether graphs lead from left to right · overlay: see overlay.js · critical: whether only
 * the critical path stands out · machine: whose assembly is shown, "" for this one's · level: which
 * of LLVM's passes, -1 for those that make the code which runs · llvm_pass: position among those.
 */
export class Store {
  /**
   * @param {import("./model.js").Model} model
   * @param {Partial<State>} saved
   * @param {Requests | null} requests
   * @param {import("./revisions.js").Revisions | null} revisions of a live explorer
   */
  constructor(model, saved = {}, requests = null, revisions = null) {
    this.model = model;
    this.revisions = revisions;
    this.requests = requests || new Requests(null); // one that is never answered
    /** @type {((state: State, before: State) => void)[]} */
    this.listeners = [];
    /** @type {((entity: number) => void)[]} */
    this.hoverListeners = [];
    this.hovered = -1;
    /** @type {Map<string, string>} */
    this.views = new Map();
    this.measured = new Measured(model, this.requests);
    this.measured.onChange(() => this.set({}));
    // A model opens with its modules; a training step with its forward and backward pass.
    const opening = model.modules && !model.partners.size ? "modules" : "graph";
    const first = model.stages.find((it) => it.id === opening);
    /** @type {State} what suits the program, whatever was saved */
    this.start = {
      stage: first?.id ?? "graph", unit: 0, view: first?.view ?? "", selected: "", path: "",
      pass: Math.max(0, model.passes.findIndex((it) => it.changed)), step: -1,
      columns: this.textStages(["source", "loops", "asm"]), shares: [], panels: {}, sizes: {},
      folding: "", open: [], only: [], filtered: false, across: false, overlay: "", critical: false,
      machine: "", level: LEVELS[0][0], llvm_pass: 0,
    };
    const { start } = this;
    const wanted = { ...start, ...saved };
    if (!saved.view) wanted.view = "";
    this.state = this.sound(wanted, start);
    /** True if the columns are those that every page opens with. */
    this.hasOwnColumns = this.state.columns.join() === start.columns.join();
    this.requests.onLive(() => this.wantCosts());
  }

  /** A reader who lays measured times over a graph asks for them. */
  wantCosts() {
    if (this.state.overlay === "measured") this.measured.want();
  }

  /**
   * Stages with text, the wished ones first; always three, repeated where there are fewer.
   * @param {string[]} wished
   */
  textStages(wished) {
    const ids = this.model.stages.filter((it) => this.model.text(it.id).length).map((it) => it.id);
    const found = [...new Set([...wished.filter((id) => ids.includes(id)), ...ids])];
    return Array.from({ length: COLUMNS }, (_, i) => found[i % Math.max(1, found.length)]);
  }

  get stage() {
    return this.stageOf(this.state);
  }

  /**
   * The stage of a state, which has one.
   * @param {State} state
   */
  stageOf(state) {
    return /** @type {import("./wire.js").Stage} */ (this.model.stageById.get(state.stage));
  }

  get selected() {
    return this.model.entity(this.state.selected);
  }

  get pass() {
    return this.model.passes[this.state.pass];
  }

  /** Rewrites of the chosen pass that can be stepped through. */
  get steps() {
    return this.stepsOf(this.pass);
  }

  /** @param {import("./wire.js").Pass | undefined} record */
  stepsOf(record) {
    return record ? this.model.replays[record.replay].passes[record.replay_pass].steps.length : 0;
  }

  /**
   * A state without impossible parts: what cannot be, stays as it is in `before`.
   * @param {State} wanted @param {State} before
   */
  sound(wanted, before) {
    const state = { ...wanted };
    const { stageById, passes } = this.model;
    /** @param {"unit" | "pass" | "step"} name @param {number} limit */
    const whole = (name, limit) => Number.isInteger(state[name]) && state[name] < limit;
    if (!stageById.has(state.stage)) state.stage = before.stage;
    if (!whole("pass", Math.max(1, passes.length)) || state.pass < 0) state.pass = before.pass;
    const steps = this.stepsOf(passes[state.pass]);
    if (!whole("step", steps + 1) || state.step < -1) state.step = -1;
    if (!whole("unit", this.stageOf(state).units.length) || state.unit < 0) state.unit = 0;
    if (this.model.entity(state.selected) < 0) state.selected = "";
    if (this.model.entity(state.path) < 0) state.path = "";
    for (const name of /** @type {const} */ (["open", "only"])) {
      if (!Array.isArray(state[name])) state[name] = before[name];
    }
    state.only = state.only.filter((it) => this.model.entity(it) >= 0);
    if (!["", "none", ...FOLDINGS.map(([id]) => id)].includes(state.folding)) state.folding = "";
    if (!overlaysOf(this.model).some(([id]) => id === state.overlay)) state.overlay = "";
    state.critical = Boolean(state.critical);
    state.across = Boolean(state.across);
    state.filtered = Boolean(state.filtered) && state.selected !== "";
    if (!this.model.machines.some(([id]) => id === state.machine)) state.machine = "";
    if (!LEVELS.some(([level]) => level === state.level)) state.level = LEVELS[0][0];
    if (!Number.isInteger(state.llvm_pass) || state.llvm_pass < 0) state.llvm_pass = 0;
    Object.assign(state, soundRoom(state, before, (id) =>
      stageById.has(id) && this.model.text(id).length > 0));
    if (!this.allowedViews(state).includes(state.view)) state.view = this.firstView(state);
    return state;
  }

  /** True if choices of loops were tried, or can be: false in a page without a playground. */
  get canPlay() {
    return !this.requests?.isExported || this.model.hasTried;
  }

  /** Views that a state's stage can be shown in. */
  allowedViews(state = this.state) {
    const stage = this.stageOf(state);
    /** @type {Record<string, boolean | undefined>} */
    const has = {
      "": true,
      scene: stage.id === "passes" || stage.later || stage.units.some((unit) => unit.scene),
      text: stage.id !== "passes" && !stage.asked,
      schedule: Boolean(this.model.schedule),
    };
    /** @param {{"id": string, stages: string[]}} row */
    const isOffered = (row) => (!row.stages.length || row.stages.includes(stage.id))
      && (row.id !== "playground" || this.canPlay);
    return this.model.views.filter((row) => isOffered(row) && has[row.needs]).map((it) => it.id);
  }

  /** @param {State} state */
  firstView(state) {
    const stage = this.stageOf(state);
    const views = this.allowedViews(state);
    return [this.views.get(stage.id) ?? "", stage.view].find((it) => views.includes(it))
      ?? views[0];
  }

  /**
   * Changes parts of the state and tells every view.
   * @param {Partial<State>} patch
   */
  set(patch) {
    const before = this.state;
    const wanted = { ...before, ...patch };
    if (!this.model.stageById.has(wanted.stage)) wanted.stage = before.stage;
    if (wanted.stage !== before.stage && !patch.view) wanted.view = this.firstView(wanted);
    if (wanted.pass !== before.pass && patch.step === undefined) wanted.step = -1;
    const isMoved = wanted.stage !== before.stage || wanted.selected !== before.selected;
    if (isMoved && patch.unit === undefined) wanted.unit = this.unitFor(wanted);
    this.state = this.sound(wanted, before);
    if (this.state.view !== "columns") this.views.set(this.state.stage, this.state.view);
    this.listeners.forEach((listener) => listener(this.state, before));
    if (patch.overlay) this.wantCosts();
  }

  /**
   * Takes in what arrived after the rest; who waits for it at a selection sees that.
   * @param {import("./wire.js").Later} later
   * @param {Partial<State>} patch what changes of the state at the same time
   */
  arrive(later, patch = {}) {
    const isAwaited = this.stage.later && this.selected >= 0;
    this.model.append(later);
    this.set({ ...(isAwaited && { unit: this.unitFor(this.state) }), ...patch });
  }

  /**
   * The unit in which a state's selection is to be seen; else the one that was shown.
   * @param {State} state
   */
  unitFor(state) {
    const kept = state.stage === this.state.stage ? state.unit : 0;
    const { units } = this.stageOf(state);
    if (units.length < 2) return 0;
    const rows = this.model.text(state.stage);
    const chosen = this.model.entity(state.selected);
    const related = this.model.related(chosen);
    /** @type {((entity: number) => boolean)[]} */
    const tests = [(it) => it >= 0 && it === chosen, (it) => related.has(it)];
    /** @param {number} unit @param {(entity: number) => boolean} test */
    const has = (unit, test) => rows.some((row) => row.unit === unit && test(row.entity));
    const candidates = [kept, ...units.keys()];
    for (const test of tests) {
      const found = candidates.find((unit) => has(unit, test));
      if (found !== undefined) return found;
    }
    return kept;
  }

  /** @param {(state: State, before: State) => void} listener */
  subscribe(listener) {
    this.listeners.push(listener);
  }

  /** @param {number} entity */
  select(entity) {
    this.set({ selected: entity < 0 ? "" : this.model.entities[entity] });
  }

  /**
   * Shows an entity where it is at home: its stage, selected.
   * @param {number} entity
   */
  visit(entity) {
    const id = this.model.stageOf(entity);
    const place = (this.model.nodesOf.get(entity) || [])[0];
    const selected = this.model.entities[entity];
    if (this.state.view === "columns") {
      this.set({ selected });
    } else if (place && place.stage === "passes") {
      this.visitStep(entity, place.replay ?? 0, selected);
    } else {
      this.set({ stage: this.model.stageById.has(id) ? id : "graph", selected });
    }
  }

  /**
   * Shows a node that occurs only within passes: the first pass that has it.
   * @param {number} entity @param {number} replay @param {string} selected
   */
  visitStep(entity, replay, selected) {
    const made = this.model.madeBy.get(entity) || this.model.gaveWayIn.get(entity);
    const pass = made ? made.pass : this.model.passes.findIndex((it) => it.replay === replay);
    this.set({ stage: "passes", pass, step: made ? made.step : -1, selected });
  }

  /** @param {number} entity */
  hover(entity) {
    if (entity === this.hovered) return;
    this.hovered = entity;
    this.hoverListeners.forEach((listener) => listener(entity));
  }

  /**
   * @param {(entity: number) => void} listener
   * @returns {() => void} ends it
   */
  onHover(listener) {
    this.hoverListeners.push(listener);
    return () => { this.hoverListeners = this.hoverListeners.filter((it) => it !== listener); };
  }

  /**
   * Moves to another pass by `by`; with `changed`, to the next one that changed the program.
   * @param {number} by
   */
  movePass(by, changed = false) {
    let pass = this.state.pass + by;
    while (changed && this.model.passes[pass] && !this.model.passes[pass].changed) pass += by;
    if (this.model.passes[pass]) this.set({ stage: "passes", pass, view: "graph" });
  }

  /**
   * Moves to another rewrite; past the ends it stays.
   * @param {number} by
   */
  moveStep(by) {
    const now = this.state.step < 0 ? (by > 0 ? -1 : this.steps + 1) : this.state.step;
    const step = Math.max(0, Math.min(this.steps, now + by));
    this.set({ stage: "passes", step, view: "graph" });
  }
}
