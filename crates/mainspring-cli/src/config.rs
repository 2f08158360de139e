//! The configuration file and the environment, below the command line.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use crate::{
    args::{EffortArg, Options, SandboxArg, When},
    error::Error,
};

/// The names in a configuration file. Each is what the option of its name is.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Config {
    model: Option<String>,
    tools: Option<Vec<String>>,
    approvals: Option<Approvals>,
    max_cost: Option<f64>,
    max_turns: Option<u64>,
    system: Option<String>,
    effort: Option<EffortArg>,
    sandbox: Option<SandboxArg>,
    color: Option<When>,
    save: Option<bool>,
    /// Where providers are, by name: gateways and local servers.
    #[serde(default)]
    pub(crate) providers: BTreeMap<String, At>,
}

/// Where a provider is.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct At {
    pub(crate) base_url: Option<String>,
    /// The environment variable that holds the key for this address.
    pub(crate) key_variable: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Approvals {
    Yes,
    Ask,
    ReadOnly,
}

/// The environment of the process; tests bring their own by a process of their own.
pub(crate) fn env(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

/// A folder of the user by the XDG rules (<https://specifications.freedesktop.org/basedir-spec>).
pub(crate) fn user_folder(variable: &str, below_home: &str) -> Option<PathBuf> {
    let set = env(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = set.or_else(|| env("HOME").map(|home| Path::new(&home).join(below_home)))?;
    Some(folder.join("mainspring"))
}

/// Where the configuration file is: as the option says, the environment, or the user's folder.
pub(crate) fn path(option: Option<&Path>) -> Option<(PathBuf, bool)> {
    let named = option.map(Path::to_owned).or_else(|| env("MAINSPRING_CONFIG").map(PathBuf::from));
    match named {
        Some(path) => Some((path, true)),
        None => user_folder("XDG_CONFIG_HOME", ".config").map(|folder| (folder.join("config.toml"), false)),
    }
}

/// Reads the configuration file. One that was not named may be missing.
pub(crate) fn read(option: Option<&Path>) -> Result<Config, Error> {
    let Some((path, named)) = path(option) else { return Ok(Config::default()) };
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(e) if e.kind() == io::ErrorKind::NotFound && !named => return Ok(Config::default()),
        Err(source) => return Err(Error::Read { path, source }),
    };
    toml::from_str(&text).map_err(|source| Error::Config { path, source: Box::new(source) })
}

impl Config {
    /// Fills in what the command line did not say: from the environment first, then from the file.
    pub(crate) fn fill(&self, options: &mut Options) -> Result<(), Error> {
        options.model = options.model.take().or_else(|| env("MAINSPRING_MODEL")).or_else(|| self.model.clone());
        if options.max_cost.is_none() {
            options.max_cost = match env("MAINSPRING_MAX_COST") {
                Some(text) => Some(text.trim().parse().map_err(|_| Error::MaxCost { text })?),
                None => self.max_cost,
            };
        }
        options.tools = options.tools.take().or_else(|| self.tools.clone());
        options.max_turns = options.max_turns.or(self.max_turns);
        options.system = options.system.take().or_else(|| self.system.clone());
        options.effort = options.effort.or(self.effort);
        options.sandbox = options.sandbox.or(self.sandbox);
        options.color = options.color.or(self.color);
        options.no_save |= self.save == Some(false) && options.session.is_none();
        if !(options.yes || options.ask || options.read_only) {
            match self.approvals {
                Some(Approvals::Yes) => options.yes = true,
                Some(Approvals::ReadOnly) => options.read_only = true,
                Some(Approvals::Ask) | None => {}
            }
        }
        Ok(())
    }
}
