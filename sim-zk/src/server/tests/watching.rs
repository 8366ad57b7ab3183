//! Watches: which connections are notified, in which order, and which watches stay armed.

use super::*;
use crate::acl::perms;

#[test]
fn watches_are_set_by_what_succeeds_and_by_every_exists() {
    let (mut bench, [a]) = Bench::with_clients();
    bench.exists(a, "/n", true).expect_err("there is none");
    bench.get(a, "/n", true).expect_err("there is none");
    bench.children(a, "/n", true).expect_err("there is none");
    assert_eq!(bench.replica.watches().count(), 1);
    bench.made(a, &["/n"]);
    assert_eq!(bench.told(a), ["NodeCreated /n"]);
    bench.set(a, "/n", "", -1).expect("any version");
    assert_eq!(bench.told(a), [""; 0], "one shot");
}

#[test]
fn a_deletion_is_told_once_to_each_and_then_to_the_parents_watchers() {
    let (mut bench, [a, b, c]) = Bench::with_clients();
    bench.made(a, &["/p", "/p/n"]);
    bench.get(b, "/p/n", true).expect("it is there");
    bench.children(b, "/p/n", true).expect("it is there");
    bench.children(c, "/p/n", true).expect("it is there");
    bench.children(b, "/p", true).expect("it is there");
    bench.delete(a, "/p/n").expect("it is empty");
    assert_eq!(bench.told(b), ["NodeDeleted /p/n", "NodeChildrenChanged /p"]);
    assert_eq!(bench.told(c), ["NodeDeleted /p/n"]);
    assert_eq!(bench.replica.watches().count(), 0, "what was not told is used up, too");
}

#[test]
fn a_list_that_changes_and_what_fails_tell_nobody() {
    let (mut bench, [a]) = Bench::with_clients();
    bench.made(a, &["/n"]);
    bench.get(a, "/n", true).expect("it is there");
    bench.set_acl(a, "/n", acl(&[(31, "world", "anyone")]), -1).expect("any version");
    bench.set(a, "/n", "", 7).expect_err("another version");
    let path = bench.path("/n");
    let (set, no) = (AskOp::Set { path, data: None, version: -1 }, AskOp::Check { path, version: 7 });
    bench.ask(a, Ask::Multi(vec![set, no])).expect_err("another version");
    assert_eq!(bench.told(a), [""; 0]);
}

#[test]
fn a_multi_tells_every_step() {
    let (mut bench, [a]) = Bench::with_clients();
    bench.add_watch(a, "/n", 0);
    let path = bench.path("/n");
    let ops =
        vec![AskOp::Create(bench.creation(CreateForm::Create, "/n", 0)), AskOp::Delete { path, version: -1 }];
    bench.ask(a, Ask::Multi(ops)).expect("nothing is in the way");
    assert_eq!(bench.told(a), ["NodeCreated /n", "NodeDeleted /n"]);
}

#[test]
fn persistent_watches_stay_and_recursive_ones_reach_down() {
    let (mut bench, [a, b, c]) = Bench::with_clients();
    bench.add_watch(b, "/", 1);
    bench.add_watch(b, "/p", 1);
    bench.add_watch(c, "/p", 0);
    bench.made(a, &["/p", "/p/n"]);
    bench.set(a, "/p/n", "", -1).expect("any version");
    bench.set(a, "/p", "", -1).expect("any version");
    let below = ["NodeCreated /p", "NodeCreated /p/n", "NodeDataChanged /p/n", "NodeDataChanged /p"];
    assert_eq!(bench.told(b), below, "once each, and never of children");
    assert_eq!(bench.told(c), ["NodeCreated /p", "NodeChildrenChanged /p", "NodeDataChanged /p"]);
    assert_eq!(bench.replica.watches().count(), 6);
}

#[test]
fn a_one_shot_takes_the_place_of_a_persistent_watch_and_the_other_way_round() {
    let (mut bench, [a, b]) = Bench::with_clients();
    bench.made(a, &["/n"]);
    bench.add_watch(b, "/n", 0);
    bench.get(b, "/n", true).expect("it is there");
    for _ in 0..2 {
        bench.set(a, "/n", "", -1).expect("any version");
        bench.create(a, "/n/", 2).expect("nothing is in the way");
    }
    let told = ["NodeDataChanged /n", "NodeChildrenChanged /n", "NodeChildrenChanged /n"];
    assert_eq!(bench.told(b), told, "the data half has become a one-shot");
    bench.get(b, "/n", true).expect("it is there");
    bench.add_watch(b, "/n", 0);
    bench.set(a, "/n", "", -1).expect("any version");
    bench.set(a, "/n", "", -1).expect("any version");
    assert_eq!(bench.told(b).len(), 2);
}

#[test]
fn half_a_recursive_watch_still_hears_of_deletions() {
    let (mut bench, [a, b]) = Bench::with_clients();
    bench.made(a, &["/p"]);
    bench.add_watch(b, "/p", 1);
    let path = bench.path("/p");
    assert_eq!(bench.ask(b, Ask::RemoveWatches { path, kind: 2 }), Ok(Answer::Nothing));
    bench.made(a, &["/p/n"]);
    bench.delete(a, "/p/n").expect("it is empty");
    assert_eq!(bench.told(b), ["NodeDeleted /p/n"]);
}

