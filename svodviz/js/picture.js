// What the graph view has to draw for a state: a stage's scene, or a frame of a pass. Pure.

import { arrange } from "./arrange.js";
import { census, groupsOf, hiddenBeside, linksOf, partsOf, withNeighbours } from "./folding.js";
import { stepOf, unionOf } from "./frames.js";
import { arrow, union } from "./geometry.js";
import { route } from "./layers.js";
import { arrowIn, layoutIn, placesIn } from "./model.js";

/**
 * @typedef {import("./wire.js").Scene} Scene
 * @typedef {import("./wire.js").NodeRow} NodeRow
 * @typedef {import("./geometry.js").Box} Box
 * @typedef {import("./geometry.js").Arrow} Arrow
 *
 * @typedef {Object} PictureNode
 * @property {number} node
 * @property {NodeRow} row
 * @property {number} x
 * @property {number} y
 * @property {Box} box
 * @property {string} mark "", added, removed or changed
 * @property {NodeRow[]} members the rows it stands for
 * @property {number} hidden its neighbours that are not shown
 * @property {string} [group] the name of the group it is or stands in
 *
 * @typedef {Object} PictureEdge
 * @property {PictureNode} from
 * @property {PictureNode} to
 * @property {number} operand
 * @property {string} kind
 * @property {Arrow} arrow
 * @property {string} mark
 * @property {number} count how many edges it stands for
 * @property {number} beside how many edges between the same two stand before it
 * @property {boolean} [isLoose] whether places do not depend on it
 *
 * @typedef {Object} Drawn what a picture is made from
 * @property {string} key names scene and layout: pictures of one key hold still
 * @property {PictureNode[]} nodes
 * @property {PictureEdge[]} edges
 * @property {[string, number, number, number, number][]} groups frames: label, corner, size
 * @property {number} all how many nodes the program has here, drawn or not
 * @property {string} engine
 * @property {number} seconds
 *
 * @typedef {{inputs: PictureEdge[], users: PictureEdge[]}} Beside
 * @typedef {Drawn & {box: Box, byEntity: Map<number, PictureNode>,
 *   neighbours: Map<PictureNode, Beside>}} Picture  with the node in which each entity is seen
 *
 * @typedef {Object} Look how a scene is drawn
 * @property {string} [by] the way of folding
 * @property {string[]} [keys] the key of each node's group
 * @property {string[]} [open] groups that are open
 * @property {Set<number> | null} [only] nodes whose neighbours are all shown
 * @property {(key: string) => string} [name] what a key is called
 */

const OWN = "the page";
const KEPT = 8; // pictures of one scene that are kept
const ADVANCE = 7.3; // pixels per column, as in graphs.py
const SMALL_ADVANCE = 6.7;
const LONGEST = 40;
const SHARED = 4; // users above which an input is everybody's

/**
 * The picture of a unit of a stage, or null where it has no drawn graph.
 * @param {Scene | null} scene what the unit draws
 * @param {string} key
 * @param {Look} look
 */
export function stagePicture(scene, key, look = {}) {
  if (!scene) return null;
  const { keys, open = [], only } = look;
  if (!keys && !only) {
    scene.picture ??= wholePicture(scene, key);
    return scene.picture;
  }
  scene.pictures ??= new Map();
  const kept = JSON.stringify([only ? [...only] : null, only ? "" : look.by, open]);
  const known = scene.pictures.get(kept);
  if (known) return known;
  const [oldest] = scene.pictures.keys();
  if (scene.pictures.size >= KEPT) scene.pictures.delete(oldest);
  const made = partPicture(scene, `${key} ${kept}`, look);
  scene.pictures.set(kept, made);
  return made;
}

/** @param {Scene} scene @param {string} key */
function wholePicture(scene, key) {
  scene.layouts[0] ??= placed(scene, [...scene.nodes.keys()], [...scene.edges.keys()]);
  return build(key, scene, 0, {
    nodes: scene.nodes.keys(),
    edges: scene.edges.keys(),
    row: (node) => scene.nodes[node],
    mark: (node) => scene.marks?.get(node) ?? "",
    edgeMark: () => "",
  });
}

/**
 * The picture of one step of a pass.
 * @param {import("./model.js").Model} model @param {number} pass @param {number} step
 */
export function passPicture(model, pass, step) {
  const record = model.passes[pass];
  const film = model.films[record.film];
  const now = stepOf(film, record.shot, step);
  if (!film.layouts[now.layout]) {
    const { nodes, edges } = unionOf(film, now.layout);
    film.layouts[now.layout] = placed(film, nodes, edges);
  }
  /** @param {number} node */
  const mark = (node) => {
    if (now.added.has(node)) return "added";
    if (now.removed.has(node)) return "removed";
    return now.changed.has(node) ? "changed" : "";
  };
  return build(`film ${record.film} ${now.layout}`, film, now.layout, {
    nodes: [...now.frame.nodes, ...now.removed],
    edges: [...now.frame.edges, ...now.removedEdges],
    row: (node) => {
      const first = film.nodes[node];
      const other = /** @type {NodeRow | undefined} */ (now.frame.rows.get(node));
      return other ? { ...first, ...other, ...size(first) } : first;
    },
    mark,
    edgeMark: (edge) =>
      (now.addedEdges.has(edge) ? "added" : now.removedEdges.has(edge) ? "removed" : ""),
  });
}

