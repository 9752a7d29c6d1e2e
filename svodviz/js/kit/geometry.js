// Shapes, arrowheads and the camera. Pure: no page, no state.

/** @typedef {[number, number, number, number]} Box left, top, right, bottom */
/** @typedef {{line: string, d: string, number: [number, number], box: Box}} Arrow */

/**
 * The outline of a node, as in palette.py: its upper left corner is (0, 0).
 * @param {string} shape @param {number} w @param {number} height
 */
export function outline(shape, w, height) {
  const r = Math.round(height / 2);
  switch (shape) {
    case "pill":
      return `M${r} 0H${w - r}a${r} ${r} 0 0 1 0 ${height}H${r}a${r} ${r} 0 0 1 0 ${-height}z`;
    case "slant":
      return `M8 0H${w}L${w - 8} ${height}H0z`;
    case "hexagon": {
      const tip = Math.min(9, Math.round(w / 4)); // a small one in the legend has a flat top too
      return `M${tip} 0H${w - tip}L${w} ${r}L${w - tip} ${height}H${tip}L0 ${r}z`;
    }
    case "square":
    case "double":
      return `M0 0H${w}V${height}H0z`;
    case "arrow":
      return `M0 0H${w - 10}L${w} ${r}L${w - 10} ${height}H0z`;
    case "bars":
      return `M0 0H${w}V${height}H0zM4 0V${height}M${w - 4} 0V${height}`;
    case "fold":
      return `M0 0H${w - 9}L${w} 9V${height}H0zM${w - 9} 0V9H${w}`;
    case "stack":
      return `M0 4H${w - 4}V${height}H0zM4 4V0H${w}V${height - 4}H${w - 4}`;
    default: {
      const arc = "a4 4 0 0 1";
      return `M4 0H${w - 4}${arc} 4 4V${height - 4}${arc} -4 4H4${arc} -4 -4V4${arc} 4 -4z`;
    }
  }
}

/**
 * The second line of a double outline.
 * @param {number} w @param {number} height
 */
export function inner(w, height) {
  return `M3.5 3.5H${w - 3.5}V${height - 3.5}H3.5z`;
}

/**
 * The points of an edge's path.
 * @param {string} path
 * @returns {[number, number][]}
 */
export function pointsOf(path) {
  const numbers = (path.match(/-?\d+(\.\d+)?/g) || []).map(Number);
  /** @type {[number, number][]} */
  const points = [];
  for (let i = 0; i < numbers.length; i += 2) points.push([numbers[i], numbers[i + 1]]);
  return points;
}

/**
 * An edge as drawn: its curve with an open arrowhead, where its number stands, its extent.
 * @param {string} path
 * @returns {Arrow}
 */
export function arrow(path) {
  const points = pointsOf(path);
  const [x, y] = points[points.length - 1];
  const [fromX, fromY] = points.slice(0, -1).reverse()
    .find(([a, b]) => Math.hypot(a - x, b - y) > 1) || [x, y - 1];
  const angle = Math.atan2(y - fromY, x - fromX);
  /** @param {number} turn */
  const barb = (turn) =>
    `${(x - 7 * Math.cos(angle + turn)).toFixed(1)} ${(y - 7 * Math.sin(angle + turn)).toFixed(1)}`;
  const xs = points.map((point) => point[0]);
  const ys = points.map((point) => point[1]);
  return {
    line: path,
    // Dashes begin anew where a line does: from its tip, a head is whole on dashed edges too.
    d: `${path}M${x} ${y}L${barb(0.42)}M${x} ${y}L${barb(-0.42)}`,
    number: [x - 17 * Math.cos(angle), y - 17 * Math.sin(angle)],
    box: [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)],
  };
}

const SMALLEST = 0.0005;

/** The place of the drawing on screen: screen = drawing × scale + (x, y). */
export class Camera {
  constructor(x = 0, y = 0, scale = 1) {
    this.x = x;
    this.y = y;
    this.scale = scale;
  }

