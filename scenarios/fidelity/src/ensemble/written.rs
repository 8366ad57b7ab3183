//! The written form of a scenario's steps: the fields determine the kind of a step.

mod fault;

use super::step::{Listen, Op, RelativeZxid, Side, Since, Step, Ticks, Wait, WaitFor};
use crate::exchange::form::Request;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

type Fields = Map<String, Value>;

/// A reader of one kind of step.
type Reader = fn(Fields) -> Result<Step, String>;

/// The field that identifies each kind of step. A connect may `wait`, so waits come last.
const KINDS: [(&str, Reader); 19] = [
    ("op", op),
    ("connect", |from| read(from).map(Step::Connect)),
    ("move", |from| read(from).map(Step::Move)),
    ("finish_connect", |from| listen(from, "finish_connect").map(Step::FinishConnect)),
    ("old_frames", |from| listen(from, "old_frames").map(Step::OldFrames)),
    ("event", |from| listen(from, "event").map(Step::Event)),
    ("events", |from| listen(from, "events").map(Step::Events)),
    ("await_", |from| read(from).map(Step::Await)),
    ("drop", |from| listen(from, "drop").and_then(only_session).map(Step::Drop)),
    ("use", |from| read::<WrittenUse>(from).map(|it| Step::Use(it.s, it.side))),
    ("fault", |from| fault::fault(read(from)?).map(Step::Fault)),
    ("until", |from| read(from).map(Step::Until)),
    ("spin", |from| read(from).map(Step::Spin)),
    ("if_", |from| read(from).map(Step::If)),
    ("wait_ticks", |from| read::<WrittenTicks>(from).and_then(ticks)),
    ("mark", |from| read::<WrittenMark>(from).map(|it| Step::Mark(it.mark))),
    ("elapsed", |from| since(from, "elapsed").map(Step::Elapsed)),
    ("zxid_delta", |from| since(from, "zxid_delta").map(Step::ZxidDelta)),
    ("wait", |from| read::<WrittenWait>(from).and_then(wait)),
];

/// Reads one step.
///
/// # Errors
///
/// The mistake.
pub(super) fn step(written: Fields) -> Result<Step, String> {
    let kind = KINDS.iter().find(|(key, _)| written.contains_key(*key));
    let Some((_, reader)) = kind else {
        return Err(format!("{} is no step of any kind", Value::Object(written)));
    };
    let text = Value::Object(written.clone()).to_string();
    reader(written).map_err(|why| format!("{text}: {why}"))
}

impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        step(Map::deserialize(from)?).map_err(D::Error::custom)
    }
}

fn read<T: DeserializeOwned>(from: Fields) -> Result<T, String> {
    serde_json::from_value(Value::Object(from)).map_err(|error| error.to_string())
}

/// Removes a field that must be 1, the notation of a step without an argument.
fn take_marker(from: &mut Fields, key: &str) -> Result<(), String> {
    match from.remove(key) {
        Some(value) if value == json!(1) || value == json!(true) => Ok(()),
        value => Err(format!("`{key}` should be 1 and is {}", value.unwrap_or_default())),
    }
}

/// A flag: 1 or 0, or a boolean.
fn flag<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    match Value::deserialize(from)? {
        Value::Bool(so) => Ok(so),
        value if value == json!(1) => Ok(true),
        value if value == json!(0) => Ok(false),
        value => Err(D::Error::custom(format!("{value} is neither 1 nor 0"))),
    }
}

fn listen(mut from: Fields, key: &str) -> Result<Listen, String> {
    take_marker(&mut from, key)?;
    read(from)
}

