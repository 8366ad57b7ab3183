//! What the code of each process was told, kept in interleaving mode: code cannot be looked at, but it is a function of what
//! it was told. What it can look at whenever it likes, the time and how long its session is safe, it was told when it looked.

use super::{HandleId, World};
use crate::digest::Digest;
use crate::message::{Answer, Content, Found, OpAnswer, Refusal};
use crate::paths::{PathId, Paths};
use crate::session::{Answered, Failure, Told};
use zk_recipes::zk::Stat;

/// What was observations, in order. Zxids stand beside it, each once: what matters about them is which of them are the same and
/// which are larger, not how many transactions lie between. So do the times of its own clock that code was told: what matters
/// is how long ago, or how far ahead, they are. Times in a `Stat` are left out.
#[derive(Clone, Debug, Default)]
pub(super) struct Observations {
    pub digest: Digest,
    pub zxids: Vec<i64>,
    pub times: Vec<u64>,
}

/// Where it stands in a list that holds everything once.
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

    /// The answer to a request.
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
            Answer::Clients(_) | Answer::Nothing => self.digest.add_two(7, 0),
        }
    }
}

/// What a process was told, beside answers and notifications.
#[derive(Clone, Copy, Debug)]
pub(super) enum Observation {
    /// The status of one of its sessions has changed.
    Changed,
    /// An alarm went off, by the process's own number for it.
    Rang(u32),
    /// Its user does not want any more what he waits for.
    Cancelled,
    /// What it begins with, of all that others like it may begin with.
    Given(u64),
    /// It wanted to sleep, and its clock had already shown the time, or not.
    Slept(bool),
    /// A time of its own clock: it has looked at it, or asked until when a session is safe.
    Time(u64),
}

impl World {
    /// A process is told something.
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

    /// What a process begins with, of all that others like it may begin with.
    pub(crate) fn begins_with(&mut self, process: u8, word: u64) {
        self.record(process, Observation::Given(word));
    }

    /// A process looks at its clock.
    pub(crate) fn read_clock(&mut self, process: u8) -> u64 {
        let time = self.time_of(process);
        self.record(process, Observation::Time(time));
        time
    }

    /// A process wants to sleep until its clock shows `until`: whether it has shown that already.
    pub(crate) fn is_past(&mut self, process: u8, until: u64) -> bool {
        let is_past = until <= self.time_of(process);
        self.record(process, Observation::Slept(is_past));
        is_past
    }

    /// A process asks until when a session of its is safe.
    pub(crate) fn safe_until(&mut self, handle: HandleId) -> u64 {
        let session = self.session(handle);
        let until = session.safe_from() + session.sound_timeout();
        self.record(self.process_of(handle), Observation::Time(until));
        until
    }

    /// A process gets the answer to the request of a session that has waited longest.
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

    /// A watch of a session is told something.
    pub(super) fn record_notification(&mut self, handle: HandleId, told: Told) {
        if !self.config.is_interleaving() {
            return;
        }
        let (kind, path) = match told {
            Told::Event(kind, path) => (kind as u64, Some(path)),
            Told::Gap => (10, None),
            Told::Over(_) => (11, None),
        };
        let process = self.process_of(handle);
        self.add_observation(process, 6, self.rank_of(handle) << 8 ^ kind);
        if let Some(path) = path {
            self.processes[usize::from(process)].observations.path(path, &self.paths);
        }
    }

    /// Adds it, and what the process can see then without asking anybody.
    fn add_observation(&mut self, process: u8, kind: u8, which: u64) {
        let mut digest = self.processes[usize::from(process)].observations.digest;
        digest.add_two(kind, which);
        for (_, session) in self.sessions.iter().filter(|(of, _)| *of == process) {
            digest.add(session.status().changes.into());
        }
        self.processes[usize::from(process)].observations.digest = digest;
    }

    /// The how-manieth of its process's sessions it is.
    fn rank_of(&self, handle: HandleId) -> u64 {
        let process = self.process_of(handle);
        self.sessions[..usize::from(handle.0)].iter().filter(|(of, _)| *of == process).count() as u64
    }
}
