//! Frames held against `etherparse`, which shares no code with ours.

use super::*;
use crate::config::IpVersion;
use etherparse::{NetSlice, SlicedPacket, TcpOptionElement, TransportSlice};
use proptest::prelude::*;
use sojourn_packet::{Bytes, HeaderBytes, Packet, Time};

fn tcp_packet(flow: u32, version: IpVersion, segment: &TcpSegment) -> Packet {
    let ends = flow_endpoints(flow, version);
    let mut template = FrameTemplate::new(&ends.client, &ends.server, Protocol::Tcp);
    let mut bytes = HeaderBytes::new();
    let ports = (ends.client.port, ends.server.port);
    write_tcp(&mut template, ports, segment, FrameDetail::Whole, &mut bytes);
    Packet { bytes, zeros: segment.payload, ..Packet::default() }
}

fn whole(packet: &Packet) -> Vec<u8> {
    let mut bytes = packet.bytes.to_vec();
    bytes.resize(packet.len().0 as usize, 0);
    bytes
}

fn version() -> impl Strategy<Value = IpVersion> {
    prop_oneof![Just(IpVersion::V4), Just(IpVersion::V6)]
}

prop_compose! {
    fn segments()(
        seq: u32, ack: u32, flags in 0u16..0x200, window: u16, payload in 0u32..=1400, ecn in 0u8..4,
        mss: Option<u16>, window_scale in proptest::option::of(0u8..15), sack_permitted: bool,
        timestamps: Option<(u32, u32)>, blocks in proptest::collection::vec(any::<(u32, u32)>(), 0..4),
        counters: Option<(u32, u32, Option<u32>)>,
    ) -> TcpSegment {
        let mut options = TcpOptions {
            timestamps: timestamps.map(|(value, echo)| Timestamps { value, echo }),
            ..TcpOptions::default()
        };
        if flags & TcpFlags::SYN.0 != 0 {
            options = TcpOptions { mss, window_scale, sack_permitted, ..options };
        } else {
            blocks.iter().for_each(|(left, right)| options.sack.push(*left, *right));
        }
        let counters = counters.map(|(ect1, ce, ect0)| AccEcn {
            ect0: ect0.map(|bytes| bytes & AccEcn::MASK),
            ce: Some(ce & AccEcn::MASK),
            ect1: Some(ect1 & AccEcn::MASK),
        });
        options.acc_ecn = counters.filter(|counters| counters.len() <= options.room());
        TcpSegment { seq, ack, flags: TcpFlags(flags), window, options, payload,
                     ecn: [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(ecn)] }
    }
}

/// As many as fit together with timestamps.
fn first_three(sack: &SackBlocks) -> SackBlocks {
    let mut first = SackBlocks::default();
    sack.as_slice().iter().take(3).for_each(|(left, right)| first.push(*left, *right));
    first
}

fn check_ip(packet: &SlicedPacket) -> bool {
    match packet.net.as_ref().unwrap() {
        NetSlice::Ipv4(ip) => {
            let header = ip.header().to_header();
            header.header_checksum == header.calc_header_checksum()
        }
        NetSlice::Ipv6(_) => true,
        _ => false,
    }
}

