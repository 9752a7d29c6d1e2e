// The graph of a stage or of one step of a pass: SVG of what is in view, on a camera.

import { groupHits, namesAround, namesAroundAll } from "../../data/graph/around.js";
import { firstOpen, lookOf } from "../../data/graph/groupings.js";
import { overlayOn } from "../../data/graph/overlay.js";
import { passPicture, replayScene, rewrittenNodes } from "../../data/graph/passpicture.js";
import { stagePicture } from "../../data/graph/picture.js";
import { openedWith, SCOPED } from "../../data/graph/scopes.js";
import { partnersIn } from "../../data/graph/twins.js";
import { matches, termsOf } from "../../data/query.js";
import { button, count, counted, duration, h, s } from "../../kit/dom.js";
import { Camera, crowded, fit, holds, READABLE, touches, union } from "../../kit/geometry.js";
import { rove } from "../../kit/roving.js";
import { handleCamera } from "./camerawork.js";
import { drawOverview, edgeCurve, fullWords, groupFrame, groupLabel } from "./drawing.js";
import { nodeElement, number } from "./drawing.js";
import { GraphTools } from "./graphtools.js";
import { Minimap } from "./minimap.js";
import { paperOf } from "./paper.js";
import { replacementArrow, replacementsOf } from "./replaced.js";
import { lightRoute, routeOf } from "./route.js";
import { Tidy } from "./tidy.js";

const MOST_NODES = 900; // drawn in full at once: a choice, see FOLD_ABOVE of folding.js
const TINY = 0.08; // scale below which no word can be read

export class GraphView {
  constructor(store, look) {
    this.store = store;
    this.look = look;
    this.cameras = new Map();
    this.camera = new Camera();
    this.found = new Set();
    this.critical = false;
    this.groupLayer = s("g", { class: "groups" });
    this.edgeLayer = s("g", { class: "edges" });
    this.labelLayer = s("g", { class: "labels" });
    this.nodeLayer = s("g", { class: "nodes" });
    this.numberLayer = s("g", { class: "numbers", "aria-hidden": "true" });
    this.world = s("g", {}, this.groupLayer, this.edgeLayer, this.labelLayer, this.nodeLayer,
      this.numberLayer);
    this.overview = h("canvas", { class: "overview", "aria-hidden": "true" });
    this.svg = s("svg", { class: "graph", role: "group", tabindex: "0" }, this.world);
    this.minimap = new Minimap((x, y) => this.centre(x, y));
    this.costs = new Map();
    this.tidy = new Tidy(store, () => this.show());
    this.graphTools = new GraphTools(store, this);
    this.empty = h("p", { class: "empty" });
    this.bar = h("div", { class: "graph-bar", role: "toolbar", "aria-label": "Graph" },
      this.graphTools.root,
      h("div", { class: "zoom" }, this.tidy.root,
        button("+", () => this.zoom(1.3), { "aria-label": "Zoom in" }),
        button("−", () => this.zoom(1 / 1.3), { "aria-label": "Zoom out" }),
        button("fit", () => this.fit(), { title: "Show everything (space)" })));
    this.area = h("div", { class: "graph-area" },
      h("div", { class: "graph-ground" }, this.overview, this.svg, this.empty),
      this.minimap.root);
    this.root = h("div", { class: "graph-view" }, this.bar, this.area);
    rove(this.bar);
    this.listen();
  }

  listen() {
    handleCamera(this.svg, this);
    this.svg.addEventListener("pointerover", (event) => this.store.hover(this.entityAt(event)));
    this.svg.addEventListener("pointerleave", () => this.store.hover(-1));
    this.svg.addEventListener("click", (event) => this.click(event));
    this.svg.addEventListener("dblclick", () => this.toggleFold());
    this.store.onHover(() => { if (this.root.isConnected) this.light(); });
  }

  /** In a notebook the wheel scrolls the page until the explorer has the focus. */
  mayZoom(event) {
    const isOurs = this.root.getRootNode().activeElement?.closest?.(".svodviz")
      === this.root.closest(".svodviz");
    return this.look.fullPage || event.ctrlKey || event.metaKey || isOurs;
  }

  entityAt(event) {
    const node = event.target.closest?.(".node");
    return node ? Number(node.dataset.entity) : -1;
  }

