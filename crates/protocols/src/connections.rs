//! Connections to a server, as a stream that is safe to serve.
//!
//! A connection that sends nothing is closed after [`FIRST_BYTE`] and never reaches the server. If
//! the process has no free descriptor, accepting pauses: the listener stays readable, and an
//! immediate retry would occupy a processor. Peers that vanish are detected by TCP probes before
//! HTTP/2 begins, and by HTTP/2 pings afterwards (`serve.rs`).

use std::io;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt};
use tonic::transport::server::TcpIncoming;

/// Time limit of a peer's first byte.
const FIRST_BYTE: Duration = Duration::from_secs(10);
/// Pause after a failed accept.
const PAUSE: Duration = Duration::from_millis(100);
/// Idle time before the first TCP probe, and between two probes.
const PROBE: Duration = Duration::from_secs(5);
/// Maximum number of unanswered probes.
const PROBES: u32 = 3;
/// Maximum number of connections waiting for the server.
const QUEUE_LENGTH: usize = 64;

/// Accepts connections on a listener of this runtime until the receiver is dropped.
pub fn connections(listener: tokio::net::TcpListener) -> ReceiverStream<io::Result<TcpStream>> {
    let incoming = TcpIncoming::from(listener)
        .with_nodelay(Some(true))
        .with_keepalive(Some(PROBE))
        .with_keepalive_interval(Some(PROBE))
        .with_keepalive_retries(Some(PROBES));
    let (ready, connections) = mpsc::channel(QUEUE_LENGTH);
    tokio::spawn(accept(incoming, ready));
    ReceiverStream::new(connections)
}

async fn accept(
    mut incoming: impl Stream<Item = io::Result<TcpStream>> + Unpin,
    ready: mpsc::Sender<io::Result<TcpStream>>,
) {
    while !ready.is_closed() {
        match incoming.next().await {
            Some(Ok(connection)) => {
                tokio::spawn(greet(connection, ready.clone()));
            }
            Some(Err(_)) => tokio::time::sleep(PAUSE).await,
            None => return,
        }
    }
}

/// Forwards a connection once its peer has sent something.
async fn greet(connection: TcpStream, ready: mpsc::Sender<io::Result<TcpStream>>) {
    let spoke = tokio::time::timeout(FIRST_BYTE, connection.peek(&mut [0])).await;
    if matches!(spoke, Ok(Ok(1..))) {
        // A server that has ended accepts none.
        let _ = ready.send(Ok(connection)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    #[tokio::test]
    async fn accepting_pauses_while_the_process_has_no_descriptor() {
        let asked = Arc::new(AtomicU32::new(0));
        let counter = asked.clone();
        let failing = tokio_stream::iter(std::iter::repeat_with(move || {
            counter.fetch_add(1, Relaxed);
            Err(io::Error::other("too many open files"))
        }));
        let (ready, connections) = mpsc::channel(1);
        let began = tokio::time::Instant::now();
        let accepting = tokio::spawn(accept(failing, ready));
        tokio::time::sleep(3 * PAUSE).await;
        let pauses = began.elapsed().as_millis() / PAUSE.as_millis();
        let tries = asked.load(Relaxed);
        assert!((1..=pauses + 1).contains(&tries.into()), "{tries} tries in {pauses} pauses");
        drop(connections);
        accepting.await.unwrap();
    }
}
