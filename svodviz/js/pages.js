// Pages other than the explorer of one compilation, by the format of their data.

import { renderComparison } from "./compare.js";
import { renderQuiz } from "./quiz.js";

export const PAGES = {
  "svodviz-comparison": renderComparison,
  "svodviz-quiz": renderQuiz,
};
