//! What callers wait for by the clock: alarms of a session, rung by one timer.
//!
//! 1. A caller that waits leaves its waker here, under the instant for which it waits.
//! 2. One task a session, the bell, sleeps until the first of these instants by the handle's own clock, and wakes all that are
//!    due. It sleeps by a timer that goes on while the machine is suspended ([`Timer`]): a caller whose instant has passed
//!    meanwhile is woken when the machine resumes, not as much later as the suspend was long.
//! 3. A dropped alarm leaves nothing here.
//! 4. If the runtime ends, and with it the bell, callers are not left alone: each that still waits gets a thread.

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker, ready};

use tokio::runtime::Handle;

use super::clock::{Clock, Timer};
use zk_recipes::zk::Time;

/// The alarms of a session.
#[derive(Debug)]
pub(super) struct Alarms {
    clock: Clock,
    queue: Mutex<Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    /// By instant, and then by number.
    waiting: BTreeMap<(Time, u64), Waker>,
    next: u64,
    bell: Bell,
}

/// The task that rings.
#[derive(Debug, Default)]
enum Bell {
    /// Nobody has waited yet.
    #[default]
    None,
    /// It sleeps, or has not begun.
    Sleeps(Option<Waker>),
    /// Its runtime has ended.
    Gone,
}

impl Alarms {
    pub(super) fn new(clock: Clock) -> Arc<Alarms> {
        Arc::new(Alarms { clock, queue: Mutex::default() })
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        // No panic can occur between two related writes.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of callers that wait.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.lock().waiting.len()
    }

    /// Step 1. The runtime is that of the session, wherever the caller is polled.
    fn wait(self: &Arc<Self>, runtime: &Handle, alarm: &mut Alarm, waker: &Waker) {
        let mut queue = self.lock();
        let number = *alarm.number.get_or_insert_with(|| {
            queue.next += 1;
            queue.next
        });
        let is_first = queue.waiting.keys().next().is_none_or(|first| (alarm.until, number) < *first);
        let old = queue.waiting.insert((alarm.until, number), waker.clone());
        let mut bell = None;
        match &mut queue.bell {
            Bell::None => {
                queue.bell = Bell::Sleeps(None);
                drop(queue);
                runtime.spawn(ring(self.clock, Rings(Arc::downgrade(self))));
            }
            Bell::Sleeps(waker) => {
                bell = waker.take_if(|_| is_first);
                drop(queue);
            }
            Bell::Gone => {
                drop(queue);
                if old.is_none() {
                    self.wait_alone(alarm.until, number);
                }
            }
        }
        // Wakers may own the last reference to a task, so they are used and dropped without the lock.
        drop(old);
        bell.into_iter().for_each(Waker::wake);
    }

    /// Wakes those that are due. Returns the instant of the next.
    fn ring(&self) -> Option<Time> {
        let now = self.clock.now();
        let mut queue = self.lock();
        let later = queue.waiting.split_off(&(now, u64::MAX));
        let due = std::mem::replace(&mut queue.waiting, later);
        let next = queue.waiting.keys().next().map(|(until, _)| *until);
        drop(queue);
        due.into_values().for_each(Waker::wake);
        next
    }

    /// Step 4: nothing drives a timer any more.
    fn wait_alone(self: &Arc<Self>, until: Time, number: u64) {
        let alarms = self.clone();
        // Without a thread to be had the caller is woken at once, over and over: late is worse.
        let spawned = std::thread::Builder::new().name("zk-alarm".to_owned()).spawn(move || {
            while let Some(rest) = alarms.clock.until(until).filter(|rest| !rest.is_zero()) {
                std::thread::park_timeout(rest);
            }
            let waker = alarms.lock().waiting.remove(&(until, number));
            waker.into_iter().for_each(Waker::wake);
        });
        if spawned.is_err() {
            let waker = self.lock().waiting.remove(&(until, number));
            waker.into_iter().for_each(Waker::wake);
        }
    }
}

impl Drop for Alarms {
    fn drop(&mut self) {
        // Nobody can wait any more.
        let queue = self.queue.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Bell::Sleeps(Some(bell)) = std::mem::take(&mut queue.bell) {
            bell.wake();
        }
    }
}

/// Step 2.
async fn ring(clock: Clock, rings: Rings) {
    let mut timer = Timer::new(clock);
    poll_fn(|context| {
        loop {
            let Some(alarms) = rings.0.upgrade() else { return Poll::Ready(()) };
            if let Bell::Sleeps(waker) = &mut alarms.lock().bell {
                *waker = Some(context.waker().clone());
            }
            // Looked at after the waker was left, so that no caller is missed.
            let Some(next) = alarms.ring() else { return Poll::Pending };
            ready!(timer.poll(next, context));
        }
    })
    .await
}

