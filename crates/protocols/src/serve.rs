//! Servers on an address: their threads, TLS, and shutdown.

use crate::connections::connections;
use crate::wire::bfrt_proto::bf_runtime_server::BfRuntimeServer;
use crate::wire::p4::v1::p4_runtime_server::P4RuntimeServer;
use crate::{bfrt, p4runtime};
use std::future::Future;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::{mpsc, oneshot};
use tonic::service::Routes;
use tonic::transport::{Certificate, Identity, ServerTlsConfig};

/// Maximum size of a P4Runtime message in either direction, bytes. A table of 100,000 entries has
/// 10 MB.
const LONGEST: usize = 64 << 20;
/// Maximum size of a BfRt request, bytes. The longest of the vendor's tests asks for 2,000,000 keys
/// at once, which are 70 MB.
const LONGEST_BFRT: usize = 128 << 20;
/// Maximum size of a BfRt answer, bytes: the limit of the vendor's client.
const LONGEST_ANSWER: usize = 1 << 30;
/// Maximum number of concurrent calls on one connection.
const CALLS: u32 = 16_384;
/// Time without a frame after which a client is pinged. A client that does not answer loses its
/// connection, and with it its election id or client id.
const PING: Duration = Duration::from_secs(10);
/// Time limit of the answer, and of a TLS handshake.
const PONG: Duration = Duration::from_secs(10);
/// Threads of a server in real time.
const THREADS: usize = 2;
/// Time that calls may take to finish after the end.
const GRACE: Duration = Duration::from_millis(200);
/// Passes over all sockets and tasks after which no message of the past is under way. A message
/// passes through at most six tasks.
const PASSES: usize = 16;

/// Certificates as PEM.
#[derive(Clone, Debug, Default)]
pub struct Tls {
    /// The server's certificate.
    pub certificate: Vec<u8>,
    /// Its key.
    pub key: Vec<u8>,
    /// Certificate authority of the clients' certificates; any client may connect if absent.
    pub clients: Option<Vec<u8>>,
}

/// Error at the start of a server.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The server would listen on a reachable address without client certificates.
    #[error(
        "{0} is not a loopback address, and whoever reaches it controls the switch unless clients \
         show certificates: name who signs them, or say that this is meant"
    )]
    Open(SocketAddr),
    /// It cannot listen there.
    #[error("{address}: {error}")]
    Address {
        /// Requested address.
        address: SocketAddr,
        /// Reason.
        error: io::Error,
    },
    /// No thread could be started.
    #[error("threads for a server: {0}")]
    Threads(io::Error),
    /// The certificates are invalid.
    #[error("certificates: {0}")]
    Tls(String),
}

/// A running server, which ends on drop.
pub struct Serving {
    address: SocketAddr,
    missed: Arc<AtomicU64>,
    runtime: Option<Runtime>,
    end: Option<oneshot::Sender<()>>,
}

impl Serving {
    /// Address on which the server listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Packets, digests and notifications lost because controllers read too slowly.
    pub fn missed(&self) -> u64 {
        self.missed.load(Relaxed)
    }

    /// Starts a task on the server's threads.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        if let Some(runtime) = &self.runtime {
            runtime.spawn(task);
        }
    }

    /// Returns once the server has read what its sockets have received, and written what it had to
    /// send. It has to have one thread ([`Served::in_virtual_time`]).
    pub fn settle(&self) {
        let (done, waiting) = std::sync::mpsc::channel();
        self.spawn(async move {
            for _ in 0..PASSES {
                // The scheduler polls the sockets before it resumes a task that has yielded.
                tokio::task::yield_now().await;
            }
            // The caller waits.
            let _ = done.send(());
        });
        // A server without threads has nothing under way.
        let _ = waiting.recv();
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        if let Some(end) = self.end.take() {
            // It may have ended already.
            let _ = end.send(());
        }
        if let Some(runtime) = self.runtime.take() {
            // The caller may drop this inside a runtime of its own, which must not block.
            let ending = std::thread::spawn(move || runtime.shutdown_timeout(GRACE));
            let _ = ending.join();
        }
    }
}

/// A service, and the tasks that run in addition to its calls.
pub struct Served {
    /// Name of its threads.
    name: &'static str,
    routes: Routes,
    missed: Arc<AtomicU64>,
    beside: Pin<Box<dyn Future<Output = ()> + Send>>,
    threads: usize,
}

