// Links between entities of several stages: the closure over parents and children.
// Pure: no page, no state.

// A call or a schedule item stands for a whole kernel. Where a finer way leads past them (a line
// names the nodes it computes), going on from them would link every line to every node.
const COARSE = new Set(["kernels", "schedule"]);
const ABOVE = new Set(["modules", "source", "graph"]);

/**
 * Children from parents: for each entity the entities that descend from it directly.
 * @param {number[][]} parents
 * @returns {number[][]}
 */
export function childrenOf(parents) {
  /** @type {number[][]} */
  const children = parents.map(() => []);
  parents.forEach((list, child) => list.forEach((parent) => children[parent].push(child)));
  return children;
}

/**
 * Everything that `start` descends from, or that descends from `start`.
 * @param {number} start
 * @param {number[][]} next parents or children of each entity
 * @param {(entity: number) => string} stageOf
 * @param {(stage: string) => boolean} isBeyond whether a stage lies past the coarse ones
 */
export function climb(start, next, stageOf, isBeyond) {
  /** @param {number} entity */
  const isCoarse = (entity) => COARSE.has(stageOf(entity));
  if (isCoarse(start)) return reach(start, next, () => true);
  const fine = reach(start, next, (from, to) => !isCoarse(from) || isCoarse(to));
  for (const entity of fine) {
    if (entity !== start && isBeyond(stageOf(entity))) return fine;
  }
  return reach(start, next, () => true);
}

/**
 * The entities that can be reached from `start` by the steps that `mayPass` allows.
 * @param {number} start
 * @param {number[][]} next
 * @param {(from: number, to: number) => boolean} mayPass
 */
function reach(start, next, mayPass) {
  const seen = new Set([start]);
  const stack = [start];
  for (let entity = stack.pop(); entity !== undefined; entity = stack.pop()) {
    for (const other of next[entity]) {
      if (!seen.has(other) && mayPass(entity, other)) {
        seen.add(other);
        stack.push(other);
      }
    }
  }
  return seen;
}

/**
 * `start` and all that descends from it.
 * @param {number} start @param {number[][]} children @param {(entity: number) => string} stageOf
 */
export function descend(start, children, stageOf) {
  return climb(start, children, stageOf, (stage) => !ABOVE.has(stage) && !COARSE.has(stage));
}

/**
 * `start` and all that it descends from.
 * @param {number} start @param {number[][]} parents @param {(entity: number) => string} stageOf
 */
export function ascend(start, parents, stageOf) {
  return climb(start, parents, stageOf, (stage) => ABOVE.has(stage));
}

/**
 * `start`, all it descends from and all that descends from it.
 * @param {number} start @param {number[][]} parents @param {number[][]} children
 * @param {(entity: number) => string} stageOf
 */
export function closure(start, parents, children, stageOf) {
  const up = ascend(start, parents, stageOf);
  return new Set([...up, ...descend(start, children, stageOf)]);
}
