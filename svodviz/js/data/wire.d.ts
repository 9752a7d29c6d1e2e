// The rows of a page's data as the modules see them: docs/page.schema.json says what each means.
// Only the checker of types reads this file; no page carries it. What modules keep with the rows
// stands in kept.d.ts and graph/drawn.d.ts.

// -- made by python -m tools.wire_types from svodviz/data/records.py, which says more --

/** A position in a table, or another whole number from 0 */
export type Position = number;

/** A position in a table; -1 for none */
export type Perhaps = number;

/** A number; "inf", "-inf" or "nan" where JSON has none */
export type Number = number | "inf" | "-inf" | "nan";

/** A number as a key */
export type Digits = string;

/** The numbers that a reason looked at: name, value, sign, limit, name of the limit */
export type Numbers = string[][];

/** Across and down, or width and height, in pixels */
export type Point = [number, number];

/** From node, to node, as which operand, kind */
export type EdgeRow = [Position, Position, Perhaps, string];

/** A box of a drawing */
export interface NodeRow {
  e: Position;
  op: string;
  kind: string;
  label: string[];
  w: Position;
  h: Position;
  name?: string;
  arg?: string;
  dtype?: string;
  shape?: string;
  group?: string;
  cost?: Record<string, Number>;
  critical?: boolean;
  slack?: Number;
  start?: Number;
  finish?: Number;
  device?: string;
  variables?: string;
  module?: string;
  callers?: Position[];
  scope?: Position;
  partners?: Position[];
  back?: boolean;
  strides?: string;
  text?: string[];
}

/**
 * A public call, or what holds several: kind, name, the scope around it, its lines, how many
 * iterations it repeats, and the node that it gives
 */
export type ScopeRow = ["call" | "function" | "module" | "optimizer" | "repeat" | "iteration" | "rest" | "lines", string, Perhaps, Position[], Position, Perhaps];

/**
 * A kernel that a module has a part in: its name, the items that serve the module, the module's
 * share of the work of each, and the other modules that these items serve
 */
export type ModuleKernel = [string, Position[], Number[], Position[]];

/** A module's part of an item: which module, and the share of its time, operations and bytes */
export type ModulePart = [Position, Number, Number, Number];

/**
 * The code of a module: instructions, instructions shared with other modules, the same two of
 * assembly, and bytes of machine code
 */
export type ModuleCode = [Number, Number, Number, Number, Number];

/** A module of a model */
export interface ModuleRow {
  e: Position;
  name: string;
  path: string;
  kind: string;
  parent: Perhaps;
  nodes: Position;
  alive: Position[];
  shared: Position;
  kernels: ModuleKernel[];
}

/** The modules of a model, the whole program first, each after the one around it */
export interface Modules {
  passes: string[];
  rows: ModuleRow[];
  parts: ModulePart[][];
  roofs: (Number | null)[];
}

/** The positions of the boxes and arrows of a drawing */
export interface Layout {
  places: [Position, number, number][];
  routes: [Position, string][];
  groups: [string, number, number, number, number][];
  size?: Point;
  engine: string;
  seconds: number;
}

/** The nodes and edges of a drawing */
export interface Graph {
  nodes: NodeRow[];
  edges: EdgeRow[];
}

/** A drawing */
export interface Scene extends Graph {
  layouts: (Layout | null)[];
}

/** The changes of one step: nodes and edges added and removed, and nodes whose text changes */
export interface Delta {
  "n+"?: Position[];
  "n-"?: Position[];
  "e+"?: Position[];
  "e-"?: Position[];
  set?: [Position, NodeRow][];
}

/** One pass of a replay: its deltas, and the layout that it is drawn in */
export interface ReplayedPass {
  start: Delta;
  steps: Delta[];
  layout: Position;
}

/** Successive passes over one program, step by step */
export interface Replay extends Scene {
  passes: ReplayedPass[];
}

/** Text, entity, and why it comes from nothing */
export type Line = [string, Perhaps, string?];

