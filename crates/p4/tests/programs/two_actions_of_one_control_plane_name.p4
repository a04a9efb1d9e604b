// A control plane tells actions apart by their names.
// expect-error: two actions have the name `foo` at line 10
// expect-error: two actions have the name `.bar` at line 14
// Actions of several controls may share an absolute name: `.bar` in D, `.top` in F.
#include <core.p4>
action top(inout bit<8> x) { x = 7; }
@name(".nop") action nop() {}
control C(inout bit<8> x) {
    action foo() { x = 1; }
    @name("foo") action second() { x = 2; }
    @name(".nop") action idle() {}
    @name("foo") @hidden action hidden() { x = 4; }
    @name(".bar") action bar() { x = 3; }
    @name(".bar") action fourth() { x = 5; }
    apply { foo(); second(); bar(); hidden(); }
}
control D(inout bit<8> x) { @name(".bar") action bar() { x = 3; } action foo() { x = 1; } apply { bar(); foo(); } }
control F(inout bit<8> x) { @name(".top") action mine() { x = 3; } apply { mine(); } }
