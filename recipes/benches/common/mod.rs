//! A ZooKeeper that answers at once, of directories with very many children: what is left of an operation's time is the
//! recipe's own, beside that of the lists it asks for.

#![allow(dead_code, reason = "each binary needs a part of it")]
#![allow(refining_impl_trait, reason = "answers that are there at once, of a type that says so")]

use futures_util::FutureExt;
use futures_util::future::{Ready, ready};
use futures_util::{future, stream};
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use zk_recipes::election::Leader;
use zk_recipes::zk::{
    Armed, CreateMode, Created, Data, Discharge, Duty, DutyId, Error, ErrorKind, Event, Guid, Listing, Op,
    OpResult, Runtime, SessionId, Stat, State, Status, Time, TreeEvent, ZooKeeper, path,
};
use zk_recipes::{
    Delivery, DoubleBarrier, DoubleBarrierOptions, Election, ElectionOptions, Group, GroupOptions, Idle,
    Leave, Lock, LockOptions, Order, Parents, Priority, PriorityLock, PriorityLockOptions, PriorityQueue,
    PriorityQueueOptions, Queue, QueueOptions, Reuse, SharedLock, SharedLockOptions, WithData,
};

/// The session. Its znodes are directories, with the children that they were given, and znodes with data.
#[derive(Clone)]
pub struct Fake(Arc<Tree>);

struct Tree {
    directories: BTreeMap<String, Mutex<Frame>>,
    data: BTreeMap<String, Vec<u8>>,
}

/// The children of a directory, as an answer carries them over the wire.
#[derive(Clone, Default)]
struct Frame {
    bytes: Vec<u8>,
    children: i32,
    next: i32,
}

impl Frame {
    fn push(&mut self, name: &str) {
        let length = u32::try_from(name.len()).expect("a name is short");
        self.bytes.extend(length.to_be_bytes());
        self.bytes.extend(name.as_bytes());
        self.children += 1;
    }

    /// Takes the last one away, if it has that name.
    fn pop(&mut self, name: &str) {
        if self.bytes.ends_with(name.as_bytes()) {
            self.bytes.truncate(self.bytes.len() - name.len() - 4);
            self.children -= 1;
        }
    }

    fn names(&self) -> Vec<String> {
        let mut names = Vec::with_capacity(self.children as usize);
        let mut rest = &self.bytes[..];
        while let Some((length, tail)) = rest.split_first_chunk() {
            let (name, tail) = tail.split_at(u32::from_be_bytes(*length) as usize);
            names.push(std::str::from_utf8(name).expect("it was a text").to_owned());
            rest = tail;
        }
        names
    }
}

impl Fake {
    /// Directories with the names of their children, and znodes with their data. What is created sequentially gets numbers
    /// that are larger than those of two million children.
    pub fn new(directories: &[(&str, &[String])], data: &[(&str, &[u8])]) -> Fake {
        let frame = |names: &[String]| {
            let mut frame = Frame { next: 2_000_000, ..Frame::default() };
            names.iter().for_each(|name| frame.push(name));
            Mutex::new(frame)
        };
        let directories = directories.iter().map(|(path, names)| ((*path).to_owned(), frame(names)));
        let data = data.iter().map(|(path, data)| ((*path).to_owned(), data.to_vec()));
        Fake(Arc::new(Tree { directories: directories.collect(), data: data.collect() }))
    }

    /// Another one with the same znodes, which do not change with those of this one.
    pub fn copy(&self) -> Fake {
        let copy = |frame: &Mutex<Frame>| Mutex::new(frame.lock().expect("nobody panics").clone());
        let directories = self.0.directories.iter().map(|(path, frame)| (path.clone(), copy(frame)));
        Fake(Arc::new(Tree { directories: directories.collect(), data: self.0.data.clone() }))
    }

    fn made(&self, path: &str, mode: CreateMode) -> Result<String, Error> {
        let (directory, name) = path::split(path);
        let Some(frame) = self.0.directories.get(directory) else { return Ok(path.to_owned()) };
        let mut frame = frame.lock().expect("nobody panics");
        let number = frame.next;
        frame.next += 1;
        let name = if mode.is_sequential() { format!("{name}{number:010}") } else { name.to_owned() };
        frame.push(&name);
        Ok(path::join(directory, &name))
    }

    fn stat(&self, path: &str) -> Stat {
        let frame = self.0.directories.get(path).map(|frame| frame.lock().expect("nobody panics").children);
        Stat {
            czxid: 1,
            ephemeral_owner: self.session(),
            num_children: frame.unwrap_or(0),
            ..Stat::default()
        }
    }

