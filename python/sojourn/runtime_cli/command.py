"""Every command by name, and a line of text to what it asks for.

A command is a function of its words and a session; its usage is what a message shows.
"""

from collections.abc import Callable
from dataclasses import dataclass

from sojourn.control import ControlError
from sojourn.runtime_cli import profiles, queues, replication, state, tables
from sojourn.runtime_cli.session import Outcome, Query, Session, UsageError
from sojourn.suggest import did_you_mean

__all__ = ["COMMANDS", "Command", "Outcome", "Query", "Session", "run_command"]


@dataclass(frozen=True)
class Command:
    """A command: how it is written, and what it does."""

    usage: str
    run: Callable[[list[str], Session], Outcome]


def _ignored(_words: list[str], _session: Session) -> Outcome:
    """A command that only shows something, or that has nothing to act on here."""
    return ()


def _shown(usage: str) -> Command:
    return Command(usage, _ignored)


COMMANDS: dict[str, Command] = {
    "table_add": Command("table_add TABLE ACTION MATCH... => ARGUMENT... [PRIORITY]", tables.add),
    "table_set_default": Command("table_set_default TABLE ACTION ARGUMENT...", tables.set_default),
    "table_modify": Command("table_modify TABLE ACTION HANDLE ARGUMENT...", tables.modify),
    "table_delete": Command("table_delete TABLE HANDLE", tables.delete),
    "table_clear": Command("table_clear TABLE", tables.clear),
    "table_indirect_add": Command(
        "table_indirect_add TABLE MATCH... => MEMBER [PRIORITY]", tables.indirect_add
    ),
    "table_indirect_add_with_group": Command(
        "table_indirect_add_with_group TABLE MATCH... => GROUP [PRIORITY]",
        tables.indirect_add_with_group,
    ),
    "table_indirect_delete": Command("table_indirect_delete TABLE HANDLE", tables.delete),
    "act_prof_create_member": Command(
        "act_prof_create_member PROFILE ACTION ARGUMENT...", profiles.create_member
    ),
    "act_prof_modify_member": Command(
        "act_prof_modify_member PROFILE ACTION MEMBER ARGUMENT...", profiles.modify_member
    ),
    "act_prof_delete_member": Command(
        "act_prof_delete_member PROFILE MEMBER", profiles.delete_member
    ),
    "act_prof_create_group": Command("act_prof_create_group PROFILE", profiles.create_group),
    "act_prof_delete_group": Command("act_prof_delete_group PROFILE GROUP", profiles.delete_group),
    "act_prof_add_member_to_group": Command(
        "act_prof_add_member_to_group PROFILE MEMBER GROUP", profiles.add_to_group
    ),
    "act_prof_remove_member_from_group": Command(
        "act_prof_remove_member_from_group PROFILE MEMBER GROUP", profiles.remove_from_group
    ),
    "mirroring_add": Command("mirroring_add SESSION PORT", replication.mirroring_add),
    "mirroring_add_mc": Command("mirroring_add_mc SESSION GROUP", replication.mirroring_add_mc),
    "mirroring_delete": Command("mirroring_delete SESSION", replication.mirroring_delete),
    "mirroring_get": Command("mirroring_get SESSION", replication.mirroring_get),
    "mc_mgrp_create": Command("mc_mgrp_create GROUP", replication.group_create),
    "mc_mgrp_destroy": Command("mc_mgrp_destroy GROUP", replication.group_destroy),
    "mc_node_create": Command("mc_node_create RID PORT...", replication.node_create),
    "mc_node_update": Command("mc_node_update NODE PORT...", replication.node_update),
    "mc_node_destroy": Command("mc_node_destroy NODE", replication.node_destroy),
    "mc_node_associate": Command("mc_node_associate GROUP NODE", replication.node_associate),
    "mc_node_dissociate": Command("mc_node_dissociate GROUP NODE", replication.node_dissociate),
    "register_read": Command("register_read REGISTER [INDEX]", state.register_read),
    "register_write": Command("register_write REGISTER INDEX VALUE", state.register_write),
    "register_reset": Command("register_reset REGISTER", state.register_reset),
    "counter_read": Command("counter_read COUNTER INDEX", state.counter_read),
    "counter_write": Command("counter_write COUNTER INDEX PACKETS BYTES", state.counter_write),
    "counter_reset": Command("counter_reset COUNTER", state.counter_reset),
    "meter_set_rates": Command(
        "meter_set_rates METER INDEX RATE:BURST RATE:BURST", state.meter_set_rates
    ),
    "meter_array_set_rates": Command(
        "meter_array_set_rates METER RATE:BURST RATE:BURST", state.meter_array_set_rates
    ),
    "meter_get_rates": Command("meter_get_rates METER INDEX", state.meter_get_rates),
    "pvs_add": Command("pvs_add VALUE_SET VALUE", state.value_set_add),
    "set_queue_rate": Command("set_queue_rate PACKETS_PER_SECOND [PORT [PRIORITY]]", queues.rate),
    "set_queue_bitrate": Command(
        "set_queue_bitrate BITS_PER_SECOND [PORT [PRIORITY]]", queues.bitrate
    ),
    "set_queue_depth": Command("set_queue_depth PACKETS [PORT [PRIORITY]]", queues.depth),
    "port_add": Command("port_add INTERFACE PORT", queues.port_add),
    "port_remove": _shown("port_remove PORT"),
    "help": _shown("help"),
    "show_tables": _shown("show_tables"),
    "show_actions": _shown("show_actions"),
    "show_ports": _shown("show_ports"),
    "switch_info": _shown("switch_info"),
    "table_info": _shown("table_info TABLE"),
    "table_show_actions": _shown("table_show_actions TABLE"),
    "table_num_entries": _shown("table_num_entries TABLE"),
    "table_dump": _shown("table_dump TABLE"),
    "table_dump_entry": _shown("table_dump_entry TABLE HANDLE"),
    "act_prof_dump": _shown("act_prof_dump PROFILE"),
    "mc_dump": _shown("mc_dump"),
}
"""By name. The last ones only show something in bmv2 and are accepted without effect."""

_UNSUPPORTED = {
    "table_set_timeout": "entries do not age here",
    "table_reset_default": "use table_set_default with the default action's name",
    "table_indirect_set_default": "a default action by member is not possible here",
    "table_indirect_set_default_with_group": "a default action by group is not possible here",
    "mc_set_lag_membership": "link aggregation groups do not exist here; name the ports",
    "set_crc16_parameters": "the polynomials of hashes are fixed here",
    "set_crc32_parameters": "the polynomials of hashes are fixed here",
    "pvs_remove": "a value set only grows; leave the member out",
    "pvs_clear": "a value set only grows; leave its members out",
    "load_new_config_file": "start a run with the other program instead",
    "swap_configs": "start a run with the other program instead",
}


def run_command(line: str, session: Session) -> Outcome:
    """What a line asks for; `ControlError` says what is wrong and how it is written."""
    name, *words = line.split()
    name = name.lower()
    if name in _UNSUPPORTED:
        raise ControlError(f"{name} is not supported: {_UNSUPPORTED[name]}")
    if name not in COMMANDS:
        raise ControlError(f"there is no command {name}{did_you_mean(name, COMMANDS)}")
    command = COMMANDS[name]
    try:
        return command.run(words, session)
    except UsageError as error:
        raise ControlError(f"{name}: {error}; write {command.usage}") from None
