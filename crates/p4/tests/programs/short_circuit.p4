// The right side of && and || is not evaluated when the left decides; ?: evaluates one branch.
// expect: ok
// input: a=1
// output: calls=2 x=true y=false
struct S { bit<8> a; bit<8> calls; bool x; bool y; }
control Test(inout S s);
package Main(Test t);
bool note(inout bit<8> calls, in bool result) {
    calls = calls + 1;
    return result;
}
control C(inout S s) {
    apply {
        s.x = s.a == 1 || note(s.calls, false);
        s.y = s.a == 2 && note(s.calls, true);
        bool z = s.a == 1 ? note(s.calls, true) : note(s.calls, false);
        if (s.y || z && note(s.calls, false)) {
            s.x = false;
        }
    }
}
Main(C()) main;
