//! Runner for packetdrill scripts: feeds a script's segments and system calls to a [`Connection`] and compares
//! what leaves, when, and the state of the sender.
//!
//! The scripts in `packetdrill/` are this project's own. Others run from a folder that
//! `SOJOURN_PACKETDRILL` names; `cargo test -p sojourn-net --lib packetdrill -- --nocapture` prints a verdict for
//! each. `SOJOURN_LINUX_SOURCE` names the unpacked source of Linux 7.3, whose scripts of accurate ECN judge
//! `accecn.rs`. A connection here has no socket options, no RST and no Fast Open; scripts that need them fail.

mod accurate_ecn;
mod script;

use super::*;
use crate::tcp::congestion::State;
use crate::wire::{AccEcn, Ecn};
use script::{Event, Script, What};
use std::collections::VecDeque;
use std::path::Path;

/// A connection that follows a script.
struct Run {
    config: TcpConfig,
    end: Connection,
    now: Time,
    sent: VecDeque<TcpSegment>,
    written: u64,
    mss: u64,
    tolerance: Time,
    accurate: bool,
    /// The script's timestamp clock less ours, once a segment has shown it.
    clock: Option<u32>,
}

impl Run {
    fn new(script: &Script) -> Result<Run, String> {
        let config = TcpConfig {
            congestion_control: CongestionControlName::new(script.control)
                .ok_or_else(|| format!("no congestion control {}", script.control))?,
            ecn: script.ecn,
            timestamps: script.timestamps,
            ..TcpConfig::default()
        };
        let opens = |event: &&Event| matches!(event.what, What::Connect | What::Listen);
        let end = match script.events.iter().find(opens).map(|event| &event.what) {
            Some(What::Connect) => Connection::closed(config.clone()),
            Some(_) => Connection::listen(config.clone()),
            None => return Err("neither connect() nor listen()".into()),
        };
        let (now, sent) = (Time::ZERO, VecDeque::new());
        let (tolerance, accurate) = (script.tolerance, script.accurate);
        Ok(Run { config, end, now, sent, written: 0, mss: 1460, tolerance, accurate, clock: None })
    }

    /// Timers up to `until`, and what they send.
    fn advance(&mut self, until: Time) {
        while let Some(at) = self.end.next_timer().filter(|at| *at <= until) {
            self.step(at);
        }
        self.step(until);
    }

    fn step(&mut self, at: Time) {
        self.now = self.now.max(at);
        self.end.advance(self.now);
        self.sent.extend(std::iter::from_fn(|| self.end.poll_transmit(self.now)));
    }

    /// Timers up to `limit`, until something is sent.
    fn wait(&mut self, limit: Time) {
        while self.sent.is_empty() {
            let Some(at) = self.end.next_timer().filter(|at| *at <= limit) else { return };
            self.step(at);
        }
    }

    fn follow(&mut self, what: &What, (first, last): (Time, Time)) -> Result<(), String> {
        if let What::Out(expected) = what {
            return self.expect(expected, first, last);
        }
        self.advance(first);
        match what {
            What::In(segment) => self.receive(segment),
            What::Connect => self.end = Connection::connect(self.config.clone()),
            What::Write(bytes) => {
                self.written += bytes;
                self.end.set_written(self.written);
            }
            What::Close if self.end.is_established() => self.end.close(),
            What::Assert(all) => {
                all.iter().try_for_each(|(field, value)| self.check(field, value))?
            }
            What::Listen | What::Close | What::Out(_) => {}
        }
        self.step(first);
        Ok(())
    }

    fn receive(&mut self, segment: &TcpSegment) {
        let mut segment = *segment;
        let in_options = if segment.options.timestamps.is_some() { 12 } else { 0 };
        self.mss = segment.options.mss.map_or(self.mss, |mss| u64::from(mss - in_options));
        if let Some(timestamps) = &mut segment.options.timestamps {
            timestamps.echo = timestamps.echo.wrapping_sub(self.clock.unwrap_or(0));
        }
        self.end.receive(self.now, &segment);
    }

    fn expect(&mut self, expected: &TcpSegment, first: Time, last: Time) -> Result<(), String> {
        self.wait(last + self.tolerance);
        let late = self.now > last + self.tolerance;
        if self.sent.is_empty() || late || self.now + self.tolerance < first {
            return Err(format!("expected {}, {}", show(expected), self.situation()));
        }
        let mut at = expected.seq;
        let end = expected.seq.wrapping_add(expected.payload);
        loop {
            let Some(segment) = self.sent.pop_front() else {
                return Err(format!(
                    "expected {}, {at} on is missing, {}",
                    show(expected),
                    self.situation()
                ));
            };
            let next = at.wrapping_add(segment.payload);
            let same = |flag| segment.flags.contains(flag) == expected.flags.contains(flag);
            let opens_and_closes_alike = [TcpFlags::SYN, TcpFlags::FIN].into_iter().all(same);
            let agrees = segment.seq == at && next <= end && segment.ack == expected.ack;
            if !agrees || (next == end && !opens_and_closes_alike) {
                return Err(format!("expected {}, sent {}", show(expected), show(&segment)));
            }
            if self.accurate {
                feedback_agrees(expected, &segment)?;
            }
            self.learn_clock(expected, &segment);
            at = next;
            if at == end {
                self.now = self.now.max(first);
                return Ok(());
            }
        }
    }

