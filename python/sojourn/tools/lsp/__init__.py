"""A language server for P4, on the front end that runs and checks use.

`analysis.py` asks the engine about a program and finds what is at a place; `server.py` speaks the
protocol, by pygls, which the extra `lsp` brings.
"""
