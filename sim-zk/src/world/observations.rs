//! The observations of client code, kept in interleaving mode. Client code is opaque, but it is a function of its
//! observations. Values that it can read at any time, the clock and `safe_until`, count as observed when it reads
//! them.

use super::{HandleId, World};
use crate::digest::Digest;
use crate::message::{Answer, Content, Found, OpAnswer, Refusal};
use crate::paths::{PathId, Paths};
use crate::session::{Answered, Failure, WatchItem};
use zk_recipes::zk::Stat;

/// The observations of a process, in order.
///
/// Zxids are kept beside the digest, each once, because only their equality and order matter. So are times of the
/// process's clock, because only their distance from now matters. Times in a `Stat` are left out.
#[derive(Clone, Debug, Default)]
pub(super) struct Observations {
    pub digest: Digest,
    pub zxids: Vec<i64>,
    pub times: Vec<u64>,
}

/// Returns the position of an item in a list without duplicates, after adding it if necessary.
fn place<T: PartialEq>(list: &mut Vec<T>, item: T) -> u64 {
    let known = list.iter().position(|known| *known == item);
    let place = known.unwrap_or_else(|| {
        list.push(item);
        list.len() - 1
    });
    place as u64
}

impl Observations {
    fn zxid(&mut self, zxid: i64) {
        self.digest.add(place(&mut self.zxids, zxid));
    }

    fn stat(&mut self, stat: &Stat) {
        [stat.czxid, stat.mzxid, stat.pzxid].into_iter().for_each(|zxid| self.zxid(zxid));
        self.digest.add((stat.version as u64) << 32 ^ stat.cversion as u64);
        self.digest.add(stat.ephemeral_owner.0 as u64);
    }

    fn path(&mut self, path: PathId, paths: &Paths) {
        self.digest.add_bytes(paths.text(path).as_bytes());
    }

    fn list(&mut self, list: &[PathId], paths: &Paths) {
        self.digest.add(list.len() as u64);
        list.iter().for_each(|path| self.path(*path, paths));
    }

    fn data(&mut self, data: &Content, stat: &Stat) {
        self.digest.add_bytes(data.as_deref().unwrap_or_default());
        self.stat(stat);
    }

    /// Adds the reply to a request.
    pub(super) fn answer(&mut self, result: &Result<Answer, Refusal>, paths: &Paths) {
        let answer = match result {
            Ok(answer) => answer,
            Err(Refusal::All(code)) => return self.digest.add_two(1, code.number() as u64),
            Err(Refusal::Multi { index, code, .. }) => {
                return self.digest.add_two(2, u64::from(*index) << 32 ^ code.number() as u64);
            }
        };
        match answer {
            Answer::Path(path) => self.path(*path, paths),
            Answer::Created { path, stat } => {
                self.path(*path, paths);
                self.stat(stat);
            }
            Answer::Stat(stat) | Answer::Acl(_, stat) => self.stat(stat),
            Answer::Data(data, stat) => self.data(data, stat),
            Answer::Children(list, stat) => {
                self.list(list, paths);
                stat.iter().for_each(|stat| self.stat(stat));
            }
            Answer::Number(number) => self.digest.add_two(3, *number as u64),
            Answer::Ephemerals(list) => self.list(list, paths),
            Answer::Many(all) => all.iter().for_each(|found| match found {
                Ok(Found::Data(data, stat)) => self.data(data, stat),
                Ok(Found::Children(list)) => self.list(list, paths),
                Err(code) => self.digest.add_two(4, code.number() as u64),
            }),
            Answer::Multi(all) => all.iter().for_each(|one| match one {
                OpAnswer::Checked => self.digest.add_two(5, 0),
                OpAnswer::Created(path) => self.path(*path, paths),
                OpAnswer::CreatedWith(_, path, stat) => {
                    self.path(*path, paths);
                    self.stat(stat);
                }
                OpAnswer::Deleted => self.digest.add_two(6, 0),
                OpAnswer::Set(stat) => self.stat(stat),
            }),
            Answer::Clients(_) | Answer::NoToken | Answer::Nothing => self.digest.add_two(7, 0),
        }
    }
}

