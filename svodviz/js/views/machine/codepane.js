// Lines of text that are not printed stages: they lead to lines of the generated LLVM IR.

import { h } from "../../kit/dom.js";
import { tokens } from "../../kit/tokens.js";
import { TextPane } from "../text/textpane.js";

/**
 * Rows have `text`, `entity` and `number`; besides them a `sign` ("+", "−") for lines that differ,
 * an `aside` of words and what they mean, or null, which stands before the text, a `share`, which
 * is words, what they mean, and how much that is, or null, before it, or `node()`, which makes an
 * element to stand in place of a line.
 */
export class CodePane extends TextPane {
  constructor(store, { label }) {
    super(store);
    this.language = "words";
    this.label = label;
    this.id = label;
    this.root.classList.add("code-pane");
  }

  /** Shows other rows; `top` is the row to begin at, -1 for the first worth a look. */
  showRows(rows, { language = "words", top = 0 } = {}) {
    this.language = language;
    this.fill(rows, this.label);
    if (top >= 0) this.root.scrollTop = top * 19;
    this.draw();
    this.mark();
  }

  line(index) {
    const row = this.rows[index];
    const style = `top:${index * 19}px`;
    if (row.node) return h("div", { class: "aside-row", style, role: "listitem" }, row.node());
    const kind = { "+": "added", "−": "removed" }[row.sign] || "";
    return h(
      "div",
      {
        class: `line ${row.entity >= 0 ? "linked" : ""} ${kind}`, style, role: "listitem",
        "data-entity": row.entity, "data-index": index,
      },
      h("span", { class: "number" }, row.number ? String(row.number) : ""),
      row.share !== undefined && h("span", {
        class: "line-share", title: row.share?.[1] ?? null,
        style: row.share && `--share:${row.share[2]}`,
      }, row.share?.[0] ?? ""),
      row.aside !== undefined && h("span", { class: "line-cost", title: row.aside?.[1] ?? null },
        row.aside?.[0] ?? ""),
      row.sign !== undefined && h("span", { class: "sign" }, row.sign),
      h("code", {}, ...tokens(row.text, this.language).map(([text, style]) =>
        (style ? h("span", { class: `t-${style}` }, text) : text))),
    );
  }
}

/** The line of a kernel's generated LLVM IR as an entity; -1 where there is none. */
export function lineOfIr(model, kernel, line) {
  return line ? model.entity(`llvm:${kernel}:${line}`) : -1;
}
