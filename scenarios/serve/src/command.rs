//! The verbs of the control API. `CONTROL.md` describes them for users.

mod checks;

use crate::duration::parse_duration;
use crate::fields::{self, count, duration, flag, maybe_duration, maybe_server, server};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use sim_zk::fault::Fault;
use sim_zk::observer::Kind;
use std::time::Duration;
use zk_checker::history::Kind as ObjectKind;

/// A command of the control API.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "verb", rename_all = "kebab-case", deny_unknown_fields)]
#[allow(missing_docs, reason = "CONTROL.md describes each verb and each field")]
#[non_exhaustive]
pub enum Command {
    // ── faults of the network between a client and its server ──
    LoseReply(RequestFilter),
    LoseRequest(RequestFilter),
    DelayReply {
        #[serde(rename = "for", deserialize_with = "duration")]
        lasts: Duration,
        #[serde(default)]
        client: Option<String>,
        #[serde(default)]
        op: Option<Op>,
        #[serde(default)]
        path: Option<String>,
        #[serde(default, deserialize_with = "count")]
        count: Option<u32>,
    },
    Refuse {
        code: RefusalCode,
        #[serde(default)]
        client: Option<String>,
        #[serde(default)]
        op: Option<Op>,
        #[serde(default)]
        path: Option<String>,
        #[serde(default, deserialize_with = "count")]
        count: Option<u32>,
    },
    LoseNotification {
        #[serde(default)]
        client: Option<String>,
        #[serde(default)]
        path: Option<String>,
        #[serde(default, deserialize_with = "count")]
        count: Option<u32>,
    },
    Disconnect {
        #[serde(default)]
        client: Option<String>,
    },
    Mute(TimedFault),
    Deafen(TimedFault),
    Partition(TimedFault),
    Expire {
        #[serde(default)]
        client: Option<String>,
    },
    // ── faults of servers ──
    Crash(OfServer),
    Start(OneServer),
    Restart(OneServer),
    Pause(OfServer),
    Resume(OneServer),
    Cut(ServerCut),
    Hold(OneWay),
    LosePackets(OneWay),
    Release(Released),
    Stall {
        #[serde(deserialize_with = "server")]
        server: u8,
        what: Stage,
        #[serde(default, rename = "for", deserialize_with = "maybe_duration")]
        lasts: Option<Duration>,
    },
    Elect {},
    Heal {},
    Shutdown {},
    // ── questions ──
    Status {},
    Tree {
        #[serde(default)]
        path: Option<String>,
    },
    Sessions {},
    Watches {},
    /// Only lets the loop catch up with the clock.
    #[serde(skip)]
    Look {},
    // ── beliefs ──
    Name {
        client: String,
        name: String,
    },
    Report(Report),
    Process {
        client: String,
        state: ProcessState,
    },
    Quiesce {},
}

/// The requests that a fault waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RequestFilter {
    /// A client by its name or session id; absent: any.
    pub client: Option<String>,
    /// The kind of request; absent: any but a ping.
    pub op: Option<Op>,
    /// A prefix of its path.
    pub path: Option<String>,
    /// The number of requests; absent: one.
    #[serde(deserialize_with = "count")]
    pub count: Option<u32>,
}

/// A fault of the network that lasts.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimedFault {
    /// A client by its name or session id; absent: all.
    #[serde(default)]
    pub client: Option<String>,
    /// Its duration.
    #[serde(rename = "for", deserialize_with = "duration")]
    pub lasts: Duration,
}

/// A fault of one server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfServer {
    /// Its number, from 0.
    #[serde(deserialize_with = "server")]
    pub server: u8,
    /// Its duration; absent: until it is ended.
    #[serde(default, rename = "for", deserialize_with = "maybe_duration")]
    pub lasts: Option<Duration>,
}

/// The restart or resumption of one server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OneServer {
    /// Its number, from 0.
    #[serde(deserialize_with = "server")]
    pub server: u8,
    /// Whether the answer waits until the server serves.
    #[serde(default = "fields::yes", deserialize_with = "flag")]
    pub wait: bool,
}

