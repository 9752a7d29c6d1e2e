// Everything known about the selection: facts, value, decisions, its rule, and its lineage.

import { wordList } from "../glossary/words.js";
import { button, counted, duration, h, nanoseconds } from "../kit/dom.js";
import { rove } from "../kit/roving.js";
import { languageOf } from "../kit/tokens.js";
import { findingSection } from "./findingsheet.js";
import { groupAt, groupSections } from "./groupsheet.js";
import { scheduleSections } from "./itemsheet.js";
import { kernelOf, kernelOnScreen, kernelSections } from "./kernelsheet.js";
import { isTold, matchedPart } from "./matched.js";
import { moduleSections } from "./modulesheet.js";
import { partSection } from "./partsheet.js";
import { decisionSection } from "./reasons.js";
import { timeSection } from "./timesheet.js";
import { valueSection } from "./valuesheet.js";
import { ruleCode, whyNotSection } from "./whynot.js";

const LISTED = 8;
const PLACE = / {2,}(?:(?! {2}).)*:\d+$/; // the line of the program, last in a line of the graph

export class Inspector {
  /** @param store @param {HTMLElement} first what stands before the selection, whatever that is */
  constructor(store, first) {
    this.store = store;
    this.picture = null;
    this.sheet = h("div", { class: "inspector-sheet" });
    this.body = h("div", {
      class: "inspector-body", tabindex: "0", role: "group",
      "aria-label": "Inspector",
    }, first, this.sheet);
    this.toggle = button("Inspector", () => {}, {
      class: "panel-toggle inspector-toggle", "aria-expanded": "true",
    });
    this.root = h("aside", { class: "inspector", "aria-label": "Inspector" },
      h("h3", {}, this.toggle), this.body);
    rove(this.body, "y");
    store.subscribe(() => this.update());
    this.update();
  }

  update() {
    const { selected, state } = this.store;
    const part = state.stage === "passes" ? state.pass : state.unit;
    const version = `${this.store.measured.version} ${this.store.model.revision}`;
    const group = groupAt(this.picture, selected);
    const key = `${selected} ${state.stage} ${selected < 0 ? [part, state.view] : ""} ${version} ${
      group ? this.picture.key : ""}`;
    if (key === this.key) return;
    this.key = key;
    const head = group ? groupSections(this, this.picture, group) : [];
    const parts = selected < 0 ? this.overview() : [...head, ...this.sections(selected)];
    this.sheet.replaceChildren(...parts.flat().filter(Boolean));
    const isChosen = selected >= 0 && selected !== this.chosen;
    this.chosen = selected;
    // The newest part is in view: the selection, or the sections before it.
    this.body.scrollTop = isChosen ? this.sheet.offsetTop : 0;
  }

  /** Takes in what the graph view draws: there the selection may be a folded group. */
  look(picture) {
    this.picture = picture;
    this.update();
  }

  overview() {
    const { model, stage } = this.store;
    const seconds = [...model.stages, ...model.passes].reduce((sum, it) => sum + it.seconds, 0);
    const changed = model.passes.filter((it) => it.changed).length;
    const facts = [
      ["compiled in", duration(seconds)],
      ["passes", `${model.passes.length}, ${changed} changed the program`],
      ["decisions", String(model.decisions.length)],
      ...(model.schedule?.moved || []).map((words) => ["moved", words]),
    ];
    return [
      h("h3", {}, model.name),
      findingSection(this),
      timeSection(this),
      this.facts(facts),
      stage.missing && h("p", { class: "note" }, stage.missing),
      ...kernelSections(this, kernelOnScreen(this.store)),
      h("p", { class: "hint" },
        "Select a node, a line or a bar: it is followed through every stage."),
      h("p", { class: "hint" }, "Press ? for the keys."),
      this.waysOn(),
      ...model.notes.map((note) => h("p", { class: "note" }, note)),
    ];
  }

  /** Links for a new reader, without one to the present place. */
  waysOn() {
    const { model, state } = this.store;
    const pass = Math.max(0, model.passes.findIndex((it) => it.changed));
    /** @type {[string, boolean, Object][]} */
    const ways = [
      ["Step through the passes", model.passes.length > 0 && state.stage !== "passes",
        { stage: "passes", pass, step: -1, view: "graph" }],
      ["Source, loops and assembly side by side", state.view !== "columns", { view: "columns" }],
      ["When each kernel runs", model.schedule?.items.length > 0 && state.stage !== "schedule",
        { stage: "schedule", view: "timeline" }],
    ];
    const shown = ways.filter(([, isOther]) => isOther);
    return this.section("Next steps", this.links(shown.map(([words, , where]) =>
      button(words, () => this.store.set(where), { class: "entity-link way" }))));
  }

