//! How often an event occurs in a few tries, and the estimate of its probability.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The hits among a number of tries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rate {
    /// How often it occurred.
    pub hits: u32,
    /// The number of tries.
    pub tries: u32,
}

impl Rate {
    /// Counts a try.
    pub fn count(&mut self, is_hit: bool) {
        self.hits += u32::from(is_hit);
        self.tries += 1;
    }

    /// The interval in which the probability of a hit lies with a confidence of 95 % (Wilson 1927).
    pub fn interval(self) -> (f64, f64) {
        if self.tries == 0 {
            return (0.0, 1.0);
        }
        let (n, z) = (f64::from(self.tries), 1.959_964);
        let p = f64::from(self.hits) / n;
        let (z2, scale) = (z * z, 1.0 + z * z / n);
        let middle = (p + z2 / (2.0 * n)) / scale;
        let half = z * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt() / scale;
        ((middle - half).max(0.0), (middle + half).min(1.0))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (low, high) = self.interval();
        write!(f, "{} of {} ({:.0}–{:.0} %)", self.hits, self.tries, 100.0 * low, 100.0 * high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_the_textbook() {
        // 18 of 20: Wilson's interval is 0.699 to 0.972.
        let (low, high) = Rate { hits: 18, tries: 20 }.interval();
        assert!((low - 0.699).abs() < 0.001 && (high - 0.972).abs() < 0.001, "{low} {high}");
        assert_eq!(Rate { hits: 20, tries: 20 }.to_string(), "20 of 20 (84–100 %)");
        assert_eq!(Rate::default().interval(), (0.0, 1.0));
    }
}
