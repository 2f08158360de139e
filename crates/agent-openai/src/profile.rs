//! How vendors deviate from OpenAI's Chat Completions, as data.
//!
//! The rows follow the vendors' API references as surveyed in November 2026.

/// How a server is told how much to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EffortStyle {
    /// It is not told.
    None,
    /// `reasoning_effort`.
    Field,
    /// `thinking: {"type": …}` beside `reasoning_effort` (DeepSeek).
    Switch,
    /// `reasoning: {"effort": …}` (OpenRouter).
    Object,
}

/// How a server is held to a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StructuredStyle {
    /// `response_format` of the type `json_schema`.
    JsonSchema,
    /// `response_format` of the type `json_object`; the schema itself is reported as a loss: say it in the prompt.
    JsonObject,
    /// Not at all: the schema is reported as a loss, and has to be said in the prompt.
    Words,
}

/// A vendor, or a kind of server.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Profile {
    /// Its name; also the provider's, in origins.
    pub name: &'static str,
    /// Where it is; empty where it is wherever somebody runs it.
    pub base: &'static str,
    /// Whether instructions have the role `developer`, and not `system`.
    pub developer: bool,
    /// Whether the answer is limited by `max_completion_tokens`, and not by `max_tokens`.
    pub completion_tokens: bool,
    /// How it is told how much to think.
    pub effort: EffortStyle,
    /// How it is held to a schema.
    pub structured: StructuredStyle,
    /// Whether it takes `prompt_cache_key`.
    pub cache_key: bool,
    /// Whether it takes `parallel_tool_calls`.
    pub parallel: bool,
    /// Whether it takes `stream_options`.
    pub stream_options: bool,
    /// Whether thinking has to be sent back in requests with tools, as `reasoning_content`.
    pub replays_reasoning: bool,
    /// Whether a stream may close without `[DONE]` once a finish reason came.
    pub ends_without_done: bool,
    /// Whether an assistant message has to stand between results and what follows.
    pub assistant_after_results: bool,
    /// Whether results may hold images.
    pub tool_images: bool,
    /// Whether ids of calls have to be nine letters and digits (Mistral).
    pub short_ids: bool,
}

const PLAIN: Profile = Profile {
    name: "compatible",
    base: "",
    developer: false,
    completion_tokens: false,
    effort: EffortStyle::None,
    structured: StructuredStyle::JsonSchema,
    cache_key: false,
    parallel: true,
    stream_options: true,
    replays_reasoning: false,
    ends_without_done: true,
    assistant_after_results: false,
    tool_images: false,
    short_ids: false,
};

const fn at(name: &'static str, base: &'static str) -> Profile {
    Profile { name, base, ..PLAIN }
}

const PROFILES: &[Profile] = &[
    Profile {
        developer: true,
        completion_tokens: true,
        effort: EffortStyle::Field,
        cache_key: true,
        ends_without_done: false,
        ..at("openai", "https://api.openai.com/v1")
    },
    Profile { effort: EffortStyle::Field, ..at("xai", "https://api.x.ai/v1") },
    Profile { effort: EffortStyle::Field, ..at("groq", "https://api.groq.com/openai/v1") },
    Profile { effort: EffortStyle::Field, ..at("cerebras", "https://api.cerebras.ai/v1") },
    Profile {
        completion_tokens: true,
        effort: EffortStyle::Object,
        ..at("openrouter", "https://openrouter.ai/api/v1")
    },
    Profile { short_ids: true, ..at("mistral", "https://api.mistral.ai/v1") },
    Profile {
        effort: EffortStyle::Switch,
        structured: StructuredStyle::JsonObject,
        parallel: false,
        replays_reasoning: true,
        ..at("deepseek", "https://api.deepseek.com/v1")
    },
    Profile { structured: StructuredStyle::JsonObject, parallel: false, ..at("zai", "https://api.z.ai/api/paas/v4") },
    Profile { structured: StructuredStyle::Words, parallel: false, ..at("minimax", "https://api.minimax.io/v1") },
    Profile {
        structured: StructuredStyle::JsonObject,
        ..at("qwen", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1")
    },
    Profile {
        structured: StructuredStyle::JsonObject,
        parallel: false,
        ..at("moonshot", "https://api.moonshot.ai/v1")
    },
    Profile { completion_tokens: true, effort: EffortStyle::Field, ..at("meta", "https://api.llama.com/compat/v1") },
    at("together", "https://api.together.xyz/v1"),
    at("fireworks", "https://api.fireworks.ai/inference/v1"),
    Profile { assistant_after_results: true, parallel: false, ..at("ollama", "http://localhost:11434/v1") },
    Profile { parallel: false, ..at("lmstudio", "http://localhost:1234/v1") },
    at("llamacpp", "http://localhost:8080/v1"),
    at("vllm", "http://localhost:8000/v1"),
    PLAIN,
];

impl Profile {
    /// The profile of a vendor or a kind of server; `None` where there is none of that name.
    pub fn named(name: &str) -> Option<Self> {
        PROFILES.iter().find(|profile| profile.name == name).cloned()
    }

    /// The plain protocol, for a server that nobody has looked at.
    pub const fn compatible() -> Self {
        PLAIN
    }

    /// All profiles.
    pub fn all() -> &'static [Self] {
        PROFILES
    }
}