    fn list(&self, path: &str) -> Result<Listing, Error> {
        let frame = self.0.directories.get(path).ok_or(ErrorKind::NoNode)?;
        let names = frame.lock().expect("nobody panics").names();
        Ok(Listing { names, stat: self.stat(path) })
    }

    fn read(&self, path: &str) -> Result<Data, Error> {
        let is_child = || self.0.directories.contains_key(path::split(path).0);
        let data =
            self.0.data.get(path).cloned().or_else(|| is_child().then(Vec::new)).ok_or(ErrorKind::NoNode)?;
        Ok(Data { data, stat: self.stat(path) })
    }

    fn done(&self, op: &Op) -> Result<OpResult, Error> {
        Ok(match op {
            Op::Check { .. } => OpResult::Checked,
            Op::Create { path, mode, .. } => OpResult::Created(self.made(path, *mode)?),
            Op::Delete { path, .. } => {
                self.0.remove(path);
                OpResult::Deleted
            }
            Op::Set { path, .. } => OpResult::Set(self.stat(path)),
        })
    }
}

impl Tree {
    fn remove(&self, path: &str) {
        let (directory, name) = path::split(path);
        if let Some(frame) = self.directories.get(directory) {
            frame.lock().expect("nobody panics").pop(name);
        }
    }
}

impl Discharge for Tree {
    fn start(self: Arc<Self>, _: DutyId, duty: Duty) {
        if let Duty::Path(path) = duty {
            self.remove(&path);
        }
    }

    fn done(&self, _: DutyId) {}
}

type Answer<T> = Ready<Result<T, Error>>;

impl Runtime for Fake {
    fn now(&self) -> Time {
        Time::default()
    }

    fn sleep_until(&self, _: Time) -> impl Future<Output = ()> + Send + use<> {
        future::pending()
    }

    fn guid(&self) -> Guid {
        Guid(u128::MAX)
    }

    fn arm(&self, duty: Duty) -> Armed {
        Armed::new(1, duty, self.0.clone())
    }
}

impl ZooKeeper for Fake {
    type Watch = future::Pending<Result<Event, Error>>;
    type TreeWatch = stream::Pending<Result<TreeEvent, Error>>;

    fn create(&self, path: &str, _: &[u8], mode: CreateMode) -> Answer<Created> {
        ready(self.made(path, mode).map(|path| Created { stat: self.stat(&path), path }))
    }

    fn delete(&self, path: &str, _: Option<i32>) -> Answer<()> {
        self.0.remove(path);
        ready(Ok(()))
    }

    fn set(&self, path: &str, _: &[u8], _: Option<i32>) -> Answer<Stat> {
        ready(Ok(self.stat(path)))
    }

    fn exists(&self, path: &str) -> Answer<Option<Stat>> {
        ready(Ok(Some(self.stat(path))))
    }

    fn exists_watch(&self, path: &str) -> Answer<(Option<Stat>, Self::Watch)> {
        ready(Ok((Some(self.stat(path)), future::pending())))
    }

    fn get(&self, path: &str) -> Answer<Data> {
        ready(self.read(path))
    }

    fn get_watch(&self, path: &str) -> Answer<(Data, Self::Watch)> {
        ready(self.read(path).map(|data| (data, future::pending())))
    }

    fn children(&self, path: &str) -> Answer<Listing> {
        ready(self.list(path))
    }

    fn children_watch(&self, path: &str) -> Answer<(Listing, Self::Watch)> {
        let is_child = self.0.directories.contains_key(path::split(path).0);
        let list = match self.list(path) {
            // A child: it has none itself.
            Err(e) if e.is_no_node() && is_child => Ok(Listing { names: Vec::new(), stat: self.stat(path) }),
            list => list,
        };
        ready(list.map(|list| (list, future::pending())))
    }

    fn get_many(&self, paths: &[String]) -> Answer<Vec<Option<Data>>> {
        ready(Ok(paths.iter().map(|path| self.read(path).ok()).collect()))
    }

    fn multi(&self, ops: Vec<Op>) -> Answer<Vec<OpResult>> {
        ready(ops.iter().map(|op| self.done(op)).collect())
    }

    fn sync(&self, _: &str) -> Answer<()> {
        ready(Ok(()))
    }

    fn watch_tree(&self, _: &str) -> Answer<Self::TreeWatch> {
        ready(Ok(stream::pending()))
    }

