//! Cases that are drawn: steps of three sessions about a few znodes, so that they get into each other's way.

use proptest::prelude::*;
use proptest::sample::select;
use zk_fidelity::conformance::case::Case;
use zk_fidelity::exchange::form::{Data, NameOrNumber, Request};

/// The sessions; all of them are open when the drawn steps begin.
const SESSIONS: [&str; 3] = ["a", "b", "c"];

/// What every session asks for, in ms: as much as there is, so that none expires.
const TIMEOUT: i32 = 10_000;

/// The znodes.
const PATHS: [&str; 9] =
    ["/p", "/q", "/p/x", "/p/y", "/q/x", "/p/x/z", "/p/s-0000000000", "/p/s-0000000001", "/q/"];

/// The znodes that are there when the drawn steps begin.
const MADE: [&str; 3] = ["/p", "/q", "/p/x"];

/// Beginnings of names that the server completes.
const BEGINNINGS: [&str; 4] = ["/p/s-", "/q/s-", "/p/x/", "/q/"];

/// What may be done with the drawn znodes. Everybody may read and delete: what is left must be found and go.
const PERMISSIONS: [&str; 4] = ["cdrwa", "cdra", "drwa", "dra"];

/// A case of drawn steps, after those that open the sessions and make some znodes. It expects nothing yet.
pub fn case(steps: Vec<Request>) -> Case {
    let connect = |session: &&str| Request { timeout: Some(TIMEOUT), ..step(session, "connect") };
    let make = |path: &&str| Request { path: text(path), ..step(SESSIONS[0], "create") };
    let steps: Vec<Request> =
        SESSIONS.iter().map(connect).chain(MADE.iter().map(make)).chain(steps).collect();
    Case {
        n: 0,
        id: "drawn".to_owned(),
        about: String::new(),
        config: "default".to_owned(),
        fresh: false,
        race: None,
        steps,
        expect: Vec::new(),
        runs: 0,
    }
}

/// Steps of what an obvious model knows.
pub fn plain_steps() -> BoxedStrategy<Vec<Request>> {
    let steps = prop_oneof![30 => operation(), 2 => multi(), 1 => multi_read(), 2 => about_sessions()];
    prop::collection::vec(acting(steps), 1..50).boxed()
}

/// Steps of everything else, too: watches that stay, pipelines.
pub fn steps() -> BoxedStrategy<Vec<Request>> {
    let steps = prop_oneof![
        30 => operation(),
        3 => multi(),
        2 => multi_read(),
        3 => about_sessions(),
        6 => about_watches(),
        3 => pipeline(),
    ];
    prop::collection::vec(acting(steps), 1..50).boxed()
}

fn step(session: &str, op: &str) -> Request {
    Request { session: Some(session.to_owned()), op: op.to_owned(), ..Request::default() }
}

/// The same, by one of the sessions.
fn acting(steps: impl Strategy<Value = Request> + 'static) -> BoxedStrategy<Request> {
    (select(&SESSIONS), steps)
        .prop_map(|(session, step)| Request { session: Some(session.to_owned()), ..step })
        .boxed()
}

fn op(name: &str) -> Request {
    Request { op: name.to_owned(), ..Request::default() }
}

fn operation() -> BoxedStrategy<Request> {
    prop_oneof![8 => create(), 2 => delete(), 3 => set(), 1 => set_acl(), 9 => read()].boxed()
}

fn path() -> BoxedStrategy<Option<String>> {
    // The first is what others shrink to.
    prop_oneof![12 => select(&PATHS[..]), 8 => select(&MADE[..]), 1 => select(&["/", "none", "/p//x"][..])]
        .prop_map(text)
        .boxed()
}

