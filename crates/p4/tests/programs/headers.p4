// Validity, assignment of headers, {#}, equality of valid and invalid headers.
// expect: ok
// output: fresh=false set=true copied=true f=5 gone=false both=true differ=true hash=true
header H { bit<8> f; bit<8> g; }
struct S {
    bool fresh; bool set; bool copied; bit<8> f; bool gone; bool both; bool differ; bool hash;
}
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
        H h;
        H k;
        s.fresh = h.isValid();
        s.both = h == k;
        h = { 5, 6 };
        s.set = h.isValid();
        s.differ = h != k;
        k = h;
        s.copied = k.isValid() && k == h;
        s.f = k.f;
        h.setInvalid();
        s.gone = h.isValid();
        k = {#};
        s.hash = k == {#};
    }
}
Main(C()) main;
