// Beside the assembly of hot loops what each instruction costs, by LLVM's scheduling model; it is
// asked for.

import { button, counted } from "../../kit/dom.js";

const ASK = "Instruction costs";
const MEANING = "cycles until its result can be used: by LLVM's scheduling model of";

export class Latencies {
  /** @param store @param onChange called when there is something else to show */
  constructor(store, onChange) {
    this.store = store;
    this.onChange = onChange;
    this.known = new Map();
    this.problem = "";
    this.button = button(ASK, () => this.ask(), {
      title: "Asks LLVM what each instruction in loops costs on this processor: an estimate",
    });
  }

  /** Shows the button where somebody answers; takes what was recorded. Gives the kernel's costs. */
  of(kernel) {
    this.kernel = kernel;
    const { requests } = this.store;
    const found = this.known.get(kernel) ?? requests.recorded("latencies", { kernel });
    if (found && !this.known.has(kernel)) this.known.set(kernel, found);
    this.button.hidden = Boolean(found) || !requests.isLive;
    return found && !found.problem ? found : null;
  }

  hide() {
    this.button.hidden = true;
  }

  ask() {
    const { kernel } = this;
    const { requests } = this.store;
    this.button.disabled = true;
    this.problem = "";
    const show = (words) => { this.button.textContent = words; };
    const keep = (answer) => { this.known.set(kernel, answer); };
    requests.ask("latencies", { kernel }, show)
      .then(keep, (error) => { this.problem = error.message; })
      .then(() => {
        this.button.disabled = false;
        this.button.textContent = ASK;
        this.onChange();
      });
  }

  /** What stands above the code: where the numbers are from, or why there are none. */
  words(kernel) {
    const found = this.known.get(kernel);
    const problem = found?.problem || this.problem;
    if (problem) return ` No instruction costs: ${problem}`;
    if (!found) return "";
    const count = found.cycles.filter((it) => it >= 0).length;
    return ` Costs, estimated: ${MEANING} ${found.processor}, for ${counted(count, "instruction")} `
      + "in loops; added up along a chain that waits, not over all.";
  }

  /** The cost of a line as the row of a pane has it. */
  aside(found, line) {
    const cycles = found?.cycles[line] ?? -1;
    if (cycles < 0) return null;
    return [`${cycles} cy`, `estimated: ${counted(cycles, "cycle")} `
      + `(${MEANING} ${found.processor})`];
  }
}
