//! What the model is shown of an output that is too long: its head and its tail.

use agent_core::{ContentBlock, ToolOutput};

use crate::texts;

/// Cuts each text of an output that is longer than `cap` bytes.
pub(super) fn cut(mut output: ToolOutput, cap: u64) -> ToolOutput {
    let cap = usize::try_from(cap).unwrap_or(usize::MAX);
    for block in &mut output.content {
        if let ContentBlock::Text(text) = block
            && text.text.len() > cap
        {
            text.text = cut_text(&text.text, cap);
        }
    }
    output
}

fn cut_text(text: &str, cap: usize) -> String {
    // The end of an output says how it went, so that it gets as much as the beginning.
    let head = text.floor_char_boundary(cap / 2);
    let tail = text.ceil_char_boundary(text.len().saturating_sub(cap - cap / 2));
    let (Some(first), Some(last)) = (text.get(..head), text.get(tail..)) else { return text.to_owned() };
    format!("{first}{}{last}", texts::cut(tail.saturating_sub(head)))
}