/// A fault between servers: of one server and all others, or of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerCut {
    /// The server that is cut off from all others.
    #[serde(default, deserialize_with = "maybe_server")]
    pub server: Option<u8>,
    /// The sender.
    #[serde(default, deserialize_with = "maybe_server")]
    pub from: Option<u8>,
    /// The receiver.
    #[serde(default, deserialize_with = "maybe_server")]
    pub to: Option<u8>,
    /// Its duration; absent: until it is ended.
    #[serde(default, rename = "for", deserialize_with = "maybe_duration")]
    pub lasts: Option<Duration>,
}

/// A fault of the link from one server to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OneWay {
    /// The sender.
    #[serde(deserialize_with = "server")]
    pub from: u8,
    /// The receiver.
    #[serde(deserialize_with = "server")]
    pub to: u8,
    /// Its duration; absent: until it is ended.
    #[serde(default, rename = "for", deserialize_with = "maybe_duration")]
    pub lasts: Option<Duration>,
}

/// The end of a fault of one server, or of a link between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Released {
    /// The server.
    #[serde(default, deserialize_with = "maybe_server")]
    pub server: Option<u8>,
    /// The stalled part of that server; absent: its cut and all its stalls.
    #[serde(default)]
    pub what: Option<Stage>,
    /// The sender.
    #[serde(default, deserialize_with = "maybe_server")]
    pub from: Option<u8>,
    /// The receiver.
    #[serde(default, deserialize_with = "maybe_server")]
    pub to: Option<u8>,
}

/// A report of a program about its client.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// The client by its name or session id.
    pub client: String,
    /// The path of the lock, election, barrier or queue.
    pub object: String,
    /// Its kind; needed once for each object.
    #[serde(default, deserialize_with = "reported_kind")]
    pub kind: Option<ObjectKind>,
    /// The word of the reported event.
    #[serde(deserialize_with = "reported_event")]
    pub event: String,
    /// The item, part, name, number or path of the event.
    #[serde(default)]
    pub item: Option<String>,
}

/// The kinds of object that programs report about.
pub(crate) fn reported_kinds() -> impl Iterator<Item = ObjectKind> {
    ObjectKind::ALL.iter().copied().filter(|kind| kind.reported_events().next().is_some())
}

fn reported_kind<'de, D: Deserializer<'de>>(from: D) -> Result<Option<ObjectKind>, D::Error> {
    let Some(word) = Option::<String>::deserialize(from)? else { return Ok(None) };
    let kind = reported_kinds().find(|kind| kind.name() == word);
    kind.map(Some).ok_or_else(|| {
        let all: Vec<&str> = reported_kinds().map(ObjectKind::name).collect();
        fields::no_such("kind of object", &word, &all)
    })
}

fn reported_event<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let word = String::deserialize(from)?;
    let mut all: Vec<&str> = Vec::new();
    for event in reported_kinds().flat_map(ObjectKind::reported_events) {
        if !all.contains(&event.word) {
            all.push(event.word);
        }
    }
    if all.contains(&&*word) { Ok(word) } else { Err(fields::no_such("event", &word, &all)) }
}

macro_rules! words {
    ($(#[$meta:meta])* $of:ident, $noun:literal { $($variant:ident = $name:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "CONTROL.md describes them")]
        pub enum $of { $($variant,)+ }

        impl $of {
            /// Every variant, in order.
            pub const ALL: &[$of] = &[$($of::$variant,)+];

            /// The word of the control API.
            pub fn name(self) -> &'static str {
                match self { $($of::$variant => $name,)+ }
            }
        }

        impl<'de> Deserialize<'de> for $of {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let word = String::deserialize(from)?;
                match word.as_str() {
                    $($name => Ok($of::$variant),)+
                    _ => Err(fields::no_such($noun, &word, &[$($name,)+])),
                }
            }
        }
    };
}

words! {
    /// The state of a client's process.
    ProcessState, "state of a process" {
        Stopped = "stopped",
        Running = "running",
        Gone = "gone",
    }
}

words! {
    /// A kind of request.
    Op, "op" {
        Create = "create",
        Delete = "delete",
        Exists = "exists",
        Get = "get",
        Set = "set",
        Children = "children",
        Multi = "multi",
        Sync = "sync",
        GetAcl = "getAcl",
        SetAcl = "setAcl",
        AddWatch = "addWatch",
        RemoveWatches = "removeWatches",
        CloseSession = "closeSession",
    }
}

