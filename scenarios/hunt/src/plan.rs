//! Plans: commands, each at a time since the begin or behind a report of a client.
//!
//! A plan is JSON lines: `{"at": "1200ms", "verb": "crash", "server": 1, "for": "1s"}`, or with a trigger
//! `{"on": "b acquired", "nth": 2, "after": "5ms", "verb": "expire", "client": "b"}`. The verbs are those of the control API, and
//! three of processes: `stop-process` (SIGSTOP for a while), `kill-process` (SIGKILL; with `for`, another one starts after that time),
//! and `end-process` (its input ends, so that it shuts down; `for` as well). `delete` deletes a znode and all below it, as another
//! client.
//!
//! `{"on": "any held", "verb": "kill-process", "client": "any"}` is about the first client that holds something, whichever that is:
//! `held` is the report by which a hold of any kind begins.

use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;
use zk_serve::command::Command;
use zk_serve::parse_duration;

/// The client of a trigger that any client fits, and of an action the client that has triggered it.
pub const ANY: &str = "any";

/// The event of a trigger that fits the begin of any hold.
const HELD: &str = "held";

/// The events by which a hold begins.
pub(crate) const BEGINS: [&str; 3] = ["acquired", "leader", "joined"];

/// The events by which a hold ends.
pub(crate) const ENDS: [&str; 3] = ["released", "deposed", "leaves"];

/// The number of servers of each ensemble.
pub const SERVERS: u8 = 3;

/// Commands in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The steps.
    pub steps: Vec<Step>,
}

/// A command, and when it is carried out.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The moment.
    pub when: When,
    /// What is done.
    pub action: Action,
}

/// A moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum When {
    /// This long after the begin.
    At(Duration),
    /// After a report.
    On {
        /// The client that reports, or [`ANY`].
        client: String,
        /// The event.
        event: String,
        /// Counts such reports from 1.
        nth: u32,
        /// The delay after the report.
        after: Duration,
    },
}

