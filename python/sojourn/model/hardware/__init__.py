"""Queue disciplines that are hardware modules: SystemVerilog, run by Verilator.

`modules` lists them and resolves names, `verilator` compiles one to a library, `ports` checks its
ports. The engine's crate `verilog` loads the library and evaluates the module.
"""
