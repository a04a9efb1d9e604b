//! Instructions on fields that share containers. The verdicts are those of the open compiler, which
//! was asked about each program.

use crate::testing::load_text;

/// A program whose one action of an ingress table executes a statement on the header `h.x`.
fn program(fields: &str, before: &str, statement: &str) -> String {
    format!(
        "#include <core.p4>
#include <tna.p4>
header ethernet_h {{ bit<48> dst; bit<48> src; bit<16> type; }}
header x_h {{ {fields} }}
struct headers_t {{ ethernet_h ethernet; x_h x; }}
struct metadata_t {{
    bit<4> m4; bit<8> m8; bit<12> m12; bit<16> m16; bit<20> m20; bit<24> m24; bit<32> m32;
}}
parser IngressParser(packet_in packet, out headers_t h, out metadata_t m,
                     out ingress_intrinsic_metadata_t i) {{
    state start {{
        packet.extract(i);
        packet.advance(PORT_METADATA_SIZE);
        m = {{ 0, 0, 0, 0, 0, 0, 0 }};
        packet.extract(h.ethernet);
        packet.extract(h.x);
        transition accept;
    }}
}}
control Ingress(inout headers_t h, inout metadata_t m, in ingress_intrinsic_metadata_t i,
                in ingress_intrinsic_metadata_from_parser_t p,
                inout ingress_intrinsic_metadata_for_deparser_t d,
                inout ingress_intrinsic_metadata_for_tm_t tm) {{
    action compute(bit<6> v6, bit<8> v8, bit<12> v12) {{ {statement} }}
    table t {{ key = {{ h.ethernet.type : exact; }} actions = {{ compute; }} size = 16; }}
    action drop() {{ d.drop_ctl = 1; }}
    table seen {{
        key = {{ m.m4 : exact; m.m8 : exact; m.m12 : exact; m.m16 : exact; m.m20 : exact;
                 m.m24 : exact; m.m32 : exact; }}
        actions = {{ drop; NoAction; }}
        size = 16;
    }}
    apply {{ tm.ucast_egress_port = 1; {before} t.apply(); seen.apply(); }}
}}
control IngressDeparser(packet_out packet, inout headers_t h, in metadata_t m,
                        in ingress_intrinsic_metadata_for_deparser_t d) {{
    apply {{ packet.emit(h); }}
}}
parser EgressParser(packet_in packet, out headers_t h, out metadata_t m,
                    out egress_intrinsic_metadata_t e) {{
    state start {{ packet.extract(e); transition accept; }}
}}
control Egress(inout headers_t h, inout metadata_t m, in egress_intrinsic_metadata_t e,
               in egress_intrinsic_metadata_from_parser_t p,
               inout egress_intrinsic_metadata_for_deparser_t d,
               inout egress_intrinsic_metadata_for_output_port_t o) {{ apply {{ }} }}
control EgressDeparser(packet_out packet, inout headers_t h, in metadata_t m,
                       in egress_intrinsic_metadata_for_deparser_t d) {{
    apply {{ packet.emit(h); }}
}}
Pipeline(IngressParser(), Ingress(), IngressDeparser(),
         EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;"
    )
}

/// The codes of the refusals, none if the program loads.
fn codes(fields: &str, before: &str, statement: &str) -> Vec<&'static str> {
    match load_text(&program(fields, before, statement)) {
        Ok(_) => Vec::new(),
        Err(error) => error.diagnostics.iter().map(|diagnostic| diagnostic.code).collect(),
    }
}

#[track_caller]
fn assert_codes(fields: &str, before: &str, statements: &[&str], expected: &[&str]) {
    for statement in statements {
        assert_eq!(codes(fields, before, statement), expected, "{fields} {before} {statement}");
    }
}

const TAG: &str = "bit<3> pcp; bit<1> dei; bit<12> vid; bit<16> type;";
const IP: &str = "bit<4> version; bit<4> ihl; bit<8> tos; bit<16> length;";
const DS: &str = "bit<6> dscp; bit<2> ecn; bit<8> x; bit<16> y;";
const FLAGS: &str = "bit<8> flags; bit<24> sequence; bit<32> rest;";
const LABEL: &str = "bit<20> label; bit<3> exp; bit<1> bottom; bit<8> ttl;";

