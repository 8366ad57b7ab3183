//! Checks the certificates of [monitors](crate::monitor) independently.
//!
//! An order of effects is checked against its history: each operation that returned takes effect once, each effect lies
//! within its operation, gaps do not go back, and a naive object accepts the order. A breach is checked against the
//! inequalities that prove it. The monitors and this module share only the types of operations and certificates.

mod wrong;

use crate::history::Share;
use crate::monitor::{
    Breach, Certificate, Fifo, Holds, Increasing, Locking, Monitor, MostUrgent, Number, Numbered, Operation,
    Operations, Queue, Register, Urgent, Variable, Wrong,
};
use std::collections::{BTreeMap, VecDeque};

/// A naive object, one operation at a time, and the proofs of its breaches.
pub trait Naive: Monitor {
    /// The state of the object.
    type State: Default;

    /// Whether the object may give this answer. An open operation may have any answer.
    fn accepts(&self, state: &mut Self::State, operation: &Operation<Self::Action>) -> bool;

    /// Whether a breach is proved.
    fn proves(&self, history: &Operations<Self::Action>, wrong: Wrong, chain: &[Number]) -> bool;
}

/// Whether a certificate proves a verdict about a history.
///
/// # Errors
///
/// If the certificate proves nothing; the text says why.
pub fn certificate<N: Naive>(
    object: &N,
    history: &Operations<N::Action>,
    certificate: &Certificate,
) -> Result<(), String> {
    if let Some(number) = numbers(certificate).into_iter().find(|number| number.0 as usize >= history.len()) {
        return Err(format!("there is no {number:?}"));
    }
    let effects = match certificate {
        Certificate::Nothing => return Err("nothing is proved".to_owned()),
        Certificate::Breach { breach: Breach { wrong, .. }, chain } => {
            let proved = object.proves(history, *wrong, chain);
            return if proved { Ok(()) } else { Err(format!("{wrong:?} with {chain:?} does not hold")) };
        }
        Certificate::Order(effects) => effects,
    };
    let (mut state, mut latest) = (N::State::default(), 0);
    let mut happened = vec![false; history.len()];
    for effect in effects {
        let operation = &history[effect.number];
        let within = operation.called <= effect.gap && effect.gap < operation.returned;
        let is_new = !std::mem::replace(&mut happened[effect.number.0 as usize], true);
        if !within || !is_new || effect.gap < latest || !object.accepts(&mut state, operation) {
            return Err(format!("{effect:?} cannot happen here"));
        }
        latest = effect.gap;
    }
    match history.iter().find(|(number, operation)| operation.is_done() && !happened[number.0 as usize]) {
        Some((number, _)) => Err(format!("{number:?} has returned and has no effect")),
        None => Ok(()),
    }
}

/// The operations that a certificate names.
fn numbers(certificate: &Certificate) -> Vec<Number> {
    let (wrong, chain) = match certificate {
        Certificate::Nothing => return Vec::new(),
        Certificate::Order(effects) => return effects.iter().map(|effect| effect.number).collect(),
        Certificate::Breach { breach, chain } => (breach.wrong, chain),
    };
    let mut named = chain.clone();
    match wrong {
        Wrong::TooMany { acquire: one }
        | Wrong::NotHeld { release: one }
        | Wrong::Invented { get: one }
        | Wrong::LessUrgent { take: one }
        | Wrong::NotEmpty { take: one } => named.push(one),
        Wrong::Together { first, second }
        | Wrong::Token { first, second }
        | Wrong::Twice { first, second }
        | Wrong::NotLarger { first, second }
        | Wrong::Passed { put: first, take: second } => named.extend([first, second]),
        Wrong::Between { one, other } => {
            named.extend(one.0.into_iter().chain(other.0).chain([one.1, other.1]));
        }
    }
    named
}

/// The holders: the depth, kind and token of each hold; and the largest tokens so far, of all and of exclusive holds.
#[derive(Default)]
pub struct Holders {
    held: BTreeMap<u32, (u32, Share)>,
    largest: [u64; 2],
}

