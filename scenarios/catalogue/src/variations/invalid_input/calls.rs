//! The calls, each with an input that is wrong in one part.
//!
//! Which part of an input can be wrong is a matter of types: a name, a size, a margin. The descriptions in `checker/src/kinds`
//! do not know it, nor the functions that are called; so the calls are listed here, each with its flaws.

use crate::prelude::*;
use std::collections::BTreeMap;
use std::time::Duration;
use zk_recipes::config::{ConfigSet, ConfigSetOptions};
use zk_recipes::group::{Group, GroupOptions, IfTaken};
use zk_recipes::names::{Freshness, Names as NameService, NamesOptions};
use zk_recipes::two_phase_commit::{Coordinator, Form, Site, Transaction};
use zk_recipes::zk::{Guid, path};
use zk_recipes::{
    Barrier, BarrierOptions, ConsumerOptions, Delivery, DoubleBarrier, DoubleBarrierOptions, Election,
    ElectionOptions, Idle, Leave, Lock, LockOptions, Order, Parents, Priority, PriorityLock,
    PriorityLockOptions, PriorityQueue, PriorityQueueOptions, Queue, QueueOptions, Reuse, RevocableLock,
    RevocableLockOptions, SharedLock, SharedLockOptions,
};

/// The input of a call.
#[derive(Clone, Debug)]
pub(super) struct Input {
    /// The path of the object.
    pub path: String,
    /// A name, an id, a key, a site or a prefix.
    pub name: String,
    pub data: Vec<u8>,
    pub margin: Option<Duration>,
    /// A number of items, sets or participants.
    pub count: usize,
}

/// The wrong part of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    /// The path is this one.
    Path(&'static str),
    /// The name is this one.
    Name(&'static str),
    /// The data exceed the size of a request.
    TooLarge,
    /// The data are the word that revokes a hold.
    Word,
    /// The margin is as long as the session timeout.
    Margin,
    /// The count is zero.
    Nobody,
    /// The count exceeds the size of a request.
    Crowd,
}

/// Paths that every recipe refuses.
const PATHS: [Flaw; 8] = [
    Flaw::Path(""),
    Flaw::Path("mistakes/relative"),
    Flaw::Path("/"),
    Flaw::Path("/zookeeper/mistakes"),
    Flaw::Path("/mistakes//twice"),
    Flaw::Path("/mistakes/"),
    Flaw::Path("/mistakes/../up"),
    Flaw::Path("/mistakes/\u{0}"),
];

/// Names that cannot be a component of a path.
const NAMES: [Flaw; 4] = [Flaw::Name(""), Flaw::Name("a/b"), Flaw::Name(".."), Flaw::Name("a\u{1}")];

/// Names that cannot end a component of a path.
const ENDS: &[Flaw] = &[Flaw::Name(""), Flaw::Name("a/b"), Flaw::Name("a\u{1}")];

/// A call in which mistakes are made.
pub(super) struct Mistaken {
    /// The kind of its object, of which there is one.
    pub kind: Kind,
    pub verb: Verb,
    /// Its possible flaws, besides the path.
    flaws: &'static [&'static [Flaw]],
}

const HOLD: &[&[Flaw]] = &[&[Flaw::TooLarge, Flaw::Margin]];
const ASKED: &[&[Flaw]] = &[&[Flaw::TooLarge, Flaw::Margin, Flaw::Word]];
const NAMED: &[&[Flaw]] = &[&NAMES, &[Flaw::TooLarge, Flaw::Margin]];
const PUT: &[&[Flaw]] = &[&[Flaw::TooLarge, Flaw::Nobody]];