  /** Selects a node; with Shift it is the other end of paths from the selection. */
  click(event) {
    const { entities } = this.store.model;
    const entity = this.entityAt(event);
    const name = entities[entity] ?? "";
    const isEnd = event.shiftKey && entity >= 0 && this.store.selected >= 0;
    this.store.set(isEnd ? { path: name === this.store.state.path ? "" : name }
      : { selected: name, path: "" });
  }

  show() {
    const { store } = this;
    const { stage, unit } = store.state;
    const before = this.picture;
    const isPass = stage === "passes";
    this.picture = isPass ? this.passPicture() : this.stagePicture();
    this.empty.hidden = Boolean(this.picture);
    this.bar.hidden = !this.picture;
    this.graphTools.show();
    this.tidy.show(this.picture, isPass || store.state.across ? null : this.scene);
    if (!this.picture) return this.showNothing(store.stage.units[unit]);
    this.cost(isPass);
    this.replaced = isPass ? replacementsOf(store.pass, store.state.step, this.picture) : [];
    if (before !== this.picture) this.takeOver(before);
    this.svg.setAttribute("aria-label", `${store.stage.label} graph`);
    this.draw();
    this.light();
    this.reveal(isPass && before !== this.picture);
    return undefined;
  }

  /** The scene of the stage on screen; of a pass all that its replay shows in this layout. */
  get scene() {
    const { model, stage, state } = this.store;
    if (stage.id === "passes") return model.passes.length ? replayScene(model, state.pass) : null;
    return stage.units[state.unit]?.scene ?? null;
  }

  /** The stage of the scene on screen: replays have the stage of their program. */
  get program() {
    const { pass, state } = this.store;
    return state.stage === "passes" ? pass?.stage ?? "" : state.stage;
  }

  /** The folding of the scene: that of the state, else one that suits the scene. */
  foldedLook(scene) {
    const look = lookOf(this.store.model, scene, this.program, this.store.state,
      (tried) => this.isReadable(tried));
    look.across = this.store.state.across;
    this.folding = look.by;
    this.opened = look.open;
    this.groups = look.groups ?? [];
    return look;
  }

  /**
   * True if a drawing fits across its direction in letters that can be read.
   */
  isReadable(look) {
    const { across } = this.store.state;
    const drawn = this.pictureUnder({ ...look, across });
    const room = this.size()[across ? 1 : 0];
    const size = across ? [Infinity, room] : [room, Infinity];
    return !drawn || fit(drawn.box, ...size, true).scale >= READABLE;
  }

  /** The stage on screen, or the step of a pass, under a look. */
  pictureUnder(look) {
    const { model, state, pass } = this.store;
    if (state.stage === "passes") {
      return pass ? passPicture(model, state.pass, state.step, look) : null;
    }
    return stagePicture(this.scene, `${state.stage} ${state.unit}`, look);
  }

  /** A step of a pass, folded like the graph; the groups around its rewrite are open. */
  passPicture() {
    const { model, pass, state } = this.store;
    if (!pass) return null;
    const look = this.foldedLook(this.scene);
    if (!look.groups) return this.pictureUnder(look);
    const around = namesAroundAll(look.groups, rewrittenNodes(model, state.pass, state.step));
    return this.pictureUnder({ ...look, open: [...new Set([...look.open, ...around])] });
  }

  /** The stage's graph: folded, or only a neighbourhood, as the state says. */
  stagePicture() {
    const { store, scene } = this;
    const { only, across } = store.state;
    const roots = scene ? scene.nodes.flatMap((row, node) =>
      (only.length && only.includes(store.model.entities[row.e]) ? [node] : [])) : [];
    const look = roots.length ? { only: new Set(roots), across } : this.foldedLook(scene);
    if (roots.length) this.folding = "";
    return this.pictureUnder(look);
  }

  /** Works out the costs that are laid over the picture. */
  cost(isPass) {
    const { model, state } = this.store;
    const { costs, words } = isPass ? { costs: new Map(), words: "" }
      : overlayOn(model, this.scene, this.picture, state.overlay, this.store.measured?.words);
    const overlaid = `${state.overlay} ${this.store.measured?.version}`;
    if (this.overlaid !== overlaid) this.drawnAt = null;
    Object.assign(this, { costs, costWords: words, overlaid });
  }

  /** Opens the folded group in which the selection is, or folds the one it stands in. */
  toggleFold() {
    const { store } = this;
    const found = this.picture?.byEntity.get(store.selected);
    if (!found?.group) return;
    const open = this.opened;
    const both = openedWith(store.model, this.groups, found.group);
    if (open.includes(found.group)) this.openGroups(open.filter((it) => !both.includes(it)));
    else this.openGroups([...open, ...both.filter((it) => !open.includes(it))]);
  }

