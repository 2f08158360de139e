//! The server, seen by a client that is a bare socket.

use std::io::{self, ErrorKind};

use agent_testkit::{Gate, Place, WireReply, WireServer};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::support::Tested;

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";
const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n";

async fn connect(server: &WireServer) -> io::Result<TcpStream> {
    TcpStream::connect(server.addr()).await
}

async fn sent(server: &WireServer, request: &[u8]) -> io::Result<TcpStream> {
    let mut client = connect(server).await?;
    client.write_all(request).await?;
    Ok(client)
}

/// Everything up to the end of the connection, and how it ended.
async fn rest(client: &mut TcpStream) -> (String, Result<(), ErrorKind>) {
    let mut bytes = Vec::new();
    let end = client.read_to_end(&mut bytes).await.map(|_| ()).map_err(|e| e.kind());
    (String::from_utf8_lossy(&bytes).into_owned(), end)
}

async fn exactly(client: &mut TcpStream, expected: &str) -> io::Result<()> {
    let mut bytes = vec![0; expected.len()];
    client.read_exact(&mut bytes).await?;
    assert_eq!(String::from_utf8_lossy(&bytes), expected);
    Ok(())
}

fn four() -> WireReply {
    WireReply::new(200).body(["da", "ta"])
}

#[tokio::test]
async fn bodies_are_framed_as_chosen() -> Tested {
    for (reply, expected) in [
        (WireReply::new(204), "HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n"),
        (
            WireReply::new(299).header("X-a", "1").header("x-A", "2").body(["da", "ta"]),
            "HTTP/1.1 299 Unknown\r\nX-a: 1\r\nx-A: 2\r\ncontent-length: 4\r\n\r\ndata",
        ),
        (
            WireReply::new(200).chunked(["da", "", "ta, longer than 16"]),
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n\
             2\r\nda\r\n12\r\nta, longer than 16\r\n0\r\n\r\n",
        ),
        (WireReply::new(200).until_close(["da", "ta"]), "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\ndata"),
        (WireReply::raw([&b"HTTP/9 nonsense\n"[..], b"\n\n"]), "HTTP/9 nonsense\n\n\n"),
    ] {
        let server = WireServer::start([reply.close(Place::End)]).await?;
        let mut client = sent(&server, GET).await?;
        assert_eq!(rest(&mut client).await, (expected.to_owned(), Ok(())));
        assert_eq!((server.remaining(), server.closed_by_client()), (0, 0));
    }
    Ok(())
}

#[tokio::test]
async fn requests_are_recorded_whole() -> Tested {
    let server = WireServer::start([four(), four(), four()]).await?;
    let mut client = connect(&server).await?;
    // Cut in head and body, and the next one right behind it.
    let post = b"POST /a?b=1 HTTP/1.1\r\nHost: x\r\nX-One: a: b\r\nContent-Length: 5\r\n\r\nhello";
    let chunked = b"PUT /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\
                    3;ext=1\r\nabc\r\nA\r\n0123456789\r\n0\r\nTrailer: 1\r\n\r\n";
    client.set_nodelay(true)?;
    for byte in post {
        client.write_all(&[*byte]).await?;
    }
    server.wait_for_requests(1).await;
    client.write_all(&[&chunked[..], GET].concat()).await?;
    server.wait_for_requests(3).await;
    for _ in 0..3 {
        exactly(&mut client, &format!("{HEAD}data")).await?;
    }
    drop(client);
    server.wait_for_closed(1).await;

    let seen = server.requests();
    let facts: Vec<_> = seen.iter().map(|r| (r.connection, &*r.method, &*r.path, &r.body[..])).collect();
    let expected: [(usize, &str, &str, &[u8]); 3] =
        [(0, "POST", "/a?b=1", b"hello"), (0, "PUT", "/c", b"abc0123456789"), (0, "GET", "/", b"")];
    assert_eq!(facts, expected);
    let pairs = [("Host", "x"), ("X-One", "a: b"), ("Content-Length", "5")];
    assert_eq!(seen[0].headers, pairs.map(|(n, v)| (n.to_owned(), v.to_owned())));
    assert_eq!(seen[0].header("x-one"), Some("a: b"));
    assert_eq!((server.connections(), server.closed_by_client()), (1, 1));
    Ok(())
}

