//! Tests of reading and checking a network's configuration.

use super::*;
use serde_json::{Value, json};

const DEMO: &str = r#"{
  "duration": 10000000000, "seed": 7, "capture": true,
  "network": {
    "hosts": [
      {"name": "senders", "addresses": "clients", "access_rate": 10000000000},
      {"name": "h", "addresses": {"own": {"ipv4": "192.168.0.1", "ipv6": "fd01::1"}},
       "access_rate": null}],
    "switches": [
      {"name": "s", "aqm": null, "port_speed": 10000000000, "ingress_latency": 600,
       "egress_latency": 500, "recirculation_rate": 100000000000, "recirculation_latency": 400}],
    "links": [
      {"between": ["senders", "s"], "delay": 0, "delay_back": 5000000},
      {"between": ["s", "h"], "rate": 100000000, "rate_back": 1000000000,
       "packets_per_second": null, "delay": 0, "burst": 1600, "queue_limit": 1940000, "rows": true,
       "schedule": [{"at": 5, "rate": 1000000, "rate_back": null, "delay": 7}]}]},
  "aqm": {"kind": "native", "name": "codel", "target": 1000000},
  "flows": [
    {"kind": "tcp", "congestion_control": "newreno", "rtt": 5000000, "start": 0, "stop": null, "to": "h",
     "rate_cap": null, "ecn": false},
    {"kind": "udp", "rate": 10000000, "packet_size": 1514, "rtt": 1000000, "start": 0,
     "stop": 5000000000, "from": "senders", "to": "h"}] }"#;

#[test]
fn every_key_of_the_documented_form_is_read_and_written_back() {
    let config = RunConfig::from_json(DEMO).unwrap();
    let Aqm::Native(native) = &config.aqm else { panic!("not a native run") };
    assert_eq!(native.parameters["target"], 1_000_000);
    let again = serde_json::to_string(&config).unwrap();
    assert_eq!(RunConfig::from_json(&again).unwrap(), config);
}

#[test]
fn omitted_keys_have_the_documented_defaults() {
    let config = RunConfig::from_json(
        r#"{"duration": 1, "aqm": {"kind": "native", "name": "codel"},
            "flows": [{"kind": "tcp", "rtt": 5000000}]}"#,
    )
    .unwrap();
    assert_eq!(config.seed, 1);
    assert_eq!(config.network, NetworkSection::one_switch(LinkSection::bottleneck()));
    assert_eq!(config.network.links[1].rate, Some(100_000_000));
    assert_eq!(config.network.hosts[0].access_rate, Some(10_000_000_000));
    let Aqm::Native(native) = config.aqm else { panic!() };
    assert_eq!(native, NativeAqm { name: "codel".into(), parameters: BTreeMap::new() });
    let FlowConfig::Tcp(flow) = &config.flows[0] else { panic!() };
    assert_eq!(flow.congestion_control, CongestionControlName::default());
    assert_eq!(flow.ip_version, IpVersion::V4);
}

fn refused(edit: impl Fn(&mut serde_json::Value)) -> String {
    let mut value: serde_json::Value = serde_json::from_str(DEMO).unwrap();
    edit(&mut value);
    RunConfig::from_json(&value.to_string()).unwrap_err().to_string()
}

#[test]
fn an_unknown_key_is_named_next_to_the_allowed_ones() {
    for place in ["", "/network/hosts/0", "/network/links/1", "/flows/0", "/flows/1"] {
        let message = refused(|v| v.pointer_mut(place).unwrap()["nonsense"] = 1.into());
        assert!(message.contains("nonsense"), "{place}: {message}");
        assert!(message.contains(", expected "), "{place}: {message}");
    }
}

#[test]
fn an_unknown_choice_is_named_next_to_the_allowed_ones() {
    let message = refused(|v| v["flows"][0]["congestion_control"] = "vegas".into());
    assert!(message.contains("vegas") && message.contains("`cubic`"), "{message}");
    let message = refused(|v| v["aqm"] = serde_json::json!({"kind": "native", "name": "blue"}));
    assert!(message.contains("blue") && message.contains("`fifo`"), "{message}");
}

