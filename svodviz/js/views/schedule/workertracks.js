// The rows of workers' lanes: tracks for what a worker does, more than one where its threads do
// several things at once, and strips for what comes to it meanwhile. Pure.

import { pack, TRACK } from "./tracks.js";

export const STRIP = 20; // height of a row of transfers
const GAP = 10; // above a lane
const LEAST = 40; // of a lane: room for its name, and what stands under it

/**
 * @typedef {import("../../data/lanes.js").Bar} Bar
 * @typedef {{item: number, start: number, finish: number, slack: number}} Span `item`: the number
 *   of a bar
 * @typedef {Object} Row
 * @property {"lane" | "track" | "strip"} type
 * @property {number} lane
 * @property {string} [name] of a lane
 * @property {number} top
 * @property {number} height
 * @property {number[]} items positions in the schedule
 * @property {Span[]} spans in order of time
 * @property {boolean} [isFirst] of the first track of a lane: its waits stand there
 */

/**
 * The rows of all lanes, from the top.
 * @param {{lanes: {name: string}[], bars: Bar[]}} data
 * @returns {Row[]}
 */
export function workerTracks({ lanes, bars }) {
  const rows = lanes.flatMap(({ name }, lane) =>
    rowsOf(name, lane, bars.filter((it) => it.lane === lane), bars));
  let top = 0;
  for (const row of rows) {
    row.top = top;
    top += row.height;
  }
  return rows;
}

/**
 * @param {string} name @param {number} lane @param {Bar[]} bars @param {Bar[]} all
 * @returns {Row[]}
 */
function rowsOf(name, lane, bars, all) {
  const doing = pack(spansOf(bars.filter((it) => it.kind !== "transfer")));
  const coming = pack(spansOf(bars.filter((it) => it.kind === "transfer")));
  const tracks = doing.length ? doing : [[]];
  /** @type {(type: Row["type"], height: number, spans: Span[]) => Row} */
  const row = (type, height, spans) => ({ type, lane, top: 0, height, spans,
    items: [...new Set(spans.map((it) => all[it.item].item))].filter((it) => it >= 0) });
  const rows = [
    ...tracks.map((spans, at) => ({ ...row("track", TRACK, spans), isFirst: at === 0 })),
    ...coming.map((spans) => row("strip", STRIP, spans)),
  ];
  const height = rows.reduce((sum, it) => sum + it.height, 0);
  rows[rows.length - 1].height += Math.max(0, LEAST - height);
  return [{ ...row("lane", GAP, []), name, items: rows.flatMap((it) => it.items) }, ...rows];
}

/** @param {Bar[]} bars @returns {Span[]} */
function spansOf(bars) {
  return bars.map(({ number, start, finish }) => ({ item: number, start, finish, slack: 0 }));
}
