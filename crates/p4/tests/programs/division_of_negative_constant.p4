// Division is defined for compile-time values that are not negative.
// expect-error: at line 3
const int X = -7 / 2;
