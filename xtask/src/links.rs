//! Finds the relative links of a Markdown text.

#[cfg(test)]
mod tests;

/// A link to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) line: usize,
    /// Without anchor and title, `%20` decoded.
    pub(crate) path: String,
}

/// The relative links of a text, those in code left out: `[a](b)`, `![a](b)` and `[a]: b`.
pub(crate) fn relative(text: &str) -> Vec<Link> {
    let (mut links, mut fence) = (Vec::new(), None);
    for (index, line) in text.lines().enumerate() {
        let trimmed = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (None, Some(_)) => fence = mark,
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_), _) => {}
            (None, None) => {
                let line = without_code(line);
                let targets = inline_targets(&line).into_iter().chain(definition_target(&line));
                links.extend(targets.filter_map(relative_path).map(|path| Link { line: index + 1, path }));
            }
        }
    }
    links
}

/// The line without its `code spans`; a lone backtick stays.
fn without_code(line: &str) -> String {
    let (mut kept, mut rest) = (String::new(), line);
    while let Some((before, after)) = rest.split_once('`') {
        kept.push_str(before);
        let opened = after.trim_start_matches('`');
        let ticks = "`".repeat(after.len() - opened.len() + 1);
        match opened.split_once(&ticks) {
            Some((_, after)) => rest = after,
            None => rest = opened,
        }
    }
    kept.push_str(rest);
    kept
}

/// What stands in the parentheses after each `](`; they may hold a pair of their own.
fn inline_targets(line: &str) -> Vec<&str> {
    let (mut targets, mut rest) = (Vec::new(), line);
    while let Some((_, after)) = rest.split_once("](") {
        rest = after;
        let mut depth = 1_usize;
        let end = after.find(|c| {
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        if let Some((target, _)) = end.and_then(|end| after.split_at_checked(end)) {
            targets.push(target);
        }
    }
    targets
}

/// The target of a reference definition `[id]: target`.
fn definition_target(line: &str) -> Option<&str> {
    let (id, target) = line.trim_start().strip_prefix('[')?.split_once("]:")?;
    (!id.contains(']') && !id.starts_with('^')).then_some(target)
}

/// The file a target names, or none for another site or an anchor on the same page.
fn relative_path(target: &str) -> Option<String> {
    let target = target.trim();
    let target = match target.strip_prefix('<') {
        Some(inner) => inner.split('>').next()?,
        None => target.split_whitespace().next()?,
    };
    let path = target.split('#').next()?;
    let has_scheme = target
        .split_once(':')
        .is_some_and(|(scheme, _)| scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')));
    (!path.is_empty() && !has_scheme && !target.starts_with("//")).then(|| path.replace("%20", " "))
}
