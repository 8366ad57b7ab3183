//! The calls, each with an input that is wrong in one part.

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
    /// The number of its object, among [`KINDS`].
    pub object: u16,
    pub verb: Verb,
    /// Its possible flaws, besides the path.
    flaws: &'static [&'static [Flaw]],
}

/// The objects: one of each kind.
pub(super) const KINDS: [Kind; 13] = [
    Kind::Lock,
    Kind::SharedLock,
    Kind::RevocableLock,
    Kind::PriorityLock,
    Kind::Election,
    Kind::Names,
    Kind::Group,
    Kind::Barrier,
    Kind::DoubleBarrier,
    Kind::Config,
    Kind::Queue,
    Kind::PriorityQueue,
    Kind::TwoPhaseCommit,
];

const HOLD: &[&[Flaw]] = &[&[Flaw::TooLarge, Flaw::Margin]];
const ASKED: &[&[Flaw]] = &[&[Flaw::TooLarge, Flaw::Margin, Flaw::Word]];
const NAMED: &[&[Flaw]] = &[&NAMES, &[Flaw::TooLarge, Flaw::Margin]];
const PUT: &[&[Flaw]] = &[&[Flaw::TooLarge, Flaw::Nobody]];

/// The calls.
pub(super) const CALLS: &[Mistaken] = &[
    Mistaken { object: 0, verb: Verb::Acquire, flaws: HOLD },
    Mistaken { object: 0, verb: Verb::TryAcquire, flaws: HOLD },
    Mistaken { object: 1, verb: Verb::Read, flaws: HOLD },
    Mistaken { object: 1, verb: Verb::TryWrite, flaws: HOLD },
    Mistaken { object: 2, verb: Verb::TryRead, flaws: ASKED },
    Mistaken { object: 2, verb: Verb::Write, flaws: ASKED },
    Mistaken { object: 3, verb: Verb::Read, flaws: ASKED },
    Mistaken { object: 3, verb: Verb::Write, flaws: ASKED },
    Mistaken { object: 4, verb: Verb::Stand, flaws: HOLD },
    Mistaken { object: 5, verb: Verb::Register, flaws: NAMED },
    Mistaken { object: 5, verb: Verb::Recall, flaws: &[&NAMES] },
    Mistaken { object: 5, verb: Verb::Resolve, flaws: &[&NAMES] },
    Mistaken { object: 5, verb: Verb::Follow, flaws: &[&NAMES] },
    Mistaken { object: 5, verb: Verb::Unique, flaws: &[ENDS] },
    Mistaken { object: 6, verb: Verb::Join, flaws: NAMED },
    Mistaken { object: 7, verb: Verb::Raise, flaws: &[] },
    Mistaken {
        object: 8,
        verb: Verb::Enter,
        flaws: &[&[Flaw::Name(""), Flaw::Name("a/b"), Flaw::Nobody, Flaw::Crowd]],
    },
    Mistaken { object: 9, verb: Verb::Overwrite, flaws: PUT },
    Mistaken { object: 9, verb: Verb::CompareAndSet, flaws: PUT },
    Mistaken { object: 9, verb: Verb::Publish, flaws: &[&NAMES, &[Flaw::TooLarge, Flaw::Nobody]] },
    Mistaken { object: 10, verb: Verb::Put, flaws: PUT },
    Mistaken { object: 10, verb: Verb::Take, flaws: &[&[Flaw::Nobody]] },
    Mistaken { object: 11, verb: Verb::Put, flaws: PUT },
    Mistaken { object: 12, verb: Verb::Begin, flaws: &[ENDS, &[Flaw::TooLarge, Flaw::Nobody]] },
    Mistaken { object: 12, verb: Verb::Vote, flaws: &[ENDS] },
];

impl Mistaken {
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
        let count = if KINDS[usize::from(self.object)] == Kind::Config { 2 } else { 1 };
        let path = path_of(self.object);
        Input { path, name: "a".to_owned(), data: b"x".to_vec(), margin: None, count }
    }
}

/// The path of an object.
pub(super) fn path_of(object: u16) -> String {
    format!("/mistakes/{}", KINDS[usize::from(object)].name())
}

/// The time limit of a call, which should fail before it waits.
const LIMIT: Duration = Duration::from_secs(1);

/// Makes a call.
pub(super) async fn calls<Z: ZooKeeper>(zk: &Z, call: &Mistaken, input: Input) -> Result<(), Error> {
    match KINDS[usize::from(call.object)] {
        Kind::Names => names(zk, call.verb, input).await,
        Kind::Config => config(zk, call.verb, input).await,
        Kind::Queue | Kind::PriorityQueue => queues(zk, call, input).await,
        Kind::TwoPhaseCommit => transaction(zk, call.verb, input).await,
        _ => holds(zk, call, input).await,
    }
}

async fn holds<Z: ZooKeeper>(zk: &Z, call: &Mistaken, input: Input) -> Result<(), Error> {
    let Input { path, name, data, margin, count } = input;
    match (KINDS[usize::from(call.object)], call.verb) {
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
    if KINDS[usize::from(call.object)] == Kind::PriorityQueue {
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
