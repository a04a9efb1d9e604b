// return leaves a function out of the middle of two loops, exit leaves the control.
// expect: ok
// input: find=5 stop=100
// output: where=12 turns=3 after=1
// input: find=77 stop=100
// output: where=255 turns=3 after=1
// input: find=5 stop=1
// output: where=12 turns=1 after=0
struct S { bit<8> find; bit<8> stop; bit<8> where; bit<8> turns; bit<8> after; }
control Test(inout S s);
package Main(Test t);
bit<8> search(in bit<8> find) {
    for (bit<8> i in 0 .. 3) {
        for (bit<8> j in 0 .. 3) {
            if (i * 3 + j == find) {
                return i * 10 + j;
            }
        }
    }
    return 255;
}
control C(inout S s) {
    apply {
        s.where = search(s.find);
        for (bit<8> i = 0; i < 3; i = i + 1) {
            if (i == s.stop) {
                exit;
            }
            s.turns = s.turns + 1;
        }
        s.after = 1;
    }
}
Main(C()) main;
