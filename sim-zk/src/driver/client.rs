//! The client of a simulated session: the trait [`ZooKeeper`] on a [`World`](crate::world::World).

use super::convert::{
    any, known, known_op, known_prefix, plain, to_created, to_data, to_listing, to_many, to_maybe_stat,
    to_nothing, to_results, to_stat, watched,
};
use super::reply::{Convert, Reply, Sleep};
use super::shared::{Core, Slots, wake_all};
use super::subject::Subject;
use super::{Sim, SimTreeWatch, SimWatch};
use crate::message::{Ask, Creation, ReadOp};
use crate::paths::Paths;
use crate::world::HandleId;
use std::future::Future;
use std::sync::{Arc, Weak};
use std::time::Duration;
use zk_recipes::zk::waiters::Waiters;
use zk_recipes::zk::{
    Armed, CreateMode, Created, Data, Discharge, Duty, DutyId, Error, Guid, InFlight, Listing, OnSessionOver,
    Op, OpResult, Runtime, SessionId, Stat, Status, Time, ZooKeeper, duty, path,
};

/// A simulated session.
#[derive(Clone)]
pub struct SimClient {
    pub(super) sim: Sim,
    pub(super) handle: HandleId,
    pub(super) process: u8,
    /// The operation whose clean-up duty the client performs, if any.
    pub(super) cleanup: Option<u32>,
}

impl std::fmt::Debug for SimClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SimClient").field("handle", &self.handle).field("process", &self.process).finish()
    }
}

impl SimClient {
    /// Sends a request at once; the future only waits for the reply. `watch` allocates the slot of the watch that it
    /// arms.
    fn send<T>(
        &self,
        ask: impl FnOnce(&mut Paths) -> Result<Ask, Error>,
        watch: Option<fn(&mut Slots) -> u32>,
        convert: Convert<T>,
    ) -> Reply<T> {
        let sent = self.sim.act(|core| {
            let ask = ask(core.world.paths_mut())?;
            let subject = Subject::of(&ask);
            let ticket = core.slots.take();
            let watch = watch.map(|take| take(&mut core.slots));
            let (handle, cleanup) = (self.handle, self.cleanup);
            core.with_world(|world, context| {
                world.ask(handle, ask, cleanup, Some(ticket), watch, context);
            });
            Ok((ticket, watch, subject))
        });
        let (state, watch, subject) = match sent {
            Ok((ticket, watch, subject)) => (Ok(ticket), watch, Some(subject)),
            Err(error) => (Err(Some(error)), None, None),
        };
        Reply { sim: self.sim.clone(), handle: self.handle, state, watch, subject, convert }
    }

    fn cleaning(&self) -> Self {
        let op = self.cleanup.unwrap_or_else(|| self.sim.core().world.op(self.process));
        SimClient { cleanup: Some(op), ..self.clone() }
    }
}

impl Runtime for SimClient {
    fn now(&self) -> Time {
        Time::from_micros(self.sim.core().world.read_clock(self.process))
    }

    fn sleep_until(&self, until: Time) -> impl Future<Output = ()> + Send + use<> {
        Sleep::new(&self.sim, self.process, until)
    }

    fn guid(&self) -> Guid {
        let mut core = self.sim.core();
        let count = if core.world.config().is_interleaving() {
            let state = &mut core.processes[usize::from(self.process)];
            state.guids += 1;
            u64::from(self.process) << 32 | state.guids
        } else {
            core.guids += 1;
            core.guids
        };
        let (high, low) = (scatter(count), scatter(count ^ (1 << 63)));
        Guid(u128::from(high) << 64 | u128::from(low))
    }

    fn arm(&self, duty: Duty) -> Armed {
        let client = self.cleaning();
        let id = {
            let mut core = self.sim.core();
            let state = &mut core.handles[usize::from(self.handle.0)];
            state.next_duty += 1;
            state.next_duty
        };
        Armed::new(id, duty, Arc::new(client))
    }
}

impl ZooKeeper for SimClient {
    type Watch = SimWatch;
    type TreeWatch = SimTreeWatch;

