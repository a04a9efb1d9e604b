//! Waker: wakes the thread that owns the switch when another thread has work for it.

use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Rings; as many may hold one as like.
#[derive(Clone, Debug)]
pub struct Waker {
    woken: Arc<AtomicBool>,
    to: Arc<UnixStream>,
}

/// Hears it.
#[derive(Debug)]
pub struct Waiter {
    woken: Arc<AtomicBool>,
    from: UnixStream,
}

/// A bell and who hears it.
///
/// # Errors
/// There are no descriptors left.
pub fn waker() -> io::Result<(Waker, Waiter)> {
    let (to, from) = UnixStream::pair()?;
    to.set_nonblocking(true)?;
    from.set_nonblocking(true)?;
    let woken = Arc::new(AtomicBool::new(false));
    Ok((Waker { woken: woken.clone(), to: Arc::new(to) }, Waiter { woken, from }))
}

impl Waker {
    /// Rings, unless it has rung and nobody has listened since.
    pub fn wake(&self) {
        if !self.woken.swap(true, Ordering::AcqRel) {
            // A full pipe has rung already; a closed one has nobody behind it.
            let _ = (&*self.to).write(&[1]);
        }
    }
}

impl Waiter {
    /// What becomes readable when the bell rings.
    pub fn descriptor(&self) -> RawFd {
        self.from.as_raw_fd()
    }

    /// Listens, so that the bell can ring again. Whoever calls this looks at everything afterwards.
    pub fn reset(&mut self) {
        // Only what was read lets it ring again, so there never is a second byte that nobody reads.
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
    fn a_bell_that_rings_twice_is_heard_once_and_then_rings_again() {
        let (waker, mut waiter) = waker().expect("descriptors");
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
