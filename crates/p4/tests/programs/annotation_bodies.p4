// Annotations that the language and P4Runtime define have bodies of a fixed form.
// expect-error: `@name` needs a text at line 17
// expect-error: `@name` needs a text at line 18
// expect-error: `@deprecated` needs a text at line 19
// expect-error: `@pkginfo` needs keys at line 20
// expect-error: `@match` needs one match kind at line 23
// expect-error: `size2`, which is not declared at line 25
// expect-error: `@p4runtime_translation` needs at line 28
// expect-error: `@p4runtime_translation` needs at line 29
// expect-error: stands here twice at line 31
// expect-error: numbers without a width, texts and truth values, not `bit<8>` at line 32
// expect-error: numbers without a width, texts and truth values, not `int<4>` at line 33
// expect-error: numbers without a width, texts and truth values, not `bit<8>` at line 34
#include <core.p4>
@name("good") action good() {}
@match(exact) @length(any) @unknown(1 + ) const bit<8> fine = 0;
@name(4) action number() {}
@name action nothing() {}
@deprecated("a" | "b") action joined() {}
@pkginfo const bit<8> info = 0;
header H {
    @match(lpm) bit<8> size;
    @match(1+1) bit<8> matched;
    @length(size) bit<8> good;
    @length(size2) bit<8> data;
    bit<8> size2;
}
@p4runtime_translation("uri", bool) type bit<9> Bool;
@p4runtime_translation("uri", bit<5+3>) type bit<9> Sum;
@p4runtime_translation("uri", bit<32>) @p4runtime_translation("", string) type bit<9> Fine;
@number(3) @number[] const bit<8> twice = 0;
@list[8w1] const bit<8> sized = 0;
@pairs[key = 4s1] const bit<8> sign = 0;
@named[fine + 1, fine == 0] const bit<8> named = 0;
