// The rows of a page's data as the modules see them: docs/page.schema.json says what each means.
// Only the checker of types reads this file; no page carries it. What a comment calls "kept" is
// no part of the data: modules keep it with the row that it was made from.

import type { Arrow } from "./geometry.js";
import type { Time } from "./measured.js";
import type { KeptParts } from "./passpicture.js";
import type { Picture } from "./picture.js";

export type Mark = [boolean | null, string];
export type EdgeRow = [number, number, number, string];
export type Point = [number, number];

export interface NodeRow {
  e: number;
  op: string;
  kind: string;
  label: string[];
  w: number;
  h: number;
  name?: string;
  arg?: string;
  dtype?: string;
  shape?: string;
  group?: string;
  cost?: Record<string, number | string>;
  critical?: boolean;
  slack?: number | string;
  device?: string;
  module?: string;
  text?: string[];
  fold?: string; // kept: the name of the folded group that it stands for
  holds?: number[]; // kept: the entities of a stretch
}

export interface Layout {
  places: [number, number, number][];
  routes: [number, string][];
  groups: [string, number, number, number, number][];
  size?: Point;
  engine: string;
  seconds: number;
  byNode?: Map<number, Point>; // kept
  byEdge?: Map<number, string>; // kept
}

/** What folds: the nodes and edges of a scene, or those that a film shows in one layout. */
export interface Graph {
  nodes: NodeRow[];
  edges: EdgeRow[];
  keys?: Map<string, string[]>; // kept, as all below
  foldings?: [string, string][];
  suits?: string;
}

export interface Scene extends Graph {
  layouts: (Layout | null)[];
  arrows: Map<string, Arrow>; // kept, as all below
  picture?: Picture;
  pictures?: Map<string, Picture>;
  marks?: Map<number, string>;
  workers?: Map<number, Set<number>>;
}

export interface Delta {
  "n+"?: number[];
  "n-"?: number[];
  "e+"?: number[];
  "e-"?: number[];
  set?: [number, NodeRow][];
}

export interface Film extends Scene {
  passes: { start: Delta; steps: Delta[]; layout: number }[];
  scenes?: Map<number, FilmScene>; // kept, as all below
  last?: { kept: string; picture: Picture };
}

/** Kept: all that a film shows in one layout, under numbers of its own. */
export interface FilmScene extends Graph {
  nodeAt: Map<number, number>; // of the film's nodes
  edgeAt: Map<number, number>; // of the film's edges
  numbers: number[]; // each edge's in the film
  laid?: Map<string, KeptParts>;
}

export interface Unit {
  name: string;
  title: string;
  nodes: number;
  lines: [string, number, string?][];
  scene: Scene | null;
  note: string;
}

export interface Stage {
  id: string;
  label: string;
  view: string;
  missing: string;
  units: Unit[];
  seconds: number | string;
  asked?: boolean;
  later?: boolean;
}

/** What arrives after the page has opened. */
export interface Later {
  stages: Stage[];
  entities: string[];
  parents: number[][];
  values: Wire["values"];
  unseen: Wire["unseen"];
  operations: Record<string, string>;
  notes: string[];
}

export interface Pass {
  stage: string;
  kernel: string;
  name: string;
  because: string;
  seconds: number | string;
  changed: boolean;
  film: number;
  shot: number;
  rewrites: [number, number, number][];
  left_out: number;
}

export type Rule = [string, string, string, string[]];

export interface KernelRow {
  name: string;
  e: number;
  choices: [string, string, string][];
  text: string;
  level: string;
  because: string;
  tasks: number;
  scratch: number;
}

export interface BufferRow {
  e: number;
  name: string;
  dtype: string;
  shape: string;
  bytes: number;
  device: string;
  made: boolean;
}

export type Ran = Time & { finish: number; slack: number };

export interface ItemRow {
  e: number;
  op: string;
  name: string;
  lane: number;
  args: [number, string][];
  fixed: [string, number][];
  facts: [string, string][];
  flops: number;
  read: number;
  written: number;
  ns: number;
  cost: number;
  start: number;
  late: number;
  critical: boolean;
  tasks: number;
  bound?: string;
  measured?: number | null; // kept: nanoseconds
  run?: Ran | null; // kept: when it ran, as measured
}

export interface FusionRow {
  e: number;
  from: number;
  to: number;
  type: string;
  score: number;
  saved: number;
  taken: boolean;
  value: string;
  reason: string;
  times: number;
}

export interface ScheduleRows {
  lanes: string[];
  buffers: BufferRow[];
  items: ItemRow[];
  path?: number[];
  dependencies: [number, number, string, number[], number, boolean][];
  loops: { label: string; items: number[] }[];
  memory: Record<string, any>;
  fusions: FusionRow[] | null;
  moved: string[];
}

export interface Wire {
  format: string;
  version: number;
  name: string;
  entities: string[];
  parents: number[][];
  stages: Stage[];
  films: Film[];
  passes: Pass[];
  rules: Rule[];
  kernels: KernelRow[];
  legend: [string, string, string, string][];
  schedule: ScheduleRows | null;
  views: [string, string, string[], string][];
  machines: [string, string, string][];
  host?: string;
  plain: [string, string, any[], number[]][];
  operations: Record<string, string>;
  notes: string[];
  [other: string]: any;
}

export interface State {
  stage: string;
  unit: number;
  view: string;
  pass: number;
  step: number;
  selected: string;
  columns: string[];
  folding: string;
  open: string[];
  only: string[];
  overlay: string;
  critical: boolean;
  machine: string;
  level: number;
  llvm_pass: number;
}

/** What can be chosen for a kernel in the playground. */
export interface KernelSpace {
  name: string;
  own: string;
  axes: LoopRow[];
  lanes: number;
  cores: number;
  loaded: number[];
  stored: number[];
  labels: Record<string, string>;
}

export type LoopRow = [string, number, string];
