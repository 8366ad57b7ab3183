//! One step of a scenario. All times are in ticks. Attributes give the written names of fields where they differ.

use super::expected::Expected;
use crate::exchange::form::Request;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// One step.
#[derive(Clone, Debug)]
pub enum Step {
    /// Opens a connection for a session, in place of the one that it has.
    Connect(Connect),
    /// Awaits the reply to a connect that timed out.
    FinishConnect(Listen),
    /// Opens another connection for a session, which keeps the one that it has.
    Move(Connect),
    /// Cuts a session's connection with a reset.
    Drop(String),
    /// Switches to the connection that a session had before it moved, or to the later one.
    Use(String, Side),
    /// The unread frames on the connection that a session had before it moved.
    OldFrames(Listen),
    /// A request.
    Op(Box<Op>),
    /// Awaits the reply to a request.
    Await(Await),
    /// The first notification.
    Event(Listen),
    /// All notifications.
    Events(Listen),
    /// Begins or ends a fault.
    Fault(Fault),
    /// Repeats a step until it has that result.
    Until(Box<Until>),
    /// Repeats a step for some time.
    Spin(Box<Spin>),
    /// Waits for a condition on members.
    Wait(Wait),
    /// Waits.
    WaitTicks(Ticks),
    /// Sets a mark on the clock, and on the zxids.
    Mark(String),
    /// The time since a mark.
    Elapsed(Since),
    /// The number of zxids used since a mark.
    ZxidDelta(Since),
    /// A branch.
    If(Box<If>),
}

/// A connection to be opened.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Connect {
    /// The session.
    #[serde(rename = "s")]
    pub session: String,
    /// The name of the member.
    #[serde(rename = "connect", alias = "move")]
    pub member: String,
    /// The requested session timeout.
    #[serde(rename = "T")]
    pub timeout: Option<f64>,
    /// How long to wait for a reply.
    pub wait: Option<f64>,
    /// How long to retry.
    pub retry: Option<f64>,
    /// The label of the result.
    #[serde(rename = "as_")]
    pub label: Option<String>,
}

/// Something that a session receives.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listen {
    /// The session.
    #[serde(rename = "s")]
    pub session: String,
    /// How long to wait for it.
    #[serde(rename = "to")]
    pub within: Option<f64>,
    /// The label of the result.
    #[serde(rename = "as_")]
    pub label: Option<String>,
}

/// One of two connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The one before the last move.
    Old,
    /// The last one.
    New,
}

/// A request.
#[derive(Clone, Debug)]
pub struct Op {
    /// The session.
    pub session: String,
    /// The request, with the scenario's paths.
    pub request: Request,
    /// The zxid from which setWatches counts.
    pub relative_zxid: RelativeZxid,
    /// Only send: the reply is fetched later, if at all.
    pub only_send: bool,
    /// How long to wait for the reply.
    pub within: Option<f64>,
    /// The label of the result, by which the reply can be awaited.
    pub label: Option<String>,
}

/// The zxid from which setWatches counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelativeZxid {
    /// That of the session's last reply.
    Last,
    /// This one.
    Zxid(i64),
}

/// A reply to await.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Await {
    /// The request's label.
    #[serde(rename = "await_")]
    pub request: String,
    /// How long to wait.
    #[serde(rename = "to")]
    pub within: Option<f64>,
    /// The label of the result, if not the request's.
    #[serde(rename = "as_")]
    pub label: Option<String>,
}

/// A fault, or the end of one.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// On links between members.
    Link(LinkFault, Links),
    /// In members.
    MemberId(MemberFault, Vec<String>),
}

/// The kind of a link fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkFault {
    /// Packets are held.
    Hold,
    /// Held packets are delivered.
    Release,
    /// Packets are lost.
    Lose,
    /// Packets are not lost any more.
    Heal,
}

/// Links between members.
#[derive(Clone, Debug, PartialEq)]
pub enum Links {
    /// All links.
    All,
    /// From each of the first to each of the second.
    Between(Vec<String>, Vec<String>),
    /// The same in both directions.
    BothWays(Vec<String>, Vec<String>),
}

/// The kind of a member fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are what the scenarios call them")]
pub enum MemberFault {
    Kill,
    Start,
    Pause,
    Resume,
    DiskStop,
    DiskResume,
    ApplyStop,
    ApplyResume,
    CommitStop,
    CommitResume,
}

/// A step that is retried until it has an effect.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Until {
    /// The step.
    #[serde(rename = "until")]
    pub step: Step,
    /// The result that ends the repetition.
    pub equals: Expected,
    /// The time limit, counted from the mark.
    pub max: Option<f64>,
    /// The mark; if none, the beginning of this step.
    pub since: Option<String>,
    /// Steps between the repetitions.
    #[serde(default, deserialize_with = "steps")]
    pub also: Vec<Step>,
    /// The label of the time since the mark.
    #[serde(rename = "as_")]
    pub label: Option<String>,
}

/// A step that is repeated.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spin {
    /// The step.
    #[serde(rename = "spin")]
    pub step: Step,
    /// The duration.
    pub ticks: f64,
    /// Steps between the repetitions.
    #[serde(default, deserialize_with = "steps")]
    pub also: Vec<Step>,
    /// The label of all distinct results.
    #[serde(rename = "as_")]
    pub label: Option<String>,
}

/// A wait for members.
#[derive(Clone, Debug)]
pub struct Wait {
    /// The condition.
    pub what: WaitFor,
    /// The time limit.
    pub within: Option<f64>,
    /// The label that records whether the condition came true.
    pub label: Option<String>,
}

/// A condition on members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitFor {
    /// All running members have applied the same.
    CaughtUp,
    /// All members serve clients.
    All,
    /// That many members serve clients.
    Members(usize),
}

/// A duration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ticks {
    /// Exactly that long.
    Fixed(f64),
    /// A random duration between a least and a greatest one.
    Random(f64, f64),
}

/// A number counted from a mark.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Since {
    /// The mark; if none, the last one, or the beginning.
    #[serde(rename = "since")]
    pub mark: Option<String>,
    /// The label of the number.
    #[serde(rename = "as_")]
    pub label: Option<String>,
}

/// A branch.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct If {
    /// The label whose result is compared.
    #[serde(rename = "if_")]
    pub label: String,
    /// The value that it is compared with.
    pub equals: Expected,
    /// The steps if they are equal.
    #[serde(deserialize_with = "steps")]
    pub then: Vec<Step>,
    /// The steps otherwise.
    #[serde(default, rename = "else", alias = "else_", deserialize_with = "steps")]
    pub otherwise: Vec<Step>,
}

/// One step, or a list of them. Not an untagged enumeration, whose errors would not name the mistake in a step.
fn steps<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Step>, D::Error> {
    let written = match Value::deserialize(from)? {
        Value::Array(written) => written,
        Value::Null => Vec::new(),
        one => vec![one],
    };
    written.into_iter().map(|one| Step::deserialize(one).map_err(D::Error::custom)).collect()
}
