//! Interface: the network device that a port of a live switch is connected to.

use crate::{LiveError, PacketSocket, syscalls, tap::Tap};
use std::io;
use std::os::fd::RawFd;

/// Maximum size of a frame received in full: 9,000 bytes of payload, Ethernet and two VLAN tags.
pub const LONGEST: usize = 9_000 + 14 + 8;

/// A received frame.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// Its bytes without FCS, VLAN tags in place, truncated to `LONGEST`.
    pub bytes: &'a [u8],
    /// Its original length.
    pub length: usize,
    /// True if the sender left the checksum to hardware that does not exist.
    pub unfinished: bool,
}

/// A source and destination of frames. It never blocks.
pub trait Interface: Send {
    /// Name for messages.
    fn name(&self) -> &str;

    /// Descriptor that becomes readable when a frame has arrived.
    fn descriptor(&self) -> RawFd;

    /// Receives at most a batch of frames; returns their number.
    ///
    /// # Errors
    /// The interface is absent or down; it may return.
    fn receive(&mut self, take: &mut dyn FnMut(Arrival<'_>)) -> io::Result<usize>;

    /// Opens it again after a failure; returns whether it exists. An interface that cannot vanish
    /// does nothing.
    fn reopen(&mut self) -> bool {
        true
    }

    /// Queues a frame for the next [`Interface::flush`]: its bytes and `zeros` more.
    fn queue(&mut self, bytes: Vec<u8>, zeros: usize);

    /// Sends the queued frames and returns their buffers in `empty`; returns the number of frames
    /// that could not be sent.
    fn flush(&mut self, empty: &mut Vec<Vec<u8>>) -> usize;

    /// Frames that the kernel has dropped since the last call because they were not received in
    /// time.
    fn lost(&mut self) -> u64 {
        0
    }
}

/// Opens an interface by name: `tap:NAME` is a TAP device, created if it does not exist; any other
/// name is an existing interface.
///
/// ```
/// use sojourn_live::{PacketSocket, is_up, open};
/// assert!(open("no-such").is_err() && PacketSocket::open("no-such").is_err());
/// assert!(!is_up("no-such"));
/// ```
///
/// # Errors
/// It does not exist, or cannot be opened.
pub fn open(name: &str) -> Result<Box<dyn Interface>, LiveError> {
    match name.strip_prefix("tap:") {
        Some(tap) => Ok(Box::new(Tap::open(checked(tap)?)?)),
        None => Ok(Box::new(PacketSocket::open(checked(name)?)?)),
    }
}

/// Whether the interface with this name exists, is up, and is connected.
pub fn is_up(name: &str) -> bool {
    syscalls::is_running(name.strip_prefix("tap:").unwrap_or(name)).unwrap_or(false)
}

fn checked(name: &str) -> Result<&str, LiveError> {
    let fits = (1..libc::IFNAMSIZ).contains(&name.len());
    let plain = name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/');
    if fits && plain { Ok(name) } else { Err(LiveError::Name(name.to_owned())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_no_interface_can_have_is_refused_before_the_kernel_is_asked() {
        for name in ["", "a/b", "much-too-long-for-it", "tap:", "two words"] {
            let refused = open(name).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(refused.contains("is no interface's name"), "{name:?}: {refused}");
        }
    }

    #[test]
    fn an_interface_that_is_not_there_is_named() {
        let refused = open("nosuch0").err().map(|error| error.to_string()).unwrap_or_default();
        assert!(refused.contains("nosuch0"), "{refused}");
    }
}
