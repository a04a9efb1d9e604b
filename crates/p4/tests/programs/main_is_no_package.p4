// `main` names the package that is the program.
// expect-error: `main` is a type at line 3
extern main {}