  /** Says which groups are open: from then on by name, no more as suits the program. */
  openGroups(open) {
    this.store.set({ open, ...(this.folding in SCOPED ? { folding: this.folding } : {}) });
  }

  /** Shows only the selection and its neighbours; more of them, where it is at the edge. */
  toggleOnly() {
    const { store } = this;
    const { only, selected, stage } = store.state;
    if (stage === "passes") return;
    const isMore = selected && this.scene?.nodes.some((row) => row.e === store.selected)
      && !only.includes(selected);
    if (isMore) store.set({ only: [...only, selected] });
    else if (only.length) store.set({ only: [] });
  }

  showNothing(unit) {
    this.picture = null;
    [this.groupLayer, this.edgeLayer, this.nodeLayer].forEach((it) => it.replaceChildren());
    this.numberLayer.replaceChildren();
    this.minimap.root.hidden = true;
    this.bar.hidden = true;
    const instead = this.store.allowedViews().includes("text") ? " Its lines are under Text." : "";
    this.empty.textContent = `${unit?.note || "This stage has no graph."}${instead}`;
  }

  /** Chooses the camera for a new picture so that what stays holds its place on screen. */
  takeOver(before) {
    const { key, byEntity } = this.picture;
    if (before) this.cameras.set(before.key, this.camera);
    this.drawnArea = null;
    if (before?.key === key) return;
    const { selected } = this.store;
    const [old, now] = [before?.byEntity.get(selected), byEntity.get(selected)];
    const isSame = before && key.split(" ").slice(0, 2).join() === before.key.split(" ").slice(0, 2)
      .join();
    const isReplay = key.startsWith("replay");
    if (((isReplay && before?.key.startsWith("replay")) || isSame) && old && now) {
      const { scale } = this.camera;
      this.camera = this.camera.moved((old.x - now.x) * scale, (old.y - now.y) * scale);
    } else if (before && (isReplay || before.key.startsWith("replay")) && this.carryOver(before)) {
      this.isFitted = true;
    } else {
      this.camera = this.cameras.get(key) || this.opening();
      this.isFitted = this.cameras.has(key) || this.svg.clientWidth > 0;
      this.hold(key);
    }
  }

  /**
   * Between a stage and the steps of its passes, and between steps: what was in the middle of the
   * view stays there.
   * @returns {boolean} whether something of it is in both
   */
  carryOver(before) {
    const { byEntity } = this.picture;
    const both = before.nodes.filter((it) => byEntity.has(it.row.e));
    if (!this.svg.clientWidth || both.length < before.nodes.length / 2) return false;
    if (Boolean(before.across) !== Boolean(this.picture.across)) return false;
    const [width, height] = this.size();
    const { x, y, scale } = this.camera;
    const off = ({ box }) => Math.hypot(((box[0] + box[2]) / 2) * scale + x - width / 2,
      ((box[1] + box[3]) / 2) * scale + y - height / 2);
    const chosen = before.byEntity.get(this.store.selected);
    const old = both.includes(chosen) ? chosen
      : both.reduce((best, it) => (off(it) < off(best) ? it : best));
    const now = byEntity.get(old.row.e);
    this.camera = this.camera.moved((old.x - now.x) * scale, (old.y - now.y) * scale);
    return true;
  }

  /** Its cameras, and where the selection stands on screen. */
  get place() {
    const { picture, camera } = this;
    const chosen = picture?.byEntity.get(this.store.selected);
    const cameras = new Map(this.cameras);
    if (picture && this.isFitted) cameras.set(picture.key, camera);
    return { cameras, key: picture?.key, chosen: chosen && [chosen.x, chosen.y] };
  }

  /** Begins with the cameras of another revision; its selection stands where it stood. */
  resume({ cameras, key, chosen }) {
    this.cameras = cameras;
    this.anchor = chosen && cameras.has(key) ? { key, chosen } : null;
  }

  /** Has the selection stand where it stood in the revision before. */
  hold(key) {
    const { anchor, camera } = this;
    this.anchor = null;
    const now = this.picture.byEntity.get(this.store.selected);
    if (!now || anchor?.key !== key) return;
    const [x, y] = anchor.chosen;
    this.camera = camera.moved((x - now.x) * camera.scale, (y - now.y) * camera.scale);
  }

