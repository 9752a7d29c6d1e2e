// One compilation, decoded from the wire (see wire.py) and indexed for the views. Pure.

import { arrow } from "../kit/geometry.js";
import { ascend, childrenOf, closure, descend } from "./links.js";
import { ScheduleData } from "./schedule.js";

const VERSION = 7;
export const COMING = "Still compiling. It appears here by itself.";

/**
 * @typedef {import("./wire.js").Wire} Wire
 * @typedef {{pass: number, step: number, rule: import("./wire.js").Rule, before: number,
 *   after: number}} Rewrite which rewrite it was, and what it turned into what
 * @typedef {{stage: string, unit?: number, replay?: number, node: number,
 *   row: import("./wire.js").NodeRow}} Place where an entity is drawn
 * @typedef {{text: string, entity: number, alone?: string, number: number, heading: boolean,
 *   unit: number}} TextRow
 */

export class Model {
  /** @type {Wire["entities"]} */ entities;
  /** @type {Wire["parents"]} */ parents;
  /** @type {Wire["stages"]} */ stages;
  /** @type {Wire["replays"]} */ replays;
  /** @type {Wire["passes"]} */ passes;
  /** @type {Wire["rules"]} */ rules;
  /** @type {Wire["scopes"]} */ scopes;
  /** @type {Wire["machines"]} */ machines;
  /** @type {Wire["operations"]} */ operations;
  /** @type {Wire["values"]} */ values;
  /** @type {Wire["unseen"]} */ unseen;
  /** @type {Wire["notes"]} */ notes;
  /** @type {Wire["playground"]} */ playground;
  /** @type {Wire["modules"]} of a model */ modules;
  /** @type {Wire["codes"]} of its modules */ codes;
  /** @type {Map<string, Map<string, string>>} what changed from the revision before: changes.js */
  signs = new Map();

  /** @param {Wire} wire */
  constructor(wire) {
    if (wire.format !== "svodviz" || wire.version !== VERSION) {
      throw new Error(`This page reads svodviz data of version ${VERSION}, not ${wire.version}.`);
    }
    Object.assign(this, wire);
    ({ entities: this.entities, parents: this.parents, stages: this.stages, replays: this.replays,
      passes: this.passes, rules: this.rules, machines: this.machines,
      operations: this.operations, values: this.values, unseen: this.unseen,
      notes: this.notes, playground: this.playground, scopes: this.scopes,
      modules: this.modules, codes: this.codes } = wire);
    this.host = /** @type {string} */ (wire.host ?? "");
    this.views = wire.views.map(([id, label, stages, needs]) => ({ id, label, stages, needs }));
    this.viewById = new Map(this.views.map((row) => [row.id, row]));
    this.children = childrenOf(wire.parents);
    this.numbers = new Map(wire.entities.map((name, entity) => [name, entity]));
    this.stageById = new Map(wire.stages.map((stage) => [stage.id, stage]));
    this.shapes = new Map(wire.legend.map(([kind, shape]) => [kind, shape]));
    /** @param {number} entity */
    this.stageOf = (entity) => this.entities[entity].split(":", 1)[0];
    this.kernelByName = new Map(wire.kernels.map((row) => [row.name, row]));
    this.kernelBodies = new Set(wire.kernels.map((row) => row.e));
    /** @type {Map<number, any[][]>} */
    this.plainOf = this.indexPlain(wire.plain);
    /** @type {Map<number, Set<number>>} */
    this.closures = new Map();
    /** @type {Map<string, TextRow[]>} */
    this.texts = new Map();
    /** @type {Map<number, Place[]>} */
    this.nodesOf = new Map();
    /** @type {Map<number, number[]>} for nodes of the graph those of their backward pass, or of
     * which they are */
    this.partners = new Map();
    /** @type {Map<number, TextRow & {stage: string, index: number}>} */
    this.lineOf = new Map();
    /** @type {Map<number, Rewrite>} */
    this.madeBy = new Map();
    /** @type {Map<number, Rewrite>} */
    this.gaveWayIn = new Map();
    /** @type {Map<number, Set<number>>} what gave way to an entity */
    this.cameFrom = new Map();
    /** @type {Map<number, string> | null} kept by what groups nodes */
    this.functions = null;
    /** @type {Map<number, Set<number>> | null} kept by what groups nodes */
    this.itemsByEntity = null;
    /** @type {Map<number, number> | null} kept by what groups nodes */
    this.scopeByEntity = null;
    /** @type {Map<number, boolean> | null} kept by what groups nodes */
    this.backs = null;
    /** @type {number[] | null} kept by what groups nodes */
    this.callCounts = null;
    /** @type {string[] | null} the groups that graph and passes begin with, open */
    this.opened = null;
    /** The words for what later stages wait for; whether they may still come. */
    this.waiting = COMING;
    this.isComing = true;
    /** The number of changes of the shown part of a stage. */
    this.revision = 0;
    this.schedule = wire.schedule && new ScheduleData(wire.schedule);
    this.stages.forEach((stage) => this.indexStage(stage));
    this.replays.forEach((it, replay) => this.take(it, { stage: "passes", replay }));
    this.indexRewrites();
  }

