//! A command line as the commands it runs, as far as that can be told without running it.

/// A command line that is more than words: what it would run is known only when it runs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("what the command line runs cannot be told beforehand: {what} at byte {at}")]
#[non_exhaustive]
pub struct UnreadableCommand {
    /// Where, in bytes from 0.
    pub at: usize,
    /// What stands there.
    pub what: &'static str,
}

/// Words that are no commands, and commands that change what later words mean.
const SYNTAX: &[&str] = &[
    "!", "[[", "alias", "case", "coproc", "do", "done", "elif", "else", "enable", "esac", "eval", "exec", "fi", "for",
    "function", "hash", "if", "in", "select", "set", "shopt", "source", ".", "then", "time", "trap", "unalias",
    "until", "while",
];

/// The commands of a command line, each with its arguments, in order.
///
/// Read are words, quotes, escapes, comments, what joins commands (`;`, `&`, `&&`, `||`, `|`, new lines), and
/// redirections that go to `/dev/null` or join outputs. Everything that the shell would replace by something else
/// (variables, substitutions, patterns, `~`), that writes or reads files, or that is more than a simple command is an
/// error: nobody can promise what it runs.
///
/// ```
/// use agent_tools::simple_commands;
/// let commands = simple_commands("cargo test -q 2>&1 | grep 'not ok'")?;
/// assert_eq!(commands, [vec!["cargo", "test", "-q"], vec!["grep", "not ok"]]);
/// assert!(simple_commands("ls $(cat list)").is_err());
/// # Ok::<(), agent_tools::UnreadableCommand>(())
/// ```
///
/// # Errors
/// [`UnreadableCommand`] with the first place that cannot be read.
pub fn simple_commands(line: &str) -> Result<Vec<Vec<String>>, UnreadableCommand> {
    let mut reader = Reader { line, at: 0, commands: Vec::new(), words: Vec::new(), word: None, begun: 0, open: false };
    reader.read()?;
    Ok(reader.commands)
}