proptest! {
    #[test]
    fn a_written_segment_is_read_back_as_it_was(
        segment in segments(), flow in 0u32..100_000, version in version()
    ) {
        let frame = read_frame(&tcp_packet(flow, version, &segment)).unwrap();
        let ends = flow_endpoints(flow, version);
        prop_assert_eq!(frame.source, ends.client.ip);
        prop_assert_eq!(frame.destination, ends.server.ip);
        prop_assert_eq!(frame.ports, (ends.client.port, ends.server.port));
        prop_assert_eq!(frame.transport, Transport::Tcp(segment));
    }

    #[test]
    fn etherparse_reads_the_same_segment_with_valid_checksums(
        segment in segments(), version in version()
    ) {
        let bytes = whole(&tcp_packet(3, version, &segment));
        let packet = SlicedPacket::from_ethernet(&bytes).unwrap();
        prop_assert!(check_ip(&packet));
        let Some(TransportSlice::Tcp(tcp)) = &packet.transport else { panic!("not TCP") };
        let header = tcp.to_header();
        let expected = match packet.net.as_ref().unwrap() {
            NetSlice::Ipv4(ip) => {
                header.calc_checksum_ipv4(&ip.header().to_header(), tcp.payload()).unwrap()
            }
            NetSlice::Ipv6(ip) => {
                header.calc_checksum_ipv6(&ip.header().to_header(), tcp.payload()).unwrap()
            }
            _ => unreachable!(),
        };
        prop_assert_eq!(header.checksum, expected);
        prop_assert_eq!(header.sequence_number, segment.seq);
        prop_assert_eq!(tcp.payload().len(), segment.payload as usize);
        // It stops at the option of accurate ECN, which is the last and which it does not support.
        let elements: Vec<_> = tcp.options_iterator().map_while(Result::ok).collect();
        if let Some(timestamps) = segment.options.timestamps {
            let same = TcpOptionElement::Timestamp(timestamps.value, timestamps.echo);
            prop_assert!(elements.contains(&same));
        }
        if let Some((first, rest)) = segment.options.sack.as_slice().split_first() {
            let mut others = [None; 3];
            rest.iter().zip(&mut others).for_each(|(block, slot)| *slot = Some(*block));
            let same = TcpOptionElement::SelectiveAcknowledgement(*first, others);
            prop_assert!(elements.contains(&same));
        }
    }

    #[test]
    fn etherparse_reads_the_same_datagram_with_a_valid_checksum(
        payload in 0u32..1400, flow in 0u32..100_000, version in version(),
        voice in proptest::option::of((any::<u16>(), any::<u32>())),
        begins in proptest::collection::vec(any::<u8>(), 0..12), dscp in 0u8..64,
    ) {
        let ends = flow_endpoints(flow, version);
        let mut template =
            FrameTemplate::new(&ends.client, &ends.server, Protocol::Udp).with_dscp(dscp);
        let mut bytes = HeaderBytes::new();
        let rtp = voice.map(|(sequence, timestamp)| Rtp { sequence, timestamp });
        let header = if rtp.is_some() { RTP_HEADER_LEN as u32 } else { begins.len() as u32 };
        let payload = payload + header;
        let datagram = UdpDatagram { payload, ecn: Ecn::NotEct, rtp };
        write_udp(&mut template, (ends.client.port, ends.server.port), &datagram, &begins, &mut bytes);
        let packet = Packet { bytes, zeros: payload - header, ..Packet::default() };
        prop_assert_eq!(read_frame(&packet).unwrap().transport, Transport::Udp(datagram));
        let bytes = whole(&packet);
        let sliced = SlicedPacket::from_ethernet(&bytes).unwrap();
        prop_assert!(check_ip(&sliced));
        let class = match sliced.net.as_ref().unwrap() {
            NetSlice::Ipv4(ip) => ip.header().dcp().value(),
            NetSlice::Ipv6(ip) => ip.header().dscp().value(),
            _ => panic!("not IP"),
        };
        prop_assert_eq!(class, dscp);
        let Some(TransportSlice::Udp(udp)) = &sliced.transport else { panic!("not UDP") };
        prop_assert!(rtp.is_some() || udp.payload().starts_with(&begins));
        let header = udp.to_header();
        let expected = match sliced.net.as_ref().unwrap() {
            NetSlice::Ipv4(ip) => {
                header.calc_checksum_ipv4(&ip.header().to_header(), udp.payload()).unwrap()
            }
            NetSlice::Ipv6(ip) => {
                header.calc_checksum_ipv6(&ip.header().to_header(), udp.payload()).unwrap()
            }
            _ => unreachable!(),
        };
        prop_assert_eq!(header.checksum, expected);
    }

    #[test]
    fn any_bytes_are_read_or_refused_without_a_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..128), zeros in 0u32..2000
    ) {
        let _ = read_frame(&Packet { bytes, zeros, ..Packet::default() });
    }

    #[test]
    fn a_frame_with_a_few_bytes_changed_never_panics(
        segment in segments(), edits in proptest::collection::vec((0usize..94, any::<u8>()), 1..4),
        version in version(), cut in 0u64..200
    ) {
        let mut packet = tcp_packet(0, version, &segment);
        for (at, byte) in edits {
            if let Some(slot) = packet.bytes.get_mut(at) { *slot = byte; }
        }
        packet.truncate(Bytes(cut));
        let _ = read_frame(&packet);
    }
}

