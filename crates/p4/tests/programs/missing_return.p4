// A function that promises a value returns one on every path.
// expect-error: at line 3
bit<8> f(in bit<8> x) {
    if (x > 2) {
        return 1;
    }
}
