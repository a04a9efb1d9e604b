//! Tests of reading and checking the configuration of a run.

use super::*;
use sojourn_control::{MatchValue, Number};

const DEMO: &str = r#"{
  "duration": 10000000000, "seed": 7, "capture": true,
  "aqm": {"kind": "p4", "program": "p4/tna/codel_act.p4", "architecture": "tofino1",
          "math_unit": "paper", "include_paths": ["p4/include"], "defines": {"A": "1"},
          "control": {
            "tables": [{"name": "Ingress.forward", "entries": [
              {"match": {"ig_intr_md.ingress_port": 1}, "action": "send",
               "args": {"port": 2}, "priority": 0},
              {"match": {"a": {"value": 1, "mask": 255}, "b": {"value": 8, "prefix": 4},
                         "c": {"low": 1, "high": 9}, "d": "0xffffffffffffffffffff"},
               "action": "drop"}]}],
            "mirror_sessions": [{"session": 100, "direction": "egress", "port": 68,
                                 "queue": 0, "max_length": 100}]}},
  "flows": [
    {"kind": "tcp", "congestion_control": "newreno", "rtt": 5000000, "start": 0, "stop": null,
     "rate_cap": null, "ecn": false}] }"#;

#[test]
fn every_key_of_a_program_is_read_and_written_back() {
    let config = read(DEMO).unwrap();
    let Aqm::P4(p4) = &config.aqm else { panic!("not a P4 run") };
    assert_eq!(p4.math_unit, ExponentParity::Paper);
    let matches = &p4.control.tables[0].entries[1].matches;
    assert_eq!(matches["a"], MatchValue::Ternary { value: 1.into(), mask: 255.into() });
    assert_eq!(matches["b"], MatchValue::Prefix { value: 8.into(), prefix: 4 });
    assert_eq!(matches["c"], MatchValue::Range { low: 1.into(), high: 9.into() });
    let wide: Number = serde_json::from_str("\"0xffffffffffffffffffff\"").unwrap();
    assert_eq!(matches["d"], MatchValue::Exact(wide));
    assert_eq!(p4.control.mirror_sessions[0].max_length, Some(100));
    let again = serde_json::to_string(&config).unwrap();
    assert_eq!(read(&again).unwrap(), config);
}

fn refused(edit: impl Fn(&mut serde_json::Value)) -> String {
    let mut value: serde_json::Value = serde_json::from_str(DEMO).unwrap();
    edit(&mut value);
    read(&value.to_string()).unwrap_err().to_string()
}

#[test]
fn an_unknown_key_is_named_next_to_the_allowed_ones() {
    for place in ["", "/aqm", "/aqm/control", "/flows/0"] {
        let message = refused(|v| v.pointer_mut(place).unwrap()["nonsense"] = 1.into());
        assert!(message.contains("nonsense"), "{place}: {message}");
        assert!(message.contains(", expected "), "{place}: {message}");
    }
}

#[test]
fn an_aqm_that_cannot_be_is_named_with_what_is_allowed() {
    let message = refused(|v| v["aqm"] = serde_json::json!({"kind": "native", "name": "blue"}));
    assert!(message.contains("blue") && message.contains("`fifo`"), "{message}");
    let message = refused(|v| v["aqm"]["program"] = "".into());
    assert_eq!(message, "aqm.program = \"\": allowed is the path of a P4 program");
}