/** Text, and the lines of generated IR that it comes from */
export type SourceLine = [string, ...number[]];

/** Label, first line, end, heads of the loops around it */
export type BlockRow = [string, Position, Position, number[]];

/** From block, to block, way, whether back */
export type JumpRow = [Position, Position, string, boolean];

/** Blocks and jumps of machine code */
export interface Flow {
  blocks: BlockRow[];
  jumps: JumpRow[];
}

/** From which line of the listing on, which file, and the number that this line has there */
export type SourceFile = [Position, string, Position];

/** The program, or one kernel of it, at a stage */
export interface Unit {
  name: string;
  title: string;
  nodes: Position;
  lines: Line[];
  scene: Scene | null;
  note: string;
  flow?: Flow | null;
  python?: [string, string];
  files?: SourceFile[];
}

/** An entry of the ribbon */
export interface Stage {
  id: string;
  label: string;
  view: string;
  missing: string;
  units: Unit[];
  seconds: Number;
  asked?: boolean;
  later?: boolean;
  python?: string;
}

/** Ends and mean of what is finite in an array, and how much is not */
export interface Statistics {
  nan: Position;
  inf: Position;
  zeros?: Position;
  bars?: Position[];
  min?: string;
  max?: string;
  mean?: string;
}

/** An array's properties and its first elements */
export interface Head {
  dtype: string;
  shape: string;
  size: Position;
  first: string[];
}

/** A preview of an array */
export interface Value extends Head, Statistics {
  began?: string;
  picture?: string[];
}

/** Stage, position of the kernel, and why it has no values inside */
export type Unseen = [string, Perhaps, string];

/** Rule, entity before, entity after */
export type RewriteRow = [Position, Position, Position];

/** Name, algebra, place, and lines of code */
export type Rule = [string, string, string, string[]];

/** Stage, pass, its rules, what each looks at */
export type RuleSet = [string, string, string[], string[][]];

/** True if it is right (null: it cannot run), and words */
export type Mark = [boolean | null, string];

/** Entity, kind, whether it was taken, reason, what was looked at */
export type DecisionRow = [Position, string, boolean, string, Numbers];

/** Kind, reason, what was looked at, the nodes that left no choice */
export type PlainRow = [string, string, Numbers, Position[]];

/** The work of one pass */
export interface Pass {
  stage: string;
  kernel: string;
  name: string;
  because: string;
  needs: string[];
  gives: string[];
  seconds: Number;
  changed: boolean;
  replay: Position;
  replay_pass: Position;
  rewrites: RewriteRow[];
  left_out: Position;
}

/** The checks of passes, rewrites and stages */
export interface Checks {
  passes: (Mark | null)[];
  steps: ((Mark | null)[])[];
  stages: Record<string, Mark>;
}

/** The reasons of decisions */
export interface DecisionTables {
  decisions: DecisionRow[];
  plain: PlainRow[];
}

/** Something that the program could do better */
export interface FindingRow {
  rule: string;
  words: string;
  instead: string;
  brings: string;
  subject: string;
  stage: string;
  view: string;
  numbers: Numbers;
  place: string;
  text: string;
  line: string;
}

/** The findings, by the time that a change would save, and the list of all checks */
export interface Findings {
  rows: FindingRow[];
  looked_for: string[];
}

/** Pass, choice, reason, what was looked at */
export type ChoiceRow = [string, string, string, Numbers];

/** Pass, reason, what was looked at */
export type RefusedRow = [string, string, Numbers];

/** The name of a kernel */
export interface Titled {
  title?: string;
  short?: string;
}

/** The transformations of a kernel's loops, LLVM's changes, and their reasons */
export interface KernelRow extends Titled {
  name: string;
  e: Perhaps;
  choices: ChoiceRow[];
  refused: RefusedRow[];
  text: string;
  level: string;
  because: string;
  numbers: Numbers;
  tasks: Position;
  scratch: Position;
}

/** The use of a buffer by an operation */
export type Use = "" | "in" | "out" | "in out";