  /** True if choices of loops were tried and recorded. */
  get hasTried() {
    const { kernels, tunings } = this.playground;
    return Object.keys(kernels).length + Object.keys(tunings).length > 0;
  }

  /** True if some stages have not arrived yet. */
  get isWaiting() {
    return this.stages.some((stage) => stage.later);
  }

  /**
   * Says in words what stages that have not arrived wait for.
   * @param {string} words @param {boolean} isComing
   */
  wait(words, isComing) {
    Object.assign(this, { waiting: words, isComing });
    this.stages.forEach((stage) => stage.later && this.texts.delete(stage.id));
    this.revision += 1;
  }

  /**
   * Takes in what arrived after the rest (see later.py).
   * @param {import("./wire.js").Later} later
   */
  append({ stages, entities, parents, values, unseen, operations, notes, codes }) {
    this.codes = codes ?? this.codes;
    entities.forEach((name) => {
      this.numbers.set(name, this.entities.push(name) - 1);
      this.children.push([]);
    });
    parents.forEach((list) => {
      const child = this.parents.push(list) - 1;
      list.forEach((parent) => this.children[parent].push(child));
    });
    Object.assign(this.values, values);
    this.unseen.push(...unseen);
    Object.assign(this.operations, operations);
    this.notes.push(...notes);
    this.closures.clear();
    this.texts.clear();
    stages.forEach((made) => {
      const stage = Object.assign(this.stageById.get(made.id) ?? {}, { later: false }, made);
      this.indexStage(stage);
    });
    this.revision += 1;
  }

  /**
   * For each node that left no choice what became of it, as rows of decisions.
   * @param {[string, string, any[], number[]][]} plain
   */
  indexPlain(plain) {
    /** @type {Map<number, any[][]>} */
    const found = new Map();
    for (const [kind, reason, numbers, entities] of plain) {
      for (const it of entities) {
        found.set(it, [...(found.get(it) ?? []), [it, kind, true, reason, numbers]]);
      }
    }
    return found;
  }

  /**
   * The place where each entity of a stage is drawn, and where it is printed.
   * @param {import("./wire.js").Stage} stage
   */
  indexStage(stage) {
    stage.units.forEach((unit, position) => {
      if (unit.scene) this.take(unit.scene, { stage: stage.id, unit: position });
    });
    this.text(stage.id).forEach((row, index) => {
      if (row.entity >= 0 && !this.lineOf.has(row.entity)) {
        this.lineOf.set(row.entity, { stage: stage.id, index, ...row });
      }
    });
  }

  /**
   * Notes where the entities of a scene are drawn: stages come before replays.
   * @param {import("./wire.js").Scene} scene
   * @param {{stage: string, unit?: number, replay?: number}} place
   */
  take(scene, place) {
    scene.arrows = new Map();
    scene.nodes.forEach((row, node) => {
      if (this.isStretch(row.e)) row.holds = this.parents[row.e];
      if (row.partners) {
        this.partners.set(row.e, row.partners.map((it) => this.entity(`graph:${it}`)));
      }
      if (!this.nodesOf.has(row.e)) this.nodesOf.set(row.e, []);
      this.nodesOf.get(row.e)?.push({ ...place, node, row });
    });
  }

