// A value must fit the representation.
// expect-error: Big at line 5
enum bit<4> Nibble {
    Small = 15,
    Big = 16
}
