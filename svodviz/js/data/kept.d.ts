// Fields that the model keeps with rows of its data: no part of the data themselves.

import type { Arrow } from "../kit/geometry.js";
import type { Point } from "./wire.js";

declare module "./wire.js" {
  interface NodeRow {
    fold?: string; // the name of the folded group that it stands for
    holds?: number[]; // the entities of a stretch
  }

  interface Layout {
    byNode?: Map<number, Point>;
    byEdge?: Map<number, string>;
  }

  interface Scene {
    arrows: Map<string, Arrow>;
  }
}
