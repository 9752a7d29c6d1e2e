// Predict, then reveal: one question at a time, graded here; the answers are saved and shared.

import { button, h } from "../kit/dom.js";
import { keepKeys } from "../kit/focus.js";
import { followTheme } from "../kit/theme.js";
import { tokens } from "../kit/tokens.js";

const NOT_YET = -1;
const LETTERS = "abcdefgh";
const TITLES = {
  rule: "Which rule fires?", kernels: "How many kernels?", critical: "Which item is critical?",
  vectorizes: "Which loop becomes lanes?",
};
const LANGUAGES = { rule: "graph", kernels: "graph", critical: "words", vectorizes: "loops" };
let pages = 0; // names of radio buttons must differ between quizzes of one page

class QuizPage {
  constructor(model, fullPage) {
    this.model = model;
    this.wire = model.get("wire");
    this.group = `svodviz-quiz-${++pages}`;
    this.chosen = NOT_YET;
    this.progress = h("div", { class: "quiz-progress", role: "status" });
    this.dots = h("nav", { class: "quiz-dots", "aria-label": "Questions" });
    this.sheet = h("div", { class: "quiz-sheet" });
    this.tools = h("div", { class: "tools" }, h("h3", {}, `Quiz: ${this.wire.name}`),
      h("span", { class: "spacer" }), this.progress);
    this.root = h("div", {
      class: fullPage ? "svodviz quiz full-page" : "svodviz quiz", tabindex: "-1",
      // The notebook must not take keys for commands.
      onkeydown: (event) => event.stopPropagation(),
    }, this.tools, this.dots, this.sheet);
    keepKeys(this.root);
  }

  get state() {
    const { at = 0, answers = [] } = this.model.get("state") || {};
    const { questions } = this.wire;
    const known = (chosen, place) =>
      (questions[place].choices[chosen] ? chosen : NOT_YET);
    return {
      at: questions[at] ? at : 0,
      answers: questions.map((_, place) => known(answers[place], place)),
    };
  }

  set(patch) {
    this.model.set("state", { ...this.state, ...patch });
    this.model.save_changes();
    this.show();
  }

  go(at) {
    this.chosen = NOT_YET;
    this.set({ at });
  }

  show() {
    const { at, answers } = this.state;
    const { questions } = this.wire;
    const given = answers.filter((it) => it !== NOT_YET).length;
    const right = answers.filter((it, place) => it === questions[place].answer).length;
    this.progress.textContent = `${right} of ${given} right, ${questions.length - given} to go`;
    this.dots.replaceChildren(...questions.map((question, place) => {
      const sign = signOf(answers[place], question);
      const words = { "✓": "right", "✗": "wrong", "·": "open" }[sign];
      return button(`${place + 1} ${sign}`, () => this.go(place), {
        "aria-current": place === at ? "step" : null, "data-sign": sign,
        "aria-label": `Question ${place + 1}, ${words}`, title: TITLES[question.kind] || "",
      });
    }));
    this.sheet.replaceChildren(...this.question(questions[at], answers[at], at));
  }

  question(question, answer, at) {
    const isOpen = answer === NOT_YET;
    const check = button("Check", () => this.check(), {
      class: "quiz-check", disabled: this.chosen === NOT_YET });
    const next = button("Next question", () => this.go(at + 1));
    this.reply = h("div", { class: "quiz-reply", role: "status", tabindex: "-1" },
      ...(isOpen ? [] : verdict(question, answer)));
    return [
      h("h4", {}, TITLES[question.kind] || question.kind),
      h("p", { class: "quiz-prompt" }, question.prompt),
      question.lines.length > 0 && h("pre", { class: "quiz-lines", tabindex: "0" },
        ...question.lines.map((line) => codeLine(line, LANGUAGES[question.kind]))),
      h("fieldset", { disabled: !isOpen }, h("legend", {}, "Your answer"),
        ...question.choices.map(([text], place) =>
          this.choice(question, place, text, answer, check))),
      h("div", { class: "quiz-buttons" }, isOpen && check,
        !isOpen && at + 1 < this.wire.questions.length && next),
      this.reply,
    ].filter(Boolean);
  }

  choice(question, place, text, answer, check) {
    const isOpen = answer === NOT_YET;
    const sign = isOpen ? "" : place === question.answer ? "✓" : place === answer ? "✗" : "";
    const radio = h("input", {
      type: "radio", name: this.group, value: place,
      checked: place === (isOpen ? this.chosen : answer),
      onchange: () => {
        this.chosen = place;
        check.disabled = false;
      },
      onkeydown: (event) => { if (event.key === "Enter") this.check(); },
    });
    return h("label", { class: "quiz-choice", "data-sign": sign }, radio,
      h("span", { class: "quiz-letter" }, `${LETTERS[place]}`), h("span", {}, text),
      sign && h("span", { class: "quiz-sign" }, sign === "✓" ? "✓ right" : "✗ yours"));
  }

  check() {
    if (this.chosen === NOT_YET) return;
    const { at, answers } = this.state;
    if (answers[at] !== NOT_YET) return;
    answers[at] = this.chosen;
    this.chosen = NOT_YET;
    this.set({ answers });
    this.reply.focus();
  }
}

function codeLine(line, language) {
  const isTarget = line.startsWith("→");
  return h("code", { class: isTarget ? "target" : null },
    ...tokens(line, language).map(([text, kind]) =>
      (kind ? h("span", { class: `t-${kind}` }, text) : text)),
    "\n");
}

function signOf(answer, question) {
  if (answer === NOT_YET || answer === undefined) return "·";
  return answer === question.answer ? "✓" : "✗";
}

/** The words on an answer. */
function verdict(question, answer) {
  const [text, reply] = question.choices[question.answer];
  const isRight = answer === question.answer;
  const [mine, why] = question.choices[answer];
  return [
    isRight ? h("p", { class: "quiz-verdict right" }, h("strong", {}, "✓ Right: "), reply)
      : h("p", { class: "quiz-verdict wrong" }, h("strong", {}, `✗ ${mine}: `), why),
    !isRight && h("p", { class: "quiz-verdict right" }, h("strong", {}, `✓ ${text}: `), reply),
    question.why.length > 0 && h("ul", {}, ...question.why.map((it) => h("li", {}, it))),
  ].filter(Boolean);
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
