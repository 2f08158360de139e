//! A path as Markdown, to be read by people.

use std::fmt::Write;

use agent_core::{ContentBlock, MediaSource, Message};

use super::media;
use crate::{Header, page::date};

/// Writes messages as Markdown. Bytes of images and documents are left out; everything else is there. Code fences are
/// longer than any in what they hold.
pub fn markdown<'a>(header: &Header, messages: impl IntoIterator<Item = &'a Message>) -> String {
    let mut out = format!("# Session {}\n\n{}", header.id, date(header.created_ms));
    if let Some(cwd) = &header.cwd {
        _ = write!(out, " in {}", code(cwd));
    }
    out.push('\n');
    for message in messages {
        let title = match message {
            Message::User(_) => "User".to_owned(),
            Message::Assistant(answer) if answer.origin.model.is_empty() => "Assistant".to_owned(),
            Message::Assistant(answer) => format!("Assistant ({})", answer.origin.model),
            Message::ToolResult(result) if result.is_error => format!("Failure of {}", code(&result.tool_name)),
            Message::ToolResult(result) => format!("Result of {}", code(&result.tool_name)),
            Message::Note(note) => format!("Note ({})", note.kind),
            other => other.role().to_owned(),
        };
        _ = write!(out, "\n## {}\n", title.replace('\n', " "));
        for block in message.content() {
            out.push('\n');
            match block {
                ContentBlock::Text(block) if matches!(message, Message::ToolResult(_)) => {
                    out.push_str(&fenced(&block.text, ""));
                }
                ContentBlock::Text(block) => {
                    out.push_str(block.text.trim_end());
                    out.push('\n');
                }
                ContentBlock::Thinking(block) if block.text.is_empty() => out.push_str("> (hidden reasoning)\n"),
                ContentBlock::Thinking(block) => {
                    block.text.lines().for_each(|line| _ = writeln!(out, "> {line}"));
                }
                ContentBlock::ToolCall(call) => {
                    _ = write!(out, "Calls {}:\n\n{}", code(&call.name), fenced(call.arguments.text(), "json"));
                }
                ContentBlock::Image(image) => out.push_str(&place("image", &image.source)),
                ContentBlock::Document(document) => {
                    out.push_str(&place(document.name.as_deref().unwrap_or("document"), &document.source));
                }
                other => _ = writeln!(out, "({})", media::named(other)),
            }
        }
        if let Message::Assistant(answer) = message
            && let Some(error) = &answer.error
        {
            _ = write!(out, "\nThe call failed: {}\n", code(error));
        }
    }
    out
}

fn place(name: &str, source: &MediaSource) -> String {
    match source {
        MediaSource::Url(url) => format!("({name} at {})\n", code(url)),
        MediaSource::Base64(data) => format!("({name}, {} bytes in base64)\n", data.len()),
        _ => format!("({name})\n"),
    }
}

/// A fence that nothing in the text can end.
fn fenced(text: &str, language: &str) -> String {
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    let end = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
    format!("{fence}{language}\n{text}{end}{fence}\n")
}

/// Text of one line as code.
fn code(text: &str) -> String {
    let (text, fence) = (text.replace('\n', " "), "`".repeat(longest_run(text) + 1));
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

fn longest_run(text: &str) -> usize {
    let (mut longest, mut run) = (0, 0);
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}
