// `in` is read only.
// expect-error: x at line 4
bit<8> f(in bit<8> x) {
    x = 1;
    return x;
}
