//! The result of a step, and its expected results.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// The result of a step.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum StepResult {
    /// A text: `OK`, an error's name, or what was read.
    Text(String),
    /// A number: of ticks, of zxids.
    Number(f64),
    /// The frames left on a connection.
    Frames(String),
}

impl StepResult {
    /// A text.
    pub fn text(word: impl Into<String>) -> Self {
        StepResult::Text(word.into())
    }
}

impl fmt::Display for StepResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StepResult::Text(word) | StepResult::Frames(word) => f.write_str(word),
            StepResult::Number(number) => f.write_str(&short(*number)),
        }
    }
}

/// A number, rounded for display.
fn short(number: f64) -> String {
    let text = format!("{number:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The result of each labelled step.
pub type Results = BTreeMap<String, StepResult>;

/// The expected result of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Expected {
    /// This text.
    Text(String),
    /// This number.
    Number(f64),
    /// A number in this range, ends included.
    Range(f64, f64),
    /// The step was not executed.
    Nothing,
    /// Any of these.
    AnyOf(Vec<Expected>),
}

impl Expected {
    /// Whether the result matches; `None` stands for a step that was not executed.
    pub fn matches(&self, told: Option<&StepResult>) -> bool {
        match (self, told) {
            (Expected::Nothing, None) => true,
            (Expected::AnyOf(any), told) => any.iter().any(|expected| expected.matches(told)),
            (Expected::Text(word), Some(StepResult::Text(told))) => word == told,
            (Expected::Text(word), Some(StepResult::Frames(told))) => same_frames(word, told),
            // A number may be written as a text.
            (Expected::Text(word), Some(told @ StepResult::Number(_))) => *word == told.to_string(),
            (Expected::Number(number), Some(told)) => short(*number) == told.to_string(),
            (Expected::Range(low, high), Some(StepResult::Number(number))) => (*low..=*high).contains(number),
            _ => false,
        }
    }

    /// The alternatives: itself if there is only one.
    pub fn alternatives(&self) -> &[Expected] {
        match self {
            Expected::AnyOf(any) => any,
            one => std::slice::from_ref(one),
        }
    }
}

/// Compares frames left on a connection, whose notation may vary: with or without the number of each request, and with
/// blanks or commas between them.
/// blanks or commas between them.
fn same_frames(expected: &str, told: &str) -> bool {
    let tokens = |text: &str| -> Vec<String> {
        let split = text.split([' ', ',']).filter(|token| !token.is_empty());
        split.map(|token| token.trim_start_matches('#').to_lowercase()).collect()
    };
    let without_number =
        |token: &String| token.split_once(':').map_or(token.clone(), |(_, word)| word.into());
    let (expected, told) = (tokens(expected), tokens(told));
    expected == told || expected == told.iter().map(without_number).collect::<Vec<_>>()
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expected::Text(word) => f.write_str(word),
            Expected::Number(number) => f.write_str(&short(*number)),
            Expected::Range(low, high) => write!(f, "{} to {}", short(*low), short(*high)),
            Expected::Nothing => f.write_str("nothing"),
            Expected::AnyOf(any) => {
                let any: Vec<String> = any.iter().map(Expected::to_string).collect();
                f.write_str(&any.join(" or "))
            }
        }
    }
}

impl<'de> Deserialize<'de> for Expected {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(from)?;
        let any = match &value {
            Value::Array(any) => any.iter().map(one).collect::<Option<Vec<_>>>().map(Expected::AnyOf),
            value => one(value),
        };
        any.filter(|expected| !expected.alternatives().is_empty()).ok_or_else(|| {
            serde::de::Error::custom(format!(
                "{value} is not a result: a text, a number, [[low, high]], or a list of those"
            ))
        })
    }
}

fn one(value: &Value) -> Option<Expected> {
    match value {
        Value::Null => Some(Expected::Nothing),
        Value::String(word) => Some(Expected::Text(word.clone())),
        Value::Number(number) => number.as_f64().map(Expected::Number),
        Value::Array(bounds) => match bounds.as_slice() {
            [low, high] => {
                let (low, high) = (low.as_f64()?, high.as_f64()?);
                (low <= high).then_some(Expected::Range(low, high))
            }
            _ => None,
        },
        _ => None,
    }
}
