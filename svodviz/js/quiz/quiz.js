// Predict, then reveal: one question at a time, graded here; the answers are saved and shared.

import { button, h } from "../kit/dom.js";
import { activeIn, keepKeys } from "../kit/focus.js";
import { followTheme } from "../kit/theme.js";
import { tokens } from "../kit/tokens.js";
import { csvOf, GIVEN_UP, jsonOf, rowsOf, save, triedOf } from "./results.js";

const NOTHING = -1;
const LETTERS = "abcdefgh";
const LEVELS = 3;
const MOST_SECONDS = 3600; // who leaves a question open overnight has not thought about it so long
const LONGEST_NAME = 80; // of a file
let pages = 0; // names of radio buttons must differ between quizzes of one page

class QuizPage {
  constructor(model, fullPage) {
    this.model = model;
    this.wire = model.get("wire");
    this.group = `svodviz-quiz-${++pages}`;
    this.chosen = NOTHING;
    this.since = performance.now();
    this.progress = h("div", { class: "quiz-progress", role: "status" });
    this.dots = h("nav", { class: "quiz-dots", "aria-label": "Questions" });
    this.sheet = h("div", { class: "quiz-sheet" });
    this.tools = h("div", { class: "tools" }, h("h3", {}, `Quiz: ${this.wire.name}`),
      h("span", { class: "spacer" }), this.progress);
    this.root = h("div", {
      class: fullPage ? "svodviz quiz full-page" : "svodviz quiz", tabindex: "-1",
      onkeydown: (event) => this.key(event),
    }, this.tools, this.dots, this.sheet, this.saving());
    keepKeys(this.root);
  }

  get state() {
    const { at = 0, answers = [], seconds = [], student = "" } = this.model.get("state") || {};
    const { questions } = this.wire;
    const known = (tried, place) => (Array.isArray(tried) ? tried : []).filter(
      (it) => it === GIVEN_UP || questions[place].choices[it]);
    return {
      at: questions[at] ? at : 0,
      answers: questions.map((_, place) => known(answers[place], place)),
      seconds: questions.map((_, place) => Number(seconds[place]) || 0),
      student: String(student),
    };
  }

  set(patch) {
    this.model.set("state", { ...this.state, ...patch });
    this.model.save_changes();
    this.show();
  }

  /** The seconds of every question, with those that the one on screen took until now. */
  timed() {
    const { at, answers, seconds } = this.state;
    const passed = (performance.now() - this.since) / 1000;
    this.since = performance.now();
    if (!isOver(answers[at], this.wire.questions[at])) {
      seconds[at] = Math.min(MOST_SECONDS, Math.round((seconds[at] + passed) * 10) / 10);
    }
    return seconds;
  }

  go(at) {
    const seconds = this.timed();
    this.chosen = NOTHING;
    this.set({ at, seconds });
    this.sheet.scrollTop = 0;
  }

  show() {
    const { at, answers, student } = this.state;
    const { questions } = this.wire;
    const given = answers.filter((it) => it.length > 0).length;
    const right = answers.filter((it, place) => it[0] === questions[place].answer).length;
    this.progress.textContent = `${right} of ${given} right, ${questions.length - given} to go`;
    this.dots.replaceChildren(...questions.map((question, place) => {
      const sign = signOf(answers[place], question);
      const words = { "✓": "right", "✗": "wrong", "·": "open" }[sign];
      return button(`${place + 1} ${sign}`, () => this.go(place), {
        "aria-current": place === at ? "step" : null, "data-sign": sign,
        "aria-label": `Question ${place + 1}, ${words}`, title: question.title,
      });
    }));
    if (activeIn(this.root) !== this.student) this.student.value = student;
    this.sheet.replaceChildren(...this.question(questions[at], answers[at], at));
  }

  question(question, answers, at) {
    const over = isOver(answers, question);
    this.checking = button("Check", () => this.check(), {
      class: "quiz-check", disabled: this.chosen === NOTHING });
    const reveal = button("Show the answer", () => this.attempt(GIVEN_UP));
    const next = button("Next question", () => this.go(at + 1));
    this.reply = h("div", { class: "quiz-reply", role: "status", tabindex: "-1" },
      ...verdict(question, answers, over), over && place(question, this.wire.explorer));
    return [
      h("h4", {}, question.title, " ", h("span", { class: "quiz-level" },
        `level ${question.level} of ${LEVELS}`)),
      h("p", { class: "quiz-prompt" }, question.prompt),
      question.lines.length > 0 && h("pre", { class: "quiz-lines", tabindex: "0" },
        ...question.lines.map((line) => codeLine(line, question.language))),
      h("fieldset", { disabled: over }, h("legend", {}, over ? "The answers"
        : `Your answer: keys 1 to ${question.choices.length}, then Enter`),
      ...question.choices.map(([text], position) =>
        this.choice(question, position, text, answers, over))),
      h("div", { class: "quiz-buttons" }, !over && this.checking,
        !over && answers.length > 0 && reveal, over && at + 1 < this.wire.questions.length && next),
      this.reply,
    ].filter(Boolean);
  }

