//! Tables, value sets, counters as a control plane sets and reads them.

use super::*;
use sojourn_control::RuntimeControl;

const FORWARD: &str = "action send(bit<9> port) { t.ucast_egress_port = port; }
    table forward {
        key = { i.ingress_port : ternary; h.ethernet.kind : range; }
        actions = { send; }
        size = 16;
    }";

fn configured(json: &str) -> Result<Tofino, ControlError> {
    let parts = Parts { ingress: FORWARD, ingress_apply: "forward.apply();", ..Parts::default() };
    let mut plane = parts.loaded().plane;
    let control: ControlPlane = serde_json::from_str(json).unwrap();
    plane.configure(&control).map(|()| plane)
}

#[test]
fn the_lowest_priority_number_wins_as_on_the_chip() {
    let json = r#"{"tables":[{"name":"Ig.forward","entries":[
        {"match":{"i.ingress_port":{"value":4,"mask":4}},"action":"send","args":{"port":1},"priority":9},
        {"match":{"i.ingress_port":{"value":5,"mask":"0x1ff"},
                  "h.ethernet.kind":{"low":3000,"high":4000}},
         "action":"send","args":{"port":2},"priority":3}]}]}"#;
    let mut plane = configured(json).unwrap();
    let mut ask = |port| plane.ingress(&arriving(port), frame()).admission.unicast;
    assert_eq!(ask(5), Some(PortId(2)), "type 0x0c0d lies between 3000 and 4000");
    assert_eq!(ask(4), Some(PortId(1)));
    assert_eq!(ask(3), None);
}

#[test]
fn mistakes_of_a_control_plane_file_are_named_with_the_near_name() {
    let complain = |json| configured(json).unwrap_err().to_string();
    let near = complain(r#"{"tables":[{"name":"Ig.foward","entries":[]}]}"#);
    assert!(near.contains("no table `Ig.foward` (did you mean `Ig.forward`?)"), "{near}");
    let action = complain(
        r#"{"tables":[{"name":"forward","entries":[{"action":"sent","args":{"port":1}}]}]}"#,
    );
    assert!(action.contains("entry 1 of table `forward`"), "{action}");
    assert!(action.contains("no action `sent`"), "{action}");
    let wide = complain(
        r#"{"tables":[{"name":"forward","entries":[{"action":"send","args":{"port":512}}]}]}"#,
    );
    assert!(wide.contains("512 does not fit"), "{wide}");
    let none = complain(r#"{"tables":[{"name":"forward","entries":[{"args":{}}]}]}"#);
    assert!(none.contains("exactly one of `action`, `member`, `group`"), "{none}");
    let meter =
        complain(r#"{"meters":[{"name":"m","index":0,"spec":{"cir":1,"cbs":1,"pir":1,"pbs":1}}]}"#);
    assert_eq!(meter, "there is no meter `m`");
}

#[test]
fn value_sets_and_register_parameters_are_filled_by_the_control_plane() {
    let text = Parts {
        egress: "Register<bit<32>, bit<9>>(16) reg;
                 RegisterParam<bit<32>>(1000) limit;
                 RegisterAction<bit<32>, bit<9>, bit<32>>(reg) act = {
                     void apply(inout bit<32> v, out bit<32> r) { v = limit.read(); r = v; }
                 };",
        apply: "h.ethernet.dst = (bit<48>)(act.execute(0) + m.a);",
        ..Parts::default()
    }
    .text()
    .replace(
        "state start { p.extract(e); p.extract(h.ethernet); transition accept; }",
        "value_set<bit<9>>(4) special;
         state start {
             p.extract(e); p.extract(h.ethernet); m.a = 0;
             transition select(e.egress_port) { special: mark; _: accept; }
         }
         state mark { m.a = 5; transition accept; }",
    );
    let mut plane = load_text(&text).unwrap_or_else(|error| panic!("{error}")).plane;
    let ask = |plane: &mut Tofino, port| finding(plane.egress(&leaving(port, 0), frame()).packet);
    assert_eq!(ask(&mut plane, 7), 1_000);
    let json = r#"{"value_sets":[{"name":"special","members":[[7]]}],
                   "register_params":[{"name":"limit","value":2000}]}"#;
    plane.configure(&serde_json::from_str(json).unwrap()).unwrap();
    assert_eq!([ask(&mut plane, 7), ask(&mut plane, 8)], [2_005, 2_000]);
}

#[test]
fn counters_count_what_passes_and_can_be_read() {
    let parts = Parts {
        egress: "Counter<bit<64>, bit<9>>(16, CounterType_t.PACKETS_AND_BYTES) seen;",
        apply: "seen.count(e.egress_port);",
        ..Parts::default()
    };
    let mut plane = parts.loaded().plane;
    (0..3).for_each(|_| drop(plane.egress(&leaving(4, 0), frame())));
    let count = sojourn_externs::counter::Count { packets: 3, bytes: 210 };
    assert_eq!(plane.counter("seen", 4), Some(count));
    assert_eq!((plane.counter("seen", 16), plane.counter("sean", 4)), (None, None));
}

#[test]
fn the_shipped_control_planes_fit_their_programs() {
    for name in ["p4_codel", "codel_act"] {
        let folder = p4_folder().join("tna");
        let options =
            LoadOptions { include_paths: vec![p4_folder().join("include")], ..Default::default() };
        let mut plane = load(folder.join(format!("{name}.p4")), &options).unwrap();
        let text = std::fs::read_to_string(folder.join(format!("{name}.toml"))).unwrap();
        let control: ControlPlane = toml::from_str(&text).unwrap();
        plane.configure(&control).unwrap();
        let out = plane.ingress(&arriving(1), frame());
        assert_eq!(out.admission.unicast, Some(PortId(2)), "{name}");
    }
}
