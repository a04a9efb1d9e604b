"""Computed parts of claims, without simulation: a function for each name."""

from collections.abc import Callable

from sojourn.studies.papers.computed import compiled, control_law, fabric, ranks, switches
from sojourn.studies.papers.computed.finding import Computed

COMPUTED: dict[str, Callable[[], Computed]] = {
    "control_law_error": control_law.relative_error,
    "drop_next_error": control_law.absolute_error,
    "prefix_table": control_law.prefix_table,
    "rfc_refused": compiled.rfc_refused,
    "p4_codel_stages": compiled.p4_codel_stages,
    "codel_act_stages": compiled.codel_act_stages,
    "fq_codel_fits": compiled.fq_codel_fits,
    "atomic_block": compiled.atomic_block,
    "one_line": compiled.one_line,
    "npu": switches.npu,
    "hardware_module": switches.hardware_module,
    "payload_delay": switches.payload_delay,
    "packet_handle": switches.packet_handle,
    "uniform_ranks": ranks.uniform,
    "other_ranks": ranks.others,
    "rank_loads": ranks.loads,
    "short_flows": fabric.short_flows,
}
"""The names for `paper.toml`."""
