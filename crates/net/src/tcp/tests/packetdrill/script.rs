//! Parser for the part of packetdrill's script language that a connection without sockets can follow.
//!
//! Understands relative, absolute and ranged times, TCP segments with options, the system calls
//! that open, write and close, and assertions about `tcp_info`. Skips shell commands and other
//! system calls. Must not depend on connections.

use crate::wire::{AccEcn, Ecn, TcpFlags, TcpOptions, TcpSegment, Timestamps};
use sojourn_packet::Time;

/// One event and the place of its line.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) line: usize,
    pub(super) when: When,
    pub(super) what: What,
}

/// Earliest and latest instant, after the event before or after the start.
#[derive(Clone, Copy, Debug)]
pub(super) struct When {
    pub(super) relative: bool,
    pub(super) first: Time,
    pub(super) last: Time,
}

#[derive(Clone, Debug)]
pub(super) enum What {
    /// The peer sends a segment.
    In(TcpSegment),
    /// The connection sends these bytes, in one segment or several.
    Out(TcpSegment),
    Connect,
    Listen,
    Write(u64),
    Close,
    /// `tcp_info` fields and their values.
    Assert(Vec<(String, String)>),
}

/// A script.
#[derive(Clone, Debug)]
pub(super) struct Script {
    pub(super) events: Vec<Event>,
    /// Tolerance of a segment's departure.
    pub(super) tolerance: Time,
    /// Congestion control and ECN settings from shell commands.
    pub(super) control: &'static str,
    pub(super) ecn: bool,
    /// Both ends may count marks (RFC 9768), and what they report is compared.
    pub(super) accurate: bool,
    pub(super) timestamps: bool,
}

/// packetdrill's own default.
const TOLERANCE: Time = Time::from_millis(4);
/// Settings of `tcp_ecn` with which Linux asks for accurate feedback or answers it.
const ACCURATE: [&str; 3] = ["tcp_ecn=3", "tcp_ecn=4", "tcp_ecn=5"];
/// The control here that has accurate feedback; in Linux all have it.
const COUNTS_MARKS: &str = "prague";
const CONTROLS: [(&str, &str); 3] = [("reno", "newreno"), ("bbr", "bbr"), ("dctcp", "dctcp")];

impl Script {
    /// Reads a script. An error names the line and what cannot be read.
    pub(super) fn parse(text: &str) -> Result<Script, String> {
        let tolerance = option(text, "--tolerance_usecs=").map_or(TOLERANCE, Time::from_micros);
        let chosen =
            |(theirs, _): &&(&str, &str)| text.contains(&format!("congestion_control={theirs}"));
        let accurate = ACCURATE.iter().any(|setting| text.contains(setting));
        let usual = if accurate { COUNTS_MARKS } else { "cubic" };
        let control = CONTROLS.iter().find(chosen).map_or(usual, |(_, ours)| *ours);
        let (ecn, timestamps) = (text.contains("tcp_ecn=1"), text.contains("TS val"));
        let mut events = Vec::new();
        for (line, statement) in statements(text) {
            let event = event(&statement).map_err(|what| format!("line {line}: {what}"))?;
            events.extend(event.map(|(when, what)| Event { line, when, what }));
        }
        Ok(Script { events, tolerance, control, ecn, accurate, timestamps })
    }
}

