//! The behaviour of clients and rules after a server refuses a request: a history and a verdict.

use crate::common::{A_HOLDS, B_WAITS, HEAD, edit, ensemble, says, without};
use crate::{double_barrier, election};

#[test]
fn mx_7_who_was_refused_pauses_before_it_asks_again() {
    let refused = |until: &str| {
        let b = without(&B_WAITS.replace("reply r5 ok 0x4", "reply r5 throttled 0x4"), "arm s2");
        [HEAD, A_HOLDS, &b, until, " b #2 return cancelled\n"].concat()
    };
    // A quarter of the timeout, and the settle time.
    says(&refused("1.014"), "MX-7 pass, first nothing");
    says(&refused("1.016"), "MX-7 fail, first MX-7");
    // The pause has the same end if another event triggers the check.
    let looked_at = refused("0.500 world fault reply_late b\n0.900");
    says(&looked_at, "MX-7 pass, first nothing");
    says(&refused("0.500 world fault reply_late b\n1.016"), "MX-7 fail");
    // It begins with the last answer to the requests sent together.
    let beside = |until: &str| {
        let b = without(&B_WAITS.replace("reply r5 ok 0x4", "reply r5 throttled 0x4"), "arm s2");
        let b = edit(&b, "0.014 b #2 reply r5", "0.012 b #2 send r6 exists /lock\n0.014 b #2 reply r5");
        [HEAD, A_HOLDS, &b, "0.500 b #2 reply r6 ok 0x4\n", until, " b #2 return cancelled\n"].concat()
    };
    says(&beside("1.500"), "MX-7 pass");
    says(&beside("1.502"), "MX-7 fail");
    // A client that lost that reply reads its effect first.
    let lost = |until: &str| {
        let again = "0.500 b #2 lost r6\n0.600 b #2 send r7 exists /lock\n0.700 b #2 reply r7 ok 0x4";
        beside(until).replace("0.500 b #2 reply r6 ok 0x4", again)
    };
    says(&lost("1.700"), "MX-7 pass");
    says(&lost("1.702"), "MX-7 fail");
    // Another request, sent at the same instant, is answered first.
    let at_once = |until: &str| {
        refused(&format!("0.014 b #2 send r6 exists /lock\n0.700 b #2 reply r6 ok 0x4\n{until}"))
    };
    says(&at_once("1.700"), "MX-7 pass");
    says(&at_once("1.702"), "MX-7 fail");
    // A later request does not extend it.
    let asked = "0.100 b #2 send r6 children /lock\n0.101 b #2 reply r6 ok 0x4\n1.016";
    says(&refused(asked), "MX-7 fail");
}

#[test]
fn le_9_who_was_refused_to_look_at_its_candidate_asks_again() {
    let gone = "
0.100 world fault foreign_delete a
0.100 server:0 txn 0x7 s0 delete ok
0.100 server:0 deleted 0x7 /e/a-0 by s0
";
    let leads = without(&election::A_LEADS.replace("reply r3 ok", "reply r3 throttled"), "arm s1");
    let meanwhile = "1.0045 world fault reply_late b\n";
    let told = |at: &str| [election::HEAD, &*leads, gone, meanwhile, at, " a #1 unbelieve lost\n"].concat();
    says(&told("1.005"), "LE-9 pass, first nothing");
    says(&told("1.006"), "LE-9 fail, first LE-9");
    says(&told("1.005").replace("reply r3 throttled", "reply r3 ok"), "LE-9 fail, first LE-9");
}

#[test]
fn db_7_who_may_not_read_that_it_is_open_is_told_of_that() {
    let run = |code: &str| {
        let denied = format!(
            "0.014 a #1 notice s1 data_changed /b\n0.014 a #1 send r5 get /b/0/ready\n0.015 a #1 reply r5 {code}\n\
             0.020 a #1 return refused\n"
        );
        [double_barrier::HEAD, double_barrier::A_JOINS, double_barrier::B_OPENS, &denied].concat()
    };
    says(&run("ok 0x6"), "DB-7 fail, first DB-7");
    says(&run("no_auth 0x6"), "DB-7 pass, first nothing");
    says(&run("other 0x6"), "DB-7 pass, first nothing");
    // Not if the refusal came before the opening.
    let early = edit(&run("ok 0x6"), "0.004 a #1 reply r2 ok", "0.004 a #1 reply r2 no_auth");
    says(&early, "DB-7 fail");
}

#[test]
fn db_3_whoever_was_refused_may_be_counted_until_its_znode_has_gone() {
    let run = |code: &str| {
        let denied =
            format!("0.005 a #1 send r9 get /b/0\n0.006 a #1 reply r9 {code}\n0.007 a #1 return refused\n");
        [double_barrier::HEAD, double_barrier::A_JOINS, &denied, double_barrier::B_OPENS].concat()
    };
    says(&run("no_auth 0x4"), "DB-3 pass");
    says(&run("ok 0x4"), "DB-3 fail");
}

/// Two creates are sent at once, and one of them is throttled.
fn two_creates(made: &str, answers: &str) -> String {
    format!(
        "0.005 b #2 send r3 create /lock/b-
0.005 b #2 send r4 create /lock/b-
0.006 world fault throttled b
0.007 server:2 #2 txn 0x5 s2 create ok
0.007 server:2 #2 created 0x5 {made} s0
{answers}"
    )
}

/// Both clients are attached to their servers, and the first one holds.
fn held() -> String {
    let taken = "0.001 server:1 attached s1 conn 1\n0.001 server:2 attached s2 conn 2\n0.001 a state";
    let held = edit(&[ensemble::ENSEMBLE, ensemble::A_HOLDS].concat(), "0.001 a state", taken);
    let served = "0.003 server:1 #1 served r2 0x4 conn 1\n0.004 a #1 reply r1";
    [&edit(&held, "0.004 a #1 reply r1", served), "0.0045 b acquire#2 call /lock\n"].concat()
}

#[test]
fn zk_3_a_read_does_not_wait_for_what_was_throttled() {
    // The first one is throttled; its fault is recorded before the second one, whose path exists already, is sent.
    let run = |fault: &str| {
        let requests = format!(
            "0.005 b #2 send r3 create /lock\n{fault}0.005 b #2 send r4 create /lock\n0.005 b #2 send r5 create /lock/b-\n\
             0.005 b #2 send r6 get /lock\n"
        );
        let served = "
0.007 server:2 #2 txn 0x5 s2 create node_exists
0.007 server:2 #2 txn 0x6 s2 create ok
0.007 server:2 #2 created 0x6 /lock/b-0000000001 s0
0.007 server:2 #2 served r6 0x6 conn 2
";
        [held(), requests, served.to_owned()].concat()
    };
    says(&run("0.005 world fault throttled b\n"), "ZK-3 pass");
    says(&run(""), "ZK-3 fail");
}

#[test]
fn zk_3_of_two_requests_either_may_be_the_one_that_was_throttled() {
    let made = |made: &str, answers: &str| [held(), two_creates(made, answers)].concat();
    let first = "0.008 b #2 reply r3 throttled 0x4 conn 2\n0.008 b #2 reply r4 ok 0x5 conn 2\n";
    let second = "0.008 b #2 reply r3 ok 0x5 conn 2\n0.008 b #2 reply r4 throttled 0x5 conn 2\n";
    for answers in [first, second] {
        says(&made("/lock/b-0000000001", answers), "ZK-3 pass, first nothing");
    }
    // A change without a request comes from neither.
    says(&made("/lock/c-0000000001", first), "ZK-3 fail, first ZK-3");
}
