//! The verbs of the control API. `CONTROL.md` describes them for users.

use crate::duration::{duration, maybe, parse_duration};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sim_zk::fault::Fault;
use sim_zk::observer::Kind;
use std::time::Duration;

/// Something to do to an ensemble, or to tell about it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "verb", rename_all = "kebab-case", deny_unknown_fields)]
#[allow(missing_docs, reason = "CONTROL.md describes each verb and each field")]
#[non_exhaustive]
pub enum Command {
    // ── faults of the network between a client and its server ──
    LoseReply(Which),
    LoseRequest(Which),
    DelayReply {
        #[serde(rename = "for", deserialize_with = "duration")]
        lasts: Duration,
        #[serde(default)]
        client: Option<String>,
        #[serde(default)]
        op: Option<Op>,
        #[serde(default)]
        path: Option<String>,
        #[serde(default)]
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
        #[serde(default)]
        count: Option<u32>,
    },
    LoseNotification {
        #[serde(default)]
        client: Option<String>,
        #[serde(default)]
        path: Option<String>,
        #[serde(default)]
        count: Option<u32>,
    },
    Disconnect {
        #[serde(default)]
        client: Option<String>,
    },
    Mute(ForAWhile),
    Deafen(ForAWhile),
    Partition(ForAWhile),
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
    Cut(Between),
    Hold(Between),
    Release {
        #[serde(default)]
        server: Option<u8>,
        #[serde(default)]
        from: Option<u8>,
        #[serde(default)]
        to: Option<u8>,
    },
    Stall {
        server: u8,
        what: Stage,
        #[serde(default, rename = "for", deserialize_with = "maybe")]
        lasts: Option<Duration>,
    },
    Elect {},
    Heal {},
    // ── questions ──
    Status {},
    Tree {
        #[serde(default)]
        path: Option<String>,
    },
    Sessions {},
    Watches {},
    // ── beliefs ──
    Name {
        client: String,
        name: String,
    },
    Report(Report),
}

/// Which requests a fault waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Which {
    /// A client by its name or session id; absent: any.
    pub client: Option<String>,
    /// The kind of request; absent: any but a ping.
    pub op: Option<Op>,
    /// What its path begins with.
    pub path: Option<String>,
    /// How many of them; absent: one.
    pub count: Option<u32>,
}

/// A fault of the network that lasts.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForAWhile {
    /// A client by its name or session id; absent: all.
    #[serde(default)]
    pub client: Option<String>,
    /// How long.
    #[serde(rename = "for", deserialize_with = "duration")]
    pub lasts: Duration,
}

/// A fault of one server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfServer {
    /// Its number, from 0.
    pub server: u8,
    /// How long; absent: until it is ended.
    #[serde(default, rename = "for", deserialize_with = "maybe")]
    pub lasts: Option<Duration>,
}

/// One server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OneServer {
    /// Its number, from 0.
    pub server: u8,
}

/// A fault between servers: of one and all others, or of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Between {
    /// The server that is cut off from all others.
    #[serde(default)]
    pub server: Option<u8>,
    /// The sender.
    #[serde(default)]
    pub from: Option<u8>,
    /// The receiver.
    #[serde(default)]
    pub to: Option<u8>,
    /// How long; absent: until it is ended.
    #[serde(default, rename = "for", deserialize_with = "maybe")]
    pub lasts: Option<Duration>,
}

/// What a client believes from now on.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// The client by its name or session id.
    pub client: String,
    /// The path of the lock, election, barrier or queue.
    pub object: String,
    /// What it is; needed once for each object.
    #[serde(default)]
    pub kind: Option<ObjectKind>,
    /// What happened.
    pub event: Belief,
    /// The item that was put or taken.
    #[serde(default)]
    pub item: Option<String>,
}

/// A kind of object that reports are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "they are the names of recipes")]
pub enum ObjectKind {
    Lock,
    Election,
    Barrier,
    Queue,
}

/// An event that a program reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "CONTROL.md describes them")]
pub enum Belief {
    Acquired,
    Released,
    Leader,
    Deposed,
    Raised,
    Lowered,
    Waits,
    Passed,
    Put,
    Took,
}

