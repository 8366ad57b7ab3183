//! Differences between an observation and the expectation.
//!
//! The comparison is exact, except where a server is free: the order of clients and of ACLs made by the scheme `auth`,
//! of notifications when several sessions or znodes may end at once, and, unless the server has Java's order, the order
//! of children, of ephemerals, and of the notifications of one session's end.

use super::case::Case;
use super::target::ListOrder;
use crate::exchange::form::{Expect, Item, Request};
use serde_json::{Map, Value};
use std::fmt;

/// The first difference in a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The step, from 1.
    pub step: usize,
    /// The operation of the step.
    pub op: String,
    /// The field, with dots between its parts.
    pub field: String,
    /// The expected value; `Null` if none.
    pub expected: Value,
    /// The observed value; `Null` if none.
    pub observed: Value,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { step, op, field, expected, observed } = self;
        let side = |value: &Value| if value.is_null() { "nothing".to_owned() } else { value.to_string() };
        write!(f, "step {step}, {op}: {field} should be {} and is {}", side(expected), side(observed))
    }
}

/// The first difference between a case's expectation and the observation.
pub fn compare(case: &Case, observed: &[Expect], order: ListOrder) -> Option<Difference> {
    let freedom = Freedom {
        acls: case.steps.iter().any(makes_acl_by_auth),
        // After a restart, the state read from disk is in another order than it was created.
        order: order == ListOrder::Any || case.restarts(),
    };
    for (number, ((step, expected), observed)) in (1..).zip(case.steps.iter().zip(&case.expect).zip(observed))
    {
        let (expected, observed) = (plain(step, expected, freedom), plain(step, observed, freedom));
        if let Some((field, expected, observed)) = first(&expected, &observed, "") {
            return Some(Difference { step: number, op: title(step), field, expected, observed });
        }
    }
    None
}

/// The parts whose order is free.
#[derive(Clone, Copy)]
struct Freedom {
    acls: bool,
    order: bool,
}

fn title(step: &Request) -> String {
    let mut title = step.op.clone();
    if let Some(path) = &step.path {
        title = format!("{title} {path}");
    }
    match &step.session {
        Some(session) => format!("{session} {title}"),
        None => title,
    }
}

fn makes_acl_by_auth(step: &Request) -> bool {
    let by_auth = |acl: &(_, String, _)| acl.1 == "auth";
    step.acl.iter().flatten().any(by_auth) || step.ops.iter().any(makes_acl_by_auth)
}

/// Whether this step ends a session.
fn ends_a_session(step: &Request) -> bool {
    matches!(step.op.as_str(), "close" | "closeSession")
        || step.op == "pipeline" && step.ops.iter().any(ends_a_session)
}

/// Whether several sessions, containers or znodes with a time to live may end in this step.
fn lets_time_pass(step: &Request) -> bool {
    matches!(step.op.as_str(), "wait" | "poll" | "restart_server")
}

/// An expectation as a value in which the free parts are sorted or left out.
fn plain(step: &Request, of: &Expect, freedom: Freedom) -> Value {
    let mut of = of.clone();
    tell_the_same(&mut of, freedom);
    if step.op == "poll" {
        // Without a reply, no notification is before or after it.
        let mut all = std::mem::take(&mut of.before);
        all.append(&mut of.after);
        of.events.values_mut().for_each(|events| all.append(events));
        of.events.clear();
        of.after = all;
    }
    if lets_time_pass(step) || freedom.order && ends_a_session(step) {
        of.before.sort();
        of.after.sort();
        of.events.values_mut().for_each(|events| events.sort());
        of.stream.iter_mut().for_each(|stream| sort_events_between_replies(stream));
    }
    if step.op == "pipeline" && ends_a_session(step) && of.missing.is_none() {
        // All requests have replies; whether the end of the connection is seen depends on timing.
        of.closed = false;
    }
    let value = serde_json::to_value(&of).expect("an expectation is made of texts and numbers");
    without_nothing(value)
}

