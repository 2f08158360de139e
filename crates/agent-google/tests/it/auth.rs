//! Access tokens of Google Cloud: how they are asked for, kept and refreshed.

use std::{sync::Arc, time::Duration};

use agent_core::{
    Billed, CallOptions, CancelToken, Credential, CredentialSource, HttpError, HttpPhase, HttpProvider, Provider,
    ProviderError, ProviderErrorKind as Kind, Secret,
};
use agent_google::{AuthorizedUser, GoogleTokens, GoogleWire, MetadataServer, ServiceAccount, Signer, TokenGrant};
use agent_testkit::{Gate, HttpReply, PausedTimer, ScriptedHttp};
use http::{Method, StatusCode, header};

use crate::given::{MODEL, STOP, Talk, parts, stream};

fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn token(text: &str, expires_in: u64) -> HttpReply {
    let body = format!(r#"{{"access_token":"{text}","expires_in":{expires_in},"token_type":"Bearer"}}"#);
    HttpReply::new(StatusCode::OK).header("metadata-flavor", "Google").body([body])
}

fn refusal(status: u16, body: &str) -> HttpReply {
    HttpReply::new(StatusCode::from_u16(status).unwrap()).body([body.to_owned()])
}

fn exposed(credential: &Credential) -> &str {
    match credential {
        Credential::Bearer(token) => token.expose(),
        other => panic!("{other}"),
    }
}

fn metadata(http: &ScriptedHttp, timer: &PausedTimer) -> GoogleTokens {
    GoogleTokens::new(MetadataServer::new(), http.client(), Arc::new(timer.clone()))
}

fn ask(tokens: &GoogleTokens) -> Result<String, ProviderError> {
    wait(tokens.credential()).map(|credential| exposed(&credential).to_owned())
}

struct Reversed;

impl Signer for Reversed {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, ProviderError> {
        Ok(message.iter().rev().copied().collect())
    }
}

struct Broken;

impl Signer for Broken {
    fn sign(&self, _: &[u8]) -> Result<Vec<u8>, ProviderError> {
        Err(ProviderError::new(Kind::Auth, "the module is locked"))
    }
}

#[test]
fn the_metadata_server_is_asked_in_its_way() {
    let (http, timer) = (ScriptedHttp::new([token("a", 3_599), token("b", 3_599)]), PausedTimer::at(0));
    assert_eq!(ask(&metadata(&http, &timer)).unwrap(), "a");
    let server = MetadataServer::new().host("169.254.169.254:80").account("robot@p/x");
    let tokens = GoogleTokens::new(server, http.client(), Arc::new(timer));
    assert_eq!(ask(&tokens).unwrap(), "b");
    let sent = http.requests();
    let path = "computeMetadata/v1/instance/service-accounts";
    assert_eq!(sent[0].uri.to_string(), format!("http://metadata.google.internal/{path}/default/token"));
    assert_eq!(sent[1].uri.to_string(), format!("http://169.254.169.254:80/{path}/robot@p%2Fx/token"));
    assert!(sent.iter().all(|sent| sent.method == Method::GET && sent.headers["metadata-flavor"] == "Google"));
    // Something else that answers there: a hotel's login page.
    let http = ScriptedHttp::new([HttpReply::new(StatusCode::OK).body(["<html>"])]);
    let error = ask(&metadata(&http, &PausedTimer::at(0))).unwrap_err();
    assert_eq!((error.kind(), error.billed()), (Kind::Auth, Billed::No));
}

#[test]
fn a_token_is_used_until_shortly_before_its_end() {
    let replies = [token("a", 3_600), token("b", 100), token("c", 3_600)];
    let (http, timer) = (ScriptedHttp::new(replies), PausedTimer::at(1_000_000));
    let tokens = metadata(&http, &timer);
    let mut seen = Vec::new();
    for seconds in [0, 3_374, 1, 49, 1] {
        timer.advance(Duration::from_secs(seconds));
        seen.push(ask(&tokens).unwrap());
    }
    // The second lives for less than the margin: half of it is used.
    assert_eq!(seen, ["a", "a", "b", "b", "c"]);
    assert_eq!(http.remaining(), 0);
}

#[test]
fn callers_at_the_same_time_share_one_look_up() {
    let (gate, timer) = (Gate::new(), PausedTimer::at(0));
    let http = ScriptedHttp::new([token("a", 3_600).wait(&gate)]);
    let tokens = metadata(&http, &timer);
    let found = wait(async {
        let all = async { tokio::join!(tokens.credential(), tokens.credential(), tokens.credential()) };
        let open = async {
            gate.reached().await;
            gate.open();
        };
        tokio::join!(all, open).0
    });
    for credential in [found.0, found.1, found.2] {
        assert_eq!(exposed(&credential.unwrap()), "a");
    }
    assert_eq!(http.requests().len(), 1);
    // A failure is shared too, and the next who asks begins anew.
    let gate = Gate::new();
    let http = ScriptedHttp::new([refusal(500, "").wait(&gate), token("b", 3_600)]);
    let tokens = metadata(&http, &timer);
    let (first, second) = wait(async {
        let all = async { tokio::join!(tokens.credential(), tokens.credential()) };
        tokio::join!(all, async { gate.open() }).0
    });
    assert_eq!((first.unwrap_err().kind(), second.unwrap_err().kind()), (Kind::Server, Kind::Server));
    assert_eq!(http.requests().len(), 1);
    assert_eq!(ask(&tokens).unwrap(), "b");
}

#[test]
fn while_the_old_token_is_good_nobody_waits_and_no_failure_is_seen() {
    let (gate, timer) = (Gate::new(), PausedTimer::at(0));
    let replies = [token("a", 3_600), token("b", 3_600).wait(&gate)];
    let http = ScriptedHttp::new(replies);
    let tokens = metadata(&http, &timer);
    ask(&tokens).unwrap();
    timer.advance(Duration::from_secs(3_400));
    let found = wait(async {
        let mut slow = tokens.credential();
        let early = std::future::poll_fn(|cx| std::task::Poll::Ready(slow.as_mut().poll(cx).is_ready())).await;
        assert!(!early, "one refreshes");
        let other = tokens.credential().await.unwrap();
        gate.open();
        (exposed(&other).to_owned(), exposed(&slow.await.unwrap()).to_owned())
    });
    assert_eq!(found, ("a".to_owned(), "b".to_owned()));

    let http = ScriptedHttp::new([token("a", 3_600), refusal(503, ""), token("b", 3_600)]);
    let tokens = metadata(&http, &timer);
    ask(&tokens).unwrap();
    timer.advance(Duration::from_secs(3_400));
    assert_eq!((ask(&tokens).unwrap(), ask(&tokens).unwrap()), ("a".into(), "a".into()), "and it isn't hammered");
    assert_eq!(http.requests().len(), 2);
    timer.advance(Duration::from_secs(10));
    assert_eq!(ask(&tokens).unwrap(), "b");
    // When it is not good any more, a failure is one.
    let http = ScriptedHttp::new([token("a", 3_600), refusal(503, "")]);
    let tokens = metadata(&http, &timer);
    ask(&tokens).unwrap();
    timer.advance(Duration::from_secs(3_600));
    assert_eq!(ask(&tokens).unwrap_err().kind(), Kind::Overloaded);
}

#[test]
fn a_dropped_look_up_is_begun_anew() {
    let (gate, timer) = (Gate::new(), PausedTimer::at(0));
    let http = ScriptedHttp::new([token("a", 3_600).wait(&gate), token("b", 3_600)]);
    let tokens = metadata(&http, &timer);
    let found = wait(async {
        let mut first = tokens.credential();
        let early = std::future::poll_fn(|cx| std::task::Poll::Ready(first.as_mut().poll(cx).is_ready())).await;
        drop(first);
        (early, tokens.credential().await.map(|credential| exposed(&credential).to_owned()).unwrap())
    });
    assert_eq!(found, (false, "b".to_owned()));
}

#[test]
fn a_token_that_was_rejected_is_replaced_once() {
    let body = stream(&[&parts(r#"{"text":"Hi"}"#), STOP]);
    let unauthorized = || refusal(401, r#"{"error":{"code":401,"status":"UNAUTHENTICATED","message":"expired"}}"#);
    let replies = [token("a", 3_600), unauthorized(), token("b", 3_600), HttpReply::new(StatusCode::OK).body([body])];
    let (http, timer) = (ScriptedHttp::new(replies), Arc::new(PausedTimer::at(0)));
    let tokens = Arc::new(GoogleTokens::new(MetadataServer::new(), http.client(), timer.clone()));
    let provider = HttpProvider::new(GoogleWire::vertex("p", "global"), http.client(), tokens.clone(), timer);
    let send = || {
        wait(async {
            let prepared = provider.prepare(Talk::new().call(CallOptions::new(MODEL))).await?;
            prepared.send(CancelToken::new()).await.map(drop)
        })
    };
    send().unwrap();
    let sent = http.requests();
    let bearer = |at: usize| sent[at].headers[header::AUTHORIZATION].to_str().unwrap().to_owned();
    assert_eq!((bearer(1), bearer(3)), ("Bearer a".to_owned(), "Bearer b".to_owned()));
    assert!(sent[3].uri.path().starts_with("/v1/projects/p/locations/global/publishers/google/models/"));
    // One that the server gives again is no other: the refusal stands.
    http.push(unauthorized());
    http.push(token("b", 3_600));
    assert_eq!(send().unwrap_err().kind(), Kind::Auth);
    // Who comes with an older one gets the one that is there.
    let (old, now) = (Credential::Bearer(Secret::new("a")), Credential::Bearer(Secret::new("b")));
    let fresh = wait(tokens.refresh(&old)).unwrap().unwrap();
    assert_eq!((exposed(&fresh), http.remaining()), ("b", 0));
    // Two at the same time share one look-up: its token, that there is no other, its failure.
    for (reply, expected) in [(token("b", 3_600), "None"), (refusal(503, ""), "Overloaded"), (token("c", 3_600), "c")] {
        let gate = Gate::new();
        http.push(reply.wait(&gate));
        let both = async { tokio::join!(tokens.refresh(&now), tokens.refresh(&now)) };
        let (first, second) = wait(async { tokio::join!(both, async { gate.open() }).0 });
        for found in [first, second] {
            let found = match found {
                Ok(Some(credential)) => exposed(&credential).to_owned(),
                Ok(None) => "None".to_owned(),
                Err(error) => format!("{:?}", error.kind()),
            };
            assert_eq!((found.as_str(), http.remaining()), (expected, 0));
        }
    }
}

#[test]
fn an_assertion_is_signed_and_exchanged() {
    let (http, timer) = (ScriptedHttp::new([token("ya29.a", 3_599)]), PausedTimer::at(1_700_000_000_999));
    let account = ServiceAccount::new("robot@p.iam.gserviceaccount.com", Arc::new(Reversed)).key_id("key-1");
    let tokens = GoogleTokens::new(account, http.client(), Arc::new(timer));
    assert_eq!(ask(&tokens).unwrap(), "ya29.a");
    let sent = http.requests().pop().unwrap();
    assert_eq!((sent.method, sent.uri.to_string()), (Method::POST, "https://oauth2.googleapis.com/token".to_owned()));
    assert_eq!(sent.headers[header::CONTENT_TYPE], "application/x-www-form-urlencoded");
    let body = String::from_utf8(sent.body.to_vec()).unwrap();
    let grant = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=";
    let assertion = body.strip_prefix(grant).unwrap();
    // The message is the one that an independent signer signed for the golden file.
    let golden = include_str!("../fixtures/test-only-assertion.txt").trim();
    assert_eq!(assertion.rsplit_once('.').unwrap().0, golden.rsplit_once('.').unwrap().0);

    let account = ServiceAccount::new("robot@p", Arc::new(Broken));
    let tokens = GoogleTokens::new(account, http.client(), Arc::new(PausedTimer::at(0)));
    assert_eq!(ask(&tokens).unwrap_err().message(), "the module is locked");
    assert!(ServiceAccount::new("r", Arc::new(Broken)).token_uri("http://example.com/token").is_err());
    assert!(ServiceAccount::new("r", Arc::new(Broken)).token_uri("http://127.0.0.1:9/token").is_ok());
}

#[test]
fn a_person_who_has_logged_in_is_a_grant_too() {
    let http = ScriptedHttp::new([token("a", 3_599)]);
    let user = AuthorizedUser::new("id", "s&c=ret".into(), "1//re fresh".into());
    let tokens = GoogleTokens::new(user, http.client(), Arc::new(PausedTimer::at(0)));
    assert_eq!(ask(&tokens).unwrap(), "a");
    let body = String::from_utf8(http.requests().pop().unwrap().body.to_vec()).unwrap();
    let rest = "client_id=id&client_secret=s%26c%3Dret&refresh_token=1%2F%2Fre%20fresh";
    assert_eq!(body, format!("grant_type=refresh_token&{rest}"));
}

#[test]
fn refusals_name_who_refused_and_hold_no_secret() {
    let user = || AuthorizedUser::new("id", "topsecret-client".into(), "topsecret-refresh".into());
    let asked = |reply: HttpReply| {
        let http = ScriptedHttp::new([reply]);
        let tokens = GoogleTokens::new(user(), http.client(), Arc::new(PausedTimer::at(0)));
        let error = ask(&tokens).unwrap_err();
        assert!(!format!("{error} {error:?} {tokens:?}").contains("topsecret"));
        assert_eq!(error.billed(), Billed::No);
        error
    };
    let revoked = r#"{"error":"invalid_grant","error_description":"Token has been revoked."}"#;
    let error = asked(refusal(400, revoked));
    let text = "the token server of the authorized user refused with HTTP 400: invalid_grant: Token has been revoked.";
    assert_eq!((error.kind(), error.message()), (Kind::Auth, text));
    let busy = asked(refusal(429, "").header("retry-after", "3"));
    assert_eq!((busy.kind(), busy.retry_after(0).unwrap().as_secs()), (Kind::RateLimited, 3));
    assert_eq!(asked(refusal(503, "")).kind(), Kind::Overloaded);
    for nothing in ["{}", "null", "[1]", r#"{"access_token":" "}"#, r#"{"access_token":7,"note":"topsecret"}"#] {
        assert_eq!(asked(HttpReply::new(StatusCode::OK).body([nothing])).kind(), Kind::Auth, "{nothing}");
    }
    let broken = HttpError::Network { phase: HttpPhase::Connect, source: "no route".into() };
    assert_eq!(asked(HttpReply::error(broken)).kind(), Kind::Network);
}

#[test]
fn a_server_that_does_not_answer_is_waited_for_half_a_minute() {
    let (gate, timer) = (Gate::new(), PausedTimer::at(0));
    let http = ScriptedHttp::new([token("a", 3_600).wait(&gate)]);
    let tokens = metadata(&http, &timer);
    let error = wait(async {
        let late = async {
            timer.wait_for_sleeping(1).await;
            timer.advance(Duration::from_secs(30));
        };
        tokio::join!(tokens.credential(), late).0.unwrap_err()
    });
    assert_eq!((error.kind(), error.is_retryable()), (Kind::Timeout, true));
}

#[test]
fn credentials_files_are_read() {
    let user = r#"{"type":"authorized_user","client_id":"id","client_secret":"s","refresh_token":"r"}"#;
    assert!(matches!(TokenGrant::from_json(user), Ok(TokenGrant::AuthorizedUser(_))));
    for wrong in [
        "no json",
        "[]",
        "{}",
        r#"{"type":"external_account"}"#,
        r#"{"type":"authorized_user","client_id":"id","client_secret":"s"}"#,
        r#"{"type":"service_account","client_email":"a@b"}"#,
        r#"{"type":"service_account","client_email":"a@b","private_key":"topsecret"}"#,
        r#"{"type":"authorized_user","client_id":"id","client_secret":"topsecret","refresh_token":"r","token_uri":"ftp://x"}"#,
    ] {
        let error = TokenGrant::from_json(wrong).unwrap_err();
        assert_eq!(error.kind(), Kind::Auth, "{wrong}");
        assert!(!format!("{error} {error:?}").contains("topsecret"));
    }
}

#[cfg(feature = "service-account")]
mod signed {
    use super::*;

    const PEM: &str = include_str!("../fixtures/test-only-key.pem");

    /// The key in the older form: what its newer form wraps.
    fn older(pem: &str) -> String {
        use base64::{Engine, engine::general_purpose::STANDARD};
        let inner: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
        let der = STANDARD.decode(inner).unwrap();
        let label = "RSA PRIVATE KEY";
        format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", STANDARD.encode(&der[26..]))
    }

    #[test]
    fn the_signature_is_the_one_that_openssl_makes() {
        let golden = include_str!("../fixtures/test-only-assertion.txt").trim();
        for key in [PEM.to_owned(), PEM.replace('\n', "\\n"), older(PEM)] {
            let file = serde_json::json!({
                "type": "service_account", "project_id": "p", "private_key_id": "key-1", "private_key": key,
                "client_email": "robot@p.iam.gserviceaccount.com", "token_uri": "https://oauth2.googleapis.com/token",
            });
            let grant = TokenGrant::from_json(&file.to_string()).unwrap();
            assert!(!format!("{grant:?}").contains("BEGIN"));
            let http = ScriptedHttp::new([token("ya29.a", 3_599)]);
            let timer = Arc::new(PausedTimer::at(1_700_000_000_000));
            assert_eq!(ask(&GoogleTokens::new(grant, http.client(), timer)).unwrap(), "ya29.a");
            let body = String::from_utf8(http.requests().pop().unwrap().body.to_vec()).unwrap();
            assert!(body.ends_with(&format!("&assertion={golden}")), "{body}");
        }
    }
}
