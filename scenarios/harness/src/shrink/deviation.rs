//! A run as a short list of deviations from the run of default choices.
//!
//! The index of a choice changes when any other part of a run changes. So a choice is identified by its question: the point in the
//! protocol, the client or server, the number of alternatives, and its number among equal questions. A run with one client less
//! asks most questions as before; [`Sparse`] answers these as before, and all others by the default.

use rand::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use sim_zk::choose::{Chooser, Point, Replay, Seeded};
use sim_zk::fault::{Fault, Victim};
use std::collections::BTreeMap;

/// A kind of question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Question {
    /// The kind of decision.
    pub point: Point,
    /// The client, server or link.
    pub whom: Victim,
    /// The number of alternatives.
    pub of: u32,
}

/// One question of a run, numbered among those of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NthQuestion {
    /// The kind of question.
    pub question: Question,
    /// The number of earlier questions of the kind.
    pub nth: u32,
}

/// A choice that is not the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deviation {
    /// The question.
    pub asked: NthQuestion,
    /// The chosen alternative.
    pub choice: u16,
}

/// A chooser that also sees the number of each question.
pub trait Decide: Send {
    /// Picks one of the alternatives.
    fn decide(&mut self, asked: &NthQuestion) -> u32;
}

impl Decide for Replay {
    fn decide(&mut self, asked: &NthQuestion) -> u32 {
        self.choose(asked.question.point, asked.question.of)
    }
}

/// A chooser with the given deviations, and the default everywhere else.
#[derive(Clone, Debug)]
pub struct Sparse(BTreeMap<NthQuestion, u16>);

impl Sparse {
    /// The chooser with these deviations.
    pub fn new(deviations: &[Deviation]) -> Sparse {
        Sparse(deviations.iter().map(|deviation| (deviation.asked, deviation.choice)).collect())
    }
}

impl Decide for Sparse {
    fn decide(&mut self, asked: &NthQuestion) -> u32 {
        // The number of alternatives is part of the question, so the stored choice is within range.
        self.0.get(asked).map_or(0, |choice| u32::from(*choice))
    }
}

/// Draws faults from a seed, and mostly default choices elsewhere: its failures need little shrinking.
#[derive(Clone, Debug)]
pub struct Quiet {
    faults: Seeded,
    rng: Xoshiro256PlusPlus,
    /// One in this number of choices deviates.
    one_in: u32,
    /// Whether a deviation takes the last alternative: the longest and least likely.
    is_extreme: bool,
}

impl Quiet {
    /// A chooser with the faults of `faults`. One in `one_in` of the other choices deviates, to the last alternative if
    /// `is_extreme`.
    pub fn new(seed: u64, faults: Seeded, one_in: u32, is_extreme: bool) -> Quiet {
        // A separate random stream, independent of the faults.
        let rng = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x71_7569_6574);
        Quiet { faults, rng, one_in, is_extreme }
    }
}

impl Decide for Quiet {
    fn decide(&mut self, asked: &NthQuestion) -> u32 {
        let Question { point, of, .. } = asked.question;
        if matches!(point, Point::Fault(_)) {
            return self.faults.choose(point, of);
        }
        let (deviates, choice) = (self.rng.next_u32(), self.rng.next_u32());
        match deviates.is_multiple_of(self.one_in) {
            false => 0,
            true if self.is_extreme => of.saturating_sub(1),
            true => choice % of.max(1),
        }
    }
}

/// Delegates decisions, and records those that are not the default.
#[derive(Clone, Debug)]
pub struct Noting<D> {
    decides: D,
    whom: Victim,
    asked: BTreeMap<Question, u32>,
    noted: Vec<Deviation>,
}

impl<D: Decide> Noting<D> {
    /// Records the decisions of `decides`.
    pub fn new(decides: D) -> Noting<D> {
        Noting { decides, whom: Victim::Server(0), asked: BTreeMap::new(), noted: Vec::new() }
    }

    /// The recorded deviations, in the order of the run.
    pub fn into_deviations(self) -> Vec<Deviation> {
        self.noted
    }
}

impl<D: Decide> Chooser for Noting<D> {
    fn choose(&mut self, point: Point, n: u32) -> u32 {
        let question = Question { point, whom: self.whom, of: n };
        let count = self.asked.entry(question).or_default();
        let asked = NthQuestion { question, nth: *count };
        *count += 1;
        let choice = self.decides.decide(&asked);
        if choice > 0 {
            let choice = u16::try_from(choice).expect("no point has more than 65,536 alternatives");
            self.noted.push(Deviation { asked, choice });
        }
        choice
    }

