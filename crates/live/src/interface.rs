//! Interface: the network device that a port of a live switch is connected to.

use crate::{LiveError, PacketSocket, sys, tap::Tap};
use std::io;
use std::os::fd::RawFd;

/// The longest frame that is taken whole: 9,000 bytes of payload, Ethernet and two VLAN tags.
pub const LONGEST: usize = 9_000 + 14 + 8;

/// A received frame.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// Its bytes without FCS, VLAN tags in their place, cut to [`LONGEST`].
    pub bytes: &'a [u8],
    /// Its length before it was cut.
    pub length: usize,
    /// The sender has left a checksum for hardware to fill in, and there is none.
    pub unfinished: bool,
}

/// Something that frames come from and go to. It never blocks.
pub trait Interface: Send {
    /// The name, for messages.
    fn name(&self) -> &str;

    /// Descriptor that becomes readable when a frame has arrived.
    fn descriptor(&self) -> RawFd;

    /// Takes what has come, at most a batch, and says how many frames it was.
    ///
    /// # Errors
    /// The interface is gone or down; it may come back.
    fn receive(&mut self, take: &mut dyn FnMut(Arrival<'_>)) -> io::Result<usize>;

    /// Opens it anew after a failure; says whether it was there. What cannot vanish stays as it is.
    fn reopen(&mut self) -> bool {
        true
    }

    /// Takes a frame to be sent with the next [`Interface::flush`]: its bytes and `zeros` more.
    fn queue(&mut self, bytes: Vec<u8>, zeros: usize);

    /// Sends what was queued and gives the buffers back; says how many could not be sent.
    fn flush(&mut self, empty: &mut Vec<Vec<u8>>) -> usize;

    /// Frames that the kernel has dropped since the last call, because they were not taken in time.
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
/// It is not there, or may not be opened.
pub fn open(name: &str) -> Result<Box<dyn Interface>, LiveError> {
    match name.strip_prefix("tap:") {
        Some(tap) => Ok(Box::new(Tap::open(checked(tap)?)?)),
        None => Ok(Box::new(PacketSocket::open(checked(name)?)?)),
    }
}

/// Whether the interface with this name exists, is up, and is connected.
pub fn is_up(name: &str) -> bool {
    sys::is_running(name.strip_prefix("tap:").unwrap_or(name)).unwrap_or(false)
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
