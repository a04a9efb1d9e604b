//! The examples at the root of the repository run.

#[path = "../../../examples/tcp_over_p4.rs"]
#[expect(dead_code, reason = "its `main` runs five seconds; the test one")]
mod tcp_over_p4;

#[test]
fn tcp_fills_the_link_and_the_program_drops() {
    let (packets, dropped) = tcp_over_p4::run(1).unwrap();
    assert!(packets > 1_000 && dropped > 0, "{packets} packets, {dropped} dropped");
}
