//! Certificates that prove nothing are refused, from any source: every forgery about every history of two operations,
//! and about one in sixteen of three.

use super::objects::Object;
use zk_checker::monitor::{Breach, Certificate, Effect, Number, Operations, Wrong};
use zk_checker::verify;

/// Whether forgeries are tried with the history of that number.
pub fn is_tried<A: Copy>(history: &Operations<A>, number: u64) -> bool {
    match history.len() {
        0..=2 => true,
        3 => number.is_multiple_of(16),
        _ => false,
    }
}

/// An explained history has no breach, and an unexplained one has no order.
#[track_caller]
pub fn prove_nothing<O: Object>(history: &Operations<O::Action>, explained: bool) {
    // One more number than there are operations.
    let numbers: Vec<Number> = (0..=history.len() as u32).map(Number).collect();
    let lists = lists(&numbers[..history.len()]);
    let forged =
        if explained { breaches(&numbers, &lists) } else { orders(&lists, 2 * history.len() as u32) };
    for forged in forged {
        let verified = verify::certificate(&O::judge(), history, &forged);
        assert!(verified.is_err(), "explained: {explained}, and yet {forged:?} of {history:?}");
    }
}

/// All lists of these numbers, each number at most once.
fn lists(numbers: &[Number]) -> Vec<Vec<Number>> {
    let mut all: Vec<Vec<Number>> = vec![Vec::new()];
    let mut from = 0;
    while from < all.len() {
        let list = all[from].clone();
        let others = numbers.iter().filter(|number| !list.contains(number));
        all.extend(others.map(|number| [&list[..], &[*number]].concat()));
        from += 1;
    }
    all
}

fn breaches(numbers: &[Number], lists: &[Vec<Number>]) -> Vec<Certificate> {
    let mut all = Vec::new();
    let mut forge = |wrong, chain: &[Number]| {
        all.push(Certificate::Breach { breach: Breach { at: 0, wrong }, chain: chain.to_vec() });
    };
    let maybe = |number: Number| numbers.get(number.0 as usize + 1).map(|_| number);
    for one in numbers.iter().copied() {
        forge(Wrong::TooMany { acquire: one }, &[]);
        forge(Wrong::NotHeld { release: one }, &[]);
        forge(Wrong::Invented { get: one }, &[]);
        for chain in lists {
            forge(Wrong::LessUrgent { take: one }, chain);
            forge(Wrong::NotEmpty { take: one }, chain);
        }
        for two in numbers.iter().copied() {
            forge(Wrong::Together { first: one, second: two }, &[]);
            forge(Wrong::Token { first: one, second: two }, &[]);
            forge(Wrong::Twice { first: one, second: two }, &[]);
            forge(Wrong::Passed { put: one, take: two }, &[]);
            forge(Wrong::NotLarger { first: one, second: two }, &[]);
            for three in numbers.iter().copied() {
                for four in numbers.iter().copied() {
                    // The last number also represents none.
                    forge(Wrong::Between { one: (maybe(one), two), other: (maybe(three), four) }, &[]);
                }
            }
        }
    }
    all
}

/// Every order of some of the operations, in every gap not before the previous one's.
fn orders(lists: &[Vec<Number>], gaps: u32) -> Vec<Certificate> {
    let mut all = Vec::new();
    for list in lists {
        let mut orders: Vec<Vec<Effect>> = vec![Vec::new()];
        for number in list {
            let next = orders.iter().flat_map(|order| {
                let from = order.last().map_or(0, |last| last.gap);
                (from..=gaps).map(|gap| [&order[..], &[Effect { number: *number, gap }]].concat())
            });
            orders = next.collect();
        }
        all.extend(orders.into_iter().map(Certificate::Order));
    }
    all
}