    fn about(&mut self, whom: Victim) {
        self.whom = whom;
    }
}

impl Deviation {
    /// Whether the deviation is a fault.
    pub fn is_fault(&self) -> bool {
        matches!(self.asked.question.point, Point::Fault(_))
    }

    /// The fault, if the deviation is one.
    pub fn fault(&self) -> Option<Fault> {
        match self.asked.question.point {
            Point::Fault(place) => place.faults().get(usize::from(self.choice).checked_sub(1)?).copied(),
            _ => None,
        }
    }

    /// The same in a run without the client of that number: later clients move up by one. `None` if the deviation was
    /// that client's.
    pub fn without_client(mut self, gone: u8) -> Option<Deviation> {
        if let Victim::Process(number) = &mut self.asked.question.whom {
            if *number == gone {
                return None;
            }
            *number -= u8::from(*number > gone);
        }
        Some(self)
    }

    /// A readable form with the clients' names: `a: reply-lost at reply number 3`.
    pub fn describe(&self, clients: &[String]) -> String {
        let Deviation { asked: NthQuestion { question: Question { point, whom, of }, nth }, choice } = self;
        let (number, servers) = (nth + 1, |server: u8| format!("server {server}"));
        let whom = match *whom {
            Victim::Process(process) => {
                let name = clients.get(usize::from(process)).filter(|name| !name.is_empty());
                name.cloned().unwrap_or_else(|| format!("process {process}"))
            }
            Victim::Server(server) => servers(server),
            Victim::Link(from, to) => format!("{} to {}", servers(from), servers(to)),
        };
        let Point::Fault(place) = point else {
            let kind = format!("{point:?}").to_lowercase();
            return format!("{whom}: {kind} number {number} is {choice} of {of}");
        };
        let (fault, place) =
            (self.fault().map_or("no fault", Fault::name), format!("{place:?}").to_lowercase());
        format!("{whom}: {fault} at {place} number {number}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_zk::choose::Rates;
    use sim_zk::fault::InjectionPoint;

    /// Asks questions as a run does: about two processes in turn.
    fn ask(chooser: &mut impl Chooser, times: usize) -> Vec<u32> {
        let points = [(Point::Latency, 256), (Point::Fault(InjectionPoint::Reply), 3), (Point::User, 8)];
        let ask = |index: usize| {
            chooser.about(Victim::Process((index % 2) as u8));
            let (point, n) = points[index % 3];
            chooser.choose(point, n)
        };
        (0..times).map(ask).collect()
    }

    #[test]
    fn where_a_run_deviates_is_all_of_it() {
        let faults = Seeded::new(3, Rates::NONE.with(Fault::ReplyLost, 0.1));
        let mut drawn = Noting::new(Quiet::new(3, faults, 4, false));
        let first = ask(&mut drawn, 300);
        let deviations = drawn.into_deviations();
        assert_eq!(deviations.len(), first.iter().filter(|choice| **choice > 0).count());
        assert!(deviations.iter().any(Deviation::is_fault), "some fault strikes");
        let mut again = Noting::new(Sparse::new(&deviations));
        assert_eq!(ask(&mut again, 300), first);
        assert_eq!(again.into_deviations(), deviations);
    }

    #[test]
    fn a_choice_is_known_by_whom_it_is_about() {
        let question = Question { point: Point::User, whom: Victim::Process(1), of: 8 };
        let deviation = Deviation { asked: NthQuestion { question, nth: 2 }, choice: 5 };
        let mut sparse = Noting::new(Sparse::new(&[deviation]));
        let mut chosen = |process, n| {
            sparse.about(Victim::Process(process));
            sparse.choose(Point::User, n)
        };
        assert_eq!([chosen(1, 8), chosen(0, 8), chosen(1, 8), chosen(0, 8), chosen(1, 4)], [0; 5]);
        assert_eq!(chosen(1, 8), 5, "the third question of its kind about the second process");
        assert_eq!(deviation.describe(&["a".into(), "b".into()]), "b: user number 3 is 5 of 8");
    }

    #[test]
    fn when_a_client_goes_those_behind_it_move_up() {
        let question = Question { point: Point::User, whom: Victim::Process(1), of: 8 };
        let deviation = Deviation { asked: NthQuestion { question, nth: 0 }, choice: 1 };
        let whom = |gone| deviation.without_client(gone).map(|moved| moved.asked.question.whom);
        assert_eq!(whom(0), Some(Victim::Process(0)));
        assert_eq!(whom(1), None);
        assert_eq!(whom(2), Some(Victim::Process(1)));
    }
}
