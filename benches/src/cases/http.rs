//! A request over a kept connection: our stack beside a bare hyper client on the same runtime.

use std::hint::black_box;

use agent_core::{Body, HttpClient};
use agent_http::{HttpStack, Proxies};
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};

use super::{Case, PerUnit, VersusFloor};
use crate::http::Server;

const BODY: &str = r#"{"model":"m","messages":[{"role":"user","content":"hello"}],"stream":false}"#;

pub(super) const REQUEST: Case = Case {
    name: "http-request",
    unit: "request over a kept connection",
    run: |n| {
        let client = HttpClient::from(HttpStack::builder().proxies(Proxies::none()).build());
        run(n, async move |url| {
            let request = request(url, Body::full(BODY));
            let Ok(response) = client.send(request).await else { return 0 };
            response.into_body().collect(1 << 20).await.map_or(0, |body| body.len())
        });
    },
    per_unit: PerUnit { lo: 200, hi: 1_200, max: None },
    growth: None,
    floor: Some(VersusFloor { name: "http-floor-request", max_tenths: 14, routine: false }),
};

pub(super) const FLOOR_REQUEST: Case = Case {
    name: "http-floor-request",
    unit: "request over a kept connection of a bare hyper client",
    run: |n| {
        let client: Client<_, Full<Bytes>> = Client::builder(TokioExecutor::new()).build_http();
        run(n, async move |url| {
            let mut request = request(url, Full::new(Bytes::from_static(BODY.as_bytes())));
            // The same bytes on the wire: what our stack adds to a request is added by hand here.
            let headers = request.headers_mut();
            headers.insert("accept-encoding", http::HeaderValue::from_static("gzip"));
            headers.insert("user-agent", http::HeaderValue::from_static("mainspring/0.1.0"));
            let Ok(response) = client.request(request).await else { return 0 };
            response.into_body().collect().await.map_or(0, |body| body.to_bytes().len())
        });
    },
    per_unit: PerUnit { lo: 200, hi: 1_200, max: None },
    growth: None,
    floor: None,
};

fn request<B>(url: &str, body: B) -> Request<B> {
    let mut request = Request::new(body);
    *request.method_mut() = http::Method::POST;
    *request.uri_mut() = url.parse().unwrap_or_default();
    let headers = request.headers_mut();
    headers.insert("content-type", http::HeaderValue::from_static("application/json"));
    headers.insert("x-api-key", http::HeaderValue::from_static("sk-0123456789012345678901234567890123456789"));
    request
}

/// Sends `n` requests, one after the other.
fn run(n: u64, send: impl AsyncFn(&str) -> usize) {
    let work = || -> std::io::Result<usize> {
        let server = Server::start()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let url = format!("http://{}/", server.address);
        runtime.block_on(async {
            let mut bytes = 0;
            for _ in 0..n {
                bytes += send(&url).await;
            }
            let expected = usize::try_from(2 * n).unwrap_or_default();
            if bytes == expected { Ok(bytes) } else { Err(std::io::Error::other("a request failed")) }
        })
    };
    // A case that fails must not count as a cheap one.
    let result = work();
    assert!(result.is_ok(), "{result:?}");
    let _ = black_box(result);
}
