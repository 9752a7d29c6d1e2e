// A graph as it is drawn: parts that have a place, the picture made of them, and how it was asked
// for. The rows of the data keep what was made of them. Only the checker of types reads this file.

import type { Arrow, Box } from "../../kit/geometry.js";
import type { Graph, NodeRow } from "../wire.js";
import type { Group, Link, Part } from "./folding.js";

export interface PictureNode {
  node: number;
  row: NodeRow;
  x: number;
  y: number;
  box: Box;
  mark: string; // "", added, removed or changed
  members: NodeRow[]; // the rows it stands for
  hidden: number; // its neighbours that are not shown
  rewrites?: number; // how many rewrites changed a folded group
  group?: string; // the name of the group it is or stands in
}

export interface PictureEdge {
  from: PictureNode;
  to: PictureNode;
  operand: number;
  kind: string;
  arrow: Arrow;
  mark: string;
  count: number; // how many edges it stands for
  beside: number; // how many edges between the same two stand before it
  isLoose?: boolean; // whether places do not depend on it
}

export type Beside = { inputs: PictureEdge[]; users: PictureEdge[] };
export type Frame = [string, number, number, number, number]; // of a group: label, corner, size

/** The data that a picture is made from. */
export interface Drawn {
  key: string; // names scene and layout: pictures of one key hold still
  nodes: PictureNode[];
  edges: PictureEdge[];
  groups: Frame[];
  all: number; // how many nodes the program has here, drawn or not
  engine: string;
  seconds: number;
  across?: boolean; // whether producers stand to the left of their users
  cut?: string; // says where there is more than a page lays out at once
}

export interface Picture extends Drawn {
  box: Box;
  byEntity: Map<number, PictureNode>; // the node in which each entity is seen
  neighbours: Map<PictureNode, Beside>;
}

/** The nodes and edges of a scene that are drawn, and as what. */
export interface Shown {
  nodes: Iterable<number>;
  edges: Iterable<number>;
  row: (node: number) => NodeRow;
  mark: (node: number) => string;
  edgeMark: (edge: number) => string;
}

/** The drawing of a scene. */
export interface Look {
  by?: string; // the way of folding
  keys?: string[]; // the key of each node's group
  groups?: Group[]; // in the place of keys: groups that are known, in each other
  words?: (group: Group, rows: NodeRow[]) => {
    title: string; detail: string; kind: string; isCall: boolean;
  };
  open?: string[]; // names of groups that are open
  only?: Set<number> | null; // nodes whose neighbours are all shown
  across?: boolean; // from left to right
  room?: number; // columns that a folded group has room for at least
  name?: (key: string) => string; // what a key is called
}

export type PlacedLink = Link & { isLoose: boolean; arrow: Arrow }; // loose: see splitShared

export interface Laid {
  groups: Group[];
  parts: Part[];
  partOf: Int32Array; // the part of each node, -1 for what is not drawn
  rows: NodeRow[]; // of each part
  boxes: Box[]; // of each part
  links: PlacedLink[];
  frames: Frame[]; // of open groups
  shown: Set<number> | null; // the nodes that are drawn at all; null for every one
  seconds: number;
  cut: string;
}

export type KeptParts = Laid & { linkOf: Int32Array }; // the link of each edge, -1 for none

/** All that a replay shows in one layout, under numbers of its own. */
export interface ReplayScene extends Graph {
  nodeAt: Map<number, number>; // of the replay's nodes
  edgeAt: Map<number, number>; // of the replay's edges
  numbers: number[]; // each edge's in the replay
  laid?: Map<string, KeptParts>;
}

declare module "../wire.js" {
  interface Graph {
    keys?: Map<string, string[]>;
    scoped?: Map<string, Group[]>;
    constants?: boolean[];
    foldings?: [string, string][];
    suits?: string;
  }

  interface Scene {
    picture?: Picture;
    pictures?: Map<string, Picture>;
    marks?: Map<number, string>;
    work?: Map<number, Map<number, [number, number, number, number]>>; // see shares.js
  }

  interface Replay {
    scenes?: Map<number, ReplayScene>;
    placed?: Set<number>; // layouts that the page has looked at
    last?: { kept: string; picture: Picture };
  }
}
