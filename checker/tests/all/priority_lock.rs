//! Priority locks: a directory of waiters and one of holds. MX-15, and the promises of every lock.

use crate::common::{edit, says, without};

/// Three clients and a priority lock.
pub const HEAD: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b c
priority_lock /p stop margin 0.4 budget 6 2 1 4
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 server:0 opened s3 timeout 4000 0x3
0.000 a state s1 connected
0.000 b state s2 connected
0.000 c state s3 connected
";

/// A client joins the waiters, and is served both lists.
pub fn joins(who: &str, verb: &str, op: u32, priority: u32, zxid: u32) -> String {
    let r = 10 * op;
    format!(
        "
0.010 {who} {verb}#{op} call /p
0.010 {who} #{op} given \"\" {priority}
0.010 {who} #{op} send r{r} create /p/line/{who}-
0.010 {who} #{op} send r{} exists /p
0.010 {who} #{op} send r{} children /p/line
0.010 {who} #{op} send r{} children /p/held
0.010 server:0 #{op} txn {zxid:#x} s{op} create ok
0.010 server:0 #{op} created {zxid:#x} /p/line/{who}-{op} s{op}
0.010 {who} #{op} reply r{r} ok {zxid:#x}
0.010 {who} #{op} reply r{} ok {zxid:#x}
0.010 {who} #{op} reply r{} ok {zxid:#x}
0.010 {who} #{op} reply r{} ok {zxid:#x}
",
        r + 1,
        r + 2,
        r + 3,
        r + 1,
        r + 2,
        r + 3
    )
}

/// The client moves from the waiters to the holds, and watches its new znode.
pub fn takes(who: &str, op: u32, zxid: u32) -> String {
    let r = 10 * op + 4;
    format!(
        "
0.010 {who} #{op} send r{r} multi /p
0.010 server:0 #{op} txn {zxid:#x} s{op} multi ok
0.010 server:0 #{op} deleted {zxid:#x} /p/line/{who}-{op} by s{op}
0.010 server:0 #{op} created {zxid:#x} /p/held/{who} s{op}
0.010 {who} #{op} reply r{r} ok {zxid:#x}
0.010 {who} #{op} send r{} get /p/held/{who} watch
0.010 {who} #{op} return done
0.010 {who} #{op} believe /p s{op} token {zxid:#x}
0.010 server:0 #{op} arm s{op} data /p/held/{who}
0.010 {who} #{op} reply r{} ok {zxid:#x}
",
        r + 1,
        r + 1
    )
}

/// The client waits, and watches this znode.
pub fn waits(who: &str, op: u32, znode: &str) -> String {
    let r = 10 * op + 6;
    format!(
        "
0.010 {who} #{op} send r{r} children {znode} watch
0.010 server:0 #{op} arm s{op} child {znode}
0.010 {who} #{op} reply r{r} ok 0x0
"
    )
}

/// The client releases, and these sessions are notified.
pub fn releases(who: &str, op: u32, zxid: u32, told: &[u32]) -> String {
    let mut text = format!(
        "
0.020 {who} #{op} unbelieve released
0.020 {who} release#7 call /p
0.020 {who} #7 send r70 delete /p/held/{who}
0.020 server:0 #7 txn {zxid:#x} s{op} delete ok
0.020 server:0 #7 deleted {zxid:#x} /p/held/{who} by s{op}
"
    );
    for session in told {
        text += &format!("0.020 server:0 #7 fire s{session} deleted /p/held/{who} {zxid:#x}\n");
    }
    text + &format!("0.020 {who} #7 reply r70 ok {zxid:#x}\n0.020 {who} #7 return done\n")
}

/// The client is notified, and served both lists.
pub fn looks(who: &str, op: u32, znode: &str, zxid: u32) -> String {
    let r = 10 * op + 7;
    format!(
        "
0.020 {who} notice s{op} deleted {znode}
0.020 {who} #{op} send r{r} children /p/line
0.020 {who} #{op} send r{} children /p/held
0.020 {who} #{op} reply r{r} ok {zxid:#x}
0.020 {who} #{op} reply r{} ok {zxid:#x}
",
        r + 1,
        r + 1
    )
}

fn later(text: &str) -> String {
    text.replace("0.010", "0.020")
}

/// A less urgent client holds, and two wait.
fn two_wait() -> String {
    let mut text = [HEAD, &joins("a", "write", 1, 9, 4), &takes("a", 1, 5)].concat();
    text += &[joins("b", "write", 2, 5, 6), waits("b", 2, "/p/held/a")].concat();
    text + &[joins("c", "write", 3, 1, 7), waits("c", 3, "/p/held/a")].concat()
}

#[test]
fn the_most_urgent_is_granted_next() {
    let run = [two_wait(), releases("a", 1, 8, &[2, 3])].concat();
    let run =
        [&run, &looks("c", 3, "/p/held/a", 8), &later(&takes("c", 3, 9)), "0.020 world heal\n"].concat();
    says(
        &run,
        "first nothing, MX-15 pass, MX-2 pass, MX-3 pass, MX-4 pass, MX-5 pass, MX-7 pass, MX-9 pass, MX-10 pass",
    );
    says(&run, "MX-6 vacuous, RW-1 vacuous, MX-12 pass, MX-13 pass");
}