  size() {
    return [this.svg.clientWidth || 800, this.svg.clientHeight || 500];
  }

  /** Before the pane is in the page its size is unknown: then the first fit comes later. */
  settle() {
    if (this.isFitted || !this.svg.clientWidth) return;
    this.isFitted = true;
    this.camera = this.opening();
    if (this.store.selected >= 0) this.reveal();
  }

  /** The size of the drawing, with the map next to it. */
  get room() {
    return [this.area.clientWidth, this.area.clientHeight];
  }

  /** After the pane became wider or narrower, the same place is in its middle. */
  stay() {
    const [before, now] = [this.roomAt ?? this.room, this.room];
    if (!now[0]) return;
    this.roomAt = now;
    if (before[0] === now[0]) return;
    this.camera = this.camera.moved((now[0] - before[0]) / 2, 0);
    this.drawnArea = null;
  }

  /** All of the picture; of one too large for that its upper end, where most of its nodes are. */
  opening() {
    const { box } = this.picture;
    this.minimap.draw(this.picture, fit(box, ...this.room), this.room); // it takes its room first
    const [width, height] = this.size();
    const camera = fitted(this.picture, width, height);
    if (this.picture.across) return camera;
    const view = camera.view(width, height);
    if (holds(view, this.picture.box)) return camera;
    const middle = crowded(this.picture.nodes.map(({ box }) => box), view);
    return new Camera(width / 2 - middle * camera.scale, camera.y, camera.scale);
  }