fn full_segment() -> TcpSegment {
    TcpSegment {
        payload: 1448,
        flags: TcpFlags::ACK,
        options: TcpOptions { timestamps: Some(Timestamps::default()), ..TcpOptions::default() },
        ..TcpSegment::default()
    }
}

#[test]
fn either_order_of_the_accurate_ecn_option_and_any_of_its_lengths_are_read() {
    // RFC 9768 section 3.2.3: kind 172 has ECT(0) first, kind 174 ECT(1); fields at the end may be missing.
    let read = |bytes: &[u8]| TcpOptions::read(bytes).unwrap().acc_ecn.unwrap();
    let all = AccEcn { ect0: Some(1), ce: Some(0x0002_0000), ect1: Some(0x03_0004) };
    assert_eq!(read(&[172, 11, 0, 0, 1, 2, 0, 0, 3, 0, 4]), all);
    assert_eq!(read(&[174, 11, 3, 0, 4, 2, 0, 0, 0, 0, 1]), all);
    assert_eq!(read(&[172, 8, 0, 0, 1, 2, 0, 0]), AccEcn { ect1: None, ..all });
    assert_eq!(read(&[174, 5, 3, 0, 4]), AccEcn { ect1: all.ect1, ..AccEcn::default() });
    assert_eq!(read(&[172, 2]), AccEcn::default());
    assert_eq!(TcpOptions::read(&[172, 4, 0, 0]), Err(WireError::Options));
}

#[test]
fn a_full_segment_with_timestamps_has_1514_bytes_on_the_wire() {
    assert_eq!(tcp_packet(0, IpVersion::V4, &full_segment()).len(), Bytes(1514));
}

#[test]
fn one_flipped_bit_anywhere_behind_ethernet_is_noticed() {
    let good = tcp_packet(0, IpVersion::V4, &full_segment());
    for bit in ETHERNET_HEADER_LEN * 8..good.bytes.len() * 8 {
        let mut bad = good.clone();
        bad.bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(read_frame(&bad).is_err(), "bit {bit}");
    }
}

#[test]
fn a_payload_that_a_program_wrote_into_is_part_of_the_checksum() {
    let mut packet = tcp_packet(0, IpVersion::V4, &full_segment());
    packet.bytes.extend_from_slice(&[0xde, 0xad]);
    packet.zeros -= 2;
    assert_eq!(read_frame(&packet), Err(WireError::Checksum));
}

#[test]
fn ethernet_padding_is_not_payload() {
    let segment = TcpSegment { flags: TcpFlags::ACK, ..TcpSegment::default() };
    let mut packet = tcp_packet(0, IpVersion::V4, &segment);
    packet.zeros += 6;
    assert_eq!(read_frame(&packet).unwrap().transport, Transport::Tcp(segment));
}

#[test]
fn a_vlan_tag_hides_no_address_and_a_host_without_a_vlan_refuses_the_frame() {
    for version in [IpVersion::V4, IpVersion::V6] {
        let plain = tcp_packet(3, version, &full_segment());
        let mut tagged = plain.clone();
        tagged.bytes.splice(12..12, [0x81, 0x00, 0x00, 0x07]);
        assert!(destination(&plain).is_some());
        assert_eq!(destination(&tagged), destination(&plain));
        assert_eq!(addressee(&tagged), addressee(&plain));
        assert_eq!(read_frame(&tagged), Err(WireError::Protocol));
    }
}

