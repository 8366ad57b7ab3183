//! The answers of the control API as text.

use crate::text_table::text_table;
use serde_json::Value;

/// The answer to a verb as text.
pub(super) fn text(verb: &str, said: &Value) -> String {
    match verb {
        "status" => status(said),
        "tree" => table(&["path", "owner"], &said["znodes"]),
        "sessions" => table(
            &["session", "name", "timeout", "server", "address", "requests", "ephemerals", "watches"],
            &said["sessions"],
        ),
        "watches" => table(&["path", "session"], &said["watches"]),
        "verdict" => said["text"].as_str().unwrap_or_default().to_owned(),
        "release" if said["released"] == 0 => line("there was no cut, hold, loss or stall to end"),
        "release" => line(&format!("released {}", said["released"])),
        _ => done(said),
    }
}

fn status(said: &Value) -> String {
    let mut text = table(&["server", "address", "state", "zxid", "connections"], &said["servers"]);
    let count = |name: &str| format!("{} {name}", said[name]);
    text += &line(&["sessions", "znodes", "watches", "events"].map(count).join(", "));
    for paused in said["servers"].as_array().into_iter().flatten().filter(|of| of["state"] == "paused") {
        if paused["server"] == said["leader"] {
            text += &line(&format!("server {} leads, and is paused", said["leader"]));
        }
    }
    for given_up in said["given_up"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        text += &line(&format!("given up: {given_up}"));
    }
    if said["waiting"].as_array().is_some_and(|waiting| !waiting.is_empty()) {
        text += "\npending faults, each waiting for its request\n";
        text += &table(&["fault", "kind", "client", "op", "path", "count"], &said["waiting"]);
    }
    text
}

/// The answer to a fault, or to another verb that changes something.
fn done(said: &Value) -> String {
    let mut text = match (&said["fault"], said["faults"].as_array().map(Vec::as_slice)) {
        (Value::Number(fault), _) => format!("fault {fault}"),
        (_, Some([])) => "no client has a session".to_owned(),
        (_, Some(faults)) => format!("faults {}", faults.iter().map(cell).collect::<Vec<_>>().join(", ")),
        _ => "done".to_owned(),
    };
    match said["settled"].as_bool() {
        Some(true) => text += ", settled",
        Some(false) => text += ", not settled",
        None => {}
    }
    line(&text)
}

fn line(text: &str) -> String {
    format!("{text}\n")
}

/// A row of names, and a row for each object.
fn table(columns: &[&str], objects: &Value) -> String {
    let names = columns.iter().map(|name| (*name).to_owned()).collect();
    let objects = objects.as_array().map(Vec::as_slice).unwrap_or_default();
    let rows = objects.iter().map(|object| columns.iter().map(|name| cell(&object[*name])).collect());
    text_table(&std::iter::once(names).chain(rows).collect::<Vec<Vec<String>>>())
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(values) if values.is_empty() => "-".to_owned(),
        Value::Array(values) => values.iter().map(cell).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}
