// The tree of a search over choices: each trial below its parent, with its time.

import { duration, h, s } from "../../kit/dom.js";

const ROW = 20;
const STEP = 16;
const [WIDTH, BAR, FIGURE] = [516, 84, 74];
const MOST_ROWS = 120; // that are drawn: a choice

/**
 * The trials as rows, depth first, each with how deep it is and the row of its parent. Without
 * `refused`, those that never ran are left out; what led to the best stays in any case. Pure.
 */
export function treeRows({ trials, best }, refused, most = MOST_ROWS) {
  const byNumber = new Map(trials.map((trial) => [trial[0], trial]));
  const children = new Map(trials.map(([number]) => [number, []]));
  trials.forEach(([number, parent]) => children.get(parent)?.push(number));
  const kept = new Set();
  for (let at = best; byNumber.has(at); [, at] = byNumber.get(at)) kept.add(at);
  const wanted = trials.filter(([, , , seconds]) => seconds !== null || refused)
    .sort((a, b) => (a[3] ?? Infinity) - (b[3] ?? Infinity)).map(([number]) => number);
  for (const number of wanted) {
    if (kept.size >= most) break;
    // A trial is shown only below those it came from.
    for (let at = number; byNumber.has(at) && !kept.has(at); [, at] = byNumber.get(at)) {
      kept.add(at);
    }
  }
  const rows = [];
  const walk = (number, depth, parent) => {
    const row = { trial: byNumber.get(number), depth, parent, index: rows.length };
    rows.push(row);
    children.get(number).filter((it) => kept.has(it)).forEach((it) => walk(it, depth + 1, row));
  };
  trials.filter(([number, parent]) => parent < 0 && kept.has(number))
    .forEach(([number]) => walk(number, 0, null));
  return rows;
}

/** The drawing; `onChoose` gets the choices of a trial. */
export function tuningTree(tuning, refused, onChoose) {
  const rows = treeRows(tuning, refused);
  const measured = rows.map(({ trial }) => trial[3]).filter((it) => it !== null);
  const [least, most] = [Math.min(...measured), Math.max(...measured)];
  const deepest = Math.max(0, ...rows.map(({ depth }) => depth));
  const room = WIDTH - BAR - FIGURE - 24 - STEP * deepest;
  const high = rows.length * ROW + 6;
  const left = tuning.trials.length - rows.length;
  return [
    h("p", {}, tuning.words),
    h("div", { class: "tuning-scroll", tabindex: "0", role: "region", "aria-label": "Search tree" },
      s("svg", { class: "tuning-tree", width: WIDTH, height: high, role: "group",
        "aria-label": `Search tree, ${rows.length} of ${tuning.trials.length} trials` },
      ...rows.map((row) => link(row) ?? ""),
      ...rows.map((row) => node(row, tuning, { least, most, room }, onChoose)))),
    h("p", { class: "hint" }, `★ used, ● measured, ✕ refused; bars by time.${
      left ? ` ${left} of ${tuning.trials.length} trials are not shown.` : ""}`),
  ];
}

const middle = ({ index }) => index * ROW + ROW / 2 + 2;
const across = ({ depth }) => 10 + depth * STEP;

function link(row) {
  if (!row.parent) return null;
  const x = across(row.parent);
  return s("path", { class: "tuning-link",
    d: `M${x} ${middle(row.parent) + 6}V${middle(row)}H${across(row) - 6}` });
}

function node(row, { best }, { least, most, room }, onChoose) {
  const [number, , change, seconds, refused, choices] = row.trial;
  const isBest = number === best;
  const sign = isBest ? "★" : seconds === null ? "✕" : "●";
  const took = seconds === null ? refused : duration(seconds);
  const span = Math.log(most / least) || 1;
  const share = seconds === null ? 0 : 0.06 + (0.94 * Math.log(seconds / least)) / span;
  const choose = () => onChoose(choices);
  const y = middle(row);
  const figures = WIDTH - BAR - FIGURE;
  return s(
    "g", {
      class: `tuning-node${isBest ? " best" : ""}${seconds === null ? " refused" : ""}`,
      role: "button", tabindex: "0", onclick: choose,
      "aria-label": `trial ${number}: ${change}: ${isBest ? "used, " : ""}${took}`,
      onkeydown: (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        event.stopPropagation();
        choose();
      },
    },
    s("title", {}, `${change}: ${took}\n${choices}`),
    s("rect", { class: "tuning-row", x: 0, y: y - ROW / 2, width: WIDTH, height: ROW }),
    s("text", { class: "tuning-sign", x: across(row), y: y + 4, "text-anchor": "middle" }, sign),
    s("text", { x: across(row) + 11, y: y + 4 }, cut(change, room)),
    seconds !== null && s("text", {
      x: figures + FIGURE - 8, y: y + 4, "text-anchor": "end",
    }, took),
    seconds !== null && s("rect", { class: "tuning-bar", x: figures + FIGURE, y: y - 5,
      width: share * (BAR - 8), height: 10 }),
  );
}

function cut(text, width) {
  const most = Math.max(6, Math.floor(width / 6.8));
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