#[test]
fn a_ranked_transfer_has_its_remaining_bytes_or_its_deadline_in_the_identification() {
    let ends = flow_endpoints(0, IpVersion::V4);
    let first = u32::MAX - 4_999;
    let written = |ranks, seq: u32, payload| {
        let template = FrameTemplate::new(&ends.client, &ends.server, Protocol::Tcp);
        let mut template = template.with_ranks(ranks);
        let segment = TcpSegment { seq, payload, ..TcpSegment::default() };
        let mut frame = HeaderBytes::new();
        write_tcp(&mut template, (1, 2), &segment, FrameDetail::Whole, &mut frame);
        let packet = Packet { bytes: frame, zeros: payload, ..Packet::default() };
        assert!(read_frame(&packet).is_ok(), "its checksums are right");
        u16::from_be_bytes([packet.bytes[18], packet.bytes[19]])
    };
    let rank = |bytes, seq, payload| written(Ranks::remaining(first, bytes), seq, payload);
    // The sequence numbers wrap after 5,000 bytes.
    assert_eq!(rank(10_240, first, 1_448), 10);
    assert_eq!(rank(10_240, first.wrapping_add(9_216), 1_024), 1);
    assert_eq!(rank(10_240, first.wrapping_add(9_215), 1_025), 2, "rounded up");
    assert_eq!(rank(10_240, first.wrapping_sub(1), 0), 0, "no payload");
    assert_eq!([1 << 26, 1 << 31, 1 << 40].map(|bytes| rank(bytes, first, 1_448)), [u16::MAX; 3]);
    let deadline = |us, payload| written(Ranks::deadline(Time::from_micros(us)), first, payload);
    assert_eq!([0, 99, 100, 20_050].map(|us| deadline(us, 1_448)), [0, 0, 1, 200]);
    assert_eq!(deadline(20_050, 0), 0, "no payload");
    assert_eq!(deadline(7_000_000, 1), u16::MAX);
}

