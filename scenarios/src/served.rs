//! Access to the control API of a served ensemble for fault scenarios: in the same process, or over HTTP.

use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;
use zk_fidelity::ensemble::cluster::{Link, MemberId, PipelineStage};
use zk_fidelity::ensemble::served::{ControlOfServed, LastingFault, MemberStatus, Status, Trouble};
use zk_serve::command::Command;
use zk_serve::{Control, parse_duration};

/// A connection to the control API.
pub trait ControlApi {
    /// Carries out a verb, and returns the answer.
    ///
    /// # Errors
    ///
    /// One sentence, if the verb is refused or there is no answer.
    fn ask(&self, verb: &str, fields: Value) -> Result<Value, String>;
}

impl ControlApi for Control {
    fn ask(&self, verb: &str, fields: Value) -> Result<Value, String> {
        Command::read(verb, fields).and_then(|command| self.perform(command)).map_err(|refused| refused.why)
    }
}

/// The verbs that the ensemble of a scenario needs, over such a connection.
pub struct Verbs<A>(pub A);

/// The constant properties of a served ensemble.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The length of a tick.
    pub tick: Duration,
    /// The addresses at which the servers listen, as the servers know them.
    pub addresses: Vec<SocketAddr>,
}

impl<A: ControlApi> Verbs<A> {
    /// Asks for the constant properties.
    ///
    /// # Errors
    ///
    /// If there is no answer, or an invalid one.
    pub fn shape(&self) -> Result<Shape, Trouble> {
        let said = self.asked_for_status()?;
        let address = |of: &Value| of["address"].as_str()?.parse().ok();
        let tick = said["tick"].as_str().and_then(|tick| parse_duration(tick).ok());
        let addresses = said["servers"].as_array().and_then(|all| all.iter().map(address).collect());
        tick.zip(addresses).map(|(tick, addresses)| Shape { tick, addresses }).ok_or_else(nonsense)
    }

    /// Restarts a server, and waits until it serves.
    ///
    /// # Errors
    ///
    /// If there is no answer, the request is refused, or the server does not serve within 20 s.
    pub fn restart(&self, MemberId(server): MemberId) -> Result<(), Trouble> {
        let said = self.0.ask("restart", json!({ "server": server })).map_err(Trouble)?;
        match said["settled"].as_bool() {
            Some(true) => Ok(()),
            _ => Err(Trouble("it does not serve again".to_owned())),
        }
    }

    fn asked_for_status(&self) -> Result<Value, Trouble> {
        self.0.ask("status", json!({})).map_err(Trouble)
    }

    fn perform(&self, verb: &str, fields: Value) -> Result<(), Trouble> {
        self.0.ask(verb, fields).map(drop).map_err(Trouble)
    }
}

impl<A: ControlApi> ControlOfServed for Verbs<A> {
    fn status(&self) -> Result<Status, Trouble> {
        status(&self.asked_for_status()?).ok_or_else(nonsense)
    }

    fn begin(&self, fault: LastingFault) -> Result<(), Trouble> {
        match fault {
            LastingFault::Hold(link) => self.perform("hold", ends(link)),
            LastingFault::Lose(link) => self.perform("lose-packets", ends(link)),
            LastingFault::Kill(MemberId(server)) => self.perform("crash", json!({ "server": server })),
            LastingFault::Pause(MemberId(server)) => self.perform("pause", json!({ "server": server })),
            LastingFault::Stall(member, stage) => self.perform("stall", stalled(member, stage)),
        }
    }

    fn end(&self, fault: LastingFault) -> Result<(), Trouble> {
        match fault {
            LastingFault::Hold(link) | LastingFault::Lose(link) => self.perform("release", ends(link)),
            LastingFault::Kill(MemberId(server)) => {
                self.perform("start", json!({ "server": server, "wait": false }))
            }
            LastingFault::Pause(MemberId(server)) => {
                self.perform("resume", json!({ "server": server, "wait": false }))
            }
            LastingFault::Stall(member, stage) => self.perform("release", stalled(member, stage)),
        }
    }

    fn end_session(&self, session: i64) -> Result<(), Trouble> {
        let id = format!("{session:#x}");
        match self.perform("expire", json!({ "client": id })) {
            // The session ended so long ago that the ensemble has forgotten it.
            Err(Trouble(why)) if why.contains("there is no client") => Ok(()),
            ended => ended,
        }
    }
}

fn nonsense() -> Trouble {
    Trouble("the control API reports no state of the servers".to_owned())
}

fn ends(Link { from, to }: Link) -> Value {
    json!({ "from": from.0, "to": to.0 })
}

fn stalled(MemberId(server): MemberId, stage: PipelineStage) -> Value {
    let what = match stage {
        PipelineStage::Disk => "disk",
        PipelineStage::Apply => "apply",
        PipelineStage::Commit => "commit",
    };
    json!({ "server": server, "what": what })
}

/// Reads the answer to `status`.
fn status(said: &Value) -> Option<Status> {
    let leader = match said.get("leader")? {
        Value::Null => None,
        number => Some(MemberId(usize::try_from(number.as_u64()?).ok()?)),
    };
    let member = |of: &Value| {
        let state = of["state"].as_str()?;
        let zxid = i64::from_str_radix(of["zxid"].as_str()?.strip_prefix("0x")?, 16).ok()?;
        let serves = ["leader", "follower", "standalone"].contains(&state);
        Some(MemberStatus { serves, applied: (state != "down").then_some(zxid) })
    };
    let members = said["servers"].as_array()?.iter().map(member).collect::<Option<_>>()?;
    Some(Status { leader, members })
}
