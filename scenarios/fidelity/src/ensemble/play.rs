//! Plays one scenario, and records the result of each labelled step.
//!
//! 1. Settle: wait until all members serve, create the node of the scenario's paths, wait until every member has it.
//! 2. Cast: the leader is `L`, the others are `F1`, `F2`, ... from here on.
//! 3. Step: one after the other. Only the steps of a session keep it alive; there are no pings.
//!
//! A step that waits for its result takes as long as the ensemble does. Repeated steps are repeated every [`POLL`]
//! ticks, as in the recorded runs.

use super::client_link::ClientLink;
use super::cluster::{Cluster, MemberId, Micros};
use super::expected::{Results, StepResult};
use super::scenario::{Meta, Scenario};
use super::step::{Await, If, Op, RelativeZxid, Side, Since, Spin, Step, Ticks, Until, Wait, WaitFor};
use crate::exchange::form::Request;
use crate::exchange::reply::Garbled;
use rand::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;

/// The time limit for the result of a step, in ticks, unless the step has another.
pub(super) const PATIENCE: f64 = 20.0;

/// The interval of repeated steps, in ticks.
pub const POLL: f64 = 0.02;

/// The time limit for an ensemble to serve before the scenario begins, in ticks.
const SETTLING: f64 = 200.0;

/// How long to listen for packets in flight, in ticks.
pub(super) const LISTEN: f64 = 0.2;

/// Why a scenario could not be played to its end, as opposed to a forbidden outcome.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stuck {
    /// The ensemble does not get ready.
    #[error("the ensemble did not become ready: {0}")]
    NotReady(String),
    /// The condition of a wait does not come true.
    #[error("step {step} timed out after {ticks} ticks: {what}")]
    InVain {
        /// The step, from 1.
        step: usize,
        /// The condition.
        what: &'static str,
        /// The time limit.
        ticks: u64,
    },
    /// No member has that role.
    #[error("step {step} needs {role}, and no member has that role now")]
    Nobody {
        /// The step, from 1.
        step: usize,
        /// The role.
        role: String,
    },
    /// A server sent an unreadable frame.
    #[error(transparent)]
    Garbled(#[from] Garbled),
}

/// Plays a scenario on an unused ensemble. The seed decides the random choices of the scenario.
///
/// # Errors
///
/// It could not be played to its end.
pub fn play<C: Cluster>(cluster: C, scenario: &Scenario, meta: &Meta, seed: u64) -> Result<Results, Stuck> {
    let mut player = Player::new(cluster, meta, seed);
    player.settle()?;
    for (number, step) in (1..).zip(&scenario.steps) {
        player.number = number;
        player.step(step)?;
    }
    Ok(player.results)
}

/// A session of a scenario.
#[derive(Default)]
pub(super) struct ScenarioSession {
    pub(super) id: i64,
    pub(super) password: Vec<u8>,
    /// The timeout that was asked for last, in ticks.
    pub(super) timeout: f64,
    /// Its connection.
    pub(super) current: Option<usize>,
    /// The previous connection, before the move.
    pub(super) old: Option<usize>,
    /// A connection whose hello has no reply yet.
    pub(super) opening: Option<usize>,
    pub(super) uses_old: bool,
    last_xid: i32,
}

impl ScenarioSession {
    /// The connection that it uses.
    pub(super) fn line(&self) -> Option<usize> {
        if self.uses_old { self.old } else { self.current }
    }
}

/// A request that was sent, and its connection; none if there was no connection.
#[derive(Clone, Copy)]
struct Sent(Option<(usize, usize)>);

/// A mark on the clock and on the zxids.
struct Mark {
    at: Micros,
    zxid: i64,
}

