//! BfRt's groups and members: updates that the vendor's driver accepts, and those that it rejects.

use crate::bench::{codes, receive};
use crate::tofino::{Client, client, client_of, exact, frame, number, numbers};
use sojourn_protocols::device::Device;
use sojourn_protocols::wire::bfrt_proto as bfrt;
use sojourn_protocols::wire::bfrt_proto::data_field::{BoolArray, Value as Datum};
use sojourn_protocols::wire::bfrt_proto::entity::Entity;
use sojourn_protocols::wire::bfrt_proto::key_field::MatchType;
use sojourn_protocols::wire::bfrt_proto::update::Type::{Delete, Insert, Modify, ModifyInc};
use sojourn_protocols::wire::bfrt_proto::write_request::Atomicity;
use std::time::Duration;
use tonic::Code;

fn member(id: u64) -> [(&'static str, MatchType); 1] {
    [("$ACTION_MEMBER_ID", exact(id, 4))]
}

fn group(id: u64) -> [(&'static str, MatchType); 1] {
    [("$SELECTOR_GROUP_ID", exact(id, 4))]
}

fn of(members: &[u32], states: &[bool], room: u64) -> [(&'static str, Datum); 3] {
    let states = Datum::BoolArrVal(BoolArray { val: states.to_vec() });
    [
        ("$ACTION_MEMBER_ID", numbers(members)),
        ("$ACTION_MEMBER_STATUS", states),
        ("$MAX_GROUP_SIZE", number(room, 4)),
    ]
}

async fn with_members(mut one: Client) -> Client {
    for id in 1..=4 {
        let entry = one.entry("members", &member(id), "mark", &[("color", number(id, 1))]);
        assert_eq!(one.write(Insert, entry).await, Code::Ok);
    }
    let other = one.entry("members", &member(5), "replicate", &[("group", number(9, 2))]);
    assert_eq!(one.write(Insert, other).await, Code::Ok);
    one
}

fn leads(one: &Client, to: &'static str, number_of: u64) -> bfrt::TableEntry {
    let key = [("hdr.ethernet.kind", exact(0x800, 2))];
    one.entry("chosen_t", &key, "", &[(to, number(number_of, 4))])
}

fn default_entry(mut entry: bfrt::TableEntry) -> bfrt::TableEntry {
    entry.value = None;
    entry.is_default_entry = true;
    entry
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_group_has_as_much_room_as_the_program_says() {
    let mut one = with_members(client().await).await;
    for (room, code) in [(9, Code::InvalidArgument), (0, Code::InvalidArgument), (2, Code::Ok)] {
        let entry = one.entry("groups+", &group(1), "", &of(&[1, 2], &[true; 2], room));
        assert_eq!(one.write(Insert, entry).await, code, "{room}");
    }
    let cases = [
        (&[1u32, 2][..], 9, Code::InvalidArgument),
        // Members that fitted before and do not fit the smaller size, and members that never did.
        (&[1, 2], 1, Code::InvalidArgument),
        (&[1, 2, 3], 2, Code::ResourceExhausted),
        (&[1, 2, 5], 8, Code::InvalidArgument),
        (&[1, 2, 3], 8, Code::Ok),
        // A size of 0 keeps the previous one.
        (&[1, 2, 3, 4], 0, Code::Ok),
    ];
    for (members, room, code) in cases {
        let states = vec![true; members.len()];
        let entry = one.entry("groups+", &group(1), "", &of(members, &states, room));
        assert_eq!(one.write(Modify, entry).await, code, "{members:?} in {room}");
    }
    let whole = one.entry("groups+", &group(1), "", &of(&[1, 2, 3, 4], &[true; 4], 8));
    assert_eq!(one.read_one("groups+", &group(1)).await, Entity::TableEntry(whole));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn members_and_groups_of_entries_exist_and_cannot_be_deleted() {
    let mut one = with_members(client().await).await;
    let empty = one.entry("groups+", &group(1), "", &of(&[], &[], 4));
    assert_eq!(one.write(Insert, empty.clone()).await, Code::Ok);
    for (to, number) in
        [("$SELECTOR_GROUP_ID", 1), ("$SELECTOR_GROUP_ID", 2), ("$ACTION_MEMBER_ID", 9)]
    {
        let entry = leads(&one, to, number);
        assert_eq!(one.write(Insert, entry.clone()).await, Code::NotFound, "{to} {number}");
        assert_eq!(one.write(Modify, default_entry(entry)).await, Code::NotFound, "{to} {number}");
    }
    let full = one.entry("groups+", &group(1), "", &of(&[1, 2], &[true, false], 4));
    assert_eq!(one.write(Modify, full.clone()).await, Code::Ok);
    let entry = leads(&one, "$SELECTOR_GROUP_ID", 1);
    assert_eq!(one.write(Insert, entry.clone()).await, Code::Ok);
    let gone = one.entry("groups+", &group(1), "", &[]);
    let of_group = one.entry("members", &member(1), "", &[]);
    let down = one.entry("groups+", &group(1), "", &of(&[1, 2], &[false; 2], 4));
    let other = one.entry("groups+", &group(1), "", &of(&[5], &[true], 4));
    assert_eq!(one.write(Delete, gone.clone()).await, Code::AlreadyExists);
    assert_eq!(one.write(Delete, of_group.clone()).await, Code::AlreadyExists);
    for refused in [empty.clone(), down.clone(), other.clone()] {
        assert_eq!(one.write(Modify, refused).await, Code::InvalidArgument);
    }
    let last = one.entry("groups+", &group(1), "", &of(&[1], &[true], 4)[..2]);
    assert_eq!(one.write(ModifyInc, last).await, Code::Ok);
    // Without references to it, all of that is possible.
    let key_alone = bfrt::TableEntry { data: None, ..entry };
    assert_eq!(one.write(Delete, key_alone).await, Code::Ok);
    for taken in [down, other, empty] {
        assert_eq!(one.write(Modify, taken).await, Code::Ok);
    }
    assert_eq!(one.write(Delete, gone).await, Code::Ok);
    assert_eq!(one.write(Delete, of_group).await, Code::Ok);
    let everything = bfrt::TableEntry { data: None, ..one.entry("members", &[], "", &[]) };
    assert_eq!(one.write(Delete, bfrt::TableEntry { value: None, ..everything }).await, Code::Ok);
}

fn ports_of_a_packet(one: &Client, dst: u64) -> Vec<u16> {
    assert!(one.server.bench.submit(receive(1, frame(dst))));
    let wait = Duration::from_millis(500);
    let next = || one.server.left.recv_timeout(wait).ok().map(|(port, _)| port);
    let mut ports: Vec<u16> = std::iter::from_fn(next).collect();
    ports.sort_unstable();
    ports
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_miss_leads_to_a_member_or_to_a_group() {
    let mut one = with_members(client().await).await;
    for (id, ports) in [(4u64, [2u32]), (6, [3])] {
        let node = [("$MULTICAST_RID", number(1, 2)), ("$DEV_PORT", numbers(&ports))];
        let node = one.entry("$pre.node", &[("$MULTICAST_NODE_ID", exact(id, 4))], "", &node);
        assert_eq!(one.write(Insert, node).await, Code::Ok);
    }
    for (mgid, node) in [(9u64, 4u32), (10, 6)] {
        let nodes = [("$MULTICAST_NODE_ID", numbers(&[node]))];
        let entry = one.entry("$pre.mgid", &[("$MGID", exact(mgid, 2))], "", &nodes);
        assert_eq!(one.write(Insert, entry).await, Code::Ok);
    }
    let key = [("dst", exact(7, 6))];
    let entry = one.entry("exact_t", &key, "send", &[("port", number(511, 2))]);
    assert_eq!(one.write(Insert, entry).await, Code::Ok);
    assert!(ports_of_a_packet(&one, 7).is_empty());
    let entry = one.entry("groups+", &group(1), "", &of(&[5], &[true], 4));
    assert_eq!(one.write(Insert, entry).await, Code::Ok);
    for (to, number) in [("$ACTION_MEMBER_ID", 5), ("$SELECTOR_GROUP_ID", 1)] {
        let default = default_entry(leads(&one, to, number));
        assert_eq!(one.write(Modify, default.clone()).await, Code::Ok);
        let asked = bfrt::TableEntry { data: None, ..default.clone() };
        let Entity::TableEntry(read) = &one.read(asked).await.unwrap()[0] else { panic!("{to}") };
        assert_eq!(read.data, default.data);
        assert_eq!(ports_of_a_packet(&one, 7), [2]);
    }
    // A member's later change applies to the default entry, too, which keeps the member in use.
    let other = one.entry("members", &member(5), "replicate", &[("group", number(10, 2))]);
    assert_eq!(one.write(Modify, other).await, Code::Ok);
    assert_eq!(ports_of_a_packet(&one, 7), [3]);
    let gone = one.entry("groups+", &group(1), "", &[]);
    assert_eq!(one.write(Delete, gone.clone()).await, Code::AlreadyExists);
    let default = default_entry(leads(&one, "$SELECTOR_GROUP_ID", 1));
    let reset = bfrt::TableEntry { data: None, ..default };
    assert_eq!(one.write(Delete, reset).await, Code::Ok);
    assert!(ports_of_a_packet(&one, 7).is_empty());
    assert_eq!(one.write(Delete, gone).await, Code::Ok);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settings_common_to_all_pipes_cannot_be_written_in_one() {
    let mut one = with_members(client_of(2).await).await;
    let target = bfrt::TargetDevice { pipe_id: 0, ..Default::default() };
    let in_one = |entry| bfrt::TableEntry { entry_tgt: Some(target), ..entry };
    let entry = one.entry("groups+", &group(1), "", &of(&[1], &[true], 4));
    assert_eq!(one.write(Insert, in_one(entry.clone())).await, Code::InvalidArgument);
    assert_eq!(one.write(Insert, entry.clone()).await, Code::Ok);
    assert_eq!(one.write(Modify, in_one(entry)).await, Code::InvalidArgument);
    let entry = one.entry("members", &member(1), "mark", &[("color", number(7, 1))]);
    assert_eq!(one.write(Modify, in_one(entry)).await, Code::InvalidArgument);
    let entry = leads(&one, "$ACTION_MEMBER_ID", 1);
    assert_eq!(one.write(Insert, in_one(entry.clone())).await, Code::InvalidArgument);
    assert_eq!(one.write(Insert, entry.clone()).await, Code::Ok);
    // Reads are allowed.
    let asked = bfrt::TableEntry { data: None, ..entry };
    let read = one.read(in_one(asked)).await;
    assert!(read.is_ok(), "{:?}", read.map_err(|no| codes(&no)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_that_is_taken_back_leaves_members_and_groups_as_they_were() {
    let mut one = with_members(client().await).await;
    let groups = one.entry("groups+", &group(1), "", &of(&[1, 2], &[true; 2], 4));
    assert_eq!(one.write(Insert, groups.clone()).await, Code::Ok);
    let entry = |one: &Client, id, color| {
        one.entry("members", &member(id), "mark", &[("color", number(color, 1))])
    };
    let batch = [
        (Insert, entry(&one, 6, 6)),
        (Modify, entry(&one, 1, 7)),
        (Modify, one.entry("groups+", &group(1), "", &of(&[6], &[true], 4))),
        (Delete, one.entry("members", &member(2), "", &[])),
        (Insert, one.entry("groups+", &group(2), "", &of(&[6], &[true], 4))),
        (Insert, entry(&one, 1, 1)),
    ];
    let failed = one.write_as(Atomicity::RollbackOnError, batch.to_vec()).await.unwrap_err();
    assert_eq!(codes(&failed).last(), Some(&Code::AlreadyExists));
    assert_eq!(one.read_one("groups+", &group(1)).await, Entity::TableEntry(groups));
    for id in [1, 2] {
        let was = Entity::TableEntry(entry(&one, id, id));
        assert_eq!(one.read_one("members", &member(id)).await, was);
    }
    for absent in
        [one.entry("members", &member(6), "", &[]), one.entry("groups+", &group(2), "", &[])]
    {
        let absent = bfrt::TableEntry { data: None, ..absent };
        assert_eq!(codes(&one.read(absent).await.unwrap_err()), [Code::NotFound]);
    }
    // The chip is unchanged, too: member 6 is unused, and members 1 and 2 are in use.
    assert_eq!(one.write(Insert, entry(&one, 6, 6)).await, Code::Ok);
    let in_use = one.entry("members", &member(2), "", &[]);
    assert_eq!(one.write(Delete, in_use).await, Code::AlreadyExists);
}
