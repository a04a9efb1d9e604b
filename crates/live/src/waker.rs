//! Waker: wakes the thread that owns the switch when another thread has work for it.

use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Wakes the waiter; clones wake the same one.
#[derive(Clone, Debug)]
pub struct Waker {
    woken: Arc<AtomicBool>,
    to: Arc<UnixStream>,
}

/// Waits for its wakers.
#[derive(Debug)]
pub struct Waiter {
    woken: Arc<AtomicBool>,
    from: UnixStream,
}

/// A waker and its waiter.
///
/// # Errors
/// No descriptors are left.
pub fn pair() -> io::Result<(Waker, Waiter)> {
    let (to, from) = UnixStream::pair()?;
    to.set_nonblocking(true)?;
    from.set_nonblocking(true)?;
    let woken = Arc::new(AtomicBool::new(false));
    Ok((Waker { woken: woken.clone(), to: Arc::new(to) }, Waiter { woken, from }))
}

impl Waker {
    /// Wakes the waiter, unless it was woken since the last reset.
    pub fn wake(&self) {
        if !self.woken.swap(true, Ordering::AcqRel) {
            // A full pipe wakes already; a closed one has no reader.
            let _ = (&*self.to).write(&[1]);
        }
    }
}

impl Waiter {
    /// The descriptor that becomes readable on a wake.
    pub fn descriptor(&self) -> RawFd {
        self.from.as_raw_fd()
    }

    /// Rearms the waker. The caller checks for all work afterwards.
    pub fn reset(&mut self) {
        // Only a read byte rearms the waker, so no second byte stays unread.
        let woken = self.woken.load(Ordering::Acquire);
        if woken && matches!((&self.from).read(&mut [0; 1]), Ok(1)) {
            self.woken.store(false, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_wakes_wake_the_waiter_once_and_a_reset_rearms_it() {
        let (waker, mut waiter) = pair().expect("descriptors");
        let readable = |waiter: &Waiter| {
            waiter.from.set_nonblocking(true).is_ok() && waiter.woken.load(Ordering::Acquire)
        };
        for _ in 0..3 {
            waker.wake();
            waker.clone().wake();
            assert!(readable(&waiter));
            waiter.reset();
            assert!(!readable(&waiter));
            assert!((&waiter.from).read(&mut [0; 1]).is_err(), "nothing is left to be read");
        }
    }
}
