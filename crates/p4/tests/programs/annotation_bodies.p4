// Annotations that the language and P4Runtime define have bodies of a fixed form.
// expect-error: `@name` needs a text at line 14
// expect-error: `@name` needs a text at line 15
// expect-error: `@deprecated` needs a text at line 16
// expect-error: `@pkginfo` needs keys at line 17
// expect-error: `@match` needs one match kind at line 20
// expect-error: `size2`, which is not declared at line 22
// expect-error: `@p4runtime_translation` needs at line 25
// expect-error: `@p4runtime_translation` needs at line 26
// expect-error: stands here twice at line 28
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
