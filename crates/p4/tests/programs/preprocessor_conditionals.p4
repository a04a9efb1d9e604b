// #if with arithmetic and defined(), #ifdef, #ifndef, #elif, #else, nested; unknown names are 0.
// expect: ok
// output: chosen=3 nested=7
#define VERSION 12
struct S { bit<8> chosen; bit<8> nested; }
control Test(inout S s);
package Main(Test t);
control C(inout S s) {
    apply {
#if VERSION < 10
        s.chosen = 1;
#elif defined(NEVER_DEFINED) || VERSION == 11
        s.chosen = 2;
#elif (VERSION >> 2) == 3 && !NEVER_DEFINED
        s.chosen = 3;
#else
        s.chosen = 4;
#endif
#ifdef VERSION
#ifndef NEVER_DEFINED
        s.nested = 7;
#else
        this text is not P4 and must not be read
#endif
#endif
    }
}
Main(C()) main;