words! {
    /// The code with which a server refuses a request.
    RefusalCode, "code" {
        Throttled = "throttled",
        QuotaExceeded = "quota-exceeded",
        AccessDenied = "access-denied",
        ServerError = "server-error",
    }
}

words! {
    /// The part of a server that stalls.
    Stage, "stage" {
        Disk = "disk",
        Apply = "apply",
        Commit = "commit",
    }
}

impl Op {
    /// The kind of request in the simulation.
    pub(crate) fn kind(self) -> Kind {
        match self {
            Op::Create => Kind::Create,
            Op::Delete => Kind::Delete,
            Op::Exists => Kind::Exists,
            Op::Get => Kind::Get,
            Op::Set => Kind::Set,
            Op::Children => Kind::Children,
            Op::Multi => Kind::Multi,
            Op::Sync => Kind::Sync,
            Op::GetAcl => Kind::GetAcl,
            Op::SetAcl => Kind::SetAcl,
            Op::AddWatch => Kind::AddWatch,
            Op::RemoveWatches => Kind::RemoveWatches,
            Op::CloseSession => Kind::CloseSession,
        }
    }
}

impl RefusalCode {
    /// The fault that causes this refusal.
    pub(crate) fn fault(self) -> Fault {
        match self {
            RefusalCode::Throttled => Fault::Throttled,
            RefusalCode::QuotaExceeded => Fault::QuotaExceeded,
            RefusalCode::AccessDenied => Fault::AccessDenied,
            RefusalCode::ServerError => Fault::ServerError,
        }
    }
}

impl Stage {
    /// The fault that causes this stall.
    pub(crate) fn fault(self) -> Fault {
        match self {
            Stage::Disk => Fault::DiskStall,
            Stage::Apply => Fault::ApplyStall,
            Stage::Commit => Fault::CommitStall,
        }
    }
}

/// The verbs that only query.
pub const QUESTIONS: [&str; 6] = ["status", "tree", "sessions", "watches", "history", "verdict"];

/// The verbs that change something.
pub const ACTIONS: [&str; 27] = [
    "lose-reply",
    "lose-request",
    "delay-reply",
    "refuse",
    "lose-notification",
    "disconnect",
    "mute",
    "deafen",
    "partition",
    "expire",
    "crash",
    "start",
    "restart",
    "pause",
    "resume",
    "cut",
    "hold",
    "lose-packets",
    "release",
    "stall",
    "elect",
    "heal",
    "name",
    "report",
    "process",
    "quiesce",
    "shutdown",
];

/// Why a command was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Refused {
    /// The HTTP status: 400 for an invalid command, 404 for something that does not exist.
    pub status: u16,
    /// The reason, in one sentence.
    pub why: String,
}

impl Refused {
    pub(crate) fn new(status: u16, why: impl Into<String>) -> Self {
        Refused { status, why: why.into() }
    }

    /// The body of the answer.
    pub(crate) fn body(&self) -> Value {
        json!({ "error": self.why })
    }
}

impl Report {
    /// Reads a line of text: client, event, kind, object, item.
    ///
    /// # Errors
    ///
    /// If the line has another number of words, an unknown event or an unknown kind (400).
    pub fn from_line(line: &str) -> Result<Report, Refused> {
        let wrong = || Refused::new(400, format!("{line:?} is not a report: client event kind object item"));
        let words: Vec<&str> = line.split_whitespace().collect();
        let (words, item) = match words[..] {
            [client, event, kind, object] => ([client, event, kind, object], None),
            [client, event, kind, object, item] => ([client, event, kind, object], Some(item.to_owned())),
            // A znode and its data.
            [client, event, kind, object, path, data] => {
                ([client, event, kind, object], Some(format!("{path} {data}")))
            }
            _ => return Err(wrong()),
        };
        let [client, event, kind, object] = words;
        let fields =
            json!({ "client": client, "event": event, "kind": kind, "object": object, "item": item });
        serde_json::from_value(fields).map_err(|why| Refused::new(400, format!("report: {why}")))
    }
}

