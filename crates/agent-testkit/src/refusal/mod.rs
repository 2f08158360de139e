//! Conversations that a real API would refuse, and why.

mod rules;

use agent_core::{Message, ModelCall, Origin, ToolChoice, ToolSet};

/// Why a real API would refuse a request. Messages and blocks are counted from 0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Nothing is shown to the model.
    #[error("the conversation is empty; it needs a user message")]
    Empty,
    /// An assistant message comes before anything that it could answer.
    #[error("message 0 is an assistant's; a conversation begins with a user message")]
    AssistantFirst,
    /// There is nothing to answer.
    #[error("the last message, {message}, is an assistant's; it needs a message to answer")]
    AssistantLast {
        /// The message.
        message: usize,
    },
    /// A result whose call is not in the assistant message directly before.
    #[error("message {message} is the result of {call}, which is no call directly before it")]
    ResultWithoutCall {
        /// The result.
        message: usize,
        /// The call that it names.
        call: String,
    },
    /// A second result for a call.
    #[error("message {message} is a second result of {call}")]
    DuplicateResult {
        /// The result.
        message: usize,
        /// The call that it names.
        call: String,
    },
    /// A call without a result directly behind its message.
    #[error("block {block} of message {message} calls `{tool}` and has no result directly behind")]
    UnansweredCall {
        /// The assistant message.
        message: usize,
        /// The call's block.
        block: usize,
        /// The tool.
        tool: String,
    },
    /// A tool call in a message that is not an assistant's.
    #[error("block {block} of message {message}, a {role} message, is a tool call")]
    MisplacedCall {
        /// The message.
        message: usize,
        /// The block.
        block: usize,
        /// Its role.
        role: &'static str,
    },
    /// A text block of nothing but white space.
    #[error("block {block} of message {message} is text without a visible character")]
    EmptyText {
        /// The message.
        message: usize,
        /// The block.
        block: usize,
    },
    /// A user message without a block.
    #[error("message {message} is a {role} message without content")]
    EmptyContent {
        /// The message.
        message: usize,
        /// Its role.
        role: &'static str,
    },
    /// A call of a tool that cannot exist.
    #[error(
        "block {block} of message {message} calls `{tool}`, which is no tool name: \
         1 to 64 letters, digits, `_` and `-` are allowed"
    )]
    BadToolName {
        /// The message.
        message: usize,
        /// The block.
        block: usize,
        /// The name.
        tool: String,
    },
    /// Two calls with one id of the vendor.
    #[error("block {block} of message {message} is a second call with the id `{id}`")]
    DuplicateVendorId {
        /// The message of the second call.
        message: usize,
        /// Its block.
        block: usize,
        /// The id.
        id: String,
    },
    /// The history holds calls and no tool is on offer.
    #[error("message {message} calls tools and the request defines none; send the tools as well")]
    CallsWithoutTools {
        /// The first message with a call.
        message: usize,
    },
    /// A call has to be made and there is nothing to call.
    #[error("the tool choice is `required` and the request defines no tools")]
    RequiredWithoutTools,
    /// A tool has to be called that is not on offer.
    #[error("the tool choice names `{tool}`, which the request does not define")]
    UnknownToolChoice {
        /// The tool.
        tool: String,
    },
    /// Signed or encrypted reasoning, or an opaque block, that somebody else made.
    #[error("block {block} of message {message} is {what} of another origin, which nobody can check")]
    ForeignBlock {
        /// The message.
        message: usize,
        /// The block.
        block: usize,
        /// What it is.
        what: &'static str,
    },
    /// A file that the provider does not keep, because it lies at another or nowhere.
    #[error("block {block} of message {message} names the file `{file}`, which the provider has not")]
    UnknownFile {
        /// The message.
        message: usize,
        /// The block.
        block: usize,
        /// The file's id.
        file: String,
    },
}

/// What a request is judged by besides its messages.
///
/// A `&ToolSet` converts into one: then neither origins nor files are looked at.
#[derive(Debug, Clone)]
pub struct Asked<'a> {
    tools: &'a ToolSet,
    choice: ToolChoice,
    origin: Option<Origin>,
    files: Option<&'a [String]>,
}

impl<'a> Asked<'a> {
    /// A request with these tools.
    pub fn new(tools: &'a ToolSet) -> Self {
        Self { tools, choice: ToolChoice::Auto, origin: None, files: None }
    }

    /// The tools and the tool choice of a call.
    pub fn of(call: &'a ModelCall) -> Self {
        Self::new(&call.tools).choice(call.options.tool_choice.clone())
    }

    /// Says whether and which tools are called.
    #[must_use]
    pub fn choice(mut self, choice: ToolChoice) -> Self {
        self.choice = choice;
        self
    }

    /// Says who is asked: what others signed is refused from then on.
    #[must_use]
    pub fn origin(mut self, origin: Origin) -> Self {
        self.origin = Some(origin);
        self
    }

    /// Says which files the provider keeps: others are refused from then on.
    #[must_use]
    pub fn files(mut self, files: &'a [String]) -> Self {
        self.files = Some(files);
        self
    }
}

impl<'a> From<&'a ToolSet> for Asked<'a> {
    fn from(tools: &'a ToolSet) -> Self {
        Self::new(tools)
    }
}

/// The first reason for which a real API would refuse these messages; `None` where it would take
/// them.
///
/// The rules are those that at least one of the large vendors enforces.
///
/// ```
/// use agent_core::{IdSource, Message, ToolSet, UserMessage};
/// use agent_testkit::{Refusal, refusal};
/// let tools = ToolSet::default();
/// let message = Message::from(UserMessage::text(IdSource::seeded(1).message(0), " "));
/// assert_eq!(refusal(&[&message], &tools), Some(Refusal::EmptyText { message: 0, block: 0 }));
/// ```
pub fn refusal<'a>(messages: &[&Message], asked: impl Into<Asked<'a>>) -> Option<Refusal> {
    let asked = asked.into();
    rules::order(messages)
        .or_else(|| rules::results(messages))
        .or_else(|| rules::blocks(messages, &asked))
        .or_else(|| rules::tools(messages, &asked))
}
