//! Credentials that a program prints.

use std::{
    env, fmt,
    future::{Future, poll_fn},
    pin::pin,
    process::Stdio,
    sync::Arc,
    task::Poll,
    time::Duration,
};

use agent_core::{BoxFuture, Credential, ProviderError, Secret, Timer, redact};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    process::Command,
};

use super::{CredentialForm, Fetch, SingleFlight, failed};
use crate::{TokioTimer, timer::millis};

/// The most that is read of what a program prints, in bytes.
const OUTPUT: u64 = 64 * 1024;
/// How much of its complaints an error keeps, in bytes.
const COMPLAINT: usize = 512;
/// What a program gets of the environment unless told otherwise.
const ENVIRONMENT: [&str; 6] = ["PATH", "HOME", "USER", "LANG", "TMPDIR", "SYSTEMROOT"];

/// What a program prints on its standard output, like `pass show …` or `gcloud auth print-access-token`.
///
/// It is started without a shell, sees only the listed environment variables, has no standard input, and
/// is killed when it takes too long or when nobody waits for it any more.
///
/// Behind the feature `command`.
#[derive(Clone)]
pub struct CommandCredential {
    program: String,
    arguments: Vec<String>,
    environment: Vec<String>,
    timeout: Duration,
    timer: Arc<dyn Timer>,
    form: CredentialForm,
}

impl CommandCredential {
    /// Runs this program with these arguments, each handed over as it is.
    pub fn new<A: Into<String>>(program: impl Into<String>, arguments: impl IntoIterator<Item = A>) -> Self {
        Self {
            program: program.into(),
            arguments: arguments.into_iter().map(Into::into).collect(),
            environment: ENVIRONMENT.map(str::to_owned).to_vec(),
            timeout: Duration::from_secs(30),
            timer: Arc::new(TokioTimer::new()),
            form: CredentialForm::default(),
        }
    }

    /// The names of the environment variables that the program gets: `PATH`, `HOME`, `USER`, `LANG`,
    /// `TMPDIR`, `SYSTEMROOT`.
    #[must_use]
    pub fn environment<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.environment = names.into_iter().map(Into::into).collect();
        self
    }

    /// How long the program may take, by this timer: 30 seconds.
    #[must_use]
    pub fn timeout(mut self, limit: Duration, timer: Arc<dyn Timer>) -> Self {
        (self.timeout, self.timer) = (limit, timer);
        self
    }

    /// What the secret is used as: an API key.
    #[must_use]
    pub fn form(mut self, form: CredentialForm) -> Self {
        self.form = form;
        self
    }

    /// A source that runs the program at the first use, and again after a 401; never twice at once.
    pub fn source(self) -> SingleFlight<Self> {
        SingleFlight::new(self)
    }

    async fn run(&self) -> Result<Credential, ProviderError> {
        let program = &self.program;
        let cannot =
            |e: std::io::Error| failed(format!("the credential command {program} cannot be run")).with_source(e);
        let inherited = self.environment.iter().filter_map(|name| Some((name, env::var_os(name)?)));
        let mut child = Command::new(program)
            .args(&self.arguments)
            .env_clear()
            .envs(inherited)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(cannot)?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        // Both at once: a program that is stuck on a full pipe would never end.
        let (output, complaint) = futures_util::future::join(head(stdout), head(stderr)).await;
        let output = output.map_err(cannot)?;
        if u64::try_from(output.len()).unwrap_or(u64::MAX) > OUTPUT {
            return Err(failed(format!("the credential command {program} printed more than {OUTPUT} bytes")));
        }
        let status = child.wait().await.map_err(cannot)?;
        if !status.success() {
            let complaint = complaint.unwrap_or_default();
            let complaint = String::from_utf8_lossy(complaint.get(..COMPLAINT).unwrap_or(&complaint)).into_owned();
            let complaint = redact(complaint.trim()).into_owned();
            return Err(failed(format!("the credential command {program} ended with {status}: {complaint}")));
        }
        let text = String::from_utf8(output)
            .map_err(|_| failed(format!("the credential command {program} printed text that is not UTF-8")))?;
        let secret = Secret::new(text);
        if secret.is_empty() {
            return Err(failed(format!("the credential command {program} printed nothing")));
        }
        Ok(self.form.credential(secret))
    }
}

/// One byte more than allowed at most; the rest stays unread, and the program is killed for it.
async fn head(pipe: Option<impl AsyncRead + Unpin>) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        pipe.take(OUTPUT + 1).read_to_end(&mut bytes).await?;
    }
    Ok(bytes)
}

impl Fetch for CommandCredential {
    fn place(&self) -> Option<String> {
        Some(format!("what `{}` prints", self.program))
    }

    fn fetch(&self) -> BoxFuture<'_, Result<Credential, ProviderError>> {
        Box::pin(async move {
            let mut deadline = self.timer.sleep(self.timeout);
            let mut running = pin!(self.run());
            poll_fn(|cx| {
                if let Poll::Ready(result) = running.as_mut().poll(cx) {
                    return Poll::Ready(result);
                }
                let late = || {
                    let limit = millis(self.timeout);
                    failed(format!("the credential command {} took longer than {limit} ms", self.program))
                };
                deadline.as_mut().poll(cx).map(|()| Err(late()))
            })
            .await
        })
    }
}

impl fmt::Debug for CommandCredential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Arguments can hold what is not for logs.
        let Self { program, environment, timeout, form, .. } = self;
        f.debug_struct("CommandCredential")
            .field("program", program)
            .field("environment", environment)
            .field("timeout", timeout)
            .field("form", form)
            .finish_non_exhaustive()
    }
}
