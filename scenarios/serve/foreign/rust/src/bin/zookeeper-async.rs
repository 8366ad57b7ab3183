//! The crate zookeeper-async against any ensemble: zookeeper-async CONNECT CONTROL
//!
//! It offers neither multi nor sync, and no session by id and password. It sets no watches again when its connection is back.

use std::time::Duration;

use foreign::{DEADLINE, arguments, expect, fail, restart};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use zookeeper_async::{Acl, CreateMode, Permission, Stat, WatchedEvent, ZkError, ZkResult, ZooKeeper};

const ROOT: &str = "/zookeeper-async";
const TIMEOUT: Duration = Duration::from_secs(8);

/// A session, and the events of its watchers.
struct Session {
    zk: ZooKeeper,
    tell: UnboundedSender<WatchedEvent>,
    events: UnboundedReceiver<WatchedEvent>,
}

impl Session {
    async fn open(connect: &str) -> Session {
        let (tell, events) = unbounded_channel();
        let zk = ZooKeeper::connect(connect, TIMEOUT, |_event: WatchedEvent| {}).await;
        let zk = zk.unwrap_or_else(|error| fail(&format!("connect: {error:?}")));
        Session { zk, tell, events }
    }

    fn watcher(&self) -> impl FnOnce(WatchedEvent) + Send + 'static {
        let tell = self.tell.clone();
        move |event| drop(tell.send(event))
    }

    async fn make(&self, path: &str, mode: CreateMode) -> ZkResult<String> {
        self.zk.create(path, Vec::new(), Acl::open_unsafe().clone(), mode).await
    }

    async fn expect_event(&mut self, what: &str, want: &str) {
        match tokio::time::timeout(DEADLINE, self.events.recv()).await {
            Ok(Some(event)) => {
                let path = event.path.unwrap_or_default();
                expect(what, format!("{:?} {path}", event.event_type), want);
            }
            _ => fail(&format!("{what}: no event")),
        }
    }
}

fn at(name: &str) -> String {
    format!("{ROOT}/{name}")
}

fn text_of(stat: &Stat) -> String {
    format!(
        "version {}, cversion {}, aversion {}, length {}, children {}, {}",
        stat.version,
        stat.cversion,
        stat.aversion,
        stat.data_length,
        stat.num_children,
        if stat.is_ephemeral() { "ephemeral" } else { "no owner" }
    )
}

