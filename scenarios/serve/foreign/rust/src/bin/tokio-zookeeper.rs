//! The crate tokio-zookeeper against any ensemble: tokio-zookeeper CONNECT CONTROL
//!
//! It connects to one address, and offers neither sync nor identities, and no session by id and password. It sets no watches again
//! when its connection is back.

use std::borrow::Cow;
use std::fmt::Debug;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use foreign::{DEADLINE, arguments, expect, fail, restart};
use futures::channel::oneshot::Receiver;
use tokio_zookeeper::{
    Acl, CreateMode, MultiResponse, Permission, Stat, WatchedEvent, ZooKeeper, ZooKeeperBuilder,
};

const ROOT: &str = "/tokio-zookeeper";

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
        if stat.ephemeral_owner == 0 { "no owner" } else { "ephemeral" }
    )
}

/// The server's answer to a request that reached it.
fn answered<T, E: Debug>(what: &str, result: Result<T, E>) -> T {
    result.unwrap_or_else(|error| fail(&format!("{what}: {error:?}")))
}

/// A lost connection says nothing about a request that may be repeated.
async fn repeated<T, E: Debug>(what: &str, mut request: impl AsyncFnMut() -> Result<T, E>) -> T {
    let begin = Instant::now();
    loop {
        match request().await {
            Ok(answer) => return answer,
            Err(error) if begin.elapsed() > DEADLINE => fail(&format!("{what}: {error:?}")),
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

async fn open(address: &str) -> ZooKeeper {
    let address: SocketAddr = address.parse().expect("an address of a member");
    let mut builder = ZooKeeperBuilder::default();
    builder.set_timeout(Duration::from_secs(8));
    let (zk, events) = answered("connect", builder.connect(&address).await);
    // All events arrive on this stream as well. The crate does not wait for a reader.
    drop(events);
    zk
}

async fn make(zk: &ZooKeeper, path: &str, mode: CreateMode) -> String {
    let made = zk.create(path, &b""[..], Acl::open_unsafe(), mode).await;
    format!("{:?}", answered("create", made))
}

async fn expect_event(what: &str, event: Receiver<WatchedEvent>, want: &str) {
    match tokio::time::timeout(DEADLINE, event).await {
        Ok(Ok(event)) => expect(what, format!("{:?} {}", event.event_type, event.path), want),
        _ => fail(&format!("{what}: no event")),
    }
}

async fn creates(zk: &ZooKeeper) {
    let done = |name: &str| format!("Ok({name:?})");
    expect("create: the root of this program", make(zk, ROOT, CreateMode::Persistent).await, done(ROOT));
    let made = zk.create(&at("a"), &b"data"[..], Acl::open_unsafe(), CreateMode::Persistent).await;
    expect("create: persistent", answered("create", made), Ok::<_, ()>(at("a")));
    expect("create: it exists", make(zk, &at("a"), CreateMode::Persistent).await, "Err(NodeExists)");
    expect("create: no parent", make(zk, &at("no/c"), CreateMode::Persistent).await, "Err(NoNode)");
    expect("create: ephemeral", make(zk, &at("e"), CreateMode::Ephemeral).await, done(&at("e")));
    let refused = make(zk, &at("e/c"), CreateMode::Persistent).await;
    expect("create: a child of an ephemeral", refused, "Err(NoChildrenForEphemerals)");
    expect("create: a directory", make(zk, &at("s"), CreateMode::Persistent).await, done(&at("s")));
    for (number, mode) in
        [CreateMode::PersistentSequential, CreateMode::EphemeralSequential].iter().enumerate()
    {
        let name = at(&format!("s/n-{number:010}"));
        expect("create: sequential", make(zk, &at("s/n-"), *mode).await, done(&name));
    }
    // The container goes by the operation of plain znodes, of which the server makes a persistent one.
    expect("create: container", make(zk, &at("c"), CreateMode::Container).await, done(&at("c")));
    let nobody: Cow<'static, [Acl]> = Cow::Borrowed(&[]);
    let made = zk.create(&at("x"), &b""[..], nobody, CreateMode::Persistent).await;
    expect("create: for nobody", format!("{:?}", answered("create", made)), "Err(InvalidAcl)");
}

async fn reads_and_writes(zk: &ZooKeeper) {
    let stat = answered("exists", zk.exists(&at("a")).await).map(|stat| text_of(&stat));
    expect("exists: yes", stat, Some("version 0, cversion 0, aversion 0, length 4, children 0, no owner"));
    expect("exists: no", answered("exists", zk.exists(&at("no")).await), None::<()>);
    let data = answered("get", zk.get_data(&at("a")).await).map(|(data, _)| data);
    expect("get", data, Some(b"data".to_vec()));
    expect("get: it is missing", answered("get", zk.get_data(&at("no")).await).map(|_| ()), None::<()>);
    let set = answered("set", zk.set_data(&at("a"), Some(0), &b"new"[..]).await).map(|stat| text_of(&stat));
    expect("set", set, Ok::<_, ()>("version 1, cversion 0, aversion 0, length 3, children 0, no owner"));
    let set = answered("set", zk.set_data(&at("a"), Some(0), &b""[..]).await).map(drop);
    expect("set: another version", format!("{set:?}"), "Err(BadVersion { expected: 0 })");
    let set = answered("set", zk.set_data(&at("no"), None, &b""[..]).await).map(drop);
    expect("set: it is missing", format!("{set:?}"), "Err(NoNode)");
    let mut names = answered("children", zk.get_children(&at("s")).await);
    names.iter_mut().for_each(|names| names.sort());
    expect("children", names, Some(["n-0000000000", "n-0000000001"]));
    expect("children: it is missing", answered("children", zk.get_children(&at("no")).await), None::<()>);
    let delete =
        async |name: &str, version| format!("{:?}", answered("delete", zk.delete(name, version).await));
    expect("delete: another version", delete(&at("a"), Some(0)).await, "Err(BadVersion { expected: 0 })");
    expect("delete: it has children", delete(&at("s"), None).await, "Err(NotEmpty)");
    expect("delete", delete(&at("a"), Some(1)).await, "Ok(())");
    expect("delete: it is missing", delete(&at("a"), None).await, "Err(NoNode)");
}

async fn multis(zk: &ZooKeeper) {
    let (m, n, m2) = (at("m"), at("m/n-"), at("m2"));
    let multi = zk
        .multi()
        .create(&m, &b"m"[..], Acl::open_unsafe(), CreateMode::Persistent)
        .create(&n, &b""[..], Acl::open_unsafe(), CreateMode::EphemeralSequential)
        .set_data(&m, Some(0), &b"changed"[..])
        .check(&m, 1)
        .delete(&at("m/n-0000000000"), None);
    let results = answered("multi", multi.run().await);
    let texts: Vec<String> = results
        .iter()
        .map(|result| match result {
            Ok(MultiResponse::SetData(stat)) => text_of(stat),
            other => format!("{other:?}"),
        })
        .collect();
    let stat = "version 1, cversion 1, aversion 0, length 7, children 1, no owner";
    let (first, second) = (format!("Ok(Create({m:?}))"), format!("Ok(Create(\"{n}0000000000\"))"));
    expect("multi", texts, [first.as_str(), &second, stat, "Ok(Check)", "Ok(Delete)"]);
    let multi = zk
        .multi()
        .create(&m2, &b""[..], Acl::open_unsafe(), CreateMode::Persistent)
        .check(&m, 7)
        .delete(&m, None);
    let results = answered("multi", multi.run().await);
    let texts: Vec<String> = results.iter().map(|result| format!("{result:?}")).collect();
    expect(
        "multi: a check fails",
        texts,
        ["Err(RolledBack)", "Err(Check { source: BadVersion { expected: 7 } })", "Err(Skipped)"],
    );
    expect("multi: nothing was done", answered("exists", zk.exists(&m2).await), None::<()>);
}

async fn watches(one: &ZooKeeper, other: &ZooKeeper) {
    let (w, child) = (at("w"), at("w/c"));
    let (event, stat) = answered("exists", one.with_watcher().exists(&w).await);
    expect("watch: exists, of a missing one", stat, None::<()>);
    expect("watch: it is created", make(other, &w, CreateMode::Persistent).await, format!("Ok({w:?})"));
    expect_event("watch: exists", event, &format!("NodeCreated {w}")).await;
    let (event, _, _) = answered("get", one.with_watcher().get_data(&w).await).expect("it exists");
    expect("watch: it is written", answered("set", other.set_data(&w, None, &b""[..]).await).is_ok(), true);
    expect_event("watch: get", event, &format!("NodeDataChanged {w}")).await;
    let (event, _) = answered("children", one.with_watcher().get_children(&w).await).expect("it exists");
    expect(
        "watch: a child is created",
        make(other, &child, CreateMode::Persistent).await,
        format!("Ok({child:?})"),
    );
    expect_event("watch: children", event, &format!("NodeChildrenChanged {w}")).await;
    let (below, _, _) = answered("get", one.with_watcher().get_data(&child).await).expect("it exists");
    let (event, _) = answered("children", one.with_watcher().get_children(&w).await).expect("it exists");
    expect(
        "watch: the child is deleted",
        answered("delete", other.delete(&child, None).await),
        Ok::<_, ()>(()),
    );
    expect_event("watch: get of the child", below, &format!("NodeDeleted {child}")).await;
    expect_event("watch: children", event, &format!("NodeChildrenChanged {w}")).await;
    let missing = answered("get", one.with_watcher().get_data(&child).await);
    expect("watch: get of a missing one", missing.is_none(), true);
}

async fn access_control(zk: &ZooKeeper) {
    let open = answered("acl", zk.get_acl(&at("s")).await).map(|(list, _)| list);
    expect("acl: of an open one", open, Ok::<_, ()>([Acl::new(Permission::ALL, "world", "anyone")]));
    let made = zk.create(&at("d"), &b""[..], Acl::creator_all(), CreateMode::Persistent).await;
    let made = format!("{:?}", answered("create", made));
    expect("acl: for the creator, who has no identity", made, "Err(InvalidAcl)");
    let set =
        answered("acl", zk.set_acl(&at("c"), Acl::read_unsafe(), Some(0)).await).map(|stat| text_of(&stat));
    let stat = "version 0, cversion 0, aversion 1, length 0, children 0, no owner";
    expect("acl: set it to read", set, Ok::<_, ()>(stat));
    let set = answered("set", zk.set_data(&at("c"), None, &b""[..]).await).map(drop);
    expect("acl: nobody may write", format!("{set:?}"), "Err(NoAuth)");
    let set = answered("acl", zk.set_acl(&at("s"), Acl::open_unsafe(), Some(7)).await).map(drop);
    expect("acl: another version", format!("{set:?}"), "Err(BadVersion { expected: 7 })");
}

/// A session of each member, which restarts. The crate gives up a session for good when its one member refuses a connection once, as
/// a restarting one does: then a new session must find the ephemeral, whose owner has not expired.
async fn restarts(addresses: &[&str], control: &str) {
    for (server, address) in addresses.iter().enumerate() {
        let zk = open(address).await;
        let path = at(&format!("r{server}"));
        expect(
            "restart: an ephemeral",
            make(&zk, &path, CreateMode::Ephemeral).await,
            format!("Ok({path:?})"),
        );
        let stat = answered("exists", zk.exists(&path).await).expect("it was created");
        restart(control, server);
        let again = repeated("connect", async || {
            let mut builder = ZooKeeperBuilder::default();
            builder.set_timeout(Duration::from_secs(8));
            builder.connect(&address.parse().expect("an address of a member")).await.map(|(zk, _)| zk)
        })
        .await;
        // A write lets the server catch up, if it has restarted without its last changes.
        let set = repeated("set", async || again.set_data(ROOT, None, &b""[..]).await).await;
        expect("restart: a write", set.is_ok(), true);
        let now = repeated("exists", async || again.exists(&path).await).await;
        expect(
            "restart: the ephemeral",
            now.map(|now| now.ephemeral_owner == stat.ephemeral_owner),
            Some(true),
        );
        drop(zk);
    }
}

#[tokio::main]
async fn main() {
    let (connect, control) = arguments();
    let addresses: Vec<&str> = connect.split(',').collect();
    let (one, other) = (open(addresses[0]).await, open(addresses[1]).await);
    creates(&one).await;
    reads_and_writes(&one).await;
    multis(&one).await;
    watches(&one, &other).await;
    access_control(&one).await;
    drop((one, other));
    restarts(&addresses, &control).await;
}