macro_rules! words {
    ($(#[$meta:meta])* $of:ident -> $to:ty { $($variant:ident = $name:literal => $value:expr,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[allow(missing_docs, reason = "the name says it")]
        pub enum $of { $(#[serde(rename = $name)] $variant,)+ }

        impl $of {
            /// What it stands for.
            pub(crate) fn meaning(self) -> $to {
                match self { $($of::$variant => $value,)+ }
            }
        }
    };
}

words! {
    /// A kind of request.
    Op -> Kind {
        Create = "create" => Kind::Create,
        Delete = "delete" => Kind::Delete,
        Exists = "exists" => Kind::Exists,
        Get = "get" => Kind::Get,
        Set = "set" => Kind::Set,
        Children = "children" => Kind::Children,
        Multi = "multi" => Kind::Multi,
        Sync = "sync" => Kind::Sync,
        GetAcl = "getAcl" => Kind::GetAcl,
        SetAcl = "setAcl" => Kind::SetAcl,
        AddWatch = "addWatch" => Kind::AddWatch,
        RemoveWatches = "removeWatches" => Kind::RemoveWatches,
        CloseSession = "closeSession" => Kind::CloseSession,
    }
}

words! {
    /// How a server refuses.
    RefusalCode -> Fault {
        Throttled = "throttled" => Fault::Throttled,
        QuotaExceeded = "quota-exceeded" => Fault::QuotaExceeded,
        AccessDenied = "access-denied" => Fault::AccessDenied,
        ServerError = "server-error" => Fault::ServerError,
    }
}

words! {
    /// A part of a server that stalls.
    Stage -> Fault {
        Disk = "disk" => Fault::DiskStall,
        Apply = "apply" => Fault::ApplyStall,
        Commit = "commit" => Fault::CommitStall,
    }
}

/// The verbs that ask and change nothing.
pub const QUESTIONS: [&str; 6] = ["status", "tree", "sessions", "watches", "history", "verdict"];

/// The verbs that do something.
pub const ACTIONS: [&str; 24] = [
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
    "release",
    "stall",
    "elect",
    "heal",
    "name",
    "report",
    "shutdown",
];

/// Why a command was not carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Refused {
    /// The HTTP status: 400 for what makes no sense, 404 for what does not exist.
    pub status: u16,
    /// One sentence.
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

impl Command {
    /// Reads a verb and its fields.
    ///
    /// # Errors
    ///
    /// An unknown verb (404), an unknown field, or a value that makes no sense (400).
    pub fn read(verb: &str, fields: Value) -> Result<Command, Refused> {
        if !ACTIONS.contains(&verb) && !QUESTIONS.contains(&verb) {
            let all: Vec<&str> = ACTIONS.into_iter().chain(QUESTIONS).collect();
            return Err(Refused::new(
                404,
                format!("there is no verb {verb:?}; there are {}", all.join(", ")),
            ));
        }
        let Value::Object(mut object) = fields else {
            return Err(Refused::new(400, format!("the body of {verb} is not a JSON object")));
        };
        object.insert("verb".to_owned(), verb.into());
        serde_json::from_value(Value::Object(object))
            .map_err(|why| Refused::new(400, format!("{verb}: {why}")))
    }

    /// Reads a line of a plan, such as `{"at": "2s", "verb": "crash", "server": 1}`: a time since the start, and a verb with its
    /// fields.
    ///
    /// # Errors
    ///
    /// The line is no JSON object, it has no time or no verb, or those of [`read`](Self::read).
    pub fn planned(line: &str) -> Result<(Duration, Command), Refused> {
        let wrong = |why: &str| Refused::new(400, why);
        let value = serde_json::from_str(line).map_err(|why| wrong(&format!("it is not JSON: {why}")))?;
        let Value::Object(mut fields) = value else { return Err(wrong("it is not a JSON object")) };
        let at = fields.remove("at").ok_or_else(|| wrong("it has no time `at`"))?;
        let at = parse_duration(at.as_str().unwrap_or_default()).map_err(|why| wrong(&why))?;
        let verb = fields.remove("verb").ok_or_else(|| wrong("it has no `verb`"))?;
        let verb = verb.as_str().ok_or_else(|| wrong("its `verb` is not a text"))?;
        Ok((at, Command::read(verb, Value::Object(fields))?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(verb: &str, fields: Value) -> Result<Command, String> {
        Command::read(verb, fields).map_err(|refused| refused.why)
    }

    #[test]
    fn a_verb_has_fields_and_no_others() {
        let which = Which { op: Some(Op::Create), path: Some("/locks".to_owned()), ..Which::default() };
        assert_eq!(
            read("lose-reply", json!({"op": "create", "path": "/locks"})),
            Ok(Command::LoseReply(which))
        );
        assert_eq!(read("lose-reply", json!({})), Ok(Command::LoseReply(Which::default())));
        let crash = OfServer { server: 2, lasts: Some(Duration::from_secs(2)) };
        assert_eq!(read("crash", json!({"server": 2, "for": "2s"})), Ok(Command::Crash(crash)));
        assert_eq!(read("heal", json!({})), Ok(Command::Heal {}));
        for (verb, fields, why) in [
            ("crash", json!({}), "crash: missing field `server`"),
            ("crash", json!({"server": 1, "four": "2s"}), "crash: unknown field `four`"),
            ("crash", json!({"server": 1, "for": "2 s"}), "crash: \"2 s\" is not a duration"),
            ("heal", json!({"server": 1}), "heal: unknown field `server`"),
            ("lose-reply", json!({"op": "creat"}), "lose-reply: unknown variant `creat`"),
            ("lose-reply", json!([]), "the body of lose-reply is not a JSON object"),
            ("explode", json!({}), "there is no verb \"explode\"; there are lose-reply, "),
        ] {
            let said = read(verb, fields).unwrap_err();
            assert!(said.starts_with(why), "{said}");
        }
    }
}
