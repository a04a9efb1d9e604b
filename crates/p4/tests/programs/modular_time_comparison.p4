// Two instants on a clock of 32 bits: as unsigned numbers they compare wrongly once the clock has
// wrapped, the sign of their difference does not.
// expect: ok
// input: now=1000 then=900
// output: unsigned=true modular=true
// input: now=100 then=0xfffffff0
// output: unsigned=false modular=true
// input: now=0xfffffff0 then=100
// output: unsigned=true modular=false
// input: now=0x80000000 then=0
// output: unsigned=true modular=false
struct S { bit<32> now; bit<32> then; bool unsigned; bool modular; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        s.unsigned = s.now >= s.then;
        s.modular = (int<32>)s.now - (int<32>)s.then >= 0;
    }
}
Main(C()) main;
