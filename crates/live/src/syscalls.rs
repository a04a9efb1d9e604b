//! System calls: each function is one call, with pointers into slices that outlive it. All unsafe
//! code of the crate is in this file.
#![allow(unsafe_code)]

use std::ffi::c_int;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::{mem, ptr};

/// Maximum number of frames in one call.
pub const BATCH: usize = 64;

/// Bytes in front of a frame, for a VLAN tag that the kernel has removed.
pub const HEADROOM: usize = 4;

/// Source of counted zero payloads.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// A C type for which all bit patterns are valid.
pub trait Plain: Copy {}
impl Plain for c_int {}
impl Plain for libc::packet_mreq {}
impl Plain for libc::tpacket_stats {}

/// Buffer for one received frame.
pub struct Slot {
    /// The frame starts at [`HEADROOM`].
    pub bytes: Box<[u8]>,
    /// Its length on the wire, which may exceed the buffer.
    pub length: usize,
    /// The kernel's auxiliary data.
    pub auxdata: Option<libc::tpacket_auxdata>,
    /// Aligned for control messages.
    control: [u64; 8],
}

impl Slot {
    /// Buffer for frames of up to `longest` bytes.
    pub fn new(longest: usize) -> Slot {
        let bytes = vec![0; HEADROOM + longest].into_boxed_slice();
        Slot { bytes, length: 0, auxdata: None, control: [0; 8] }
    }
}

/// A frame to be sent: its bytes and the number of zeros behind them.
pub type Outgoing = (Vec<u8>, usize);

fn checked(result: c_int) -> io::Result<c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// A raw packet socket that does not receive yet.
pub fn packet_socket() -> io::Result<OwnedFd> {
    let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: no pointers; the descriptor is owned here.
    unsafe {
        let fd = checked(libc::socket(libc::AF_PACKET, kind, 0))?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// Index of an interface.
pub fn interface_index(name: &str) -> io::Result<c_int> {
    let name = std::ffi::CString::new(name)?;
    // SAFETY: the string ends in NUL and outlives the call.
    let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
    if index == 0 { Err(io::Error::last_os_error()) } else { Ok(index as c_int) }
}

/// Lets a packet socket receive all protocols of an interface.
pub fn bind_to(socket: &OwnedFd, index: c_int) -> io::Result<()> {
    // SAFETY: zero is valid for each of the fields.
    let mut address: libc::sockaddr_ll = unsafe { mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
    address.sll_ifindex = index;
    let size = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: the address is of that size and outlives the call.
    let bound = unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), size) };
    checked(bound).map(|_| ())
}

/// Sets an option.
pub fn set<T: Plain>(socket: &OwnedFd, level: c_int, name: c_int, value: &T) -> io::Result<()> {
    let size = size_of::<T>() as libc::socklen_t;
    // SAFETY: the value is of that size and outlives the call.
    let done = unsafe {
        libc::setsockopt(socket.as_raw_fd(), level, name, ptr::from_ref(value).cast(), size)
    };
    checked(done).map(|_| ())
}

/// Frames that a packet socket has dropped since the last call.
pub fn dropped(socket: &OwnedFd) -> io::Result<u64> {
    let mut statistics = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
    let mut size = size_of::<libc::tpacket_stats>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `size` bytes into a value of that size.
    let done = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_STATISTICS,
            (&raw mut statistics).cast(),
            &raw mut size,
        )
    };
    checked(done).map(|_| u64::from(statistics.tp_drops))
}

/// Receives at most one frame for each slot; returns their number.
pub fn receive(socket: &OwnedFd, slots: &mut [Slot]) -> io::Result<usize> {
    let count = slots.len().min(BATCH);
    // SAFETY: zero is valid for both: no buffers.
    let (mut heads, mut parts): ([libc::mmsghdr; BATCH], [libc::iovec; BATCH]) =
        unsafe { (mem::zeroed(), mem::zeroed()) };
    for ((slot, part), head) in slots[..count].iter_mut().zip(&mut parts).zip(&mut heads) {
        part.iov_base = slot.bytes[HEADROOM..].as_mut_ptr().cast();
        part.iov_len = slot.bytes.len() - HEADROOM;
        head.msg_hdr.msg_iov = ptr::from_mut(part);
        head.msg_hdr.msg_iovlen = 1;
        head.msg_hdr.msg_control = slot.control.as_mut_ptr().cast();
        head.msg_hdr.msg_controllen = size_of_val(&slot.control);
    }
    // With the flag, lengths are those on the wire.
    let flags = libc::MSG_DONTWAIT | libc::MSG_TRUNC;
    // SAFETY: every head points to one part and one control buffer, which live in `parts` and
    // `slots` until the call returns.
    let got = unsafe {
        let heads = heads.as_mut_ptr();
        libc::recvmmsg(socket.as_raw_fd(), heads, count as u32, flags as _, ptr::null_mut())
    };
    let got = checked(got)? as usize;
    for (slot, head) in slots.iter_mut().zip(&heads[..got]) {
        slot.length = head.msg_len as usize;
        slot.auxdata = auxdata(&head.msg_hdr);
    }
    Ok(got)
}

