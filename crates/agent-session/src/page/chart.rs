//! Charts as SVG: what each call was shown and said, and what all of them cost.

use std::fmt::Write;

use super::model::Figures;

const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 180.0;
const LEFT: f64 = 54.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 24.0;
/// The most bars; where there are more calls, a bar stands for several.
const BARS: usize = 120;

/// Both charts; nothing where no call has figures.
pub(super) fn charts(figures: &[Figures], out: &mut String) {
    if figures.is_empty() {
        return;
    }
    out.push_str("<section class=\"charts\" aria-label=\"Charts\">");
    context(figures, out);
    cost(figures, out);
    table(figures, out);
    out.push_str("</section>");
}

/// A number of tokens, short.
pub(super) fn tokens(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..100_000 => format!("{}.{}k", count / 1000, count / 100 % 10),
        100_000..1_000_000 => format!("{}k", count / 1000),
        _ => format!("{}.{}M", count / 1_000_000, count / 100_000 % 10),
    }
}

/// Dollars of pico-dollars.
pub(super) fn dollars(pico: u64) -> String {
    let micro = pico / 1_000_000;
    match micro {
        0 if pico == 0 => "$0".to_owned(),
        0 => "< $0.000001".to_owned(),
        1..10_000 => format!("${}.{:06}", micro / 1_000_000, micro % 1_000_000),
        _ => format!("${}.{:04}", micro / 1_000_000, micro / 100 % 10_000),
    }
}

#[expect(clippy::cast_precision_loss, reason = "of a chart: a pixel is wide enough")]
fn float(count: u64) -> f64 {
    count as f64
}

fn place(at: usize) -> f64 {
    float(at.try_into().unwrap_or(u64::MAX))
}

/// The least round number (1, 2 or 5 with zeros) that is no less.
fn round_up(count: u64) -> u64 {
    let mut step = 1u64;
    loop {
        for factor in [1, 2, 5] {
            let round = step.saturating_mul(factor);
            if round >= count || round == u64::MAX {
                return round;
            }
        }
        step = step.saturating_mul(10);
    }
}

fn begin(title: &str, about: &str, keys: &[(&str, &str)], out: &mut String) {
    _ = write!(out, "<figure><figcaption><h2>{title}</h2>");
    for (class, name) in keys {
        _ = write!(out, "<span class=\"key {class}\">{name}</span>");
    }
    _ = write!(out, "</figcaption><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{about}\">");
}

fn grid(top: u64, label: impl Fn(u64) -> String, out: &mut String) {
    for part in 0..=4u64 {
        let y = TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - float(part) / 4.0);
        _ = write!(out, "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{WIDTH}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>");
        if part % 2 == 0 {
            let text = label(top / 4 * part + top % 4 * part / 4);
            _ = write!(out, "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>", LEFT - 8.0, y + 4.0);
        }
    }
}

fn axis(calls: usize, out: &mut String) {
    let y = HEIGHT - 6.0;
    _ = write!(out, "<text x=\"{LEFT}\" y=\"{y}\">call 1</text>");
    if calls > 1 {
        _ = write!(out, "<text x=\"{WIDTH}\" y=\"{y}\" text-anchor=\"end\">call {calls}</text>");
    }
}