  sections(entity) {
    const module = moduleSections(this, entity);
    if (module) return module;
    const place = this.placeOf(entity);
    const row = place?.row;
    const own = scheduleSections(this, entity);
    if (own) {
      return [this.head(entity, row, own.kind), ...own.sections, valueSection(this, entity),
        this.rest(entity)].flat();
    }
    return [
      this.head(entity, row),
      row && this.meaning(row),
      row ? this.facts(factsOf(row)) : this.lineText(entity),
      row?.text && h("pre", { class: "block", tabindex: "0" }, row.text.join("\n")),
      valueSection(this, entity),
      this.cost(row),
      this.words(entity),
      partSection(this, place),
      this.operands(entity, place),
      this.partners(entity, row),
      this.rest(entity),
    ].flat();
  }

  /** The nodes of its backward pass; of a node of the backward pass those of the forward pass. */
  partners(entity, row) {
    const found = this.store.model.partners.get(entity);
    if (!found) return null;
    const more = found.length - LISTED;
    return this.section(row?.back ? "Backward pass of" : "Its backward pass",
      this.links(found.slice(0, LISTED).map((it) => this.link(it))),
      more > 0 && h("p", { class: "more" }, `and ${more} more, highlighted in the graph`));
  }

  rest(entity) {
    const kernel = kernelSections(this, kernelOf(this.store.model, entity));
    return [decisionSection(this, entity, LISTED), this.rule(entity), whyNotSection(this, entity),
      this.lineage(entity), ...kernel];
  }

  /** The place where the entity is drawn, in the stage on screen if it is there. */
  placeOf(entity) {
    const places = this.store.model.nodesOf.get(entity) || [];
    return places.find((it) => it.stage === this.store.state.stage) || places[0];
  }

  head(entity, row, kind = row?.kind) {
    const { model } = this.store;
    const title = row ? [row.op, row.name].filter(Boolean).join(" ") : model.caption(entity);
    return h(
      "div", { class: "inspector-head", "data-kind": kind },
      kind && h("span", { class: "swatch", "aria-hidden": "true" }),
      h("h3", {}, title),
      h("p", { class: "entity" }, model.entities[entity]),
    );
  }

  lineText(entity) {
    const line = this.store.model.lineOf.get(entity);
    return line && [h("pre", { class: "block", tabindex: "0" }, line.text.trim()),
      line.alone && h("p", { class: "note" }, `Not linked to an earlier stage: ${line.alone}.`)];
  }

  /** The meaning of the operation, in the compiler's own words. */
  meaning(row) {
    const words = this.store.model.operations[row.op];
    return words ? h("p", { class: "hint" }, words) : null;
  }

  /** The words of a line of loops, instructions, LLVM IR or assembly. */
  words(entity) {
    const { model } = this.store;
    const stage = model.stageOf(entity);
    if (!["loops", "lowered", "llvm", "optimized", "asm"].includes(stage)) return null;
    const text = model.lineOf.get(entity)?.text ?? "";
    const found = wordList(text, languageOf(stage, model.host),
      (word) => model.operations[word] ?? "");
    return found && this.section("In words", found);
  }