    fn create(&self, path: &str, data: &[u8], mode: CreateMode) -> impl InFlight<Created> + use<> {
        plain(self.send(
            |paths| {
                path::validate_size(path::MAX_REQUEST_BYTES, path, data)
                    .map_err(|error| error.at("create", path))?;
                let path = known_prefix(paths, path, mode)?;
                Ok(Ask::Create(Box::new(Creation::new(path, Some(data.into()), mode))))
            },
            None,
            to_created,
        ))
    }

    fn delete(&self, path: &str, version: Option<i32>) -> impl InFlight<()> + use<> {
        plain(self.send(
            |paths| Ok(Ask::Delete { path: known(paths, "delete", path)?, version: any(version) }),
            None,
            to_nothing,
        ))
    }

    fn set(&self, path: &str, data: &[u8], version: Option<i32>) -> impl InFlight<Stat> + use<> {
        plain(self.send(
            |paths| {
                path::validate_size(path::MAX_REQUEST_BYTES, path, data)
                    .map_err(|error| error.at("setData", path))?;
                let (path, data) = (known(paths, "setData", path)?, Some(data.into()));
                Ok(Ask::Set { path, data, version: any(version) })
            },
            None,
            to_stat,
        ))
    }

    fn exists(&self, path: &str) -> impl InFlight<Option<Stat>> + use<> {
        plain(self.send(
            |paths| Ok(Ask::Exists { path: known(paths, "exists", path)?, watch: false }),
            None,
            to_maybe_stat,
        ))
    }

    fn exists_watch(&self, path: &str) -> impl InFlight<(Option<Stat>, SimWatch)> + use<> {
        watched(self.send(
            |paths| Ok(Ask::Exists { path: known(paths, "exists", path)?, watch: true }),
            Some(Slots::take),
            to_maybe_stat,
        ))
    }

    fn get(&self, path: &str) -> impl InFlight<Data> + use<> {
        plain(self.send(
            |paths| Ok(Ask::Get { path: known(paths, "getData", path)?, watch: false }),
            None,
            to_data,
        ))
    }

    fn get_watch(&self, path: &str) -> impl InFlight<(Data, SimWatch)> + use<> {
        watched(self.send(
            |paths| Ok(Ask::Get { path: known(paths, "getData", path)?, watch: true }),
            Some(Slots::take),
            to_data,
        ))
    }

    fn children(&self, path: &str) -> impl InFlight<Listing> + use<> {
        plain(self.send(
            |paths| Ok(Ask::Children { path: known(paths, "getChildren", path)?, watch: false, stat: true }),
            None,
            to_listing,
        ))
    }

    fn children_watch(&self, path: &str) -> impl InFlight<(Listing, SimWatch)> + use<> {
        watched(self.send(
            |paths| Ok(Ask::Children { path: known(paths, "getChildren", path)?, watch: true, stat: true }),
            Some(Slots::take),
            to_listing,
        ))
    }

    fn get_many(&self, all: &[String]) -> impl InFlight<Vec<Option<Data>>> + use<> {
        plain(self.send(
            |paths| {
                let get = |path: &String| Ok(ReadOp::Get(known(paths, "multiRead", path)?));
                Ok(Ask::MultiRead(all.iter().map(get).collect::<Result<_, Error>>()?))
            },
            None,
            to_many,
        ))
    }

    fn multi(&self, mut ops: Vec<Op>) -> impl InFlight<Vec<OpResult>> + use<> {
        let mut reply = self.send(
            |paths| {
                path::validate_total(path::MAX_REQUEST_BYTES, &ops, || {
                    format!("{} operations make", ops.len())
                })?;
                Ok(Ask::Multi(ops.iter_mut().map(|op| known_op(paths, op)).collect::<Result<_, Error>>()?))
            },
            None,
            to_results,
        );
        reply.subject = Some(Subject::Operations(ops));
        plain(reply)
    }

    fn sync(&self, path: &str) -> impl InFlight<()> + use<> {
        plain(self.send(|paths| Ok(Ask::Sync { path: known(paths, "sync", path)? }), None, to_nothing))
    }

    fn watch_tree(&self, path: &str) -> impl InFlight<SimTreeWatch> + use<> {
        let armed = watched(self.send(
            |paths| Ok(Ask::AddWatch { path: known(paths, "addWatch", path)?, mode: RECURSIVE }),
            Some(Slots::take_stream),
            to_nothing,
        ));
        async move { Ok(SimTreeWatch(armed.await?.1)) }
    }

