//! Checks of commands that do not depend on the state of the ensemble.

use super::{Command, OfServer, OneServer, OneWay, Op, RefusalCode, Refused, Released, ServerCut};
use sim_zk::fault::{Fault, Victim};

impl Command {
    /// Checks the command for an ensemble of that many servers, apart from its state: server numbers, paths, counts,
    /// and whether such a request can be refused with that code. [`Control::perform`](crate::Control::perform) checks
    /// this, too.
    ///
    /// # Errors
    ///
    /// If the command is invalid (400).
    pub fn check(&self, servers: u8) -> Result<(), Refused> {
        match self {
            Command::LoseReply(which) | Command::LoseRequest(which) => {
                waits(which.path.as_deref(), which.count)
            }
            Command::DelayReply { path, count, .. } | Command::LoseNotification { path, count, .. } => {
                waits(path.as_deref(), *count)
            }
            Command::Refuse { code, op, path, count, .. } => {
                waits(path.as_deref(), *count)?;
                op.map_or(Ok(()), |op| code.may_refuse(op))
            }
            Command::Crash(OfServer { server, .. })
            | Command::Pause(OfServer { server, .. })
            | Command::Start(OneServer { server, .. })
            | Command::Restart(OneServer { server, .. })
            | Command::Resume(OneServer { server, .. })
            | Command::Stall { server, .. } => one_of(servers, *server),
            Command::Cut(between) => match between.victim("cut", servers)? {
                Victim::Server(_) => several("cut", servers),
                _ => Ok(()),
            },
            Command::Hold(between) => between.link("hold", servers).map(drop),
            Command::LosePackets(between) => between.link("lose-packets", servers).map(drop),
            Command::Release(released) => released.victim(servers).map(drop),
            Command::Elect {} => several("elect", servers),
            Command::Tree { path } => path.as_deref().map_or(Ok(()), absolute),
            _ => Ok(()),
        }
    }
}

impl Released {
    /// The server or link whose fault ends.
    pub(crate) fn victim(self, servers: u8) -> Result<Victim, Refused> {
        let between = ServerCut { server: self.server, from: self.from, to: self.to, lasts: None };
        match (between.victim("release", servers)?, self.what) {
            (Victim::Link(..), Some(_)) => Err(Refused::new(400, "release of a stage needs `server`")),
            (victim, _) => Ok(victim),
        }
    }

    /// Whether releasing `place` ends this fault of `of`.
    pub(crate) fn ends(self, place: Victim, fault: Fault, of: Victim) -> bool {
        match (fault, place) {
            (Fault::DiskStall | Fault::ApplyStall | Fault::CommitStall, _) => {
                of == place && self.what.is_none_or(|what| what.fault() == fault)
            }
            _ if self.what.is_some() => false,
            (Fault::LinkHeld | Fault::PacketsLost | Fault::ServerPartition, _) => of == place,
            // A cut is symmetric: the order of its two servers does not matter.
            (Fault::LinkCut, Victim::Link(from, to)) => of == place || of == Victim::Link(to, from),
            _ => false,
        }
    }
}

impl ServerCut {
    /// The server or link, in an ensemble of that many servers.
    pub(crate) fn victim(&self, verb: &str, servers: u8) -> Result<Victim, Refused> {
        match (self.server, self.from, self.to) {
            (Some(server), None, None) => one_of(servers, server).map(|()| Victim::Server(server)),
            (None, Some(from), Some(to)) if from != to => {
                one_of(servers, from)?;
                one_of(servers, to)?;
                Ok(Victim::Link(from, to))
            }
            _ => {
                let why = format!("{verb} needs `server`, or two different servers as `from` and `to`");
                Err(Refused::new(400, why))
            }
        }
    }
}

impl OneWay {
    /// The link, in an ensemble of that many servers.
    pub(crate) fn link(&self, verb: &str, servers: u8) -> Result<Victim, Refused> {
        if self.from == self.to {
            let why = format!("{verb} needs two different servers as `from` and `to`");
            return Err(Refused::new(400, why));
        }
        one_of(servers, self.from)?;
        one_of(servers, self.to)?;
        Ok(Victim::Link(self.from, self.to))
    }
}

impl RefusalCode {
    /// Refuses a code that a server never gives for this request: the fault would wait for ever.
    fn may_refuse(self, op: Op) -> Result<(), Refused> {
        if self.fault().refusal().is_none_or(|code| op.kind().may_be_refused_with(code)) {
            return Ok(());
        }
        Err(Refused::new(400, format!("no server refuses {} with {}", op.name(), self.name())))
    }
}

fn one_of(servers: u8, server: u8) -> Result<(), Refused> {
    if server < servers {
        return Ok(());
    }
    let why = match servers {
        1 => format!("there is no server {server}: the only one has the number 0"),
        _ => format!("there is no server {server}: they are numbered from 0 to {}", servers - 1),
    };
    Err(Refused::new(400, why))
}

fn several(verb: &str, servers: u8) -> Result<(), Refused> {
    match servers {
        0 | 1 => Err(Refused::new(400, format!("{verb} needs an ensemble of more than one server"))),
        _ => Ok(()),
    }
}

/// Refuses conditions that no request can meet: the fault would wait for ever.
fn waits(path: Option<&str>, count: Option<u32>) -> Result<(), Refused> {
    if count == Some(0) {
        return Err(Refused::new(400, "a count is at least 1"));
    }
    path.map_or(Ok(()), absolute)
}

fn absolute(path: &str) -> Result<(), Refused> {
    if path.starts_with('/') {
        Ok(())
    } else {
        Err(Refused::new(400, format!("the path {path:?} does not begin with a slash")))
    }
}
