// push_front, pop_front, run-time index, size, equality.
// expect: ok
// input: i=1
// output: size=3 pushed=false moved=1 picked=2 dropped=true popped=2 tail=false same=true
header H { bit<8> f; }
struct S {
    bit<8> i; bit<32> size; bool pushed; bit<8> moved; bit<8> picked; bool dropped; bit<8> popped;
    bool tail; bool same;
}
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        H[3] stack = { { 1 }, { 2 }, { 3 } };
        H[3] before = stack;
        s.size = stack.size;
        s.picked = stack[s.i].f;
        stack.push_front(1);
        s.pushed = stack[0].isValid();
        s.moved = stack[1].f;
        s.dropped = stack[2].f == 2;
        stack.pop_front(2);
        s.popped = stack[0].f;
        s.tail = stack[1].isValid() || stack[2].isValid();
        stack = before;
        s.same = stack == before;
    }
}
Main(C()) main;
