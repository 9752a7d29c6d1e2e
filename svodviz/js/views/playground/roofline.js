// The roofline: the speed of points against the bandwidths and the peak of this machine.

import { h, s } from "../../kit/dom.js";

const [WIDTH, HEIGHT] = [560, 320];
const [LEFT, RIGHT, TOP, BOTTOM] = [52, 14, 14, 40];

/** Powers of ten, and in between 2 and 5 where there is room, from `low` to `high`. */
export function ticks(low, high) {
  const found = [];
  const isWide = Math.log10(high / low) < 3;
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
    for (const part of isWide ? [1, 2, 5] : [1]) {
      const value = part * 10 ** power;
      if (value >= low * 0.999 && value <= high * 1.001) found.push(value);
    }
  }
  return found;
}

/** Operations for each byte that comes from behind cache `level`; 0 where that is not known. */
export function intensity(point, level) {
  if (!point.cache || !point.flops) return 0;
  const [, , , asked, hits] = point.cache.levels[level];
  const share = point.cache.total / Math.max(1, point.cache.accesses);
  const ahead = point.cache.fetched?.[level] ?? 0;
  return point.flops / Math.max(1, (asked - hits + point.cache.streamed + ahead) * 64 * share);
}

/** Operations per ns; 0 where it was not measured. */
export function speed(point) {
  return point.time ? (point.flops / point.time.seconds) * 1e-9 : 0;
}

/** The range of both axes: all points and the ridge are in it, with room around them. */
export function rangeOf(points, roofs, level) {
  const ridge = roofs.peak / roofs.levels[level + 1][1];
  const xs = [ridge, ...points.map(([x]) => x)];
  const ys = [roofs.peak, roofs.alone, ...points.map(([, y]) => y)];
  return {
    x: [Math.min(...xs) / 3, Math.max(...xs) * 4],
    y: [Math.min(...ys) / 2.5, Math.max(...ys) * 2],
  };
}

const round = (value) => String(Number(value.toPrecision(3)));

/**
 * The plot. `level` is the cache behind which bytes are counted; the points are those that were
 * measured and whose accesses are known.
 */
export function roofline(points, roofs, level, current, onChoose) {
  const placed = points.map((point) => [intensity(point, level), speed(point), point])
    .filter(([x, y]) => x > 0 && y > 0);
  const range = rangeOf(placed, roofs, level);
  const along = ([low, high], from, to) => (value) =>
    from + ((Math.log(value) - Math.log(low)) / (Math.log(high) - Math.log(low))) * (to - from);
  const x = along(range.x, LEFT, WIDTH - RIGHT);
  const y = along(range.y, HEIGHT - BOTTOM, TOP);
  const words = placed.map(([, , point]) => describe(point, level)).join("; ");
  return s(
    "svg", {
      class: "roofline", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group",
      "aria-label": `Roofline. ${words}`,
    },
    grid(range, x, y),
    ...roofLines(roofs, level, range, x, y),
    trail(placed, current, x, y) ?? "",
    ...placed.map(([across, up, point]) => dot(point, x(across), y(up), level, current, onChoose)),
  );
}

function grid(range, x, y) {
  const [right, floor] = [WIDTH - RIGHT, HEIGHT - BOTTOM];
  return s(
    "g", { class: "roof-grid", "aria-hidden": "true" },
    ...ticks(...range.x).flatMap((it) => [
      s("path", { d: `M${x(it)} ${TOP}V${floor}` }),
      s("text", { x: x(it), y: floor + 14, "text-anchor": "middle" }, round(it))]),
    ...ticks(...range.y).flatMap((it) => [
      s("path", { d: `M${LEFT} ${y(it)}H${right}` }),
      s("text", { x: LEFT - 6, y: y(it) + 4, "text-anchor": "end" }, round(it))]),
    s("text", { class: "roof-axis", x: (LEFT + right) / 2, y: HEIGHT - 6, "text-anchor": "middle" },
      "arithmetic intensity: FLOP per byte moved"),
    s("text", {
      class: "roof-axis", x: 12, y: (TOP + floor) / 2, "text-anchor": "middle",
      transform: `rotate(-90 12 ${(TOP + floor) / 2})`,
    }, "GFLOP/s"),
  );
}