/// Sorts the parts whose order is free.
fn tell_the_same(of: &mut Expect, freedom: Freedom) {
    if freedom.order {
        // It has the same names as `children` or `ephemerals`, in another order.
        of.order = None;
        of.results.iter_mut().flatten().for_each(|result| result.order = None);
    }
    for result in of.results.iter_mut().flatten() {
        result.get_children.iter_mut().for_each(|children| children.sort());
    }
    of.clients.iter_mut().for_each(|clients| clients.sort());
    if let Some(acl) = of.acl.as_mut().filter(|_| freedom.acls) {
        acl.sort_by_cached_key(|entry| format!("{entry:?}"));
    }
    for item in of.stream.iter_mut().flatten() {
        if let Item::Reply(reply) = item {
            tell_the_same(reply, freedom);
        }
    }
}

fn sort_events_between_replies(stream: &mut [Item]) {
    let is_event = |item: &Item| matches!(item, Item::Event(_));
    for run in stream.chunk_by_mut(|a, b| is_event(a) && is_event(b)) {
        run.sort_by_cached_key(|item| match item {
            Item::Event(notice) => notice.clone(),
            Item::Reply(_) => Vec::new(),
        });
    }
}

/// Drops empty values: null, false, and lists without a notification in them.
fn without_nothing(value: Value) -> Value {
    let silent = |name: &str, value: &Value| match value {
        // Missing data and null data are different.
        Value::Null => !matches!(name, "data" | "getData"),
        Value::Bool(false) => name != "readonly",
        Value::Array(list) => list.is_empty() && matches!(name, "before" | "after"),
        Value::Object(map) => map.is_empty() && name == "events",
        _ => false,
    };
    match value {
        Value::Object(map) => {
            let map = map.into_iter().map(|(name, value)| (name, without_nothing(value)));
            Value::Object(map.filter(|(name, value)| !silent(name, value)).collect())
        }
        Value::Array(list) => Value::Array(list.into_iter().map(without_nothing).collect()),
        other => other,
    }
}