  /**
   * Zoomed by `factor` around a point of the screen, which stays where it is.
   * @param {number} factor @param {number} screenX @param {number} screenY
   */
  zoomed(factor, screenX, screenY) {
    const scale = Math.min(4, Math.max(SMALLEST, this.scale * factor));
    const by = scale / this.scale;
    return new Camera(screenX - (screenX - this.x) * by, screenY - (screenY - this.y) * by, scale);
  }

  /** @param {number} dx @param {number} dy */
  moved(dx, dy) {
    return new Camera(this.x + dx, this.y + dy, this.scale);
  }

  /**
   * Moved no farther than it takes to have all of `box` in a view.
   * @param {Box} box @param {Box} view
   */
  toward(box, view) {
    /** @param {number} from @param {number} to what is there, at one of the sides */
    const by = (from, to) => Math.max(0, view[from] - box[from]) - Math.max(0, box[to] - view[to]);
    return this.moved(by(0, 2) * this.scale, by(1, 3) * this.scale);
  }

  /**
   * The part of the drawing that a screen of this size shows, widened by `margin` screens.
   * @param {number} width @param {number} height
   * @returns {Box}
   */
  view(width, height, margin = 0) {
    const left = (-margin * width - this.x) / this.scale;
    const top = (-margin * height - this.y) / this.scale;
    const wide = (width * (1 + 2 * margin)) / this.scale;
    return [left, top, left + wide, top + (height * (1 + 2 * margin)) / this.scale];
  }
}

// Scale at which the smallest words of a graph, of 11 pixels, have 10.
export const READABLE = 10 / 11;

/**
 * The camera that shows all of `box`. Where that would be too small to read it shows the upper end
 * at a readable size instead, unless `whole` asks for everything.
 * @param {Box} box @param {number} width @param {number} height
 */
export function fit(box, width, height, whole = false) {
  const [left, top, right, bottom] = box;
  const margin = 24;
  const scale = Math.min(
    1.15,
    (width - 2 * margin) / Math.max(1, right - left),
    (height - 2 * margin) / Math.max(1, bottom - top),
  );
  if (scale < READABLE && !whole) {
    /** @param {number} room @param {number} from @param {number} to */
    const start = (room, from, to) =>
      Math.max(margin - from * READABLE, room / 2 - ((from + to) / 2) * READABLE);
    return new Camera(width / 2 - ((left + right) / 2) * READABLE, start(height, top, bottom),
      READABLE);
  }
  const size = Math.max(SMALLEST, scale);
  const x = (width - (left + right) * size) / 2;
  return new Camera(x, (height - (top + bottom) * size) / 2, size);
}

/**
 * True if two boxes share a point.
 * @param {Box} a @param {Box} b
 */
export function touches(a, b) {
  return a[0] <= b[2] && b[0] <= a[2] && a[1] <= b[3] && b[1] <= a[3];
}

/**
 * The box around all boxes.
 * @param {Box[]} boxes
 * @returns {Box}
 */
export function union(boxes) {
  /** @type {Box} */
  const box = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [left, top, right, bottom] of boxes) {
    box[0] = Math.min(box[0], left);
    box[1] = Math.min(box[1], top);
    box[2] = Math.max(box[2], right);
    box[3] = Math.max(box[3], bottom);
  }
  return boxes.length ? box : [0, 0, 1, 1];
}

/**
 * True if `outer` holds all of `box`.
 * @param {Box} outer @param {Box} box
 */
export function holds(outer, box) {
  return outer[0] <= box[0] && outer[1] <= box[1] && outer[2] >= box[2] && outer[3] >= box[3];
}

/**
 * The middle of a view, moved sideways, that shows the most whole boxes. Among equals the first
 * on the left.
 * @param {Box[]} boxes @param {Box} view
 * @returns {number}
 */
export function crowded(boxes, [left, top, right, bottom]) {
  const near = boxes.filter((box) => box[1] >= top && box[3] <= bottom)
    .sort((a, b) => a[0] - b[0]);
  const ends = near.map((box) => box[2]).sort((a, b) => a - b);
  let [most, start, end, last] = [0, left, right, 0];
  near.forEach(([from], first) => {
    while (last < ends.length && ends[last] <= from + right - left) last += 1;
    if (last - first > most) [most, start, end] = [last - first, from, ends[last - 1]];
  });
  return (start + end) / 2;
}
