//! Consumers that wait at an empty queue: their wake sources, the number of wake-ups, and their remains: QU-6, QU-7,
//! QU-9.

use crate::common::*;
use zk_checker::digest;

/// Three consumers and a queue, and another one.
const HEAD: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b c x
queue /q
queue /other
lock /lock
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 server:0 opened s3 timeout 4000 0x3
0.000 a state s1 connected
0.000 b state s2 connected
0.000 c state s3 connected
0.000 x state s4 connected
";

/// A consumer finds the queue empty; the lines of its watches come in between.
fn waits(op: u32, who: &str, watch: &str) -> String {
    format!(
        "0.020 {who} take#{op} call /q
0.020 {who} #{op} send r{op} children /q watch
{watch}
0.022 {who} #{op} reply r{op} ok 0x2
"
    )
}

/// A consumer creates its waiter's znode.
fn place(op: u32, session: &str, zxid: u32, path: &str) -> String {
    format!(
        "0.021 server:0 #{op} txn {zxid:#x} {session} create ok
0.021 server:0 #{op} created {zxid:#x} {path} {session}
"
    )
}

fn run(parts: &[&str]) -> String {
    [&[HEAD][..], parts, &["1.000 world heal\n2.000 world quiesce\n"]].concat().concat()
}

const GIVES_UP: &str = "0.900 b #9 return cancelled\n";

#[test]
fn qu_6_who_stands_behind_another_watches_that_one() {
    let (first, second) = (place(8, "s1", 0x21, "/q/takers/t-0"), place(9, "s2", 0x22, "/q/takers/t-1"));
    let others = "0.020 a take#8 call /q\n0.020 c take#7 call /q\n";
    let watches = |path: &str, more: &str| {
        let watch = [&first, &second, more, &format!("0.021 server:0 #9 arm s2 data {path}")].concat();
        run(&[
            others,
            &waits(9, "b", &watch),
            "0.030 world heal\n",
            "0.900 server:0 disarm s2 data /q/takers/t-0\n",
        ])
    };
    says(&watches("/q/takers/t-0", ""), "QU-6 pass");
    // A consumer behind it is served later.
    let third = place(7, "s3", 0x23, "/q/takers/t-2");
    says(&watches("/q/takers/t-2", &third), "QU-6 fail");
    // A znode of another operation of its own does not count either.
    let two = ["0.021 b take#6 call /q\n", &*third, &place(6, "s2", 0x24, "/q/takers/t-3")].concat();
    says(&watches("/q/takers/t-2", &two), "QU-6 fail");
    // A waiter at another queue does not count here.
    let elsewhere = ["0.021 x take#5 call /other\n", &*place(5, "s4", 0x23, "/other/takers/t-0")].concat();
    let early =
        [&*place(9, "s2", 0x24, "/q/takers/t-4"), "0.021 server:0 #9 arm s2 data /other/takers/t-0"].concat();
    says(&run(&[&waits(9, "b", &[elsewhere, early].concat()), GIVES_UP]), "QU-6 fail");
}

#[test]
fn qu_6_a_watch_that_was_given_up_is_not_waited_for() {
    let lost = "
0.100 server:0 disarm s2 child /q
0.200 b state s2 suspended
0.300 b state s2 connected
0.400 b send r99 remove_watches /q cleanup
0.401 b reply r99 ok 0x2
0.402 world fault reply_late b
0.410 world fault reply_late a
";
    let run = run(&[&waits(9, "b", "0.021 server:0 #9 arm s2 child /q"), lost, GIVES_UP]);
    says(&run, "QU-6 fail");
    says(&without(&without(&run, "send r99"), "reply r99"), "QU-6 pass");
}

#[test]
fn qu_6_that_another_one_dies_excuses_nobody() {
    says(&run(&[&waits(9, "b", ""), "0.022 world crash a\n", GIVES_UP]), "QU-6 fail, first QU-6");
    says(&run(&[&waits(9, "b", ""), "0.022 world crash b\n"]), "QU-6 vacuous, first nothing");
}

