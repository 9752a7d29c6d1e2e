// The graph of a stage or of one step of a pass: SVG of what is in view, on a camera.

import { handleCamera } from "./camerawork.js";
import { button, count, counted, duration, h, s } from "./dom.js";
import { Camera, fit, holds, inner, outline, touches, union } from "./geometry.js";
import { Minimap } from "./minimap.js";
import { passPicture, stagePicture } from "./picture.js";

const MOST = 900; // nodes drawn in full at once
const BESIDE = 7; // pixels between edges that lead from one node to the same other one
const TINY = 0.08; // scale below which no word can be read
const SIGNS = { added: "+", removed: "−", changed: "~" };
const MARK_WORDS = { added: "added", removed: "removed", changed: "changed" };

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
    this.nodeLayer = s("g", { class: "nodes" });
    this.numberLayer = s("g", { class: "numbers", "aria-hidden": "true" });
    this.world = s("g", {}, this.groupLayer, this.edgeLayer, this.nodeLayer, this.numberLayer);
    this.overview = h("canvas", { class: "overview", "aria-hidden": "true" });
    this.svg = s("svg", { class: "graph", role: "group", tabindex: "0" }, this.world);
    this.minimap = new Minimap((x, y) => this.centre(x, y));
    this.empty = h("p", { class: "empty" });
    this.root = h(
      "div", { class: "graph-view" }, this.overview, this.svg, this.minimap.root, this.empty,
      h("div", { class: "zoom" },
        button("+", () => this.zoom(1.3), { "aria-label": "Zoom in" }),
        button("−", () => this.zoom(1 / 1.3), { "aria-label": "Zoom out" }),
        button("fit", () => this.fit(), { title: "Show everything (space)" })),
    );
    this.listen();
  }

  listen() {
    handleCamera(this.svg, this);
    this.svg.addEventListener("pointerover", (event) => this.store.hover(this.entityAt(event)));
    this.svg.addEventListener("pointerleave", () => this.store.hover(-1));
    this.svg.addEventListener("click", (event) => this.store.select(this.entityAt(event)));
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

  show() {
    const { store } = this;
    const { stage, unit, pass, step } = store.state;
    const before = this.picture;
    const isPass = stage === "passes";
    this.picture = isPass
      ? passPicture(store.model, pass, step)
      : stagePicture(store.stage, unit);
    this.empty.hidden = Boolean(this.picture);
    if (!this.picture) return this.showNothing(store.stage.units[unit]);
    if (before !== this.picture) this.takeOver(before);
    this.svg.setAttribute("aria-label", `${store.stage.label} graph`);
    this.draw();
    this.light();
    this.reveal(isPass && before !== this.picture);
    return undefined;
  }

  showNothing(unit) {
    this.picture = null;
    [this.groupLayer, this.edgeLayer, this.nodeLayer].forEach((it) => it.replaceChildren());
    this.numberLayer.replaceChildren();
    this.minimap.root.hidden = true;
    this.empty.textContent = unit?.note || "This stage has no graph.";
  }

  /** Chooses the camera for a new picture so that what stays holds its place on screen. */
  takeOver(before) {
    const { key, byEntity } = this.picture;
    if (before) this.cameras.set(before.key, this.camera);
    this.drawnArea = null;
    if (before?.key === key) return;
    const { selected } = this.store;
    const [old, now] = [before?.byEntity.get(selected), byEntity.get(selected)];
    const isFilm = key.startsWith("film") && before?.key.startsWith("film");
    if (isFilm && old && now) {
      const { scale } = this.camera;
      this.camera = this.camera.moved((old.x - now.x) * scale, (old.y - now.y) * scale);
    } else {
      this.camera = this.cameras.get(key) || fit(this.picture.box, ...this.size());
      this.isFitted = this.cameras.has(key) || this.svg.clientWidth > 0;
    }
  }

  size() {
    return [this.svg.clientWidth || 800, this.svg.clientHeight || 500];
  }

  /** Before the pane is in the page its size is unknown: then the first fit comes later. */
  settle() {
    if (this.isFitted || !this.svg.clientWidth) return;
    this.isFitted = true;
    this.camera = fit(this.picture.box, ...this.size());
    if (this.store.selected >= 0) this.reveal();
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

  fit() {
    if (this.picture) this.moveTo(fit(this.picture.box, ...this.size(), true));
  }

  centre(x, y) {
    const [width, height] = this.size();
    const { scale } = this.camera;
    this.moveTo(new Camera(width / 2 - x * scale, height / 2 - y * scale, scale));
  }

  /**
   * Brings into view what matters, where none of it is: the selection, else what is related to it,
   * else (`isNewStep`) what a rewrite changed.
   */
  reveal(isNewStep = false) {
    const { selected, model } = this.store;
    const { nodes, byEntity } = this.picture;
    const related = model.related(selected);
    let wanted = byEntity.has(selected)
      ? [byEntity.get(selected)] : nodes.filter((it) => related.has(it.row.e));
    if (!wanted.length && isNewStep) wanted = nodes.filter((it) => it.mark);
    if (!wanted.length) return;
    const view = this.camera.view(...this.size(), -0.02);
    const box = union(wanted.map((it) => it.box));
    const fits = box[2] - box[0] < view[2] - view[0] && box[3] - box[1] < view[3] - view[1];
    const isSeen = fits ? holds(view, box) : wanted.some((it) => touches(view, it.box));
    if (isSeen) return;
    const [left, top, right, bottom] = fits ? box : wanted[Math.floor(wanted.length / 2)].box;
    this.centre((left + right) / 2, (top + bottom) / 2);
  }

  draw() {
    if (!this.picture) return;
    this.settle();
    const { camera } = this;
    const size = this.size();
    const view = camera.view(...size);
    this.world.setAttribute("transform",
      `translate(${camera.x} ${camera.y}) scale(${camera.scale})`);
    if (!this.drawnArea || !holds(this.drawnArea, view) || this.drawnAt !== this.picture) {
      this.fill(size);
    }
    this.minimap.draw(this.picture, view);
    this.look.onStatus();
  }

  /** Puts what is near the view into the page; too much of it only as an overview. */
  fill(size) {
    const inView = (area) => this.picture.nodes.filter((node) => touches(area, node.box));
    let area = this.camera.view(...size, 0.6);
    let nodes = inView(area);
    if (nodes.length > MOST) {
      area = this.camera.view(...size);
      nodes = inView(area);
    }
    this.isOverview = nodes.length > MOST || this.camera.scale < TINY;
    this.drawnArea = this.isOverview ? null : area;
    this.drawnAt = this.picture;
    this.shown = this.isOverview ? 0 : nodes.length;
    this.overview.hidden = !this.isOverview;
    if (this.isOverview) this.drawOverview(nodes, size);
    const drawn = this.isOverview ? [] : nodes;
    const edges = this.isOverview
      ? []
      : this.picture.edges.filter((edge) => touches(area, edge.arrow.box));
    const words = this.store.model.schedule && this.store.state.stage === "schedule"
      ? (edge) => this.store.model.schedule.edgeWords(edge) : () => "";
    this.groupLayer.replaceChildren(...this.picture.groups.map((group) => groupFrame(group)));
    this.edgeLayer.replaceChildren(...edges.map((edge) => edgeCurve(edge, words(edge))));
    this.nodeLayer.replaceChildren(...drawn.map((node) => this.node(node)));
    this.light();
  }

  drawOverview(nodes, [width, height]) {
    this.overview.width = width;
    this.overview.height = height;
    const pen = this.overview.getContext("2d");
    const style = getComputedStyle(this.root);
    const { x, y, scale } = this.camera;
    pen.setTransform(scale, 0, 0, scale, x, y);
    const dot = 1.5 / scale;
    for (const { row, box } of nodes) {
      pen.fillStyle = style.getPropertyValue(`--${row.kind}-border`) || "#888";
      pen.fillRect(box[0], box[1], Math.max(row.w, dot), Math.max(row.h, dot));
    }
  }

  node(it) {
    const { row, mark } = it;
    const shape = this.store.model.shapes.get(row.kind) || "box";
    const said = (this.look.markWords || MARK_WORDS)[mark] || "";
    const words = row.label.join("\n") + (said && `\n${said}`);
    const classes = ["node", mark, row.critical ? "critical" : ""].filter(Boolean).join(" ");
    const sign = SIGNS[mark] || (row.critical ? "◆" : "");
    return s(
      "g",
      {
        class: classes, transform: `translate(${it.x} ${it.y})`, "data-kind": row.kind,
        "data-entity": row.e, "data-mark": mark, role: "img", "aria-label": words,
      },
      s("title", {}, fullWords(row, said)),
      s("path", { class: "outline", d: outline(shape, row.w, row.h) }),
      shape === "double" && s("path", { class: "inner", d: inner(row.w, row.h) }),
      ...labels(row),
      ...(sign ? badge(sign, row.w) : []),
    );
  }

  /** Lights the hovered or selected node with its inputs and users, and dims the rest. */
  light() {
    if (!this.picture) return;
    const { selected, hovered, model } = this.store;
    const related = model.related(selected);
    const focus = this.picture.byEntity.has(hovered) ? hovered : selected;
    const hasFocus = this.picture.byEntity.has(focus);
    const near = this.picture.neighbours.get(focus) || { inputs: [], users: [] };
    const close = new Set([...near.inputs, ...near.users]);
    const around = new Set([focus, ...near.inputs.map((edge) => edge.from.row.e),
      ...near.users.map((edge) => edge.to.row.e)]);
    const isDim = hasFocus || this.picture.nodes.some((it) => related.has(it.row.e));
    for (const node of this.nodeLayer.children) {
      const entity = Number(node.dataset.entity);
      const isRelated = related.has(entity) && entity !== selected;
      node.classList.toggle("selected", entity === selected);
      node.classList.toggle("near", hasFocus && around.has(entity));
      node.classList.toggle("related", isRelated);
      node.classList.toggle("found", this.found.has(entity));
      const isFar = isDim && !isRelated && entity !== selected && !around.has(entity);
      node.classList.toggle("far", isFar || (this.critical && !node.matches(".critical")));
    }
    for (const curve of this.edgeLayer.children) {
      curve.classList.toggle("near", close.has(curve.edge));
      curve.classList.toggle("far", isDim && !close.has(curve.edge));
    }
    this.numberLayer.replaceChildren(...[...close].filter((it) => it.operand >= 0).map(number));
  }

  /** Marks the nodes whose words contain `text`; returns them. */
  search(text) {
    const wanted = text.toLowerCase();
    const hits = wanted && this.picture
      ? this.picture.nodes.filter((it) => fullWords(it.row).toLowerCase().includes(wanted))
      : [];
    this.found = new Set(hits.map((it) => it.row.e));
    this.light();
    return hits;
  }

  visit(hit) {
    this.store.select(hit.row.e);
    this.centre(hit.x + hit.row.w / 2, hit.y + hit.row.h / 2);
  }

  status() {
    if (!this.picture) return "";
    const all = this.picture.nodes.length;
    const { engine, seconds, edges } = this.picture;
    const drawn = this.isOverview
      ? `overview of ${count(all)} nodes without labels, 0 of ${count(all)} shown in full: zoom in`
      : this.shown < all
        ? `${count(this.shown)} of ${count(all)} nodes shown`
        : `${counted(all, "node")}, ${counted(edges.length, "edge")}`;
    return `${drawn} · laid out in ${duration(seconds)} by ${engine}`;
  }

  /** Kinds and marks that the picture has, for the legend. */
  present() {
    const nodes = this.picture ? this.picture.nodes : [];
    return {
      kinds: new Set(nodes.map((it) => it.row.kind)),
      edges: edgeKinds(this.picture),
      marks: new Set(nodes.map((it) => it.mark || (it.row.critical ? "critical" : ""))),
    };
  }
}

/** The kinds of edges in a picture; plain data edges alone need no words. */
function edgeKinds(picture) {
  const kinds = new Set(picture ? picture.edges.map((it) => it.kind) : []);
  return kinds.size === 1 && kinds.has("data") ? new Set() : kinds;
}

function fullWords(row, said = "") {
  return [row.op, row.name, row.arg, (row.dtype || "") + (row.shape || ""), said,
    ...(row.text || [])].filter(Boolean).join("\n");
}

function labels(row) {
  if (row.text) {
    return row.label.map((line, i) =>
      s("text", { class: i ? "block-line" : "block-title", x: 12, y: 17 + 16 * i }, line));
  }
  const middle = row.w / 2;
  const top = (row.h - 16 * row.label.length) / 2 + 12;
  return row.label.map((line, i) =>
    s("text", { class: i ? "detail" : "title", x: middle, y: top + 15.5 * i }, line));
}

/** A sign on the upper right corner, so that a state never rests on colour alone. */
function badge(sign, x) {
  return [
    s("circle", { class: "badge", cx: x - 4, cy: 1, r: 8 }),
    s("text", { class: "sign", x: x - 4, y: 1 }, sign),
  ];
}

/** An edge; those of other kinds between the same two nodes stand beside it. */
function edgeCurve(edge, words) {
  const isLink = edge.kind === "fusion";
  const curve = s("path", {
    class: ["edge", isLink && "fusion", edge.mark].filter(Boolean).join(" "),
    "data-edge": edge.kind, d: isLink ? edge.arrow.line : edge.arrow.d,
    transform: edge.beside ? `translate(${edge.beside * BESIDE} 0)` : null,
  }, words && s("title", {}, words));
  curve.edge = edge;
  return curve;
}

function number(edge) {
  const [x, y] = edge.arrow.number;
  return s("text", { class: "operand", x, y }, String(edge.operand));
}

function groupFrame([label, x, y, width, height]) {
  const most = Math.max(2, Math.floor((width - 14) / 6.4));
  const words = label.length > most ? `${label.slice(0, most - 1)}…` : label;
  return s(
    "g", { class: "group" },
    s("rect", { x, y, width, height, rx: 6 }),
    s("title", {}, label),
    s("text", { x: x + 8, y: y + 13 }, words),
  );
}
