// emit: valid headers only, structs and stacks element by element, a union's valid member.
// expect: ok
// input: n=1
// emitted: 01 0a 0b 0203
#include <core.p4>
header A { bit<8> a; }
header B { bit<16> b; }
header_union U { A a; B b; }
struct Headers { A first; A absent; A[3] stack; U u; }
struct S { bit<8> n; Headers h; }
control Test(inout S s);
control TestDeparser(packet_out packet, in S s);
package Main(Test t, TestDeparser d);
control C(inout S s) {
    apply {
        s.h.first = { s.n };
        s.h.absent.setInvalid();
        s.h.stack[0] = { 10 };
        s.h.stack[2] = { 11 };
        s.h.u.b = { 0x0203 };
    }
}
control D(packet_out packet, in S s) {
    apply { packet.emit(s.h); }
}
Main(C(), D()) main;