#[tokio::test]
async fn what_is_no_request_is_a_fault() -> Tested {
    for (bytes, expected) in [
        ("nonsense\r\n\r\n", "connection 0: the request line is no `METHOD TARGET VERSION`"),
        ("GET / HTTP/1.1\r\nnonsense\r\n\r\n", "connection 0: a header line has no colon"),
        ("GET / HTTP/1.1\r\ncontent-length: x\r\n\r\n", "connection 0: the content-length is no number"),
        (
            "GET / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
            "connection 0: a chunk has no hexadecimal length or no line end",
        ),
        (
            "GET / HTTP/1.1\r\ncontent-length: 999999999999\r\n\r\n",
            "connection 0: the body is larger than the limit of 268435456 bytes",
        ),
    ] {
        let server = WireServer::start([four()]).await?;
        let mut client = sent(&server, bytes.as_bytes()).await?;
        assert_eq!(rest(&mut client).await, (String::new(), Ok(())));
        assert_eq!((server.faults(), server.requests().len()), (vec![expected.to_owned()], 0));
    }
    Ok(())
}

#[tokio::test]
async fn when_the_script_is_over_it_says_so() -> Tested {
    let server = WireServer::start([]).await?;
    let mut client = sent(&server, GET).await?;
    let (text, end) = rest(&mut client).await;
    assert!(text.starts_with("HTTP/1.1 500 ") && text.ends_with("has no reply for GET /"), "{text}");
    assert_eq!((end, server.requests().len()), (Ok(()), 1));
    server.push(four().close(Place::End));
    let mut client = sent(&server, GET).await?;
    assert_eq!(rest(&mut client).await.0, format!("{HEAD}data"));
    assert_eq!(server.connections(), 2);
    Ok(())
}

/// Stalls before it ends, so that what was written has been read.
async fn ends(place: Place, before: &str, end: fn(WireReply, Place) -> WireReply) -> io::Result<Result<(), ErrorKind>> {
    let gate = Gate::new();
    let server = WireServer::start([end(four().stall(place, &gate), place)]).await?;
    let mut client = sent(&server, GET).await?;
    gate.reached().await;
    exactly(&mut client, before).await?;
    gate.open();
    let (behind, end) = rest(&mut client).await;
    assert_eq!(behind, "");
    Ok(end)
}

#[tokio::test]
async fn connections_end_at_their_place() -> Tested {
    let places = [
        (Place::BeforeHead, String::new()),
        (Place::InHead(8), "HTTP/1.1".to_owned()),
        (Place::InHead(999), HEAD.to_owned()),
        (Place::AfterBody(0), HEAD.to_owned()),
        (Place::AfterBody(1), format!("{HEAD}d")),
        (Place::AfterBody(99), format!("{HEAD}data")),
        (Place::End, format!("{HEAD}data")),
    ];
    for (place, before) in &places {
        let reset = ends(*place, before, WireReply::reset).await?;
        assert_eq!(reset, Err(ErrorKind::ConnectionReset), "{place:?}");
        assert_eq!(ends(*place, before, WireReply::close).await?, Ok(()), "{place:?}");
        // Half closed: the client reads an end and can still write.
        let half = ends(*place, before, WireReply::half_close).await?;
        assert_eq!(half, Ok(()), "{place:?}");
    }
    Ok(())
}

