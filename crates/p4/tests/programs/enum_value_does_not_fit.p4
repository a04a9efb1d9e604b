// A value must fit the representation.
// expect-error: 16 at line 5
enum bit<4> Nibble {
    Small = 15,
    Big = 16
}
