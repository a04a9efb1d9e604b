// Bitwise operators need a width.
// expect-error: at line 3
const int X = 5 & 3;