    /// The first timestamp that the script expects shows its clock.
    fn learn_clock(&mut self, expected: &TcpSegment, sent: &TcpSegment) {
        let both = expected.options.timestamps.zip(sent.options.timestamps);
        if let (None, Some((theirs, ours))) = (self.clock, both) {
            self.clock = Some(theirs.value.wrapping_sub(ours.value));
        }
    }

    fn situation(&self) -> String {
        let sender = self.end.sender();
        let window = sender.window() / self.mss;
        format!("at {} with a window of {window} in {:?}", self.now, sender.state())
    }

    fn check(&self, field: &str, value: &str) -> Result<(), String> {
        let sender = self.end.sender();
        let have = match field {
            "tcpi_snd_cwnd" => (sender.window() / self.mss).to_string(),
            "tcpi_snd_ssthresh" if sender.ssthresh() == u64::MAX => "TCP_INFINITE_SSTHRESH".into(),
            "tcpi_snd_ssthresh" => (sender.ssthresh() / self.mss).to_string(),
            "tcpi_ca_state" => format!("TCP_CA_{}", state(sender.state())),
            "tcpi_rtt" => (sender.rtt().srtt().0 / 1_000).to_string(),
            "tcpi_delivered_ce" => sender.delivered_marked().to_string(),
            "tcpi_delivered_ce_bytes" | "tcpi_delivered_e0_bytes" | "tcpi_delivered_e1_bytes" => {
                return Err(format!("{field} is not kept"));
            }
            "tcpi_rto" => (sender.rtt().rto().0 / 1_000).to_string(),
            _ => return Ok(()),
        };
        if have == value { Ok(()) } else { Err(format!("{field} is {have}, expected {value}")) }
    }
}

/// Compares the feedback of a segment, and whether it may be marked itself.
///
/// Linux sends ECT(0), Prague ECT(1). Linux lets acknowledgements be marked, and adds the option to
/// data that leave room for it; here neither is so, and neither is compared.
fn feedback_agrees(expected: &TcpSegment, sent: &TcpSegment) -> Result<(), String> {
    const COUNTER: [TcpFlags; 3] = [TcpFlags::AE, TcpFlags::CWR, TcpFlags::ECE];
    let differs = |flag: &TcpFlags| expected.flags.contains(*flag) != sent.flags.contains(*flag);
    if COUNTER.iter().any(differs) {
        return Err(format!("feedback: expected {}, sent {}", show(expected), show(sent)));
    }
    let capable = |segment: &TcpSegment| segment.ecn != Ecn::NotEct;
    if sent.payload > 0 && capable(expected) != capable(sent) {
        let (wanted, had) = (expected.ecn, sent.ecn);
        return Err(format!("codepoint: expected {wanted:?}, sent {had:?} in {}", show(sent)));
    }
    let (wanted, had) = (expected.options.acc_ecn, sent.options.acc_ecn);
    if sent.payload == 0 && !covers(had, wanted) {
        return Err(format!("option: expected {wanted:?}, sent {had:?} in {}", show(sent)));
    }
    Ok(())
}

/// True if the counters that are wanted are there and equal; one that Linux leaves out has not
/// changed.
fn covers(had: Option<AccEcn>, wanted: Option<AccEcn>) -> bool {
    let Some(wanted) = wanted else { return true };
    let Some(had) = had else { return false };
    [(had.ect0, wanted.ect0), (had.ce, wanted.ce), (had.ect1, wanted.ect1)]
        .into_iter()
        .all(|(had, wanted)| wanted.is_none() || had == wanted)
}

fn state(state: State) -> &'static str {
    match state {
        State::Open => "Open",
        State::Disorder => "Disorder",
        State::Cwr => "CWR",
        State::Recovery => "Recovery",
        State::Loss => "Loss",
    }
}

fn show(segment: &TcpSegment) -> String {
    let TcpSegment { seq, payload, ack, flags, .. } = segment;
    format!("{flags:?} {seq}:{}({payload}) ack {ack}", seq.wrapping_add(*payload))
}

/// Runs a script; the first disagreement names its line.
fn run(text: &str) -> Result<(), String> {
    let script = Script::parse(text)?;
    let mut run = Run::new(&script)?;
    let mut before = Time::ZERO;
    for Event { line, when, what } in &script.events {
        let from = if when.relative { before } else { Time::ZERO };
        let (first, last) = (from + when.first, from + when.last);
        run.follow(what, (first, last)).map_err(|what| format!("line {line}: {what}"))?;
        // A segment that leaves late within its tolerance does not delay what follows.
        before = if when.first == when.last { first } else { run.now.max(first) };
    }
    Ok(())
}

/// Names and texts of the scripts in a folder.
fn scripts(folder: &Path) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut found: Vec<(String, String)> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "pkt"))
        .map(|path| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).expect("UTF-8"))
        })
        .collect();
    found.sort();
    found
}

#[test]
fn our_packetdrill_scripts_pass() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tcp/tests/packetdrill");
    let all = scripts(&folder);
    assert!(!all.is_empty());
    let wrong = all.iter().filter_map(|(name, text)| Some(format!("{name}: {}", run(text).err()?)));
    assert_eq!(wrong.collect::<Vec<_>>(), Vec::<String>::new());
}

/// Prints verdicts only: the reader decides which of them a connection without sockets can pass.
#[test]
fn packetdrill_scripts_from_outside_run() {
    let Some(folder) = std::env::var_os("SOJOURN_PACKETDRILL") else { return };
    for (name, text) in scripts(folder.as_ref()) {
        match run(&text) {
            Ok(()) => println!("pass {name}"),
            Err(what) => println!("FAIL {name}: {what}"),
        }
    }
}
