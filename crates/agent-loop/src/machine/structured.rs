//! Structured answers: a vendor without them is made to call a tool that has the schema, and the call is the answer.

use agent_core::{AssistantMessage, ContentBlock, StopReason};

use super::Machine;

impl Machine {
    /// Turns the call of the tool that stands for the schema into text, before anybody sees the message.
    ///
    /// A tool of the agent that has the schema's name is called as any other.
    pub(super) fn unwrap_structured(&self, answer: &mut AssistantMessage) {
        let options = self.options();
        let Some(schema) = &options.output_schema else { return };
        if self.setup.tools.specs().iter().any(|spec| spec.name() == schema.name) {
            return;
        }
        let mut found = false;
        for block in &mut answer.content {
            if let ContentBlock::ToolCall(call) = block
                && call.name == schema.name
            {
                *block = ContentBlock::text(call.arguments.text());
                found = true;
            }
        }
        let has_calls = answer.content.iter().any(|block| matches!(block, ContentBlock::ToolCall(_)));
        if found && !has_calls && answer.stop_reason == StopReason::ToolUse {
            answer.stop_reason = StopReason::EndTurn;
        }
    }
}