/** One slanted line for each level that bytes can come from, the peak, and it without vectors. */
function roofLines(roofs, level, range, x, y) {
  const right = range.x[1];
  const ridge = Math.max(range.x[0], Math.min(right, roofs.peak / roofs.levels[level + 1][1]));
  const lines = roofs.levels.slice(1).map(([name, bandwidth], index) => {
    const start = Math.max(range.x[0], range.y[0] / bandwidth);
    const end = Math.min(roofs.peak / bandwidth, right);
    if (start >= end) return null;
    const isChosen = index === level;
    return s(
      "g", { class: isChosen ? "roof chosen" : "roof" },
      s("path", { d: `M${x(start)} ${y(start * bandwidth)}L${x(end)} ${y(end * bandwidth)}` }),
      isChosen && slanted(x, y, start, end, bandwidth, `${name} ${round(bandwidth)} GB/s`),
    );
  });
  const flat = [["roof chosen", roofs.peak, "multiply-adds in vectors"],
    ["roof", roofs.alone, "without vectors"]].map(([kind, value, words]) => s(
    "g", { class: kind },
    s("path", {
      d: `M${x(kind === "roof" ? range.x[0] : ridge)} ${y(value)}H${WIDTH - RIGHT}`,
    }),
    s("text", { x: WIDTH - RIGHT - 4, y: y(value) - (kind === "roof" ? 5 : 15),
      "text-anchor": "end" }, `${words} ${round(value)} GFLOP/s`)));
  return [...lines.filter(Boolean), ...flat];
}

/** Words next to a slanted line, a third of the way down from its upper end, along it. */
function slanted(x, y, start, end, bandwidth, words) {
  const at = Math.exp(Math.log(end) - (Math.log(end) - Math.log(start)) / 3);
  const [left, top] = [x(at), y(at * bandwidth)];
  const slope = (y(end * bandwidth) - y(start * bandwidth)) / (x(end) - x(start));
  const turn = (Math.atan(slope) * 180) / Math.PI;
  return s("text", {
    x: left, y: top - 8, "text-anchor": "middle", transform: `rotate(${turn} ${left} ${top})`,
  }, words);
}

/** The way from the point that was tried before to the present one. */
function trail(placed, current, x, y) {
  const at = placed.findIndex(([, , point]) => point.number === current);
  if (at < 1) return null;
  const [[x1, y1], [x2, y2]] = [placed[at - 1], placed[at]].map(([a, b]) => [x(a), y(b)]);
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
  const [tipX, tipY] = [x2 - dx * 11, y2 - dy * 11];
  const wing = (side) => `${tipX - dx * 8 + side * dy * 4} ${tipY - dy * 8 - side * dx * 4}`;
  return s("path", { class: "roof-trail", "aria-hidden": "true",
    d: `M${x1} ${y1}L${tipX} ${tipY}M${wing(1)}L${tipX} ${tipY}L${wing(-1)}` });
}

function dot(point, x, y, level, current, onChoose) {
  const isCurrent = point.number === current;
  const choose = () => onChoose(point.number);
  return s(
    "g", {
      class: isCurrent ? "roof-point current" : "roof-point", role: "button", tabindex: "0",
      "aria-label": describe(point, level), "aria-pressed": String(isCurrent), onclick: choose,
      onkeydown: (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        event.stopPropagation();
        choose();
      },
    },
    s("title", {}, describe(point, level)),
    s("circle", { cx: x, cy: y, r: isCurrent ? 9 : 7 }),
    s("text", { x, y: y + 4, "text-anchor": "middle" }, `${point.number}`),
  );
}

/** A point in words. */
export function describe(point, level) {
  const name = point.label || point.text;
  return `point ${point.number}, ${name}: ${round(speed(point))} GFLOP/s, `
    + `${round(intensity(point, level))} operations per byte from ${sourceOf(point, level)}`;
}

/** The memory that serves misses of cache `level`. */
export function sourceOf(point, level) {
  return point.cache.levels[level + 1]?.[0] ?? "memory";
}

/** The limit that holds a point back, in a sentence; empty where that is not known. */
export function verdict(point, roofs, level) {
  const [across, up] = [intensity(point, level), speed(point)];
  if (!across || !up) return "";
  const most = Math.min(roofs.peak, across * roofs.levels[level + 1][1]);
  const share = Math.round((100 * up) / most);
  const from = sourceOf(point, level);
  const roof = most < roofs.peak ? `bytes from ${from} at ${round(roofs.levels[level + 1][1])} GB/s`
    : `multiply-adds at ${round(roofs.peak)} GFLOP/s`;
  if (share > 100) return `Above the roofline (${roof}): other work slowed its measurement.`;
  return `${share} % of the roofline here (${roof}).`;
}

/** The choice of the level whose bytes count. */
export function levelChoice(names, level, onChange) {
  const field = h(
    "select", { "aria-label": "Bytes from", onchange: () => onChange(Number(field.value)) },
    ...names.slice(1).map((name, index) =>
      h("option", { value: index, selected: index === level }, name)));
  return h("label", { class: "play-label" }, "Bytes that come from:", field);
}