#[test]
fn mx_15_the_less_urgent_does_not_go_first() {
    let run = [two_wait(), releases("a", 1, 8, &[2, 3])].concat();
    let run = [run.as_str(), &looks("b", 2, "/p/held/a", 8), &later(&takes("b", 2, 9))].concat();
    says(&run, "MX-15 fail, MX-4 pass, first MX-15");
    // Nor is the later one of two equally urgent waiters.
    let equal = run.replace("given \"\" 5", "given \"\" 1").replace("given \"\" 1", "given \"\" 5");
    says(&equal, "MX-15 pass, MX-4 pass");
}

#[test]
fn mx_15_readers_do_not_pass_over_readers() {
    let run = [
        HEAD,
        &joins("a", "read", 1, 9, 4),
        &joins("b", "read", 2, 1, 5),
        &takes("b", 2, 6),
        &takes("a", 1, 7),
    ];
    says(&run.concat(), "MX-15 pass, MX-2 pass, MX-5 pass, first nothing");
}

#[test]
fn mx_4_a_newcomer_takes_nothing_from_a_holder() {
    let run = [HEAD, &joins("a", "write", 1, 9, 4), &takes("a", 1, 5)].concat();
    let enters = [joins("c", "write", 3, 1, 6), takes("c", 3, 7)].concat();
    says(&[&run, enters.as_str()].concat(), "first MX-4, MX-2 fail, MX-3 fail, MX-15 pass");
    // It has no znode in the directory of holds.
    let bare = without(&takes("c", 3, 7), "created 0x7");
    says(&[run.as_str(), &joins("c", "write", 3, 1, 6), &bare].concat(), "first MX-4");
}

#[test]
fn mx_4_nobody_was_granted_it_since_the_list() {
    // Both had read the lists while it was free: the conditions of the transaction refuse the second.
    let run =
        [HEAD, &joins("a", "write", 1, 9, 4), &joins("c", "write", 3, 1, 5), &takes("a", 1, 6)].concat();
    let gone =
        edit(&releases("a", 1, 7, &[]), "0.020 a #7 reply", "0.020 a #7 reply").replace("0.020", "0.010");
    let late = takes("c", 3, 8);
    says(&[run.as_str(), &gone, &late].concat(), "MX-4 fail, first MX-4");
}

#[test]
fn mx_5_the_token_is_the_stamp_of_the_grant() {
    let run = [HEAD, &joins("a", "write", 1, 9, 4), &takes("a", 1, 5)].concat();
    says(&edit(&run, "token 0x5", "token 0x4"), "first MX-5");
}

#[test]
fn mx_7_a_holder_ahead_is_watched() {
    let run = [two_wait(), "1.0 world heal\n".to_owned()].concat();
    says(&run, "MX-7 pass, first nothing");
    says(&without(&run, "arm s3 child"), "MX-7 fail, first MX-7");
    // A less urgent waiter does not stand ahead.
    says(&edit(&run, "arm s3 child /p/held/a", "arm s3 child /p/line/b-2"), "MX-7 fail, first MX-7");
    says(&edit(&run, "arm s2 child /p/held/a", "arm s2 child /p/line/c-3"), "MX-7 pass");
}

#[test]
fn mx_14_a_holder_whose_znode_is_deleted_is_told() {
    let run = [HEAD, &joins("a", "write", 1, 9, 4), &takes("a", 1, 5)].concat();
    let gone = "
0.100 world fault foreign_delete a
0.100 server:0 txn 0x7 s0 delete ok
0.100 server:0 deleted 0x7 /p/held/a by s0
";
    says(&[&run, gone, "0.100 server:0 fire s1 deleted /p/held/a 0x7\n0.101 a notice s1 deleted /p/held/a\n0.101 a #1 unbelieve lost\n"].concat(), "MX-14 pass, first nothing");
    says(&[&without(&run, "arm s1"), gone, "0.110 world heal\n"].concat(), "MX-14 fail, first MX-14");
}

#[test]
fn rv_2_preemption_keeps_to_its_manner() {
    let run = two_wait();
    let takes_away = "
0.020 server:0 #3 txn 0x8 s3 delete ok
0.020 server:0 #3 deleted 0x8 /p/held/a by s3
";
    says(&[&run, takes_away].concat(), "RV-2 fail, first RV-2, MX-10 pass");
}

#[test]
fn mx_13_a_release_wakes_whom_it_concerns() {
    let run = [two_wait(), releases("a", 1, 8, &[2, 3]), "0.020 world heal\n".to_owned()].concat();
    says(&run, "MX-13 pass");
    // A waiter that was behind another one in its last list does not watch the holder.
    let swapped = run.replace("given \"\" 5", "given \"\" 1").replacen(
        "given \"\" 1\n0.010 c #3",
        "given \"\" 5\n0.010 c #3",
        1,
    );
    says(&swapped, "MX-13 fail");
}