/// The player.
pub(super) struct Player<'a, C: Cluster> {
    pub(super) cluster: C,
    pub(super) meta: &'a Meta,
    rng: Xoshiro256PlusPlus,
    /// The number of the current step, from 1.
    pub(super) number: usize,
    /// The members: `L`, then `F1`, `F2`, ...
    pub(super) cast: Vec<MemberId>,
    pub(super) lines: Vec<ClientLink<C::Connection>>,
    pub(super) sessions: BTreeMap<String, ScenarioSession>,
    sent: BTreeMap<String, Sent>,
    marks: BTreeMap<String, Mark>,
    last_mark: Mark,
    results: Results,
}

impl<'a, C: Cluster> Player<'a, C> {
    fn new(cluster: C, meta: &'a Meta, seed: u64) -> Self {
        Player {
            cluster,
            meta,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            number: 0,
            cast: Vec::new(),
            lines: Vec::new(),
            sessions: BTreeMap::new(),
            sent: BTreeMap::new(),
            marks: BTreeMap::new(),
            last_mark: Mark { at: 0, zxid: 0 },
            results: Results::new(),
        }
    }

    /// Waits until all members serve, and creates the scenario's node through a temporary session.
    fn settle(&mut self) -> Result<(), Stuck> {
        let end = self.in_ticks(SETTLING);
        let served = self.wait_for(end, |cluster, members| {
            cluster.leader().filter(|_| cluster.serving().len() >= members)
        });
        let leader = served.ok_or_else(|| Stuck::NotReady("not all members serve".to_owned()))?;
        let others = (0..self.cluster.members()).map(MemberId).filter(|member| *member != leader);
        self.cast = std::iter::once(leader).chain(others).collect();
        let label = "the scenario's own";
        self.session(label).timeout = PATIENCE;
        let opened = self.open(label, "L", end)?;
        if opened != "ok" {
            return Err(Stuck::NotReady(format!("a connect to the leader: {opened}")));
        }
        for op in ["create", "closeSession"] {
            let request = Request { op: op.to_owned(), path: Some("/".to_owned()), ..Request::default() };
            let sent = self.ask(label, &request, RelativeZxid::Last)?;
            let told = self.answer(sent, PATIENCE)?;
            if told != "OK" {
                return Err(Stuck::NotReady(format!("the {op} of its own session: {told}")));
            }
        }
        let even = self.wait_for(end, |cluster, _| is_caught_up(cluster).then_some(()));
        even.ok_or_else(|| Stuck::NotReady("the members differ in what they applied".to_owned()))?;
        self.last_mark = self.here();
        Ok(())
    }

    /// Plays one step and returns its result.
    fn step(&mut self, step: &Step) -> Result<Option<StepResult>, Stuck> {
        let (label, told) = match step {
            Step::Connect(connect) => (&connect.label, Some(self.connect(connect, false)?)),
            Step::Move(connect) => (&connect.label, Some(self.connect(connect, true)?)),
            Step::FinishConnect(listen) => (&listen.label, Some(self.finish_connect(listen)?)),
            Step::OldFrames(listen) => (&listen.label, Some(self.old_frames(listen)?)),
            Step::Event(listen) => (&listen.label, Some(self.event(listen)?)),
            Step::Events(listen) => (&listen.label, Some(self.events(listen)?)),
            Step::Op(op) => (&op.label, self.op(op)?),
            Step::Await(it) => return self.fetch(it),
            Step::Until(until) => (&until.label, Some(self.until(until)?)),
            Step::Spin(spin) => (&spin.label, Some(self.spin(spin)?)),
            Step::Wait(wait) => (&wait.label, Some(self.wait(wait)?)),
            Step::Elapsed(since) => (&since.label, Some(self.elapsed(since))),
            Step::ZxidDelta(since) => (&since.label, Some(self.zxid_delta(since))),
            Step::If(choice) => return self.choose(choice).map(|()| None),
            Step::Drop(session) => return self.drop_connections(session).map(|()| None),
            Step::Use(session, side) => {
                self.session(session).uses_old = *side == Side::Old;
                return Ok(None);
            }
            Step::Fault(fault) => return self.fault(fault).map(|()| None),
            Step::WaitTicks(ticks) => {
                self.pass(*ticks);
                return Ok(None);
            }
            Step::Mark(mark) => {
                self.marks.insert(mark.clone(), self.here());
                self.last_mark = self.here();
                return Ok(None);
            }
        };
        if let (Some(label), Some(told)) = (label, &told) {
            self.results.insert(label.clone(), told.clone());
        }
        Ok(told)
    }