fn only_session(it: Listen) -> Result<String, String> {
    match it {
        Listen { session, within: None, label: None } => Ok(session),
        _ => Err("a drop has no result and no duration".to_owned()),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenUse {
    s: String,
    #[serde(rename = "use")]
    side: Side,
}

/// The fields of a request besides its arguments.
#[derive(Deserialize)]
struct WrittenOp {
    s: String,
    #[serde(default, deserialize_with = "flag")]
    async_: bool,
    to: Option<f64>,
    as_: Option<String>,
    #[serde(default, rename = "relativeZxid")]
    relative_zxid: Value,
}

/// Arguments of recorded cases that have no meaning here.
const FOREIGN: [&str; 9] =
    ["session", "relative", "timeout", "timeout_ms", "ms", "readonly", "last_zxid", "passwd", "then_closed"];

fn op(mut from: Fields) -> Result<Step, String> {
    let mut about = Fields::new();
    for key in ["s", "async_", "to", "as_", "relativeZxid"] {
        about.extend(from.remove(key).map(|value| (key.to_owned(), value)));
    }
    let WrittenOp { s: session, async_: only_send, to: within, as_: label, relative_zxid } = read(about)?;
    let relative_zxid = match (&relative_zxid, relative_zxid.as_i64()) {
        (Value::Null, _) => RelativeZxid::Last,
        (Value::String(word), _) if word == "last" => RelativeZxid::Last,
        (_, Some(zxid)) => RelativeZxid::Zxid(zxid),
        (value, None) => return Err(format!("`relativeZxid` is \"last\" or a number, not {value}")),
    };
    let ops = match from.remove("ops") {
        None => Vec::new(),
        Some(ops) => {
            let ops: Vec<(String, Fields)> = serde_json::from_value(ops)
                .map_err(|error| format!("`ops` is a list of [name, arguments]: {error}"))?;
            ops.into_iter().map(|(name, arguments)| request(name, arguments)).collect::<Result<_, _>>()?
        }
    };
    let name = match from.remove("op") {
        Some(Value::String(name)) => name,
        other => return Err(format!("`op` is a name, not {}", other.unwrap_or_default())),
    };
    let request = Request { ops, ..request(name, from)? };
    Ok(Step::Op(Box::new(Op { session, request, relative_zxid, only_send, within, label })))
}

fn request(name: String, mut arguments: Fields) -> Result<Request, String> {
    if let Some(foreign) = FOREIGN.into_iter().find(|key| arguments.contains_key(*key)) {
        return Err(format!("unknown field `{foreign}`"));
    }
    arguments.insert("op".to_owned(), Value::String(name));
    read(arguments)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenTicks {
    wait_ticks: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRandom {
    random: (f64, f64),
}

fn ticks(it: WrittenTicks) -> Result<Step, String> {
    let nonsense = |_| "`wait_ticks` is a number, or {\"random\": [low, high]}".to_owned();
    let ticks = match it.wait_ticks.as_f64() {
        Some(ticks) => Ticks::Fixed(ticks),
        None => {
            let random = serde_json::from_value::<WrittenRandom>(it.wait_ticks).map_err(nonsense)?.random;
            Ticks::Random(random.0, random.1)
        }
    };
    Ok(Step::WaitTicks(ticks))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenMark {
    mark: String,
}

/// The step itself names the mark, or `since` does; or the step is 1, for the last mark.
fn since(mut from: Fields, key: &str) -> Result<Since, String> {
    let named = match from.get(key) {
        Some(Value::String(mark)) => Some(mark.clone()),
        _ => None,
    };
    if named.is_some() {
        from.remove(key);
    } else {
        take_marker(&mut from, key)?;
    }
    match (named, read(from)?) {
        (Some(_), Since { mark: Some(_), .. }) => Err("it names two marks".to_owned()),
        (named, Since { mark, label }) => Ok(Since { mark: named.or(mark), label }),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenWait {
    wait: Value,
    to: Option<f64>,
    #[serde(rename = "as_")]
    label: Option<String>,
}

fn wait(it: WrittenWait) -> Result<Step, String> {
    let what = match (&it.wait, it.wait.as_u64()) {
        (Value::String(word), _) if word == "caught_up" => WaitFor::CaughtUp,
        (Value::String(word), _) if word == "all" => WaitFor::All,
        (_, Some(members)) => WaitFor::Members(members as usize),
        (other, None) => {
            return Err(format!(
                "one waits for \"caught_up\", \"all\" or a number of members, not for {other}"
            ));
        }
    };
    Ok(Step::Wait(Wait { what, within: it.to, label: it.label }))
}