/** From item, to item, kind, buffers, bytes, true if critical */
export type DependencyRow = [Position, Position, string, Position[], Position, boolean];

/** Buffer, first and last item */
export type Life = [Position, Perhaps, Perhaps];

/** A buffer */
export interface BufferRow {
  e: Position;
  name: string;
  dtype: string;
  shape: string;
  bytes: Position;
  device: string;
  made: boolean;
}

/** An item of the schedule; times are nanoseconds from the start of the program */
export interface ItemRow extends Titled {
  e: Position;
  op: string;
  name: string;
  lane: Position;
  args: [Position, Use][];
  fixed: [string, number][];
  facts: [string, string][];
  flops: Position;
  read: Position;
  written: Position;
  ns: number;
  bound: string;
  cost: number;
  start: number;
  late: number;
  critical: boolean;
  tasks: Position;
}

/** The iterations of one call that a loop repeats */
export interface LoopItems {
  label: string;
  items: Position[];
}

/** Node, and its weights within its items: of the time, the operations, the bytes read, written */
export type ShareRow = [Position, Position, Position, Position, Position];

/**
 * The nodes that do the work of items which run one call: a node's part of a cost is the item's,
 * times the node's weight, divided by the sum of the weights
 */
export interface SharedWork {
  items: Position[];
  nodes: ShareRow[];
}

/** The bytes of a memory plan */
export interface PlanSizes {
  unshared: Position;
  arena: Position;
  kept: Position;
  live: Position;
  peak: Position;
}

/** The place of a buffer in the memory plan; first and last are levels of the plan */
export interface PlaceRow {
  buffer: Position;
  offset: Position | null;
  size: Position;
  first: Position;
  last: Position;
  reason: string;
  numbers: Numbers;
  writer: Perhaps;
  after: Position[];
}

/** A memory plan */
export interface Plan extends PlanSizes {
  levels: Position;
  left_out: Position;
  places: PlaceRow[];
}

/** Bytes alive per item, and the planner's places */
export interface Memory {
  alive: Position[];
  inputs: Position;
  peak: Perhaps;
  lives: Life[];
  plan: Plan | null;
}

export interface _Ends {
  from: Position;
  to: Position;
}

/** Two items that could be one kernel, or are */
export interface FusionRow extends _Ends {
  e: Position;
  type: string;
  score: number;
  change: number;
  saved: Position;
  taken: boolean;
  value: string;
  reason: string;
  numbers: Numbers;
  times: Position;
}

/** Everything the timeline, the memory map and the table of fusions show */
export interface ScheduleRows {
  lanes: string[];
  items: ItemRow[];
  path: Position[];
  dependencies: DependencyRow[];
  loops: LoopItems[];
  shares: SharedWork[];
  memory: Memory;
  fusions: FusionRow[];
  buffers: BufferRow[];
  moved: string[];
  cores?: Position;
}

/** The time of one item, in nanoseconds */
export interface Time {
  ns: Number;
  low: Number;
  high: Number;
  rounds: Position;
  start: Number;
  late: Number;
  cost: Number;
  critical: boolean;
  bound: string;
}

/**
 * Lane, kind (kernel, move, compile, transfer, send, submit, gather), begin, end, item, name,
 * bytes, the lane that they came from, the bars that had to end before, words
 */
export type LaneBar = [Position, string, Position, Position, Perhaps, string, Position, Perhaps, Position[], string];

/** Lane, begin, end, the bar after it, the bar that was waited for, when that was there, words */
export type LaneWait = [Position, Position, Position, Position, Perhaps, Position, string];

/** The work of a cluster's workers in one run, in nanoseconds since its start on one clock */
export interface Lanes {
  run: string;
  ns: Position;
  lanes: [string, string, Position][];
  bars: LaneBar[];
  unsent: Position;
  waits: LaneWait[];
  path: Position[];
  error: Position;
  moved: Position;
  sent: Position;
  fetched: Position;
  again: Position[];
  lost: string[];
  dashboard: string;
}

