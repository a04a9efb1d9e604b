// Two mistakes in one run, both with a suggestion.
// expect-error: forward at line 14
// expect-error: ingress_port at line 11
#include <core.p4>
struct S { bit<9> ingress_port; bit<9> egress_port; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    action send(bit<9> port) { s.egress_port = port; }
    table forward {
        key = { s.ingres_port : exact; }
        actions = { send; }
    }
    apply { foward.apply(); }
}
Main(C()) main;