/** @param {NodeRow} row */
const size = (row) => ({ w: row.w, h: row.h });

/**
 * A layout made in the page, in the form of those that come from Python (see scene.py).
 * @param {Scene} scene @param {number[]} nodes @param {number[]} edges
 * @returns {import("./wire.js").Layout}
 */
function placed(scene, nodes, edges) {
  const started = performance.now();
  const at = new Map(nodes.map((node, i) => [node, i]));
  const ends = edges.map((edge) => scene.edges[edge]);
  const labels = [...new Set(nodes.map((node) => scene.nodes[node].group ?? ""))].filter(Boolean);
  const made = arrange(
    nodes.map((node) => [scene.nodes[node].w, scene.nodes[node].h]),
    ends.map(([from, to]) => ({ from: at.get(from) ?? 0, to: at.get(to) ?? 0 })),
    nodes.map((node) => labels.indexOf(scene.nodes[node].group ?? "")),
  );
  return {
    places: nodes.map((node, i) => [node, ...made.places[i]]),
    routes: edges.map((edge, i) => [edge, made.routes[i]]),
    groups: made.frames.map(({ frame, x, y, w, h }) => [labels[frame], x, y, w, h]),
    engine: OWN,
    seconds: (performance.now() - started) / 1000,
  };
}

/**
 * @param {string} key @param {Scene} scene @param {number} layout
 * @param {{nodes: Iterable<number>, edges: Iterable<number>, row: (node: number) => NodeRow,
 *   mark: (node: number) => string, edgeMark: (edge: number) => string}} look
 */
function build(key, scene, layout, look) {
  const places = placesIn(scene, layout);
  const nodes = [...look.nodes].map((node) => {
    const row = look.row(node);
    const [x, y] = /** @type {import("./wire.js").Point} */ (places.get(node));
    /** @type {PictureNode} */
    const made = { node, row, x, y, box: [x, y, x + row.w, y + row.h], mark: look.mark(node),
      members: [row], hidden: 0 };
    return made;
  });
  const known = new Map(nodes.map((it) => [it.node, it]));
  /** @param {number} node */
  const drawn = (node) => /** @type {PictureNode} */ (known.get(node));
  /** @type {Map<string, number>} */
  const between = new Map();
  const edges = [...look.edges].map((edge) => {
    const [from, to, operand, kind] = scene.edges[edge];
    const beside = between.get(`${from} ${to}`) ?? 0;
    between.set(`${from} ${to}`, beside + 1);
    return {
      beside, count: 1,
      from: drawn(from), to: drawn(to), operand, kind,
      arrow: arrowIn(scene, layout, edge), mark: look.edgeMark(edge),
    };
  });
  const { groups, engine, seconds } = layoutIn(scene, layout);
  return finished({ key, nodes, edges, groups, engine, seconds, all: nodes.length });
}

/**
 * @param {Drawn} picture
 * @returns {Picture}
 */
function finished(picture) {
  return {
    ...picture,
    byEntity: new Map(picture.nodes.flatMap((it) => it.members.map((row) => [row.e, it]))),
    box: union([...picture.nodes.map((it) => it.box), ...picture.groups.map(frameBox)]),
    neighbours: neighbours(picture.edges),
  };
}

/**
 * @param {[string, number, number, number, number]} frame
 * @returns {Box}
 */
const frameBox = ([, x, y, w, h]) => [x, y, x + w, y + h];

/**
 * For each node the edges that lead to it and from it, in operand order.
 * @param {PictureEdge[]} edges
 */
function neighbours(edges) {
  /** @type {Map<PictureNode, Beside>} */
  const found = new Map();
  /** @param {PictureNode} node */
  const of = (node) => {
    const beside = found.get(node) ?? { inputs: [], users: [] };
    found.set(node, beside);
    return beside;
  };
  for (const edge of edges) {
    of(edge.to).inputs.push(edge);
    of(edge.from).users.push(edge);
  }
  for (const { inputs } of found.values()) inputs.sort((a, b) => a.operand - b.operand);
  return found;
}

/**
 * A picture of some nodes, or of groups as one node each.
 * @param {Scene} scene @param {string} key @param {Look} look
 */
