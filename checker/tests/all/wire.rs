//! The counts in the report of the wire.

use crate::common::wire::{report, without};
use crate::corpus;
use zk_checker::history::{Request, Session};
use zk_checker::wire::{self, DirectoryReport, Naming, Standing, Suggests, WireReport};

fn directory<'a>(report: &'a WireReport, path: &str) -> &'a DirectoryReport {
    report
        .directories
        .iter()
        .find(|directory| directory.path == path)
        .expect("the directory is in the report")
}

const A: &str = "11111111111111111111111111111111";
const B: &str = "22222222222222222222222222222222";
const C: &str = "33333333333333333333333333333333";

/// Three clients at one lock: the first holds, the second waits on it, the third on the whole directory.
const LOCK: &str = "
run sim timeout 4 clients a b c
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 attached s1 conn 1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 server:0 attached s2 conn 2
0.000 server:0 opened s3 timeout 4000 0x3
0.000 server:0 attached s3 conn 3
0.001 a state s1 connected conn 1
0.001 b state s2 connected conn 2
0.001 c state s3 connected conn 3
1.000 a send r1 create /lock/A-lock-
1.001 server:0 txn 0x10 s1 create ok
1.001 server:0 created 0x10 /lock/A-lock-0000000000 s1
1.002 a reply r1 ok 0x10 conn 1
1.002 a made /lock/A-lock-0000000000 0x10
1.003 a send r2 children /lock
1.004 a reply r2 ok 0x10 conn 1
1.100 b send r3 create /lock/B-lock-
1.101 server:0 txn 0x11 s2 create ok
1.101 server:0 created 0x11 /lock/B-lock-0000000001 s2
1.102 b reply r3 ok 0x11 conn 2
1.102 b made /lock/B-lock-0000000001 0x11
1.103 b send r4 children /lock
1.104 b reply r4 ok 0x11 conn 2
1.105 b send r5 exists /lock/A-lock-0000000000 watch
1.106 server:0 arm s2 data /lock/A-lock-0000000000 conn 2
1.107 b reply r5 ok 0x11 conn 2
1.200 c send r6 create /lock/C-lock-
1.201 server:0 txn 0x12 s3 create ok
1.201 server:0 created 0x12 /lock/C-lock-0000000002 s3
1.202 c reply r6 ok 0x12 conn 3
1.202 c made /lock/C-lock-0000000002 0x12
1.203 c send r7 children /lock watch
1.204 server:0 arm s3 child /lock conn 3
1.205 c reply r7 ok 0x12 conn 3
";
const RELEASE: &str = "
2.000 a send r8 delete /lock/A-lock-0000000000
2.001 server:0 txn 0x13 s1 delete ok
2.001 server:0 deleted 0x13 /lock/A-lock-0000000000 by s1
2.001 server:0 fire s2 deleted /lock/A-lock-0000000000 0x13 conn 2
2.001 server:0 fire s3 children_changed /lock 0x13 conn 3
2.002 b notice s2 deleted /lock/A-lock-0000000000 conn 2
2.002 a reply r8 ok 0x13 conn 1
";

fn named(pieces: &[&str]) -> String {
    let text = pieces.concat();
    text.replace("/A-", &format!("/{A}-")).replace("/B-", &format!("/{B}-")).replace("/C-", &format!("/{C}-"))
}

#[test]
fn a_lock_and_who_waits_on_whom() {
    let report = report(&named(&[LOCK]));
    let lock = directory(&report, "/lock");
    assert_eq!((lock.kind, lock.naming.as_slice()), (Suggests::Lock, &[Naming::Lock][..]));
    assert_eq!((lock.created, lock.standing), (3, 3));
    let waits: Vec<(&str, u16, &[String], bool)> = lock
        .contenders
        .iter()
        .map(|Standing { client, session, waits_on, waits_on_all, .. }| {
            (client.as_deref().unwrap_or_default(), session.0, waits_on.as_slice(), *waits_on_all)
        })
        .collect();
    let first = [format!("{A}-lock-0000000000")];
    assert_eq!(waits, [("a", 1, &[][..], false), ("b", 2, &first, false), ("c", 3, &[], true)]);
    assert_eq!((report.left.znodes, report.left.watches), (3, 2));
    assert!(report.findings.is_empty());
}

