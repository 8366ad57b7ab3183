//! What each recipe tells a subscriber: its spans with their fields, and the events inside.
//!
//! A snapshot is read like a program: `>` is a span's beginning, `<` its end with what was recorded into it, and a line
//! without either an event, behind the operation in whose span it stands.
//!
//! A binary of its own: what one thread's subscriber is told can be missed while threads without one meet the same events for
//! the first time, since `tracing` keeps for the whole process who is interested in what.

#[path = "../all/common/mod.rs"]
#[allow(dead_code, reason = "this binary uses a part of it")]
mod common;
mod coordination;
mod locks;
mod values;

use crate::common::{Stage, play};
use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Instrument, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

/// What a script has made the recipes tell.
pub fn told<F>(script: impl FnOnce(Stage) -> F) -> String
where
    F: Future<Output = ()> + Send + 'static,
{
    let lines = Lines::default();
    let subscriber = tracing_subscriber::registry().with(lines.clone());
    tracing::subscriber::with_default(subscriber, || play(script));
    let lines = lines.0.lock().expect("nobody has panicked");
    lines.join("\n")
}

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

/// What was recorded into a span after its beginning.
#[derive(Default)]
struct Later(BTreeMap<&'static str, String>);

/// Fields, in the order of their names.
#[derive(Default)]
struct Fields(BTreeMap<&'static str, String>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.0.insert(field.name(), format!("{value:#x}"));
    }
}

fn written(fields: &BTreeMap<&'static str, String>) -> String {
    fields.iter().fold(String::new(), |mut text, (name, value)| {
        let _ = write!(text, " {name}={value}");
        text
    })
}

fn is_ours(target: &str) -> bool {
    target == "zk_recipes" || target.starts_with("zk_recipes::")
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Lines {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let metadata = attributes.metadata();
        if is_ours(metadata.target()) {
            let mut fields = Fields::default();
            attributes.record(&mut fields);
            let line = format!("> {}{}", metadata.name(), written(&fields.0));
            self.0.lock().expect("nobody has panicked").push(line);
            let span = context.span(id).expect("it was just made");
            span.extensions_mut().insert(Later::default());
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let span = context.span(id).expect("it is alive");
        if !is_ours(span.metadata().target()) {
            self.0.lock().expect("nobody has panicked").push(format!("< {}, recorded into", span.name()));
        }
        if let Some(later) = span.extensions_mut().get_mut::<Later>() {
            let mut fields = Fields::default();
            values.record(&mut fields);
            later.0.append(&mut fields.0);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        if is_ours(event.metadata().target()) {
            let mut fields = Fields::default();
            event.record(&mut fields);
            let message = fields.0.remove("message").unwrap_or_default();
            let ours = context.event_span(event).filter(|span| is_ours(span.metadata().target()));
            let inside = ours.map_or_else(|| "·".to_owned(), |span| span.name().to_owned());
            let (level, fields) = (event.metadata().level(), written(&fields.0));
            let line = format!("  {inside}: {level} {message}{fields}");
            self.0.lock().expect("nobody has panicked").push(line);
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let span = context.span(&id).expect("it is alive");
        if is_ours(span.metadata().target()) {
            let extensions = span.extensions();
            let later = extensions.get::<Later>().map(|later| written(&later.0)).unwrap_or_default();
            self.0.lock().expect("nobody has panicked").push(format!("< {}{later}", span.name()));
        }
    }
}

/// Lets no span of the recipes through: a caller's own is the current one.
struct WithoutOurSpans;

impl<S: Subscriber> Layer<S> for WithoutOurSpans {
    fn enabled(&self, metadata: &tracing::Metadata<'_>, _: Context<'_, S>) -> bool {
        !(metadata.is_span() && is_ours(metadata.target()))
    }
}

#[test]
fn into_a_span_of_the_callers_nothing_is_recorded() {
    let lines = Lines::default();
    let subscriber = tracing_subscriber::registry().with(lines.clone()).with(WithoutOurSpans);
    let token = tracing::subscriber::with_default(subscriber, || {
        play(|stage| async move {
            let a = stage.client("a").await;
            let theirs = tracing::info_span!(target: "theirs", "theirs", token = tracing::field::Empty);
            let held = a.acquires().instrument(theirs).await;
            held.token()
        })
    });
    let told = lines.0.lock().expect("nobody has panicked").join("\n");
    assert!(told.contains(&format!("token={token:#x}")), "the event says it\n{told}");
    assert!(!told.contains("< "), "and no span\n{told}");
}
