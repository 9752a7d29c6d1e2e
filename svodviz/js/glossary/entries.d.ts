/** A word: the sentence that says what it means, and an example. */
export interface Entry {
  word: string;
  sentence: string;
  example: string;
}

/** Words of one form: a pattern, the sentence made of its groups, and an example. */
export type Pattern = [RegExp, (...groups: string[]) => string, string];

/** Words one by one: the word, its sentence, an example. */
export type Row = [string, string, string];