#[test]
fn a_release_notifies_and_is_paid_for() {
    let report = report(&named(&[LOCK, RELEASE]));
    let lock = directory(&report, "/lock");
    assert_eq!((lock.created, lock.deleted_by_owner, lock.standing), (3, 1, 2));
    assert_eq!((lock.herd.deletions, lock.herd.notifications), (1, 2));
    let largest = lock.herd.largest.as_ref().expect("a deletion notified two sessions");
    assert_eq!((largest.sessions, largest.zxid), (2, 0x13));
    assert_eq!(largest.path, format!("/lock/{A}-lock-0000000000"));
    // The create, a list and the delete.
    assert_eq!((lock.cost.contenders, lock.cost.requests, lock.cost.most), (1, 3, 3));
    assert!(lock.contenders.iter().all(|standing| standing.waits_on.is_empty() && !standing.waits_on_all));
    assert_eq!(report.left.watches, 0);
}

#[test]
fn znodes_end_in_three_ways() {
    let ends = "
3.000 server:0 txn 0x14 s2 close_session ok
3.000 server:0 deleted 0x14 /lock/B-lock-0000000001 by s2
3.000 server:0 ended s2 0x14
3.001 server:0 txn 0x15 s1 delete ok
3.001 server:0 deleted 0x15 /lock/C-lock-0000000002 by s1
";
    let report = report(&named(&[LOCK, RELEASE, ends]));
    let lock = directory(&report, "/lock");
    assert_eq!((lock.deleted_by_owner, lock.deleted_with_session, lock.deleted_by_others), (1, 1, 1));
    assert_eq!((lock.standing, report.left.znodes), (0, 0));
}

#[test]
fn the_dearest_contender_is_named() {
    let second = "
3.000 b send r9 delete /lock/B-lock-0000000001
3.001 server:0 txn 0x14 s2 delete ok
3.001 server:0 deleted 0x14 /lock/B-lock-0000000001 by s2
3.002 b reply r9 ok 0x14 conn 2
";
    let third = "
4.000 server:0 txn 0x15 s3 close_session ok
4.000 server:0 deleted 0x15 /lock/C-lock-0000000002 by s3
4.000 server:0 ended s3 0x15
";
    let report = report(&named(&[LOCK, RELEASE, second, third]));
    let cost = &directory(&report, "/lock").cost;
    // The first one has sent three requests, and the second one has waited as well.
    let dearest = format!("/lock/{B}-lock-0000000001");
    assert_eq!((cost.contenders, cost.most, cost.most_path.as_ref()), (3, 4, Some(&dearest)));
}

#[test]
fn a_create_whose_reply_is_lost_leaves_the_others_of_its_client_in_flight() {
    let whole = "
1.500 a send r20 create /lock/A-lock-
1.501 a send r21 create /lock/page-0000000007
1.502 a lost r20
1.503 server:0 txn 0x20 s1 create ok
1.503 server:0 created 0x20 /lock/page-0000000007 s0
1.504 a reply r21 ok 0x20 conn 1
";
    let created = |text: &str| directory(&report(&named(&[LOCK, text])), "/lock").created;
    assert_eq!(created(whole), 3, "who asks for a whole name asks for no number");
    assert_eq!(created(&whole.replace("create /lock/page-0000000007", "create /lock/page-")), 4);
}

#[test]
fn what_stays_behind_names_its_session() {
    let lost = "
3.000 server:0 ended s2 0x14
3.000 server:0 arm s3 data /lock/B-lock-0000000001 conn 3
3.000 server:1 arm s1 data /config conn 1
3.100 server:1 ceased
";
    let report = report(&named(&[LOCK, lost]));
    let open: Vec<bool> = report.left.znode_list.iter().map(|znode| znode.session_open).collect();
    assert_eq!(open, [true, false, true]);
    let watches: Vec<(u16, bool)> =
        report.left.watch_list.iter().map(|watch| (watch.session.0, watch.session_open)).collect();
    // A server that has stopped has no watches.
    assert_eq!(watches, [(2, false), (3, true), (3, true)]);
}