impl Command {
    /// Reads a verb and its fields.
    ///
    /// # Errors
    ///
    /// If the verb is unknown (404), or a field is unknown or has an invalid value (400).
    pub fn read(verb: &str, fields: Value) -> Result<Command, Refused> {
        if !ACTIONS.contains(&verb) && !QUESTIONS.contains(&verb) {
            return Err(Command::unknown(verb));
        }
        if ["history", "verdict"].contains(&verb) {
            return Err(Refused::new(400, format!("{verb} is a question, not a command")));
        }
        let Value::Object(mut object) = fields else {
            return Err(Refused::new(400, format!("the body of {verb} is not a JSON object")));
        };
        object.insert("verb".to_owned(), verb.into());
        serde_json::from_value(Value::Object(object))
            .map_err(|why| Refused::new(400, format!("{verb}: {why}")))
    }

    /// Reads a line of a plan, such as `{"at": "2s", "verb": "crash", "server": 1}`: the time since the start, and a
    /// verb with its fields.
    ///
    /// # Errors
    ///
    /// If the line is not a JSON object, has no time or no verb, or asks a question; and the errors of
    /// [`read`](Self::read).
    pub fn planned(line: &str) -> Result<(Duration, Command), Refused> {
        let wrong = |why: &str| Refused::new(400, why);
        let mut fields = match serde_json::from_str(line) {
            Ok(Value::Object(fields)) => fields,
            Ok(_) => return Err(wrong("it is not a JSON object")),
            Err(why) => return Err(wrong(&format!("it is not JSON from column {} on", why.column()))),
        };
        let at = fields.remove("at").ok_or_else(|| wrong("needs `at`"))?;
        let at = match at.as_str() {
            Some(at) => parse_duration(at).map_err(|why| wrong(&why))?,
            None => {
                return Err(wrong(&format!("`at` must be a duration such as \"500ms\", not {at}")));
            }
        };
        let verb = fields.remove("verb").ok_or_else(|| wrong("needs `verb`"))?;
        let verb = verb.as_str().ok_or_else(|| wrong("`verb` must be a string"))?;
        let command = Command::read(verb, Value::Object(fields))?;
        if QUESTIONS.contains(&verb) {
            return Err(wrong(&format!("{verb} is a question; a plan has commands")));
        }
        Ok((at, command))
    }