proptest! {
    #[test]
    fn a_frame_of_the_predicted_form_is_written_as_any_is(
        segment in segments(), timestamps: (u32, u32), flow in 0u32..100_000, version in version()
    ) {
        let options = TcpOptions {
            timestamps: Some(Timestamps { value: timestamps.0, echo: timestamps.1 }),
            ..TcpOptions::default()
        };
        let segment = TcpSegment { options, ..segment };
        let ends = flow_endpoints(flow, version);
        let mut template = FrameTemplate::new(&ends.client, &ends.server, Protocol::Tcp).with_dscp(11);
        let ports = (ends.client.port, ends.server.port);
        // The second frame has another identification.
        for _ in 0..2 {
            let (mut short, mut long) = (HeaderBytes::new(), HeaderBytes::new());
            let made = FrameDetail::Whole;
            write_tcp(&mut template.clone(), ports, &segment, made, &mut short);
            tcp::write_any(&mut template, ports, &segment, &mut long);
            prop_assert_eq!(short, long);
        }
    }

    #[test]
    fn a_frame_of_the_predicted_form_is_read_as_any_is_and_no_other_is_read(
        segment in segments(), timestamps: (u32, u32), bare: bool, padding in 0u32..9,
        mutation in proptest::option::of((0usize..66, 0u8..8))
    ) {
        let options = TcpOptions {
            timestamps: Some(Timestamps { value: timestamps.0, echo: timestamps.1 }),
            ..TcpOptions::default()
        };
        let segment = if bare { TcpSegment { options, ..segment } } else { segment };
        let mut packet = tcp_packet(1, IpVersion::V4, &segment);
        packet.zeros += padding;
        if let Some(byte) = mutation.and_then(|(at, _)| packet.bytes.get_mut(at)) {
            *byte ^= 1 << mutation.map_or(0, |(_, bit)| bit);
        }
        let any = read_frame(&packet);
        if let Some(predicted) = header_prediction::read(&packet, FrameDetail::Whole) {
            let (ports, segment) = (predicted.ports, predicted.with_ranges(None));
            let of_any = any.map(|frame| (frame.ports, frame.transport));
            prop_assert_eq!(Ok((ports, Transport::Tcp(segment))), of_any);
        } else {
            let alone = any.is_ok_and(|frame| match frame.transport {
                Transport::Tcp(read) => read.options == TcpOptions {
                    timestamps: read.options.timestamps, ..TcpOptions::default()
                } && read.options.timestamps.is_some() && packet.bytes.len() == 66,
                Transport::Udp(_) => false,
            });
            prop_assert!(!alone, "the form is not seen");
        }
    }

    #[test]
    fn a_compact_segment_says_what_its_frame_does_is_as_long_and_has_no_ip_header(
        segment in segments(), timestamps: (u32, u32), flow in 0u32..100_000, version in version()
    ) {
        let options = TcpOptions {
            timestamps: Some(Timestamps { value: timestamps.0, echo: timestamps.1 }),
            sack: first_three(&segment.options.sack),
            ..TcpOptions::default()
        };
        let segment = TcpSegment { options, ecn: Ecn::NotEct, ..segment };
        let TcpSegment { seq, ack, flags, window, payload, ecn, .. } = segment;
        let ends = flow_endpoints(flow, version);
        let mut template = FrameTemplate::new(&ends.client, &ends.server, Protocol::Tcp);
        let (ports, timestamps) = ((ends.client.port, ends.server.port), options.timestamps.unwrap());
        let predicted = PredictedHeader { ports, seq, ack, timestamps, payload, flags, window, ecn };
        let ranges = Some(&options.sack).filter(|sack| !sack.is_empty());
        let mut sent = |written| {
            let mut packet = Packet::default();
            packet.zeros = write_predicted(&mut template, &predicted, ranges, written, &mut packet.bytes);
            packet
        };
        let (compact, whole) = (sent(FrameDetail::Compact), sent(FrameDetail::Whole));
        prop_assert_eq!(compact.len(), whole.len());
        prop_assert_eq!(sojourn_packet::IpHeader::find(&compact), None);
        let of_whole = read_frame(&whole).map(|frame| (frame.ports, frame.transport));
        prop_assert_eq!(Ok((ports, Transport::Tcp(segment))), of_whole);
        match ranges {
            None => {
                prop_assert_eq!(AbstractSegment::from_packet(&compact).map(|c| c.read()), Some(predicted));
                prop_assert!(AbstractSegment::with_ranges(&compact).is_none());
            }
            Some(sack) => {
                prop_assert!(AbstractSegment::from_packet(&compact).is_none());
                prop_assert_eq!(AbstractSegment::with_ranges(&compact), Some((predicted, *sack)));
            }
        }
        let framed = sent(FrameDetail::Framed);
        prop_assert_eq!(framed.len(), whole.len());
        prop_assert_eq!(&framed.bytes[..ETHERNET_HEADER_LEN], &whole.bytes[..ETHERNET_HEADER_LEN]);
        prop_assert_eq!(&framed.bytes[ETHERNET_HEADER_LEN + 2..], &compact.bytes[..]);
        let read = |packet: &Packet| {
            let alone = AbstractSegment::framed(packet).map(|c| (c.read(), SackBlocks::default()));
            alone.or(AbstractSegment::framed_with_ranges(packet))
        };
        prop_assert_eq!(read(&framed), Some((predicted, options.sack)));
        let mut changed = framed;
        changed.bytes[12] ^= 1;
        prop_assert!([&changed, &whole, &compact].into_iter().all(|packet| read(packet).is_none()));
        // Whatever else comes is none.
        prop_assert!(AbstractSegment::from_packet(&whole).is_none() && AbstractSegment::with_ranges(&whole).is_none());
        let rest = compact.bytes.len() - 1;
        let cut = Packet { bytes: compact.bytes[..rest].to_vec(), ..compact };
        prop_assert!(AbstractSegment::from_packet(&cut).is_none() && AbstractSegment::with_ranges(&cut).is_none());
    }
}
