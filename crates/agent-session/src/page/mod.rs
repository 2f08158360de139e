//! A session as one page for a browser: everything is in it, nothing is fetched, and what models, tools and users said
//! is only ever text.

mod chart;
mod date;
mod item;
mod model;
mod text;
mod tool;
mod tree;

use std::fmt::Write;

use agent_core::{Money, RecordBody, Usage};
use sha2::{Digest, Sha256};

pub(crate) use self::date::{date, date_ms};
use self::{
    item::Calls,
    model::{Figures, Model},
};
use crate::{Header, Session, SessionError};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

impl Session {
    /// The session as a page: the tree, the timeline of turns, tools with arguments and output, diffs, tokens, cost and
    /// context use. One file without anything from elsewhere; only its own script runs in it. Dropping the future
    /// changes nothing.
    ///
    /// # Errors
    /// [`SessionError`] where something cannot be read.
    pub async fn page(&self) -> Result<String, SessionError> {
        let model = Model::read(self).await?;
        Ok(write(self.header(), &model))
    }
}

fn write(header: &Header, model: &Model) -> String {
    let mut out = String::with_capacity(model.entries.len() * 512 + 64 * 1024);
    let first = (0..model.entries.len()).find_map(|at| model.input(at));
    let title = first.map_or_else(|| "Empty session".to_owned(), |message| text::short(&message.text(), 80));
    out.push_str("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    // Should anything of a session ever become markup, it still cannot run, send or load.
    _ = write!(
        out,
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; \
         style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'\">",
        hash(STYLE),
        hash(SCRIPT)
    );
    _ = write!(
        out,
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><meta name=\"referrer\" content=\"no-referrer\">\
         <title>{title}</title><style>{STYLE}</style></head><body>\
         <a class=\"skip\" href=\"#timeline\">Skip to the timeline</a>"
    );
    top(header, model, &title, &mut out);
    out.push_str("<div class=\"columns\">");
    tree::tree(model, &mut out);
    out.push_str("<main id=\"timeline\" tabindex=\"-1\">");
    chart::charts(&model.figures(), &mut out);
    for (number, segment) in model.segments.iter().enumerate() {
        let hidden = if segment.current { "" } else { " hidden" };
        _ = write!(out, "<section class=\"segment\" id=\"s{number}\"{hidden}");
        if let Some(parent) = segment.parent {
            _ = write!(out, " data-parent=\"s{parent}\"");
        }
        // Where one comes to who goes down: the way to the head, else the newest.
        let current = segment.children.iter().find(|child| model.segments.get(**child).is_some_and(|one| one.current));
        if let Some(next) = current.or(segment.children.last()) {
            _ = write!(out, " data-next=\"s{next}\"");
        }
        out.push('>');
        let mut calls = Calls::of(model, &segment.entries);
        segment.entries.iter().for_each(|at| item::item(model, *at, &mut calls, &mut out));
        if segment.children.len() > 1 {
            tree::fork(model, &segment.children, &mut out);
        }
        out.push_str("</section>");
    }
    if model.segments.is_empty() {
        out.push_str("<p class=\"aside\">This session holds no entries.</p>");
    }
    _ = writeln!(out, "</main></div>{HELP}<script>{SCRIPT}</script></body></html>");
    out
}

const HELP: &str = "<dialog id=\"help\" aria-labelledby=\"help-title\"><h2 id=\"help-title\">Keys</h2><dl>\
    <dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>next and previous item</dd>\
    <dt><kbd>n</kbd> <kbd>p</kbd></dt><dd>next and previous input</dd>\
    <dt><kbd>o</kbd></dt><dd>open and close the details of an item</dd>\
    <dt><kbd>e</kbd></dt><dd>open and close all details</dd>\
    <dt><kbd>/</kbd></dt><dd>search</dd>\
    <dt><kbd>?</kbd></dt><dd>this list</dd></dl>\
    <form method=\"dialog\"><button>Close</button></form></dialog>";

fn top(header: &Header, model: &Model, title: &str, out: &mut String) {
    _ = write!(out, "<header class=\"top\"><div><h1>{title}</h1><p>{} · {}", header.id, date(header.created_ms));
    if let Some(cwd) = &header.cwd {
        _ = write!(out, " · <code>{}</code>", text::escaped(cwd));
    }
    out.push_str("</p></div><dl class=\"sums\">");
    let figures = model.figures();
    let usage: Usage = figures.iter().map(|one| one.usage).sum();
    let cost = figures.iter().filter_map(|one| one.cost).reduce(Money::plus);
    let (turns, tools, failed) = counts(model);
    let mut sum = |name: &str, value: String| _ = write!(out, "<div><dt>{name}</dt><dd>{value}</dd></div>");
    sum("turns", turns.to_string());
    sum("model calls", figures.len().to_string());
    sum("tool calls", if failed > 0 { format!("{tools} <small>{failed} failed</small>") } else { tools.to_string() });
    sum("input tokens", cached(&usage));
    sum("output tokens", chart::tokens(usage.generated()));
    sum("context", chart::tokens(figures.last().map_or(0, |last: &Figures| last.usage.total())));
    if let Some(cost) = cost {
        sum("cost", chart::dollars(cost.pico_dollars()));
    }
    out.push_str("</dl><div class=\"tools\"><input id=\"search\" type=\"search\" placeholder=\"Search  /\" ");
    out.push_str("aria-label=\"Search the timeline\"><output id=\"found\" aria-live=\"polite\"></output>");
    out.push_str("<button id=\"all\" type=\"button\">Open all</button>");
    out.push_str("<button id=\"keys\" type=\"button\">Keys</button></div></header>");
}

fn cached(usage: &Usage) -> String {
    let prompt = usage.prompt();
    match usage.cache_read.saturating_mul(100).checked_div(prompt) {
        Some(share) if share > 0 => format!("{} <small>{share} % cached</small>", chart::tokens(prompt)),
        _ => chart::tokens(prompt),
    }
}

/// Inputs, tool calls that were answered, and those that failed, on the way to the head.
fn counts(model: &Model) -> (usize, usize, usize) {
    let current = model.segments.iter().filter(|segment| segment.current).flat_map(|segment| &segment.entries);
    let (mut turns, mut tools, mut failed) = (0, 0, 0);
    for at in current {
        turns += usize::from(model.input(*at).is_some());
        if let Some((_, output)) = model.record(*at).and_then(model::output) {
            tools += 1;
            failed += usize::from(output.is_error);
        }
    }
    (turns, tools, failed)
}

/// What the policy of the page names its own style and script by: SHA-256 in base64.
fn hash(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digest = Sha256::digest(text.as_bytes());
    let mut out = String::with_capacity(44);
    for group in digest.chunks(3) {
        let bits = group.iter().chain([0, 0].iter()).take(3).fold(0usize, |bits, byte| bits << 8 | usize::from(*byte));
        for place in 0..4usize {
            let digit = DIGITS.get(bits >> (18 - 6 * place) & 63).copied().unwrap_or(b'=');
            out.push(if place > group.len() { '=' } else { char::from(digit) });
        }
    }
    out
}

/// What is shown of an entry in the tree.
fn named(model: &Model, at: usize) -> Option<String> {
    match &model.record(at)?.body {
        RecordBody::MessageAppended(agent_core::Message::User(message)) => {
            let text: Vec<&str> = message.content.iter().filter_map(agent_core::ContentBlock::as_text).collect();
            let name = text::short(&text.join("\n"), 60);
            Some(if name.is_empty() { "(no text)".to_owned() } else { name })
        }
        _ => None,
    }
}