#[test]
fn a_carry_reaches_no_field_in_front_of_the_sum() {
    let refused = ["h.x.vid = h.x.vid + 1;", "h.x.vid = h.x.vid - 1;"];
    assert_codes(TAG, "", &refused, &["T1022"]);
    assert_codes(
        IP,
        "",
        &["h.x.ihl = h.x.ihl + 1;", "h.x.length[11:4] = h.x.length[11:4] + 1;"],
        &["T1022"],
    );
    assert_codes(DS, "", &["h.x.ecn = h.x.ecn + 1;", "h.x.x[3:0] = h.x.x[3:0] + 1;"], &["T1022"]);
    assert_codes(LABEL, "", &["h.x.exp = h.x.exp - 1;"], &["T1022"]);
}

#[test]
fn a_sum_with_a_constant_leaves_the_fields_behind_it_alone() {
    assert_codes(TAG, "", &["h.x.pcp = h.x.pcp + 1;"], &[]);
    assert_codes(DS, "", &["h.x.dscp = h.x.dscp + 1;", "h.x.dscp = h.x.dscp - 1;"], &[]);
    assert_codes(DS, "", &["h.x.x[7:4] = h.x.x[7:4] + 1;"], &[]);
    assert_codes(LABEL, "", &["h.x.label = h.x.label + 1;"], &[]);
    assert_codes(FLAGS, "", &["h.x.sequence = h.x.sequence + 1;"], &[]);
    assert_codes(IP, "", &["h.x.length[7:0] = h.x.length[7:0] + 1;"], &[]);
}

#[test]
fn a_sum_of_24_bits_takes_8_bits_behind_it() {
    let statement = ["h.x.sequence = h.x.sequence + 1;"];
    assert_codes("bit<24> sequence; bit<8> flags;", "", &statement, &[]);
    assert_codes("bit<8> flags; bit<24> sequence;", "", &statement, &["T1022"]);
}

#[test]
fn other_sums_fill_their_containers() {
    let dscp = [
        "h.x.dscp = h.x.dscp + v6;",
        "h.x.dscp = h.x.dscp + m.m8[5:0];",
        "h.x.dscp = m.m8[5:0] + m.m16[5:0];",
        "h.x.dscp = m.m8[5:0] + 1;",
        "h.x.dscp = 1 - h.x.dscp;",
        "h.x.dscp = max(h.x.dscp, m.m8[5:0]);",
    ];
    let set = "m.m8 = h.x.x; m.m16 = h.x.y;";
    assert_codes(DS, set, &dscp, &["T1022"]);
    let sequence = [
        "h.x.sequence = h.x.sequence + m.m24;",
        "h.x.sequence = m.m24 + 1;",
        "h.x.sequence = max(h.x.sequence, m.m24);",
    ];
    assert_codes(FLAGS, "m.m24 = h.x.rest[23:0];", &sequence, &["T1022"]);
    assert_codes(TAG, "m.m12 = h.x.type[11:0];", &["h.x.vid = m.m12 + 1;"], &["T1022"]);
    assert_codes(DS, "m.m8 = h.x.x;", &["h.x.y[7:0] = h.x.y[7:0] + m.m8;"], &[]);
    assert_codes(FLAGS, "m.m8 = h.x.rest[7:0];", &["h.x.flags = max(h.x.flags, m.m8);"], &[]);
}

#[test]
fn a_bitwise_function_of_two_fields_fills_bytes() {
    let set = "m.m8 = h.x.x; m.m16 = h.x.y;";
    let refused = [
        "h.x.dscp = h.x.dscp ^ m.m8[5:0];",
        "h.x.dscp = h.x.dscp | v6;",
        "h.x.dscp = h.x.dscp & v6;",
        "h.x.dscp = ~h.x.dscp;",
        "h.x.dscp = h.x.dscp << 1;",
        "h.x.ecn = h.x.ecn & m.m8[1:0];",
    ];
    assert_codes(DS, set, &refused, &["T1022"]);
    assert_codes(TAG, "m.m12 = h.x.type[11:0];", &["h.x.vid = m.m12 & 0xff;"], &["T1022"]);
    let taken = [
        "h.x.sequence = h.x.sequence ^ m.m24;",
        "h.x.sequence = ~h.x.sequence;",
        "h.x.sequence = h.x.sequence << 1;",
    ];
    assert_codes(FLAGS, "m.m24 = h.x.rest[23:0];", &taken, &[]);
    let constants = ["h.x.vid = h.x.vid & 0xff0;", "h.x.vid = h.x.vid | 1;", "h.x.vid = v12;"];
    assert_codes(TAG, "", &constants, &[]);
}

