//! What the model is shown of an output that is too long: its head and its tail.

use agent_core::{ContentBlock, ToolOutput};

use crate::texts;

/// Cuts the texts of an output that together are longer than `cap` bytes. Of the texts in the middle nothing is left;
/// what is no text stays.
pub(super) fn cut(mut output: ToolOutput, cap: u64) -> ToolOutput {
    let cap = usize::try_from(cap).unwrap_or(usize::MAX);
    let total = output.content.iter().filter_map(ContentBlock::as_text).map(str::len).sum::<usize>();
    if total <= cap {
        return output;
    }
    // The end of an output says how it went, so that it gets as much as the beginning.
    let (head, tail) = (cap / 2, total - (cap - cap / 2));
    let (mut at, mut left_out, mut marker) = (0, 0, None);
    let mut kept = Vec::with_capacity(output.content.len());
    for mut block in output.content {
        if let ContentBlock::Text(text) = &mut block {
            let (from, length) = (at, text.text.len());
            at += length;
            if at > head && from < tail {
                let first = text.text.floor_char_boundary(head.saturating_sub(from).min(length));
                let last = text.text.ceil_char_boundary(tail.saturating_sub(from).min(length));
                left_out += last.saturating_sub(first);
                let before = text.text.get(..first).unwrap_or_default();
                let after = text.text.get(last..).unwrap_or_default();
                // One place for the mark: where the gap begins.
                let here = marker.is_none();
                if !here && after.is_empty() {
                    continue;
                }
                marker.get_or_insert((kept.len(), first));
                text.text = format!("{before}{after}");
            }
        }
        kept.push(block);
    }
    if let Some((index, byte)) = marker
        && let Some(ContentBlock::Text(text)) = kept.get_mut(index)
    {
        text.text.insert_str(byte, &texts::cut(left_out));
    }
    output.content = kept;
    output
}