/// An item is put.
fn put(op: u32) -> String {
    let (item, zxid) = (format!("i{op}"), 0x100 + op);
    format!(
        "0.030 x put#{op} call /q
0.030 x #{op} given {item} 0x0
0.030 server:0 #{op} txn {zxid:#x} s4 multi ok
0.030 server:0 #{op} created {zxid:#x} /q/queue-{op:010} s0
0.030 server:0 data {} {:#x}
0.030 x #{op} return done
",
        item.len(),
        digest::data(Some(item.as_bytes()))
    )
}

#[test]
fn qu_7_a_server_that_lags_tells_of_one_of_the_latest_puts() {
    let waiting = [
        waits(8, "a", "0.021 server:0 #8 arm s1 child /q"),
        waits(9, "b", "0.022 server:0 #9 arm s2 child /q").replace("0.020", "0.022"),
    ]
    .concat();
    let puts: String = (20..60).map(put).collect();
    let told = "0.040 server:0 fire s1 children_changed /q 0x139\n0.040 server:0 fire s2 children_changed /q 0x139\n";
    says(&run(&[&waiting, &puts, told]), "QU-7 fail");
    says(&run(&[&waiting, &puts, &told.replacen("0x139", "0x138", 1)]), "QU-7 pass");
}

#[test]
fn qu_7_behind_a_place_that_a_foreign_client_took_away_two_are_the_first() {
    let watch = |op: u32, session: &str| format!("0.021 server:0 #{op} arm {session} child /q");
    let waiting = [
        waits(8, "a", &[place(8, "s1", 0x21, "/q/takers/t-0"), watch(8, "s1")].concat()),
        waits(9, "b", &watch(9, "s2")).replace("0.020", "0.022").replace("0.021", "0.022"),
    ]
    .concat();
    let told = "0.030 server:0 fire s1 children_changed /q 0x114\n0.030 server:0 fire s2 children_changed /q 0x114\n";
    says(&run(&[&waiting, &put(20), told]), "QU-7 fail");
    let foreign = "
0.023 x fault foreign_delete x
0.023 server:0 txn 0x23 s4 delete ok
0.023 server:0 deleted 0x23 /q/takers/t-0 by s4
";
    says(&run(&[&waiting, foreign, &put(20), told]).replace("s4 multi", "s3 multi"), "QU-7 pass");
}

#[test]
fn qu_7_in_a_capture_notifications_are_counted() {
    let head = "run client clients a b\nqueue /q\n0.000 b state s2 connected\n0.020 b take#9 call /q\n";
    let notices = |count: usize| "0.030 b notice s2 children_changed /q\n".repeat(count);
    says(&[head, &notices(16)].concat(), "QU-7 pass");
    let text = [head, &notices(18)].concat();
    says(&text, "QU-7 fail");
    assert_eq!(report(&text).findings.len(), 1, "it is told once");
    // A put may be of several items; a claim does not notify other consumers.
    let puts = "0.021 a put#1 call /q\n0.021 a #1 given one 0x0\n0.022 a #1 return done\n";
    says(&[head, puts, &notices(24)].concat(), "QU-7 pass");
    says(&[head, puts, &notices(25)].concat(), "QU-7 fail");
    let claims = "0.021 a claim#1 call /q\n0.022 a #1 return refused\n";
    says(&[head, claims, &notices(17)].concat(), "QU-7 fail");
}

#[test]
fn qu_9_only_what_consumers_armed_is_theirs() {
    let watched = waits(9, "b", "0.021 server:0 #9 arm s2 child /q");
    // It still waits; or its connection was lost, and its watches with it.
    says(&run(&[&watched]), "QU-9 vacuous, first nothing");
    says(&run(&[&watched, GIVES_UP]), "QU-9 fail, first QU-9");
    let lost = "0.030 b state s2 suspended\n";
    says(&run(&[&watched, lost, GIVES_UP]), "QU-9 vacuous, first nothing");
    // Watches of a lock's holder, and watches of no operation.
    let holds = "
0.010 a acquire#5 call /lock
0.010 a #5 send r50 create /lock/a-
0.010 a #5 send r51 children /lock
0.010 server:0 #5 txn 0x20 s1 create ok
0.010 server:0 #5 created 0x20 /lock/a-0 s1
0.011 a #5 reply r50 ok 0x20
0.011 a #5 reply r51 ok 0x20
0.011 a #5 believe /lock s1 token 0x20
0.011 a #5 return done
0.011 server:0 #5 arm s1 data /lock/a-0
";
    says(&run(&[holds]), "QU-9 vacuous, first nothing");
    says(&run(&["0.010 server:0 arm s1 data /elsewhere\n"]), "QU-9 vacuous, first nothing");
}

#[test]
fn qu_7_one_transaction_may_put_into_two_queues() {
    let run = |woken: &str| {
        let (one, two) = (digest::data(Some(b"one")), digest::data(Some(b"two")));
        format!(
            "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b x
queue /q
queue /other
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 a state s1 connected
0.000 b state s2 connected
0.000 x state s4 connected
0.020 a take#8 call /other
0.020 a #8 send r8 children /other watch
0.021 server:0 #8 arm s1 child /other
0.022 a #8 reply r8 ok 0x2
0.022 b take#9 call /other
0.022 b #9 send r9 children /other watch
0.022 server:0 #9 arm s2 child /other
0.022 b #9 reply r9 ok 0x2
0.030 x put#1 call /q
0.030 x #1 given one 0x0
0.030 x put#2 call /other
0.030 x #2 given two 0x0
0.030 server:0 #1 txn 0x10 s4 multi ok
0.030 server:0 #1 created 0x10 /q/queue-0000000001 s0
0.030 server:0 data 3 {one:#x}
0.030 server:0 #2 created 0x10 /other/queue-0000000001 s0
0.030 server:0 data 3 {two:#x}
0.030 x #1 return done
0.030 x #2 return done
{woken}"
        )
    };
    let one = "0.030 server:0 fire s1 children_changed /other 0x10\n";
    let other = "0.030 server:0 fire s2 children_changed /other 0x10\n";
    says(&run(one), "QU-7 pass");
    says(&run(&[one, other].concat()), "QU-7 fail");
}

#[test]
fn qu_7_many_items_at_once_are_one_transaction_among_those_that_are_known() {
    let watch = |session: u32| format!("0.021 server:0 #{session} arm s{session} child /q");
    let second = waits(2, "b", &watch(2))
        .replace("0.020", "0.023")
        .replace("0.021", "0.023")
        .replace("0.022", "0.023");
    let both = waits(1, "a", &watch(1)) + &second;
    let told = |session: u32| format!("0.030 server:0 fire s{session} children_changed /q 0x103\n");
    let data = digest::data(Some(b"y"));
    let many = |transactions: u32| {
        let item = |txn: u32, n: u32| {
            let item = 100 * txn + n + 1000;
            format!(
                "0.030 server:0 #4 created {:#x} /q/queue-{item:010} s0\n0.030 server:0 data 1 {data:#x}\n",
                0x200 + txn
            )
        };
        let one = |txn: u32| {
            let items: String = (0..40).map(|n| item(txn, n)).collect();
            format!("0.030 server:0 #4 txn {:#x} s4 multi ok\n{items}", 0x200 + txn)
        };
        ["0.030 x put#4 call /q\n0.030 x #4 given y 0x0\n".to_owned(), (0..transactions).map(one).collect()]
            .concat()
    };
    let late = |transactions: u32| run(&[&both, &put(3), &told(1), &many(transactions), &told(2)]);
    says(&late(1), "QU-7 fail");
    says(&late(31), "QU-7 fail");
    says(&late(32), "QU-7 pass");
}
