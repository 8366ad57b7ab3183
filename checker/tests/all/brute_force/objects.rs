//! Naive objects: the possible calls, the possible answers, and their effects.

use std::fmt::Debug;
use zk_checker::history::Share;
use zk_checker::monitor::{
    Fifo, Holds, Increasing, Locking, MostUrgent, Numbered, Queue, Register, Urgent, Variable,
};
use zk_checker::verify::Naive;

/// A kind of object.
pub trait Object {
    /// Its monitor.
    type Judge: Naive<Action = Self::Action>;
    /// Calls and answers.
    type Action: Copy + Debug;
    /// The state.
    type State: Clone + Ord + Default;
    /// The seed of its random histories.
    const SEED: u64;

    fn judge() -> Self::Judge;

    /// The possible calls after so many values were created. Each call of the first kind creates another value.
    fn calls(made: u32) -> Vec<Self::Action>;

    /// Whether a call creates a value.
    fn makes(_: &Self::Action) -> bool {
        false
    }

    /// The possible answers after so many values were created: right or wrong.
    fn answers(asked: Self::Action, _made: u32) -> Vec<Self::Action> {
        vec![asked]
    }

    /// The same action on renamed values.
    fn renamed(action: Self::Action) -> Self::Action {
        action
    }

    /// The states after it; none if it is impossible. An open operation may have any answer.
    fn step(state: &Self::State, process: u32, action: Self::Action, is_open: bool) -> Vec<Self::State>;
}

/// Another name for a value or a process: far from the others, in the same order.
pub fn renamed(value: u32) -> u32 {
    value * 400_000_009 + 5
}

/// The holders: process, depth, and whether exclusive. The largest tokens: of all holds, and of exclusive holds.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Holding {
    held: Vec<(u32, u32, bool)>,
    tokens: (u64, u64),
}

/// A step of a lock-like object, with at most `at_once` shared holds.
fn hold(state: &Holding, process: u32, action: Locking, at_once: usize) -> Vec<Holding> {
    let mut state = state.clone();
    let mine = state.held.iter().position(|held| held.0 == process);
    match (action, mine) {
        (Locking::Release, None) => return vec![],
        (Locking::Release, Some(at)) => {
            state.held[at].1 -= 1;
            state.held.retain(|held| held.1 > 0);
        }
        (Locking::Acquire { .. }, Some(at)) => state.held[at].1 += 1,
        (Locking::Acquire { share, token }, None) => {
            let alone = share == Share::Exclusive;
            if state.held.iter().any(|held| alone || held.2) || state.held.len() >= at_once && !alone {
                return vec![];
            }
            if token != 0 && token <= if alone { state.tokens.0 } else { state.tokens.1 } {
                return vec![];
            }
            state.tokens.0 = state.tokens.0.max(token);
            if alone {
                state.tokens.1 = state.tokens.1.max(token);
            }
            state.held.push((process, 1, alone));
            state.held.sort_unstable();
        }
    }
    vec![state]
}

