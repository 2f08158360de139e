//! Proxies: as they are asked, tunnels, refusals, and what the environment says.

use std::{
    process::Stdio,
    sync::{Arc, Mutex},
};

use agent_core::{Billed, HttpClient};
use agent_http::{HttpStack, Proxies};
use tokio::{
    io::{AsyncWriteExt, copy_bidirectional},
    net::TcpStream,
};

use crate::{
    support::{Server, get, plain, read_head, text, told},
    tls,
};

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nfrom here";

type Heads = Arc<Mutex<Vec<String>>>;

/// A proxy that answers plain requests itself and makes tunnels.
async fn proxy() -> (Server, Heads) {
    let heads = Heads::default();
    let seen = heads.clone();
    let server = Server::new(move |mut stream, _| {
        let seen = seen.clone();
        async move {
            let Some(head) = read_head(&mut stream).await else { return };
            seen.lock().unwrap().push(head.clone());
            let Some(target) = head.strip_prefix("CONNECT ") else {
                stream.write_all(OK.as_bytes()).await.unwrap();
                return;
            };
            let port = target.split([':', ' ']).nth(1).unwrap();
            let mut there = TcpStream::connect(format!("127.0.0.1:{port}")).await.unwrap();
            stream.write_all(b"HTTP/1.1 200 Connection established\r\nvia: test\r\n\r\n").await.unwrap();
            let _ = copy_bidirectional(&mut stream, &mut there).await;
        }
    })
    .await;
    (server, heads)
}

#[tokio::test]
async fn a_plain_request_goes_to_the_proxy_as_it_is() {
    let (proxy, heads) = proxy().await;
    let through = Proxies::all(&format!("http://user:p%40ss@{}", proxy.address), "");
    assert!(!format!("{through:?}").contains("p%40ss"), "{through:?}");
    let client = HttpClient::from(plain().0.proxies(through).build());
    let response = client.send(get("http://target.invalid:81/x?y=1")).await.unwrap();
    assert_eq!(text(response).await.unwrap(), "from here");
    let head = heads.lock().unwrap().pop().unwrap();
    assert!(head.starts_with("GET http://target.invalid:81/x?y=1 HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("\r\nproxy-authorization: Basic dXNlcjpwQHNz\r\n"), "{head}");
}

#[tokio::test]
async fn a_tls_request_goes_through_a_tunnel_and_the_proxy_sees_nothing_of_it() {
    let acceptor = tls::acceptor(&["http/1.1"]);
    let inner = Heads::default();
    let seen = inner.clone();
    let server = Server::new(move |stream, _| {
        let (acceptor, seen) = (acceptor.clone(), seen.clone());
        async move {
            let mut stream = acceptor.accept(stream).await.unwrap();
            while let Some(head) = read_head(&mut stream).await {
                seen.lock().unwrap().push(head);
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await.unwrap();
            }
        }
    })
    .await;
    let (proxy, heads) = proxy().await;
    let (builder, url) = tls::trusting(&server);
    let through = Proxies::all(&format!("http://user:pass@{}", proxy.address), "");
    let client = HttpClient::from(builder.proxies(through).build());
    for _ in 0..2 {
        let mut request = get(&url);
        request.headers_mut().insert("x-api-key", http::HeaderValue::from_static("the-key"));
        assert_eq!(text(client.send(request).await.unwrap()).await.unwrap(), "ok");
    }
    let port = server.address.port();
    let expected = format!(
        "CONNECT localhost:{port} HTTP/1.1\r\nHost: localhost:{port}\r\n\
         Proxy-Authorization: Basic dXNlcjpwYXNz\r\n\r\n"
    );
    assert_eq!(*heads.lock().unwrap(), [expected], "one tunnel for both requests");
    let inner = inner.lock().unwrap().concat();
    assert_eq!(inner.matches("x-api-key: the-key\r\n").count(), 2);
    assert!(!inner.to_lowercase().contains("proxy-authorization"), "{inner}");
}

#[tokio::test]
async fn a_proxy_that_refuses_or_is_none_is_told() {
    let check = async |proxy: &str, expected: &str| {
        let client = HttpClient::from(plain().0.proxies(Proxies::all(proxy, "")).build());
        let error = client.send(get("https://target.invalid/")).await.unwrap_err();
        assert_eq!(told(&error), expected);
        assert_eq!(error.billed(), Billed::No);
    };
    let refusing = Server::answering("HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n").await;
    check(&refusing.url(""), "connecting: the proxy refused the tunnel with status 407").await;
    let nonsense = Server::answering("SSH-2.0-x\r\n\r\n").await;
    check(&nonsense.url(""), "connecting: the proxy cannot be used").await;
    let cut = Server::answering("HTTP/1.1 200").await;
    check(&cut.url(""), "connecting: the connection was closed before its end").await;
    check("socks5://127.0.0.1:1", "connecting: the proxy cannot be used").await;
    let endless = Server::new(|mut stream, _| async move {
        read_head(&mut stream).await.unwrap();
        while stream.write_all(b"HTTP/1.1 200 OK and on and on").await.is_ok() {}
    })
    .await;
    check(&endless.url(""), "connecting: the proxy cannot be used").await;
}

const CHILD: &str = "AGENT_HTTP_TEST_URL";

/// Runs itself in a child whose environment names proxies; what the child received.
#[tokio::test]
async fn the_environment_says_the_proxies() {
    if let Ok(url) = std::env::var(CHILD) {
        let client = HttpClient::from(HttpStack::builder().build());
        println!("received: {}", text(client.send(get(url)).await.unwrap()).await.unwrap());
        return;
    }
    let direct = Server::keeping("HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\ndirect").await;
    let (proxy, _) = proxy().await;
    let address = proxy.url("");
    let check = async |variables: &[(&str, &str)], expected: &str| {
        let mut command = tokio::process::Command::new(std::env::current_exe().unwrap());
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"] {
            command.env_remove(name).env_remove(name.to_lowercase());
        }
        command.args(["--exact", "proxies::the_environment_says_the_proxies", "--nocapture"]);
        command.env(CHILD, direct.url("/")).envs(variables.iter().copied()).stdin(Stdio::null());
        let output = command.output().await.unwrap();
        let output = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.contains(&format!("received: {expected}")), "{variables:?}: {output}");
    };
    check(&[], "direct").await;
    check(&[("HTTP_PROXY", &address)], "from here").await;
    check(&[("http_proxy", &address)], "from here").await;
    check(&[("ALL_PROXY", &address)], "from here").await;
    check(&[("HTTPS_PROXY", &address)], "direct").await;
    check(&[("HTTP_PROXY", &address), ("REQUEST_METHOD", "GET")], "direct").await;
    for no_proxy in ["*", "127.0.0.1", "10.0.0.1, 127.0.0.0/8", "a.example,127.0.0.1"] {
        check(&[("HTTP_PROXY", &address), ("NO_PROXY", no_proxy)], "direct").await;
    }
    check(&[("HTTP_PROXY", &address), ("no_proxy", "10.0.0.0/8,.example")], "from here").await;
}