#[test]
fn a_watch_ends_on_its_own_connection() {
    let count = |end: &str| report(&named(&[LOCK, end])).left.watches;
    assert_eq!(count("3.000 server:0 disarm s3 child /lock conn 3\n"), 1);
    assert_eq!(count("3.000 server:0 disarm s3 child /lock conn 9\n"), 2, "of an older connection");
    assert_eq!(count("3.000 server:0 fire s3 data_changed /lock 0x14 conn 3\n"), 2, "another table");
    let persistent = LOCK.replace("arm s3 child /lock conn 3", "arm s3 child /lock conn 3 persistent");
    let fired = report(&named(&[&persistent, RELEASE])).left.watches;
    assert_eq!(fired, 1, "a persistent one stays");
}

#[test]
fn requests_are_counted_by_kind_and_client() {
    let report = report(&named(&[LOCK, RELEASE]));
    let [a, b, c] = report.clients.as_slice() else { panic!("three clients") };
    assert_eq!((a.client.as_str(), a.sessions.as_slice()), ("a", &[Session(1)][..]));
    let of = |client: &wire::ClientReport, kind| client.requests.get(&kind).copied().unwrap_or_default();
    assert_eq!((of(a, Request::Create), of(a, Request::Children), of(a, Request::Delete)), (1, 1, 1));
    assert_eq!((of(b, Request::Exists), b.reads_answered, b.notifications), (1, 2, 1));
    assert_eq!((of(c, Request::Children), c.reads_answered, c.replies_lost), (1, 1, 0));
}

#[test]
fn a_refused_read_is_not_answered() {
    let reads = |code: &str| {
        let text = format!("run sim clients a\n1.000 a send r1 get /config\n1.001 a reply r1 {code} 0x1");
        report(&text).clients[0].reads_answered
    };
    assert_eq!((reads("ok"), reads("no_node"), reads("no_auth"), reads("throttled")), (1, 1, 0, 0));
}

#[test]
fn a_client_without_a_state_is_known_by_its_connection() {
    let unknown: String =
        LOCK.lines().filter(|line| !line.contains("state")).map(|line| format!("{line}\n")).collect();
    let report = report(&named(&[&unknown, RELEASE]));
    // One client is known by its replies, and one by a notification.
    assert_eq!(report.clients[0].sessions, [Session(1)]);
    assert_eq!(report.clients[1].sessions, [Session(2)]);
    assert_eq!(directory(&report, "/lock").contenders[0].client.as_deref(), Some("b"));
}

#[test]
fn a_poll_repeats_a_read_with_no_reason() {
    let polls = |between: &str| {
        let text = format!(
            "run sim clients a b
            1.000 a send r1 exists /lock/holder
            1.001 a reply r1 ok 0x1
            {between}
            3.000 a send r3 exists /lock/holder"
        );
        report(&text).clients[0].polls
    };
    assert_eq!(polls(""), 1);
    assert_eq!(polls("2.000 a notice s1 deleted /lock/holder"), 0);
    assert_eq!(polls("2.000 b notice s2 deleted /lock/holder"), 1);
    assert_eq!(polls("2.000 a send r2 get /config\n2.001 a reply r2 ok 0x1"), 0);
    assert_eq!(polls("2.000 a send r2 set /config\n2.001 a reply r2 ok 0x1"), 0);
    assert_eq!(polls("2.000 a send r2 set /config"), 1, "it is not answered");
    assert_eq!(polls("2.000 b send r2 get /config\n2.001 b reply r2 ok 0x1"), 1);
    assert_eq!(polls("2.000 a state s1 connected conn 7"), 0);
    assert_eq!(polls("2.000 a send r2 exists /lock/holder"), 1, "the second one, and not the third");
    assert_eq!(polls("2.000 a send r2 get /config\n2.001 a lost r2"), 0);
}

