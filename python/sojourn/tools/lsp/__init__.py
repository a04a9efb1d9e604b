"""A language server for P4, on the front end that runs and checks use.

`analysis.py` analyses a program and finds the symbols at a position; `server.py` speaks the
protocol, by pygls, which the extra `lsp` installs.
"""
