//! The clocks of clients, which can drift.

/// The clock of a client: its time at the last change of rate, and the rate since.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    world: u64,
    local: u64,
    /// Thousandths of the world's clock.
    rate: u64,
}

impl Default for Clock {
    fn default() -> Self {
        Clock { world: 0, local: 0, rate: 1000 }
    }
}

impl Clock {
    pub(super) fn local_time(&self, world: u64) -> u64 {
        self.local + (world - self.world) * self.rate / 1000
    }

    /// Returns the earliest world time at which the clock shows `local`.
    pub(super) fn world_time(&self, local: u64) -> u64 {
        self.world + (local.saturating_sub(self.local).saturating_mul(1000)).div_ceil(self.rate)
    }

    /// Returns the time that passes in the world while the clock, at its present rate, shows that `local` passes.
    pub(super) fn world_span(&self, local: u64) -> u64 {
        local.saturating_mul(1000) / self.rate
    }

    /// Returns the rate, in thousandths of the rate of the world clock.
    pub(super) fn rate(self) -> u64 {
        self.rate
    }

    pub(super) fn set_rate(&mut self, now: u64, rate: u64) {
        *self = Clock { world: now, local: self.local_time(now), rate };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_drifts_goes_on_from_where_it_was() {
        let mut clock = Clock::default();
        clock.set_rate(1_000_000, 900);
        assert_eq!(clock.local_time(1_000_000), 1_000_000);
        assert_eq!(clock.local_time(2_000_000), 1_900_000);
        assert_eq!(clock.world_time(1_900_000), 2_000_000);
        clock.set_rate(2_000_000, 1000);
        assert_eq!(clock.local_time(3_000_000), 2_900_000);
    }

    #[test]
    fn no_clock_shows_a_time_before_it_is_due() {
        let mut clock = Clock::default();
        clock.set_rate(7, 1090);
        for local in 7..2000 {
            let world = clock.world_time(local);
            assert!(clock.local_time(world) >= local && (world == 7 || clock.local_time(world - 1) < local));
        }
    }
}