#[test]
fn a_queue_counts_its_items() {
    let text = "
run sim clients a b
0.001 a state s1 connected conn 1
0.001 b state s2 connected conn 2
1.000 server:0 txn 0x10 s3 create ok
1.000 server:0 created 0x10 /queue/entry-100-0000000001 s0
1.000 server:0 txn 0x11 s3 create ok
1.000 server:0 created 0x11 /queue/entry-100-0000000002 s0
1.000 server:0 txn 0x12 s3 create ok
1.000 server:0 created 0x12 /queue/entry-100-0000000003 s0
2.000 a send r1 get /queue/entry-100-0000000001
2.001 a reply r1 ok 0x12 conn 1
2.000 b send r2 get /queue/entry-100-0000000001
2.001 b reply r2 ok 0x12 conn 2
2.002 b send r3 get /queue/entry-100-0000000002
2.003 b reply r3 ok 0x12 conn 2
3.000 server:0 txn 0x13 s1 delete ok
3.000 server:0 deleted 0x13 /queue/entry-100-0000000001 by s1
3.000 server:0 txn 0x14 s2 delete ok
3.000 server:0 deleted 0x14 /queue/entry-100-0000000002 by s2
";
    let all = report(text);
    let queue = &all.queues[0];
    assert_eq!((queue.path.as_str(), queue.put, queue.taken, queue.left), ("/queue", 3, 2, 1));
    assert_eq!(queue.claimed_twice, 1);
    assert_eq!(directory(&all, "/queue").kind, Suggests::Queue);
    let one = report(&text.replace("2.001 b reply r2 ok", "2.001 b reply r2 no_node"));
    assert_eq!(one.queues[0].claimed_twice, 0);
}

#[test]
fn an_item_that_a_consumer_works_on_is_a_claim() {
    let text = "
run sim clients a
0.001 a state s1 connected conn 1
1.000 server:0 txn 0x10 s3 create ok
1.000 server:0 created 0x10 /queue/entries/entry-100-0000000001 s0
2.000 a send r1 create /queue/taken/entry-100-0000000001
2.001 server:0 txn 0x11 s1 create ok
2.001 server:0 created 0x11 /queue/taken/entry-100-0000000001 s1
";
    // An item of a queue is not an ephemeral.
    let unasked = report(&without(text, " a send"));
    assert_eq!(directory(&unasked, "/queue/taken").naming, [Naming::Claim]);
    let report = report(text);
    assert_eq!(directory(&report, "/queue/taken").naming, [Naming::Claim]);
    assert_eq!(report.queues.len(), 1);
    assert!(!report.left.znode_list.iter().find(|left| left.path.contains("taken")).unwrap().sequential);
}

#[test]
fn only_ephemeral_and_sequential_znodes_count() {
    let text = "
run sim clients a
1.000 server:0 txn 0x10 s1 create ok
1.000 server:0 created 0x10 /config s0
1.000 server:0 txn 0x11 s1 create ok
1.000 server:0 created 0x11 /group/worker s1
1.000 server:0 txn 0x12 s1 set ok
1.000 server:0 written 0x12 /group/worker
";
    let report = report(text);
    let paths: Vec<&str> = report.directories.iter().map(|directory| directory.path.as_str()).collect();
    assert_eq!(paths, ["/group"]);
    assert_eq!(directory(&report, "/group").written, 1);
}

#[test]
fn a_report_is_text_and_json() {
    let text = named(&[LOCK, RELEASE, "3.000 world fault disconnect a lasts 0\n"]);
    let report = report(&text);
    insta::assert_snapshot!(report.to_string());
    let json = serde_json::to_value(&report).expect("a report is JSON");
    assert_eq!(json["directories"][0]["kind"], "lock");
    assert_eq!(json["clients"][0]["requests"]["create"], 1);
    assert_eq!(json["faults"]["disconnect"], 1);
}

#[test]
fn a_run_that_goes_on_is_reported_in_between() {
    let history = zk_checker::text::parse(&named(&[LOCK, RELEASE])).unwrap();
    let mut wire = wire::Wire::default();
    for (at, event) in history.events.iter().enumerate() {
        wire.push(history.tables(), event);
        let mut so_far = history.clone();
        so_far.events.truncate(at + 1);
        assert_eq!(wire.report(history.tables()), wire::report(&so_far), "after e{at}");
    }
}

#[test]
fn recorded_runs_of_right_recipes_have_no_findings() {
    let found: Vec<String> = corpus::recorded(&corpus::folder())
        .into_iter()
        .flat_map(|recorded| {
            let findings = wire::report(&recorded.history).findings;
            findings.into_iter().map(move |finding| format!("{} {}", recorded.name, finding.rule))
        })
        .collect();
    let expected = [
        // Two mutants of a lock: names without a guid, and a read at a server that has not applied the create.
        "lock-no-guid WIRE-1",
        "lock-no-settle WIRE-1",
        // Two mutants of a queue. The others leave a receipt when they take an item.
        "queue-delete-again WIRE-4",
        "queue-passes-over-in-doubt WIRE-4",
    ];
    assert_eq!(found, expected);
}
