//! The chooser of a run of the search: follows a list, then takes the default choice everywhere, and records the untried
//! alternatives.

use super::scope::Scope;
use super::visited::Visited;
use crate::fault_set::FaultSet;
use crate::run::Draw;
use sim_zk::choose::{Chooser, Point};
use std::sync::Arc;

/// More states than any run of a small scope has; a longer run is reported as a loop.
const RUNAWAY: usize = 100_000;

/// Makes the choices of one run.
pub(super) struct Exhaustive {
    /// The first choices; later ones are 0.
    planned: Vec<u16>,
    kinds: FaultSet,
    visited: Arc<Visited>,
    /// Whether the run is cut short in a visited state.
    cutting: bool,
    /// The number of choices so far.
    pub made: usize,
    /// After the planned choices: the index of each choice, and its untried alternatives, one bit each.
    pub left: Vec<(u32, u64)>,
    /// After the planned choices: the states that no earlier run has visited, each with the number of choices before
    /// it.
    pub states: Vec<(u128, u32)>,
    /// Whether the run has exceeded [`RUNAWAY`] states.
    pub ran_away: bool,
}

impl Exhaustive {
    /// Creates a chooser that begins with the planned choices.
    pub(super) fn new(planned: Vec<u16>, scope: &Scope, visited: Arc<Visited>) -> Self {
        let (kinds, cutting) = (FaultSet::of(&scope.kinds), scope.cutting);
        let (left, states) = (Vec::new(), Vec::new());
        Exhaustive { planned, kinds, visited, cutting, made: 0, left, states, ran_away: false }
    }

    /// The alternatives at a point, one bit each; the default is always among them.
    ///
    /// * The next event: all.
    /// * Faults: all kinds of the scope that fit there.
    /// * Durations and distances: the smallest and the largest.
    /// * The order of two events: both. Of more than two orders: the first and the last.
    /// * The refused operation of a transaction: the first and the last candidate.
    /// * Latencies, lags, the order of servers, users' next steps: the default.
    fn alternatives(&self, point: Point, n: u32) -> u64 {
        match point {
            Point::Next => u64::MAX >> (64 - n.min(64)),
            Point::Fault(place) => self.kinds.choices_at(place).fold(1, |bits, choice| bits | 1 << choice),
            Point::Duration | Point::Race | Point::Operation => 1 | 1 << (n - 1).min(63),
            Point::Latency | Point::Lag | Point::Server | Point::User => 1,
        }
    }
}

impl Scope {
    /// The run that begins with the planned choices.
    pub(super) fn draw(&self, planned: Vec<u16>, visited: &Arc<Visited>) -> Draw<Exhaustive> {
        let chooser = Exhaustive::new(planned, self, visited.clone());
        Draw { workload: self.workload, plan: self.plan(), chooser }
    }
}

impl Chooser for Exhaustive {
    fn choose(&mut self, point: Point, n: u32) -> u32 {
        let at = self.made;
        self.made += 1;
        if let Some(planned) = self.planned.get(at) {
            return u32::from(*planned);
        }
        let left = self.alternatives(point, n) & !1;
        if left != 0 {
            self.left.push((at as u32, left));
        }
        0
    }

    fn goes_on(&mut self, state: &mut dyn FnMut() -> u128) -> bool {
        if self.made < self.planned.len() {
            return true;
        }
        let state = state();
        if self.cutting && self.visited.contains(state) {
            return false;
        }
        self.states.push((state, self.made as u32));
        self.ran_away = self.states.len() > RUNAWAY;
        !self.ran_away
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_zk::fault::{Fault, InjectionPoint};

    #[test]
    fn each_point_has_its_alternatives() {
        let scope = Scope::of(&crate::sample::SAMPLE, 1);
        let all = Exhaustive::new(Vec::new(), &scope, Arc::default());
        let scope = Scope { kinds: vec![Fault::ReplyLate], ..scope };
        let one = Exhaustive::new(Vec::new(), &scope, Arc::default());
        assert_eq!(all.alternatives(Point::Next, 3), 0b111);
        assert_eq!(all.alternatives(Point::Fault(InjectionPoint::Reply), 3), 0b111);
        assert_eq!(one.alternatives(Point::Fault(InjectionPoint::Reply), 3), 0b101);
        assert_eq!(one.alternatives(Point::Fault(InjectionPoint::Request), 6), 1);
        assert_eq!(all.alternatives(Point::Duration, 8), 0b1000_0001);
        assert_eq!(all.alternatives(Point::Duration, 1), 1);
        assert_eq!(all.alternatives(Point::Race, 2), 0b11);
        assert_eq!(all.alternatives(Point::User, 8), 1);
    }
}