/// Paths for what must not see the root: its stat depends on what was done before.
fn path_below_the_root() -> BoxedStrategy<Option<String>> {
    prop_oneof![12 => select(&PATHS[..]), 8 => select(&MADE[..]), 1 => select(&["none", "/p//x"][..])]
        .prop_map(text)
        .boxed()
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn name(name: &str) -> Option<NameOrNumber> {
    Some(NameOrNumber::Name(name.to_owned()))
}

fn version() -> BoxedStrategy<Option<i32>> {
    prop_oneof![6 => Just(None), 3 => (0..3).prop_map(Some), 1 => select(&[-1, -2][..]).prop_map(Some)]
        .boxed()
}

/// Data; none at all is not the same as empty data.
fn with_data(step: Request) -> BoxedStrategy<Request> {
    (0..4u8)
        .prop_map(move |drawn| match drawn {
            0 => step.clone(),
            1 => Request { nulldata: true, ..step.clone() },
            n => Request { data: Some(Data::Text("d".repeat(usize::from(n)))), ..step.clone() },
        })
        .boxed()
}

type AclList = Vec<(NameOrNumber, String, String)>;

fn acl() -> BoxedStrategy<AclList> {
    let of = |letters: &str| {
        vec![(NameOrNumber::Name(letters.to_owned()), "world".to_owned(), "anyone".to_owned())]
    };
    prop_oneof![9 => select(&PERMISSIONS[..]).prop_map(of), 1 => Just(Vec::new())].boxed()
}

fn create() -> BoxedStrategy<Request> {
    let whole = (path(), select(&["persistent", "ephemeral"][..]));
    let numbered = (
        select(&BEGINNINGS[..]).prop_map(text),
        select(&["persistent_sequential", "ephemeral_sequential"][..]),
    );
    let drawn = (
        prop_oneof![5 => whole, 2 => numbered],
        select(&["create", "create2"][..]),
        prop_oneof![6 => Just(None), 1 => acl().prop_map(Some)],
    );
    let plain = drawn
        .prop_map(|((path, mode), create, acl)| Request { path, mode: name(mode), acl, ..op(create) })
        .prop_flat_map(with_data);
    let container = path().prop_map(|path| Request { path, ..op("createContainer") });
    prop_oneof![12 => plain, 1 => container].boxed()
}

fn delete() -> BoxedStrategy<Request> {
    (path(), version()).prop_map(|(path, version)| Request { path, version, ..op("delete") }).boxed()
}

fn set() -> BoxedStrategy<Request> {
    let drawn = (path_below_the_root(), version());
    drawn
        .prop_map(|(path, version)| Request { path, version, ..op("setData") })
        .prop_flat_map(with_data)
        .boxed()
}

fn set_acl() -> BoxedStrategy<Request> {
    let drawn = (path_below_the_root(), version(), acl());
    drawn.prop_map(|(path, version, acl)| Request { path, version, acl: Some(acl), ..op("setACL") }).boxed()
}

fn read() -> BoxedStrategy<Request> {
    let watching = select(&["exists", "getData", "getChildren", "getChildren2"][..]);
    let watching = (watching, path_below_the_root(), prop::bool::weighted(0.7));
    let watching = watching.prop_map(|(read, path, watch)| Request { path, watch, ..op(read) });
    let others = select(&["sync", "getACL", "getAllChildrenNumber"][..]);
    let others = (others, path_below_the_root()).prop_map(|(read, path)| Request { path, ..op(read) });
    let ephemerals = select(&["", "/p", "/p/x"][..]);
    let ephemerals = ephemerals.prop_map(|prefix| Request { prefix: text(prefix), ..op("getEphemerals") });
    prop_oneof![12 => watching, 3 => others, 1 => ephemerals].boxed()
}

fn multi() -> BoxedStrategy<Request> {
    let check = (path_below_the_root(), version());
    let check = check.prop_map(|(path, version)| Request { path, version, ..op("check") });
    let create = create().prop_filter("a multi has one kind of create", |step| step.op != "createContainer");
    let part = prop_oneof![4 => create, 2 => delete(), 2 => set(), 1 => check];
    prop::collection::vec(part, 0..5).prop_map(|ops| Request { ops, ..op("multi") }).boxed()
}

fn multi_read() -> BoxedStrategy<Request> {
    let part = (select(&["getData", "getChildren"][..]), path_below_the_root());
    let part = part.prop_map(|(read, path)| Request { path, ..op(read) });
    prop::collection::vec(part, 0..4).prop_map(|ops| Request { ops, ..op("multiRead") }).boxed()
}

fn about_sessions() -> BoxedStrategy<Request> {
    let reconnect = Request { timeout: Some(TIMEOUT), ..op("reconnect") };
    prop_oneof![4 => Just(reconnect), 2 => Just(op("drop")), 1 => Just(op("close"))].boxed()
}

fn about_watches() -> BoxedStrategy<Request> {
    let add = (path_below_the_root(), select(&["persistent", "recursive"][..]));
    let add = add.prop_map(|(path, mode)| Request { path, mode: name(mode), ..op("addWatch") });
    let kind = select(&["any", "data", "children"][..]);
    let others = (select(&["removeWatches", "checkWatches"][..]), path_below_the_root(), kind);
    let others = others.prop_map(|(about, path, kind)| Request { path, wtype: name(kind), ..op(about) });
    let list = || prop::collection::vec(select(&PATHS[..]).prop_map(str::to_owned), 0..3);
    let set = (list(), list(), list(), list(), list(), 0..12i64);
    let set = set.prop_map(|(data, exist, child, persistent, recursive, relative)| {
        let (data, relative) = (Some(Data::Paths(data)), Some(relative));
        Request { data, exist, child, persistent, recursive, relative, ..op("setWatches2") }
    });
    prop_oneof![4 => add, 2 => others, 1 => set].boxed()
}

fn pipeline() -> BoxedStrategy<Request> {
    prop::collection::vec(operation(), 1..5).prop_map(|ops| Request { ops, ..op("pipeline") }).boxed()
}
