//! Tree watches: their events, the order, and the limits.

use futures_util::{FutureExt, StreamExt};

use super::{Site, back, below, catch_up, close, make, make_ephemeral, must, names_in, now, refused, soon};
use zk_recipes::zk::{CreateMode, Error, ErrorKind, Event, EventKind, Op, Over, TreeEvent, ZooKeeper};

use EventKind::{NodeCreated, NodeDataChanged, NodeDeleted};

async fn watch<Z: ZooKeeper>(zk: &Z, path: &str) -> Z::TreeWatch {
    must("watch_tree", zk.watch_tree(path).await)
}

/// All events of a watch so far.
fn told<W>(tree: &mut W) -> Vec<TreeEvent>
where
    W: StreamExt<Item = Result<TreeEvent, Error>> + Unpin,
{
    std::iter::from_fn(|| tree.next().now_or_never())
        .map(|told| must("what a tree watch tells", told.expect("a watch goes on while its session does")))
        .collect()
}

fn changes<const N: usize>(events: [(EventKind, &str); N]) -> Vec<TreeEvent> {
    events.into_iter().map(|(kind, path)| TreeEvent::Changed(Event { kind, path: path.to_owned() })).collect()
}

fn create(path: &str) -> Op {
    Op::Create { path: path.to_owned(), data: Vec::new(), mode: CreateMode::Persistent }
}

fn delete(path: &str) -> Op {
    Op::Delete { path: path.to_owned(), version: None }
}

pub(super) async fn a_tree_watch_tells_every_change<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let (a, b) = (below(home, "a"), below(home, "a/b"));
    let mut tree = watch(zk, home).await;
    make(zk, &a).await;
    assert_eq!(told(&mut tree), changes([(NodeCreated, &a)]), "the event comes before the answer");
    make(zk, &b).await;
    must("set", zk.set(&b, b"one", None).await);
    must("set", zk.set(&b, b"two", None).await);
    must("set", zk.set(home, b"new", None).await);
    must("delete", zk.delete(&b, None).await);
    must("delete", zk.delete(&a, None).await);
    must("delete", zk.delete(home, None).await);
    make(zk, home).await;
    let expected = changes([
        (NodeCreated, &b),
        (NodeDataChanged, &b),
        (NodeDataChanged, &b),
        (NodeDataChanged, home),
        (NodeDeleted, &b),
        (NodeDeleted, &a),
        (NodeDeleted, home),
        (NodeCreated, home),
    ]);
    assert_eq!(told(&mut tree), expected, "each once, in order, and nothing of children");
}

pub(super) async fn a_tree_watch_keeps_to_its_tree<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let (inside, beside) = (below(home, "a"), below(home, "ab"));
    let mut tree = watch(zk, &inside).await;
    make(zk, &beside).await;
    must("set", zk.set(home, b"new", None).await);
    must("delete", zk.delete(&beside, None).await);
    assert_eq!(told(&mut tree), []);
    // The znode itself need not be there when it is watched.
    make(zk, &inside).await;
    assert_eq!(told(&mut tree), changes([(NodeCreated, &inside)]));
}

pub(super) async fn a_tree_watch_sees_only_what_comes_later<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let (a, b) = (below(home, "a"), below(home, "b"));
    let before = zk.create(&a, b"", CreateMode::Persistent);
    let armed = zk.watch_tree(home);
    let after = zk.create(&b, b"", CreateMode::Persistent);
    must("create", before.await);
    let mut tree = must("watch_tree", armed.await);
    must("create", after.await);
    assert_eq!(told(&mut tree), changes([(NodeCreated, &b)]));
}

pub(super) async fn a_tree_watch_tells_what_others_do<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    let (one, two) = (site.open().await, site.open().await);
    let mut tree = watch(zk, home).await;
    let (a, b) = (below(home, "a"), below(home, "b"));
    make_ephemeral(&one, &a).await;
    make(&two, &b).await;
    must("set", one.set(&b, b"new", None).await);
    close(&one).await;
    // The events are there before the answer to anything that comes behind them.
    catch_up(zk).await;
    let expected = [(NodeCreated, &*a), (NodeCreated, &*b), (NodeDataChanged, &*b), (NodeDeleted, &*a)];
    assert_eq!(told(&mut tree), changes(expected), "in the order of the writes");
    close(&two).await;
}

pub(super) async fn a_tree_watch_tells_a_transaction_one_by_one<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let mut tree = watch(zk, home).await;
    let (a, b) = (below(home, "a"), below(home, "b"));
    let refusal = zk.multi(vec![create(&a), delete(&b)]).await;
    refused(
        "a delete of nothing",
        refusal,
        ErrorKind::Multi { index: 1, cause: Box::new(ErrorKind::NoNode.into()) },
    );
    refused("a delete of nothing", zk.delete(&b, None).await, ErrorKind::NoNode);
    assert_eq!(told(&mut tree), [], "what is refused changes nothing");
    let set = Op::Set { path: home.to_owned(), data: Vec::new(), version: None };
    must("multi", zk.multi(vec![create(&a), set, create(&b), delete(&a)]).await);
    let expected = [(NodeCreated, &*a), (NodeDataChanged, home), (NodeCreated, &*b), (NodeDeleted, &*a)];
    assert_eq!(told(&mut tree), changes(expected));
}

