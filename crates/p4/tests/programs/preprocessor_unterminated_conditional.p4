// #if without #endif: the place is the #if.
// expect-error: at line 3
#if 1
const bit<8> x = 1;
