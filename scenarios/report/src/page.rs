//! One file: a template, a style, a script, and the run as JSON.

use crate::Shown;
use crate::model::Model;

const TEMPLATE: &str = include_str!("assets/report.html");
const STYLE: &str = include_str!("assets/report.css");
const SCRIPTS: [&str; 4] = [
    include_str!("assets/model.js"),
    include_str!("assets/chart.js"),
    include_str!("assets/panels.js"),
    include_str!("assets/report.js"),
];

/// The page of a run: self-contained, without any request to a network.
///
/// # Panics
///
/// Never: the model is plain data.
pub fn page(shown: &Shown<'_>) -> String {
    let model = serde_json::to_string(&Model::of(shown)).expect("a model is plain data");
    let title = escape(&super::words::visible(&shown.source.title));
    // The parts are put in at once, so that none of them can name the place of another.
    let mut page = String::with_capacity(model.len() + 200_000);
    for part in TEMPLATE.split_inclusive("}}") {
        match part.split_once("{{") {
            Some((before, "title}}")) => page.extend([before, &title]),
            Some((before, "style}}")) => page.extend([before, STYLE]),
            Some((before, "script}}")) => {
                page.push_str(before);
                page.extend(SCRIPTS);
            }
            Some((before, "model}}")) => page.extend([before, &harmless(&model)]),
            _ => page.push_str(part),
        }
    }
    page
}

/// JSON that can end no script and begin no comment, whatever stands in it.
fn harmless(json: &str) -> String {
    let mut text = String::with_capacity(json.len() + json.len() / 16);
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                text.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => text.push(c),
        }
    }
    text
}

/// A text between tags.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
