// Parts of a graph, placed: groups drawn as one node each, and nodes by themselves. Pure.

import { arrow } from "../../kit/geometry.js";
import { count as number } from "../../kit/words.js";
import { arrange, routeAlone } from "./arrange.js";
import { census, constantsOf, framedBy, groupsOf } from "./folding.js";
import { linksOf, partsOf, withNeighbours } from "./folding.js";
import { commonest } from "./inherited.js";
import { isMostlyBack } from "./twins.js";

/**
 * @typedef {import("./folding.js").Group} Group
 * @typedef {import("./folding.js").Link} Link
 * @typedef {import("./folding.js").Part} Part
 * @typedef {import("../../kit/geometry.js").Box} Box
 * @typedef {import("./drawn.js").Laid} Laid
 * @typedef {import("./drawn.js").Look} Look
 * @typedef {import("./drawn.js").PictureEdge} PictureEdge
 * @typedef {import("./drawn.js").PictureNode} PictureNode
 * @typedef {import("./drawn.js").PlacedLink} PlacedLink
 * @typedef {import("../wire.js").Graph} Graph
 * @typedef {import("../wire.js").NodeRow} NodeRow
 */

const ADVANCE = 7.3; // pixels per column, as in graphs.py
const SMALL_ADVANCE = 6.7;
const LONGEST = 44;
const SHARED = 4; // users above which an input is everybody's: a choice by eye
const MARGIN = 28;
// The limits of one layout by the page: a shared notebook may hold anything. Python draws up to
// 12,000 nodes of a stage, so that no program of ours meets them.
export const MOST_BOXES = 20_000;
export const MOST_LINKS = 60_000;

/**
 * The parts of a scene and where they stand, the links between them and their paths.
 * @param {Graph} scene @param {Look} look
 * @returns {Laid}
 */
export function layOutParts(scene, look) {
  const { keys, open = [], only, name = (it) => it } = look;
  const started = performance.now();
  const shown = only ? withNeighbours(only, scene.edges) : null;
  const groups = only ? [] : look.groups ?? (keys ? groupsOf(keys, scene.edges) : []);
  const { parts, partOf, all } = firstOf(scene.nodes.length, groups, new Set(open), shown);
  const rows = parts.map((part) => rowOf(scene, part, groups[part.group], look));
  const found = linksOf(scene.edges, parts, partOf);
  const { firm, loose } = splitShared(scene, found.slice(0, MOST_LINKS), parts,
    look.groups && !only ? rows : []);
  const cut = wordsOfCut([all, MOST_BOXES, "boxes"], [found.length, MOST_LINKS, "edges"]);
  const made = arrange(rows.map((row) => [row.w, row.h]), firm, parts.map((it) => it.frame),
    { parentOf: (frame) => framedBy(groups, groups[frame].parent ?? -1), across: look.across });
  /** @type {Box[]} */
  const boxes = rows.map((row, i) => {
    const [x, y] = made.places[i];
    return [x, y, x + row.w, y + row.h];
  });
  const links = [
    ...firm.map((link, i) => ({ ...link, isLoose: false, arrow: arrow(made.routes[i]) })),
    ...loose.map((link) => ({ ...link, isLoose: true,
      arrow: arrow(routeAlone(boxes[link.from], boxes[link.to], look.across)) })),
  ];
  /** @type {Laid["frames"]} */
  const frames = made.frames.map(({ frame, x, y, w, h }) => {
    const title = wordsOn(scene, groups[frame], look)?.title ?? name(groups[frame].key);
    return [`${title}: ${groups[frame].nodes.length} nodes`, x, y, w, h];
  });
  const seconds = (performance.now() - started) / 1000;
  return { groups, parts, partOf, rows, boxes, links, frames, shown, seconds, cut };
}

/**
 * True if a graph has more than a page lays out at once.
 * @param {Graph} scene
 */
export const isTooLarge = ({ nodes, edges }) =>
  nodes.length > MOST_BOXES || edges.length > MOST_LINKS;

/**
 * "the first 20,000 of 90,000 boxes: the limit of one layout"; "" where it has everything.
 * @param {[number, number, string][]} parts how many there are, how many may be, of what
 */
function wordsOfCut(...parts) {
  const words = parts.filter(([all, most]) => all > most)
    .map(([all, most, name]) => `the first ${number(most)} of ${number(all)} ${name}`);
  return words.length ? `${words.join(", ")}: the limit of one layout` : "";
}

/**
 * The parts that are drawn: the first ones of `all`, where these are too many.
 * @param {number} count @param {Group[]} groups @param {Set<string>} open
 * @param {Set<number> | null} shown
 */
function firstOf(count, groups, open, shown) {
  const found = partsOf(count, groups, open, shown);
  const all = found.parts.length;
  if (all <= MOST_BOXES) return { ...found, all };
  const kept = new Set(found.parts.slice(0, MOST_BOXES).flatMap(({ nodes }) => nodes));
  return { ...partsOf(count, groups, open, kept), all };
}

/**
 * Place and group of a part.
 * @param {Pick<Laid, "groups" | "parts" | "boxes">} laid @param {number} position
 */
export function partAt({ groups, parts, boxes }, position) {
  const [x, y] = boxes[position];
  const { nodes, group, home } = parts[position];
  const isFolded = group >= 0 && nodes.length > 1;
  return { x, y, group: groups[isFolded ? group : home]?.name };
}

/**
 * Links that places depend on, and others: what many use (a constant) stands above its first user,
 * and its edges to the others show only with a selection. So do those of constants in a group: the
 * first of equal iterations has what all of them read; and those of parameters to what reads them
 * next to the layer that has them, such as an optimiser. So do stored activations, where the
 * backward pass reads something else of its own as well.
 * @param {Graph} scene @param {Link[]} links @param {Part[]} parts
 * @param {NodeRow[]} rows of the parts, where it matters whether they are in the backward pass
 */