/// The alarms, until the bell goes with its runtime.
struct Rings(Weak<Alarms>);

impl Drop for Rings {
    fn drop(&mut self) {
        let Some(alarms) = self.0.upgrade() else { return };
        let mut queue = alarms.lock();
        queue.bell = Bell::Gone;
        let waiting = std::mem::take(&mut queue.waiting);
        drop(queue);
        // They wait again, each for itself.
        waiting.into_values().for_each(Waker::wake);
    }
}

/// Waits for an instant of the handle's clock.
pub(super) struct Alarm {
    alarms: Arc<Alarms>,
    runtime: Handle,
    until: Time,
    number: Option<u64>,
}

impl Alarm {
    pub(super) fn new(alarms: &Arc<Alarms>, runtime: &Handle, until: Time) -> Alarm {
        Alarm { alarms: alarms.clone(), runtime: runtime.clone(), until, number: None }
    }
}

impl Future for Alarm {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        if this.until == Time::NEVER {
            return Poll::Pending;
        }
        if this.alarms.clock.now() >= this.until {
            return Poll::Ready(());
        }
        let (alarms, runtime) = (this.alarms.clone(), this.runtime.clone());
        alarms.wait(&runtime, this, context.waker());
        Poll::Pending
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            let waker = self.alarms.lock().waiting.remove(&(self.until, number));
            drop(waker);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use futures_util::future::join_all;
    use std::time::Duration;

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("it starts")
    }

    fn after(clock: Clock, millis: u64) -> Time {
        clock.now() + Duration::from_millis(millis)
    }

    #[test]
    fn each_alarm_goes_off_at_its_instant_and_those_that_are_dropped_leave_nothing() {
        let (runtime, clock) = (runtime(), Clock::start());
        let alarms = Alarms::new(clock);
        let alarm = |until| Alarm::new(&alarms, runtime.handle(), until);
        runtime.block_on(async {
            let late: Vec<_> = (0..1000).map(|_| alarm(after(clock, 3_600_000))).collect();
            let mut late = join_all(late);
            assert!((&mut late).now_or_never().is_none());
            assert_eq!(alarms.waiting(), 1000);
            let instants = [40, 10, 30, 10, 20].map(|millis| after(clock, millis));
            let early = instants.map(|until| {
                let alarm = alarm(until);
                async move {
                    alarm.await;
                    assert!(clock.now() >= until, "not before its instant");
                }
            });
            join_all(early).await;
            drop(late);
            assert_eq!(alarms.waiting(), 0);
            assert!(
                alarm(Time::NEVER).now_or_never().is_none() && alarm(clock.now()).now_or_never().is_some()
            );
        });
    }

    /// As after a suspend: many instants have passed when the timer of the first goes off.
    #[test]
    fn all_that_are_due_are_woken_by_one_ring() {
        let (runtime, clock) = (runtime(), Clock::start());
        let alarms = Alarms::new(clock);
        let instants: Vec<Time> = (0..10).map(|millis| after(clock, 50 + millis)).collect();
        let mut all = join_all(instants.iter().map(|until| Alarm::new(&alarms, runtime.handle(), *until)));
        assert!((&mut all).now_or_never().is_none());
        runtime.block_on(Alarm::new(&alarms, runtime.handle(), after(clock, 100)));
        assert_eq!(alarms.waiting(), 0);
        assert!(all.now_or_never().is_some());
    }

    #[test]
    fn alarms_outlive_their_runtime() {
        let (runtime, other, clock) = (runtime(), runtime(), Clock::start());
        let alarms = Alarms::new(clock);
        let (handle, until) = (runtime.handle().clone(), after(clock, 100));
        let mut armed = Alarm::new(&alarms, &handle, until);
        assert!((&mut armed).now_or_never().is_none());
        drop(runtime);
        let later = Alarm::new(&alarms, &handle, until);
        let dropped = Alarm::new(&alarms, &handle, until);
        other.block_on(async {
            assert!(dropped.now_or_never().is_none());
            join_all([armed, later]).await;
        });
        assert!(clock.now() >= until, "not before its instant");
    }

    #[test]
    fn the_bell_goes_with_the_last_of_the_alarms() {
        let (runtime, clock) = (runtime(), Clock::start());
        let alarms = Alarms::new(clock);
        let mut alarm = Alarm::new(&alarms, runtime.handle(), after(clock, 3_600_000));
        assert!((&mut alarm).now_or_never().is_none());
        drop((alarm, alarms));
        while runtime.metrics().num_alive_tasks() > 0 {
            std::thread::yield_now();
        }
    }
}
