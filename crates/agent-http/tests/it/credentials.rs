//! Credential sources: what they find, what they say where they don't, one look-up for all.

use std::{
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use agent_core::{BoxFuture, Credential, CredentialSource, ProviderError, ProviderErrorKind};
use agent_http::{CredentialForm, EnvCredential, Fetch, FileCredential, SingleFlight};
use futures_util::{FutureExt, future::join_all};
use tokio::sync::Semaphore;

pub(crate) fn key(credential: &Credential) -> String {
    match credential {
        Credential::ApiKey(secret) => format!("key {}", secret.expose()),
        Credential::Bearer(secret) => format!("bearer {}", secret.expose()),
        other => other.to_string(),
    }
}

pub(crate) fn told(result: Result<Credential, ProviderError>) -> String {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), ProviderErrorKind::Auth);
    error.message().to_owned()
}

pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("agent-http-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[tokio::test]
async fn the_first_variable_that_is_set_counts() {
    // Cargo sets it for tests.
    let source = EnvCredential::new(["AGENT_HTTP_NEVER_SET", "CARGO_PKG_NAME"]).source();
    assert_eq!(key(&source.credential().await.unwrap()), "key agent-http");
    let same = source.refresh(&Credential::ApiKey("agent-http".into())).await.unwrap();
    assert!(same.is_none(), "the environment has no other");
    let none = EnvCredential::new(["AGENT_HTTP_NEVER_SET", "AGENT_HTTP_NOR_THIS"]).source();
    assert_eq!(
        told(none.credential().await),
        "there is no credential: set AGENT_HTTP_NEVER_SET or AGENT_HTTP_NOR_THIS"
    );
}

#[tokio::test]
async fn a_file_is_read_again_after_a_401() {
    let folder = Folder::new("file");
    let path = folder.0.join("token");
    std::fs::write(&path, " first\n").unwrap();
    let source = FileCredential::new(&path).form(CredentialForm::Bearer).source();
    let first = source.credential().await.unwrap();
    assert_eq!(key(&first), "bearer first");
    assert!(source.refresh(&first).await.unwrap().is_none(), "the file is the same");
    std::fs::write(&path, "second\r\n").unwrap();
    assert_eq!(key(&source.credential().await.unwrap()), "bearer first", "kept until it is rejected");
    assert_eq!(key(&source.refresh(&first).await.unwrap().unwrap()), "bearer second");
    assert_eq!(key(&source.credential().await.unwrap()), "bearer second");

    std::fs::write(&path, "\n").unwrap();
    assert!(told(FileCredential::new(&path).source().credential().await).ends_with("token is empty"));
    std::fs::write(&path, "x".repeat(70_000)).unwrap();
    assert!(told(FileCredential::new(&path).source().credential().await).ends_with("larger than 65536 bytes"));
    let missing = FileCredential::new(folder.0.join("missing")).source();
    assert!(told(missing.credential().await).ends_with("missing cannot be read"));
}

/// Looks up one number after the other, when it is let.
struct Counting {
    begun: Arc<AtomicUsize>,
    gate: Arc<Semaphore>,
    fails: bool,
}

impl Fetch for Counting {
    fn fetch(&self) -> BoxFuture<'_, Result<Credential, ProviderError>> {
        Box::pin(async {
            let number = self.begun.fetch_add(1, Ordering::SeqCst);
            self.gate.acquire().await.unwrap().forget();
            if self.fails {
                return Err(ProviderError::new(ProviderErrorKind::Auth, format!("failure {number}")));
            }
            Ok(Credential::ApiKey(number.to_string().into()))
        })
    }
}

type Counted = (Arc<SingleFlight<Counting>>, Arc<AtomicUsize>, Arc<Semaphore>);

fn counting(fails: bool) -> Counted {
    let (begun, gate) = (Arc::new(AtomicUsize::new(0)), Arc::new(Semaphore::new(0)));
    let fetch = Counting { begun: begun.clone(), gate: gate.clone(), fails };
    (Arc::new(SingleFlight::new(fetch)), begun, gate)
}

#[tokio::test]
async fn all_who_ask_at_once_share_one_look_up() {
    let (source, begun, gate) = counting(false);
    let both = async || {
        let mut asking = join_all((0..20).map(|_| source.credential()));
        assert!((&mut asking).now_or_never().is_none());
        gate.add_permits(1);
        asking.await.into_iter().map(|found| key(&found.unwrap())).collect::<Vec<_>>()
    };
    assert_eq!(both().await, ["key 0"; 20]);
    let rejected = Credential::ApiKey("0".into());
    let mut refreshing = join_all((0..20).map(|_| source.refresh(&rejected)));
    assert!((&mut refreshing).now_or_never().is_none());
    gate.add_permits(1);
    assert!(refreshing.await.into_iter().all(|found| key(&found.unwrap().unwrap()) == "key 1"));
    assert_eq!(begun.load(Ordering::SeqCst), 2);
    // Late with the old one: the new one is there already.
    assert_eq!(key(&source.refresh(&rejected).await.unwrap().unwrap()), "key 1");
    assert_eq!(begun.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn a_failure_is_shared_too_and_the_next_who_asks_tries_again() {
    let (source, begun, gate) = counting(true);
    let mut asking = join_all((0..20).map(|_| source.credential()));
    assert!((&mut asking).now_or_never().is_none());
    gate.add_permits(1);
    assert!(asking.await.into_iter().all(|found| told(found) == "failure 0"));
    gate.add_permits(1);
    assert_eq!(told(source.credential().await), "failure 1");
    assert_eq!(begun.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn when_the_one_who_looks_up_is_dropped_another_takes_over() {
    let (source, begun, gate) = counting(false);
    let mut leader = source.credential();
    assert!((&mut leader).now_or_never().is_none());
    let mut follower = source.credential();
    assert!((&mut follower).now_or_never().is_none());
    assert_eq!(begun.load(Ordering::SeqCst), 1);
    drop(leader);
    gate.add_permits(1);
    assert_eq!(key(&follower.await.unwrap()), "key 1");
}