/** The time of one run, in nanoseconds */
export interface Measurement {
  items: (Time | null)[];
  path: Position[];
  whole: Number | null;
  call: Number;
  rounds: Position;
  machine: string;
  notes: string[];
  results: Value[];
  seconds: Number;
  findings?: Findings;
  lanes?: Lanes;
}

/** One pass of LLVM that changed something */
export interface LlvmChange {
  name: string;
  title: string;
  on: string;
  kind: string;
  purpose: string;
  edits: [Position, Position, SourceLine[]][];
}

/** LLVM's passes on one kernel */
export interface LlvmPasses {
  kernel: string;
  number: number;
  level: string;
  because: string;
  start: SourceLine[];
  changes: LlvmChange[];
  remarks: [string, string, number, string, boolean | null][];
  unseen: Position;
  seconds: Number;
}

/** The assembly of one kernel */
export interface AssemblyUnit {
  name: string;
  number: number;
  lines: SourceLine[];
  flow: Flow | null;
  figures?: string[];
  inner?: Perhaps;
}

/** The assembly of every kernel for another machine */
export interface Assembly {
  machine: string;
  units: AssemblyUnit[];
  seconds: Number;
}

/** The costs of the instructions in one kernel's loops, by LLVM's scheduling model */
export interface Latencies {
  kernel: string;
  number: number;
  processor: string;
  cycles: Perhaps[];
}

/**
 * The share of a line of the program, its place, its text, its entity; these are empty for what no
 * line was found for
 */
export type HotLine = [Number, string, string, string];

/** The shares of one kernel's time */
export interface Hot {
  kernel: string;
  number: number;
  measured: boolean;
  how: string;
  rows: Number[];
  blocks: Number[];
  runs: Position[];
  lines: HotLine[];
}

/** The names that the rule of a rewrite bound, and the nanoseconds of one run of it */
export interface Matches {
  bindings: [string, string][];
  ns: Position;
}

/** An error on the way to the next revision */
export interface Problem {
  words: string;
  place: string;
  text: string;
}

export type Answer = LlvmPasses | Assembly | Latencies | Hot | Measurement | Matches | Problem;

/** Answers that exports have, by question: the name of the request and its arguments */
export type Recorded = Record<string, Answer>;

/** Name, extent, role */
export type LoopRow = [string, Position, string];

/** Number, parent, change, seconds, why refused, choices */
export type TrialRow = [Position, Perhaps, string, number | null, string, string];

/** Seconds of one run */
export interface Taken {
  seconds: number;
  low: number;
  high: number;
  usual: number;
  samples: Position;
}

/** The findings of accesses in the simulated caches */
export interface Cache {
  accesses: Position;
  total: Position | null;
  lines: Position;
  tasks: Position;
  streamed: Position;
  fetches: Position;
  fetched: Position[];
  levels: [string, Position, Position, Position, Position][];
  memories: [string, string, Position, Position, Position[]][];
}

/** A kernel at three stages, line by line */
export interface Texts {
  loops: string[];
  lowered: string[];
  asm: string[];
}

/** A trace of a kernel's memory accesses: the cells touched in each interval */
export interface AccessTrace {
  memories: [string, string, Position, Position, Position, Position][];
  sites: [number, Position, Position, 0 | 1][];
  steps: number[];
  intervals: [Position, Position, number[][], number[][]][];
  accesses: Position;
  total: Position | null;
}

/** Choices that were tried */
export interface TriedPoint {
  number: Position;
  text: string;
  label: string;
  rows: string[];
  refused: string;
  unmeasured: string;
  unseen: string;
  flops: number;
  time: Taken | null;
  cache: Cache | null;
  texts: Texts | null;
  trace: AccessTrace | null;
}

/** The choices there are for a kernel in the playground */
export interface KernelSpace {
  name: string;
  own: string;
  axes: LoopRow[];
  lanes: Position;
  cores: Position;
  loaded: Position[];
  stored: Position[];
  labels: Record<string, string>;
}