  /** The rewrite that created an entity, and the one that replaced it. */
  indexRewrites() {
    this.passes.forEach((record, pass) => {
      const replay = this.replays[record.replay];
      const deltas = replay.passes[record.replay_pass].steps;
      /** @param {number} index @param {"n+" | "n-"} key */
      const entities = (index, key) => (deltas[index]?.[key] || []).map((it) => replay.nodes[it].e);
      record.rewrites.forEach(([rule, before, after], index) => {
        const place = { pass, step: index + 1, rule: this.rules[rule], before, after };
        /** @param {Map<number, Rewrite>} map @param {number[]} all */
        const note = (map, all) => all.forEach((entity) => {
          if (!map.has(entity)) map.set(entity, place);
        });
        note(this.madeBy, entities(index, "n+"));
        note(this.gaveWayIn, entities(index, "n-"));
      });
    });
    this.gaveWayIn.forEach(({ after }, entity) => {
      this.cameFrom.set(after, (this.cameFrom.get(after) ?? new Set()).add(entity));
    });
  }

  /**
   * The entities that an entity turned into, rewrite by rewrite.
   * @param {number} entity
   */
  successors(entity) {
    const found = new Set([entity]);
    for (const it of found) {
      const rewrite = this.gaveWayIn.get(it);
      if (rewrite) found.add(rewrite.after);
    }
    return found;
  }

  /**
   * Entities that turned into any of some, rewrite by rewrite, and are nothing else any more.
   * @param {Set<number>} entities
   */
  predecessors(entities) {
    const found = new Set(entities);
    for (const it of found) this.cameFrom.get(it)?.forEach((old) => found.add(old));
    return [...found].filter((it) => !entities.has(it) && !this.hasDescendants(it));
  }

  /**
   * The entity's number, or -1 where there is none of that name.
   * @param {string} name
   */
  entity(name) {
    return this.numbers.get(name) ?? -1;
  }

  /**
   * All that is the same thing at other stages, the entity itself included. What a rewrite took
   * away is followed through what came in its place, and back again.
   * @param {number} entity
   * @returns {Set<number>}
   */
  related(entity) {
    if (entity < 0) return new Set();
    const found = this.closures.get(entity) ?? this.follow(entity);
    this.closures.set(entity, found);
    return found;
  }

  /** @param {number} entity */
  follow(entity) {
    const found = closure(entity, this.parents, this.children, this.stageOf);
    if (this.stageOf(entity) === "modules") {
      this.linesOfModule(found).forEach((it) => found.add(it));
    }
    const above = ascend(entity, this.parents, this.stageOf);
    this.predecessors(above).forEach((it) => found.add(it));
    if (this.hasDescendants(entity)) return found;
    for (const successor of this.successors(entity)) {
      descend(successor, this.children, this.stageOf).forEach((it) => found.add(it));
    }
    return found;
  }

  /**
   * The lines of the program that made the nodes of a module, without those that only called it.
   * @param {Set<number>} related
   */
  linesOfModule(related) {
    const rows = this.stageById.get("graph")?.units[0]?.scene?.nodes ?? [];
    return rows.filter((row) => related.has(row.e)).flatMap((row) => this.parents[row.e]
      .filter((it) => this.stageOf(it) === "source"
        && !row.callers?.includes(Number(this.entities[it].split(":")[1]))));
  }

  /** @param {number} entity */
  isLinked(entity) {
    return entity >= 0 && (this.parents[entity].length > 0 || this.hasDescendants(entity)
      || this.gaveWayIn.has(entity));
  }

  /**
   * True if something descends from an entity; the stretch it is drawn in is no descendant.
   * @param {number} entity
   */
  hasDescendants(entity) {
    return this.children[entity].some((it) => !this.isStretch(it));
  }

  /**
   * True if an entity stands for many nodes of a graph that is too large (see condense.py).
   * @param {number} entity
   */
  isStretch(entity) {
    return this.entities[entity].includes(":stretch ");
  }

  /**
   * The printed lines of a stage, all its kernels below each other under headings.
   * `alone` says why a line comes from nothing.
   * @param {string} id
   * @returns {TextRow[]}
   */
  text(id) {
    const rows = this.texts.get(id) ?? this.rowsOf(id);
    this.texts.set(id, rows);
    return rows;
  }

  /**
   * The title of a kernel, "k7 matmul+relu"; for anything else its name.
   * @param {string} name
   * @returns {string}
   */
  shortOf(name) {
    return this.kernelByName.get(name)?.short ?? name;
  }

