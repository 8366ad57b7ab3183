//! Queues: a history and a verdict.

use crate::common::*;
use zk_checker::digest;

/// Two clients and a queue; both are connected.
const HEAD: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b
queue /q
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 a state s1 connected
0.000 b state s2 connected
";

const END: &str = "1.000 world heal\n2.000 world quiesce\n";

/// An item is put: `op` is the number of the operation and of the request, and with 0x10 added, the zxid.
fn put(op: u32, item: &str, priority: u32, znode: &str) -> String {
    let (at, zxid) = (format!("0.0{op:02}"), format!("{:#x}", 0x10 + op));
    let (length, digest) = (item.len(), digest::data(Some(item.as_bytes())));
    format!(
        "{at} a put#{op} call /q
         {at} a #{op} given {item} {priority:#x}
         {at} a #{op} send r{op} multi /q/receipts/r
         {at} server:0 #{op} txn {zxid} s1 multi ok
         {at} server:0 #{op} created {zxid} /q/{znode} s0
         {at} server:0 data {length} {digest:#x}
         {at} a #{op} reply r{op} ok {zxid}
         {at} a #{op} return done
"
    )
}

/// A client takes an existing item.
fn take(op: u32, who: &str, session: &str, item: &str, znode: &str) -> String {
    let (at, zxid) = (format!("0.0{op:02}"), format!("{:#x}", 0x10 + op));
    format!(
        "{at} {who} take#{op} call /q
         {at} {who} #{op} send r{op} multi /q/receipts/r
         {at} server:0 #{op} txn {zxid} {session} multi ok
         {at} server:0 #{op} deleted {zxid} /q/{znode} by {session}
         {at} {who} #{op} reply r{op} ok {zxid}
         {at} {who} #{op} observed /q item {item} 0x0
         {at} {who} #{op} return done
"
    )
}

/// A client claims an item.
fn claim(op: u32, who: &str, session: &str, item: &str, znode: &str) -> String {
    let (at, zxid) = (format!("0.0{op:02}"), format!("{:#x}", 0x10 + op));
    format!(
        "{at} {who} claim#{op} call /q
         {at} {who} #{op} send r{op} multi /q/receipts/r
         {at} server:0 #{op} txn {zxid} {session} multi ok
         {at} server:0 #{op} created {zxid} /q/claims/{znode} {session}
         {at} server:0 #{op} written {zxid} /q/{znode}
         {at} {who} #{op} reply r{op} ok {zxid}
         {at} {who} #{op} observed /q item {item} 0x0
         {at} {who} #{op} return done
"
    )
}

/// A client confirms an item, and deletes it.
fn confirm(op: u32, who: &str, session: &str, item: &str, znode: &str) -> String {
    let (at, zxid) = (format!("0.0{op:02}"), format!("{:#x}", 0x10 + op));
    format!(
        "{at} {who} confirm#{op} call /q
         {at} {who} #{op} given {item} 0x0
         {at} {who} #{op} send r{op} multi /q/receipts/r
         {at} server:0 #{op} txn {zxid} {session} multi ok
         {at} server:0 #{op} deleted {zxid} /q/{znode} by {session}
         {at} server:0 #{op} deleted {zxid} /q/claims/{znode} by {session}
         {at} {who} #{op} reply r{op} ok {zxid}
         {at} {who} #{op} return done
"
    )
}

fn run(parts: &[&str]) -> String {
    [&[HEAD][..], parts, &[END]].concat().concat()
}

/// The same with items that are claimed.
fn claims(parts: &[&str]) -> String {
    run(parts).replace("queue /q\n", "queue /q at_least_once\n")
}

fn urgent(parts: &[&str]) -> String {
    run(parts).replace("queue /q\n", "priority_queue /q strict\n")
}

#[test]
fn a_calm_run_passes() {
    let calm = run(&[
        &put(1, "one", 0, "queue-0000000001"),
        &put(2, "two", 0, "queue-0000000002"),
        &take(3, "b", "s2", "one", "queue-0000000001"),
        &take(4, "b", "s2", "two", "queue-0000000002"),
    ]);
    says(&calm, "all pass, QU-1 pass, QU-2 pass, QU-3 pass, QU-4 pass, QU-8 pass, QU-10 pass, QU-5 vacuous");
    let left = run(&[&put(1, "one", 0, "queue-0000000001")]);
    says(&left, "QU-2 pass, QU-3 pass, QU-8 pass, QU-1 vacuous, QU-4 vacuous, QU-7 vacuous");
    says(&run(&[]), "QU-2 vacuous, QU-3 vacuous, QU-6 vacuous, QU-8 vacuous, QU-9 vacuous, QU-10 vacuous");
}

#[test]
fn qu_1_only_the_remover_delivers_an_item() {
    let item = put(1, "one", 0, "queue-0000000001");
    let took = take(3, "b", "s2", "one", "queue-0000000001");
    let again = "0.010 a take#5 call /q\n0.010 a #5 observed /q item one 0x0\n0.010 a #5 return done\n";
    says(&run(&[&item, &took, again]), "QU-1 fail, first QU-1");
    says(&run(&[&item, again]), "QU-1 fail, first QU-1");
    says(&run(&[&item, &again.replace("item one", "item two")]), "QU-1 fail");
    let without_reply = without(&without(&took, "observed"), "return done");
    says(&run(&[&item, &without_reply, "0.003 b #3 return unknown\n", again]), "first QU-1");
}

#[test]
fn qu_1_what_a_cancelled_take_removed_may_come_with_the_next() {
    let item = put(1, "one", 0, "queue-0000000001");
    let took = edit(&take(3, "b", "s2", "one", "queue-0000000001"), "return done", "return cancelled");
    let took = without(&took, "observed");
    let next = "0.010 b take#5 call /q\n0.010 b #5 observed /q item one 0x0\n0.010 b #5 return done\n";
    says(&run(&[&item, &took, next]), "QU-1 pass, QU-2 pass");
}

#[test]
fn qu_2_a_consumer_that_has_settled_its_takes_knows_what_it_has() {
    let item = put(1, "one", 0, "queue-0000000001");
    let took = edit(&take(3, "b", "s2", "one", "queue-0000000001"), "return done", "return cancelled");
    let took = without(&took, "observed");
    let settles = |count: u32| {
        format!(
            "0.005 b settle#5 call /q\n0.005 b #5 observed /q in_hand \"\" {count}\n0.005 b #5 return done\n"
        )
    };
    let next = "0.010 b take#6 call /q\n0.010 b #6 observed /q item one 0x0\n0.010 b #6 return done\n";
    says(&run(&[&item, &took, &settles(1), next]), "QU-2 pass, first nothing");
    says(&run(&[&item, &took, &settles(0)]), "QU-2 fail");
    says(&run(&[&item, &took, &settles(2), next]), "QU-2 fail");
    // The item in hand was handed out before.
    let settled = settles(0).replace("0.005", "0.011").replace("#5", "#7");
    says(&run(&[&item, &took, next, &settled]), "QU-2 pass");
    // A foreign client may have deleted the receipt of a take.
    let foreign = "0.004 x fault foreign_delete x\n0.004 server:0 txn 0x99 s3 delete ok\n\
                   0.004 server:0 deleted 0x99 /q/receipts/r by s3\n";
    let head = "0.000 server:0 opened s3 timeout 4000 0x3\n0.000 x state s3 connected\n";
    let hidden = run(&[head, &item, &took, foreign, &settles(0)]);
    says(&hidden.replace("clients a b", "clients a b x"), "QU-2 unavoidable");
}

#[test]
fn qu_1_confirmed_by_who_has_the_claim() {
    let (item, znode) = (put(1, "one", 0, "queue-0000000001"), "queue-0000000001");
    let claimed = claim(3, "b", "s2", "one", znode);
    let done = confirm(5, "b", "s2", "one", znode);
    says(&claims(&[&item, &claimed, &done]), "all pass, QU-1 pass, QU-2 pass");
    // It returns done, and nothing is deleted.
    let blind = without(&without(&done, "deleted 0x15 /q/queue"), "deleted 0x15 /q/claims");
    says(&claims(&[&item, &claimed, &blind]), "QU-1 fail, first QU-1");
    // A client other than the claimer confirms it.
    let other = confirm(5, "a", "s1", "one", znode);
    says(&claims(&[&item, &claimed, &other]), "QU-1 fail, first QU-1");
    // Handed out without a claim.
    let seen = "0.010 a claim#6 call /q\n0.010 a #6 observed /q item one 0x0\n0.010 a #6 return done\n";
    says(&claims(&[&item, &claimed, seen]), "QU-1 fail, first QU-1");
    // Both confirmations return done.
    let twice = "0.010 b confirm#7 call /q\n0.010 b #7 given one 0x0\n0.010 b #7 return done\n";
    says(&claims(&[&item, &claimed, &done, twice]), "QU-1 fail, first QU-1");
}

#[test]
fn qu_1_nobody_takes_a_claim_away() {
    let (item, znode) = (put(1, "one", 0, "queue-0000000001"), "queue-0000000001");
    let claimed = claim(3, "b", "s2", "one", znode);
    let thief = "0.010 a give_back#6 call /q
                 0.010 a #6 given two 0x0
                 0.010 server:0 #6 txn 0x20 s1 multi ok
                 0.010 server:0 #6 deleted 0x20 /q/claims/queue-0000000001 by s1
                 0.010 a #6 return done\n";
    says(&claims(&[&item, &claimed, thief]), "QU-1 fail, first QU-1");
    let foreign = "0.010 world fault foreign_delete server:0 lasts 0
                   0.010 server:0 txn 0x20 s1 delete ok
                   0.010 server:0 deleted 0x20 /q/claims/queue-0000000001 by s1\n";
    says(&claims(&[&item, &claimed, foreign]), "QU-1 pass, first nothing");
}

#[test]
fn qu_1_in_a_capture() {
    let puts = "0.001 a put#1 call /q\n0.001 a #1 given one 0x0\n0.002 a #1 return done\n";
    let took = "0.003 b take#2 call /q\n0.003 b #2 observed /q item one 0x5\n0.004 b #2 return done\n";
    let head = "run client clients a b\nqueue /q\n";
    says(&[head, puts, took, END].concat(), "QU-1 pass, QU-2 pass");
    let again = took.replace("#2", "#3").replace("0.003 b", "0.005 a").replace("0.004 b", "0.006 a");
    says(&[head, puts, took, &again, END].concat(), "QU-1 fail");
    says(&[head, puts, took, &again.replace("0x5", "0x6"), END].concat(), "QU-3 fail, QU-1 pass");
    says(&[head, puts, END].concat(), "QU-2 fail");
    says(&[head, puts, "0.010 world left /q /q/queue-0000000000 s0\n", END].concat(), "QU-2 pass");
    let doubt = "0.003 b take#2 call /q\n0.004 b #2 return unknown\n";
    says(&[head, puts, doubt, END].concat(), "QU-2 pass");
}

#[test]
fn qu_2_nothing_is_lost() {
    let (item, znode) = (put(1, "one", 0, "queue-0000000001"), "queue-0000000001");
    let lost = without(&take(3, "b", "s2", "one", znode), "observed");
    says(&run(&[&item, &lost]), "QU-2 fail, first QU-2");
    for outcome in ["unknown", "cancelled"] {
        let excused = edit(&lost, "return done", &format!("return {outcome}"));
        says(&run(&[&item, &excused]), "QU-2 unavoidable, first nothing");
    }
    says(&run(&[&item, &edit(&lost, "return done", "return refused")]), "QU-2 fail");
    says(&run(&[&item, &lost, "0.500 world crash b\n"]), "QU-2 unavoidable");
    says(&run(&[&item, &without(&lost, "return done"), "0.500 world crash b\n"]), "QU-2 unavoidable");
}

#[test]
fn qu_2_a_claimed_item_goes_with_its_confirmation_alone() {
    let (item, znode) = (put(1, "one", 0, "queue-0000000001"), "queue-0000000001");
    let took = claim(3, "b", "s2", "one", znode);
    let gone = edit(&took, "written 0x13 /q/queue-0000000001", "deleted 0x13 /q/queue-0000000001 by s2");
    says(&claims(&[&item, &gone]), "QU-2 fail");
    let refused = edit(&confirm(5, "b", "s2", "one", znode), "return done", "return refused");
    says(&claims(&[&item, &took, &refused]), "QU-2 fail, first AN-3");
}

#[test]
fn qu_3_one_put_makes_one_item() {
    let item = put(1, "one", 0, "queue-0000000001");
    let twice = put(1, "one", 0, "queue-0000000002");
    let second: String =
        twice.lines().filter(|line| line.contains("server")).map(|line| format!("{line}\n")).collect();
    let second = second.replace("0x11", "0x12").replace("0.001", "0.010");
    says(&run(&[&item, &second]), "QU-3 fail, first QU-3");
    let no_item = without(&without(&item, "created"), "data");
    says(&run(&[&no_item]), "QU-3 fail, first QU-3");
    says(&run(&[&edit(&item, "return done", "return refused")]), "QU-3 fail, first QU-3");
    says(&run(&[&edit(&no_item, "return done", "return unknown")]), "QU-3 vacuous, first nothing");
    says(&run(&[&edit(&item, "return done", "return unknown")]), "QU-3 pass, first nothing");
}

#[test]
fn qu_4_the_oldest_goes_first() {
    let (one, two) = (put(1, "one", 0, "queue-0000000001"), put(2, "two", 0, "queue-0000000002"));
    let second = take(3, "b", "s2", "two", "queue-0000000002");
    says(&run(&[&one, &two, &second]), "QU-4 fail, QU-10 pass, first QU-4");
    let second = claim(3, "b", "s2", "two", "queue-0000000002");
    says(&claims(&[&one, &two, &second]), "QU-4 fail, first QU-4");
    // An item that was handed out before may wait.
    let first = claim(3, "a", "s1", "one", "queue-0000000001");
    let second = claim(4, "b", "s2", "two", "queue-0000000002");
    says(&claims(&[&one, &two, &first, &second]), "QU-4 pass");
}

#[test]
fn qu_5_the_most_urgent_goes_first() {
    let (one, two) =
        (put(1, "one", 9, "queue-00009-0000000001"), put(2, "two", 10, "queue-00010-0000000002"));
    let took = take(3, "b", "s2", "one", "queue-00009-0000000001");
    says(&urgent(&[&one, &two, &took]), "QU-5 pass, QU-10 pass, QU-4 vacuous");
    let took = take(3, "b", "s2", "two", "queue-00010-0000000002");
    says(&urgent(&[&one, &two, &took]), "QU-5 fail, QU-10 pass, first QU-5");
    // The passed item was not in the list that the operation used.
    let fresh = |text: &str| urgent(&[text]).replace(" strict", "");
    let lists =
        "0.002 b #3 send r8 children /q\n0.002 server:0 served r8 0x10\n0.002 b #3 reply r8 ok 0x10\n";
    let (call, rest) = took.split_once('\n').expect("several lines");
    let call = call.replace("0.003", "0.002");
    says(
        &fresh(
            &[&two, &one, &call, "\n", lists, rest]
                .concat()
                .replace("0.002 a", "0.001 a")
                .replace("0.002 server:0 #2", "0.001 server:0 #2")
                .replace("0.002 server:0 data", "0.001 server:0 data"),
        ),
        "QU-5 pass",
    );
}

#[test]
fn qu_8_an_item_belongs_to_nobody() {
    let item = edit(&put(1, "one", 0, "queue-0000000001"), "queue-0000000001 s0", "queue-0000000001 s1");
    says(&run(&[&item]), "QU-8 fail, first QU-8");
}

#[test]
fn qu_10_numbers_are_no_texts() {
    let (one, two) = (put(1, "one", 9, "queue-9-0000000001"), put(2, "two", 10, "queue-10-0000000002"));
    let took = take(3, "b", "s2", "two", "queue-10-0000000002");
    says(&urgent(&[&one, &two, &took]), "QU-10 fail, QU-5 fail, first QU-10");
}

/// A consumer waits at an empty queue, with or without a watch.
fn waits(watch: &str) -> String {
    format!(
        "0.020 b take#9 call /q
         0.020 b #9 send r9 children /q watch
         {watch}
         0.022 b #9 reply r9 ok 0x2
"
    )
}

const ARMED: &str = "0.021 server:0 #9 arm s2 child /q";
const GIVES_UP: &str = "0.900 b #9 return cancelled\n";

#[test]
fn qu_6_who_waits_has_something_to_wake_it() {
    let disarm = "0.901 server:0 disarm s2 child /q\n";
    says(&run(&[&waits(ARMED), GIVES_UP, disarm]), "QU-6 pass, first nothing");
    says(&run(&[&waits(""), GIVES_UP]), "QU-6 fail, first QU-6");
    says(&run(&[&waits(""), "0.022 b #9 return cancelled\n"]), "QU-6 vacuous, first nothing");
    let elsewhere = ARMED.replace("child /q", "child /q/receipts");
    says(&run(&[&waits(&elsewhere), GIVES_UP]), "QU-6 fail");
}

#[test]
fn qu_6_what_is_there_gets_to_who_waits() {
    // The notification is lost, and no consumer takes the item.
    let item = put(1, "one", 0, "queue-0000000001").replace("0.001", "0.030");
    let stuck = [HEAD, &waits(ARMED), &item, "1.000 world heal\n", "60.000 world stopped\n"].concat();
    says(&stuck, "QU-6 fail");
    let soon = [HEAD, &waits(ARMED), &item, "1.000 world heal\n", "2.000 world stopped\n"].concat();
    says(&soon, "QU-6 pass");
}

#[test]
fn qu_7_a_put_wakes_one() {
    let other =
        waits(ARMED).replace("#9", "#8").replace("r9", "r8").replace(" b ", " a ").replace("s2", "s1");
    let other = other.replace("0.020", "0.023").replace("0.021", "0.023").replace("0.022", "0.023");
    let puts = "0.030 c put#1 call /q\n0.030 c #1 given one 0x0\n0.031 server:0 #1 txn 0x11 s3 multi ok
                0.031 server:0 #1 created 0x11 /q/queue-0000000001 s0
                0.031 server:0 data 3 DIGEST
                0.031 server:0 #1 applied 0x11
                0.031 server:0 fire s2 children_changed /q 0x11\n";
    let puts = puts.replace("DIGEST", &format!("{:#x}", digest::data(Some(b"one"))));
    let both = "0.031 server:0 fire s1 children_changed /q 0x11\n";
    let head = HEAD.replace("clients a b", "clients a b c");
    says(&[head.as_str(), &waits(ARMED), &puts].concat(), "QU-7 pass");
    says(&[head.as_str(), &waits(ARMED), &other, &puts, both].concat(), "QU-7 fail");
    let textbook =
        [&head, &waits(ARMED), &other, &puts, both].concat().replace("queue /q\n", "queue /q textbook\n");
    says(&textbook, "QU-7 pass");
}

#[test]
fn qu_9_nothing_is_left() {
    let (item, znode) = (put(1, "one", 0, "queue-0000000001"), "queue-0000000001");
    let claimed = claim(3, "b", "s2", "one", znode);
    says(&claims(&[&item, &claimed]), "QU-9 pass");
    let unseen = edit(&without(&claimed, "observed"), "return done", "return cancelled");
    says(&claims(&[&item, &unseen]), "QU-9 fail, first QU-9");
    let given_back = "0.010 b give_back#6 call /q\n0.010 b #6 given one 0x0\n0.011 b #6 return cancelled\n";
    says(&claims(&[&item, &claimed, given_back]), "QU-9 fail");
    says(&run(&[&waits(ARMED), GIVES_UP]), "QU-9 fail, first QU-9");
}

#[test]
fn qu_1_who_gave_its_claim_back_has_none() {
    let (item, znode) = (put(1, "one", 0, "queue-0000000001"), "queue-0000000001");
    let claimed = claim(3, "b", "s2", "one", znode);
    let back = "0.004 b give_back#4 call /q
                0.004 b #4 given one 0x0
                0.004 server:0 #4 txn 0x14 s2 multi ok
                0.004 server:0 #4 deleted 0x14 /q/claims/queue-0000000001 by s2
                0.004 b #4 return done\n";
    let done = without(&confirm(5, "b", "s2", "one", znode), "deleted 0x15 /q/claims");
    says(&claims(&[&item, &claimed, &done]), "QU-1 pass");
    says(&claims(&[&item, &claimed, back, &done]), "QU-1 fail, first QU-1");
    // The recipe is not responsible for a delete by no operation of the queue.
    let gone = "0.004 server:0 txn 0x14 s0 delete ok
                0.004 server:0 deleted 0x14 /q/claims/queue-0000000001 by s0\n";
    says(&claims(&[&item, &claimed, gone]), "QU-1 pass, first nothing");
}

#[test]
fn qu_1_in_a_capture_an_item_is_of_the_queue_that_it_was_put_into() {
    let head = "run client clients a b\nqueue /q\nqueue /other\n";
    let puts = "0.001 a put#1 call /q\n0.001 a #1 given one 0x0\n0.002 a #1 return done\n";
    let took = "0.003 b take#2 call /q\n0.003 b #2 observed /q item one 0x0\n0.004 b #2 return done\n";
    says(&[head, puts, took].concat(), "QU-1 pass");
    says(&[head, &puts.replace("/q", "/other"), took].concat(), "QU-1 fail, first QU-1");
    // Without its number it may be another znode.
    let again = took.replace("#2", "#3").replace("0.003", "0.005").replace("0.004", "0.006");
    says(&[head, puts, took, &again.replace("0x0", "0x5")].concat(), "QU-1 fail, QU-3 vacuous");
}

#[test]
fn qu_2_an_announcement_excuses_one_deletion() {
    let (one, two) = (put(1, "one", 0, "queue-0000000001"), put(2, "two", 0, "queue-0000000002"));
    let gone = |zxid: &str, znode: &str| {
        format!("0.010 server:0 txn {zxid} s0 delete ok\n0.010 server:0 deleted {zxid} /q/{znode} by s0\n")
    };
    let (first, second) = (gone("0x20", "queue-0000000001"), gone("0x21", "queue-0000000002"));
    let told = "0.009 world fault foreign_delete server:0 lasts 0\n";
    says(&run(&[&one, &two, told, &first]), "QU-2 unavoidable, first nothing");
    says(&run(&[&one, &two, told, &first, &second]), "QU-2 fail");
    says(&run(&[&one, &two, told, told, &first, &second]), "QU-2 unavoidable, first nothing");
}

#[test]
fn qu_2_only_a_foreign_client_at_the_item_excuses_its_loss() {
    let (item, znode) = (put(1, "one", 0, "queue-0000000001"), "queue-0000000001");
    let lost = without(&take(3, "b", "s2", "one", znode), "observed");
    let foreign = |path: &str| {
        let foreign = format!(
            "0.002 x state s3 connected
0.002 x fault foreign_write x
0.002 server:0 txn 0x12 s3 other ok
0.002 server:0 written 0x12 {path}
"
        );
        run(&[&item, &foreign, &lost]).replace("clients a b", "clients a b x")
    };
    says(&foreign("/q/queue-0000000001"), "QU-2 unavoidable, first nothing");
    says(&foreign("/q/receipts"), "QU-2 fail, first QU-2");
    // A client that dies during it loses the item, and the finding names that reason.
    let died = run(&[&item, &without(&lost, "return done"), "0.500 world crash b\n"]);
    let report = report(&died);
    assert!(report.findings.iter().any(|found| found.text.contains("excused: its client died")), "{report}");
}

#[test]
fn qu_2_in_a_capture_what_is_left_are_items_and_what_is_in_doubt_is_not_lost() {
    let head = "run client clients a b\nqueue /q\n";
    let puts = "0.001 a put#1 call /q\n0.001 a #1 given one 0x0\n0.002 a #1 return done\n";
    for path in ["/q/receipts", "/q/claims/queue-0000000000"] {
        says(&[head, puts, &format!("0.010 world left /q {path} s0\n"), END].concat(), "QU-2 fail");
    }
    let confirms = |outcome: &str| {
        let text =
            format!("0.003 b confirm#3 call /q\n0.003 b #3 given one 0x0\n0.004 b #3 return {outcome}\n");
        [&head.replace("queue /q", "queue /q at_least_once"), puts, &text, END].concat()
    };
    says(&confirms("refused"), "QU-2 fail");
    says(&confirms("unknown"), "QU-2 pass, first nothing");
}

#[test]
fn qu_5_where_the_state_of_a_list_is_not_known_what_was_put_before_is() {
    let (one, two) =
        (put(1, "one", 9, "queue-00009-0000000001"), put(2, "two", 10, "queue-00010-0000000002"));
    let took = take(3, "b", "s2", "two", "queue-00010-0000000002");
    let list = "0.003 b #3 send r8 children /q\n0.003 b #3 reply r8 ok 0x0\n";
    let took = edit(&took, "take#3 call /q\n", &format!("take#3 call /q\n{list}"));
    says(&urgent(&[&one, &two, &took]).replace(" strict", ""), "QU-5 fail, first QU-5");
}

#[test]
fn qu_2_what_a_foreign_client_deletes_elsewhere_uses_up_no_excuse() {
    let (item, znode) = (put(1, "one", 0, "queue-0000000001"), "queue-0000000001");
    let gone = |zxid: &str, path: &str| {
        format!(
            "0.010 x fault foreign_delete x
0.010 server:0 txn {zxid} s3 delete ok
0.010 server:0 deleted {zxid} {path} by s3
"
        )
    };
    let missed = "0.010 x fault foreign_delete x\n0.010 server:0 txn 0x20 s3 delete no_node\n";
    let (elsewhere, here) = (gone("0x21", "/other/queue-0000000009"), gone("0x22", "/q/queue-0000000001"));
    let by = |parts: &[&str]| {
        let opened = "0.000 server:0 opened s3 timeout 4000 0x3\n0.000 x state s3 connected\n";
        claims(&[&[opened], parts].concat()).replace("clients a b", "clients a b x")
    };
    says(&by(&[&item, &elsewhere, &here]), "QU-2 pass, first nothing");
    // A delete without an effect excuses no other delete.
    let other =
        "0.020 server:0 txn 0x22 s2 delete ok\n0.020 server:0 deleted 0x22 /q/queue-0000000001 by s2\n";
    says(&by(&[&item, missed, other]), "QU-2 fail, first QU-2");
    // A clean-up that removes a claim between an announcement and its delete leaves the excuse to the delete.
    let (announced, gone) = here.split_at(here.find("0.010 server").expect("it deletes"));
    let claimed = claim(3, "b", "s2", "one", znode);
    let clean_up = "0.010 server:0 txn 0x21 s1 delete ok
0.010 server:0 deleted 0x21 /q/claims/queue-0000000001 by s1
";
    says(&by(&[&item, &claimed, announced, clean_up, gone]), "QU-2 pass");
}

#[test]
fn qu_1_who_lost_its_claim_may_take_away_the_one_behind_it() {
    let (item, znode) = (put(1, "one", 0, "queue-0000000001"), "queue-0000000001");
    let first = claim(3, "b", "s2", "one", znode);
    let second =
        edit(&without(&claim(6, "a", "s1", "one", znode), "observed"), "return done", "return refused");
    let gives_back = |op: u32| {
        format!(
            "0.0{op:02} b give_back#{op} call /q
             0.0{op:02} b #{op} given one 0x0
             0.0{op:02} server:0 #{op} txn {zxid:#x} s2 multi ok
             0.0{op:02} server:0 #{op} deleted {zxid:#x} /q/claims/{znode} by s2
             0.0{op:02} b #{op} return done\n",
            zxid = 0x10 + op
        )
    };
    let lost = |how: &str| claims(&[&item, &first, how, &second, &gives_back(8)]);
    // The client has given its claim back itself, and then once more.
    says(&lost(&gives_back(4)), "QU-1 fail, first QU-1");
    // Another operation has deleted it.
    let thief = gives_back(4).replace("0.004 b", "0.004 a").replace("s2", "s1");
    let again = report(&lost(&thief));
    assert_eq!(again.findings.iter().filter(|finding| finding.rule.name() == "QU-1").count(), 1, "{again}");
    // The claim was deleted with the session, whose client has not learned of its end.
    let ended = format!(
        "0.004 server:0 txn 0x14 s2 close_session ok\n0.004 server:0 deleted 0x14 /q/claims/{znode} by s2\n"
    );
    says(&lost(&ended), "QU-1 pass");
}