fn exclude(one: Share, other: Share) -> bool {
    one == Share::Exclusive || other == Share::Exclusive
}

impl Naive for Holds {
    type State = Holders;

    fn accepts(&self, state: &mut Holders, operation: &Operation<Locking>) -> bool {
        let mine = state.held.get(&operation.process).copied();
        match (operation.action, mine) {
            (Locking::Release, None) => false,
            (Locking::Release, Some((1, _))) => state.held.remove(&operation.process).is_some(),
            (Locking::Release, Some((depth, share))) => {
                state.held.insert(operation.process, (depth - 1, share)).is_some()
            }
            (Locking::Acquire { .. }, Some((depth, share))) => {
                state.held.insert(operation.process, (depth + 1, share)).is_some()
            }
            (Locking::Acquire { share, token }, None) => {
                let fits = state.held.values().all(|(_, other)| !exclude(share, *other))
                    && (share == Share::Exclusive || state.held.len() < self.at_once as usize)
                    && (token == 0 || token > state.largest[usize::from(share == Share::Shared)]);
                state.held.insert(operation.process, (1, share));
                let of = if share == Share::Exclusive { 0..2 } else { 0..1 };
                state.largest[of].iter_mut().for_each(|largest| *largest = token.max(*largest));
                fits
            }
        }
    }

    fn proves(&self, history: &Operations<Locking>, wrong: Wrong, _: &[Number]) -> bool {
        wrong::of_holds(history, wrong, self.at_once)
    }
}

impl Naive for Fifo {
    type State = VecDeque<u32>;

    fn accepts(&self, state: &mut VecDeque<u32>, operation: &Operation<Queue>) -> bool {
        match operation.action {
            Queue::Put(item) => {
                state.push_back(item);
                true
            }
            Queue::Take(_) if operation.is_pending() => state.pop_front().is_some(),
            Queue::Take(item) => state.pop_front() == item,
        }
    }

    fn proves(&self, history: &Operations<Queue>, wrong: Wrong, chain: &[Number]) -> bool {
        wrong::of_fifo(history, wrong, chain)
    }
}

impl Naive for MostUrgent {
    type State = Vec<(u32, u32)>;

    fn accepts(&self, state: &mut Vec<(u32, u32)>, operation: &Operation<Urgent>) -> bool {
        match operation.action {
            Urgent::Put { item, urgency } => {
                state.push((urgency, item));
                state.sort_unstable();
                true
            }
            Urgent::Take(None) => state.is_empty() && operation.is_done(),
            Urgent::Take(Some(taken)) => {
                let Some(at) = state.iter().position(|(_, item)| *item == taken) else { return false };
                let (urgency, _) = state.remove(at);
                state.first().is_none_or(|(first, _)| urgency <= *first) && operation.is_done()
            }
        }
    }

    fn proves(&self, history: &Operations<Urgent>, wrong: Wrong, chain: &[Number]) -> bool {
        wrong::of_most_urgent(history, wrong, chain)
    }
}

impl Naive for Variable {
    type State = Option<u32>;

    fn accepts(&self, state: &mut Option<u32>, operation: &Operation<Register>) -> bool {
        match operation.action {
            Register::Write(value) => {
                *state = Some(value);
                true
            }
            Register::Read(value) => *state == value || operation.is_pending(),
        }
    }

    fn proves(&self, history: &Operations<Register>, wrong: Wrong, _: &[Number]) -> bool {
        wrong::of_variable(history, wrong)
    }
}

impl Naive for Increasing {
    type State = Option<u64>;

    fn accepts(&self, state: &mut Option<u64>, operation: &Operation<Numbered>) -> bool {
        if operation.is_pending() {
            return true;
        }
        let is_larger = state.is_none_or(|largest| operation.action.0 > largest);
        *state = Some(operation.action.0);
        is_larger
    }

    fn proves(&self, history: &Operations<Numbered>, wrong: Wrong, _: &[Number]) -> bool {
        wrong::of_increasing(history, wrong)
    }
}
