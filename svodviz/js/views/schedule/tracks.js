// Items packed: in each lane tracks of spans that do not overlap, instead of a row for each item;
// and what of them is drawn at a zoom: spans too narrow to distinguish become blocks
// that say how many they are. Pure.

export const TRACK = 30;
const GAP = 8; // above the tracks of a lane
export const NARROW = 6; // pixels: narrower spans that touch become one block
export const MOST_BLOCKS = 400; // of one drawing: a choice; more, and narrow spans join sooner
const WIDE = 48; // pixels of a block, about: with room for how many it is of
const MOST_TRACKS = 12; // of a lane with slack drawn; where it has more, they are packed without

/**
 * @typedef {Object} Span when an item, or its share of a core, is busy
 * @property {number} item its position in the schedule
 * @property {number} start nanoseconds
 * @property {number} finish
 * @property {number} slack
 * @property {string} [share] what of the item this is
 *
 * @typedef {Object} Track
 * @property {"lane" | "track"} type
 * @property {number} lane
 * @property {string} [name] of a lane
 * @property {number} top
 * @property {number} height
 * @property {number[]} items
 * @property {Span[]} spans in order of time
 * @property {boolean} [hasSlack] of a lane: whether there is room for the slack of all
 *
 * @typedef {{left: number, right: number, spans: Span[]}} Block in pixels
 */

/**
 * Tracks for spans, as few as there can be: each span, with its slack, in the first that is free
 * when it starts.
 * @param {Span[]} spans
 * @returns {Span[][]}
 */
export function pack(spans) {
  /** @type {Span[][]} */
  const tracks = [];
  /** @type {number[]} */
  const free = [];
  const order = [...spans].sort((a, b) => a.start - b.start || b.finish - a.finish);
  for (const span of order) {
    let track = free.findIndex((time) => time <= span.start);
    if (track < 0) track = tracks.push([]) - 1;
    tracks[track].push(span);
    free[track] = span.finish + span.slack;
  }
  return tracks;
}

/**
 * The lanes with their tracks, from the top.
 * @param {string[]} lanes @param {(lane: number) => Span[]} spansOf
 * @returns {Track[]}
 */
export function tracksOf(lanes, spansOf) {
  const rows = lanes.flatMap((name, lane) => laneOf(name, lane, spansOf(lane)));
  let top = 0;
  for (const row of rows) {
    row.top = top;
    top += row.height;
  }
  return rows;
}

/**
 * @param {string} name @param {number} lane @param {Span[]} spans
 * @returns {Track[]}
 */
function laneOf(name, lane, spans) {
  const roomy = pack(spans);
  const hasSlack = roomy.length <= MOST_TRACKS;
  const tracks = hasSlack ? roomy : pack(spans.map((it) => ({ ...it, slack: 0 })));
  const items = [...new Set(spans.map((it) => it.item))];
  return [
    { type: "lane", name, lane, top: 0, height: GAP, items, spans: [], hasSlack },
    ...tracks.map((it) => /** @type {Track} */ ({ type: "track", lane, top: 0, height: TRACK,
      items: it.map((span) => span.item), spans: it })),
  ];
}

/**
 * The spans of a track that are in view; they are in order and do not overlap.
 * @param {Span[]} spans @param {number} from @param {number} to
 */
export function spansBetween(spans, from, to) {
  const first = firstWhere(spans, (it) => it.finish + it.slack >= from);
  return spans.slice(first, firstWhere(spans, (it) => it.start > to));
}

/**
 * The drawn parts of each track in view: narrow spans are joined until few enough remain.
 * @param {any} view the timeline, which knows what stands where
 * @param {{spans: Span[]}[]} tracks @returns {Block[][]}
 */
export function blocksInView(view, tracks) {
  const { from, to } = view.window;
  const spans = tracks.map((row) => spansBetween(row.spans, from, to));
  for (let narrow = NARROW; ; narrow *= 2) {
    const found = spans.map((it) => blocksOf(it, (time) => view.x(time), narrow));
    const sum = found.reduce((all, blocks) => all + blocks.length, 0);
    if (sum <= MOST_BLOCKS || narrow > view.width) return found;
  }
}

/**
 * The first place from which a condition holds to the end; binary search.
 * @param {Span[]} spans @param {(span: Span) => boolean} holds
 */
function firstWhere(spans, holds) {
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(spans[middle])) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * The drawn parts of spans in order: wide ones by themselves, narrow ones in blocks of those that
 * touch, or nearly. So nothing else begins within `narrow` pixels of where a block does.
 * @param {Span[]} spans @param {(time: number) => number} pixelOf @param {number} narrow
 * @returns {Block[]}
 */
export function blocksOf(spans, pixelOf, narrow = NARROW) {
  /** @type {Block[]} */
  const blocks = [];
  let isOpen = false;
  for (const span of spans) {
    const [left, right] = [pixelOf(span.start), pixelOf(span.finish)];
    const isNarrow = right - left < narrow;
    const last = blocks[blocks.length - 1];
    const isNear = isOpen && left < Math.max(Math.min(last.right + 1, last.left + WIDE),
      last.left + narrow);
    if (isNarrow && isNear) {
      last.right = Math.max(last.right, right);
      last.spans.push(span);
    } else {
      blocks.push({ left, right, spans: [span] });
    }
    isOpen = isNarrow;
  }
  return blocks;
}
