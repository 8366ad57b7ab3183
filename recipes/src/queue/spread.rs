//! Which items of a list a relaxed consumer takes, so that several consumers seldom contend for the same one.
//!
//! 1. Only the first items of the list count, so many as the window allows.
//! 2. They are dealt into shares by their numbers, in blocks of as many as the consumer takes at a time. The consumer takes one
//!    share, drawn at random among those that have items.
//! 3. After a lost race there are twice as many shares; after several shares without one, half as many. A consumer that never
//!    loses a race has one share, and takes all in order.

use std::collections::VecDeque;

/// The least items of a share, if the window has enough: each share may cost a list.
const LEAST_ITEMS: usize = 8;

/// Shares without a lost race after which their number is halved.
const CLEAN_SHARES: u32 = 4;

/// The shares of a relaxed consumer.
#[derive(Debug)]
pub(super) struct Spread {
    window: usize,
    /// The number of items in a block.
    block: u32,
    /// The greatest number of shares.
    most: u32,
    shares: u32,
    /// Shares in a row without a lost race.
    clean: u32,
    share: VecDeque<String>,
}

impl Spread {
    pub(super) fn new(window: usize, at_a_time: usize) -> Self {
        let block = u32::try_from(at_a_time.max(1)).unwrap_or(u32::MAX);
        let most = window / at_a_time.max(LEAST_ITEMS);
        let most = u32::try_from(most).unwrap_or(u32::MAX).max(2);
        Spread { window, block, most, shares: 1, clean: 0, share: VecDeque::new() }
    }

    /// The number of items at the head of a queue that count.
    pub(super) fn window(&self) -> usize {
        self.window
    }

    /// The current share, in order.
    pub(super) fn share(&self) -> &VecDeque<String> {
        &self.share
    }

    /// Another consumer was faster: the next share is one of twice as many.
    pub(super) fn lost_a_race(&mut self) {
        self.shares = (2 * self.shares).min(self.most);
        self.clean = 0;
        self.share.clear();
    }

    /// Takes an item out of the share.
    pub(super) fn strike(&mut self, name: &str) {
        if let Some(at) = self.share.iter().position(|other| other == name) {
            self.share.remove(at);
        }
    }

    /// Gives up the share: its list is stale.
    pub(super) fn forget(&mut self) {
        self.share.clear();
    }

    /// Draws a share of the first items of a list, in order, which have these numbers. Empty only if there is no item.
    pub(super) fn deal<'a>(
        &mut self,
        first: impl Iterator<Item = &'a String> + Clone,
        number: impl Fn(&str) -> Option<u32>,
        random: u128,
    ) {
        self.clean += 1;
        if self.clean > CLEAN_SHARES {
            self.clean = 0;
            self.shares = (self.shares / 2).max(1);
        }
        let share = |name: &str| number(name).map_or(0, |number| number / self.block % self.shares);
        let drawn = random % first.clone().count().max(1) as u128;
        let own = first.clone().nth(usize::try_from(drawn).unwrap_or(0)).map(|name| share(name));
        self.share = first.filter(|name| Some(share(name)) == own).cloned().collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(name: &str) -> Option<u32> {
        name.parse().ok()
    }

    /// The share that is dealt of a list with these numbers.
    fn dealt(spread: &mut Spread, numbers: std::ops::Range<u32>, random: u128) -> Vec<u32> {
        let list: Vec<String> = numbers.map(|number| number.to_string()).collect();
        spread.deal(list.iter().take(spread.window()), number, random);
        spread.share().iter().filter_map(|name| number(name)).collect()
    }

    #[test]
    fn without_lost_races_all_of_the_window_is_taken_in_order() {
        let mut spread = Spread::new(8, 1);
        for random in 0..20 {
            assert_eq!(dealt(&mut spread, 5..100, random), [5, 6, 7, 8, 9, 10, 11, 12]);
        }
        assert_eq!(dealt(&mut spread, 0..0, 7), []);
    }

    #[test]
    fn after_lost_races_shares_are_smaller_and_none_is_empty() {
        let mut spread = Spread::new(16, 1);
        spread.lost_a_race();
        assert_eq!(dealt(&mut spread, 0..100, 0), [0, 2, 4, 6, 8, 10, 12, 14]);
        assert_eq!(dealt(&mut spread, 0..100, 3), [1, 3, 5, 7, 9, 11, 13, 15]);
        for random in 0..100 {
            spread.lost_a_race();
            assert!(spread.share().is_empty(), "whoever loses a race looks elsewhere");
            assert_ne!(dealt(&mut spread, 0..100, random), [], "the share of an item is drawn");
        }
        assert_eq!(dealt(&mut spread, 0..100, 5).len(), 8, "no share has fewer items");
    }

    #[test]
    fn a_share_has_whole_blocks() {
        let mut spread = Spread::new(100, 3);
        spread.lost_a_race();
        assert_eq!(dealt(&mut spread, 1..12, 3), [3, 4, 5, 9, 10, 11]);
    }

    #[test]
    fn shares_grow_again_when_no_race_is_lost() {
        let mut spread = Spread::new(64, 1);
        spread.lost_a_race();
        spread.lost_a_race();
        let lengths: Vec<usize> = (0..9).map(|_| dealt(&mut spread, 0..64, 0).len()).collect();
        assert_eq!(lengths, [16, 16, 16, 16, 32, 32, 32, 32, 32]);
    }

    #[test]
    fn what_is_struck_is_in_no_share() {
        let mut spread = Spread::new(4, 1);
        assert_eq!(dealt(&mut spread, 0..9, 0), [0, 1, 2, 3]);
        spread.strike("1");
        spread.strike("7");
        assert_eq!(spread.share(), &["0", "2", "3"]);
        spread.forget();
        assert!(spread.share().is_empty());
    }
}