fn option(text: &str, name: &str) -> Option<u64> {
    let rest = &text[text.find(name)? + name.len()..];
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Statements without comments and shell commands, each with the number of its first line.
fn statements(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let (mut in_shell, mut in_code) = (false, false);
    for (number, raw) in text.lines().enumerate() {
        let line = raw.split("//").next().unwrap_or_default().trim();
        let is_shell = in_shell || line.contains('`');
        in_shell ^= line.matches('`').count() % 2 == 1;
        if is_shell || line.is_empty() || (line.starts_with("--") && !in_code) {
            continue;
        }
        let goes_on = in_code || !starts_with_time(line);
        match found.last_mut() {
            Some((_, statement)) if goes_on => *statement += &format!("\n{line}"),
            _ => found.push((number + 1, line.to_owned())),
        }
        in_code = (in_code || line.contains("%{")) && !line.contains("}%");
    }
    found
}

fn starts_with_time(line: &str) -> bool {
    line.starts_with(|c: char| c.is_ascii_digit() || "+.".contains(c))
}

fn event(statement: &str) -> Result<Option<(When, What)>, String> {
    let (time, rest) =
        statement.split_once(char::is_whitespace).ok_or("a time and nothing else")?;
    let when = when(time)?;
    let rest = after_return(rest.trim());
    let number = || rest.rsplit('=').next().and_then(|n| n.trim().parse().ok()).unwrap_or(0);
    let what = match rest.split(['(', ' ', '\t', '\n']).next().unwrap_or_default() {
        "<" => What::In(segment(&rest[1..])?),
        ">" => What::Out(segment(&rest[1..])?),
        "%{" => What::Assert(assertions(rest)),
        "connect" => What::Connect,
        "listen" => What::Listen,
        "write" | "send" | "sendto" => What::Write(number()),
        "close" | "shutdown" => What::Close,
        _ => return Ok(None),
    };
    Ok(Some((when, what)))
}

/// The text behind the instant of a call's return (`... 0.052`), if there is one.
fn after_return(rest: &str) -> &str {
    let Some(behind) = rest.strip_prefix("...") else { return rest };
    behind.trim_start().split_once(char::is_whitespace).map_or(rest, |(_, call)| call.trim())
}

fn when(text: &str) -> Result<When, String> {
    // A call that blocks has the instant of its return behind three dots.
    let text = text.split("...").next().unwrap_or_default();
    let relative = text.starts_with('+');
    let seconds = |text: &str| {
        let number: f64 =
            text.trim_start_matches('+').parse().map_err(|_| format!("time {text}"))?;
        Ok::<Time, String>(Time((number * 1e9).round() as u64))
    };
    let (first, last) = text.split_once('~').unwrap_or((text, text));
    Ok(When { relative, first: seconds(first)?, last: seconds(last)? })
}

/// `[ect] FLAGS seq:end(len) ack N win N <options>`.
fn segment(text: &str) -> Result<TcpSegment, String> {
    let wrong = |what: &str| format!("{what} in {text:?}");
    let (head, options) = match (text.find('<'), text.rfind('>')) {
        (Some(from), Some(to)) if from < to => (&text[..from], &text[from + 1..to]),
        _ => (text, ""),
    };
    let mut words = head.split_whitespace().peekable();
    let mut segment = TcpSegment::default();
    if let Some(field) = words.next_if(|word| word.starts_with('[')) {
        segment.ecn = match field.trim_matches(['[', ']']) {
            "ect0" => Ecn::Ect0,
            "ect1" | "ect01" => Ecn::Ect1,
            "ce" => Ecn::Ce,
            _ => Ecn::NotEct,
        };
    }
    segment.flags = flags(words.next().ok_or_else(|| wrong("no flags"))?);
    let (seq, rest) =
        words.next().and_then(|span| span.split_once(':')).ok_or_else(|| wrong("no span"))?;
    let end = rest.split('(').next().unwrap_or_default();
    let number = |word: &str| word.parse::<u32>().map_err(|_| wrong("a number"));
    segment.seq = number(seq)?;
    segment.payload = number(end)?.wrapping_sub(segment.seq);
    while let Some(word) = words.next() {
        match (word, words.next()) {
            ("ack", Some(ack)) => segment.ack = number(ack)?,
            ("win", Some(window)) => segment.window = number(window)?.min(0xffff) as u16,
            _ => return Err(wrong(word)),
        }
    }
    segment.options = tcp_options(options).ok_or_else(|| wrong("an option"))?;
    Ok(segment)
}

fn flags(text: &str) -> TcpFlags {
    const LETTERS: [(char, TcpFlags); 8] = [
        ('S', TcpFlags::SYN),
        ('F', TcpFlags::FIN),
        ('R', TcpFlags::RST),
        ('P', TcpFlags::PSH),
        ('.', TcpFlags::ACK),
        ('E', TcpFlags::ECE),
        ('W', TcpFlags::CWR),
        ('A', TcpFlags::AE),
    ];
    let set = LETTERS.iter().filter(|(letter, _)| text.contains(*letter));
    let flags = set.fold(TcpFlags::default(), |all, (_, flag)| all | *flag);
    // A digit is the number that the three bits of ECN make.
    let digit = text.chars().find_map(|c| c.to_digit(10)).unwrap_or_default();
    [TcpFlags::ECE, TcpFlags::CWR, TcpFlags::AE]
        .into_iter()
        .enumerate()
        .filter(|(bit, _)| digit >> bit & 1 == 1)
        .fold(flags, |all, (_, flag)| all | flag)
}

fn tcp_options(text: &str) -> Option<TcpOptions> {
    let mut options = TcpOptions::default();
    for option in text.split(',') {
        let words: Vec<&str> = option.split_whitespace().collect();
        match words[..] {
            ["mss", mss] => options.mss = Some(mss.parse().ok()?),
            ["sackOK"] => options.sack_permitted = true,
            ["wscale", shift] => options.window_scale = Some(shift.parse().ok()?),
            ["TS", "val", value, "ecr", echo] => {
                let (value, echo) = (value.parse().ok()?, echo.parse().ok()?);
                options.timestamps = Some(Timestamps { value, echo });
            }
            ["sack", ref blocks @ ..] => {
                for block in blocks {
                    let (left, right) = block.split_once(':')?;
                    options.sack.push(left.parse().ok()?, right.parse().ok()?);
                }
            }
            ["ECN", ref counters @ ..] => options.acc_ecn = Some(byte_counters(counters)?),
            _ => {}
        }
    }
    Some(options)
}

/// `e0b N ceb N e1b N` in any order; a counter may lack.
fn byte_counters(words: &[&str]) -> Option<AccEcn> {
    let mut option = AccEcn::default();
    for pair in words.chunks(2) {
        let &[name, value] = pair else { return None };
        let value = Some(value.parse().ok()?);
        match name {
            "e0b" => option.ect0 = value,
            "ceb" => option.ce = value,
            "e1b" => option.ect1 = value,
            _ => return None,
        }
    }
    Some(option)
}

/// `assert field == value` of each line; other Python is skipped.
fn assertions(code: &str) -> Vec<(String, String)> {
    let lines = code.split(['\n', ';']).filter_map(|line| line.split("assert ").nth(1));
    let parts = lines.filter_map(|line| line.split([',', '#', '}']).next()?.split_once("=="));
    parts.map(|(field, value)| (field.trim().to_owned(), value.trim().to_owned())).collect()
}