function splitShared(scene, links, parts, rows) {
  const isConstant = scene.constants ??= constantsOf(scene.nodes, scene.edges);
  const hasInputs = new Set(links.map((link) => link.to));
  const isBack = rows.map((row) => Boolean(row.back));
  const followed = new Set(links.filter(({ from, to }) => from !== to && isBack[from])
    .map((link) => link.to));
  const computed = new Set(scene.edges.map(([, to]) => to));
  /** @param {number} node */
  const isHeld = (node) => isConstant[node] || !computed.has(node);
  /** @type {Map<number, number>} */
  const counts = new Map();
  links.forEach(({ from }) => counts.set(from, (counts.get(from) ?? 0) + 1));
  const seen = new Set();
  const flags = links.map(({ from, to, edges }) => {
    if (isBack[to] && !isBack[from] && followed.has(to)) return true;
    if (parts[from].group >= 0 && edges.every((edge) => isHeld(scene.edges[edge][0]))) {
      return parts[from].nodes.some((node) => !isHeld(node));
    }
    const users = counts.get(from) ?? 0;
    const isShared = parts[from].group < 0 && !hasInputs.has(from) && users > SHARED;
    const isFirst = !seen.has(from);
    seen.add(from);
    return isShared && !isFirst;
  });
  return { firm: links.filter((_, i) => !flags[i]), loose: links.filter((_, i) => flags[i]) };
}

/**
 * The drawn edges of a link: all between two single nodes, one where a folded group takes part.
 * @param {Graph} scene @param {PlacedLink} link @param {Part[]} parts
 * @param {PictureNode[]} nodes what is drawn of each part
 * @param {(edges: number[]) => string} [markOf]
 * @returns {PictureEdge[]}
 */
export function edgesOf(scene, link, parts, nodes, markOf = () => "") {
  const ends = { from: nodes[link.from], to: nodes[link.to], arrow: link.arrow,
    ...(link.isLoose ? { isLoose: true } : {}) };
  if (parts[link.from].group < 0 && parts[link.to].group < 0) {
    return link.edges.map((edge, beside) => ({ ...ends, beside, count: 1, mark: markOf([edge]),
      operand: scene.edges[edge][2], kind: scene.edges[edge][3] }));
  }
  const kinds = new Set(link.edges.map((edge) => scene.edges[edge][3]));
  const kind = kinds.size === 1 ? [...kinds][0] : "data";
  return [{ ...ends, beside: 0, count: link.edges.length, mark: markOf(link.edges), operand: -1,
    kind }];
}

/**
 * The row of a part: a node's own, or one that says what is in a folded group. A group of a single
 * node is that node under the group's name; a call that makes a loop shows what the loop does.
 * @param {Graph} scene @param {Part} part @param {Group} found where it is a folded group
 * @param {Look} look
 * @returns {NodeRow}
 */
function rowOf(scene, { nodes, group }, found, look) {
  const last = scene.nodes[nodes[nodes.length - 1]];
  if (group < 0) return look.words && last.op === "sink" ? results(last) : last;
  const words = wordsOn(scene, found, look);
  const rows = nodes.map((node) => scene.nodes[node]);
  const title = cut(words?.title ?? (look.name ?? String)(found.key));
  if (nodes.length === 1) {
    const label = [title, ...last.label.slice(1)];
    return { ...last, label, w: Math.max(last.w, widthOf(title, label[1] ?? "", 0)) };
  }
  const loop = words?.isCall ? rows.find((row) => row.text) : undefined;
  if (loop) return { ...loop, fold: found.name };
  const detail = words ? cut(words.detail) : inGroup(rows);
  return {
    e: last.e, op: title, kind: words?.kind ?? commonest(rows.map((row) => row.kind), last.kind),
    label: [title, detail], w: widthOf(title, detail, look.room ?? 0), h: 48, fold: found.name,
    critical: rows.some((row) => row.critical),
    ...(found.isBack || isMostlyBack(rows) ? { back: true } : {}),
  };
}

/**
 * The end of a program, in its user's words.
 * @param {NodeRow} row
 */
const results = (row) => ({ ...row, label: ["results"] });

/** @param {string} title @param {string} detail @param {number} room */
const widthOf = (title, detail, room) => 2 * Math.ceil((MARGIN + Math.max(
  title.length * ADVANCE, Math.max(detail.length, room) * SMALL_ADVANCE, 40)) / 2);

/**
 * The title of a group that is more than a key.
 * @param {Graph} scene @param {Group} group @param {Look} look
 */
function wordsOn(scene, group, { words }) {
  if (group.scope === undefined) return undefined;
  return words?.(group, group.nodes.map((it) => scene.nodes[it]));
}

/**
 * "12 nodes: add ×8, mul ×4", in at most so many columns.
 * @param {NodeRow[]} rows
 */
export function inGroup(rows, columns = LONGEST) {
  const count = `${rows.length} node${rows.length === 1 ? "" : "s"}`;
  return cut(`${count}: ${census(rows.map((row) => row.op))}`, columns);
}

/**
 * The number of columns of a node's second line that fit into a width.
 * @param {number} width
 */
export const columnsIn = (width) => Math.floor((width - MARGIN) / SMALL_ADVANCE);

/**
 * A text in at most so many columns.
 * @param {string} text
 */
export const cut = (text, columns = LONGEST) =>
  (text.length > columns ? `${text.slice(0, columns - 1)}…` : text);
