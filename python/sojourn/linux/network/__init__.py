"""Networks of several switches on the Linux ground: a namespace for each host and switch.

`graph` finds the ways, `topology` makes namespaces and links of them, `job` tells the guest, `rows`
puts together what was captured. All stand on what the ground with one switch has.
"""