/** A kernel's playground */
export interface TriedKernel extends KernelSpace {
  obstacle: string;
  points: TriedPoint[];
}

/** The limits of the machine */
export interface Roofs {
  name: string;
  threads: Position;
  peak: number;
  alone: number;
  levels: [string, number][];
}

/** The trials of a search over loop choices */
export interface Tuning {
  words: string;
  best: Position;
  trials: TrialRow[];
}

/** The kernels and points that were tried */
export interface Playground {
  kernels: Record<string, TriedKernel>;
  roofs: Record<string, Roofs>;
  tunings: Record<string, Tuning>;
}

/** The part that a stage must have for a view */
export type Needs = "" | "scene" | "text" | "schedule";

/** A row of the legend of nodes: kind, outline, words, glyph */
export type KindRow = [string, string, string, string];

/** A row of the legend of edges: kind, dashes, words */
export type EdgeKind = [string, string, string];

/** Id, label, stages it is offered in (none: all), what a stage must have */
export type View = [string, string, string[], Needs];

/** Id, title and note of a machine whose assembly can be asked for */
export type Machine = [string, string, string];

/**
 * The second part of the data of a large program in a notebook: the stages that the first part
 * marks "later", and rows to append to its tables
 */
export interface Later {
  stages: Stage[];
  entities: string[];
  parents: Position[][];
  values: Record<string, Value>;
  unseen: Unseen[];
  operations: Record<string, string>;
  notes: string[];
  codes?: ModuleCode[];
}

/** One compilation */
export interface Wire {
  format: "svodviz";
  version: 7;
  name: string;
  stages: Stage[];
  scopes: ScopeRow[];
  replays: Replay[];
  passes: Pass[];
  rules: Rule[];
  rulebook: RuleSet[];
  checks: Checks | null;
  findings: Findings | null;
  decisions: DecisionRow[];
  plain: PlainRow[];
  values: Record<string, Value>;
  unseen: Unseen[];
  legend: KindRow[];
  edges: EdgeKind[];
  kernels: KernelRow[];
  operations: Record<string, string>;
  schedule: ScheduleRows | null;
  views: View[];
  machines: Machine[];
  host?: string;
  playground: Playground;
  notes: string[];
  entities: string[];
  parents: Position[][];
  recorded?: Recorded;
  modules?: Modules;
  codes?: ModuleCode[];
}

/** The same, different, only in a, only in b */
export type Sign = "=" | "~" | "−" | "+";

export type FigureUnit = "" | "bytes" | "ns";

/** Name, unit, numbers of a and b, their words, the change */
export type FigureRow = [string, FigureUnit, Number | null, Number | null, string, string, string];

/** Stage, kernel, name, what it did in a, in b, sign, rules */
export type PassPairRow = [string, string, string, string, string, Sign, string];

export type DiffTag = "equal" | "replace" | "delete" | "insert";

/** A block of a line diff: tag, start and end in a, start and end in b */
export type DiffBlock = [DiffTag, Position, Position, Position, Position];

/** A kernel of both, or of one alone */
export interface KernelPairRow {
  a: string | null;
  b: string | null;
  mark: Sign;
  shared: Number;
  figures: FigureRow[];
}

/** A part of a stage in both */
export interface UnitPairRow {
  name: string;
  a: Perhaps;
  b: Perhaps;
  same: boolean;
  blocks: DiffBlock[];
  partners: [Position, Position, 0 | 1][];
  only: [Position[], Position[]];
}

/** Two compilations side by side; "a" is the first, "b" the second */
export interface ComparisonWire {
  format: "svodviz-comparison";
  version: 1;
  names: [string, string];
  a: Wire;
  b: Wire;
  same: boolean;
  figures: FigureRow[];
  passes: PassPairRow[];
  kernels: KernelPairRow[];
  stages: Record<string, UnitPairRow[]>;
  missing: Record<string, string>;
}

/** A question with its answer */
export interface QuestionRow {
  id: string;
  kind: string;
  title: string;
  language: string;
  level: Position;
  prompt: string;
  lines: string[];
  choices: [string, string][];
  answer: Position;
  why: string[];
  entity: string;
}

