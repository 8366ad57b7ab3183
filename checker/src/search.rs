//! A bounded search for objects that no [monitor](crate::monitor) knows: whether some order of effects explains a history.
//!
//! A depth-first search with a memory of visited states (Wing, Gong: Testing and verifying concurrent objects, 1993;
//! Lowe: Testing for linearizability, 2017). The search follows the calls and returns. It chooses the open operation
//! that takes effect next only when an operation without an effect is about to return. It remembers the position, the
//! open operations that have taken effect, and the state. Where no operation is open, this is the state alone, so quiet
//! points prune the search.
//!
//! In the worst case the effort is exponential in the number of operations that are open at once. The caller gives a
//! budget; a search that exceeds it returns Unknown, and never Pass.

use crate::monitor::{Certificate, Effect, Number, Operation, Operations, Step};
use crate::verdict::Verdict;
use std::collections::{BTreeMap, BTreeSet};

/// A model of an object, one operation at a time.
///
/// ```
/// use zk_checker::Verdict;
/// use zk_checker::monitor::{Operation, Operations};
/// use zk_checker::search::{Model, search};
///
/// /// Pushed numbers, or what was popped.
/// #[derive(Clone, Copy)]
/// enum Stack {
///     Push(u32),
///     Pop(Option<u32>),
/// }
///
/// struct LastIn;
///
/// impl Model for LastIn {
///     type Action = Stack;
///     type State = Vec<u32>;
///
///     fn step(&self, state: &Vec<u32>, operation: &Operation<Stack>) -> Option<Vec<u32>> {
///         let mut state = state.clone();
///         match operation.action {
///             Stack::Push(number) => state.push(number),
///             Stack::Pop(number) => {
///                 let popped = state.pop();
///                 if operation.is_done() && popped != number {
///                     return None;
///                 }
///             }
///         }
///         Some(state)
///     }
/// }
///
/// let mut history = Operations::new();
/// let one = history.call(0, Stack::Push(1));
/// history.done(one);
/// let two = history.call(0, Stack::Push(2));
/// history.done(two);
/// let pop = history.call(1, Stack::Pop(None));
/// history.done_with(pop, Stack::Pop(Some(1)));
/// assert_eq!(search(&LastIn, &history, 1000).verdict, Verdict::Fail);
/// ```
pub trait Model {
    /// The request of a client, and after the return its answer.
    type Action: Copy;
    /// The state of the object.
    type State: Clone + Ord + Default;

    /// The state after the operation takes effect, or `None` if it cannot with this answer. An open operation may
    /// have any answer.
    fn step(&self, state: &Self::State, operation: &Operation<Self::Action>) -> Option<Self::State>;
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Searched {
    /// Pass, Fail, Vacuous if there was nothing to judge, or Unknown if the budget was spent.
    pub verdict: Verdict,
    /// For a Pass: an order of effects.
    pub certificate: Certificate,
    /// For a Fail: the operation whose return no order of effects explains. For an Unknown: the furthest operation
    /// reached.
    pub stuck: Option<Number>,
    /// The number of visited states.
    pub states: u64,
}

/// The frontier of the search: everything before `position` is explained.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Frontier {
    position: u32,
    /// Open operations that have taken effect, in the order of calls.
    happened: Vec<Number>,
    /// The number of the state.
    state: u32,
}

/// A frontier that was reached: its predecessor, and the effect in between.
struct Reached {
    from: usize,
    effect: Option<Effect>,
}

/// States by number.
struct States<S> {
    numbers: BTreeMap<S, u32>,
    states: Vec<S>,
}

impl<S: Clone + Ord> States<S> {
    fn number(&mut self, state: S) -> u32 {
        let next = self.states.len() as u32;
        *self.numbers.entry(state).or_insert_with_key(|state| {
            self.states.push(state.clone());
            next
        })
    }
}