/// The calls.
pub(super) const CALLS: &[Mistaken] = &[
    Mistaken { kind: Kind::Lock, verb: Verb::Acquire, flaws: HOLD },
    Mistaken { kind: Kind::Lock, verb: Verb::TryAcquire, flaws: HOLD },
    Mistaken { kind: Kind::SharedLock, verb: Verb::Read, flaws: HOLD },
    Mistaken { kind: Kind::SharedLock, verb: Verb::TryWrite, flaws: HOLD },
    Mistaken { kind: Kind::RevocableLock, verb: Verb::TryRead, flaws: ASKED },
    Mistaken { kind: Kind::RevocableLock, verb: Verb::Write, flaws: ASKED },
    Mistaken { kind: Kind::PriorityLock, verb: Verb::Read, flaws: ASKED },
    Mistaken { kind: Kind::PriorityLock, verb: Verb::Write, flaws: ASKED },
    Mistaken { kind: Kind::Election, verb: Verb::Stand, flaws: HOLD },
    Mistaken { kind: Kind::Names, verb: Verb::Register, flaws: NAMED },
    Mistaken { kind: Kind::Names, verb: Verb::Recall, flaws: &[&NAMES] },
    Mistaken { kind: Kind::Names, verb: Verb::Resolve, flaws: &[&NAMES] },
    Mistaken { kind: Kind::Names, verb: Verb::Follow, flaws: &[&NAMES] },
    Mistaken { kind: Kind::Names, verb: Verb::Unique, flaws: &[ENDS] },
    Mistaken { kind: Kind::Group, verb: Verb::Join, flaws: NAMED },
    Mistaken { kind: Kind::Barrier, verb: Verb::Raise, flaws: &[] },
    Mistaken {
        kind: Kind::DoubleBarrier,
        verb: Verb::Enter,
        flaws: &[&[Flaw::Name(""), Flaw::Name("a/b"), Flaw::Nobody, Flaw::Crowd]],
    },
    Mistaken { kind: Kind::Config, verb: Verb::Overwrite, flaws: PUT },
    Mistaken { kind: Kind::Config, verb: Verb::CompareAndSet, flaws: PUT },
    Mistaken { kind: Kind::Config, verb: Verb::Publish, flaws: &[&NAMES, &[Flaw::TooLarge, Flaw::Nobody]] },
    Mistaken { kind: Kind::Queue, verb: Verb::Put, flaws: PUT },
    Mistaken { kind: Kind::Queue, verb: Verb::Take, flaws: &[&[Flaw::Nobody]] },
    Mistaken { kind: Kind::PriorityQueue, verb: Verb::Put, flaws: PUT },
    Mistaken {
        kind: Kind::TwoPhaseCommit,
        verb: Verb::Begin,
        flaws: &[ENDS, &[Flaw::TooLarge, Flaw::Nobody]],
    },
    Mistaken { kind: Kind::TwoPhaseCommit, verb: Verb::Vote, flaws: &[ENDS] },
];

/// The kinds of the objects, in their order: that of the calls.
pub(super) fn kinds() -> Vec<Kind> {
    let mut kinds: Vec<Kind> = CALLS.iter().map(|call| call.kind).collect();
    kinds.dedup();
    kinds
}

impl Mistaken {
    /// Its object.
    pub(super) fn object(&self) -> ObjectId {
        let at = kinds().iter().position(|kind| *kind == self.kind);
        ObjectId(at.expect("its kind is one of those") as u16)
    }

    /// Its possible flaws.
    pub(super) fn flaws(&self) -> impl Iterator<Item = Flaw> + Clone + '_ {
        PATHS.iter().chain(self.flaws.iter().copied().flatten()).copied()
    }

    /// An input with that flaw.
    pub(super) fn input(&self, flaw: Flaw, timeout: Duration) -> Input {
        let mut input = self.good();
        match flaw {
            Flaw::Path(path) => path.clone_into(&mut input.path),
            Flaw::Name(name) => name.clone_into(&mut input.name),
            Flaw::TooLarge => input.data = vec![b'x'; path::MAX_REQUEST_BYTES],
            Flaw::Word => input.data = b"unlock".to_vec(),
            Flaw::Margin => input.margin = Some(timeout),
            Flaw::Nobody => input.count = 0,
            Flaw::Crowd => input.count = path::MAX_REQUEST_BYTES,
        }
        input
    }

    /// An input without a flaw.
    pub(super) fn good(&self) -> Input {
        let count = if self.kind == Kind::Config { 2 } else { 1 };
        let path = path_of(self.kind);
        Input { path, name: "a".to_owned(), data: b"x".to_vec(), margin: None, count }
    }
}

/// The path of the object of a kind.
pub(super) fn path_of(kind: Kind) -> String {
    format!("/mistakes/{}", kind.name())
}

/// The time limit of a call, which should fail before it waits.
const LIMIT: Duration = Duration::from_secs(1);

/// Makes a call.
pub(super) async fn calls<Z: ZooKeeper>(zk: &Z, call: &Mistaken, input: Input) -> Result<(), Error> {
    match call.kind {
        Kind::Names => names(zk, call.verb, input).await,
        Kind::Config => config(zk, call.verb, input).await,
        Kind::Queue | Kind::PriorityQueue => queues(zk, call, input).await,
        Kind::TwoPhaseCommit => transaction(zk, call.verb, input).await,
        _ => holds(zk, call, input).await,
    }
}