    fn session(&self) -> SessionId {
        SessionId(1)
    }

    fn status(&self) -> Status {
        Status { state: State::Connected, connection: 1, changes: 1 }
    }

    fn changed(&self, _: Status) -> impl Future<Output = Status> + Send + use<> {
        future::pending()
    }

    fn safe_until(&self) -> Time {
        Time::NEVER
    }

    fn timeout(&self) -> Duration {
        Duration::from_secs(10)
    }

    fn close(&self, _: Duration) -> Answer<()> {
        ready(Ok(()))
    }
}

/// So many names, in no order, as a server gives them; each with a guid of its own.
pub fn names(many: u32, name: impl Fn(Guid, u32) -> String) -> Vec<String> {
    let scattered = |number: u32| u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut numbers: Vec<u32> = (0..many).collect();
    numbers.sort_unstable_by_key(|number| scattered(*number));
    let guid = |number| Guid(u128::from(scattered(number)) << 64 | u128::from(scattered(number + 1)));
    numbers.into_iter().map(|number| name(guid(number), number)).collect()
}

/// A recipe's operation on a directory with many children.
pub struct Case {
    pub name: &'static str,
    /// So many children, and what else there has to be.
    pub tree: fn(u32) -> Fake,
    /// The directories of which it needs a list, once for each time that it needs one.
    pub lists: &'static [&'static str],
    /// The operation, as far as it comes without waiting.
    pub work: fn(&Fake),
}

impl Case {
    /// Only what the operation cannot do without.
    pub fn list_only(&self, zk: &Fake) {
        for directory in self.lists {
            let list = zk.children(directory).now_or_never().expect("it answers at once");
            std::hint::black_box(list).expect("there is one");
        }
    }
}

fn now<T>(operation: impl Future<Output = Result<T, Error>>) -> T {
    let ended = operation.now_or_never().expect("nothing has to be waited for");
    std::hint::black_box(ended).expect("nothing goes wrong")
}

fn waits<T>(operation: impl Future<Output = T>) {
    assert!(operation.now_or_never().is_none(), "it has to wait");
}

fn line(many: u32) -> Fake {
    Fake::new(&[("/l", &names(many, |guid, number| format!("{guid}-lock-{number:010}")))], &[])
}

fn readers_and_writers(many: u32) -> Fake {
    let role = |number| if number % 2 == 0 { "read" } else { "write" };
    let name = |guid, number| format!("{guid}-{}-{number:010}", role(number));
    Fake::new(&[("/s", &names(many, name))], &[])
}

fn by_priority(many: u32) -> Fake {
    let name = |guid, number| format!("{guid}-write-{:05}-{number:010}", number % 10);
    let directories = [("/p/line", &names(many, name)[..]), ("/p/held", &[]), ("/p", &[])];
    Fake::new(&directories, &[])
}

fn candidates(many: u32) -> Fake {
    let all = names(many, |guid, number| format!("{guid}-n_{number:010}"));
    let first = all.iter().find(|name| name.ends_with("-n_0000000000")).expect("somebody is the first");
    Fake::new(&[("/e", &all)], &[("/e/leader", format!("{first} 1\nhost").as_bytes())])
}

fn members(many: u32) -> Fake {
    Fake::new(&[("/g", &names(many, |guid, _| guid.to_string()))], &[])
}

fn items(many: u32) -> Fake {
    let all = names(many, |_, number| format!("queue-{number:010}"));
    Fake::new(&[("/q", &all)], &[("/q", b"queue at-most-once")])
}

fn items_that_are_claimed(many: u32) -> Fake {
    let name = |_, number| format!("queue-{number:010}");
    let (all, mut claimed) = (names(many, name), names(many, name));
    claimed.reverse();
    Fake::new(&[("/q", &all), ("/q/claims", &claimed)], &[("/q", b"queue at-least-once")])
}

fn items_by_priority(many: u32) -> Fake {
    let all = names(many, |_, number| format!("queue-{:05}-{number:010}", number % 10));
    Fake::new(&[("/q", &all)], &[("/q", b"priority-queue at-most-once")])
}

fn participants(many: u32) -> Fake {
    let all = names(many, |guid, number| format!("{guid}-member-{number:010}"));
    Fake::new(&[("/b/0", &all)], &[("/b", (many + 1).to_string().as_bytes())])
}

fn queue_options(delivery: Delivery) -> QueueOptions {
    QueueOptions::new(delivery).with_idle(Idle::Textbook).with_parents(Parents::MustExist)
}

