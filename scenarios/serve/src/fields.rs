//! Parsers of the fields of commands; each refuses with one sentence.

use crate::duration::parse_duration;
use serde::de::{Deserialize, Deserializer, Error};
use serde_json::Value;
use std::time::Duration;

/// The error of an unknown word.
pub(crate) fn no_such<E: Error>(noun: &str, word: &str, words: &[&str]) -> E {
    E::custom(format!("there is no {noun} {word:?}; there are {}", words.join(", ")))
}

/// Reads a duration from a JSON text.
pub(crate) fn duration<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    match Value::deserialize(from)? {
        Value::String(text) => parse_duration(&text).map_err(Error::custom),
        other => Err(Error::custom(format!("{other} is not a duration such as 500ms, 60s or 5m"))),
    }
}

/// The same for a field that may be absent.
pub(crate) fn maybe_duration<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    duration(from).map(Some)
}

/// Reads the number of a server.
pub(crate) fn server<'de, D: Deserializer<'de>>(from: D) -> Result<u8, D::Error> {
    let value = Value::deserialize(from)?;
    let number = value
        .as_u64()
        .ok_or_else(|| Error::custom(format!("{value} is not the number of a server, such as 0")))?;
    u8::try_from(number).map_err(|_| Error::custom(format!("there is no server {number}")))
}

/// The same for a field that may be absent.
pub(crate) fn maybe_server<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u8>, D::Error> {
    server(from).map(Some)
}

/// Reads the number of times that a fault is injected.
pub(crate) fn count<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    let value = Value::deserialize(from)?;
    match value.as_u64().map(u32::try_from) {
        Some(Ok(count)) => Ok(Some(count)),
        _ => Err(Error::custom(format!("{value} is not a count, such as 2"))),
    }
}

/// Reads a boolean.
pub(crate) fn flag<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    let value = Value::deserialize(from)?;
    value.as_bool().ok_or_else(|| Error::custom(format!("{value} is neither true nor false")))
}

/// The default of a flag.
pub(crate) fn yes() -> bool {
    true
}
