//! An HTTP/1.1 server on loopback that plays bytes.

mod connection;
mod reply;
mod request;

use std::{
    collections::VecDeque,
    fmt, io,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::{
    net::TcpListener,
    sync::watch,
    task::{AbortHandle, JoinSet},
};

pub use self::{
    reply::{Place, WireReply},
    request::WireRequest,
};

/// A server on a port of 127.0.0.1 that plays one [`WireReply`] for each request, in the order in
/// which requests are whole, whatever connection they come on.
///
/// When the script is over it answers with status 500 and says so. Dropping it closes its port and
/// its connections. It runs on the tokio runtime that it was started in and never sleeps: what has
/// to wait, waits for a [`Gate`](crate::Gate).
///
/// Every piece is written and flushed on its own, but a kernel may join pieces before the client
/// reads: stall at a gate between them where a test depends on the cut, or use
/// [`ScriptedHttp`](crate::ScriptedHttp).
///
/// ```
/// use agent_testkit::{WireReply, WireServer};
/// use tokio::{io::{AsyncReadExt, AsyncWriteExt}, net::TcpStream};
/// # tokio::runtime::Builder::new_current_thread().enable_io().build()?.block_on(async {
/// let server = WireServer::start([WireReply::new(200).until_close(["Hel", "lo"])]).await?;
/// let mut client = TcpStream::connect(server.addr()).await?;
/// client.write_all(b"GET /a HTTP/1.1\r\nhost: x\r\n\r\n").await?;
/// let mut response = String::new();
/// client.read_to_string(&mut response).await?;
/// assert_eq!(response, "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nHello");
/// assert_eq!(server.requests()[0].path, "/a");
/// # Ok::<(), std::io::Error>(())
/// # })?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct WireServer {
    addr: SocketAddr,
    shared: Arc<Shared>,
    task: AbortHandle,
}

struct Shared {
    state: Mutex<State>,
    counts: watch::Sender<Counts>,
}

#[derive(Default)]
struct State {
    replies: VecDeque<WireReply>,
    requests: Vec<WireRequest>,
    faults: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    connections: usize,
    requests: usize,
    closed: usize,
}

impl WireServer {
    /// Starts a server with this script.
    ///
    /// # Errors
    /// [`io::Error`] where no port of loopback can be had.
    pub async fn start(replies: impl IntoIterator<Item = WireReply>) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let addr = listener.local_addr()?;
        let replies = replies.into_iter().collect();
        let state = Mutex::new(State { replies, ..State::default() });
        let shared = Arc::new(Shared { state, counts: watch::Sender::new(Counts::default()) });
        let task = tokio::spawn(accept(listener, shared.clone())).abort_handle();
        Ok(Self { addr, shared, task })
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The address of a path that begins with `/`.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.addr)
    }

    /// Adds a reply to the end of the script.
    pub fn push(&self, reply: WireReply) {
        self.shared.lock().replies.push_back(reply);
    }

    /// The whole requests, oldest first.
    pub fn requests(&self) -> Vec<WireRequest> {
        self.shared.lock().requests.clone()
    }

    /// How many replies were not played yet.
    pub fn remaining(&self) -> usize {
        self.shared.lock().replies.len()
    }

    /// What of the clients' bytes could not be read; such a connection is closed.
    pub fn faults(&self) -> Vec<String> {
        self.shared.lock().faults.clone()
    }

    /// How many connections were accepted.
    pub fn connections(&self) -> usize {
        self.shared.counts.borrow().connections
    }

    /// How many connections the client closed, or half-closed, before the server ended them. It is
    /// noticed while the server reads, writes or stalls.
    pub fn closed_by_client(&self) -> usize {
        self.shared.counts.borrow().closed
    }

    /// Resolves once so many connections were accepted; dropping the future changes nothing.
    pub async fn wait_for_connections(&self, count: usize) {
        self.wait_for(|counts| counts.connections >= count).await;
    }

    /// Resolves once so many requests are whole; dropping the future changes nothing.
    pub async fn wait_for_requests(&self, count: usize) {
        self.wait_for(|counts| counts.requests >= count).await;
    }

    /// Resolves once the client has closed so many connections; dropping the future changes
    /// nothing.
    pub async fn wait_for_closed(&self, count: usize) {
        self.wait_for(|counts| counts.closed >= count).await;
    }

    async fn wait_for(&self, is_there: impl Fn(&Counts) -> bool) {
        // An error means that the sender is gone, which `self` excludes.
        let _ = self.shared.counts.subscribe().wait_for(|counts| is_there(counts)).await;
    }
}

/// Accepts until it is aborted; its connections end with it.
async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    for number in 0.. {
        // Ended connections are forgotten on the way.
        while connections.try_join_next().is_some() {}
        let Ok((stream, _)) = listener.accept().await else { continue };
        shared.count(|counts| counts.connections += 1);
        connections.spawn(connection::serve(stream, number, shared.clone()));
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, change: impl FnOnce(&mut Counts)) {
        self.counts.send_modify(change);
    }

    fn reply_at_accept(&self) -> Option<WireReply> {
        self.lock().replies.pop_front_if(|reply| reply.is_at_accept())
    }

    fn receive(&self, request: WireRequest) -> WireReply {
        let mut state = self.lock();
        let over = format!("the script has no reply for {} {}", request.method, request.path);
        state.requests.push(request);
        let reply = state.replies.pop_front();
        drop(state);
        self.count(|counts| counts.requests += 1);
        reply.unwrap_or_else(|| WireReply::new(500).until_close([over]))
    }

    fn fault(&self, connection: usize, what: &str) {
        self.lock().faults.push(format!("connection {connection}: {what}"));
    }
}

impl Drop for WireServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl fmt::Debug for WireServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = *self.shared.counts.borrow();
        f.debug_struct("WireServer").field("addr", &self.addr).field("counts", &counts).finish()
    }
}