fn context(figures: &[Figures], out: &mut String) {
    let highest = figures.iter().map(|one| one.usage.total()).max().unwrap_or_default();
    let top = round_up(highest.max(4));
    let about = format!("Tokens of {} calls, at most {} in one", figures.len(), tokens(highest));
    let keys = [("cached", "from the cache"), ("fresh", "new input"), ("generated", "output")];
    begin("Context use", &about, &keys, out);
    grid(top, tokens, out);
    axis(figures.len(), out);
    let each = figures.len().div_ceil(BARS);
    let bars = figures.len().div_ceil(each);
    let step = (WIDTH - LEFT) / place(bars);
    let width = (step * 0.8).min(36.0);
    for (at, group) in figures.chunks(each).enumerate() {
        // Of several calls the greatest is shown: a chart of context use must not hide a peak.
        let Some(one) = group.iter().max_by_key(|one| one.usage.total()) else { continue };
        let usage = one.usage;
        let fresh = usage.prompt().saturating_sub(usage.cache_read);
        let parts = [("cached", usage.cache_read), ("fresh", fresh), ("generated", usage.generated())];
        let x = LEFT + step * place(at) + (step - width) / 2.0;
        let number = at * each + 1;
        _ = write!(out, "<a href=\"#e{}\" tabindex=\"-1\"><title>call {number}: ", one.at);
        let [cached, fresh, said] = parts.map(|(_, count)| tokens(count));
        _ = write!(out, "{cached} from the cache, {fresh} new, {said} output</title>");
        let mut y = HEIGHT - BOTTOM;
        for (class, count) in parts {
            let height = (HEIGHT - TOP - BOTTOM) * float(count) / float(top);
            y -= height;
            if height > 0.0 {
                _ = write!(out, "<rect class=\"{class}\" x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" ");
                _ = write!(out, "height=\"{height:.2}\"/>");
            }
        }
        out.push_str("</a>");
    }
    out.push_str("</svg></figure>");
}

fn cost(figures: &[Figures], out: &mut String) {
    let mut sum = 0u64;
    let sums: Vec<u64> = figures
        .iter()
        .map(|one| {
            sum = sum.saturating_add(one.cost.map_or(0, |cost| cost.pico_dollars()));
            sum
        })
        .collect();
    if sum == 0 {
        return;
    }
    let top = round_up(sum);
    let about = format!("The cost of {} calls, {} together", figures.len(), dollars(sum));
    begin("Cost", &about, &[("money", "sum so far")], out);
    grid(top, dollars, out);
    axis(figures.len(), out);
    let step = (WIDTH - LEFT) / place(sums.len());
    let y = |sum: u64| HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * float(sum) / float(top);
    let mut line = format!("M{LEFT} {:.2}", y(0));
    let each = sums.len().div_ceil(BARS);
    for (at, sum) in sums.iter().enumerate().filter(|(at, _)| (at + 1) % each == 0 || at + 1 == sums.len()) {
        _ = write!(line, " L{:.2} {:.2}", LEFT + step * place(at + 1), y(*sum));
    }
    _ = write!(out, "<path class=\"under\" d=\"{line} V{:.2} Z\"/><path class=\"line\" d=\"{line}\"/>", y(0));
    out.push_str("</svg></figure>");
}

/// The same as numbers, for whoever cannot see a chart.
fn table(figures: &[Figures], out: &mut String) {
    const ROWS: usize = 500;
    out.push_str(
        "<details class=\"figures\"><summary>The figures as a table</summary><div class=\"scroll\" tabindex=\"0\">",
    );
    out.push_str(
        "<table><thead><tr><th>Call</th><th>From the cache</th><th>New input</th><th>Output</th><th>Cost</th>",
    );
    out.push_str("</tr></thead><tbody>");
    for (number, one) in (1usize..).zip(figures).take(ROWS) {
        let fresh = one.usage.prompt().saturating_sub(one.usage.cache_read);
        let cost = one.cost.map_or_else(|| "–".to_owned(), |cost| dollars(cost.pico_dollars()));
        _ = write!(out, "<tr><td><a href=\"#e{}\">{number}</a></td><td>{}</td>", one.at, one.usage.cache_read);
        _ = write!(out, "<td>{fresh}</td><td>{}</td><td>{cost}</td></tr>", one.usage.generated());
    }
    out.push_str("</tbody></table></div>");
    if figures.len() > ROWS {
        _ = write!(out, "<p class=\"cut\">{} more calls are in the session.</p>", figures.len() - ROWS);
    }
    out.push_str("</details>");
}
