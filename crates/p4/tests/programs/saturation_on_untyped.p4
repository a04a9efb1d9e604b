// Saturating operators need a width: there is no largest number without one.
// expect-error: `|+|` cannot join at line 3
const int X = 5 |+| 3;
