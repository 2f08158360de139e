//! TLS and HTTP/2: certificates, agreement on the protocol, streams that end early.

use std::sync::{Arc, LazyLock};

use agent_core::HttpClient;
use agent_http::{BuildError, HttpStackBuilder, Roots};
use bytes::Bytes;
use futures_util::future::join_all;
use h2::server::SendResponse;
use http::{Response, Version};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

use crate::support::{Server, get, plain, read_head, reset, text, told, until, until_closed};

static CERTIFICATE: LazyLock<rcgen::CertifiedKey<rcgen::KeyPair>> =
    LazyLock::new(|| rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap());

pub(crate) fn acceptor(protocols: &[&str]) -> TlsAcceptor {
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(CERTIFICATE.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut config = builder.with_no_client_auth().with_single_cert(vec![CERTIFICATE.cert.der().clone()], key).unwrap();
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    TlsAcceptor::from(Arc::new(config))
}

/// A builder that trusts the tests' certificate, and the name it is for.
pub(crate) fn trusting(server: &Server) -> (HttpStackBuilder, String) {
    let builder = plain().0.roots(Roots::OnlyAdded).certificate(CERTIFICATE.cert.pem().as_bytes()).unwrap();
    let builder = builder.resolve("localhost", server.address);
    (builder, format!("https://localhost:{}/", server.address.port()))
}

async fn http1() -> Server {
    let acceptor = acceptor(&["http/1.1"]);
    Server::new(move |stream, _| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(mut stream) = acceptor.accept(stream).await else { return };
            while read_head(&mut stream).await.is_some() {
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await.unwrap();
            }
        }
    })
    .await
}

type Connection = h2::server::Connection<TlsStream<TcpStream>, Bytes>;

/// An HTTP/2 server whose connections go to a function.
async fn http2<F, R>(serve: F) -> Server
where
    F: Fn(Connection) -> R + Clone + Send + Sync + 'static,
    R: Future<Output = ()> + Send + 'static,
{
    let acceptor = acceptor(&["h2", "http/1.1"]);
    Server::new(move |stream, _| {
        let (acceptor, serve) = (acceptor.clone(), serve.clone());
        async move {
            let stream = acceptor.accept(stream).await.unwrap();
            serve(h2::server::handshake(stream).await.unwrap()).await;
        }
    })
    .await
}

fn answer(respond: &mut SendResponse<Bytes>, end: &str) {
    let mut stream = respond.send_response(Response::new(()), false).unwrap();
    stream.send_data(Bytes::copy_from_slice(end.as_bytes()), true).unwrap();
}

#[tokio::test]
async fn the_server_chooses_the_protocol() {
    let server = http1().await;
    let (builder, url) = trusting(&server);
    let client = HttpClient::from(builder.build());
    for _ in 0..3 {
        let response = client.send(get(&url)).await.unwrap();
        assert_eq!(response.version(), Version::HTTP_11);
        assert_eq!(text(response).await.unwrap(), "ok");
    }
    assert_eq!(server.accepted(), 1);

    let server = http2(|mut connection| async move {
        while let Some(Ok((_, mut respond))) = connection.accept().await {
            answer(&mut respond, "two");
        }
    })
    .await;
    let (builder, url) = trusting(&server);
    let client = HttpClient::from(builder.clone().build());
    let response = client.send(get(&url)).await.unwrap();
    assert_eq!((response.version(), text(response).await.unwrap().as_str()), (Version::HTTP_2, "two"));
    let many = join_all((0..50).map(|_| async { text(client.send(get(&url)).await.unwrap()).await.unwrap() })).await;
    assert!(many.iter().all(|text| text == "two"));
    assert_eq!(server.accepted(), 1, "one connection carries all");
}

#[tokio::test]
async fn a_certificate_that_is_not_trusted_ends_the_connection() {
    let server = http1().await;
    let check = async |builder: HttpStackBuilder, url: &str| {
        let error = HttpClient::from(builder.build()).send(get(url)).await.unwrap_err();
        assert_eq!(told(&error), "connecting: the certificate was not accepted", "{url}");
    };
    let (trusting, url) = trusting(&server);
    let other_name = url.replace("localhost", "other.example");
    check(trusting.clone().resolve("other.example", server.address), &other_name).await;
    check(trusting.clone(), &url.replace("localhost", "127.0.0.1")).await;
    let unknown = plain().0.resolve("localhost", server.address);
    check(unknown.clone(), &url).await;
    check(unknown.roots(Roots::OnlyAdded), &url).await;
    // The same server with the right settings.
    assert_eq!(text(HttpClient::from(trusting.build()).send(get(&url)).await.unwrap()).await.unwrap(), "ok");
}

