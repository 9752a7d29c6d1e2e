// A graph from far away: boxes without words, painted on a canvas.

/**
 * @param {HTMLCanvasElement} canvas @param {Array[]} groups frames: [label, x, y, width, height]
 * @param {Object[]} nodes of a picture @param {{x: number, y: number, scale: number}} camera
 * @param {[number, number]} size in pixels
 */
export function drawOverview(canvas, groups, nodes, { x, y, scale }, [width, height]) {
  canvas.width = width;
  canvas.height = height;
  const pen = canvas.getContext("2d");
  const style = getComputedStyle(canvas);
  pen.setTransform(scale, 0, 0, scale, x, y);
  const dot = 1.5 / scale;
  pen.fillStyle = style.getPropertyValue("--rule");
  groups.forEach(([, left, top, wide, high]) => pen.fillRect(left, top, wide, high));
  for (const { row, box } of nodes) {
    pen.fillStyle = style.getPropertyValue(`--${row.kind}-border`) || "#888";
    pen.fillRect(box[0], box[1], Math.max(row.w, dot), Math.max(row.h, dot));
  }
}
