//! Random histories of up to nine operations: a working object, with an occasional wrong answer.

use super::agree::{Happening, Tally, agree};
use super::objects::Object;

/// A stream of draws: splitmix64.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn percent(&mut self, share: u64) -> bool {
        self.next() % 100 < share
    }
}

/// The state of a process.
#[derive(Clone, Copy)]
enum At<A> {
    Rest,
    /// It waits; the answer if the object has done it.
    Waits(usize, A, Option<A>),
    /// Its answer never comes.
    Gone,
}

const OPERATIONS: usize = 9;

fn draw<O: Object>(draws: &mut Draws) -> Vec<Happening<O::Action>> {
    let operations = 1 + draws.below(OPERATIONS);
    let wrong = [0, 4, 15][draws.below(3)];
    let mut processes = vec![At::Rest; 1 + draws.below(4)];
    let (mut happenings, mut state, mut made, mut called) = (Vec::new(), O::State::default(), 0, 0);
    for _ in 0..operations * 6 {
        let process = draws.below(processes.len());
        processes[process] = match processes[process] {
            At::Rest if called < operations => {
                let calls = O::calls(made);
                let asked = calls[draws.below(calls.len())];
                made += u32::from(O::makes(&asked));
                happenings.push(Happening::Call(process as u32, asked));
                called += 1;
                At::Waits(called - 1, asked, None)
            }
            At::Waits(number, asked, answer) if draws.percent(wrong) => {
                let answers = O::answers(asked, made);
                let answer =
                    answer.filter(|_| draws.percent(30)).unwrap_or(answers[draws.below(answers.len())]);
                happenings.push(Happening::Return(number, answer));
                At::Rest
            }
            At::Waits(..) if draws.percent(4) => At::Gone,
            At::Waits(number, asked, None) => {
                let right = |answer: &O::Action| !O::step(&state, process as u32, *answer, false).is_empty();
                let right: Vec<_> = O::answers(asked, made).into_iter().filter(right).collect();
                if right.is_empty() {
                    continue;
                }
                let answer = if draws.percent(75) { right[0] } else { right[draws.below(right.len())] };
                let mut next = O::step(&state, process as u32, answer, false);
                state = next.swap_remove(0);
                At::Waits(number, asked, Some(answer))
            }
            At::Waits(number, _, Some(answer)) => {
                happenings.push(Happening::Return(number, answer));
                At::Rest
            }
            at => at,
        };
    }
    happenings
}

pub fn random_histories<O: Object>() {
    let count = std::env::var("ZKSIM_HISTORIES").map_or(100_000, |count| count.parse().expect("a number"));
    let (mut draws, mut tally) = (Draws(O::SEED), Tally::default());
    // A priority queue's open take may have taken any of the most urgent items, which the search's models cannot
    // express.
    let searches = O::SEED != super::PriorityQueue::SEED;
    for _ in 0..count {
        let happenings = draw::<O>(&mut draws);
        agree::<O>(&happenings, &mut tally, searches);
    }
    println!("{tally:?}");
    let least = count / 20;
    assert!(tally.passed > least && tally.failed > least, "both kinds are there: {tally:?}");
    assert!(tally.unknown < count / 10, "it nearly always knows: {tally:?}");
}
