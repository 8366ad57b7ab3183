//! Futures of client code: replies, watches and alarms.

use super::Sim;
use super::subject::{Answered, Subject};
use crate::paths::Paths;
use crate::session::Failure;
use crate::world::HandleId;
use futures_util::Stream;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use zk_protocol::session::Slot;
use zk_recipes::zk::{Error, ErrorKind, Event, Time, TreeEvent};

/// Converts a reply into the result of the trait method.
pub(super) type Convert<T> = fn(&Subject, &Paths, Answered) -> Result<T, Error>;

/// The future of a request that has been sent.
pub(super) struct Reply<T> {
    pub(super) sim: Sim,
    pub(super) handle: HandleId,
    pub(super) state: Result<u32, Option<Error>>,
    pub(super) watch: Option<u32>,
    /// None if the request was not sent.
    pub(super) subject: Option<Subject>,
    pub(super) convert: Convert<T>,
}

impl<T> Future for Reply<T> {
    type Output = Result<(T, Option<SimWatch>), Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let ticket = match &mut this.state {
            Ok(ticket) => *ticket,
            Err(error) => {
                return Poll::Ready(Err(error.take().expect("a future is not polled after its end")));
            }
        };
        let mut core = this.sim.core();
        let result = ready!(core.slots.poll_answer(ticket, context));
        this.state = Err(None);
        let subject = this.subject.take().expect("a request that was sent has a subject");
        let answered = match result {
            Ok(answer) => Ok(answer),
            Err(Failure::Refused(refusal)) => Err(refusal),
            Err(failure) => {
                if let Some(watch) = this.watch.take() {
                    core.slots.release(watch);
                }
                let kind = match failure {
                    Failure::Over(why) => ErrorKind::SessionOver(why),
                    _ => ErrorKind::ConnectionLoss,
                };
                return Poll::Ready(Err(subject.explain(core.world.paths(), kind.into())));
            }
        };
        let paths = core.world.paths();
        let result = (this.convert)(&subject, paths, answered).map_err(|error| subject.explain(paths, error));
        let watch = this.watch.take();
        if let (Err(_), Some(watch)) = (&result, watch) {
            core.slots.release(watch);
        }
        let result = result.map(|value| {
            let (sim, handle) = (this.sim.clone(), this.handle);
            (value, watch.map(|watch| SimWatch { sim, handle, watch: Some(watch) }))
        });
        Poll::Ready(result)
    }
}

impl<T> Drop for Reply<T> {
    fn drop(&mut self) {
        let Ok(ticket) = self.state else { return };
        let (handle, watch) = (self.handle, self.watch);
        self.sim.act_unless_ended(|core| {
            if let (Some(_), Some(watch)) = (core.slots.forget(ticket, handle, watch), watch) {
                core.slots.release(watch);
                core.with_world(|world, context| world.drop_watch(handle, watch, context));
            }
        });
    }
}

/// A one-shot watch in the simulation.
pub struct SimWatch {
    sim: Sim,
    handle: HandleId,
    watch: Option<u32>,
}

impl Future for SimWatch {
    type Output = Result<Event, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let watch = self.watch.expect("a watch is not polled after it fired");
        let told = ready!(self.sim.core().slots.poll_event(watch, context));
        self.watch = None;
        Poll::Ready(told)
    }
}

impl Drop for SimWatch {
    fn drop(&mut self) {
        let Some(watch) = self.watch else { return };
        let handle = self.handle;
        self.sim.act_unless_ended(|core| {
            if let Slot::Pending(_) | Slot::Stream(..) = core.slots.release(watch) {
                core.with_world(|world, context| world.drop_watch(handle, watch, context));
            }
        });
    }
}

/// A watch on a subtree in the simulation.
pub struct SimTreeWatch(pub(super) SimWatch);

impl Stream for SimTreeWatch {
    type Item = Result<TreeEvent, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let SimWatch { sim, watch, .. } = &mut self.0;
        let Some(id) = *watch else { return Poll::Ready(None) };
        let mut core = sim.core();
        let told = ready!(core.slots.poll_next(id, context));
        if told.is_err() {
            core.slots.release(id);
            *watch = None;
        }
        Poll::Ready(Some(told))
    }
}

/// The future of a sleep.
pub(super) struct Sleep {
    sim: Sim,
    alarm: Option<u32>,
}

impl Sleep {
    pub(super) fn new(sim: &Sim, process: u8, until: Time) -> Self {
        let alarm = sim.act(|core| {
            if core.world.observes_past(process, until.as_micros()) {
                return None;
            }
            let alarm = core.slots.take();
            if until != Time::NEVER {
                core.world.set_alarm(process, alarm, until.as_micros());
            }
            Some(alarm)
        });
        Sleep { sim: sim.clone(), alarm }
    }

    /// Creates an alarm that is due now; the chooser decides when it goes off.
    pub(super) fn turn(sim: &Sim, process: u8) -> Self {
        let alarm = sim.act(|core| {
            let (alarm, now) = (core.slots.take(), core.world.time_of(process));
            core.world.set_alarm(process, alarm, now);
            alarm
        });
        Sleep { sim: sim.clone(), alarm: Some(alarm) }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Some(alarm) = self.alarm else { return Poll::Ready(()) };
        ready!(self.sim.core().slots.poll(alarm, context));
        self.alarm = None;
        Poll::Ready(())
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        let Some(alarm) = self.alarm else { return };
        self.sim.act_unless_ended(|core| {
            core.world.drop_alarm(alarm);
            core.slots.release(alarm);
        });
    }
}
