// An extern is known only behind its declaration.
// expect-error: `E` uses itself at line 5
extern E {
    E();
    void method(E e);
}
