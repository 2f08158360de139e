//! Which commands run without asking, which never, and what becomes of the others.

use super::words::simple_commands;

/// What becomes of a command line that is neither allowed nor denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Otherwise {
    /// Somebody has to agree.
    #[default]
    Ask,
    /// It is refused: nobody is there to ask.
    Deny,
}

/// Rules for command lines, by the words of the commands they run and not by their text.
///
/// A line runs without asking only where **every** command in it is allowed. What cannot be read beforehand
/// ([`simple_commands`](crate::simple_commands)) is never allowed. There is no way to allow all but a few: such lists
/// cannot be complete. Denying is for what nobody should be asked about.
///
/// An allowed rule holds the first words: `git status` allows `git status --short`. Think of what a command can do
/// before you allow it: `find` and `git` run other programs when they are told to. A denied rule matches where the
/// command has its name, in any folder, and all its words in any order; `rm -rf /` denies `/bin/rm / -r -f`, too.
///
/// ```
/// use agent_tools::{CommandPolicy, CommandVerdict};
/// let policy = CommandPolicy::new().allow(["git", "status"]).allow(["wc"]).deny(["git", "push"]);
/// assert_eq!(policy.verdict("git status -s | wc -l"), CommandVerdict::Allow);
/// assert!(matches!(policy.verdict("git status; curl example.com"), CommandVerdict::Ask { .. }));
/// assert!(matches!(policy.verdict("git push --force"), CommandVerdict::Deny { .. }));
/// ```
#[derive(Debug, Clone, Default)]
pub struct CommandPolicy {
    allowed: Vec<Vec<String>>,
    denied: Vec<Vec<String>>,
    otherwise: Otherwise,
}

/// What a policy says of a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CommandVerdict {
    /// It runs.
    Allow,
    /// Somebody has to agree.
    Ask {
        /// Why it isn't allowed.
        reason: String,
    },
    /// It never runs.
    Deny {
        /// Why.
        reason: String,
    },
}

impl CommandPolicy {
    /// Rules that allow nothing and ask about everything.
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows commands that begin with these words. Without words it allows nothing.
    #[must_use]
    pub fn allow<W: Into<String>>(mut self, words: impl IntoIterator<Item = W>) -> Self {
        self.allowed.push(words.into_iter().map(Into::into).collect());
        self
    }

    /// Denies commands with this name that have all these words.
    #[must_use]
    pub fn deny<W: Into<String>>(mut self, words: impl IntoIterator<Item = W>) -> Self {
        self.denied.push(words.into_iter().map(Into::into).collect());
        self
    }

    /// Sets what becomes of all others.
    #[must_use]
    pub fn otherwise(self, otherwise: Otherwise) -> Self {
        Self { otherwise, ..self }
    }

    /// Judges a command line.
    pub fn verdict(&self, line: &str) -> CommandVerdict {
        let commands = match simple_commands(line) {
            Ok(commands) => commands,
            Err(e) => return self.other(e.to_string()),
        };
        let denied = |command: &&Vec<String>| self.denied.iter().any(|rule| denies(rule, command));
        if let Some(command) = commands.iter().find(denied) {
            return CommandVerdict::Deny { reason: format!("`{}` is not allowed here", command.join(" ")) };
        }
        let allowed = |command: &Vec<String>| self.allowed.iter().any(|rule| allows(rule, command));
        match commands.iter().find(|command| !allowed(command)) {
            Some(command) => self.other(format!("`{}` is not among the allowed commands", command.join(" "))),
            None => CommandVerdict::Allow,
        }
    }

    fn other(&self, reason: String) -> CommandVerdict {
        match self.otherwise {
            Otherwise::Ask => CommandVerdict::Ask { reason },
            Otherwise::Deny => CommandVerdict::Deny { reason },
        }
    }
}

fn allows(rule: &[String], command: &[String]) -> bool {
    !rule.is_empty() && command.starts_with(rule)
}

fn denies(rule: &[String], command: &[String]) -> bool {
    let (Some((name, words)), Some((called, arguments))) = (rule.split_first(), command.split_first()) else {
        return false;
    };
    let called = called.rsplit('/').next().unwrap_or(called);
    let given: Vec<String> = arguments.iter().flat_map(|word| letters(word)).collect();
    called == name && words.iter().flat_map(|word| letters(word)).all(|word| given.contains(&word))
}

/// `-rf` is `-r` and `-f`; `//` and `/.` are `/`.
fn letters(word: &str) -> Vec<String> {
    match word.strip_prefix('-') {
        Some(short) if !short.is_empty() && !short.starts_with('-') => short.chars().map(|c| format!("-{c}")).collect(),
        _ if word.starts_with('/') => {
            let parts: Vec<&str> = word.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
            vec![format!("/{}", parts.join("/"))]
        }
        _ => vec![word.to_owned()],
    }
}
