//! The tree of a session as a list of links: its branches, and the inputs on them.

use std::fmt::Write;

use super::{model::Model, named, text};

/// How deep the list is indented at most.
const DEPTH: usize = 8;

pub(super) fn tree(model: &Model, out: &mut String) {
    let tips = model.segments.iter().filter(|segment| segment.children.is_empty()).count();
    _ = write!(out, "<nav aria-label=\"Tree\"><h2>Tree <small>{tips} {}</small></h2><ul>", plural(tips));
    // Depth first, so that what follows a fork stands below it.
    let roots = (0..model.segments.len()).filter(|at| model.segments.get(*at).is_some_and(|one| one.parent.is_none()));
    let mut waiting: Vec<usize> = roots.collect::<Vec<_>>().into_iter().rev().collect();
    while let Some(number) = waiting.pop() {
        let Some(segment) = model.segments.get(number) else { continue };
        waiting.extend(segment.children.iter().rev());
        let current = if segment.current { " current" } else { "" };
        let depth = segment.depth.min(DEPTH);
        let mut shown = 0;
        for at in &segment.entries {
            let labels = model.entries.get(*at).and_then(|entry| model.labels.get(&entry.id));
            let is_head = model.head.is_some() && model.entries.get(*at).map(|entry| entry.id) == model.head;
            let name = named(model, *at);
            if name.is_none() && labels.is_none() && !is_head {
                continue;
            }
            shown += 1;
            link(*at, number, depth, shown == 1 && segment.parent.is_some(), current, out);
            match (&name, is_head) {
                (Some(name), _) => out.push_str(name),
                (None, true) => out.push_str("<i>head</i>"),
                (None, false) => {}
            }
            for label in labels.into_iter().flatten() {
                _ = write!(out, " <span class=\"label\">{}</span>", text::escaped(label));
            }
            out.push_str("</a></li>");
        }
        // A branch without an input is still to be found.
        if let Some(at) = segment.entries.first().filter(|_| shown == 0) {
            link(*at, number, depth, segment.parent.is_some(), current, out);
            _ = write!(out, "<i>{} entries</i></a></li>", segment.entries.len());
        }
    }
    out.push_str("</ul></nav>");
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "branch" } else { "branches" }
}

fn link(at: usize, segment: usize, depth: usize, begins: bool, current: &str, out: &mut String) {
    let begins = if begins { " begins" } else { "" };
    _ = write!(out, "<li class=\"d{depth}{begins}{current}\" data-segment=\"s{segment}\"><a href=\"#e{at}\">");
}

/// The branches that begin here.
pub(super) fn fork(model: &Model, children: &[usize], out: &mut String) {
    out.push_str("<p class=\"item line fork\" tabindex=\"-1\">Branches: ");
    for (number, child) in (1usize..).zip(children) {
        let Some(segment) = model.segments.get(*child) else { continue };
        let name =
            segment.entries.iter().find_map(|at| named(model, *at)).unwrap_or_else(|| format!("branch {number}"));
        if let Some(at) = segment.entries.first() {
            _ = write!(out, "<a href=\"#e{at}\" data-segment=\"s{child}\">{name}</a>");
        }
    }
    out.push_str("</p>");
}
