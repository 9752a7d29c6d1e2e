// Parts of a graph: what is drawn of groups, where it stands, and the edges between.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  columnsIn, cut, edgesOf, inGroup, isTooLarge, layOutParts, MOST_BOXES, MOST_LINKS, partAt,
} from "../../../../svodviz/js/data/graph/parts.js";
import { stagePicture } from "../../../../svodviz/js/data/graph/picture.js";

const row = (e, op, more = {}) =>
  ({ e, op, kind: `kind of ${op}`, label: [op, `node ${e}`], w: 60 + 2 * e, h: 30, ...more });

/** 0 is read by 1 twice; 1, 2 and 3 have key "a", 4 and 5 key "b", 6 has none. */
const sceneOf = () => ({
  nodes: ["load", "add", "mul", "add", "max", "max", "store"].map((op, e) => row(e, op)),
  edges: [[0, 1, 0, "data"], [0, 1, 1, "data"], [1, 2, 0, "data"], [2, 3, 0, "data"],
    [3, 4, 0, "data"], [2, 5, 0, "order"], [4, 5, 1, "data"], [5, 6, 0, "data"]],
});
const KEYS = ["", "a", "a", "a", "b", "b", ""];
const laidOf = (look) => layOutParts(sceneOf(), { keys: KEYS, ...look });
const pairs = (links) => links.map(({ from, to, edges }) => [from, to, edges]);

/** One source that so many nodes read; these all lead to a last one. */
function fan(users, more = []) {
  const nodes = Array.from({ length: users + 2 + more.length }, (_, e) => row(e, "any"));
  const middle = Array.from({ length: users }, (_, i) => i + 1);
  return { nodes, edges: [...middle.map((it) => [0, it, 0, "data"]),
    ...middle.map((it) => [it, users + 1, it, "data"]), ...more] };
}

const overlap = (a, b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];

test("a group is one part, at the place of its first node; others are parts by themselves", () => {
  const { parts, partOf, groups, rows, boxes } = laidOf();
  assert.deepEqual(groups.map((it) => it.name), ["a #1", "b #1"]);
  assert.deepEqual(parts.map((it) => it.nodes), [[0], [1, 2, 3], [4, 5], [6]]);
  assert.deepEqual([...partOf], [0, 1, 1, 1, 2, 2, 3]);
  assert.deepEqual(rows[0], sceneOf().nodes[0]);
  boxes.forEach(([left, top, right, bottom], i) => {
    assert.deepEqual([right - left, bottom - top], [rows[i].w, rows[i].h]);
    boxes.slice(i + 1).forEach((other) => assert.ok(!overlap(boxes[i], other)));
  });
});

test("the row of a group says what it is, and what is in it", () => {
  const scene = sceneOf();
  scene.nodes[2].critical = true;
  const { rows: [, first, second] } = layOutParts(scene, { keys: KEYS, name: (it) => `<${it}>` });
  assert.deepEqual([first.op, first.label], ["<a>", ["<a>", "3 nodes: add ×2, mul"]]);
  assert.deepEqual([first.fold, first.e, first.kind], ["a #1", 3, "kind of add"]);
  assert.deepEqual([first.critical, second.critical], [true, false]);
  assert.equal(second.label[1], "2 nodes: max ×2");
});

test("a folded group has the room that is asked for, and room for its words", () => {
  const widths = [0, 32, 60].map((room) => laidOf({ room }).rows[1].w);
  assert.ok(widths[0] < widths[1] && widths[1] < widths[2], widths.join());
  [[0, "3 nodes: add ×2, mul".length], [32, 32], [60, 60]].forEach(([room, columns]) =>
    assert.ok(columnsIn(laidOf({ room }).rows[1].w) >= columns));
  assert.ok(widths.every((it) => it % 2 === 0));
});

