"""Queue disciplines that are hardware modules: SystemVerilog, run by Verilator.

`modules` says which there are and what a name means, `verilator` makes a library of one, `ports`
checks how it can be connected. The engine's crate `verilog` loads the library and asks the module.
"""
