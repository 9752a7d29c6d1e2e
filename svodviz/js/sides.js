// What the two sides of a comparison are called. Pure.

export const SIDES = ["a", "b"];