struct Reader<'a> {
    line: &'a str,
    at: usize,
    commands: Vec<Vec<String>>,
    words: Vec<String>,
    /// The word that is being read, and whether any of it was quoted.
    word: Option<(String, bool)>,
    begun: usize,
    /// Whether what came last needs a command behind it.
    open: bool,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.line.get(self.at..).and_then(|rest| rest.chars().next())
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn takes(&mut self, wanted: &str) -> bool {
        let there = self.line.get(self.at..).is_some_and(|rest| rest.starts_with(wanted));
        if there {
            self.at += wanted.len();
        }
        there
    }

    fn fail<T>(&self, at: usize, what: &'static str) -> Result<T, UnreadableCommand> {
        let _ = self;
        Err(UnreadableCommand { at, what })
    }

    fn push(&mut self, c: char, quoted: bool, at: usize) {
        if self.word.is_none() {
            self.begun = at;
        }
        let word = self.word.get_or_insert_default();
        word.0.push(c);
        word.1 |= quoted;
    }

    fn read(&mut self) -> Result<(), UnreadableCommand> {
        loop {
            let at = self.at;
            let Some(c) = self.next() else { break };
            match c {
                ' ' | '\t' => self.end_word()?,
                '\n' | ';' | '&' | '|' => self.join(c, at)?,
                '#' if self.word.is_none() => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.next();
                    }
                }
                '\'' => self.single(at)?,
                '"' => self.double(at)?,
                '\\' => match self.next() {
                    // A line that goes on.
                    Some('\n') => {}
                    Some(c) => self.push(c, true, at),
                    None => return self.fail(at, "a `\\` that ends the line"),
                },
                '>' | '<' => self.redirection(c, at)?,
                '$' => return self.fail(at, "a variable or substitution (`$`)"),
                '`' => return self.fail(at, "a substitution"),
                '*' | '?' | '[' | ']' => return self.fail(at, "a pattern for file names"),
                '{' | '}' => return self.fail(at, "a brace"),
                '(' | ')' => return self.fail(at, "a bracket"),
                '~' => return self.fail(at, "a `~`"),
                '!' if self.word.is_some() => self.push(c, false, at),
                c if c.is_control() => return self.fail(at, "a control character"),
                c => self.push(c, false, at),
            }
        }
        self.end_command(None, self.at)
    }

    fn single(&mut self, at: usize) -> Result<(), UnreadableCommand> {
        self.quote(at);
        loop {
            match self.next() {
                Some('\'') => return Ok(()),
                Some(c) => self.push(c, true, at),
                None => return self.fail(at, "a quote without an end"),
            }
        }
    }

    fn double(&mut self, begun: usize) -> Result<(), UnreadableCommand> {
        self.quote(begun);
        loop {
            let at = self.at;
            match self.next() {
                Some('"') => return Ok(()),
                Some('$') => return self.fail(at, "a variable or substitution (`$`)"),
                Some('`') => return self.fail(at, "a substitution"),
                Some('\\') => match self.next() {
                    Some('\n') => {}
                    Some(c @ ('$' | '`' | '"' | '\\')) => self.push(c, true, at),
                    // Others keep their backslash between double quotes.
                    Some(c) => {
                        self.push('\\', true, at);
                        self.push(c, true, at);
                    }
                    None => return self.fail(begun, "a quote without an end"),
                },
                Some(c) => self.push(c, true, at),
                None => return self.fail(begun, "a quote without an end"),
            }
        }
    }

    /// Begins a word with a quote: it may stay empty.
    fn quote(&mut self, at: usize) {
        if self.word.is_none() {
            self.begun = at;
        }
        self.word.get_or_insert_default().1 = true;
    }

    fn join(&mut self, c: char, at: usize) -> Result<(), UnreadableCommand> {
        if c == '&' && matches!(self.peek(), Some('>')) {
            self.next();
            self.end_word()?;
            return self.redirection('>', at);
        }
        if c == ';' && self.peek() == Some(';') {
            return self.fail(at, "`;;`");
        }
        let twice = matches!(c, '&' | '|') && self.peek() == Some(c);
        if twice || (c == '|' && self.peek() == Some('&')) {
            self.next();
        }
        self.end_command(Some(c), at)?;
        // The other side of these may stand in a later line, and has to stand somewhere.
        self.open |= twice || c == '|';
        Ok(())
    }

    /// A redirection, which is read where it touches no file.
    fn redirection(&mut self, c: char, at: usize) -> Result<(), UnreadableCommand> {
        // The digits right before it belong to it and are no word.
        match self.word.take() {
            Some((digits, false)) if digits.bytes().all(|b| b.is_ascii_digit()) => {}
            word => {
                self.word = word;
                self.end_word()?;
            }
        }
        if self.peek().is_some_and(|c| matches!(c, '(' | '<' | '|')) || (c == '<' && self.peek() == Some('>')) {
            return self.fail(at, "a redirection");
        }
        self.takes(">");
        let joins = self.takes("&");
        while !joins && self.peek().is_some_and(|c| matches!(c, ' ' | '\t')) {
            self.next();
        }
        let rest = self.line.get(self.at..).unwrap_or_default();
        let target: &str = rest.split(|c: char| c.is_whitespace() || ";&|<>()".contains(c)).next().unwrap_or_default();
        let harmless = if joins { matches!(target, "1" | "2") } else { target == "/dev/null" };
        if !harmless {
            return self.fail(at, "a redirection to or from a file");
        }
        self.at += target.len();
        Ok(())
    }

    fn end_word(&mut self) -> Result<(), UnreadableCommand> {
        let Some((word, _)) = self.word.take() else { return Ok(()) };
        if self.words.is_empty() {
            // Quoted or not: a name, and `=` behind it.
            let name = word.split_once('=').map(|(name, _)| name.trim_end_matches('+'));
            if name.is_some_and(|name| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')) {
                return self.fail(self.begun, "a variable that is set");
            }
            // Quoting hides a word from the shell's syntax, but not from its commands.
            if SYNTAX.contains(&word.as_str()) || word.is_empty() {
                return self.fail(self.begun, "a word of the shell's own");
            }
        }
        self.words.push(word);
        Ok(())
    }

    /// Ends a command where `by` stands, or the line where there is nothing.
    fn end_command(&mut self, by: Option<char>, at: usize) -> Result<(), UnreadableCommand> {
        self.end_word()?;
        if !self.words.is_empty() {
            self.commands.push(std::mem::take(&mut self.words));
        } else if by.is_some_and(|by| by != '\n') || (by.is_none() && self.open) {
            return self.fail(at, "a command that is missing");
        } else {
            return Ok(());
        }
        self.open = false;
        Ok(())
    }
}
