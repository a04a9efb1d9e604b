// Extern objects: overloaded constructors and methods, optional parameters, don't-care types,
// constants of type list and string.
// expect: ok
enum Mode { Fast, Slow }
extern Filter<T, I> {
    Filter(bit<32> size);
    Filter(bit<32> size, T initial);
    T get(in I index, @optional in T weight);
    void get_all();
}
extern Bank {
    Bank(Filter<_, _> filter, Mode mode, string label, list<tuple<bit<8>, bool>> rows);
    bool step();
}
struct S { bit<8> a; bit<16> b; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    Filter<bit<16>, bit<8>>(512) plain;
    Filter<bit<16>, bit<8>>(initial = 7, size = 512) with_start;
    Bank(plain, Mode.Slow, "drops", (list<tuple<bit<8>, bool>>){ { 1, true }, { 2, false } })
        bank;
    apply {
        s.b = plain.get(s.a);
        s.b = with_start.get(weight = 3, index = s.a);
        plain.get_all();
        if (bank.step()) { s.a = 0; }
    }
}
Main(C()) main;