#[test]
fn removing_needs_ones_own_watch_and_checking_anybodys() {
    let (mut bench, [a, b]) = Bench::with_clients();
    bench.made(a, &["/n"]);
    bench.get(a, "/n", true).expect("it is there");
    let path = bench.path("/n");
    for (kind, check, remove) in [
        (1, refused(Code::NoWatcher), refused(Code::NoWatcher)),
        (2, Ok(Answer::Nothing), refused(Code::NoWatcher)),
        (3, Ok(Answer::Nothing), refused(Code::NoWatcher)),
        (4, refused(Code::MarshallingError), refused(Code::MarshallingError)),
    ] {
        assert_eq!(bench.ask(b, Ask::CheckWatches { path, kind }), check, "{kind}");
        assert_eq!(bench.ask(b, Ask::RemoveWatches { path, kind }), remove, "{kind}");
    }
    assert_eq!(bench.ask(a, Ask::RemoveWatches { path, kind: 3 }), Ok(Answer::Nothing));
    assert_eq!(bench.ask(a, Ask::AddWatch { path, mode: 2 }), refused(Code::MarshallingError));
}

#[test]
fn checking_a_path_without_a_slash_confuses_the_server() {
    let (mut bench, [a]) = Bench::with_clients();
    let check = |bench: &mut Bench, text: &str| {
        let path = bench.path(text);
        bench.ask(a, Ask::CheckWatches { path, kind: 2 })
    };
    assert_eq!(check(&mut bench, "a"), refused(Code::MarshallingError));
    assert_eq!(check(&mut bench, ""), refused(Code::NoWatcher));
    assert_eq!(check(&mut bench, "a/b"), refused(Code::NoWatcher));
    bench.add_watch(a, "/", 1);
    assert_eq!(check(&mut bench, "a/b"), refused(Code::MarshallingError), "it looks further up now");
    assert_eq!(check(&mut bench, "/a/b"), refused(Code::NoWatcher));
}

#[test]
fn whoever_may_not_read_is_not_told_and_has_lost_the_watch() {
    let (mut bench, [a, b]) = Bench::with_clients();
    bench.made(a, &["/n"]);
    bench.get(b, "/n", true).expect("it is open");
    bench.set_acl(a, "/n", acl(&[(perms::ALL & !perms::READ, "world", "anyone")]), -1).expect("open");
    bench.set(a, "/n", "", -1).expect("it may be written");
    assert_eq!(bench.told(b), [""; 0]);
    assert_eq!(bench.replica.watches().count(), 0);
    bench.settings.filter_events = false;
    bench.exists(b, "/n", true).expect("exists needs nothing");
    bench.set(a, "/n", "", -1).expect("it may be written");
    assert_eq!(bench.told(b), ["NodeDataChanged /n"]);
}

#[test]
fn children_are_filtered_by_the_parents_list() {
    let (mut bench, [a, b]) = Bench::with_clients();
    bench.made(a, &["/p"]);
    bench.children(b, "/p", true).expect("it is open");
    let mut hidden = bench.creation(CreateForm::Create, "/p/n", 0);
    hidden.acl = acl(&[(perms::WRITE, "world", "anyone")]);
    bench.exists(b, "/p/n", true).expect_err("there is none");
    bench.created(a, hidden).expect("nothing is in the way");
    assert_eq!(bench.told(b), ["NodeChildrenChanged /p"]);
}

#[test]
fn after_a_reconnect_what_was_missed_is_told_in_the_order_of_the_lists() {
    let (mut bench, [a, b]) = Bench::with_clients();
    bench.made(a, &["/same", "/changed", "/made", "/p", "/p/c"]);
    bench.set(a, "/changed", "", -1).expect("any version");
    let relative = bench.zxid - 2;
    let mut list = |names: &[&str]| names.iter().map(|name| bench.paths.intern(name)).collect::<Vec<_>>();
    let believed = Watching {
        relative,
        data: list(&["/gone", "/same", "/changed"]),
        exist: list(&["/made", "/never"]),
        child: list(&["/gone", "/p", "/same"]),
        persistent: list(&["/p"]),
        recursive: list(&["/changed"]),
    };
    assert_eq!(bench.ask(b, Ask::SetWatches(believed.into())), Ok(Answer::Nothing));
    assert_eq!(
        bench.told(b),
        [
            "NodeDeleted /gone",
            "NodeDataChanged /changed",
            "NodeCreated /made",
            "NodeDeleted /gone",
            "NodeChildrenChanged /p",
        ]
    );
    let armed = bench.replica.watches().filter(|(.., mode)| *mode == WatchMode::OneShot).count();
    assert_eq!((armed, bench.replica.watches().count()), (3, 7));
}

#[test]
fn watches_go_with_the_connection_and_not_with_the_session() {
    let (mut bench, [a, b]) = Bench::with_clients();
    bench.made(a, &["/n"]);
    bench.get(b, "/n", true).expect("it is there");
    bench.replica.welcome(ConnId(8), SessionId(2));
    bench.get(ConnId(8), "/n", true).expect("it is there");
    assert_eq!(bench.replica.conns_of(SessionId(2)).collect::<Vec<_>>(), [b, ConnId(8)]);
    bench.seen.0.clear();
    bench.forget(b);
    assert_eq!(bench.seen.0, ["Disarmed"]);
    bench.set(a, "/n", "", -1).expect("any version");
    assert_eq!((bench.told(b).len(), bench.told(ConnId(8)).len()), (0, 1));
    bench.get(a, "/n", true).expect("it is there");
    bench.replica.restart();
    assert_eq!((bench.replica.watches().count(), bench.replica.session_of(a)), (0, None));
    assert!(bench.replica.sessions().any(|(known, _)| known == SessionId(2)));
}
