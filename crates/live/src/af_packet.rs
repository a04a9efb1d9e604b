//! Packet socket on an interface: batched receive and send, without the kernel's own queues.

use crate::LiveError;
use crate::interface::{Arrival, Interface, LONGEST};
use crate::syscalls::{self, BATCH, HEADROOM, Outgoing, Slot};
use std::ffi::c_int;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// Receive buffer of the socket, bytes: some ten milliseconds of 1 Gbit/s with the kernel's
/// overhead for each frame.
const WAITING: c_int = 8 << 20;
/// Offset of the EtherType, bytes.
const TYPE: usize = 12;
/// EtherType of a VLAN tag if the kernel does not give one (IEEE 802.1Q).
const VLAN: u16 = 0x8100;

/// A packet socket on one interface.
pub struct PacketSocket {
    name: String,
    socket: OwnedFd,
    slots: Vec<Slot>,
    queued: Vec<Outgoing>,
}

impl PacketSocket {
    /// Opens an existing interface: the socket receives all its frames, including those for other
    /// hosts.
    ///
    /// # Errors
    /// It does not exist, or the process has no permission.
    pub fn open(name: &str) -> Result<PacketSocket, LiveError> {
        let refused = |what| move |error| LiveError::refused(name, what, error);
        let index = syscalls::interface_index(name).map_err(refused("finding it"))?;
        let socket = syscalls::packet_socket().map_err(refused("opening a packet socket"))?;
        let packet = libc::SOL_PACKET;
        let on: c_int = 1;
        syscalls::set(&socket, packet, libc::PACKET_AUXDATA, &on)
            .map_err(refused("asking for tags"))?;
        syscalls::set(&socket, packet, libc::PACKET_IGNORE_OUTGOING, &on)
            .map_err(refused("ignoring what is sent"))?;
        syscalls::set(&socket, packet, libc::PACKET_QDISC_BYPASS, &on)
            .map_err(refused("sending past the queueing discipline"))?;
        // The maximum allowed size, if that is below the requested one.
        let level = libc::SOL_SOCKET;
        if syscalls::set(&socket, level, libc::SO_RCVBUFFORCE, &WAITING).is_err() {
            syscalls::set(&socket, level, libc::SO_RCVBUF, &WAITING)
                .map_err(refused("making room for frames"))?;
        }
        let all = libc::packet_mreq {
            mr_ifindex: index,
            mr_type: libc::PACKET_MR_PROMISC as u16,
            mr_alen: 0,
            mr_address: [0; 8],
        };
        syscalls::set(&socket, packet, libc::PACKET_ADD_MEMBERSHIP, &all)
            .map_err(refused("taking frames for others"))?;
        syscalls::bind_to(&socket, index).map_err(refused("binding to it"))?;
        let slots = (0..BATCH).map(|_| Slot::new(LONGEST)).collect();
        Ok(PacketSocket { name: name.to_owned(), socket, slots, queued: Vec::new() })
    }
}

impl Interface for PacketSocket {
    fn name(&self) -> &str {
        &self.name
    }

    fn descriptor(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    fn receive(&mut self, take: &mut dyn FnMut(Arrival<'_>)) -> io::Result<usize> {
        let got = match syscalls::receive(&self.socket, &mut self.slots) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(0),
            got => got?,
        };
        self.slots[..got].iter_mut().for_each(|slot| take(arrival(slot)));
        Ok(got)
    }

    /// An interface that was removed and added again has another index.
    fn reopen(&mut self) -> bool {
        let anew = PacketSocket::open(&self.name).map(|anew| self.socket = anew.socket);
        anew.is_ok()
    }

    fn queue(&mut self, bytes: Vec<u8>, zeros: usize) {
        self.queued.push((bytes, zeros));
    }

    fn flush(&mut self, empty: &mut Vec<Vec<u8>>) -> usize {
        let (mut done, mut refused) = (0, 0);
        while done < self.queued.len() {
            match syscalls::send(&self.socket, &self.queued[done..]) {
                Ok(sent) => done += sent,
                // The first frame cannot be sent; the next may.
                Err(_) => {
                    done += 1;
                    refused += 1;
                }
            }
        }
        empty.extend(self.queued.drain(..).map(|(bytes, _)| bytes));
        refused
    }

    fn lost(&mut self) -> u64 {
        syscalls::dropped(&self.socket).unwrap_or(0)
    }
}

/// A received frame as it was on the wire: a VLAN tag that the kernel removed is inserted again.
fn arrival(slot: &mut Slot) -> Arrival<'_> {
    let held = slot.length.min(slot.bytes.len() - HEADROOM);
    let status = slot.auxdata.map_or(0, |auxdata| auxdata.tp_status);
    let unfinished = status & libc::TP_STATUS_CSUMNOTREADY != 0;
    let tagged = slot.auxdata.filter(|_| status & libc::TP_STATUS_VLAN_VALID != 0 && held >= TYPE);
    let Some(tag) = tagged else {
        return Arrival { bytes: &slot.bytes[HEADROOM..][..held], length: slot.length, unfinished };
    };
    let known = status & libc::TP_STATUS_VLAN_TPID_VALID != 0;
    let kind = if known { tag.tp_vlan_tpid } else { VLAN };
    slot.bytes.copy_within(HEADROOM..HEADROOM + TYPE, 0);
    slot.bytes[TYPE..TYPE + 2].copy_from_slice(&kind.to_be_bytes());
    slot.bytes[TYPE + 2..TYPE + 4].copy_from_slice(&tag.tp_vlan_tci.to_be_bytes());
    let bytes = &slot.bytes[..HEADROOM + held];
    Arrival { bytes, length: slot.length + HEADROOM, unfinished }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(frame: &[u8], status: u32) -> Slot {
        let mut slot = Slot::new(100);
        slot.bytes[HEADROOM..HEADROOM + frame.len()].copy_from_slice(frame);
        slot.length = frame.len();
        slot.auxdata = Some(libc::tpacket_auxdata {
            tp_status: status,
            tp_len: 0,
            tp_snaplen: 0,
            tp_mac: 0,
            tp_net: 0,
            tp_vlan_tci: 0x2064,
            tp_vlan_tpid: 0x88a8,
        });
        slot
    }

    const FRAME: [u8; 16] = [1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 0x08, 0x00, 0x45, 0];

    #[test]
    fn a_tag_that_the_kernel_took_out_is_where_it_was() {
        let status = libc::TP_STATUS_VLAN_VALID | libc::TP_STATUS_VLAN_TPID_VALID;
        let mut slot = slot(&FRAME, status);
        let arrival = arrival(&mut slot);
        let mut expected = FRAME[..12].to_vec();
        expected.extend([0x88, 0xa8, 0x20, 0x64]);
        expected.extend(&FRAME[12..]);
        assert_eq!((arrival.bytes, arrival.length), (&expected[..], 20));
    }

    #[test]
    fn a_frame_without_a_tag_is_as_it_came() {
        let mut slot = slot(&FRAME, libc::TP_STATUS_CSUMNOTREADY);
        let arrival = arrival(&mut slot);
        assert_eq!((arrival.bytes, arrival.length, arrival.unfinished), (&FRAME[..], 16, true));
    }

    #[test]
    fn a_frame_too_long_is_cut_and_its_length_is_reported() {
        let mut slot = slot(&FRAME, 0);
        slot.length = 65_000;
        let arrival = arrival(&mut slot);
        assert_eq!((arrival.bytes.len(), arrival.length), (100, 65_000));
    }
}