test("links join parts, each with all edges it stands for; none leads into its own group", () => {
  const { links } = laidOf();
  assert.deepEqual(pairs(links), [[0, 1, [0, 1]], [1, 2, [4, 5]], [2, 3, [7]]]);
  assert.ok(links.every((it) => !it.isLoose && it.arrow.line.startsWith("M")));
});

test("paths lead from the foot of one box to the head of the other", () => {
  const { links, boxes } = laidOf({ open: ["a #1"] });
  for (const { from, to, arrow } of links) {
    const numbers = arrow.line.match(/-?\d+(\.\d+)?/g).map(Number);
    const [a, b] = [boxes[from], boxes[to]];
    assert.deepEqual(numbers.slice(0, 2), [(a[0] + a[2]) / 2, a[3]]);
    assert.deepEqual(numbers.slice(-2), [(b[0] + b[2]) / 2, b[1]]);
  }
});

test("an open group shows its nodes in a frame, and says so of each", () => {
  const laid = laidOf({ open: ["a #1"], name: (it) => `group ${it}` });
  assert.deepEqual(laid.parts.map((it) => it.nodes), [[0], [1], [2], [3], [4, 5], [6]]);
  const [[label, x, y, w, h], ...more] = laid.frames;
  assert.deepEqual([label, more], ["group a: 3 nodes", []]);
  laid.boxes.forEach(([left, top, right, bottom], i) => {
    const isInside = x <= left && y <= top && right <= x + w && bottom <= y + h;
    assert.equal(isInside, [1, 2, 3].includes(i));
  });
  assert.deepEqual(laid.parts.map((_, i) => partAt(laid, i).group),
    [undefined, "a #1", "a #1", "a #1", "b #1", undefined]);
  assert.deepEqual(laid.boxes.map(([left, top]) => [left, top]),
    laid.parts.map((_, i) => [partAt(laid, i).x, partAt(laid, i).y]));
});

test("without keys nothing is folded", () => {
  const { parts, groups, links } = layOutParts(sceneOf(), {});
  assert.deepEqual([parts.length, groups.length], [7, 0]);
  assert.deepEqual(pairs(links)[0], [0, 1, [0, 1]]);
});

test("what many use depends on its first user alone", () => {
  const { links } = layOutParts(fan(5), {});
  const ofSource = links.filter((it) => it.from === 0);
  assert.deepEqual(ofSource.map((it) => [it.to, it.isLoose]),
    [[1, false], [2, true], [3, true], [4, true], [5, true]]);
  assert.equal(links.length, 10);
  assert.ok(links.every((it) => it.from === 0 || !it.isLoose));
});

test("what few use, what has inputs, and a group hold all their users", () => {
  const loose = (scene, look = {}) => layOutParts(scene, look).links.filter((it) => it.isLoose);
  assert.equal(loose(fan(5)).length, 4);
  assert.deepEqual(loose(fan(4)), []);
  assert.deepEqual(loose(fan(5, [[7, 0, 0, "data"]])), []);
  const twins = fan(5, [[7, 0, 0, "data"]]);
  const keys = twins.nodes.map((_, node) => (node === 0 || node === 7 ? "source" : ""));
  assert.deepEqual(loose(twins, { keys }), []);
});

test("a neighbourhood is drawn unfolded, and nothing else", () => {
  const { parts, partOf, groups, links, shown } = laidOf({ only: new Set([2]) });
  assert.deepEqual([...shown].sort(), [1, 2, 3, 5]);
  assert.deepEqual(parts.map((it) => it.nodes), [[1], [2], [3], [5]]);
  assert.deepEqual([groups, [...partOf]], [[], [-1, 0, 1, 2, -1, 3, -1]]);
  assert.deepEqual(pairs(links), [[0, 1, [2]], [1, 2, [3]], [1, 3, [5]]]);
});