impl Served {
    /// P4Runtime; `packets` receives the frames that the switch sends to its controller.
    pub fn p4runtime(
        server: Arc<p4runtime::service::Server>,
        packets: mpsc::Receiver<Vec<u8>>,
    ) -> Served {
        let service = P4RuntimeServer::new(p4runtime::service::Service(server.clone()))
            .max_decoding_message_size(LONGEST)
            .max_encoding_message_size(LONGEST);
        let missed = server.missed();
        let beside = Box::pin(server.attend(packets));
        Served { name: "p4runtime", routes: Routes::new(service), missed, beside, threads: THREADS }
    }

    /// The service of a switch in virtual time, whose driver polls the switch.
    pub fn in_virtual_time(self) -> Served {
        Served { beside: Box::pin(std::future::ready(())), threads: 1, ..self }
    }

    /// BfRt.
    pub fn bfrt(server: Arc<bfrt::service::Server>) -> Served {
        let service = BfRuntimeServer::new(bfrt::service::Service(server.clone()))
            .max_decoding_message_size(LONGEST_BFRT)
            .max_encoding_message_size(LONGEST_ANSWER);
        let missed = server.missed();
        let beside = Box::pin(server.attend());
        Served { name: "bfrt", routes: Routes::new(service), missed, beside, threads: THREADS }
    }
}

/// Serves on an address.
///
/// ```
/// use sojourn_protocols::device::{Device, Placed, Work};
/// use sojourn_protocols::p4runtime::service::{Server, Settings};
/// use sojourn_protocols::serve::{ServeError, Served, serve};
/// use sojourn_switch::Switch;
/// use std::collections::BTreeSet;
/// use std::sync::Arc;
///
/// /// A switch that does nothing.
/// struct Still;
/// impl Device for Still {
///     fn submit(&self, _: Work) -> bool {
///         false
///     }
///     fn build(&self, _: &[Placed]) -> Result<Switch, String> {
///         Err("it runs no program".into())
///     }
///     fn packet_out(&self, _: Vec<u8>) -> bool {
///         false
///     }
///     fn down(&self) -> BTreeSet<u16> {
///         BTreeSet::new()
///     }
/// }
///
/// let settings = Settings { device: 1, cpu: None, known: Default::default() };
/// let server = Server::new(Arc::new(Still), settings, None);
/// let (_, frames) = tokio::sync::mpsc::channel(1);
/// let served = Served::p4runtime(server, frames);
/// let refused = serve(served, "0.0.0.0:0".parse()?, None, false);
/// assert!(matches!(refused, Err(ServeError::Open(_))), "anybody could control the switch");
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
///
/// # Errors
/// The address is not available, or is reachable without clients' certificates and `open` is not
/// set.
pub fn serve(
    served: Served,
    address: SocketAddr,
    tls: Option<&Tls>,
    open: bool,
) -> Result<Serving, ServeError> {
    let clients_are_known = tls.is_some_and(|tls| tls.clients.is_some());
    if !clients_are_known && !open && !address.ip().is_loopback() {
        return Err(ServeError::Open(address));
    }
    let refused = |error| ServeError::Address { address, error };
    let listener = TcpListener::bind(address).map_err(refused)?;
    listener.set_nonblocking(true).map_err(refused)?;
    let address = listener.local_addr().map_err(refused)?;
    let mut builder = tonic::transport::Server::builder()
        .max_concurrent_streams(CALLS)
        .http2_keepalive_interval(Some(PING))
        .http2_keepalive_timeout(Some(PONG));
    if let Some(tls) = tls {
        let mut config = ServerTlsConfig::new()
            .identity(Identity::from_pem(&tls.certificate, &tls.key))
            .timeout(PONG);
        if let Some(clients) = &tls.clients {
            config = config.client_ca_root(Certificate::from_pem(clients));
        }
        builder = builder.tls_config(config).map_err(|error| ServeError::Tls(chain(&error)))?;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(served.threads)
        .thread_name(served.name)
        .enable_all()
        .build()
        .map_err(ServeError::Threads)?;
    let (end, ended) = oneshot::channel();
    let _inside = runtime.enter();
    let listener = tokio::net::TcpListener::from_std(listener).map_err(refused)?;
    let incoming = connections(listener);
    runtime.spawn(served.beside);
    let missed = served.missed;
    let serving = builder.add_routes(served.routes).serve_with_incoming_shutdown(incoming, async {
        // The sender is dropped: the server ends, too.
        let _ = ended.await;
    });
    runtime.spawn(serving);
    drop(_inside);
    Ok(Serving { address, missed, runtime: Some(runtime), end: Some(end) })
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        text = format!("{text}: {error}");
        next = error.source();
    }
    text
}