    fn session(&self) -> SessionId {
        self.sim.core().world.session(self.handle).session()
    }

    fn status(&self) -> Status {
        self.sim.core().world.session(self.handle).status()
    }

    fn changed(&self, seen: Status) -> impl Future<Output = Status> + Send + use<> {
        let handle = self.handle;
        self.sim.until(waiting_of(handle), move |core| {
            Some(core.world.session(handle).status()).filter(|status| *status != seen)
        })
    }

    fn safe_until(&self) -> Time {
        Time::from_micros(self.sim.core().world.safe_until(self.handle))
    }

    fn timeout(&self) -> Duration {
        Duration::from_micros(self.sim.core().world.session(self.handle).sound_timeout())
    }

    fn on_session_over(&self, listener: Weak<dyn OnSessionOver>) {
        let is_over = {
            let mut core = self.sim.core();
            core.handles[usize::from(self.handle.0)].endings.add(listener.clone());
            core.world.session(self.handle).is_over()
        };
        if is_over && let Some(listener) = listener.upgrade() {
            listener.session_over();
        }
    }

    fn close(&self, limit: Duration) -> impl InFlight<()> + use<> {
        let client = self.clone();
        async move {
            let until = client.now() + limit;
            let _ =
                futures_util::future::select(client.duties_done(), Box::pin(client.sleep_until(until))).await;
            match plain(client.send(|_| Ok(Ask::CloseSession), None, to_nothing)).await {
                // The session is over already, or another task is closing it.
                Err(e) if e.is_session_over() => {
                    let mut status = client.status();
                    while status.over().is_none() {
                        status = client.changed(status).await;
                    }
                    Ok(())
                }
                // It is the caller's no longer, whatever became of the request.
                Err(e) => {
                    client.abandon();
                    Err(e)
                }
                Ok(()) => Ok(()),
            }
        }
    }
}

impl SimClient {
    /// Whether nothing can be sent any more: the run, the process or the session has ended.
    fn is_gone(&self, core: &Core) -> bool {
        core.ended || core.world.is_crashed(self.process) || core.world.session(self.handle).is_over()
    }

    /// Closes a session whose owner is gone, unless that has crashed.
    pub(super) fn abandon(&self) {
        let is_gone = self.is_gone(&self.sim.core());
        if !is_gone {
            drop(self.send(|_| Ok(Ask::CloseSession), None, to_nothing));
        }
    }

    /// Resolves when no clean-up duty of this session is running.
    fn duties_done(&self) -> impl Future<Output = ()> + Send + Unpin + use<> {
        let handle = usize::from(self.handle.0);
        self.sim.until(waiting_of(self.handle), move |core| (core.handles[handle].duties == 0).then_some(()))
    }
}

/// The tasks that wait for a change of that session.
fn waiting_of(handle: HandleId) -> impl Fn(&mut Core) -> &mut Waiters {
    move |core| &mut core.handles[usize::from(handle.0)].waiting
}

impl Discharge for SimClient {
    fn start(self: Arc<Self>, _: DutyId, duty: Duty) {
        if std::thread::panicking() {
            return;
        }
        let (node, handle) = {
            let mut core = self.sim.core();
            if self.is_gone(&core) {
                return;
            }
            core.handles[usize::from(self.handle.0)].duties += 1;
            (core.nodes[usize::from(self.process)].clone(), usize::from(self.handle.0))
        };
        let work = duty::discharge(&*self, duty);
        let sim = self.sim.clone();
        node.spawn(async move {
            work.await;
            sim.act(|core| {
                let state = &mut core.handles[handle];
                state.duties -= 1;
                wake_all(&mut state.waiting, &mut core.wakers);
            });
        });
    }

    fn done(&self, _: DutyId) {}
}

/// The wire mode of a persistent recursive watch.
const RECURSIVE: i32 = 1;

/// Spreads a counter over 64 bits (splitmix64): names without a visible order, and without a random draw.
fn scatter(counter: u64) -> u64 {
    let mut z = counter.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
