//! Whoever is to be told when a session ends, whether or not any of its futures is polled.

use std::sync::{Arc, Weak};

use zk_recipes::zk::OnSessionOver;

/// The lists are searched for listeners that are gone when they have doubled, so that a call costs the same however many
/// there are.
const KEPT: usize = 64;

/// The listeners of one session.
#[derive(Default)]
pub struct Endings {
    listeners: Vec<Weak<dyn OnSessionOver>>,
    sweep_at: usize,
}

impl Endings {
    /// Adds a listener, which is kept while it lives.
    pub fn add(&mut self, listener: Weak<dyn OnSessionOver>) {
        if self.listeners.len() >= self.sweep_at.max(KEPT) {
            self.listeners.retain(|listener| listener.strong_count() > 0);
            self.sweep_at = 2 * self.listeners.len();
        }
        self.listeners.push(listener);
    }

    /// The session is over: takes all listeners that live, in the order in which they were added. They are told when no
    /// lock is held.
    pub fn take(&mut self) -> Vec<Arc<dyn OnSessionOver>> {
        let listeners = std::mem::take(self).listeners;
        listeners.into_iter().filter_map(|listener| listener.upgrade()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    struct Listener(u32, Arc<Mutex<Vec<u32>>>);

    impl OnSessionOver for Listener {
        fn session_over(&self) {
            self.1.lock().unwrap().push(self.0);
        }
    }

    #[test]
    fn those_that_live_are_told_in_order_and_the_others_forgotten() {
        let (told, mut endings) = (Arc::default(), Endings::default());
        let mut lasting = Vec::new();
        for number in 0..10_000 {
            let listener = Arc::new(Listener(number, Arc::clone(&told)));
            let weak = Arc::downgrade(&listener);
            endings.add(weak);
            if number % 1000 == 0 {
                lasting.push(listener);
            }
        }
        assert!(endings.listeners.len() <= KEPT, "{}", endings.listeners.len());
        endings.take().iter().for_each(|listener| listener.session_over());
        assert_eq!(*told.lock().unwrap(), (0..10).map(|number| number * 1000).collect::<Vec<_>>());
        assert!(endings.take().is_empty());
    }
}