#[test]
fn a_part_of_a_variable_carries_into_its_upper_bits() {
    let part = |high: u32, low: u32| {
        codes(DS, "m.m16 = h.x.y;", &format!("m.m16[{high}:{low}] = m.m16[{high}:{low}] + 1;"))
    };
    assert_eq!(part(11, 4), ["T1022"]);
    assert_eq!(part(7, 0), ["T1022"]);
    assert_eq!(part(3, 0), ["T1022"]);
    assert!(part(15, 12).is_empty());
}

#[test]
fn saturation_is_at_the_limits_of_a_container() {
    assert_codes(FLAGS, "", &["m.m24 = m.m24 |+| h.x.rest[23:0];"], &["T1008"]);
    assert_codes(TAG, "m.m12 = h.x.vid;", &["m.m12 = m.m12 |+| 3;"], &["T1008"]);
    assert_codes(DS, "m.m16 = h.x.y;", &["m.m16 = m.m16 |+| 3;"], &[]);
}

#[test]
fn a_headers_field_is_not_made_wider_in_a_sum() {
    let set = "m.m16 = h.x.y;";
    let refused = [
        "m.m16 = m.m16 + (bit<16>)h.x.x;",
        "m.m16 = (bit<16>)h.x.x + 3;",
        "m.m16 = m.m16 - (bit<16>)h.x.x;",
        "m.m16 = (bit<16>)h.x.x - m.m16;",
        "h.x.y = h.x.y + (bit<16>)h.x.x;",
        "h.x.y = h.x.y - (bit<16>)h.x.dscp;",
        "m.m16 = max(m.m16, (bit<16>)h.x.x);",
        "m.m32 = i.ingress_mac_tstamp[31:0] - (bit<32>)h.x.y;",
    ];
    assert_codes(DS, set, &refused, &["T1023"]);
    let taken = [
        "m.m16 = (bit<16>)h.x.x;",
        "m.m16 = m.m16 | (bit<16>)h.x.x;",
        "m.m32 = m.m32 + (bit<32>)i.ingress_port;",
    ];
    assert_codes(DS, set, &taken, &[]);
    assert_codes(DS, "m.m8 = h.x.x;", &["m.m16 = m.m16 + (bit<16>)m.m8;"], &[]);
}

#[test]
fn the_hash_unit_makes_a_field_of_a_part_of_a_container_wider() {
    let taken = [
        "h.x.y = h.x.y + (bit<16>)h.x.dscp;",
        "h.x.y = (bit<16>)h.x.dscp - h.x.y;",
        "m.m32 = m.m32 + (bit<32>)h.x.dscp;",
    ];
    assert_codes(DS, "", &taken, &[]);
    assert_codes(IP, "", &["m.m16 = (bit<16>)h.x.ihl + 3;"], &["T1023"]);
}

#[test]
fn two_fields_of_headers_begin_at_the_same_bit_of_a_byte() {
    assert_codes(
        IP,
        "",
        &["m.m4 = h.x.version - h.x.ihl;", "m.m4 = h.x.version ^ h.x.ihl;"],
        &["T1022"],
    );
    let refused = ["m.m4 = h.x.y[7:4] + h.x.x[3:0];", "m.m8 = h.x.y[11:4] & h.x.x;"];
    assert_codes(DS, "", &refused, &["T1022"]);
    assert_codes(TAG, "", &["m.m12 = h.x.vid + h.x.type[12:1];"], &["T1022"]);
    assert_codes(TAG, "", &["m.m12 = h.x.vid + h.x.type[11:0];"], &[]);
    assert_codes(IP, "", &["m.m4 = m.m4 + h.x.ihl;"], &[]);
}
