//! Parser of bmv2's `simple_switch_CLI` commands, line by line into operations.
//!
//! Syntax and meaning are those of bmv2's `runtime_CLI.py` and `sswitch_CLI.py`;
//! `set_queue_bitrate` is Sojourn's own. A command is a function of its words and a [`Session`];
//! messages show its usage. Executes no operation and reads no file.

mod profiles;
mod queues;
mod replication;
mod session;
mod state;
mod table_add_fast_path;
mod tables;

pub use session::{Question, Request, Session};

use super::batch::Batch;
use super::names::hint;
use super::{CommandFile, ControlError};
use crate::describe::ProgramDescription;
use session::Outcome;
use table_add_fast_path::RepeatedTableAdd;

/// A command: its name, its syntax, and its function.
struct Command {
    name: &'static str,
    usage: &'static str,
    run: fn(&[&str], &mut Session) -> Outcome,
}

const fn command(
    name: &'static str,
    usage: &'static str,
    run: fn(&[&str], &mut Session) -> Outcome,
) -> Command {
    Command { name, usage, run }
}

/// A command that only displays something in bmv2, or that has no effect here.
const fn shown(name: &'static str, usage: &'static str) -> Command {
    Command { name, usage, run: |_, _| Ok(Vec::new()) }
}

const COMMANDS: &[Command] = &[
    command("table_add", "TABLE ACTION MATCH... => ARGUMENT... [PRIORITY]", tables::add),
    command("table_set_default", "TABLE ACTION ARGUMENT...", tables::set_default),
    command("table_reset_default", "TABLE", tables::reset_default),
    command("table_modify", "TABLE ACTION HANDLE ARGUMENT...", tables::modify),
    command("table_delete", "TABLE HANDLE", tables::delete),
    command("table_clear", "TABLE", tables::clear),
    command("table_indirect_add", "TABLE MATCH... => MEMBER [PRIORITY]", tables::indirect_add),
    command(
        "table_indirect_add_with_group",
        "TABLE MATCH... => GROUP [PRIORITY]",
        tables::indirect_add_with_group,
    ),
    command("table_indirect_delete", "TABLE HANDLE", tables::delete),
    command("table_indirect_set_default", "TABLE MEMBER", profiles::set_default),
    command(
        "table_indirect_set_default_with_group",
        "TABLE GROUP",
        profiles::set_default_with_group,
    ),
    command("act_prof_create_member", "PROFILE ACTION ARGUMENT...", profiles::create_member),
    command("act_prof_modify_member", "PROFILE ACTION MEMBER ARGUMENT...", profiles::modify_member),
    command("act_prof_delete_member", "PROFILE MEMBER", profiles::delete_member),
    command("act_prof_create_group", "PROFILE", profiles::create_group),
    command("act_prof_delete_group", "PROFILE GROUP", profiles::delete_group),
    command("act_prof_add_member_to_group", "PROFILE MEMBER GROUP", profiles::add_to_group),
    command(
        "act_prof_remove_member_from_group",
        "PROFILE MEMBER GROUP",
        profiles::remove_from_group,
    ),
    command("mirroring_add", "SESSION PORT", replication::mirroring_add),
    command("mirroring_add_mc", "SESSION GROUP", replication::mirroring_add_mc),
    command("mirroring_delete", "SESSION", replication::mirroring_delete),
    command("mirroring_get", "SESSION", replication::mirroring_get),
    command("mc_mgrp_create", "GROUP", replication::group_create),
    command("mc_mgrp_destroy", "GROUP", replication::group_destroy),
    command("mc_node_create", "RID PORT...", replication::node_create),
    command("mc_node_update", "NODE PORT...", replication::node_update),
    command("mc_node_destroy", "NODE", replication::node_destroy),
    command("mc_node_associate", "GROUP NODE", replication::node_associate),
    command("mc_node_dissociate", "GROUP NODE", replication::node_dissociate),
    command("register_read", "REGISTER [INDEX]", state::register_read),
    command("register_write", "REGISTER INDEX VALUE", state::register_write),
    command("register_reset", "REGISTER", state::register_reset),
    command("counter_read", "COUNTER INDEX", state::counter_read),
    command("counter_write", "COUNTER INDEX PACKETS BYTES", state::counter_write),
    command("counter_reset", "COUNTER", state::counter_reset),
    command("meter_set_rates", "METER INDEX RATE:BURST RATE:BURST", state::meter_set_rates),
    command("meter_array_set_rates", "METER RATE:BURST RATE:BURST", state::meter_array_set_rates),
    command("meter_get_rates", "METER INDEX", state::meter_get_rates),
    command("pvs_add", "VALUE_SET VALUE", state::value_set_add),
    command("pvs_clear", "VALUE_SET", state::value_set_clear),
    command("set_queue_rate", "PACKETS_PER_SECOND [PORT [PRIORITY]]", queues::rate),
    command("set_queue_bitrate", "BITS_PER_SECOND [PORT [PRIORITY]]", queues::bitrate),
    command("set_queue_depth", "PACKETS [PORT [PRIORITY]]", queues::depth),
    command("pause_queue", "[PORT [PRIORITY]]", queues::pause),
    command("resume_queue", "[PORT [PRIORITY]]", queues::resume),
    command("port_add", "INTERFACE PORT", queues::port_add),
    shown("port_remove", "PORT"),
    shown("help", ""),
    shown("show_tables", ""),
    shown("show_actions", ""),
    shown("show_ports", ""),
    shown("switch_info", ""),
    shown("table_info", "TABLE"),
    shown("table_show_actions", "TABLE"),
    shown("table_num_entries", "TABLE"),
    shown("table_dump", "TABLE"),
    shown("table_dump_entry", "TABLE HANDLE"),
    shown("act_prof_dump", "PROFILE"),
    shown("mc_dump", ""),
];