    /// The refusal of an unknown verb.
    pub(crate) fn unknown(verb: &str) -> Refused {
        let all: Vec<&str> = ACTIONS.into_iter().chain(QUESTIONS).collect();
        Refused::new(404, format!("there is no verb {verb:?}; there are {}", all.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(verb: &str, fields: Value) -> Result<Command, String> {
        Command::read(verb, fields).map_err(|refused| refused.why)
    }

    #[test]
    fn a_command_that_never_does_anything_is_refused() {
        let check =
            |verb, fields, servers| Command::read(verb, fields).unwrap().check(servers).map_err(|no| no.why);
        for (code, op) in
            [("quota-exceeded", "exists"), ("access-denied", "sync"), ("throttled", "closeSession")]
        {
            let why = format!("no server refuses {op} with {code}");
            assert_eq!(check("refuse", json!({"code": code, "op": op}), 1), Err(why));
        }
        assert_eq!(check("refuse", json!({"code": "quota-exceeded", "op": "multi"}), 1), Ok(()));
        assert_eq!(check("refuse", json!({"code": "access-denied"}), 1), Ok(()));
        for (verb, fields, servers, why) in [
            ("lose-reply", json!({"path": "locks"}), 1, "the path \"locks\" does not begin with a slash"),
            ("lose-request", json!({"count": 0}), 1, "a count is at least 1"),
            ("crash", json!({"server": 3}), 3, "there is no server 3: they are numbered from 0 to 2"),
            (
                "stall",
                json!({"server": 1, "what": "disk"}),
                1,
                "there is no server 1: the only one has the number 0",
            ),
            ("cut", json!({"server": 0}), 1, "cut needs an ensemble of more than one server"),
            ("hold", json!({"from": 0, "to": 0}), 3, "hold needs two different servers as `from` and `to`"),
            (
                "lose-packets",
                json!({"from": 1, "to": 1}),
                3,
                "lose-packets needs two different servers as `from` and `to`",
            ),
            (
                "lose-packets",
                json!({"from": 0, "to": 1}),
                1,
                "there is no server 1: the only one has the number 0",
            ),
            ("release", json!({}), 3, "release needs `server`, or two different servers as `from` and `to`"),
            ("release", json!({"from": 0, "to": 1, "what": "disk"}), 3, "release of a stage needs `server`"),
            ("elect", json!({}), 1, "elect needs an ensemble of more than one server"),
        ] {
            assert_eq!(check(verb, fields, servers), Err(why.to_owned()));
        }
    }

    #[test]
    fn a_report_is_a_line_of_four_or_five_words() {
        let report = Report::from_line("alice took queue /q  x\r").unwrap();
        assert_eq!((report.client.as_str(), report.object.as_str()), ("alice", "/q"));
        assert_eq!((report.event.as_str(), report.kind), ("took", Some(ObjectKind::Queue)));
        assert_eq!(report.item.as_deref(), Some("x"));
        for (line, why) in [
            ("alice acquired /a", "\"alice acquired /a\" is not a report: client event kind object item"),
            ("alice got lock /a", "report: there is no event \"got\"; there are asks, "),
            ("alice acquired look /a", "report: there is no kind of object \"look\"; there are lock, "),
        ] {
            let said = Report::from_line(line).unwrap_err().why;
            assert!(said.starts_with(why), "{said}");
        }
    }

    #[test]
    fn a_verb_has_fields_and_no_others() {
        let which = RequestFilter {
            op: Some(Op::Create),
            path: Some("/locks".to_owned()),
            ..RequestFilter::default()
        };
        assert_eq!(
            read("lose-reply", json!({"op": "create", "path": "/locks"})),
            Ok(Command::LoseReply(which))
        );
        assert_eq!(read("lose-reply", json!({})), Ok(Command::LoseReply(RequestFilter::default())));
        let crash = OfServer { server: 2, lasts: Some(Duration::from_secs(2)) };
        assert_eq!(read("crash", json!({"server": 2, "for": "2s"})), Ok(Command::Crash(crash)));
        assert_eq!(read("heal", json!({})), Ok(Command::Heal {}));
        for (fields, wait) in [(json!({"server": 2}), true), (json!({"server": 2, "wait": false}), false)] {
            assert_eq!(read("start", fields), Ok(Command::Start(OneServer { server: 2, wait })));
        }
        for (verb, fields, why) in [
            ("crash", json!({}), "crash: missing field `server`"),
            ("crash", json!({"server": 1, "four": "2s"}), "crash: unknown field `four`"),
            ("crash", json!({"server": 1, "for": "2 s"}), "crash: \"2 s\" is not a duration"),
            ("heal", json!({"server": 1}), "heal: unknown field `server`"),
            ("start", json!({"server": 1, "wait": "no"}), "start: \"no\" is neither true nor false"),
            (
                "lose-reply",
                json!({"op": "creat"}),
                "lose-reply: there is no op \"creat\"; there are create, delete, ",
            ),
            ("crash", json!({"server": "one"}), "crash: \"one\" is not the number of a server, such as 0"),
            ("crash", json!({"server": 300}), "crash: there is no server 300"),
            ("hold", json!({"server": 1}), "hold: unknown field `server`"),
            ("hold", json!({"from": 1}), "hold: missing field `to`"),
            ("cut", json!({"from": -1, "to": 1}), "cut: -1 is not the number of a server, such as 0"),
            ("lose-reply", json!({"count": "2"}), "lose-reply: \"2\" is not a count, such as 2"),
            ("crash", json!({"server": 1, "for": 2}), "crash: 2 is not a duration such as 500ms, 60s or 5m"),
            (
                "stall",
                json!({"server": 1, "what": "x"}),
                "stall: there is no stage \"x\"; there are disk, apply, commit",
            ),
            ("lose-reply", json!([]), "the body of lose-reply is not a JSON object"),
            ("explode", json!({}), "there is no verb \"explode\"; there are lose-reply, "),
        ] {
            let said = read(verb, fields).unwrap_err();
            assert!(said.starts_with(why), "{said}");
        }
    }
}
