"""Networks of hosts and live switches, as the exercises of p4lang's tutorials describe them.

`topology` reads their files, `entries` the switches' entries, `network` makes the hosts, `lab_init`
is the first process of the lab's namespaces, `lab_process` starts and finds it.
"""

from sojourn.tools.lab.topology import Topology, read_topology

__all__ = ["Topology", "read_topology"]
