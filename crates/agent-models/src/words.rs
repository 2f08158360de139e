//! The words of the catalogue: which of a few ways a model or a provider goes.

use serde::{Deserialize, Serialize};

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)* })*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
            #[non_exhaustive]
            pub enum $name {
                $($(#[$variant_doc])* #[serde(rename = $word)] $variant,)*
            }

            impl $name {
                /// Every one of them.
                pub const ALL: &'static [Self] = &[$(Self::$variant),*];

                /// The word that stands for it in files.
                pub const fn word(self) -> &'static str {
                    match self { $(Self::$variant => $word,)* }
                }
            }

            impl std::fmt::Display for $name {
                fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str(self.word())
                }
            }
        )*
    };
}

words! {
    /// The protocol that a provider or a model speaks.
    Protocol {
        /// Anthropic's Messages, <https://platform.claude.com/docs/en/api/messages>.
        AnthropicMessages = "anthropic-messages",
        /// OpenAI's Chat Completions and what imitates it, <https://platform.openai.com/docs/api-reference/chat>.
        OpenAiChat = "openai-chat",
        /// OpenAI's Responses, <https://platform.openai.com/docs/api-reference/responses>.
        OpenAiResponses = "openai-responses",
        /// Responses at Azure OpenAI, <https://learn.microsoft.com/azure/ai-foundry/openai/>.
        Azure = "azure",
        /// Google's Gemini API, <https://ai.google.dev/api/generate-content>.
        Gemini = "gemini",
        /// Gemini at Vertex AI, <https://cloud.google.com/vertex-ai/generative-ai/docs/>.
        Vertex = "vertex",
        /// Amazon Bedrock's ConverseStream,
        /// <https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html>.
        Bedrock = "bedrock",
        /// None that a wire of Mainspring speaks.
        Other = "other",
    }
    /// What a model is for.
    ModelKind {
        /// It talks and calls tools.
        Chat = "chat",
        /// It only decides between answers that it is given; nothing is generated and billed.
        Decision = "decision",
    }
    /// How a model is told how much to think.
    ThinkingMode {
        /// It cannot be told, whether it thinks or not.
        None = "none",
        /// It adapts by itself and takes an effort beside that (`thinking: adaptive`).
        Adaptive = "adaptive",
        /// It takes a number of tokens (`budget_tokens`, `thinkingBudget`).
        Budget = "budget",
        /// It takes an effort (`reasoning_effort`, `reasoning.effort`).
        Effort = "effort",
        /// It takes a switch and an effort (`thinking: enabled | disabled`).
        Switch = "switch",
        /// It takes a level (`thinkingLevel`).
        Level = "level",
    }
    /// How a model is held to a schema.
    StructuredMode {
        /// Not at all: the schema can only be asked for in words.
        None = "none",
        /// It takes a JSON Schema.
        JsonSchema = "json-schema",
        /// It takes a schema in Gemini's subset of OpenAPI.
        OpenApiSchema = "openapi-schema",
        /// It writes some JSON object; the schema has to be asked for in words.
        JsonObject = "json-object",
        /// It is made to call a tool that has the schema.
        ForcedTool = "forced-tool",
    }
    /// How a provider's prompt cache is used.
    CacheStyle {
        /// There is none, or none that is known of.
        None = "none",
        /// It works by itself; nothing is sent for it.
        Implicit = "implicit",
        /// It works by itself, and a key routes requests that belong together (`prompt_cache_key`).
        Key = "key",
        /// Blocks are marked (`cache_control`).
        Breakpoints = "breakpoints",
        /// Points are put between blocks (`cachePoint`).
        CachePoints = "cache-points",
    }
    /// Where the instructions (the system prompt) go.
    InstructionsRole {
        /// A message of the role `system`.
        System = "system",
        /// A message of the role `developer`.
        Developer = "developer",
        /// A field of its own: `system`, `systemInstruction`.
        Field = "field",
        /// The field `instructions`.
        Instructions = "instructions",
    }
    /// The field that limits the answer.
    TokenField {
        /// `max_tokens`.
        MaxTokens = "max_tokens",
        /// `max_completion_tokens`.
        MaxCompletionTokens = "max_completion_tokens",
        /// `max_output_tokens`.
        MaxOutputTokens = "max_output_tokens",
        /// `generationConfig.maxOutputTokens`.
        GenerationConfig = "generationConfig.maxOutputTokens",
        /// `inferenceConfig.maxTokens`.
        InferenceConfig = "inferenceConfig.maxTokens",
    }
    /// How a request shows who sends it.
    AuthStyle {
        /// It does not.
        None = "none",
        /// `Authorization: Bearer`, with a key.
        Bearer = "bearer",
        /// `x-api-key`.
        XApiKey = "x-api-key",
        /// `api-key`, or a token of Entra as `Authorization: Bearer`.
        ApiKey = "api-key",
        /// `x-goog-api-key`.
        XGoogApiKey = "x-goog-api-key",
        /// `Authorization: Bearer`, with a token of Google's that lives for about an hour.
        GoogleToken = "google-token",
        /// Signature version 4, or a Bedrock key as `Authorization: Bearer`.
        Aws = "aws",
    }
}