    pub(super) fn session(&mut self, label: &str) -> &mut ScenarioSession {
        self.sessions.entry(label.to_owned()).or_default()
    }

    /// The time so many ticks from now.
    pub(super) fn in_ticks(&self, ticks: f64) -> Micros {
        self.cluster.now() + self.meta.micros(ticks)
    }

    /// Advances the ensemble until the condition on it holds.
    fn wait_for<T>(&mut self, end: Micros, said: impl Fn(&C, usize) -> Option<T>) -> Option<T> {
        loop {
            let told = said(&self.cluster, self.meta.members);
            if told.is_some() || self.cluster.now() >= end {
                return told;
            }
            self.cluster.advance(end);
        }
    }

    /// Advances the ensemble until the condition on a connection holds.
    pub(super) fn listen<T>(
        &mut self,
        line: usize,
        end: Micros,
        mut said: impl FnMut(&mut ClientLink<C::Connection>) -> Option<T>,
    ) -> Result<Option<T>, Garbled> {
        loop {
            self.lines[line].take_in(&mut self.cluster)?;
            let told = said(&mut self.lines[line]);
            if told.is_some() || self.cluster.now() >= end {
                return Ok(told);
            }
            self.cluster.advance(end);
        }
    }

    pub(super) fn wait_until(&mut self, end: Micros) {
        while self.cluster.now() < end {
            self.cluster.advance(end);
        }
    }

    fn pass(&mut self, ticks: Ticks) {
        let by = match ticks {
            Ticks::Fixed(ticks) => self.meta.micros(ticks),
            Ticks::Random(low, high) => {
                let (low, high) = (self.meta.micros(low), self.meta.micros(high));
                low + self.rng.next_u64() % (high - low + 1)
            }
        };
        self.wait_until(self.cluster.now() + by);
    }

    fn op(&mut self, op: &Op) -> Result<Option<StepResult>, Stuck> {
        let sent = self.ask(&op.session, &op.request, op.relative_zxid)?;
        if op.only_send {
            self.sent.extend(op.label.clone().map(|label| (label, sent)));
            return Ok(None);
        }
        let told = self.answer(sent, op.within.unwrap_or(PATIENCE))?;
        Ok(Some(StepResult::Text(told)))
    }

    fn ask(&mut self, label: &str, request: &Request, relative: RelativeZxid) -> Result<Sent, Garbled> {
        let seen = match relative {
            RelativeZxid::Last => self.seen(label)?,
            RelativeZxid::Zxid(zxid) => zxid,
        };
        let session = self.session(label);
        session.last_xid += 1;
        let (line, own_xid) = (session.line(), session.last_xid);
        let ask = |line: usize| (line, self.lines[line].ask(&mut self.cluster, request, own_xid, seen));
        Ok(Sent(line.map(ask)))
    }

    fn answer(&mut self, Sent(sent): Sent, within: f64) -> Result<String, Garbled> {
        let Some((line, place)) = sent else { return Ok("CLOSED".to_owned()) };
        let told = self.listen(line, self.in_ticks(within), |line| line.told(place))?;
        Ok(told.unwrap_or_else(|| "TIMEOUT".to_owned()))
    }

    /// Fetches the reply to a request that was only sent; no result if the request was not made.
    fn fetch(&mut self, it: &Await) -> Result<Option<StepResult>, Stuck> {
        let Some(sent) = self.sent.get(&it.request).copied() else { return Ok(None) };
        let told = StepResult::Text(self.answer(sent, it.within.unwrap_or(PATIENCE))?);
        self.results.insert(it.label.as_ref().unwrap_or(&it.request).clone(), told.clone());
        Ok(Some(told))
    }