const UNSUPPORTED: [(&str, &str); 7] = [
    ("table_set_timeout", "entries do not age here"),
    ("mc_set_lag_membership", "link aggregation groups do not exist here; name the ports"),
    ("set_crc16_parameters", "the polynomials of hashes are fixed here"),
    ("set_crc32_parameters", "the polynomials of hashes are fixed here"),
    ("pvs_remove", "single members stay; clear the value set with pvs_clear and add the others"),
    ("load_new_config_file", "start a run with the other program instead"),
    ("swap_configs", "start a run with the other program instead"),
];

/// The names of all commands.
pub fn names() -> impl Iterator<Item = &'static str> {
    COMMANDS.iter().map(|command| command.name)
}

impl Session {
    /// Runs one line and returns its requests.
    ///
    /// # Errors
    /// Returns an error that says what is wrong with the line, and the command's syntax.
    pub fn run(&mut self, line: &str) -> Result<Vec<Request>, ControlError> {
        let mut words = line.split_whitespace();
        let name = words.next().unwrap_or_default().to_lowercase();
        let words: Vec<&str> = words.collect();
        if let Some((_, why)) = UNSUPPORTED.iter().find(|(known, _)| *known == name) {
            return Err(ControlError::Message(format!("{name} is not supported: {why}")));
        }
        let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
            let names: Vec<&str> = names().collect();
            let near = hint(&name, &names);
            return Err(ControlError::Message(format!("there is no command {name}{near}")));
        };
        (command.run)(&words, self)
            .map_err(|wrong| wrong.into_control_error(command.name, command.usage))
    }
}

/// Appends the operations of a file of commands to a batch, each with its line, counted from 1;
/// read-only commands are omitted.
///
/// # Errors
/// Returns an error for every invalid line.
pub(super) fn read(
    file: &CommandFile,
    program: ProgramDescription,
    batch: &mut Batch,
) -> Result<(), ControlError> {
    let mut session = Session::new(program);
    let (mut same, mut wrong) = (None::<RepeatedTableAdd>, Vec::new());
    for (line, text) in (1u32..).zip(file.text.lines()) {
        let text = without_comment(text).trim();
        if text.is_empty() || same.as_ref().is_some_and(|same| same.takes(text, line, batch)) {
            continue;
        }
        match session.run(text) {
            Ok(query_request) => {
                for one in query_request {
                    if let Request::Operation(operation) = one {
                        batch.line(line, operation);
                    }
                }
                same = RepeatedTableAdd::after(text, &session, batch);
            }
            Err(why) => {
                let (file, line, why) = (file.name.clone(), line as usize, Box::new(why));
                wrong.push(ControlError::Line { file, line, why });
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(ControlError::Lines(wrong)) }
}

/// The text in front of `#` or `//`: published files use either. `//` counts only where a word
/// could begin; within a word it is part of it.
pub fn without_comment(line: &str) -> &str {
    let slashes = line.match_indices("//").map(|(at, _)| at);
    let mut begins =
        slashes.filter(|at| line[..*at].chars().next_back().is_none_or(char::is_whitespace));
    let end = begins.next().unwrap_or(line.len()).min(line.find('#').unwrap_or(line.len()));
    &line[..end]
}
