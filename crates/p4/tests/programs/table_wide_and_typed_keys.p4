// Keys of type bool, enumeration, wide numbers and header fields, together.
// expect: ok
// input: flag=true wide=0x20010db8000000000000000000000001
// output: r=1
// input: flag=false wide=0x20010db8000000000000000000000001
// output: r=2
// input: flag=false wide=1
// output: r=0
#include <core.p4>
enum bit<8> Kind { Data = 1, Sync = 2 }
header H { bit<128> wide; Kind kind; }
struct S { bool flag; bit<128> wide; bit<8> r; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    H h;
    action set(bit<8> value) { s.r = value; }
    table t {
        key = { s.flag : exact; h.kind : exact; h.wide : lpm; h.isValid() : exact; }
        actions = { set; NoAction; }
        const entries = {
            (true, Kind.Sync, 0x20010db8 << 96 &&& 0xffffffff << 96, true) : set(1);
            (false, Kind.Sync, 0x2001 << 112 &&& 0xffff << 112, true)      : set(2);
            (false, Kind.Data, _, true)                                    : set(3);
        }
        const default_action = NoAction();
    }
    apply {
        h = { s.wide, Kind.Sync };
        t.apply();
    }
}
Main(C()) main;
