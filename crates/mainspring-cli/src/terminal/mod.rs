//! What is shown in a terminal: text that cannot harm it, markdown, diffs, progress.

mod diff;
mod markdown;
mod progress;
mod style;
#[cfg(test)]
mod tests;
mod text;
mod wrap;

pub(crate) use self::{
    diff::diff,
    markdown::Markdown,
    progress::Progress,
    style::{Style, Theme},
    text::{cut, safe},
};