macro_rules! holds {
    ($($(#[doc = $doc:literal])+ $name:ident, $seed:literal, $judge:expr, $at_once:expr, $calls:expr, $answers:expr;)+) => {
        $(
            $(#[doc = $doc])+
            pub struct $name;

            impl Object for $name {
                type Judge = Holds;
                type Action = Locking;
                type State = Holding;
                const SEED: u64 = $seed;

                fn judge() -> Holds {
                    $judge
                }

                fn calls(_: u32) -> Vec<Locking> {
                    $calls.to_vec()
                }

                fn answers(asked: Locking, _: u32) -> Vec<Locking> {
                    $answers(asked)
                }

                fn step(state: &Holding, process: u32, action: Locking, _: bool) -> Vec<Holding> {
                    hold(state, process, action, $at_once)
                }
            }
        )+
    };
}

fn as_asked(asked: Locking) -> Vec<Locking> {
    vec![asked]
}

fn with_a_token(asked: Locking) -> Vec<Locking> {
    match asked {
        Locking::Acquire { share, .. } => (1..=3).map(|token| Locking::Acquire { share, token }).collect(),
        Locking::Release => vec![asked],
    }
}

holds! {
    /// A lock.
    Lock, 1, Holds::LOCK, usize::MAX, [Locking::EXCLUSIVE, Locking::Release], as_asked;
    /// A lock with readers and writers.
    SharedLock, 2, Holds::LOCK, usize::MAX, [Locking::EXCLUSIVE, Locking::SHARED, Locking::Release], as_asked;
    /// Two permits.
    Semaphore, 3, Holds::semaphore(2), 2, [Locking::SHARED, Locking::Release], as_asked;
    /// Terms of office, and readers between them, all with tokens.
    Office, 4, Holds::LOCK, usize::MAX, [Locking::EXCLUSIVE, Locking::SHARED, Locking::Release], with_a_token;
}

/// First in, first out.
pub struct FifoQueue;

impl Object for FifoQueue {
    type Judge = Fifo;
    type Action = Queue;
    type State = Vec<u32>;
    const SEED: u64 = 5;

    fn judge() -> Fifo {
        Fifo
    }

    fn calls(made: u32) -> Vec<Queue> {
        vec![Queue::Put(made), Queue::Take(None)]
    }

    fn makes(action: &Queue) -> bool {
        matches!(action, Queue::Put(_))
    }

    fn answers(asked: Queue, made: u32) -> Vec<Queue> {
        match asked {
            Queue::Put(_) => vec![asked],
            Queue::Take(_) => (0..=made).map(Some).chain([None]).map(Queue::Take).collect(),
        }
    }

    fn renamed(action: Queue) -> Queue {
        match action {
            Queue::Put(item) => Queue::Put(renamed(item)),
            Queue::Take(item) => Queue::Take(item.map(renamed)),
        }
    }

    fn step(state: &Vec<u32>, _: u32, action: Queue, is_open: bool) -> Vec<Vec<u32>> {
        let mut state = state.clone();
        match action {
            Queue::Put(item) => state.push(item),
            Queue::Take(None) if !is_open => return if state.is_empty() { vec![state] } else { vec![] },
            Queue::Take(_) if state.is_empty() => return vec![],
            Queue::Take(item) => {
                let first = state.remove(0);
                if !is_open && Some(first) != item {
                    return vec![];
                }
            }
        }
        vec![state]
    }
}

/// More urgent first; items 0 and 3 have the same urgency, 2 is the most urgent.
pub struct PriorityQueue;

/// The urgency of an item.
fn urgency(item: u32) -> u32 {
    [4, 7, 1, 4, 3, 7, 2, 5, 0][item as usize]
}

impl Object for PriorityQueue {
    type Judge = MostUrgent;
    type Action = Urgent;
    type State = Vec<u32>;
    const SEED: u64 = 6;

    fn judge() -> MostUrgent {
        MostUrgent
    }

    fn calls(made: u32) -> Vec<Urgent> {
        vec![Urgent::Put { item: made, urgency: urgency(made) }, Urgent::Take(None)]
    }

    fn makes(action: &Urgent) -> bool {
        matches!(action, Urgent::Put { .. })
    }

    fn answers(asked: Urgent, made: u32) -> Vec<Urgent> {
        match asked {
            Urgent::Put { .. } => vec![asked],
            Urgent::Take(_) => (0..=made).map(Some).chain([None]).map(Urgent::Take).collect(),
        }
    }

    fn renamed(action: Urgent) -> Urgent {
        match action {
            Urgent::Put { item, urgency } => Urgent::Put { item: renamed(item), urgency },
            Urgent::Take(item) => Urgent::Take(item.map(renamed)),
        }
    }

    fn step(state: &Vec<u32>, _: u32, action: Urgent, is_open: bool) -> Vec<Vec<u32>> {
        let without = |item: u32| state.iter().copied().filter(|other| *other != item).collect::<Vec<_>>();
        let may_go = |item: &u32| state.iter().all(|other| urgency(*item) <= urgency(*other));
        match action {
            Urgent::Put { item, .. } => {
                let mut state = state.clone();
                state.push(item);
                state.sort_unstable();
                vec![state]
            }
            Urgent::Take(None) if !is_open && state.is_empty() => vec![vec![]],
            Urgent::Take(_) if is_open => state.iter().copied().filter(may_go).map(without).collect(),
            Urgent::Take(Some(item)) if state.contains(&item) && may_go(&item) => vec![without(item)],
            Urgent::Take(_) => vec![],
        }
    }
}

/// A variable.
pub struct Cell;

impl Object for Cell {
    type Judge = Variable;
    type Action = Register;
    type State = Option<u32>;
    const SEED: u64 = 7;

    fn judge() -> Variable {
        Variable
    }

    fn calls(made: u32) -> Vec<Register> {
        vec![Register::Write(made), Register::Read(None)]
    }

    fn makes(action: &Register) -> bool {
        matches!(action, Register::Write(_))
    }

    fn answers(asked: Register, made: u32) -> Vec<Register> {
        match asked {
            Register::Write(_) => vec![asked],
            Register::Read(_) => (0..=made).map(Some).chain([None]).map(Register::Read).collect(),
        }
    }

    fn renamed(action: Register) -> Register {
        match action {
            Register::Write(value) => Register::Write(renamed(value)),
            Register::Read(value) => Register::Read(value.map(renamed)),
        }
    }

    fn step(state: &Option<u32>, _: u32, action: Register, is_open: bool) -> Vec<Option<u32>> {
        match action {
            Register::Write(value) => vec![Some(value)],
            Register::Read(value) if is_open || value == *state => vec![*state],
            Register::Read(_) => vec![],
        }
    }
}

/// Increasing numbers.
pub struct Counter;

impl Object for Counter {
    type Judge = Increasing;
    type Action = Numbered;
    type State = u64;
    const SEED: u64 = 8;

    fn judge() -> Increasing {
        Increasing
    }

    fn calls(_: u32) -> Vec<Numbered> {
        vec![Numbered(0)]
    }

    fn makes(_: &Numbered) -> bool {
        true
    }

    fn answers(_: Numbered, made: u32) -> Vec<Numbered> {
        (1..=u64::from(made) + 1).map(Numbered).collect()
    }

    fn step(state: &u64, _: u32, action: Numbered, is_open: bool) -> Vec<u64> {
        if is_open || action.0 > *state { vec![(*state).max(action.0)] } else { vec![] }
    }
}