  moveTo(camera) {
    this.camera = camera;
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.draw();
    });
  }

  zoom(factor) {
    const [width, height] = this.size();
    this.moveTo(this.camera.zoomed(factor, width / 2, height / 2));
  }

  /**
   * Shows everything. What would be too small to be read is folded until one scrolls down only, and
   * begins at its upper end.
   */
  fit() {
    if (!this.picture) return;
    this.foldUntilReadable();
    this.moveTo(fitted(this.picture, ...this.size(), !(this.folding in SCOPED)));
  }

  foldUntilReadable() {
    const { model, state } = this.store;
    const scene = state.only.length ? null : this.scene;
    if (!scene || !(this.folding in SCOPED)) return;
    const look = lookOf(model, scene, this.program, { folding: this.folding, open: this.opened });
    const isReadable = (tried) => this.isReadable(tried);
    if (isReadable(look)) return;
    const open = firstOpen(model, look, scene.nodes.length, isReadable);
    if (open.length < this.opened.length) this.openGroups(open);
  }

  centre(x, y) {
    const [width, height] = this.size();
    const { scale } = this.camera;
    this.moveTo(new Camera(width / 2 - x * scale, height / 2 - y * scale, scale));
  }

  /**
   * Brings into view what matters, where none of it is: of a new step the nodes that its rewrite
   * changed; else the selection, else what is related to it, else what the first rewrite replaces.
   */
  reveal(isNewStep = false) {
    const { selected, model } = this.store;
    const { nodes, byEntity } = this.picture;
    const related = seenOf(model.related(selected), byEntity);
    const changed = isNewStep ? this.rewritten() : [];
    const chosen = byEntity.has(selected)
      ? [byEntity.get(selected)] : nodes.filter((it) => related.has(it));
    const isStep = changed.length > 0 && (this.store.state.step > 0 || !chosen.length);
    const wanted = isStep ? changed : chosen;
    if (!wanted.length) return;
    const view = this.camera.view(...this.size(), -0.02);
    const box = union(wanted.map((it) => it.box));
    const fits = box[2] - box[0] < view[2] - view[0] && box[3] - box[1] < view[3] - view[1];
    const isSeen = fits ? holds(view, box) : wanted.some((it) => touches(view, it.box));
    if (isSeen) return;
    const shown = fits ? box : wanted[Math.floor(wanted.length / 2)].box;
    if (isStep) this.moveTo(this.camera.toward(shown, view));
    else this.centre((shown[0] + shown[2]) / 2, (shown[1] + shown[3]) / 2);
  }

  /** The nodes that the rewrite on screen changed; before the first, those it will replace. */
  rewritten() {
    const { nodes, byEntity } = this.picture;
    const { pass, state } = this.store;
    const changed = nodes.filter((it) => it.mark);
    const next = state.step === 0 && byEntity.get(pass.rewrites[0]?.[1]);
    return changed.length || !next ? changed : [next];
  }

  draw() {
    if (!this.picture) return;
    this.settle();
    this.stay();
    const { camera } = this;
    const size = this.size();
    const view = camera.view(...size);
    this.world.setAttribute("transform",
      `translate(${camera.x} ${camera.y}) scale(${camera.scale})`);
    if (!this.drawnArea || !holds(this.drawnArea, view) || this.drawnAt !== this.picture) {
      this.fill(size);
    }
    this.minimap.draw(this.picture, this.camera, this.room);
    this.look.onStatus();
  }

  /** Puts what is near the view into the page; too much of it only as an overview. */
  fill(size) {
    const inView = (area) => this.picture.nodes.filter((node) => touches(area, node.box));
    let area = this.camera.view(...size, 0.75);
    let nodes = inView(area);
    if (nodes.length > MOST_NODES) {
      area = this.camera.view(...size);
      nodes = inView(area);
    }
    this.isOverview = nodes.length > MOST_NODES || this.camera.scale < TINY;
    this.drawnArea = this.isOverview ? null : area;
    this.drawnAt = this.picture;
    this.shown = this.isOverview ? 0 : nodes.length;
    this.singles = this.isOverview ? 0 : nodes.filter((it) => !it.row.fold).length;
    this.overview.hidden = !this.isOverview;
    if (this.isOverview) drawOverview(this.overview, this.picture.groups, nodes, this.camera, size);
    const drawn = this.isOverview ? [] : nodes;
    const edges = this.isOverview
      ? []
      : this.picture.edges.filter((edge) => touches(area, edge.arrow.box));
    const words = this.store.model.schedule && this.store.state.stage === "schedule"
      ? (edge) => this.store.model.schedule.edgeWords(edge) : () => "";
    const groups = this.isOverview ? [] : this.picture.groups;
    this.groupLayer.replaceChildren(...groups.map((group) => groupFrame(group)));
    this.labelLayer.replaceChildren(...groups.map((group) => groupLabel(group)));
    const { across } = this.picture;
    this.edgeLayer.replaceChildren(...edges.map((edge) => edgeCurve(edge, words(edge), across)),
      ...(this.isOverview ? [] : this.replaced.map(replacementArrow)));
    const { model } = this.store;
    this.nodeLayer.replaceChildren(...drawn.map((node) =>
      nodeElement(node, model, this.costs.get(node), this.look.markWords)));
    this.light();
  }

  /**
   * Lights the hovered or selected node with its inputs and users, and dims the rest; or all paths
   * from the selection to another node.
   */
  light({ nodeLayer, edgeLayer, numberLayer } = this) {
    if (!this.picture) return undefined;
    this.route = routeOf(this.store, this.picture);
    if (this.route?.paths) return lightRoute(this.route, nodeLayer, edgeLayer, numberLayer);
    const { selected, hovered, model } = this.store;
    const { byEntity } = this.picture;
    const chosen = byEntity.get(selected);
    const focus = byEntity.get(hovered) ?? chosen;
    const partners = [chosen, focus].flatMap((it) => [...partnersIn(model, this.picture, it)]);
    const related = new Set([...seenOf(model.related(selected), byEntity), ...partners]);
    const near = this.picture.neighbours.get(focus) || { inputs: [], users: [] };
    const close = new Set([...near.inputs, ...near.users]);
    const around = new Set([focus, ...near.inputs.map((edge) => edge.from),
      ...near.users.map((edge) => edge.to)]);
    const isDim = Boolean(focus) || related.size > 0;
    for (const node of nodeLayer.children) {
      const it = node.node;
      const isRelated = it !== chosen && related.has(it);
      node.classList.remove("end");
      node.classList.toggle("selected", it === chosen);
      node.classList.toggle("near", Boolean(focus) && around.has(it));
      node.classList.toggle("related", isRelated);
      node.classList.toggle("found", this.found.has(it));
      const isFar = isDim && !isRelated && it !== chosen && !around.has(it) && !it.mark;
      node.classList.toggle("far", isFar || (this.critical && !node.matches(".critical")));
    }
    for (const curve of edgeLayer.children) {
      curve.classList.remove("on-path");
      curve.classList.toggle("near", close.has(curve.edge));
      curve.classList.toggle("far", isDim && !close.has(curve.edge));
    }
    numberLayer.replaceChildren(...[...close].filter((it) => it.operand >= 0).map(number));
    return undefined;
  }

  /** All of the drawing, for a picture to take away; or words on why there is none. */
  paper() {
    return this.picture && paperOf(this);
  }

  /** Marks groups and nodes that match `text` (see query.js), and the boxes with one that does. */
  search(text) {
    const terms = termsOf(text);
    const { model } = this.store;
    const isHit = (row) => matches(terms, row, fullWords(row), () => model.linesOf(row.e));
    const nodes = terms.length && this.picture ? this.picture.nodes : [];
    const { byEntity } = this.picture ?? { byEntity: new Map() };
    const groups = nodes.length && this.folding in SCOPED
      ? groupHits(model, this.scene, this.groups, terms) : [];
    const hits = [...groups.filter(({ entity }) => byEntity.has(entity)), ...nodes.flatMap((it) =>
      it.members.filter(isHit).map((row) => ({ entity: row.e })))];
    this.found = new Set(hits.map(({ entity }) => byEntity.get(entity)));
    this.light();
    return hits;
  }

  visit({ entity, group }) {
    this.store.select(entity);
    this.uncover(entity, group);
  }

  /** Opens the groups around an entity, or those around a group, and centres it. */
  uncover(entity, name) {
    const { groups, scene } = this;
    const isScoped = this.folding in SCOPED;
    const fold = this.picture?.byEntity.get(entity)?.row.fold;
    const names = isScoped
      ? namesAround(groups, scene.nodes.findIndex((row) => row.e === entity), name)
      : [fold].filter(Boolean);
    const more = names.filter((it) => !this.opened.includes(it));
    if (more.length) this.openGroups([...this.opened, ...more]);
    const group = groups.find((it) => it.name === name);
    const entities = group ? group.nodes.map((it) => scene.nodes[it].e) : [entity];
    const boxes = entities.map((it) => this.picture?.byEntity.get(it)?.box).filter(Boolean);
    if (!boxes.length) return;
    const [left, top, right, bottom] = union(boxes);
    this.centre((left + right) / 2, (top + bottom) / 2);
  }

  status() {
    if (!this.picture) return "";
    const boxes = this.picture.nodes.length;
    const { engine, seconds, edges, all } = this.picture;
    const drawn = this.isOverview
      ? `overview of ${count(boxes)} nodes without labels, 0 of ${count(all)} with labels: `
        + "zoom in"
      : this.shown < boxes || boxes < all
        ? `${count(this.singles)} of ${count(all)} nodes shown${this.foldedWords()}`
        : `${counted(boxes, "node")}, ${counted(edges.length, "edge")}`;
    const note = this.store.stage.units[this.store.state.unit]?.note;
    return [this.route?.words, drawn, `laid out in ${duration(seconds)} by ${engine}`, note,
      this.picture.cut, this.costWords].filter(Boolean).join(" · ");
  }

  foldedWords() {
    const folded = this.picture.nodes.filter((it) => it.row.fold);
    const inside = folded.reduce((sum, it) => sum + it.members.length, 0);
    const loose = this.picture.edges.filter((it) => it.isLoose);
    const what = loose.some(({ from, to }) => to.row.back && !from.row.back)
      ? "stored activations and shared inputs" : "shared inputs";
    return (inside ? `, ${count(inside)} folded into ${counted(folded.length, "group")}` : "")
      + (loose.length ? `, ${counted(loose.length, "edge")} of ${what} only with a selection` : "");
  }

  /** Kinds and marks that the picture has, for the legend. */
  present() {
    const nodes = this.picture ? this.picture.nodes : [];
    return {
      kinds: new Set(nodes.map((it) => it.row.kind)),
      edges: edgeKinds(this.picture),
      marks: new Set([...nodes.map((it) => it.mark
        || (it.row.critical ? "critical" : it.row.back ? "back" : "")),
        this.replaced?.length ? "replaced" : ""]),
    };
  }
}

/** The camera that shows a picture; of one too large for that the end at which it begins. */
function fitted({ box, across }, width, height, whole = false) {
  if (!across) return fit(box, width, height, whole);
  const [left, top, right, bottom] = box;
  const { x, y, scale } = fit([top, left, bottom, right], height, width, whole);
  return new Camera(y, x, scale);
}

/** The nodes of a picture in which entities are seen. */
const seenOf = (entities, byEntity) =>
  new Set([...entities].map((it) => byEntity.get(it)).filter(Boolean));

/** The kinds of edges in a picture; plain data edges alone need no words. */
function edgeKinds(picture) {
  const kinds = new Set(picture ? picture.edges.map((it) => it.kind) : []);
  return kinds.size === 1 && kinds.has("data") ? new Set() : kinds;
}