pub(super) async fn tree_watches_do_not_disturb_each_other<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let inner = below(home, "a");
    make(zk, &inner).await;
    let mut trees = [watch(zk, home).await, watch(&zk.clone(), home).await, watch(zk, &inner).await];
    let path = below(&inner, "b");
    make(zk, &path).await;
    for tree in &mut trees {
        assert_eq!(told(tree), changes([(NodeCreated, &path)]), "each of them is told, once");
    }
    let [one, mut two, three] = trees;
    drop((one, three));
    must("set", zk.set(&path, b"new", None).await);
    assert_eq!(told(&mut two), changes([(NodeDataChanged, &path)]), "the others' ends are not its own");
    drop(two);
    let mut again = watch(zk, home).await;
    must("set", zk.set(&path, b"newer", None).await);
    assert_eq!(told(&mut again), changes([(NodeDataChanged, &path)]));
}

pub(super) async fn a_tree_watch_goes_with_watches_below<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let path = below(home, "a");
    make(zk, &path).await;
    let mut tree = watch(zk, home).await;
    let (_, data) = must("get_watch", zk.get_watch(&path).await);
    let (_, children) = must("children_watch", zk.children_watch(&path).await);
    must("set", zk.set(&path, b"new", None).await);
    make(zk, &below(&path, "b")).await;
    must("delete", zk.delete(&below(&path, "b"), None).await);
    assert_eq!(must("the data watch", now("its event", data)).kind, NodeDataChanged);
    assert_eq!(must("the child watch", now("its event", children)).kind, EventKind::NodeChildrenChanged);
    let b = below(&path, "b");
    let expected = [(NodeDataChanged, &*path), (NodeCreated, &*b), (NodeDeleted, &*b)];
    assert_eq!(told(&mut tree), changes(expected), "the events of the others are not its own");
    // Armed and dropped unfired, they leave the tree watch as it is.
    drop(must("get_watch", zk.get_watch(&path).await));
    drop(must("children_watch", zk.children_watch(&path).await));
    must("delete", zk.delete(&path, None).await);
    assert_eq!(told(&mut tree), changes([(NodeDeleted, &path)]));
}

pub(super) async fn a_tree_watch_may_be_dropped_before_it_is_armed<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let path = below(home, "a");
    drop(zk.watch_tree(home));
    let mut tree = watch(zk, home).await;
    drop(zk.watch_tree(home));
    must("exists", zk.exists(home).await);
    make(zk, &path).await;
    assert_eq!(told(&mut tree), changes([(NodeCreated, &path)]), "it takes no other along");
}

pub(super) async fn a_tree_watch_ends_with_its_session<S: Site>(_: &S, zk: &S::Zk, home: &str) {
    let path = below(home, "e");
    let mut tree = watch(zk, home).await;
    make_ephemeral(zk, &path).await;
    close(zk).await;
    // The end of the session is a change, too; its report races with the end itself.
    let mut before = Vec::new();
    let end = loop {
        match soon(zk, "the end of the watch", tree.next()).await {
            Some(Ok(event)) => before.push(event),
            end => break end,
        }
    };
    assert_eq!(end, Some(Err(ErrorKind::SessionOver(Over::Closed).into())));
    assert_eq!(before[..1], changes([(NodeCreated, &path)]), "what was told before comes before: {before:?}");
    assert!(before.len() <= 2, "{before:?}");
    assert_eq!(soon(zk, "the end of the stream", tree.next()).await, None);
}

pub(super) async fn a_tree_watch_tells_a_gap_after_a_reconnect<S: Site>(site: &S, zk: &S::Zk, home: &str) {
    let other = site.open().await;
    let (a, b, c) = (below(home, "a"), below(home, "b"), below(home, "c"));
    let mut tree = watch(zk, home).await;
    // Buffered and not taken before the loss.
    make(zk, &a).await;
    must("set", zk.set(&a, b"new", None).await);
    let before = zk.status();
    site.cut(zk).await;
    make(&other, &b).await;
    back(zk, before).await;
    let mut seen = vec![must("the watch", soon(zk, "its event", tree.next()).await.expect("it goes on"))];
    while seen.last() != Some(&TreeEvent::Gap) {
        seen.push(must("the watch", soon(zk, "the gap", tree.next()).await.expect("it goes on")));
    }
    let buffered = changes([(NodeCreated, &a), (NodeDataChanged, &a)]);
    assert_eq!(seen[..2], buffered, "what was told before the loss comes before the gap");
    assert!(seen.len() <= 4, "the gap is told before anything newer: {seen:?}");
    // A read behind the other's replies: its result and the later events are complete.
    catch_up(zk).await;
    assert_eq!(names_in(zk, home).await, ["a", "b"]);
    // A stale server may report changes from before the read only now.
    let late = told(&mut tree);
    assert!(late.iter().all(|event| *event != TreeEvent::Gap), "one reconnect, one gap: {late:?}");
    make(&other, &c).await;
    catch_up(zk).await;
    assert_eq!(told(&mut tree), changes([(NodeCreated, &c)]), "it is armed again");
    close(&other).await;
}
