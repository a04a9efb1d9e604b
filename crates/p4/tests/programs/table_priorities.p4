// Entries with priorities: larger wins, unless the table says otherwise; gaps are filled.
// expect: ok
// input: a=0x11
// output: large=2 small=1
// input: a=0x21
// output: large=3 small=3
// input: a=0x33
// output: large=1 small=3
#include <core.p4>
struct S { bit<8> a; bit<8> large; bit<8> small; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    action set_large(bit<8> value) { s.large = value; }
    action set_small(bit<8> value) { s.small = value; }
    table large {
        key = { s.a : ternary; }
        actions = { set_large; }
        @noWarn("entries_out_of_priority_order")
        entries = {
            priority = 10 : 0 &&& 0           : set_large(1);
            priority = 30 : 0x10 &&& 0xf0     : set_large(2);
                            0x01 &&& 0x0f     : set_large(3);
        }
    }
    table small {
        key = { s.a : ternary; }
        actions = { set_small; }
        largest_priority_wins = false;
        priority_delta = 10;
        entries = {
            const priority = 10 : 0x10 &&& 0xf0 : set_small(1);
            const priority = 30 : 0x20 &&& 0xff : set_small(2);
                                  _             : set_small(3);
        }
    }
    apply {
        large.apply();
        small.apply();
    }
}
Main(C()) main;
