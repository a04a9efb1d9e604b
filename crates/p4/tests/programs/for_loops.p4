// The three-clause loop: several clauses, break, continue, the update after continue, no iteration.
// expect: ok
// input: n=10
// output: sum=45 odd=25 found=4 none=0 two=30
// input: n=0
// output: sum=0 odd=0 found=0 none=0 two=0
struct S { bit<8> n; bit<16> sum; bit<16> odd; bit<8> found; bit<8> none; bit<16> two; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        for (bit<8> i = 0; i < s.n; i = i + 1) {
            s.sum = s.sum + (bit<16>)i;
        }
        for (bit<8> i = 0; i < s.n; i = i + 1) {
            if (i[0:0] == 0) { continue; }
            s.odd = s.odd + (bit<16>)i;
        }
        for (bit<8> i = 0; i < s.n; i = i + 1) {
            if (i == 4) { s.found = i; break; }
        }
        for (bit<8> i = 5; i < 5; i = i + 1) {
            s.none = 1;
        }
        for (bit<8> i = 0, bit<8> j = 0; i < s.n && j < 10; i = i + 1, j = j + 2) {
            for (bit<8> k = 0; k < 3; k = k + 1) {
                s.two = s.two + 2;
            }
        }
    }
}
Main(C()) main;
