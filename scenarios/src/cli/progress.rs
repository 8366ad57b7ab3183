//! The live display of long work: quiet when nobody watches.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::Write;

/// A bar over `total` seeds, on stderr if that is a terminal.
pub(super) fn bar(total: u64, what: &str) -> ProgressBar {
    bar_of(total, what, "seeds")
}

/// A bar over `total` things of that kind, on stderr if that is a terminal.
pub(super) fn bar_of(total: u64, what: &str, things: &str) -> ProgressBar {
    let target = ProgressDrawTarget::stderr_with_hz(10);
    let bar = ProgressBar::with_draw_target(Some(total), target);
    let rate = |state: &ProgressState, out: &mut dyn Write| {
        let _ = write!(out, "{:.0}", state.per_sec());
    };
    let style = ProgressStyle::with_template(&format!(
        "{{prefix:<16}} {{bar:30}} {{human_pos}}/{{human_len}} {things}, {{rate}}/s, {{eta}} left  {{msg}}",
    ))
    .expect("the template is well formed")
    .with_key("rate", rate)
    .progress_chars("━╸ ");
    bar.set_style(style);
    bar.set_prefix(what.to_owned());
    bar
}