#[tokio::test]
async fn a_half_closed_server_reads_until_the_client_closes() -> Tested {
    let server = WireServer::start([four().half_close(Place::AfterBody(2))]).await?;
    let mut client = sent(&server, GET).await?;
    assert_eq!(rest(&mut client).await, (format!("{HEAD}da"), Ok(())));
    // A closed server would answer this with a reset.
    client.write_all(&[0; 1024]).await?;
    assert_eq!(server.closed_by_client(), 0);
    drop(client);
    server.wait_for_closed(1).await;
    Ok(())
}

#[tokio::test]
async fn a_reset_at_accept_needs_no_request() -> Tested {
    let server = WireServer::start([WireReply::reset_at_accept(), four()]).await?;
    let mut client = connect(&server).await?;
    assert_eq!(rest(&mut client).await, (String::new(), Err(ErrorKind::ConnectionReset)));
    let mut client = sent(&server, GET).await?;
    exactly(&mut client, &format!("{HEAD}data")).await?;
    assert_eq!((server.connections(), server.requests().len()), (2, 1));
    Ok(())
}

#[tokio::test]
async fn cuts_reach_the_client_one_by_one() -> Tested {
    // A gate at each place: the client sees what stands before it and nothing else.
    let gates: Vec<Gate> = (0..4).map(|_| Gate::new()).collect();
    let places = [Place::InHead(3), Place::AfterBody(0), Place::AfterBody(1), Place::AfterBody(3)];
    let reply = places.iter().zip(&gates).fold(four(), |reply, (at, gate)| reply.stall(*at, gate));
    let server = WireServer::start([reply.cut_at([1, 2, 20])]).await?;
    let mut client = sent(&server, GET).await?;
    let all = format!("{HEAD}data");
    let mut from = 0;
    for (gate, to) in gates.iter().zip([3, HEAD.len(), HEAD.len() + 1, HEAD.len() + 3]) {
        gate.reached().await;
        exactly(&mut client, all.get(from..to).ok_or("a cut")?).await?;
        let early = client.try_read(&mut [0; 1]).err().map(|e| e.kind());
        assert_eq!(early, Some(ErrorKind::WouldBlock));
        gate.open();
        from = to;
    }
    exactly(&mut client, all.get(from..).ok_or("a cut")?).await?;
    Ok(())
}

#[tokio::test]
async fn a_client_that_leaves_a_stall_is_noticed() -> Tested {
    let gate = Gate::new();
    let server = WireServer::start([four().stall(Place::AfterBody(2), &gate)]).await?;
    let mut client = sent(&server, GET).await?;
    exactly(&mut client, &format!("{HEAD}da")).await?;
    gate.reached().await;
    assert_eq!(server.closed_by_client(), 0);
    drop(client);
    server.wait_for_closed(1).await;
    assert!(!gate.is_open());
    Ok(())
}

#[tokio::test]
async fn a_client_that_leaves_in_mid_body_is_noticed() -> Tested {
    // More than the buffers of both kernels hold, so that the server is still writing.
    let server = WireServer::start([WireReply::new(200).body([vec![0; 64 << 20]])]).await?;
    let mut client = sent(&server, GET).await?;
    exactly(&mut client, "HTTP/1.1 200 OK").await?;
    drop(client);
    server.wait_for_closed(1).await;
    Ok(())
}

#[tokio::test]
async fn dropping_the_server_ends_everything() -> Tested {
    let gate = Gate::new();
    let server = WireServer::start([four().stall(Place::BeforeHead, &gate)]).await?;
    let mut stalled = sent(&server, GET).await?;
    let mut idle = connect(&server).await?;
    gate.reached().await;
    server.wait_for_connections(2).await;
    let addr = server.addr();
    drop(server);
    assert_eq!(rest(&mut stalled).await.0, "");
    assert_eq!(rest(&mut idle).await.0, "");
    let refused = TcpStream::connect(addr).await.err().map(|e| e.kind());
    assert_eq!(refused, Some(ErrorKind::ConnectionRefused));
    Ok(())
}
