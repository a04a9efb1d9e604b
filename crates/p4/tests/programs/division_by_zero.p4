// A division by a zero that is known.
// expect-error: at line 3
const int X = 7 / (3 - 3);