test("a picture of a neighbourhood counts the neighbours that it hides", () => {
  const scene = { ...sceneOf(), layouts: [], arrows: new Map() };
  const picture = stagePicture(scene, "key", { only: new Set([2]) });
  assert.deepEqual(picture.nodes.map((it) => [it.node, it.hidden]),
    [[1, 1], [2, 0], [3, 1], [5, 2]]);
  assert.equal(picture.all, 7);
});

test("between single nodes every edge is drawn, with its own mark", () => {
  const { links, parts } = laidOf({ open: ["a #1", "b #1"] });
  const drawn = parts.map((it) => ({ node: it.nodes[0] }));
  const edges = edgesOf(sceneOf(), links[0], parts, drawn, (them) => `mark of ${them}`);
  assert.deepEqual(edges.map(({ beside, count, operand, kind, mark }) =>
    [beside, count, operand, kind, mark]),
  [[0, 1, 0, "data", "mark of 0"], [1, 1, 1, "data", "mark of 1"]]);
  for (const edge of edges) {
    assert.equal(edge.from, drawn[0]);
    assert.equal(edge.to, drawn[1]);
    assert.equal(edge.arrow, links[0].arrow);
    assert.ok(!("isLoose" in edge));
  }
});

test("an edge of a folded group stands for all of its link", () => {
  const { links, parts } = laidOf();
  const drawn = parts.map((it) => ({ node: it.nodes[0] }));
  const all = links.flatMap((link) =>
    edgesOf(sceneOf(), link, parts, drawn, (them) => them.join(" and ")));
  assert.deepEqual(all.map(({ count, mark, operand }) => [count, mark, operand]),
    [[2, "0 and 1", -1], [2, "4 and 5", -1], [1, "7", -1]]);
  const kinds = [[5, 4], [4, 5], [5]].map((edges) =>
    edgesOf(sceneOf(), { ...links[1], edges }, parts, drawn)[0].kind);
  assert.deepEqual(kinds, ["data", "data", "order"], "of a kind only where all its edges are");
});

test("edges of a loose link say so, and have no mark unless one is given", () => {
  const scene = fan(5);
  const { links, parts } = layOutParts(scene, {});
  const drawn = parts.map((it) => ({ node: it.nodes[0] }));
  for (const link of links) {
    const [edge] = edgesOf(scene, link, parts, drawn);
    assert.deepEqual([edge.isLoose ?? false, edge.mark], [link.isLoose, ""]);
  }
});

test("words fit into their columns", () => {
  assert.equal(cut("abcdef", 6), "abcdef");
  assert.equal(cut("abcdefg", 6), "abcde…");
  assert.equal(inGroup([row(0, "add")]), "1 node: add");
  const long = inGroup([row(0, "multiply"), row(1, "subtract")], 16);
  assert.equal(long, "2 nodes: multip…");
  assert.equal(long.length, 16);
});

test("what is more than a page lays out at once is left out, and said", () => {
  const nodes = Array.from({ length: MOST_BOXES + 10 }, (_, e) => row(e, "add"));
  const many = { nodes, edges: [[0, MOST_BOXES + 5, 0, "data"], [0, 1, 0, "data"]] };
  assert.ok(isTooLarge(many) && !isTooLarge(sceneOf()));
  const laid = layOutParts(many, {});
  assert.deepEqual([laid.parts.length, laid.links.length], [MOST_BOXES, 1]);
  assert.equal(laid.cut, "the first 20,000 of 20,010 boxes: the limit of one layout");
  assert.equal(stagePicture(many, "x").nodes.length, MOST_BOXES);
  const edges = Array.from({ length: MOST_LINKS + 1 }, (_, i) =>
    [i % 300, 300 + Math.floor(i / 300), 0, "data"]);
  const dense = layOutParts({ nodes: nodes.slice(0, 600), edges }, {});
  assert.equal(dense.links.length, MOST_LINKS);
  assert.equal(dense.cut, "the first 60,000 of 60,001 edges: the limit of one layout");
  assert.equal(layOutParts(sceneOf(), {}).cut, "");
});
