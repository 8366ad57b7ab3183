//! Futures that wait for one change together: a place for each, which it gives back when it is dropped.
//!
//! 1. A future that finds nothing takes a place, and leaves its waker there.
//! 2. The change takes all wakers, in the order in which they were left, and the places stay.
//! 3. A future that is dropped frees its place, with the waker that may still be in it.
//!
//! The place belongs to the future, not to its task: two futures of one task have two, and neither takes the other's waker
//! away. So what is kept is bounded by the futures that live, and a call costs the same however many wait.

use std::task::{Context, Waker};

/// The wakers of futures that wait for one change.
#[derive(Debug, Default)]
pub struct Waiters {
    /// By place: when it was left, and the waker.
    wakers: Vec<Option<(u64, Waker)>>,
    free: Vec<Place>,
    left: u64,
}

/// The place of one future.
#[derive(Debug, PartialEq, Eq)]
pub struct Place(usize);

impl Waiters {
    /// Leaves the waker of `context` in the place of a future, which is taken at the first call. Returns the waker that was
    /// there: it may own the last reference to a task, so it is not dropped under a lock.
    pub fn wait(&mut self, place: &mut Option<Place>, context: &Context<'_>) -> Option<Waker> {
        let at = place.get_or_insert_with(|| self.take()).0;
        match &self.wakers[at] {
            Some((_, waker)) if waker.will_wake(context.waker()) => None,
            _ => {
                self.left += 1;
                self.wakers[at].replace((self.left, context.waker().clone())).map(|(_, waker)| waker)
            }
        }
    }

    fn take(&mut self) -> Place {
        self.free.pop().unwrap_or_else(|| {
            self.wakers.push(None);
            Place(self.wakers.len() - 1)
        })
    }

    /// Frees a place. Returns the waker that is in it, as [`wait`](Self::wait) does.
    pub fn leave(&mut self, place: Place) -> Option<Waker> {
        let waker = self.wakers[place.0].take();
        self.free.push(place);
        if self.free.len() == self.wakers.len() {
            // The capacity of a crowd is not kept when it is gone.
            self.free.clear();
            self.wakers.clear();
            self.free.shrink_to(KEPT);
            self.wakers.shrink_to(KEPT);
        }
        waker.map(|(_, waker)| waker)
    }

    /// Takes all wakers, in the order in which they were left.
    pub fn wake_all(&mut self, wakers: &mut Vec<Waker>) {
        let mut taken: Vec<_> = self.wakers.iter_mut().filter_map(Option::take).collect();
        taken.sort_unstable_by_key(|(left, _)| *left);
        wakers.extend(taken.into_iter().map(|(_, waker)| waker));
    }

    /// The number of places in use.
    pub fn len(&self) -> usize {
        self.wakers.len() - self.free.len()
    }

    /// Whether no future has a place.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The places whose memory is kept for the next futures.
const KEPT: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    /// A task that counts how often it is woken.
    #[derive(Default)]
    struct Task(AtomicUsize);

    impl Wake for Task {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn wakes(waiters: &mut Waiters) {
        let mut wakers = Vec::new();
        waiters.wake_all(&mut wakers);
        wakers.into_iter().for_each(Waker::wake);
    }

    #[test]
    fn a_future_that_is_dropped_leaves_nothing_and_takes_nothing_from_others_of_its_task() {
        let (task, mut waiters) = (Arc::new(Task::default()), Waiters::default());
        let waker = Waker::from(task.clone());
        let context = Context::from_waker(&waker);
        let (mut one, mut other) = (None, None);
        waiters.wait(&mut one, &context);
        waiters.wait(&mut other, &context);
        drop(waiters.leave(one.take().expect("it waits")));
        assert_eq!(waiters.len(), 1);
        wakes(&mut waiters);
        assert_eq!(task.0.load(Ordering::Relaxed), 1, "the other one still waits");
        assert_eq!(waiters.leave(other.take().expect("its place stays")).map(drop), None);
        drop(waker);
        assert_eq!((waiters.len(), Arc::strong_count(&task)), (0, 1), "the task is not kept");
    }

    #[test]
    fn the_last_waker_of_a_future_counts_and_first_left_is_first_woken() {
        let tasks = [(); 3].map(|()| Arc::new(Task::default()));
        let wakers = tasks.each_ref().map(|task| Waker::from(task.clone()));
        let (mut waiters, mut places) = (Waiters::default(), [const { None }; 2]);
        assert!(waiters.wait(&mut places[0], &Context::from_waker(&wakers[0])).is_none());
        assert!(waiters.wait(&mut places[1], &Context::from_waker(&wakers[1])).is_none());
        let moved = waiters.wait(&mut places[0], &Context::from_waker(&wakers[2]));
        assert!(moved.is_some_and(|old| old.will_wake(&wakers[0])), "it was moved to another task");
        let mut woken = Vec::new();
        waiters.wake_all(&mut woken);
        assert!(woken[0].will_wake(&wakers[1]) && woken[1].will_wake(&wakers[2]) && woken.len() == 2);
    }

    #[test]
    fn ten_thousand_futures_one_after_the_other_take_one_place() {
        let mut waiters = Waiters::default();
        let context = Context::from_waker(Waker::noop());
        for _ in 0..10_000 {
            let mut place = None;
            waiters.wait(&mut place, &context);
            waiters.leave(place.take().expect("it waits"));
        }
        assert!(waiters.is_empty() && waiters.wakers.capacity() <= KEPT);
    }
}
