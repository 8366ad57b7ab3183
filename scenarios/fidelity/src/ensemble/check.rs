//! Checks that a scenario can be played: every name is defined, and every request can be encoded.

use super::cluster;
use super::scenario::{Meta, Outcome, Scenario};
use super::step::{Connect, Fault, Links, Op, Step, Ticks};
use crate::exchange::wire;
use std::collections::BTreeSet;

/// The names that the steps so far have defined.
#[derive(Default)]
struct Known<'a> {
    members: usize,
    sessions: BTreeSet<&'a str>,
    sent: BTreeSet<&'a str>,
    marks: BTreeSet<&'a str>,
    labels: BTreeSet<&'a str>,
}

/// Checks a whole scenario.
///
/// # Errors
///
/// The first thing in it that cannot be played.
pub fn scenario(scenario: &Scenario, meta: &Meta) -> Result<(), String> {
    let mut known = Known { members: meta.members, ..Known::default() };
    for (number, step) in (1..).zip(&scenario.steps) {
        known.step(step).map_err(|why| format!("step {number}: {why}"))?;
    }
    if scenario.allowed.is_empty() {
        return Err("no outcome is allowed".to_owned());
    }
    let both = [("allowed", &scenario.allowed), ("never", &scenario.never)];
    both.into_iter().try_for_each(|(what, outcomes)| {
        outcomes.iter().try_for_each(|outcome| known.outcome(outcome).map_err(|why| format!("{what}: {why}")))
    })
}

impl<'a> Known<'a> {
    fn outcome(&self, outcome: &Outcome) -> Result<(), String> {
        if outcome.is_empty() {
            return Err("an outcome is empty".to_owned());
        }
        match outcome.keys().find(|label| !self.labels.contains(label.as_str())) {
            Some(label) => Err(format!("no step has the label {label}")),
            None => Ok(()),
        }
    }

    fn step(&mut self, step: &'a Step) -> Result<(), String> {
        match step {
            Step::Connect(connect) => {
                let new = self.sessions.insert(&connect.session);
                if new && connect.timeout.is_none() {
                    return Err(format!("`T` is missing: session {} is a new one", connect.session));
                }
                self.connect(connect)?;
            }
            Step::Move(connect) => {
                self.session(&connect.session)?;
                self.connect(connect)?;
            }
            Step::Drop(session) | Step::Use(session, _) => self.session(session)?,
            Step::FinishConnect(listen)
            | Step::OldFrames(listen)
            | Step::Event(listen)
            | Step::Events(listen) => {
                self.session(&listen.session)?;
                time(listen.within)?;
                self.label(listen.label.as_ref());
            }
            Step::Op(op) => self.op(op)?,
            Step::Await(it) => {
                if !self.sent.contains(it.request.as_str()) {
                    return Err(format!("no request {} has been sent", it.request));
                }
                time(it.within)?;
                self.label(Some(it.label.as_ref().unwrap_or(&it.request)));
            }
            Step::Fault(fault) => self.fault(fault)?,
            Step::Mark(mark) => _ = self.marks.insert(mark),
            Step::Elapsed(since) | Step::ZxidDelta(since) => {
                self.mark(since.mark.as_ref())?;
                self.label(since.label.as_ref());
            }
            Step::Wait(wait) => {
                time(wait.within)?;
                self.label(wait.label.as_ref());
            }
            Step::WaitTicks(ticks) => self.ticks(*ticks)?,
            Step::Until(_) | Step::Spin(_) | Step::If(_) => self.compound(step)?,
        }
        Ok(())
    }

    /// A step that contains other steps.
    fn compound(&mut self, step: &'a Step) -> Result<(), String> {
        match step {
            Step::Until(until) => {
                self.repeated(&until.step)?;
                until.also.iter().try_for_each(|step| self.step(step))?;
                self.mark(until.since.as_ref())?;
                time(until.max)?;
                self.label(until.label.as_ref());
            }
            Step::Spin(spin) => {
                self.repeated(&spin.step)?;
                spin.also.iter().try_for_each(|step| self.step(step))?;
                time(Some(spin.ticks))?;
                self.label(spin.label.as_ref());
            }
            Step::If(choice) => {
                if !self.labels.contains(choice.label.as_str()) {
                    return Err(format!("no step before has the label {}", choice.label));
                }
                choice.then.iter().chain(&choice.otherwise).try_for_each(|step| self.step(step))?;
            }
            _ => {}
        }
        Ok(())
    }

    /// A repeated step must have a result.
    fn repeated(&mut self, step: &'a Step) -> Result<(), String> {
        match step {
            Step::Op(op) if !op.only_send => self.op(op),
            Step::Connect(_) | Step::Event(_) | Step::Events(_) | Step::Await(_) | Step::ZxidDelta(_) => {
                self.step(step)
            }
            _ => Err("the repeated step has no result".to_owned()),
        }
    }

    fn connect(&mut self, connect: &'a Connect) -> Result<(), String> {
        self.member(&connect.member)?;
        [connect.timeout, connect.wait, connect.retry].into_iter().try_for_each(time)?;
        self.label(connect.label.as_ref());
        Ok(())
    }

    fn op(&mut self, op: &'a Op) -> Result<(), String> {
        self.session(&op.session)?;
        time(op.within)?;
        wire::request(&op.request, 0, 0)?;
        if op.only_send {
            self.sent.extend(op.label.as_deref());
        } else {
            self.label(op.label.as_ref());
        }
        Ok(())
    }

    fn fault(&self, fault: &Fault) -> Result<(), String> {
        let (ones, others): (&[String], &[String]) = match fault {
            Fault::Link(_, Links::All) => (&[], &[]),
            Fault::Link(_, Links::Between(from, to) | Links::BothWays(from, to)) => (from, to),
            Fault::MemberId(_, members) => (members, &[]),
        };
        ones.iter().chain(others).try_for_each(|member| self.member(member))
    }

    fn ticks(&self, ticks: Ticks) -> Result<(), String> {
        match ticks {
            Ticks::Fixed(ticks) => time(Some(ticks)),
            Ticks::Random(low, high) => {
                time(Some(low))?;
                time(Some(high))?;
                if low > high { Err(format!("the range from {low} to {high} is empty")) } else { Ok(()) }
            }
        }
    }

    fn member(&self, name: &str) -> Result<(), String> {
        if cluster::is_role(name, self.members) {
            Ok(())
        } else {
            Err(format!("there is no member {name:?} in an ensemble of {}", self.members))
        }
    }

    fn session(&self, session: &str) -> Result<(), String> {
        if self.sessions.contains(session) {
            Ok(())
        } else {
            Err(format!("session {session} was never opened"))
        }
    }

    fn mark(&self, mark: Option<&String>) -> Result<(), String> {
        match mark.filter(|mark| !self.marks.contains(mark.as_str())) {
            Some(mark) => Err(format!("no mark {mark} has been set")),
            None => Ok(()),
        }
    }

    fn label(&mut self, label: Option<&'a String>) {
        self.labels.extend(label.map(String::as_str));
    }
}

/// More than any scenario waits.
const LONGEST: f64 = 1e6;

fn time(ticks: Option<f64>) -> Result<(), String> {
    match ticks {
        Some(ticks) if !(0.0..=LONGEST).contains(&ticks) => Err(format!("{ticks} ticks are no time")),
        _ => Ok(()),
    }
}
