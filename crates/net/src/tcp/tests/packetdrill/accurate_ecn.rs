//! Linux's packetdrill scripts of accurate ECN feedback as the judge of `accecn.rs`.
//!
//! They are read from the unpacked source of Linux 7.3, which `SOJOURN_LINUX_SOURCE` names, and are no part of
//! this project.

use super::{run, scripts};
use std::path::Path;

/// Scripts of accurate ECN that a connection here fails, and why.
const FAIL_HERE: &[(&str, &[&str])] = &[
    (
        "a setting of Linux's: feedback for one direction, or classic ECN on the SYN",
        &["clientside_disabled", "ecn3"],
    ),
    (
        "a SYN or SYN-ACK that is lost twice asks for ECN again",
        &[
            "multiple_syn_ack_drop",
            "multiple_syn_drop",
            "syn_ace_flags_acked_after_retransmit",
            "syn_ace_flags_drop",
            "syn_ack_ace_flags_acked_after_retransmit",
            "syn_ack_ace_flags_drop",
        ],
    ),
    (
        "another SYN or SYN-ACK than the first is not read",
        &[
            "3rd_ack_after_synack_rxmt",
            "accecn_then_notecn_syn",
            "no_ecn_after_accecn",
            "synack_rexmit",
        ],
    ),
    (
        "no sign of a path that clears or sets the ECN field is sought",
        &["negotiation_bleach", "synack_ce_updates_delivered_ce"],
    ),
    (
        "data have no option, so more of them fit",
        &["2nd_data_as_first_connect", "client_accecn_options_lost"],
    ),
    ("ranges take the room of the option", &["sack_space_grab", "sack_space_grab_with_ts"]),
    ("acknowledgements without progress count", &["noprogress", "tsnoprogress"]),
    (
        "Linux takes a wrap of the counter for likely by the acknowledgements before",
        &["delivered_2ndlargeack", "delivered_largeack2"],
    ),
    (
        "bytes are counted of CE alone and shown nowhere",
        &["delivered_falseoverflow_detect", "delivered_updates"],
    ),
    (
        "the acknowledgement of a FIN after the end reports marks",
        &["close_local_close_then_remote_fin"],
    ),
];

/// Judges `accecn.rs` by Linux's scripts, which are read from its unpacked source.
#[test]
fn linux_scripts_of_accurate_ecn_pass_but_those_with_a_reason() {
    let Some(source) = std::env::var_os("SOJOURN_LINUX_SOURCE") else {
        println!("skipped: SOJOURN_LINUX_SOURCE names no unpacked source of Linux 7.3");
        return;
    };
    let folder = Path::new(&source).join("tools/testing/selftests/net/packetdrill");
    let all = scripts(&folder);
    let ours =
        all.iter().filter_map(|(name, text)| Some((name.strip_prefix("tcp_accecn_")?, text)));
    let (mut passed, mut surprises) = (0, Vec::new());
    for (name, text) in ours {
        let reason = FAIL_HERE.iter().find(|(_, names)| names.contains(&name));
        match (run(text), reason) {
            (Ok(()), None) => passed += 1,
            (Err(what), Some((why, _))) => println!("{name}: {why} ({what})"),
            (Ok(()), Some(_)) => surprises.push(format!("{name} passes")),
            (Err(what), None) => surprises.push(format!("{name}: {what}")),
        }
    }
    assert!(passed > 0, "{folder:?} has no such scripts");
    println!("{passed} pass");
    assert_eq!(surprises, Vec::<String>::new());
}