  facts(rows) {
    return h("dl", { class: "facts" },
      ...rows.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
  }

  cost(row) {
    if (!row) return null;
    const facts = Object.entries(row.cost || {}).map(([name, value]) => [
      name, name.endsWith("_ns") ? nanoseconds(value) : Number(value).toLocaleString("en"),
    ]);
    for (const name of ["start", "finish", "slack"]) {
      if (row[name] !== undefined) facts.push([name, nanoseconds(row[name])]);
    }
    if (row.critical) facts.push(["critical", "◆ no slack"]);
    return facts.length ? this.section("Cost", this.facts(facts)) : null;
  }

  operands(entity, place) {
    const { model } = this.store;
    if (!place) return null;
    const scene = place.replay === undefined
      ? model.stageById.get(place.stage).units[place.unit].scene : model.replays[place.replay];
    const edges = scene.edges.filter((it) => it[3] !== "order"); // that only says what stands below
    const to = edges.filter((it) => it[1] === place.node).sort((a, b) => a[2] - b[2]);
    const from = edges.filter((it) => it[0] === place.node);
    const list = (found, end) => found.map((edge) => this.link(
      scene.nodes[edge[end]].e, end === 0 && edge[2] >= 0 ? `${edge[2]}` : ""));
    return [
      to.length > 0 && this.section("Inputs", this.links(list(to, 0))),
      from.length > 0 && this.section("Users", this.links(list(from, 1))),
    ].filter(Boolean);
  }

  rule(entity) {
    const { model } = this.store;
    const [made, gave] = [model.madeBy.get(entity), model.gaveWayIn.get(entity)];
    const parts = [["Made by", made], ["Replaced by", gave]];
    return parts.filter(([, place]) => place).map(([title, place]) => {
      const [name, algebra, source, code] = place.rule;
      const go = () => this.store.set({ stage: "passes", pass: place.pass, step: place.step });
      return this.section(
        title,
        h("p", { class: "rule-name" }, name),
        h("p", { class: "algebra" }, algebra),
        h("p", { class: "rule-source" }, source),
        ruleCode(code),
        isTold(model.passes[place.pass], code)
          && matchedPart(this.store, place.pass, place.step),
        button(`rewrite ${place.step} of ${model.passes[place.pass].name}`, go, {
          class: "entity-link",
        }),
      );
    });
  }

  /** The same thing at every stage, one click each. */
  lineage(entity) {
    const { model } = this.store;
    const related = [...model.related(entity)];
    const rows = model.stages.flatMap((stage) => {
      const found = related.filter((it) => model.stageOf(it) === stage.id && model.lineOf.has(it))
        .sort((a, b) => model.lineOf.get(a).index - model.lineOf.get(b).index);
      return found.length ? [this.chapter(stage, found, entity)] : [];
    });
    return this.section("Lineage", h("div", { class: "lineage" }, ...rows), this.awaited());
  }

  /** The stages that a lineage lacks because they have not arrived, with their values. */
  awaited() {
    const { isComing, stages } = this.store.model;
    const names = stages.filter((it) => it.later).map((it) => it.label);
    return names.length > 0 && h("p", { class: "hint" },
      `${names.join(", ")}, values: ${isComing ? "still compiling" : "not compiled"}.`);
  }

  chapter(stage, found, entity) {
    const at = found.indexOf(entity);
    const from = Math.max(0, Math.min(at - LISTED / 2, found.length - LISTED));
    const shown = found.slice(from, from + LISTED);
    const left = found.length - shown.length;
    return h(
      "details", { class: "chapter", open: found.length <= LISTED || at >= 0 },
      h("summary", {}, stage.label, h("span", { class: "chapter-count" }, String(found.length))),
      this.links(shown.map((it) => this.link(it, "", it === entity))),
      left > 0 && h("p", { class: "more" }, `and ${counted(left, "more line")} not listed`),
    );
  }

  link(entity, prefix = "", isCurrent = false) {
    const { model } = this.store;
    const text = model.lineOf.get(entity)?.text.trim() || model.caption(entity);
    const node = button("", () => this.store.visit(entity), {
      class: "entity-link", title: text, "aria-current": isCurrent ? "true" : null,
      onmouseenter: () => this.store.hover(entity),
      onmouseleave: () => this.store.hover(-1),
    });
    if (prefix) node.append(h("span", { class: "operand-number" }, prefix));
    node.append(text.replace(PLACE, ""));
    return node;
  }

  links(nodes) {
    return h("div", { class: "links" }, ...nodes);
  }

  section(title, ...content) {
    return h("section", { class: "inspector-section" }, h("h4", {}, title), ...content);
  }
}

function factsOf(row) {
  const rows = [["kind", row.kind], ["argument", row.arg], ["dtype", row.dtype],
    ["shape", row.shape], ["strides", row.strides], ["name", row.name], ["device", row.device],
    ["variables", variablesOf(row)], ["group", row.group]];
  return rows.filter(([, value]) => value);
}

/** The variables that the extents or bounds of a node depend on. */
function variablesOf({ variables }) {
  return Array.isArray(variables) ? variables.join(", ") : variables;
}
