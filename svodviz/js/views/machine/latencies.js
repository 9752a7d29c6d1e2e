// Beside the assembly of hot loops what each instruction costs, by LLVM's scheduling model; it is
// asked for.

import { counted } from "../../kit/dom.js";
import { KernelQuestion } from "./kernelquestion.js";

const MEANING = "cycles until its result can be used: by LLVM's scheduling model of";
const QUESTION = {
  request: "latencies", label: "Instruction costs",
  title: "Asks LLVM what each instruction in loops costs on this processor: an estimate",
};

export class Latencies extends KernelQuestion {
  constructor(store, onChange) {
    super(store, QUESTION, onChange);
  }

  /** The line above the code: the source of the numbers, or why there are none. */
  words(kernel) {
    const problem = this.problemOf(kernel);
    if (problem) return ` No instruction costs: ${problem}`;
    const found = this.known.get(kernel);
    if (!found) return "";
    const count = found.cycles.filter((it) => it >= 0).length;
    return ` Costs, estimated: ${MEANING} ${found.processor}, for ${counted(count, "instruction")} `
      + "in loops; along a dependency chain they add up, independent ones overlap.";
  }

  /** The cost of a line as the row of a pane has it. */
  aside(found, line) {
    const cycles = found?.cycles[line] ?? -1;
    if (cycles < 0) return null;
    return [`${cycles} cy`, `estimated: ${counted(cycles, "cycle")} `
      + `(${MEANING} ${found.processor})`];
  }
}