#[tokio::test]
async fn certificates_are_read_from_pem_and_der_and_nothing_else() {
    let server = http1().await;
    let (_, url) = trusting(&server);
    let der = plain().0.resolve("localhost", server.address);
    #[cfg(feature = "native-certs")]
    let der = der.roots(Roots::Platform);
    let der = der.certificate(CERTIFICATE.cert.der()).unwrap();
    assert_eq!(text(HttpClient::from(der.build()).send(get(&url)).await.unwrap()).await.unwrap(), "ok");
    for broken in [&b""[..], b"hello", b"-----BEGIN CERTIFICATE-----\nxx\n-----END CERTIFICATE-----\n"] {
        let error = plain().0.certificate(broken).unwrap_err();
        assert!(matches!(error, BuildError::Certificate { .. }), "{broken:?}");
    }
}

#[tokio::test]
async fn a_handshake_that_breaks_is_told() {
    let check = async |server: Server, expected: &str| {
        let (builder, url) = trusting(&server);
        let error = HttpClient::from(builder.build()).send(get(&url)).await.unwrap_err();
        assert_eq!(told(&error), expected);
    };
    let nonsense = Server::new(|mut stream, _| async move {
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
        until_closed(&mut stream).await;
    });
    check(nonsense.await, "connecting: the TLS handshake failed").await;
    let resetting = Server::new(|stream, _| async move {
        stream.readable().await.unwrap();
        reset(stream);
    });
    check(resetting.await, "connecting: the connection was reset").await;
    let closing = Server::new(|mut stream, _| async move {
        stream.shutdown().await.unwrap();
        until_closed(&mut stream).await;
    });
    check(closing.await, "connecting: the connection was closed before its end").await;
}

#[tokio::test]
async fn an_http2_stream_that_ends_early_is_told() {
    let head_is_there = Arc::new(tokio::sync::Notify::new());
    let check = async |server: Server, expected: &str| {
        let (builder, url) = trusting(&server);
        let error = match HttpClient::from(builder.build()).send(get(&url)).await {
            Ok(response) => {
                head_is_there.notify_one();
                text(response).await.unwrap_err()
            }
            Err(error) => error,
        };
        assert_eq!(told(&error), expected);
    };
    // In raw bytes: settings, then after the headers of the request GOAWAY with last stream 0.
    let acceptor = acceptor(&["h2"]);
    let go_away = Server::new(move |stream, _| {
        let acceptor = acceptor.clone();
        async move {
            let mut stream = acceptor.accept(stream).await.unwrap();
            stream.write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0]).await.unwrap();
            stream.read_exact(&mut [0; 24]).await.unwrap();
            let mut head = [0; 9];
            while head[3] != 1 {
                stream.read_exact(&mut head).await.unwrap();
                let length = usize::from(head[1]) << 8 | usize::from(head[2]);
                stream.read_exact(&mut vec![0; length]).await.unwrap();
            }
            stream.write_all(&[0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]).await.unwrap();
            until_closed(&mut stream).await;
        }
    });
    check(go_away.await, "waiting for the response: the server gave the connection up without an answer").await;
    let refused = http2(|mut connection| async move {
        while let Some(Ok((_, mut respond))) = connection.accept().await {
            respond.send_reset(h2::Reason::INTERNAL_ERROR);
        }
    });
    check(refused.await, "waiting for the response: the stream was reset").await;
    let seen = head_is_there.clone();
    let in_body = http2(move |mut connection| {
        let seen = seen.clone();
        async move {
            while let Some(Ok((_, mut respond))) = connection.accept().await {
                let mut stream = respond.send_response(Response::new(()), false).unwrap();
                let seen = seen.clone();
                tokio::spawn(async move {
                    // A reset overtakes a head that was not read yet.
                    seen.notified().await;
                    stream.send_reset(h2::Reason::INTERNAL_ERROR);
                });
            }
        }
    });
    check(in_body.await, "reading the response body: the stream was reset").await;
}

#[tokio::test]
async fn dropping_an_http2_body_resets_its_stream_alone() {
    let (was_reset, mut is_reset) = tokio::sync::mpsc::channel(1);
    let server = http2(move |mut connection| {
        let was_reset = was_reset.clone();
        async move {
            while let Some(Ok((request, mut respond))) = connection.accept().await {
                if request.method() == http::Method::POST {
                    answer(&mut respond, "still here");
                    continue;
                }
                let mut stream = respond.send_response(Response::new(()), false).unwrap();
                stream.send_data(Bytes::from_static(b"12"), false).unwrap();
                let was_reset = was_reset.clone();
                tokio::spawn(async move {
                    let reason = std::future::poll_fn(|cx| stream.poll_reset(cx)).await.unwrap();
                    was_reset.send(reason).await.unwrap();
                });
            }
        }
    })
    .await;
    let (builder, url) = trusting(&server);
    let client = HttpClient::from(builder.build());
    let mut body = client.send(get(&url)).await.unwrap().into_body();
    assert_eq!(body.data().await.unwrap().unwrap(), "12");
    drop(body);
    assert_eq!(is_reset.recv().await, Some(h2::Reason::CANCEL));
    assert_eq!(text(client.send(crate::support::post(&url, "x")).await.unwrap()).await.unwrap(), "still here");
    assert_eq!(server.accepted(), 1);
    drop(client);
    until("the connection is closed", || server.open() == 0).await;
}
