// The controls of the playground: a row for each choice, and the choices as text.

import { button, h } from "../../kit/dom.js";
import { keepFocus } from "../../kit/focus.js";
import * as choices from "./choices.js";

export class PlayControls {
  /** @param {(text: string, again?: boolean) => void} onTry gets the choices to try */
  constructor(onTry) {
    this.onTry = onTry;
    this.rows = [];
    this.list = h("ol", { class: "choice-rows" });
    this.kinds = h("select", { "aria-label": "Kind of choice" },
      ...choices.ADDABLE.map(([kind, words]) => h("option", { value: kind }, words)));
    this.text = h("textarea", {
      class: "choice-text", rows: 4, spellcheck: "false", "aria-label": "Choices as text",
      onkeydown: (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.tryText();
      },
    });
    this.axes = h("p", { class: "hint" });
    this.root = h(
      "section", { class: "play-controls", "aria-label": "Choices", tabindex: "0" },
      h("h3", {}, "Choices"), this.axes,
      h("div", { class: "play-buttons" },
        button("Compiler's own", () => this.take(this.kernel.own)),
        button("Plain", () => this.take("plain")),
        button("Measure again", () => this.onTry(choices.printChoices(this.rows), true))),
      this.list,
      h("div", { class: "play-buttons" }, this.kinds,
        button("Add", () => this.change(choices.added(this.rows, this.kinds.value, this.kernel)))),
      h("h4", {}, "As text"), this.text,
      h("div", { class: "play-buttons" }, button("Try", () => this.tryText())));
  }

  /** Another kernel, or another point: its choices are shown, not tried. */
  show(kernel, text) {
    this.kernel = kernel;
    this.rows = choices.parseChoices(text);
    this.draw();
  }

  /** True if the controls can be used: without a kernel (a process) they only show. */
  enable(isLive) {
    this.isLive = isLive;
    for (const field of this.root.querySelectorAll("button, select, input, textarea")) {
      field.disabled = !isLive;
    }
  }

  /** True if choices can only be read here: nothing can change them. */
  onlyShow(isRecorded) {
    this.isRecorded = isRecorded;
    this.root.classList.toggle("recorded", isRecorded);
  }

  take(text) {
    this.change(choices.parseChoices(text));
  }

  tryText() {
    this.take(this.text.value);
  }

  change(rows) {
    this.rows = rows;
    this.draw();
    this.onTry(choices.printChoices(rows));
  }

  draw() {
    const { axes } = this.kernel;
    this.axes.textContent = `Loops: ${axes.map(([name, extent, role]) =>
      `${name} in ${extent}${role === "reduction" ? " (summed)" : ""}`).join(", ")}. Lanes of a `
      + `vector: ${this.kernel.lanes}.`;
    keepFocus(this.list, () => {
      this.list.replaceChildren(...this.rows.map((row, position) => this.row(row, position)));
    });
    this.text.value = choices.printChoices(this.rows).replaceAll("; ", "\n");
    if (this.isLive === false) this.enable(false);
  }

  row(row, position) {
    const kinds = choices.KINDS[row.kind];
    const before = this.rows.slice(0, position);
    const fields = !kinds || this.isRecorded ? [row.values.join(" ")]
      : row.kind === "reorder" ? this.order(row, position)
        : kinds.map((kind, index) => this.field(kind, row, index, position, before));
    return h(
      "li", { class: "choice-row" },
      h("span", { class: "choice-kind" }, row.kind), h("span", { class: "choice-fields" }, fields),
      !this.isRecorded && button("×", () => this.change(choices.without(this.rows, position)), {
        class: "choice-remove", "aria-label": `Remove ${row.kind} ${row.values.join(" ")}`,
      }));
  }

  /** Changes one value of a row. */
  set(position, index, value) {
    const values = [...this.rows[position].values];
    values[index] = value;
    this.change(this.rows.map((row, at) => (at === position ? { ...row, values } : row)));
  }

  field(kind, row, index, position, before) {
    const value = row.values[index] ?? "";
    const label = `${kind} of ${row.kind} ${row.values[0] ?? ""}`;
    const set = (it) => this.set(position, index, it);
    const names = choices.namesAfter(this.kernel.axes, kind === "axis" ? before : this.rows);
    const others = choices.namesAfter(this.kernel.axes, this.rows);
    const isCut = row.kind === "tile";
    switch (kind) {
      case "axis": return choice(label, isCut ? names : others, value, set);
      case "at": return choice(label, ["", ...others], value, set, "the whole kernel");
      case "size": return this.size(row, value, before, label, set);
      case "tail": return choice(label, ["peel", "mask"], value || "peel", set);
      case "form": return choice(label, ["plain", "shifted"], value || "plain", set);
      case "tasks": return choice(label, [2, 3, 4, 8, 16], value, (it) => set(Number(it)));
      default: return this.argument(kind, value, label, set);
    }
  }

  argument(kind, value, label, set) {
    const slots = this.kernel[kind];
    const names = slots.map((slot) => {
      const name = slot ? `in${slot}` : "out";
      return this.kernel.labels[slot] ? `${name} (${this.kernel.labels[slot]})` : name;
    });
    return choice(label, slots, value, (it) => set(Number(it)), "", names);
  }

  /** A slider over useful sizes, with the number next to it. */
  size(row, value, before, label, set) {
    const loops = choices.loopsAfter(this.kernel.axes, before);
    const loop = loops.find(([name]) => name === row.values[0]);
    const isLanes = this.rows.some((it) =>
      it.kind === "vectorize" && it.values[0] === `${row.values[0]}.1`);
    const worth = choices.sizesBelow(loop?.[1] ?? 65).filter((it) => !isLanes || isPower(it));
    const sizes = [...new Set([...worth, value])].sort((a, b) => a - b);
    const number = h("input", {
      type: "number", class: "choice-number", min: 1, value, "aria-label": label,
      onchange: () => number.value > 0 && set(Math.round(Number(number.value))),
    });
    const slider = h("input", {
      type: "range", class: "slider", min: 0, max: sizes.length - 1, step: 1,
      value: sizes.indexOf(value), "aria-label": `${label}, slider`, "aria-valuetext": `${value}`,
      oninput: () => {
        number.value = sizes[slider.value];
        slider.setAttribute("aria-valuetext", number.value);
      },
      onchange: () => set(sizes[slider.value]),
    });
    return h("span", { class: "choice-size" }, slider, number);
  }

  /** The loops of an order, each with buttons that move it. */
  order(row, position) {
    const move = (index, by) => {
      const values = [...row.values];
      [values[index], values[index + by]] = [values[index + by], values[index]];
      this.change(this.rows.map((it, at) => (at === position ? { ...it, values } : it)));
    };
    return row.values.map((name, index) => h(
      "span", { class: "order-axis" },
      button("◂", () => move(index, -1), { disabled: index === 0,
        "aria-label": `Move ${name} outwards` }),
      h("span", {}, String(name)),
      button("▸", () => move(index, 1), { disabled: index === row.values.length - 1,
        "aria-label": `Move ${name} inwards` })));
  }
}

/** True if a number of lanes may be that of a vector. */
const isPower = (number) => number <= 64 && (number & (number - 1)) === 0;

/** A field of which one of several values is chosen; a value that is none of them is kept. */
function choice(label, values, value, onChange, empty = "", names = values) {
  const all = values.includes(value) ? values : [...values, value];
  const field = h(
    "select", { "aria-label": label, onchange: () => onChange(field.value) },
    ...all.map((it, index) => h("option", { value: it, selected: it === value },
      it === "" ? empty : String(names[index] ?? it))));
  return field;
}
