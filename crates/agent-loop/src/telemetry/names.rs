//! The names of OpenTelemetry's conventions for generative AI, as of November 2026
//! (<https://github.com/open-telemetry/semantic-conventions-genai>, status: development).
//!
//! Spans have the target [`TARGET`]. Their fields are written out in `spans.rs`, since `tracing` wants literals; a test
//! holds both against one table.

/// The target of all spans.
pub const TARGET: &str = "mainspring";

/// A metric: seconds that a model call took.
pub const INFERENCE_DURATION: &str = "gen_ai.client.inference.duration";
/// A metric: seconds until the first content of an answer.
pub const TIME_TO_FIRST_CHUNK: &str = "gen_ai.client.inference.time_to_first_chunk";
/// A counter: input tokens, cached ones included.
pub const INPUT_TOKENS: &str = "gen_ai.client.inference.usage.input_tokens";
/// A counter: output tokens, reasoning included.
pub const OUTPUT_TOKENS: &str = "gen_ai.client.inference.usage.output_tokens";
/// A counter: input tokens that were read from a cache.
pub const CACHE_READ_TOKENS: &str = "gen_ai.client.inference.usage.cache_read.input_tokens";
/// A counter: input tokens that were written to a cache.
pub const CACHE_WRITE_TOKENS: &str = "gen_ai.client.inference.usage.cache_write.input_tokens";
/// A counter: output tokens of reasoning.
pub const REASONING_TOKENS: &str = "gen_ai.client.inference.usage.reasoning.output_tokens";
/// A metric: seconds that a run took.
pub const RUN_DURATION: &str = "gen_ai.invoke_agent.duration";
/// A metric: how many model calls a run made.
pub const RUN_CALLS: &str = "gen_ai.invoke_agent.inference_calls";
/// A metric: how many tool calls a run made.
pub const RUN_TOOLS: &str = "gen_ai.invoke_agent.tool_calls";
/// A metric: seconds that a tool took.
pub const TOOL_DURATION: &str = "gen_ai.execute_tool.duration";
/// A counter of ours: what a call cost, in micro-dollars; absent where the price is not known.
pub const COST: &str = "mainspring.cost_micro_usd";

/// The conventions' name of a provider of ours.
pub(super) fn provider(name: &str) -> &str {
    match name {
        "google" | "gemini" => "gcp.gemini",
        "vertex" => "gcp.vertex_ai",
        "bedrock" => "aws.bedrock",
        "azure" => "azure.ai.openai",
        "xai" => "x_ai",
        "mistral" => "mistral_ai",
        "moonshot" => "moonshot_ai",
        other => other,
    }
}
