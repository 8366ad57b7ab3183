//! A 128-bit digest that identifies a state, up to collisions.
//!
//! It is fast on many small numbers and equal in every process. It protects against accidents, not against malice.

/// The words added so far; their order matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest {
    high: u64,
    low: u64,
}

/// Odd constants without a pattern (the fractional parts of the golden ratio, and of the square roots of 2, 3 and 5).
const K: [u64; 4] =
    [0x9e37_79b9_7f4a_7c15, 0x6a09_e667_f3bc_c909, 0xbb67_ae85_84ca_a73b, 0x3c6e_f372_fe94_f82b];

/// Multiplies two words and folds the halves of the product.
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

impl Digest {
    /// Adds a number.
    pub fn add(&mut self, word: u64) {
        self.high = fold(self.high ^ word ^ K[0], K[1]).wrapping_add(self.low.rotate_left(23));
        self.low = fold(self.low ^ word.rotate_left(32) ^ K[2], K[3]).wrapping_add(word);
    }

    /// Adds a small number and a word.
    pub fn add_two(&mut self, small: u8, word: u64) {
        self.add(word ^ u64::from(small) << 56 ^ u64::from(small));
    }

    /// Adds another digest.
    pub fn add_wide(&mut self, wide: u128) {
        self.add((wide >> 64) as u64);
        self.add(wide as u64);
    }

    /// Adds a text.
    pub fn add_bytes(&mut self, bytes: &[u8]) {
        self.add(bytes.len() as u64);
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.add(u64::from_le_bytes(word));
        }
    }

    /// Returns the digest.
    pub fn finish(self) -> u128 {
        let mut last = self;
        last.add(K[2]);
        last.add(K[0]);
        u128::from(last.high) << 64 | u128::from(last.low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn numbers_in_another_order_make_another_digest() {
        let digest = |words: &[u64]| {
            let mut digest = Digest::default();
            words.iter().for_each(|word| digest.add(*word));
            digest.finish()
        };
        let mut seen = BTreeSet::new();
        for a in 0..100 {
            for b in 0..100 {
                assert!(seen.insert(digest(&[a, b])), "{a}, {b}");
            }
            assert!(seen.insert(digest(&[a])), "{a}");
        }
        assert_eq!(digest(&[1, 2]), digest(&[1, 2]));
    }

    #[test]
    fn either_half_tells_small_numbers_apart() {
        let halves = |word| {
            let mut digest = Digest::default();
            digest.add(word);
            let wide = digest.finish();
            ((wide >> 64) as u64, wide as u64)
        };
        let (high, low): (BTreeSet<u64>, BTreeSet<u64>) = (0..100_000).map(halves).unzip();
        assert_eq!((high.len(), low.len()), (100_000, 100_000));
    }

    #[test]
    fn texts_of_other_lengths_differ() {
        let digest = |text: &str| {
            let mut digest = Digest::default();
            digest.add_bytes(text.as_bytes());
            digest.finish()
        };
        assert_ne!(digest("a"), digest("a\0"));
        assert_ne!(digest("12345678"), digest("123456789"));
    }
}