  /**
   * The same in a text that has its name.
   * @param {string} text
   * @param {string} name
   */
  withShort(text, name) {
    return name ? text.replace(name, () => this.shortOf(name)) : text;
  }

  /**
   * @param {string} id
   * @returns {TextRow[]}
   */
  rowsOf(id) {
    const { units = [], later, missing } = this.stageById.get(id) ?? {};
    const why = later ? this.waiting : later === false && missing;
    if (why) return [{ text: why, entity: -1, number: 0, heading: true, unit: 0 }];
    return units.flatMap((unit, position) => {
      const words = this.withShort(unit.title || unit.name, unit.name);
      const title = { text: words, entity: -1, number: 0, heading: true,
        unit: position };
      const rows = unit.lines.map(([text, entity, alone = ""], index) =>
        ({ text, entity, alone, number: index + 1, heading: false, unit: position }));
      return units.length > 1 ? [title, ...rows] : rows;
    });
  }

  /**
   * The numbers of the program's lines that an entity comes from, and of those that led there.
   * @param {number} entity
   */
  linesOf(entity) {
    if (entity < 0) return [];
    const found = [...this.related(entity)].filter((it) => this.stageOf(it) === "source");
    return found.map((it) => Number(this.entities[it].split(":")[1])).sort((a, b) => a - b);
  }

  /**
   * The numbers of the program's lines that an entity comes from: without those that only called
   * the function in which it is made, unless nothing else is known.
   * @param {number} entity
   */
  origins(entity) {
    const own = new Set();
    for (const it of this.related(entity)) {
      const rows = (this.nodesOf.get(it) ?? []).filter(({ stage }) => stage === "graph");
      if (!rows.length) continue;
      const lines = this.parents[it].filter((line) => this.stageOf(line) === "source")
        .map((line) => Number(this.entities[line].split(":")[1]));
      lines.filter((line) => !rows.every(({ row }) => row.callers?.includes(line)))
        .forEach((line) => own.add(line));
    }
    const found = this.linesOf(entity);
    return own.size ? found.filter((line) => own.has(line)) : found;
  }

  /**
   * A short name: the drawn label, else the printed line, else the entity itself.
   * @param {number} entity
   */
  caption(entity) {
    const place = (this.nodesOf.get(entity) || [])[0];
    if (place) return place.row.label.slice(0, 2).join("  ");
    return this.lineOf.get(entity)?.text.trim() || this.schedule?.caption(entity)
      || this.entities[entity];
  }

  /**
   * Nodes and lines of a stage, for the ribbon.
   * @param {string} id
   */
  size(id) {
    if (id === "passes") {
      const rewrites = this.passes.reduce((sum, it) => sum + it.rewrites.length, 0);
      return { nodes: this.passes.length, lines: rewrites };
    }
    const all = this.stageById.get(id)?.units ?? [];
    const units = all.filter((unit) => unit.name !== "after passes");
    /** @param {(unit: import("./wire.js").Unit) => number} size */
    const sum = (size) => units.reduce((total, unit) => total + size(unit), 0);
    return { nodes: sum((unit) => unit.nodes), lines: sum((unit) => unit.lines.length) };
  }
}

/**
 * The layout of a scene with this number, which has been made.
 * @param {import("./wire.js").Scene} scene @param {number} layout
 */
export function layoutIn(scene, layout) {
  return /** @type {import("./wire.js").Layout} */ (scene.layouts[layout]);
}

/**
 * The decoded path of a scene's edge in one of its layouts.
 * @param {import("./wire.js").Scene} scene @param {number} layout @param {number} edge
 */
export function arrowIn(scene, layout, edge) {
  const key = `${layout} ${edge}`;
  const rows = layoutIn(scene, layout);
  rows.byEdge ??= new Map(rows.routes);
  const found = scene.arrows.get(key) ?? arrow(rows.byEdge.get(edge) ?? "");
  scene.arrows.set(key, found);
  return found;
}

/**
 * The places of a scene's nodes in one of its layouts: node -> [x, y].
 * @param {import("./wire.js").Scene} scene @param {number} layout
 */
export function placesIn(scene, layout) {
  const rows = layoutIn(scene, layout);
  rows.byNode ??= new Map(rows.places.map(([node, x, y]) => [node, [x, y]]));
  return rows.byNode;
}
