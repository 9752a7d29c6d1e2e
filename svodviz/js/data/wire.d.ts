// The rows of a page's data as the modules see them: docs/page.schema.json says what each means.
// Only the checker of types reads this file; no page carries it. What modules keep with the rows
// stands in kept.d.ts and graph/drawn.d.ts.

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
}

export interface Layout {
  places: [number, number, number][];
  routes: [number, string][];
  groups: [string, number, number, number, number][];
  size?: Point;
  engine: string;
  seconds: number;
}

/** What folds: the nodes and edges of a scene, or those that a film shows in one layout. */
export interface Graph {
  nodes: NodeRow[];
  edges: EdgeRow[];
}

export interface Scene extends Graph {
  layouts: (Layout | null)[];
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
