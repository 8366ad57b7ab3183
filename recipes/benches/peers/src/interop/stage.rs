//! Two parties before one lock: ours, and a session of another library. A contender is a word whose first letter says
//! whose it is, `o1` or `t1`.

use super::theirs::{SESSION, Theirs};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use zk_client::{Client, Options};
use zk_recipes::guard::{Exclusive, Read, Write};
use zk_recipes::zk::{CreateMode, Error, ZooKeeper};
use zk_recipes::{Guard, Lock, LockOptions, Naming, SharedLock, SharedLockOptions};

/// How long something may take that nobody prevents.
const LIMIT: Duration = Duration::from_secs(60);

/// What a contender asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Lock,
    Read,
    Write,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Kind::Lock => "lock",
            Kind::Read => "read",
            Kind::Write => "write",
        }
    }
}

enum Hold {
    Lock(Guard<Client, Exclusive>),
    Read(Guard<Client, Read>),
    Write(Guard<Client, Write>),
}

impl Hold {
    async fn release(self) {
        let released = match self {
            Hold::Lock(guard) => guard.release().await,
            Hold::Read(guard) => guard.release().await,
            Hold::Write(guard) => guard.release().await,
        };
        released.expect("nobody else touches its znode");
    }
}

/// What a contender of ours needs.
#[derive(Clone)]
struct Ours {
    zk: Client,
    directory: String,
    naming: Naming,
}

/// A hold of ours, and the znode by which others would find us inside.
struct Held {
    guard: Hold,
    inside: String,
}

impl Ours {
    /// Takes the lock, and looks who else is inside.
    async fn enter(&self, kind: Kind) -> Held {
        let guard = self.acquire(kind).await.expect("the session lives");
        let inside = format!("{}-inside", self.directory);
        let mine = if kind == Kind::Read { "read-" } else { "write-" };
        let made = self.zk.create(&format!("{inside}/{mine}"), b"", CreateMode::EphemeralSequential).await;
        let all = self.zk.children(&inside).await.expect("the session lives").names;
        let writers = all.iter().any(|name| name.starts_with("write-"));
        assert!(!writers || all.len() == 1, "nobody else is inside: {all:?}");
        Held { guard, inside: made.expect("the session lives").path }
    }

    async fn acquire(&self, kind: Kind) -> Result<Hold, Error> {
        let (naming, directory) = (self.naming, self.directory.as_str());
        if kind == Kind::Lock {
            let lock = Lock::new(&self.zk, directory, LockOptions::default().with_naming(naming))?;
            return lock.acquire().await.map(Hold::Lock);
        }
        let options = SharedLockOptions::default().with_naming(naming);
        let shared = SharedLock::new(&self.zk, directory, options)?;
        match kind {
            Kind::Read => shared.read().await.map(Hold::Read),
            _ => shared.write().await.map(Hold::Write),
        }
    }

    async fn leave(&self, held: Held) {
        self.zk.delete(&held.inside, None).await.expect("the session lives");
        held.guard.release().await;
    }
}

/// The two parties, and what they do about one directory.
pub struct Stage {
    theirs: Theirs,
    ours: Ours,
    observer: Client,
    /// How many stand in line.
    contenders: usize,
    asking: BTreeMap<String, JoinHandle<Held>>,
    held: BTreeMap<String, Held>,
}

impl Stage {
    pub async fn new(theirs: Theirs, address: &str, directory: &str, naming: Naming) -> Stage {
        let options = Options::new(SESSION);
        let zk = Client::open(address, options.clone()).await.expect("the server accepts a session");
        let observer = Client::open(address, options).await.expect("the server accepts a session");
        for path in [directory.to_owned(), format!("{directory}-inside")] {
            observer.create(&path, b"", CreateMode::Persistent).await.expect("it is new");
        }
        let ours = Ours { zk, directory: directory.to_owned(), naming };
        Stage { theirs, ours, observer, contenders: 0, asking: BTreeMap::new(), held: BTreeMap::new() }
    }

