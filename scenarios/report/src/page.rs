//! The page: one file with a template, a style, scripts, and the run as JSON.

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

/// The page of a run: self-contained, without network requests.
///
/// # Panics
///
/// Never: the model is plain data.
pub fn page(shown: &Shown<'_>) -> String {
    let model = serde_json::to_string(&Model::of(shown)).expect("a model is plain data");
    let title = escape(&super::words::visible(&shown.source.title));
    // All parts are inserted in one pass, so that none of them can contain another's placeholder.
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

/// JSON in which no text can end a script or begin a comment.
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

/// Escapes a text for HTML.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