/// The first field in which two values differ, as deeply nested as it has a name.
fn first(expected: &Value, observed: &Value, at: &str) -> Option<(String, Value, Value)> {
    if expected == observed {
        return None;
    }
    let inside = |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
    match (expected, observed) {
        (Value::Object(expected), Value::Object(observed)) => {
            names(expected, observed).into_iter().find_map(|name| {
                let of = |map: &Map<String, Value>| map.get(name).cloned().unwrap_or(Value::Null);
                if expected.contains_key(name) == observed.contains_key(name) {
                    first(&of(expected), &of(observed), &inside(name))
                } else {
                    Some((inside(name), of(expected), of(observed)))
                }
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() && a.iter().all(Value::is_object) => {
            (0..).zip(a.iter().zip(b)).find_map(|(i, (a, b))| first(a, b, &format!("{at}[{i}]")))
        }
        _ => Some((at.to_owned(), expected.clone(), observed.clone())),
    }
}

/// The names of both, the most informative first.
fn names<'a>(a: &'a Map<String, Value>, b: &'a Map<String, Value>) -> Vec<&'a str> {
    let mut names: Vec<&str> = a.keys().chain(b.keys()).map(String::as_str).collect();
    names.sort_by_key(|name| (!matches!(*name, "connected" | "refused" | "expired" | "err"), *name));
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::case;

    /// The difference in a case of one session with one step.
    fn differs(step: &str, expected: &str, observed: &str) -> String {
        differs_in(ListOrder::Any, step, expected, observed)
    }

    fn differs_in(order: ListOrder, step: &str, expected: &str, observed: &str) -> String {
        let connect = r#"{"session": "a", "op": "connect"}"#;
        let text = format!(
            r#"{{"id": "t", "config": "c", "steps": [{connect}, {step}], "expect": [{{}}, {expected}]}}"#
        );
        let case = case::parse(&text).expect("it is a case");
        let observed = vec![Expect::default(), serde_json::from_str(observed).expect("it is an expectation")];
        compare(&case, &observed, order).map_or("nothing".to_owned(), |difference| difference.to_string())
    }

    const READ: &str = r#"{"session": "a", "op": "getChildren", "path": "/x"}"#;
    const CLOSE: &str = r#"{"session": "a", "op": "close"}"#;

    #[test]
    fn the_first_field_that_differs_is_told_with_both_sides() {
        let (expected, observed) = (r#"{"err": "OK", "zxid": 2}"#, r#"{"err": "NoNode", "zxid": 3}"#);
        assert_eq!(
            differs(READ, expected, observed),
            r#"step 2, a getChildren /x: err should be "OK" and is "NoNode""#
        );
        let (expected, observed) = (r#"{"err": "OK", "data": null}"#, r#"{"err": "OK"}"#);
        assert!(differs(READ, expected, observed).contains("data should be nothing and is nothing"));
        let observed = r#"{"err": "OK", "data": ""}"#;
        assert!(differs(READ, expected, observed).contains(r#"data should be nothing and is """#));
    }

    #[test]
    fn children_are_a_set_and_notifications_are_a_list() {
        let expected = r#"{"children": ["a", "b"], "order": ["b", "a"]}"#;
        assert_eq!(differs(READ, expected, r#"{"children": ["a", "b"], "order": ["a", "b"]}"#), "nothing");
        let expected = r#"{"events": {"b": [["NodeCreated", "/x"], ["NodeCreated", "/y"]]}}"#;
        let observed = r#"{"events": {"b": [["NodeCreated", "/y"], ["NodeCreated", "/x"]]}}"#;
        assert!(differs(READ, expected, observed).contains("events.b should be"));
        assert_eq!(differs(CLOSE, expected, observed), "nothing");
        assert!(
            differs(CLOSE, expected, r#"{"events": {"b": [["NodeCreated", "/y"]]}}"#).contains("events.b")
        );
    }

    #[test]
    fn a_server_that_has_javas_order_is_held_to_it() {
        let (expected, observed) = (
            r#"{"children": ["a", "b"], "order": ["b", "a"]}"#,
            r#"{"children": ["a", "b"], "order": ["a", "b"]}"#,
        );
        let told = differs_in(ListOrder::Java, READ, expected, observed);
        assert_eq!(told, r#"step 2, a getChildren /x: order should be ["b","a"] and is ["a","b"]"#);
        let expected = r#"{"events": {"b": [["NodeDeleted", "/x"], ["NodeDeleted", "/y"]]}}"#;
        let observed = r#"{"events": {"b": [["NodeDeleted", "/y"], ["NodeDeleted", "/x"]]}}"#;
        assert!(differs_in(ListOrder::Java, CLOSE, expected, observed).contains("events.b should be"));
        let wait = r#"{"op": "wait", "ms": 1}"#;
        assert_eq!(differs_in(ListOrder::Java, wait, expected, observed), "nothing");
    }

    #[test]
    fn acls_are_a_list_unless_the_scheme_auth_made_them() {
        let expected = r#"{"acl": [["r", "digest", "u:x"], ["r", "digest", "v:x"]]}"#;
        let observed = r#"{"acl": [["r", "digest", "v:x"], ["r", "digest", "u:x"]]}"#;
        let set = |scheme: &str| {
            format!(r#"{{"session": "a", "op": "setACL", "path": "/x", "acl": [["r", "{scheme}", ""]]}}"#)
        };
        assert!(differs(&set("world"), expected, observed).contains("acl should be"));
        assert_eq!(differs(&set("auth"), expected, observed), "nothing");
    }

    #[test]
    fn a_pipelines_stream_is_compared_in_its_order() {
        let step = r#"{"session": "a", "op": "pipeline", "ops": [{"op": "exists", "path": "/x"}]}"#;
        let expected = r#"{"stream": [{"event": ["NodeCreated", "/x"]}, {"reply": {"err": "OK", "i": 0}}]}"#;
        let observed = r#"{"stream": [{"reply": {"err": "OK", "i": 0}}, {"event": ["NodeCreated", "/x"]}]}"#;
        assert_eq!(differs(step, expected, expected), "nothing");
        assert!(differs(step, expected, observed).contains("stream[0]."));
    }
}