/// Searches for an order of effects that explains the history of one object, within a budget of visited states.
/// Search the parts of a partitioned object one by one: [`Operations::parts`].
pub fn search<M: Model>(model: &M, history: &Operations<M::Action>, budget: u64) -> Searched {
    let steps: Vec<Step> = history.steps().collect();
    let open = Open::of(history);
    let mut states = States { numbers: BTreeMap::new(), states: Vec::new() };
    let first = Frontier { position: 0, happened: Vec::new(), state: states.number(M::State::default()) };
    let mut seen = BTreeSet::from([first.clone()]);
    let mut reached = vec![Reached { from: 0, effect: None }];
    let mut to_do = vec![(first, 0)];
    let mut furthest = 0;
    let answer = |verdict, certificate, position: u32, states| {
        let stuck = match steps.get(position as usize) {
            Some(Step::Return(number)) if verdict != Verdict::Pass => Some(*number),
            _ => None,
        };
        Searched { verdict, certificate, stuck, states }
    };
    if history.iter().next().is_none() {
        return answer(Verdict::Vacuous, Certificate::Nothing, 0, 0);
    }
    while let Some((mut place, at)) = to_do.pop() {
        // Operations that need no choice.
        let due = loop {
            match steps.get(place.position as usize) {
                None => {
                    let order = Certificate::Order(path(&reached, at));
                    return answer(Verdict::Pass, order, place.position, seen.len() as u64);
                }
                Some(Step::Return(number)) => match place.happened.binary_search(number) {
                    Ok(index) => drop(place.happened.remove(index)),
                    Err(_) => break *number,
                },
                Some(Step::Call(_) | Step::Nothing) => {}
            }
            place.position += 1;
        };
        furthest = furthest.max(place.position);
        // Pushed last onto the stack, the due operation is tried first.
        let others = open.at(place.position).filter(|number| *number != due);
        for number in others.chain([due]) {
            let Err(index) = place.happened.binary_search(&number) else { continue };
            let state = &states.states[place.state as usize];
            let Some(state) = model.step(state, &history[number]) else { continue };
            let mut next = Frontier { state: states.number(state), ..place.clone() };
            next.happened.insert(index, number);
            if seen.contains(&next) {
                continue;
            }
            if seen.len() as u64 >= budget {
                return answer(Verdict::Unknown, Certificate::Nothing, furthest, seen.len() as u64);
            }
            seen.insert(next.clone());
            let effect = Some(Effect { number, gap: place.position - 1 });
            reached.push(Reached { from: at, effect });
            to_do.push((next, reached.len() - 1));
        }
    }
    answer(Verdict::Fail, Certificate::Nothing, furthest, seen.len() as u64)
}

/// The open operations by position.
struct Open<'a, A> {
    history: &'a Operations<A>,
    /// Operations that never return.
    pending: Vec<Number>,
    /// By position: all operations with smaller numbers have returned, if they ever do.
    first: Vec<u32>,
}

impl<'a, A: Copy> Open<'a, A> {
    fn of(history: &'a Operations<A>) -> Open<'a, A> {
        let pending = history.iter().filter(|(_, operation)| operation.is_pending());
        let pending = pending.map(|(number, _)| number).collect();
        let (mut first, mut next) = (Vec::with_capacity(history.positions() as usize), 0u32);
        for position in 0..history.positions() {
            let is_past = |number: u32| {
                let operation = &history[Number(number)];
                operation.called < position && (operation.is_pending() || operation.returned < position)
            };
            while (next as usize) < history.len() && is_past(next) {
                next += 1;
            }
            first.push(next);
        }
        Open { history, pending, first }
    }

    /// The open operations just before a position.
    fn at(&self, position: u32) -> impl Iterator<Item = Number> {
        let pending = self.pending.iter().copied().take_while(move |n| self.history[*n].called < position);
        let others = (self.first[position as usize]..self.history.len() as u32).map(Number);
        let others = others.take_while(move |number| self.history[*number].called < position);
        let is_open = move |number: &Number| {
            let operation = &self.history[*number];
            operation.is_done() && operation.returned >= position
        };
        pending.chain(others.filter(is_open))
    }
}

/// The effects on the way to a frontier.
fn path(reached: &[Reached], mut at: usize) -> Vec<Effect> {
    let mut effects = Vec::new();
    while let Some(effect) = reached[at].effect {
        effects.push(effect);
        at = reached[at].from;
    }
    effects.reverse();
    effects
}