/// One for each way in which a recipe reads a list.
pub const CASES: &[Case] = &[
    Case {
        name: "lock, contenders",
        tree: line,
        lists: &["/l"],
        work: |zk| {
            let lock = Lock::new(zk, "/l", LockOptions::default()).expect("a good path");
            let contenders = now(lock.contenders());
            assert!(contenders.is_sorted_by_key(|one| one.number));
        },
    },
    Case {
        name: "lock, try_acquire",
        tree: line,
        lists: &["/l"],
        work: |zk| {
            let lock = Lock::new(zk, "/l", LockOptions::default()).expect("a good path");
            assert!(now(lock.try_acquire()).is_none(), "others are ahead");
        },
    },
    Case {
        name: "lock, acquire",
        tree: line,
        lists: &["/l"],
        work: |zk| waits(Lock::new(zk, "/l", LockOptions::default()).expect("a good path").acquire()),
    },
    Case {
        name: "shared lock, contenders",
        tree: readers_and_writers,
        lists: &["/s"],
        work: |zk| {
            let lock = SharedLock::new(zk, "/s", SharedLockOptions::default()).expect("a good path");
            assert!(!now(lock.contenders()).is_empty());
        },
    },
    Case {
        name: "shared lock, try_read",
        tree: readers_and_writers,
        lists: &["/s"],
        work: |zk| {
            let lock = SharedLock::new(zk, "/s", SharedLockOptions::default()).expect("a good path");
            assert!(now(lock.try_read()).is_none(), "a writer is ahead");
        },
    },
    Case {
        name: "priority lock, contenders",
        tree: by_priority,
        lists: &["/p/line"],
        work: |zk| {
            let lock = PriorityLock::new(zk, "/p", PriorityLockOptions::default()).expect("a good path");
            assert!(!now(lock.contenders()).is_empty());
        },
    },
    Case {
        name: "priority lock, write",
        tree: by_priority,
        lists: &["/p/line"],
        work: |zk| {
            let lock = PriorityLock::new(zk, "/p", PriorityLockOptions::default()).expect("a good path");
            waits(lock.write(Priority(5)));
        },
    },
    Case {
        name: "election, observe",
        tree: candidates,
        lists: &["/e"],
        work: |zk| {
            let election = Election::new(zk, "/e", ElectionOptions::default()).expect("a good path");
            assert!(matches!(now(election.follow().next()), Leader::Acknowledged { .. }));
        },
    },
    Case {
        name: "group, view",
        tree: members,
        lists: &["/g"],
        work: |zk| {
            let group = Group::new(zk, "/g", GroupOptions::default()).expect("a good path");
            assert!(!now(group.follow(WithData::No).next()).members.is_empty());
        },
    },
    Case {
        name: "queue, take",
        tree: items,
        lists: &["/q"],
        work: |zk| {
            let queue = Queue::new(zk, "/q", queue_options(Delivery::AtMostOnce)).expect("a good path");
            now(queue.consumer().take());
        },
    },
    Case {
        name: "queue, claim where all is claimed",
        tree: items_that_are_claimed,
        // What is there and what is claimed, and once more with a watch on each.
        lists: &["/q", "/q/claims", "/q", "/q/claims", "/q/claims"],
        work: |zk| {
            let queue = Queue::new(zk, "/q", queue_options(Delivery::AtLeastOnce)).expect("a good path");
            waits(queue.consumer().claim());
        },
    },
    Case {
        name: "priority queue, take",
        tree: items_by_priority,
        lists: &["/q"],
        work: |zk| {
            let options = PriorityQueueOptions::new(Order::Fresh, Delivery::AtMostOnce)
                .with_idle(Idle::Textbook)
                .with_parents(Parents::MustExist);
            let queue = PriorityQueue::new(zk, "/q", options).expect("a good path");
            now(queue.consumer().take());
        },
    },
];

/// To enter a double barrier with so many others, and to begin to leave. Its opening is a request with all their names, so
/// that there is a limit to how many they can be.
pub const DOUBLE_BARRIER: Case = Case {
    name: "double barrier, enter and leave",
    tree: participants,
    lists: &["/b/0", "/b/0"],
    work: |zk| {
        let participants = zk.stat("/b/0").num_children + 1;
        let options = DoubleBarrierOptions::new(participants as usize, Reuse::Generations, Leave::Chain)
            .with_parents(Parents::MustExist);
        let barrier = DoubleBarrier::new(zk, "/b", options).expect("a good path");
        waits(now(barrier.enter()).leave());
    },
};