    fn until(&mut self, until: &Until) -> Result<StepResult, Stuck> {
        let since = match until.since.as_ref().and_then(|mark| self.marks.get(mark)) {
            Some(mark) => mark.at,
            None => self.cluster.now(),
        };
        let end = since + self.meta.micros(until.max.unwrap_or(PATIENCE));
        loop {
            let told = self.step(&until.step)?;
            if until.equals.matches(told.as_ref()) {
                return Ok(StepResult::Number(self.meta.ticks(self.cluster.now() - since)));
            }
            if self.cluster.now() >= end {
                return Ok(StepResult::text("TIMEOUT"));
            }
            until.also.iter().try_for_each(|step| self.step(step).map(drop))?;
            self.wait_until(self.in_ticks(POLL));
        }
    }

    /// Repeats a step, and returns every distinct result, in the order of first appearance.
    fn spin(&mut self, spin: &Spin) -> Result<StepResult, Stuck> {
        let end = self.in_ticks(spin.ticks);
        let mut seen: Vec<String> = Vec::new();
        while self.cluster.now() < end {
            let told = self.step(&spin.step)?;
            let told = told.map(|told| told.to_string()).filter(|told| !seen.contains(told));
            seen.extend(told);
            spin.also.iter().try_for_each(|step| self.step(step).map(drop))?;
            self.wait_until(self.in_ticks(POLL));
        }
        Ok(StepResult::Text(seen.join(",")))
    }

    /// Waits for members. A timeout is a result only if the step has a label.
    fn wait(&mut self, wait: &Wait) -> Result<StepResult, Stuck> {
        let within = wait.within.unwrap_or(2.0 * PATIENCE);
        let end = self.in_ticks(within);
        let serve = |cluster: &C, wanted| cluster.serving().len() >= wanted && cluster.leader().is_some();
        let (came, what) = match wait.what {
            WaitFor::CaughtUp => (
                self.wait_for(end, |cluster, _| is_caught_up(cluster).then_some(())),
                "the members differ in what they applied",
            ),
            WaitFor::All => (
                self.wait_for(end, |cluster, members| serve(cluster, members).then_some(())),
                "not all members serve",
            ),
            WaitFor::Members(wanted) => (
                self.wait_for(end, |cluster, _| serve(cluster, wanted).then_some(())),
                "too few members serve",
            ),
        };
        match came {
            Some(()) => Ok(StepResult::text("OK")),
            None if wait.label.is_some() => Ok(StepResult::text("TIMEOUT")),
            None => Err(Stuck::InVain { step: self.number, what, ticks: within as u64 }),
        }
    }

    fn choose(&mut self, choice: &If) -> Result<(), Stuck> {
        let steps = if choice.equals.matches(self.results.get(&choice.label)) {
            &choice.then
        } else {
            &choice.otherwise
        };
        steps.iter().try_for_each(|step| self.step(step).map(drop))
    }

    fn here(&self) -> Mark {
        // The member that is furthest ahead: even the leader may lag behind a follower.
        let members = (0..self.cluster.members()).map(MemberId);
        let zxid = members.filter_map(|member| self.cluster.last_applied(member)).max().unwrap_or(0);
        Mark { at: self.cluster.now(), zxid }
    }

    fn since(&self, since: &Since) -> &Mark {
        since.mark.as_ref().and_then(|mark| self.marks.get(mark)).unwrap_or(&self.last_mark)
    }

    fn elapsed(&self, since: &Since) -> StepResult {
        StepResult::Number(self.meta.ticks(self.cluster.now() - self.since(since).at))
    }

    fn zxid_delta(&self, since: &Since) -> StepResult {
        StepResult::Number((self.here().zxid - self.since(since).zxid) as f64)
    }
}

/// Whether all running members have applied the same.
fn is_caught_up<C: Cluster>(cluster: &C) -> bool {
    let mut applied = (0..cluster.members()).filter_map(|member| cluster.last_applied(MemberId(member)));
    let first = applied.next();
    first.is_some() && applied.all(|zxid| Some(zxid) == first)
}
