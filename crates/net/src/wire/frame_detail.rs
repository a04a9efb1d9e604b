//! Level of detail at which hosts write their frames.

/// Level of detail of frames with a [`PredictedHeader`](super::PredictedHeader), which nearly all have. Any
/// other frame is whole.
///
/// ```
/// use sojourn_net::config::IpVersion;
/// use sojourn_net::wire::{
///     AbstractSegment, FrameTemplate, Protocol, PredictedHeader, FrameDetail, flow_endpoints, read_frame,
///     read_predicted, write_predicted,
/// };
/// use sojourn_packet::Packet;
/// let ends = flow_endpoints(0, IpVersion::V4);
/// let mut template = FrameTemplate::new(&ends.client, &ends.server, Protocol::Tcp);
/// let segment = PredictedHeader { ports: (5_001, 80), payload: 1_448, ..PredictedHeader::default() };
/// let mut sent = |written| {
///     let mut frame = Packet::default();
///     frame.zeros = write_predicted(&mut template, &segment, None, written, &mut frame.bytes);
///     let compact = AbstractSegment::from_packet(&frame).or(AbstractSegment::framed(&frame));
///     let read = compact.map(|segment| segment.read()).or(read_predicted(&frame, written));
///     assert_eq!(read, Some(segment));
///     frame
/// };
/// assert!(read_frame(&sent(FrameDetail::Whole)).is_ok());
/// assert!(read_frame(&sent(FrameDetail::Unsummed)).is_err(), "a checksum is wrong");
/// assert_eq!(sent(FrameDetail::Compact).len(), sent(FrameDetail::Whole).len());
/// assert_eq!(sent(FrameDetail::Framed).bytes[..14], sent(FrameDetail::Whole).bytes[..14]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrameDetail {
    /// As they are on a wire. Checksums are made where they are sent and checked where they arrive.
    #[default]
    Whole,
    /// Without checksums: only addresses, ports and the ECN field of frames are read on their way,
    /// and none are corrupted.
    Unsummed,
    /// As their host represents them, behind their Ethernet headers: only those are read.
    Framed,
    /// As their host represents them: only the ECN field is read.
    Compact,
}
