// An extern with an abstract method: implemented at instantiation, using names of the control
// around it and other methods through `this`.
// expect: ok
extern Store<T, I> {
    Store(bit<32> size);
}
extern Update<T, I, U> {
    Update(Store<_, _> store);
    U execute(in I index);
    @synchronous(execute)
    abstract void apply(inout T value, @optional out U result);
    U both(@optional in bool first, @optional in bool second);
}
struct Words { bit<32> next; bit<32> count; }
struct S { bit<9> port; bit<32> now; bit<8> due; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    bit<32> limit = 5;
    Store<Words, bit<9>>(512) words;
    Update<Words, bit<9>, bit<8>>(words) step = {
        void apply(inout Words w, out bit<8> due) {
            due = this.both(s.now >= w.next, w.count == limit);
            if (s.now >= w.next) {
                w.count = w.count + 1;
            }
        }
    };
    Update<Words, bit<9>, bit<8>>(words) clear = {
        void apply(inout Words w) {
            w.count = 0;
        }
    };
    apply {
        if (s.port == 0) {
            clear.execute(0);
        } else {
            s.due = step.execute(s.port);
        }
    }
}
Main(C()) main;