    /// That contender asks, and stands in line from here on.
    pub async fn asks(&mut self, id: &str, kind: Kind) {
        if is_ours(id) {
            let ours = self.ours.clone();
            self.asking.insert(id.to_owned(), tokio::spawn(async move { ours.enter(kind).await }));
        } else {
            let directory = &self.ours.directory;
            self.theirs.order(&format!("acquire {id} {} {directory}", kind.word()));
        }
        self.contenders += 1;
        self.stand_in_line().await;
    }

    /// So many stand in line as should.
    async fn stand_in_line(&self) {
        let wait = async {
            loop {
                let (list, watch) = self.observer.children_watch(&self.ours.directory).await?;
                if list.names.len() == self.contenders {
                    return Ok::<_, Error>(());
                }
                watch.await?;
            }
        };
        let waited = timeout(LIMIT, wait).await;
        waited.expect("all of them get into the line in time").expect("the session lives");
    }

    /// That contender gets what it asked for.
    pub async fn gets_it(&mut self, id: &str) {
        if let Some(asking) = self.asking.remove(id) {
            let held = timeout(LIMIT, asking).await.unwrap_or_else(|_| panic!("{id} should get it by now"));
            self.held.insert(id.to_owned(), held.expect("what it said stands above"));
        } else {
            self.theirs.expect("acquired", id);
        }
    }

    /// Everybody who has asked and has nothing yet goes on waiting.
    pub async fn others_wait(&mut self) {
        // Answers come in the order of asking: by then ours have looked at their lists, and armed their watches.
        for _ in 0..3 {
            self.ours.zk.exists(&self.ours.directory).await.expect("the session lives");
        }
        for (id, asking) in &self.asking {
            assert!(!asking.is_finished(), "{id} must wait");
        }
        self.theirs.is_quiet();
    }

    /// That contender gives it back.
    pub async fn releases(&mut self, id: &str) {
        if let Some(held) = self.held.remove(id) {
            self.ours.leave(held).await;
        } else {
            self.theirs.order(&format!("release {id}"));
            // Whom it lets in is one of ours: one of theirs might be told of first.
            self.theirs.expect("released", id);
        }
        self.contenders -= 1;
    }

    /// All of them take it and give it back so many times, as fast as they can; nobody finds another one inside.
    pub async fn take_turns(&mut self, contenders: &[(&str, Kind)], turns: u32) {
        let mut ours = Vec::new();
        let mut theirs = Vec::new();
        for (id, kind) in contenders {
            if is_ours(id) {
                let (contender, kind) = (self.ours.clone(), *kind);
                ours.push(tokio::spawn(async move {
                    for _ in 0..turns {
                        let held = contender.enter(kind).await;
                        contender.leave(held).await;
                    }
                }));
            } else {
                self.theirs.order(&format!("turns {id} {} {} {turns}", kind.word(), self.ours.directory));
                theirs.push((*id).to_owned());
            }
        }
        for contender in ours {
            timeout(LIMIT, contender).await.expect("they come to an end").expect("what it said stands above");
        }
        self.theirs.expect_all("turned", &theirs);
    }

    /// The other session ends without a word: its process is killed.
    pub async fn they_are_killed(self) -> Alone {
        let Stage { theirs, ours, asking, .. } = self;
        drop(theirs);
        Alone { ours, asking }
    }

    /// Our session ends, with all that it has; the other one is left alone.
    pub async fn we_close(&mut self) {
        self.ours.zk.close(Duration::from_secs(5)).await.expect("the server is there");
        self.held.clear();
    }
}

/// What is left of a [`Stage`] when the other side is gone.
pub struct Alone {
    ours: Ours,
    asking: BTreeMap<String, JoinHandle<Held>>,
}

impl Alone {
    /// All of ours get what they asked for, one after the other, once the session of the others has ended.
    pub async fn get_it(self) {
        for (id, asking) in self.asking {
            let held = timeout(LIMIT, asking).await.unwrap_or_else(|_| panic!("{id} should get it by now"));
            self.ours.leave(held.expect("what it said stands above")).await;
        }
    }
}

fn is_ours(id: &str) -> bool {
    id.starts_with('o')
}
