// One compilation, decoded from the wire (see wire.py) and indexed for the views.

import { arrow } from "./geometry.js";
import { childrenOf, closure, descend } from "./links.js";
import { ScheduleData } from "./schedule.js";

const VERSION = 4;

export class Model {
  constructor(wire) {
    if (wire.format !== "svodviz" || wire.version !== VERSION) {
      throw new Error(`This page reads svodviz data of version ${VERSION}, not ${wire.version}.`);
    }
    Object.assign(this, wire);
    this.views = wire.views.map(([id, label, stages, needs]) => ({ id, label, stages, needs }));
    this.viewById = new Map(this.views.map((row) => [row.id, row]));
    this.children = childrenOf(wire.parents);
    this.numbers = new Map(wire.entities.map((name, entity) => [name, entity]));
    this.stageById = new Map(wire.stages.map((stage) => [stage.id, stage]));
    this.shapes = new Map(wire.legend.map(([kind, shape]) => [kind, shape]));
    this.stageOf = (entity) => this.entities[entity].split(":", 1)[0];
    this.kernelByName = new Map(wire.kernels.map((row) => [row.name, row]));
    this.kernelBodies = new Set(wire.kernels.map((row) => row.e));
    this.closures = new Map();
    this.texts = new Map();
    this.schedule = wire.schedule && new ScheduleData(wire.schedule);
    this.indexNodes();
    this.indexLines();
    this.indexRewrites();
  }

  /** Where each entity is drawn: its rows in the scenes of stages, then in films. */
  indexNodes() {
    this.nodesOf = new Map();
    const take = (scene, place) => {
      scene.arrows = new Map();
      scene.nodes.forEach((row, node) => {
        if (this.isStretch(row.e)) row.holds = this.parents[row.e];
        if (!this.nodesOf.has(row.e)) this.nodesOf.set(row.e, []);
        this.nodesOf.get(row.e).push({ ...place, node, row });
      });
    };
    this.stages.forEach((stage) => stage.units.forEach((unit, position) => {
      if (unit.scene) take(unit.scene, { stage: stage.id, unit: position });
    }));
    this.films.forEach((film, position) => take(film, { stage: "passes", film: position }));
  }

  indexLines() {
    this.lineOf = new Map();
    for (const stage of this.stages) {
      this.text(stage.id).forEach((row, index) => {
        if (row.entity >= 0 && !this.lineOf.has(row.entity)) {
          this.lineOf.set(row.entity, { stage: stage.id, index, ...row });
        }
      });
    }
  }

  /** Which rewrite made an entity, and in which it gave way to another. */
  indexRewrites() {
    this.madeBy = new Map();
    this.gaveWayIn = new Map();
    this.passes.forEach((record, pass) => {
      const film = this.films[record.film];
      const deltas = film.passes[record.shot].steps;
      const entities = (index, key) => (deltas[index]?.[key] || []).map((it) => film.nodes[it].e);
      record.rewrites.forEach(([rule, before, after], index) => {
        const place = { pass, step: index + 1, rule: this.rules[rule], before, after };
        const note = (map) => (entity) => { if (!map.has(entity)) map.set(entity, place); };
        entities(index, "n+").forEach(note(this.madeBy));
        entities(index, "n-").forEach(note(this.gaveWayIn));
      });
    });
  }

  /** What an entity turned into, rewrite by rewrite. */
  successors(entity) {
    const found = new Set([entity]);
    for (const it of found) {
      if (this.gaveWayIn.has(it)) found.add(this.gaveWayIn.get(it).after);
    }
    return found;
  }

  /** The entity's number, or -1 where there is none of that name. */
  entity(name) {
    return this.numbers.get(name) ?? -1;
  }

  /**
   * All that is the same thing at other stages, the entity itself included. What a rewrite took
   * away is followed through what came in its place.
   */
  related(entity) {
    if (entity < 0) return new Set();
    if (!this.closures.has(entity)) this.closures.set(entity, this.follow(entity));
    return this.closures.get(entity);
  }

  follow(entity) {
    const found = closure(entity, this.parents, this.children, this.stageOf);
    if (this.hasDescendants(entity)) return found;
    for (const successor of this.successors(entity)) {
      descend(successor, this.children, this.stageOf).forEach((it) => found.add(it));
    }
    return found;
  }

  isLinked(entity) {
    return entity >= 0 && (this.parents[entity].length > 0 || this.hasDescendants(entity)
      || this.gaveWayIn.has(entity));
  }

  /** Whether something descends from an entity; the stretch it is drawn in is no descendant. */
  hasDescendants(entity) {
    return this.children[entity].some((it) => !this.isStretch(it));
  }

  /** Whether an entity stands for many nodes of a graph that is too large (see condense.py). */
  isStretch(entity) {
    return this.entities[entity].includes(":stretch ");
  }

  /**
   * The printed lines of a stage, all its kernels below each other under headings.
   * `alone` says why a line comes from nothing.
   * @returns {{text: string, entity: number, alone?: string, number: number, heading: boolean,
   *   unit: number}[]}
   */
  text(id) {
    if (!this.texts.has(id)) {
      const { units } = this.stageById.get(id);
      const rows = [];
      units.forEach((unit, position) => {
        if (units.length > 1) {
          const text = unit.title || unit.name;
          rows.push({ text, entity: -1, number: 0, heading: true, unit: position });
        }
        unit.lines.forEach(([text, entity, alone = ""], index) => {
          rows.push({ text, entity, alone, number: index + 1, heading: false, unit: position });
        });
      });
      this.texts.set(id, rows);
    }
    return this.texts.get(id);
  }

  /** The numbers of the program's lines that an entity comes from. */
  origins(entity) {
    if (entity < 0) return [];
    const found = [...this.related(entity)].filter((it) => this.stageOf(it) === "source");
    return found.map((it) => Number(this.entities[it].split(":")[1])).sort((a, b) => a - b);
  }

  /** A short name: the drawn label, else the printed line, else the entity itself. */
  caption(entity) {
    const place = (this.nodesOf.get(entity) || [])[0];
    if (place) return place.row.label.slice(0, 2).join("  ");
    return this.lineOf.get(entity)?.text.trim() || this.schedule?.caption(entity)
      || this.entities[entity];
  }

  /** Nodes and lines of a stage, for the ribbon. */
  size(id) {
    if (id === "passes") {
      const rewrites = this.passes.reduce((sum, it) => sum + it.rewrites.length, 0);
      return { nodes: this.passes.length, lines: rewrites };
    }
    const units = this.stageById.get(id).units.filter((unit) => unit.name !== "after passes");
    const sum = (size) => units.reduce((total, unit) => total + size(unit), 0);
    return { nodes: sum((unit) => unit.nodes), lines: sum((unit) => unit.lines.length) };
  }
}

/** The decoded path of a scene's edge in one of its layouts. */
export function arrowIn(scene, layout, edge) {
  const key = `${layout} ${edge}`;
  if (!scene.arrows.has(key)) {
    const routes = (scene.layouts[layout].byEdge ??= new Map(scene.layouts[layout].routes));
    scene.arrows.set(key, arrow(routes.get(edge)));
  }
  return scene.arrows.get(key);
}

/** Where a scene's nodes stand in one of its layouts: node -> [x, y]. */
export function placesIn(scene, layout) {
  const rows = scene.layouts[layout];
  rows.byNode ??= new Map(rows.places.map(([node, x, y]) => [node, [x, y]]));
  return rows.byNode;
}