fn native(aqm: serde_json::Value) -> String {
    refused(|v| v["aqm"] = aqm.clone())
}

#[test]
fn a_native_discipline_takes_its_own_parameters_and_no_others() {
    let message = native(serde_json::json!({"kind": "native", "name": "codel", "traget": 1}));
    assert!(message.starts_with("aqm.traget is unknown: allowed are `target`"), "{message}");
    let message = native(serde_json::json!({"kind": "native", "name": "codel", "target": 0}));
    assert!(message.starts_with("aqm.target = 0: allowed is "), "{message}");
    let mut value: serde_json::Value = serde_json::from_str(DEMO).unwrap();
    value["aqm"] = serde_json::json!({"kind": "native", "name": "codel", "target": 1_000_000});
    let Aqm::Native(native) = RunConfig::from_json(&value.to_string()).unwrap().aqm else {
        panic!()
    };
    assert_eq!(native.parameters["target"], 1_000_000);
}

#[test]
fn a_value_out_of_range_is_named_with_its_key_and_range() {
    let message = refused(|v| v["flows"][1]["packet_size"] = 9000.into());
    assert_eq!(message, "flows[1].packet_size = 9000: allowed is 60 to 1514");
    let message = refused(|v| v["flows"][1]["rate"] = 20_000_000_000u64.into());
    assert!(message.contains("access_rate"), "{message}");
    let message = refused(|v| {
        v["flows"][0]["start"] = 10.into();
        v["flows"][0]["stop"] = 5.into();
    });
    assert!(message.starts_with("flows[0].stop = 5: allowed is 10 to "), "{message}");
}

#[test]
fn offload_is_a_switch_or_a_number_of_segments_within_2_and_64() {
    let flow = |value: Value| -> Result<FlowConfig, String> {
        let flow = json!({"kind": "tcp", "rtt": 1, "segmentation_offload": value});
        serde_json::from_value(flow).map_err(|error| error.to_string())
    };
    let offload = |value| match flow(value) {
        Ok(FlowConfig::Tcp(tcp)) => Ok(tcp.segmentation_offload),
        Ok(_) => Err("not a TCP flow".to_owned()),
        Err(error) => Err(error),
    };
    assert_eq!(offload(json!(false)), Ok(SegmentationOffload::Off));
    assert_eq!(offload(json!(true)), Ok(SegmentationOffload::Sized));
    assert_eq!(offload(json!(16)), Ok(SegmentationOffload::Segments(16)));
    for wrong in [json!(1), json!(65)] {
        let error = offload(wrong.clone()).expect_err("out of range");
        assert!(error.contains("allowed are false, true and 2 to 64 segments"), "{error}");
    }
    for (wanted, json) in
        [(SegmentationOffload::Sized, json!(true)), (SegmentationOffload::Segments(4), json!(4))]
    {
        assert_eq!(serde_json::to_value(wanted).ok(), Some(json));
    }
}

#[test]
fn a_switch_has_the_ports_that_its_links_give_and_the_pipes_of_those() {
    let section = serde_json::json!({
        "hosts": [
            {"name": "a", "addresses": "clients"}, {"name": "b", "addresses": "servers"},
        ],
        "switches": [{"name": "x"}, {"name": "y", "pipes": 4}],
        "links": [
            {"between": ["a", "x"]},
            {"between": ["y", "x"], "port": 300, "port_back": 140, "rate": 1_000_000},
            {"between": ["y", "b"]},
        ],
    });
    let network: NetworkSection = serde_json::from_value(section).expect("a network");
    let expected = [[None, Some(1)], [Some(300), Some(140)], [Some(2), None]];
    assert_eq!(network.port_numbers(), expected);
    assert_eq!(network.ports_of("x"), [1, 140]);
    assert_eq!(network.switches.iter().map(|s| network.pipes_of(s)).collect::<Vec<_>>(), [2, 4]);
}