/** Questions about a compilation */
export interface QuizWire {
  format: "svodviz-quiz";
  version: 2;
  name: string;
  questions: QuestionRow[];
  explorer: string;
}

/** The outcome of one question */
export interface ResultRow {
  student: string;
  quiz: string;
  id: string;
  kind: string;
  level: Position;
  question: string;
  given: string;
  answer: string;
  right: boolean;
  attempts: Position;
  seconds: number;
}

/** The results of a quiz as it saves them */
export interface QuizResults {
  format: "svodviz-quiz-results";
  version: 1;
  rows: ResultRow[];
}

/** The data of a page: an explorer, a comparison or a quiz */
export type Page = Wire | ComparisonWire | QuizWire;

/** A line that is added, changed, or followed by removed lines */
export type LineChange = [Position, "+" | "~" | "−"];

/** The entity of a node that is added or changed */
export type NodeChange = [Position, "added" | "changed"];

/** A part of a stage compared with the previous revision */
export interface UnitChanges {
  unit: Position;
  lines: LineChange[];
  nodes: NodeChange[];
}

/** A stage compared with the previous revision */
export interface StageChanges {
  count: Position;
  units: UnitChanges[];
}

/** By stage; those that arrive later are missing until then */
export type Changes = Record<string, StageChanges>;

/** A file of the stage "source": a cell of the notebook, or why it cannot be edited */
export interface CellRow {
  name: string;
  first: Position;
  lines: Position;
  text: string;
  why: string;
}

/** The revision that a live explorer shows, and how it follows its notebook */
export interface LiveRow {
  first: Position;
  count: Position;
  current: Position;
  words: string;
  names: string[];
  cells: CellRow[];
  cell: Perhaps;
  problem: Problem | null;
}

/** The estimated cost of an item of the schedule */
export interface StageCost {
  flops?: Number;
  bytes?: Number;
  est_ns?: Number;
  measured_ns?: Number;
}

/** A node of a stage */
export interface StageNode {
  entity: string;
  op: string;
  kind: string;
  parents: string[];
  argument?: string;
  dtype?: string;
  shape?: string;
  name?: string;
  group?: string;
  text?: string;
  device?: string;
  devices?: string[];
  cost?: StageCost;
  critical?: boolean;
  slack?: Number;
  start?: Number;
  finish?: Number;
}

/** An edge of a stage */
export interface StageEdge {
  source: string;
  target: string;
  operand?: Perhaps;
  kind?: string;
  kinds?: string[];
  fusion?: string;
}

/**
 * One stage of a compilation as `svodviz export program.py -o stage.json` and `svodviz.save(x,
 * "stage.json")` write it
 */
export interface StageGraph {
  format: "svodviz-graph";
  version: 1;
  title: string;
  nodes: StageNode[];
  edges: StageEdge[];
  schedule?: ScheduleRows | null;
  entities?: string[];
  measured?: Measurement;
}

/** The state of an explorer; a missing field takes the program's default */
export interface State {
  stage: string;
  unit: number;
  view: string;
  pass: number;
  step: number;
  selected: string;
  path: string;
  columns: string[];
  shares: number[];
  panels: Record<string, boolean>;
  sizes: Record<string, number>;
  folding: string;
  open: string[];
  only: string[];
  filtered: boolean;
  across: boolean;
  overlay: string;
  critical: boolean;
  machine: string;
  level: number;
  llvm_pass: number;
}

/** The state of two compilations side by side */
export interface SidesState {
  tab?: string;
  stage?: string;
  unit?: number;
  selected?: string;
}

/**
 * The state of a quiz: the position of the question on screen; for each question the positions of
 * the choices that were tried, in order, with -1 at the end if the answer was requested; the
 * seconds until each was answered; and the name of the person who answers
 */
export interface QuizState {
  at: number;
  answers: number[][];
  seconds: number[];
  student: string;
}
