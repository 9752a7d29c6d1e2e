// What the two sides of a comparison are called.

export const SIDES = ["a", "b"];