/// What a step does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// A verb of the control API, with its fields.
    Control {
        /// The verb.
        verb: String,
        /// Its fields.
        fields: Map<String, Value>,
    },
    /// The process of a client stops for a while, as with SIGSTOP.
    StopProcess {
        /// The client.
        client: String,
        /// How long.
        lasts: Duration,
    },
    /// The process of a client dies, as with SIGKILL.
    KillProcess {
        /// The client.
        client: String,
        /// The time after which another process starts in its place; absent: none does.
        again: Option<Duration>,
    },
    /// The input of a client's process ends, so that it shuts down.
    EndProcess {
        /// The client.
        client: String,
        /// The time after which another process starts in its place; absent: none does.
        again: Option<Duration>,
    },
    /// Another client deletes a znode and all below it.
    Delete {
        /// The path of the znode.
        path: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfZnode {
    path: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfProcess {
    client: String,
    #[serde(default, rename = "for")]
    lasts: Option<String>,
}

impl Plan {
    /// Reads a plan.
    ///
    /// # Errors
    ///
    /// One sentence with the number of the first line that makes no sense.
    pub fn read(text: &str) -> Result<Plan, String> {
        let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        let steps = lines
            .map(|(number, line)| Step::read(line).map_err(|why| format!("line {number} of the plan: {why}")))
            .collect::<Result<_, _>>()?;
        Ok(Plan { steps })
    }

    /// The plan with other kinds of requests in place of some that it names.
    #[must_use]
    pub fn with_requests(&self, sends: &BTreeMap<String, String>) -> Plan {
        let mut plan = self.clone();
        for step in &mut plan.steps {
            if let Action::Control { fields, .. } = &mut step.action
                && let Some(op) = fields.get_mut("op")
                && let Some(sent) = op.as_str().and_then(|op| sends.get(op))
            {
                *op = sent.as_str().into();
            }
        }
        plan
    }

    /// The plan without one of its steps.
    pub fn without(&self, index: usize) -> Plan {
        let mut steps = self.steps.clone();
        steps.remove(index);
        Plan { steps }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.steps.iter().try_for_each(|step| writeln!(f, "{step}"))
    }
}

impl Step {
    /// Reads a line.
    ///
    /// # Errors
    ///
    /// One sentence, if it makes no sense.
    pub fn read(line: &str) -> Result<Step, String> {
        let value = serde_json::from_str(line).map_err(|why| format!("it is not JSON: {why}"))?;
        let Value::Object(mut fields) = value else { return Err("it is not a JSON object".to_owned()) };
        let when = When::taken(&mut fields)?;
        let Some(Value::String(verb)) = fields.remove("verb") else {
            return Err("needs `verb`".to_owned());
        };
        let of_process = |fields| {
            serde_json::from_value::<OfProcess>(Value::Object(fields)).map_err(|why| format!("{verb}: {why}"))
        };
        let lasts = |of: &OfProcess| of.lasts.as_deref().map(parse_duration).transpose();
        let action = match verb.as_str() {
            "stop-process" => {
                let of = of_process(fields)?;
                let lasts = lasts(&of)?.ok_or("stop-process needs `for`")?;
                Action::StopProcess { client: of.client, lasts }
            }
            "kill-process" => {
                let of = of_process(fields)?;
                Action::KillProcess { again: lasts(&of)?, client: of.client }
            }
            "end-process" => {
                let of = of_process(fields)?;
                Action::EndProcess { again: lasts(&of)?, client: of.client }
            }
            "delete" => {
                let of: OfZnode =
                    serde_json::from_value(Value::Object(fields)).map_err(|why| format!("delete: {why}"))?;
                if !of.path.starts_with('/') || of.path.ends_with('/') {
                    return Err(format!("delete: {:?} is no path of a znode below the root", of.path));
                }
                Action::Delete { path: of.path }
            }
            _ => {
                let command =
                    Command::read(&verb, Value::Object(fields.clone())).map_err(|refused| refused.why)?;
                command.check(SERVERS).map_err(|refused| refused.why)?;
                Action::Control { verb, fields }
            }
        };
        if action.client() == Some(ANY) && !matches!(&when, When::On { client, .. } if client == ANY) {
            return Err("the client `any` needs `on` with `any`".to_owned());
        }
        Ok(Step { when, action })
    }
}

impl When {
    /// Whether a report of that client triggers the step, apart from how often there was one.
    pub(crate) fn fits(&self, reporter: &str, reported: &str) -> bool {
        let When::On { client, event, .. } = self else { return false };
        (client == ANY || client == reporter)
            && (event == reported || event == HELD && BEGINS.contains(&reported))
    }

    fn taken(fields: &mut Map<String, Value>) -> Result<When, String> {
        let mut text = |name: &str| match fields.remove(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(format!("`{name}` must be a string, not {other}")),
        };
        let (at, on, after) = (text("at")?, text("on")?, text("after")?);
        let nth = fields.remove("nth");
        match (at, on) {
            (Some(at), None) if after.is_none() && nth.is_none() => Ok(When::At(parse_duration(&at)?)),
            (None, Some(on)) => {
                let (client, event) = on
                    .split_once(' ')
                    .ok_or_else(|| format!("`on` must be a client and an event, not {on:?}"))?;
                let nth = match nth {
                    None => 1,
                    Some(nth) => nth
                        .as_u64()
                        .and_then(|nth| u32::try_from(nth).ok())
                        .filter(|nth| *nth > 0)
                        .ok_or_else(|| format!("`nth` must be 1 or more, not {nth}"))?,
                };
                let after = after.as_deref().map_or(Ok(Duration::ZERO), parse_duration)?;
                Ok(When::On { client: client.to_owned(), event: event.to_owned(), nth, after })
            }
            (None, None) => Err("needs `at` or `on`".to_owned()),
            _ => Err("`at` excludes `on`, `nth` and `after`".to_owned()),
        }
    }
}

impl Action {
    /// The client that it affects, if any.
    pub fn client(&self) -> Option<&str> {
        match self {
            Action::Control { fields, .. } => fields.get("client").and_then(Value::as_str),
            Action::StopProcess { client, .. }
            | Action::KillProcess { client, .. }
            | Action::EndProcess { client, .. } => Some(client),
            Action::Delete { .. } => None,
        }
    }

    /// The same about the client that has triggered it, where it is about any.
    pub(crate) fn about(&self, reporter: &str) -> Action {
        let mut action = self.clone();
        match &mut action {
            Action::Control { fields, .. } => {
                if let Some(client) = fields.get_mut("client").filter(|client| **client == ANY) {
                    *client = reporter.into();
                }
            }
            Action::StopProcess { client, .. }
            | Action::KillProcess { client, .. }
            | Action::EndProcess { client, .. }
                if client == ANY =>
            {
                reporter.clone_into(client);
            }
            _ => {}
        }
        action
    }

    fn fields(&self) -> Map<String, Value> {
        let (verb, mut fields) = match self {
            Action::Control { verb, fields } => (verb.as_str(), fields.clone()),
            Action::StopProcess { lasts, .. } => ("stop-process", lasting(Some(*lasts))),
            Action::KillProcess { again, .. } => ("kill-process", lasting(*again)),
            Action::EndProcess { again, .. } => ("end-process", lasting(*again)),
            Action::Delete { path } => {
                ("delete", [("path".to_owned(), path.as_str().into())].into_iter().collect())
            }
        };
        if let Some(client) = self.client() {
            fields.insert("client".to_owned(), client.into());
        }
        fields.insert("verb".to_owned(), verb.into());
        fields
    }
}

fn lasting(time: Option<Duration>) -> Map<String, Value> {
    time.map(|time| ("for".to_owned(), millis(time).into())).into_iter().collect()
}

fn millis(time: Duration) -> String {
    format!("{}ms", time.as_millis())
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Value::Object(self.fields()))
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = self.action.fields();
        match &self.when {
            When::At(at) => {
                fields.insert("at".to_owned(), millis(*at).into());
            }
            When::On { client, event, nth, after } => {
                fields.insert("on".to_owned(), format!("{client} {event}").into());
                if *nth > 1 {
                    fields.insert("nth".to_owned(), (*nth).into());
                }
                if !after.is_zero() {
                    fields.insert("after".to_owned(), millis(*after).into());
                }
            }
        }
        write!(f, "{}", Value::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_read_and_written() {
        let text = r#"{"at":"1200ms","for":"1000ms","server":1,"verb":"crash"}
{"after":"5ms","client":"b","nth":2,"on":"b acquired","verb":"expire"}
{"at":"10ms","client":"a","for":"300ms","verb":"stop-process"}
{"at":"10ms","client":"c","verb":"kill-process"}
{"client":"any","for":"500ms","on":"any held","verb":"end-process"}
{"at":"1000ms","path":"/a","verb":"delete"}
"#;
        assert_eq!(Plan::read(text).unwrap().to_string(), text);
    }

    #[test]
    fn a_plan_strikes_the_requests_that_a_recipe_sends() {
        let of = |op: &str| {
            Plan::read(&format!(
                r#"{{"client":"a","nth":5,"on":"a adds","op":"{op}","path":"/a","verb":"lose-reply"}}
{{"at":"1s","verb":"elect"}}"#
            ))
            .unwrap()
        };
        let sends = BTreeMap::from([("set".to_owned(), "multi".to_owned())]);
        assert_eq!(of("set").with_requests(&sends), of("multi"));
        assert_eq!(of("get").with_requests(&sends), of("get"));
    }

    #[test]
    fn the_begin_of_any_hold_strikes_the_client_that_holds() {
        let step = Step::read(r#"{"on":"any held","verb":"expire","client":"any"}"#).unwrap();
        assert!(
            step.when.fits("b", "leader") && step.when.fits("c", "joined") && !step.when.fits("b", "asks")
        );
        assert_eq!(step.action.about("b").client(), Some("b"));
    }

    #[test]
    fn a_senseless_line_is_told() {
        for (line, why) in [
            ("[]", "not a JSON object"),
            (r#"{"verb":"heal"}"#, "needs `at` or `on`"),
            (r#"{"at":"1s","on":"a b","verb":"heal"}"#, "`at` excludes `on`"),
            (r#"{"on":"acquired","verb":"heal"}"#, "`on` must be a client and an event"),
            (r#"{"on":"a b","nth":0,"verb":"heal"}"#, "`nth` must be 1 or more"),
            (r#"{"at":"1s","verb":"crash","server":7}"#, "server"),
            (r#"{"at":"1s","verb":"crush"}"#, "crush"),
            (r#"{"at":"1s","verb":"stop-process","client":"a"}"#, "needs `for`"),
            (r#"{"at":"1s","verb":"kill-process"}"#, "client"),
            (r#"{"at":"1s","verb":"kill-process","client":"any"}"#, "`any` needs `on` with `any`"),
            (r#"{"at":"1s","verb":"delete","path":"/"}"#, "no path"),
        ] {
            let said = Plan::read(&format!("\n{line}")).unwrap_err();
            assert!(said.starts_with("line 2") && said.contains(why), "{said}");
        }
    }
}