/// A lost connection says nothing about a request that may be repeated.
async fn repeated<T>(mut request: impl AsyncFnMut() -> ZkResult<T>) -> ZkResult<T> {
    let begin = std::time::Instant::now();
    loop {
        match request().await {
            Err(ZkError::ConnectionLoss) if begin.elapsed() < DEADLINE => {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            other => return other,
        }
    }
}

async fn creates(one: &Session) {
    let zk = &one.zk;
    let open = Acl::open_unsafe();
    expect(
        "create: the root of this program",
        one.make(ROOT, CreateMode::Persistent).await,
        Ok::<_, ()>(ROOT),
    );
    expect(
        "create: persistent",
        zk.create(&at("a"), b"data".to_vec(), open.clone(), CreateMode::Persistent).await,
        Ok::<_, ()>(at("a")),
    );
    expect(
        "create: it exists",
        one.make(&at("a"), CreateMode::Persistent).await,
        Err::<(), _>(ZkError::NodeExists),
    );
    expect(
        "create: no parent",
        one.make(&at("no/c"), CreateMode::Persistent).await,
        Err::<(), _>(ZkError::NoNode),
    );
    expect("create: ephemeral", one.make(&at("e"), CreateMode::Ephemeral).await, Ok::<_, ()>(at("e")));
    expect(
        "create: a child of an ephemeral",
        one.make(&at("e/c"), CreateMode::Persistent).await,
        Err::<(), _>(ZkError::NoChildrenForEphemerals),
    );
    expect("create: a directory", one.make(&at("s"), CreateMode::Persistent).await, Ok::<_, ()>(at("s")));
    for (number, mode) in
        [CreateMode::PersistentSequential, CreateMode::EphemeralSequential].iter().enumerate()
    {
        let name = at(&format!("s/n-{number:010}"));
        expect("create: sequential", one.make(&at("s/n-"), *mode).await, Ok::<_, ()>(name));
    }
    expect("create: container", one.make(&at("c"), CreateMode::Container).await, Ok::<_, ()>(at("c")));
    let (mode, lifetime) = (CreateMode::PersistentWithTTL, Duration::from_secs(600));
    expect(
        "create: with a lifetime",
        zk.create_ttl(&at("t"), Vec::new(), open.clone(), mode, lifetime).await,
        Ok::<_, ()>(at("t")),
    );
    let made = zk.create2(&at("b"), b"12345".to_vec(), open.clone(), CreateMode::Persistent).await;
    let (path, stat) = made.unwrap_or_else(|error| fail(&format!("create2: {error:?}")));
    expect("create2: path", path, at("b"));
    expect(
        "create2: stat",
        text_of(&stat),
        "version 0, cversion 0, aversion 0, length 5, children 0, no owner",
    );
    let mode = CreateMode::PersistentSequentialWithTTL;
    let made = zk.create2_ttl(&at("t-"), Vec::new(), open.clone(), mode, lifetime).await;
    let (path, stat) = made.unwrap_or_else(|error| fail(&format!("create2: {error:?}")));
    expect("create2: sequential with a lifetime", path, at("t-0000000006"));
    expect(
        "create2: stat",
        text_of(&stat),
        "version 0, cversion 0, aversion 0, length 0, children 0, no owner",
    );
    expect(
        "create: a lifetime of nothing",
        zk.create_ttl(&at("x"), Vec::new(), open.clone(), CreateMode::PersistentWithTTL, Duration::ZERO)
            .await,
        Err::<(), _>(ZkError::BadArguments),
    );
    expect(
        "create: for nobody",
        zk.create(&at("x"), Vec::new(), Vec::new(), CreateMode::Persistent).await,
        Err::<(), _>(ZkError::InvalidACL),
    );
}

async fn reads_and_writes(one: &Session) {
    let zk = &one.zk;
    let stat = zk.exists(&at("a"), false).await.map(|stat| stat.map(|stat| text_of(&stat)));
    let fresh = "version 0, cversion 0, aversion 0, length 4, children 0, no owner";
    expect("exists: yes", stat, Ok::<_, ()>(Some(fresh)));
    expect("exists: no", zk.exists(&at("no"), false).await.map(|stat| stat.is_some()), Ok::<_, ()>(false));
    expect("get", zk.get_data(&at("a"), false).await.map(|(data, _)| data), Ok::<_, ()>(b"data".to_vec()));
    let missing = zk.get_data(&at("no"), false).await.map(drop);
    expect("get: it is missing", missing, Err::<(), _>(ZkError::NoNode));
    let set = zk.set_data(&at("a"), b"new".to_vec(), Some(0)).await.map(|stat| text_of(&stat));
    expect("set", set, Ok::<_, ()>("version 1, cversion 0, aversion 0, length 3, children 0, no owner"));
    let set = zk.set_data(&at("a"), Vec::new(), Some(0)).await.map(drop);
    expect("set: another version", set, Err::<(), _>(ZkError::BadVersion));
    let set = zk.set_data(&at("no"), Vec::new(), None).await.map(drop);
    expect("set: it is missing", set, Err::<(), _>(ZkError::NoNode));
    let names = zk.get_children(&at("s"), false).await.map(|mut names| {
        names.sort();
        names
    });
    expect("children", names, Ok::<_, ()>(["n-0000000000", "n-0000000001"]));
    let missing = zk.get_children(&at("no"), false).await;
    expect("children: it is missing", missing, Err::<(), _>(ZkError::NoNode));
    expect("delete: another version", zk.delete(&at("a"), Some(0)).await, Err::<(), _>(ZkError::BadVersion));
    expect("delete: it has children", zk.delete(&at("s"), None).await, Err::<(), _>(ZkError::NotEmpty));
    expect("delete", zk.delete(&at("a"), Some(1)).await, Ok::<_, ()>(()));
    expect("delete: it is missing", zk.delete(&at("a"), None).await, Err::<(), _>(ZkError::NoNode));
    expect("delete: the root", zk.delete("/", None).await, Err::<(), _>(ZkError::BadArguments));
}

async fn watches(one: &mut Session, other: &Session) {
    let (w, child) = (at("w"), at("w/c"));
    let found = one.zk.exists_w(&w, one.watcher()).await.map(|stat| stat.is_some());
    expect("watch: exists, of a missing one", found, Ok::<_, ()>(false));
    expect("watch: it is created", other.make(&w, CreateMode::Persistent).await.is_ok(), true);
    one.expect_event("watch: exists", &format!("NodeCreated {w}")).await;
    expect("watch: get", one.zk.get_data_w(&w, one.watcher()).await.is_ok(), true);
    expect("watch: it is written", other.zk.set_data(&w, Vec::new(), None).await.is_ok(), true);
    one.expect_event("watch: get", &format!("NodeDataChanged {w}")).await;
    expect("watch: children", one.zk.get_children_w(&w, one.watcher()).await.is_ok(), true);
    expect("watch: a child is created", other.make(&child, CreateMode::Persistent).await.is_ok(), true);
    one.expect_event("watch: children", &format!("NodeChildrenChanged {w}")).await;
    expect("watch: get of the child", one.zk.get_data_w(&child, one.watcher()).await.is_ok(), true);
    expect("watch: children", one.zk.get_children_w(&w, one.watcher()).await.is_ok(), true);
    expect("watch: the child is deleted", other.zk.delete(&child, None).await, Ok::<_, ()>(()));
    one.expect_event("watch: get of the child", &format!("NodeDeleted {child}")).await;
    one.expect_event("watch: children", &format!("NodeChildrenChanged {w}")).await;
    let missing = one.zk.get_data_w(&child, one.watcher()).await.map(drop);
    expect("watch: get of a missing one", missing, Err::<(), _>(ZkError::NoNode));
    expect("watch: get", one.zk.get_data_w(&w, one.watcher()).await.is_ok(), true);
    expect("watch: its own write", one.zk.set_data(&w, Vec::new(), None).await.is_ok(), true);
    one.expect_event("watch: its own write", &format!("NodeDataChanged {w}")).await;
}

async fn access_control(one: &Session, other: &Session) {
    let open = one.zk.get_acl(&at("s")).await.map(|(list, _)| list);
    expect("acl: of an open one", open, Ok::<_, ()>([Acl::new(Permission::ALL, "world", "anyone")]));
    let creator = Acl::creator_all();
    let make = async |data: &[u8]| {
        one.zk.create(&at("d"), data.to_vec(), creator.clone(), CreateMode::Persistent).await
    };
    expect("acl: for the creator, who has no identity", make(b"").await, Err::<(), _>(ZkError::InvalidACL));
    expect("auth: digest", one.zk.add_auth("digest", b"ann:secret".to_vec()).await, Ok::<_, ()>(()));
    expect("acl: for the creator", make(b"mine").await, Ok::<_, ()>(at("d")));
    let own = one.zk.get_acl(&at("d")).await.map(|(list, _)| list);
    let id = "ann:7RJfAeIvrl4zdj6sS2fXrQHDvHM=";
    expect("acl: its own", own, Ok::<_, ()>([Acl::new(Permission::ALL, "digest", id)]));
    let refused = Err::<(), _>(ZkError::NoAuth);
    // A write lets a server catch up that is behind the one of the first session.
    expect("acl: set by another", other.zk.set_data(&at("d"), Vec::new(), None).await.map(drop), refused);
    expect("acl: get by another", other.zk.get_data(&at("d"), false).await.map(drop), refused);
    expect("acl: create by another", other.make(&at("d/c"), CreateMode::Persistent).await, refused);
    expect("acl: acl by another", other.zk.get_acl(&at("d")).await.map(drop), refused);
    let set = one.zk.set_acl(&at("d"), Acl::read_unsafe().clone(), Some(0)).await.map(|stat| text_of(&stat));
    expect(
        "acl: set it to read",
        set,
        Ok::<_, ()>("version 0, cversion 0, aversion 1, length 4, children 0, no owner"),
    );
    expect("acl: set by another", other.zk.set_data(&at("d"), Vec::new(), None).await.map(drop), refused);
    expect("acl: get by another", other.zk.get_data(&at("d"), false).await.is_ok(), true);
    let set = one.zk.set_acl(&at("s"), Acl::open_unsafe().clone(), Some(7)).await.map(drop);
    expect("acl: another version", set, Err::<(), _>(ZkError::BadVersion));
}

async fn restarts(mut one: Session, other: &Session, control: &str) -> ZooKeeper {
    let r = at("r");
    expect("restart: a znode that is watched", one.make(&r, CreateMode::Persistent).await.is_ok(), true);
    for server in 0..3 {
        let owner = repeated(async || one.zk.exists(&at("e"), false).await).await;
        let owner = owner.ok().flatten().map(|stat| stat.ephemeral_owner);
        restart(control, server);
        let now = repeated(async || one.zk.exists(&at("e"), false).await).await;
        let now = now.map(|stat| stat.map(|stat| stat.ephemeral_owner));
        expect("restart: the ephemeral is there", owner.is_some(), true);
        expect("restart: its owner is the same", now == Ok(owner), true);
        // Watchers of the former connections are not heard any more.
        (one.tell, one.events) = unbounded_channel();
        let got = repeated(async || one.zk.get_data_w(&r, one.watcher()).await).await;
        expect("restart: a watch", got.is_ok(), true);
        let set = repeated(async || other.zk.set_data(&r, Vec::new(), None).await).await;
        expect("restart: it is written", set.is_ok(), true);
        one.expect_event("restart: the watch", &format!("NodeDataChanged {r}")).await;
    }
    one.zk
}

#[tokio::main]
async fn main() {
    let (connect, control) = arguments();
    let mut one = Session::open(&connect).await;
    let other = Session::open(&connect).await;
    creates(&one).await;
    reads_and_writes(&one).await;
    watches(&mut one, &other).await;
    access_control(&one, &other).await;
    let zk = restarts(one, &other, &control).await;
    expect("close", repeated(async || zk.close().await).await, Ok::<_, ()>(()));
    expect("close: a write", other.zk.set_data(ROOT, Vec::new(), None).await.is_ok(), true);
    let gone = repeated(async || other.zk.exists(&at("e"), false).await).await.map(|stat| stat.is_none());
    expect("close: its ephemeral is gone", gone, Ok::<_, ()>(true));
}