  choice(question, position, text, answers, over) {
    const tried = answers.includes(position);
    const isRight = over && position === question.answer;
    const sign = isRight ? "✓" : tried ? "✗" : "";
    const words = isRight ? "✓ right" : "✗ not this";
    const radio = h("input", {
      type: "radio", name: this.group, value: position, disabled: tried || over,
      checked: position === (over ? question.answer : this.chosen),
      onchange: () => this.choose(position),
    });
    return h("label", { class: "quiz-choice", "data-sign": sign }, radio,
      h("span", { class: "quiz-letter" }, `${LETTERS[position]}`), h("span", {}, text),
      sign && h("span", { class: "quiz-sign" }, words));
  }

  choose(position) {
    this.chosen = position;
    this.checking.disabled = false;
  }

  /** 1 to 4 choose, Enter checks. The notebook must not take keys for commands. */
  key(event) {
    event.stopPropagation();
    const target = event.composedPath()[0];
    const isPlain = !event.ctrlKey && !event.altKey && !event.metaKey;
    if (!isPlain || target === this.student) return;
    const radio = /^[1-9]$/.test(event.key)
      && this.sheet.querySelector(`input[value="${Number(event.key) - 1}"]:enabled`);
    if (radio) {
      radio.focus();
      radio.checked = true;
      this.choose(Number(radio.value));
    } else if (event.key === "Enter" && target.type === "radio") this.check();
  }

  check() {
    if (this.chosen !== NOTHING) this.attempt(this.chosen);
  }

  /** One more choice that was tried, or the answer asked for. */
  attempt(position) {
    const { at, answers } = this.state;
    if (isOver(answers[at], this.wire.questions[at])) return;
    const seconds = this.timed();
    answers[at] = [...answers[at], position];
    this.chosen = NOTHING;
    this.set({ answers, seconds });
    this.reply.focus();
  }

  /** The name of the person who answers, and the results as files. */
  saving() {
    this.student = h("input", {
      type: "text", maxlength: 200, autocomplete: "name", size: 18,
      onchange: () => this.set({ student: this.student.value }),
    });
    const write = (ending, textOf, type) => button(ending.toUpperCase(), () => {
      const rows = rowsOf(this.wire, { ...this.state, seconds: this.timed() });
      save(`${fileName(this.wire.name, this.state.student)}.${ending}`, textOf(rows), type);
    }, { "aria-label": `Save the results as ${ending.toUpperCase()}` });
    return h("div", { class: "quiz-saving" }, h("label", {}, "Name (optional)", this.student),
      h("span", { class: "spacer" }), "Save the results as",
      write("csv", csvOf, "text/csv"), write("json", jsonOf, "application/json"));
  }
}

/** @param {string[]} words that a file may be called */
function fileName(...words) {
  return ["quiz", ...words].flatMap((it) => it.match(/[\p{L}\p{N}]+/gu) ?? []).join("-")
    .slice(0, LONGEST_NAME);
}

function codeLine(line, language) {
  const isTarget = line.startsWith("→");
  return h("code", { class: isTarget ? "target" : null },
    ...tokens(line, language).map(([text, kind]) =>
      (kind ? h("span", { class: `t-${kind}` }, text) : text)),
    "\n");
}

/** True if no answer is left to try. */
function isOver(answers, question) {
  return answers.includes(question.answer) || answers.includes(GIVEN_UP);
}

function signOf(answers, question) {
  if (answers.length === 0) return "·";
  return answers[0] === question.answer ? "✓" : "✗";
}

/** The words on the last answer; the right one, and why, once there is nothing left to try. */
function verdict(question, answers, over) {
  const tried = triedOf(answers);
  const last = tried.at(-1);
  const isRight = last === question.answer;
  const [text, reply] = question.choices[question.answer];
  const [mine, why] = question.choices[last] ?? ["", ""];
  return [
    tried.length > 0 && !isRight
      && h("p", { class: "quiz-verdict wrong" }, h("strong", {}, `✗ ${mine}: `), why),
    isRight && h("p", { class: "quiz-verdict right" }, h("strong", {}, "✓ Right: "), reply),
    over && !isRight
      && h("p", { class: "quiz-verdict right" }, h("strong", {}, `✓ ${text}: `), reply),
    over && question.why.length > 0 && h("ul", {}, ...question.why.map((it) => h("li", {}, it))),
  ];
}

/** The place that shows the answer: a link to a page, or a line for a notebook. */
function place({ entity }, explorer) {
  if (!entity) return null;
  const [stage] = entity.split(":");
  const state = new URLSearchParams({ stage, selected: entity });
  const address = explorer ? new URL(`${explorer}#${state}`, document.baseURI) : null;
  if (address && /^(https?|file):$/.test(address.protocol)) {
    return h("p", {}, h("a", { href: address.href, target: "_blank", rel: "noopener" },
      "Show it in the explorer"));
  }
  return h("p", { class: "quiz-place" }, "In the explorer: ",
    h("code", {}, `explore(y, stage="${stage}", selected="${entity}")`));
}

/** The page of a quiz, for the widget and for exports. */
export function renderQuiz({ model, el, fullPage = false }) {
  const page = new QuizPage(model, fullPage);
  el.append(page.root);
  const stopTheme = followTheme(page.root, fullPage ? page.tools : null, () => {});
  const adopt = () => page.show();
  page.show();
  model.on("change:state", adopt);
  requestAnimationFrame(() => requestAnimationFrame(() => { page.root.dataset.ready = "true"; }));
  return () => {
    stopTheme();
    model.off("change:state", adopt);
    page.root.remove();
  };
}