function partPicture(scene, key, { keys = [], open = [], only, name = (it) => it }) {
  const started = performance.now();
  const count = scene.nodes.length;
  const shown = only ? withNeighbours(only, scene.edges) : null;
  const groups = only ? [] : groupsOf(keys, scene.edges);
  const { parts, partOf } = partsOf(count, groups, new Set(open), shown);
  const links = linksOf(scene.edges, parts, partOf);
  const rows = parts.map((part) => rowOf(scene, part, groups[part.group], name));
  const { firm, loose } = splitShared(links, parts);
  const made = arrange(rows.map((row) => [row.w, row.h]), firm, parts.map((it) => it.frame));
  const hidden = shown ? hiddenBeside(shown, scene.edges) : new Map();
  const nodes = parts.map((part, i) => {
    const [x, y] = made.places[i];
    const [row, node] = [rows[i], part.nodes[0]];
    const mark = (part.nodes.length === 1 && scene.marks?.get(node)) || "";
    /** @type {PictureNode} */
    const drawn = { node, row, x, y, box: [x, y, x + row.w, y + row.h], mark,
      members: part.nodes.map((it) => scene.nodes[it]), hidden: hidden.get(node) ?? 0,
      group: (groups[part.group] ?? groups[part.frame])?.name };
    return drawn;
  });
  return finished({
    key, nodes,
    edges: [
      ...firm.flatMap((link, i) => edgesOf(scene, link, parts, nodes, arrow(made.routes[i]))),
      ...loose.flatMap((link) => edgesOf(scene, link, parts, nodes,
        arrow(route(nodes[link.from].box, nodes[link.to].box, []))))
        .map((edge) => ({ ...edge, isLoose: true })),
    ],
    groups: made.frames.map(({ frame, x, y, w, h }) =>
      [`${name(groups[frame].key)}: ${groups[frame].nodes.length} nodes`, x, y, w, h]),
    engine: OWN, seconds: (performance.now() - started) / 1000, all: count,
  });
}

/**
 * Links that places depend on, and others: what many use (a constant) stands above its first user,
 * and its edges to the others show only with a selection.
 * @param {import("./folding.js").Link[]} links @param {import("./folding.js").Part[]} parts
 */
function splitShared(links, parts) {
  const hasInputs = new Set(links.map((link) => link.to));
  /** @type {Map<number, number>} */
  const counts = new Map();
  links.forEach(({ from }) => counts.set(from, (counts.get(from) ?? 0) + 1));
  const seen = new Set();
  /** @param {import("./folding.js").Link} link */
  const isLoose = ({ from }) => {
    const isInput = parts[from].group < 0 && !hasInputs.has(from);
    const isShared = isInput && (counts.get(from) ?? 0) > SHARED;
    const isFirst = !seen.has(from);
    seen.add(from);
    return isShared && !isFirst;
  };
  const flags = links.map(isLoose);
  return { firm: links.filter((_, i) => !flags[i]), loose: links.filter((_, i) => flags[i]) };
}

/**
 * The drawn edges of a link: all between two single nodes, one where a folded group takes part.
 * @param {Scene} scene @param {import("./folding.js").Link} link
 * @param {import("./folding.js").Part[]} parts @param {PictureNode[]} nodes @param {Arrow} path
 * @returns {PictureEdge[]}
 */
function edgesOf(scene, link, parts, nodes, path) {
  const ends = { from: nodes[link.from], to: nodes[link.to], arrow: path, mark: "" };
  const kinds = [...new Set(link.edges.map((edge) => scene.edges[edge][3]))];
  if (parts[link.from].group < 0 && parts[link.to].group < 0) {
    return link.edges.map((edge, beside) =>
      ({ ...ends, beside, count: 1, operand: scene.edges[edge][2], kind: scene.edges[edge][3] }));
  }
  const kind = kinds.length === 1 ? kinds[0] : "data";
  return [{ ...ends, beside: 0, count: link.edges.length, operand: -1, kind }];
}

/**
 * The row of a part: a node's own, or one that says what is in a folded group.
 * @param {Scene} scene @param {import("./folding.js").Part} part
 * @param {import("./folding.js").Group} found @param {(key: string) => string} name
 * @returns {NodeRow}
 */
function rowOf(scene, { nodes, group }, found, name) {
  const last = scene.nodes[nodes[nodes.length - 1]];
  if (group < 0) return last;
  const title = cut(name(found.key));
  const ops = census(nodes.map((node) => scene.nodes[node].op));
  const label = [title, cut(`${nodes.length} nodes: ${ops}`)];
  const width = Math.max(title.length * ADVANCE, label[1].length * SMALL_ADVANCE, 40) + 28;
  return {
    e: last.e, op: title, kind: commonest(nodes.map((node) => scene.nodes[node].kind)), label,
    w: 2 * Math.ceil(width / 2), h: 48, fold: found.name,
    critical: nodes.some((node) => scene.nodes[node].critical),
  };
}

/** @param {string} text */
const cut = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text);

/** @param {string[]} names */
function commonest(names) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  names.forEach((name) => counts.set(name, (counts.get(name) ?? 0) + 1));
  return [...counts].reduce((most, it) => (it[1] > most[1] ? it : most))[0];
}