/// An observation other than a reply or a notification.
#[derive(Clone, Copy, Debug)]
pub(super) enum Observation {
    /// A status change of one of its sessions.
    Changed,
    /// An alarm that went off, by its number within the process.
    Rang(u32),
    /// A cancellation of what the code awaits.
    Cancelled,
    /// The input of the process, if it differs between runs.
    Given(u64),
    /// Whether the clock had already passed the end of a sleep.
    Slept(bool),
    /// A time of its clock: read, or returned by `safe_until`.
    Time(u64),
}

impl World {
    /// Records an observation of a process.
    pub(super) fn record(&mut self, process: u8, seen: Observation) {
        if self.config.is_interleaving() {
            let (kind, which) = match seen {
                Observation::Changed => (1, 0),
                Observation::Rang(number) => (2, u64::from(number)),
                Observation::Cancelled => (3, 0),
                Observation::Given(word) => (4, word),
                Observation::Slept(already) => (7, already.into()),
                Observation::Time(time) => {
                    (8, place(&mut self.processes[usize::from(process)].observations.times, time))
                }
            };
            self.add_observation(process, kind, which);
        }
    }

    /// Records the input of a process.
    pub(crate) fn begins_with(&mut self, process: u8, word: u64) {
        self.record(process, Observation::Given(word));
    }

    /// Reads the clock of a process.
    pub(crate) fn read_clock(&mut self, process: u8) -> u64 {
        let time = self.time_of(process);
        self.record(process, Observation::Time(time));
        time
    }

    /// Returns whether the clock of a process has passed `until`, as the start of a sleep observes it.
    pub(crate) fn observes_past(&mut self, process: u8, until: u64) -> bool {
        let is_past = until <= self.time_of(process);
        self.record(process, Observation::Slept(is_past));
        is_past
    }

    /// Returns the `safe_until` of a session, as its process observes it.
    pub(crate) fn safe_until(&mut self, handle: HandleId) -> u64 {
        let session = self.session(handle);
        let until = session.safe_from() + session.sound_timeout();
        self.record(self.process_of(handle), Observation::Time(until));
        until
    }

    /// Records the reply to the oldest pending request of a session.
    pub(super) fn record_answer(&mut self, handle: HandleId, answered: &Answered) {
        if !self.config.is_interleaving() {
            return;
        }
        let (process, rank) = (self.process_of(handle), self.rank_of(handle));
        let what = match &answered.result {
            Ok(_) => 1,
            Err(Failure::Refused(_)) => 2,
            Err(Failure::ConnectionLoss) => 3,
            Err(Failure::Over(_)) => 4,
        };
        self.add_observation(process, 5, rank << 8 ^ what);
        let observations = &mut self.processes[usize::from(process)].observations;
        match &answered.result {
            Ok(answer) => observations.answer(&Ok(answer.clone()), &self.paths),
            Err(Failure::Refused(refusal)) => observations.answer(&Err(*refusal), &self.paths),
            Err(_) => {}
        }
    }

    /// Records a notification for a watch of a session.
    pub(super) fn record_notification(&mut self, handle: HandleId, told: WatchItem) {
        if !self.config.is_interleaving() {
            return;
        }
        let (kind, path) = match told {
            WatchItem::Event(kind, path) => (kind as u64, Some(path)),
            WatchItem::Gap => (10, None),
            WatchItem::Over(_) => (11, None),
        };
        let process = self.process_of(handle);
        self.add_observation(process, 6, self.rank_of(handle) << 8 ^ kind);
        if let Some(path) = path {
            self.processes[usize::from(process)].observations.path(path, &self.paths);
        }
    }

    /// Adds an observation, and the status of the sessions, which the process can read without a request.
    fn add_observation(&mut self, process: u8, kind: u8, which: u64) {
        let mut digest = self.processes[usize::from(process)].observations.digest;
        digest.add_two(kind, which);
        for (_, session) in self.sessions.iter().filter(|(of, _)| *of == process) {
            digest.add(session.status().changes.into());
        }
        self.processes[usize::from(process)].observations.digest = digest;
    }

    /// Returns the index of a session among those of its process.
    fn rank_of(&self, handle: HandleId) -> u64 {
        let process = self.process_of(handle);
        self.sessions[..usize::from(handle.0)].iter().filter(|(of, _)| *of == process).count() as u64
    }
}
