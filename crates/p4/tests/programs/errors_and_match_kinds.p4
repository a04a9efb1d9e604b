// Further errors and match kinds are declared beside those of core.p4; errors compare.
// expect: ok
// output: same=true differ=true core=true
#include <core.p4>
error { QueueEmpty, ClockWrapped }
error { Another }
match_kind { closest }
struct S { bool same; bool differ; bool core; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        error e = error.ClockWrapped;
        s.same = e == error.ClockWrapped;
        s.differ = e != error.Another;
        e = error.NoMatch;
        s.core = e == error.NoMatch;
    }
}
Main(C()) main;