async fn holds<Z: ZooKeeper>(zk: &Z, call: &Mistaken, input: Input) -> Result<(), Error> {
    let Input { path, name, data, margin, count } = input;
    match (call.kind, call.verb) {
        (Kind::Lock, verb) => {
            let lock = Lock::new(zk, &path, LockOptions::default().with_data(data).with_margin(margin))?;
            match verb {
                Verb::TryAcquire => lock.try_acquire().await.map(drop),
                _ => lock.acquire().within(LIMIT).await.map(drop),
            }
        }
        (Kind::SharedLock, verb) => {
            let options = SharedLockOptions::default().with_data(data).with_margin(margin);
            let lock = SharedLock::new(zk, &path, options)?;
            match verb {
                Verb::TryWrite => lock.try_write().await.map(drop),
                _ => lock.read().within(LIMIT).await.map(drop),
            }
        }
        (Kind::RevocableLock, verb) => {
            let options = RevocableLockOptions::default().with_data(data).with_margin(margin);
            let lock = RevocableLock::new(zk, &path, options)?;
            match verb {
                Verb::TryRead => lock.try_read().await.map(drop),
                _ => lock.write().within(LIMIT).await.map(drop),
            }
        }
        (Kind::PriorityLock, verb) => {
            let options = PriorityLockOptions::default().with_data(data).with_margin(margin);
            let lock = PriorityLock::new(zk, &path, options)?;
            match verb {
                Verb::Read => lock.read(Priority(0)).within(LIMIT).await.map(drop),
                _ => lock.write(Priority(0)).within(LIMIT).await.map(drop),
            }
        }
        (Kind::Election, _) => {
            let options = ElectionOptions::default().with_data(data).with_margin(margin);
            Election::new(zk, &path, options)?.stand().within(LIMIT).await.map(drop)
        }
        (Kind::Group, _) => {
            let options = GroupOptions::default().with_margin(margin).with_if_taken(IfTaken::Wait);
            Group::new(zk, &path, options)?.join(Some(&name), &data).within(LIMIT).await.map(drop)
        }
        (Kind::DoubleBarrier, _) => {
            let options =
                DoubleBarrierOptions::new(count, Reuse::Generations, Leave::Keeper).with_id(name.as_str());
            DoubleBarrier::new(zk, &path, options)?.enter().within(LIMIT).await.map(drop)
        }
        _ => Barrier::new(zk, &path, BarrierOptions::default())?.raise().await,
    }
}

async fn names<Z: ZooKeeper>(zk: &Z, verb: Verb, input: Input) -> Result<(), Error> {
    let Input { path, name, data, margin, .. } = input;
    let names = NameService::new(zk, &path, NamesOptions::default().with_margin(margin))?;
    match verb {
        Verb::Register => names.register(&name, &data).within(LIMIT).await.map(drop),
        Verb::Recall => names.registered(&name, Guid(1)).await.map(drop),
        Verb::Resolve => names.resolve(&name, Freshness::Local).await.map(drop),
        Verb::Follow => names.follow(&name)?.next().await.map(drop),
        _ => names.unique(&name).await.map(drop),
    }
}

async fn config<Z: ZooKeeper>(zk: &Z, verb: Verb, input: Input) -> Result<(), Error> {
    let Input { path, name, data, count, .. } = input;
    let set = ConfigSet::new(zk, &path, ConfigSetOptions::default().with_keep(count))?;
    let written = match verb {
        Verb::Overwrite => set.pointer().put(&data).await,
        Verb::CompareAndSet => set.pointer().compare_and_set(None, &data).await,
        _ => set.publish(&BTreeMap::from([(name, data)]), None).await,
    };
    written.map(drop)
}

async fn queues<Z: ZooKeeper>(zk: &Z, call: &Mistaken, input: Input) -> Result<(), Error> {
    let Input { path, data, count, .. } = input;
    let (delivery, idle, parents) = (Delivery::AtMostOnce, Idle::HerdFree, Parents::Container);
    let items = vec![data; count];
    if call.kind == Kind::PriorityQueue {
        let options = PriorityQueueOptions::new(Order::Fresh, delivery).with_idle(idle).with_parents(parents);
        let queue = PriorityQueue::new(zk, &path, options)?;
        return queue.producer().put_all(Priority(0), &items).await;
    }
    let queue = Queue::new(zk, &path, QueueOptions::new(delivery).with_idle(idle).with_parents(parents))?;
    match call.verb {
        Verb::Put => queue.producer().put_all(&items).await,
        _ => {
            let options = ConsumerOptions::default();
            let mut consumer = match queue.consumer_with(options.with_prefetch(count)) {
                Ok(consumer) => consumer,
                // A wrong window fails in the same way.
                Err(_) => queue.consumer_with(options.with_window(count))?,
            };
            consumer.take_up_to(1).await.map(drop)
        }
    }
}

async fn transaction<Z: ZooKeeper>(zk: &Z, verb: Verb, input: Input) -> Result<(), Error> {
    let Input { path, name, data, count, .. } = input;
    if verb == Verb::Vote {
        return Site::open(zk, &path, &name).await.map(drop);
    }
    let sites = vec![name; count];
    let form = Form::Decentralised { follow_votes: false };
    Coordinator::begin(zk, &path, Transaction { sites, payload: data, form }).await.map(drop)
}