/// Auxiliary data of the kernel for a frame.
fn auxdata(head: &libc::msghdr) -> Option<libc::tpacket_auxdata> {
    // SAFETY: the kernel has set the length of the control buffer to the bytes written, and the
    // buffer is still alive; the walk stays inside it, and the data is copied.
    unsafe {
        let first = libc::CMSG_FIRSTHDR(ptr::from_ref(head)).as_ref()?;
        let whole = libc::CMSG_LEN(size_of::<libc::tpacket_auxdata>() as u32) as usize;
        let is_ours = first.cmsg_level == libc::SOL_PACKET
            && first.cmsg_type == libc::PACKET_AUXDATA
            && first.cmsg_len >= whole;
        is_ours.then(|| {
            libc::CMSG_DATA(ptr::from_ref(first)).cast::<libc::tpacket_auxdata>().read_unaligned()
        })
    }
}

/// Sends frames; returns the number sent, from the first on.
pub fn send(socket: &OwnedFd, frames: &[Outgoing]) -> io::Result<usize> {
    let count = frames.len().min(BATCH);
    // SAFETY: zero is valid for both: no buffers.
    let (mut heads, mut parts): ([libc::mmsghdr; BATCH], [[libc::iovec; 2]; BATCH]) =
        unsafe { (mem::zeroed(), mem::zeroed()) };
    for (((bytes, zeros), part), head) in frames[..count].iter().zip(&mut parts).zip(&mut heads) {
        part[0].iov_base = bytes.as_ptr().cast_mut().cast();
        part[0].iov_len = bytes.len();
        part[1].iov_base = ZEROS.as_ptr().cast_mut().cast();
        part[1].iov_len = (*zeros).min(ZEROS.len());
        head.msg_hdr.msg_iov = part.as_mut_ptr();
        head.msg_hdr.msg_iovlen = 2;
    }
    // SAFETY: every head points to two parts in `parts`, which point into `frames` and `ZEROS`; the
    // kernel only reads the data of an outgoing message.
    let sent = unsafe {
        let flags = libc::MSG_DONTWAIT;
        libc::sendmmsg(socket.as_raw_fd(), heads.as_mut_ptr(), count as u32, flags as _)
    };
    checked(sent).map(|sent| sent as usize)
}

/// Waits until a descriptor is readable or `nanoseconds` have passed.
pub fn wait(descriptors: &[RawFd], nanoseconds: u64) {
    let polled = |&fd: &RawFd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let mut polled: Vec<_> = descriptors.iter().map(polled).collect();
    let time = libc::timespec {
        tv_sec: (nanoseconds / 1_000_000_000) as libc::time_t,
        tv_nsec: (nanoseconds % 1_000_000_000) as libc::c_long,
    };
    // SAFETY: the array has the stated number of entries, and both outlive the call. The result
    // does not matter: the caller checks all descriptors afterwards.
    unsafe {
        libc::ppoll(
            polled.as_mut_ptr(),
            polled.len() as libc::nfds_t,
            &raw const time,
            ptr::null(),
        );
    }
}

/// Whether an interface and its link are up.
pub fn is_running(name: &str) -> io::Result<bool> {
    // SAFETY: no pointers; the descriptor is owned here.
    let socket = unsafe {
        let kind = libc::SOCK_DGRAM | libc::SOCK_CLOEXEC;
        OwnedFd::from_raw_fd(checked(libc::socket(libc::AF_INET, kind, 0))?)
    };
    // SAFETY: zero is valid for the request, and for each member of its union.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    let most = request.ifr_name.len() - 1;
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes().take(most)) {
        *to = from as libc::c_char;
    }
    // SAFETY: the request has the type that this call requires, and outlives it.
    checked(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFFLAGS, &raw mut request) })?;
    // SAFETY: this call has written the flags.
    let flags = c_int::from(unsafe { request.ifr_ifru.ifru_flags });
    Ok(flags & (libc::IFF_UP | libc::IFF_RUNNING) == libc::IFF_UP | libc::IFF_RUNNING)
}

/// The machine's monotonic clock, ns.
pub fn monotonic() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one timespec, which outlives the call. This clock always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Gives the calling thread the lowest real-time priority, above all threads of ordinary priority
/// and a run's hosts.
pub fn realtime() -> io::Result<()> {
    let wanted = libc::sched_param { sched_priority: 2 };
    // SAFETY: the parameter outlives the call; 0 is the calling thread.
    checked(unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const wanted) }).map(|_| ())
}

/// Opens the TUN/TAP device and attaches it to the interface with this name.
pub fn tap(name: &str) -> io::Result<OwnedFd> {
    // SAFETY: the path ends in NUL; the descriptor is owned here.
    let device = unsafe {
        let flags = libc::O_RDWR | libc::O_NONBLOCK | libc::O_CLOEXEC;
        OwnedFd::from_raw_fd(checked(libc::open(c"/dev/net/tun".as_ptr(), flags))?)
    };
    // SAFETY: zero is valid for the request, and for each member of its union.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: the request has the type that this call requires; the name is shorter than its field.
    checked(unsafe { libc::ioctl(device.as_raw_fd(), libc::TUNSETIFF, &raw mut request) })?;
    Ok(device)
}
