//! Names: a history and a verdict for each promise.

use crate::common::*;

const HEAD: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b
name_service /names stop margin 0.4
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 a state s1 connected
0.000 b state s2 connected
";

const A_REGISTERS: &str = "
0.001 a register#1 call /names
0.001 a #1 given db 0x0
0.001 a #1 send r1 create /names/db
0.002 server:0 #1 txn 0x3 s1 create ok
0.002 server:0 #1 created 0x3 /names/db s1
0.003 a #1 reply r1 ok 0x3
0.003 a #1 observed /names name db 0x3
0.003 a #1 return done
";

const A_GIVES_BACK: &str = "
0.020 a unregister#3 call /names
0.020 a #3 given db 0x0
0.020 a #3 send r3 delete /names/db
0.021 server:0 #3 txn 0x5 s1 delete ok
0.021 server:0 #3 deleted 0x5 /names/db by s1
0.022 a #3 reply r3 ok 0x5
0.022 a #3 return done
";

const END: &str = "9.000 world quiesce\n";

fn run(parts: &[&str]) -> String {
    [&[HEAD], parts, &[END]].concat().concat()
}

#[test]
fn a_calm_run_passes_and_an_empty_one_proves_nothing() {
    says(&run(&[A_REGISTERS, A_GIVES_BACK]), "all pass, NS-1 pass, NS-4 pass, NS-2 vacuous, NS-3 vacuous");
    for rule in ["NS-1", "NS-2", "NS-3", "NS-4", "NS-5"] {
        says(&run(&[]), &format!("{rule} vacuous"));
    }
}

#[test]
fn ns_1_a_znode_that_was_there_is_nobodys_success() {
    let b = "
0.010 b register#2 call /names
0.010 b #2 given db 0x0
0.010 b #2 send r2 create /names/db
0.012 b #2 reply r2 node_exists 0x4
0.012 b #2 observed /names name db 0x3
0.012 b #2 return done
";
    says(&run(&[A_REGISTERS, b]), "first NS-1, NS-1 fail, NS-3 vacuous");
    // The servers' events are not needed for this.
    let capture: String = run(&[A_REGISTERS, b])
        .lines()
        .filter(|l| !l.contains("server:0"))
        .map(|l| format!("{l}\n"))
        .collect();
    says(&capture.replace("run sim", "run client"), "first NS-1");
    says(&run(&[A_REGISTERS, &b.replace("0x3", "0x9")]), "first NS-1");
    let refused = without(&b.replace("return done", "return refused"), "observed");
    says(&run(&[A_REGISTERS, &refused]), "NS-1 pass, all pass");
}

#[test]
fn ns_2_unique_names_differ() {
    let one = "
0.001 a unique#1 call /names
0.001 a #1 given job 0x0
0.002 server:0 #1 txn 0x3 s1 create ok
0.002 server:0 #1 created 0x3 /names/g-job-0000000000 s0
0.003 a #1 observed /names name g-job-0000000000 0x3
0.003 a #1 return done
";
    let two = one.replace("#1", "#2").replace("0x3", "0x5").replace("0.00", "0.01");
    let gone =
        "0.005 server:0 txn 0x4 s2 delete ok\n0.005 server:0 deleted 0x4 /names/g-job-0000000000 by s2";
    says(&run(&[one, &two.replace("g-job-0000000000", "h-job-0000000001")]), "NS-2 pass");
    says(&run(&[one, gone, &two]), "first NS-2, NS-2 fail");
    says(&run(&[&without(one, "created 0x3")]), "NS-2 fail");
}

#[test]
fn ns_3_after_a_lost_reply_one_asks() {
    let lost = "
0.001 a register#1 call /names
0.001 a #1 given db 0x0
0.001 a #1 send r1 create /names/db
0.002 server:0 #1 txn 0x3 s1 create ok
0.002 server:0 #1 created 0x3 /names/db s1
0.003 a #1 lost r1
0.003 a state s1 suspended
0.100 a state s1 connected
";
    let asks = "
0.100 a #1 send r2 exists /names/db
0.102 a #1 reply r2 ok 0x4
";
    let done = "0.102 a #1 observed /names name db 0x3\n0.102 a #1 return done\n";
    says(&run(&[lost, asks, done]), "NS-3 pass, all pass");
    says(&run(&[lost, "0.101 a #1 return refused\n"]), "first NS-3, NS-3 fail");
    says(&run(&[lost, asks, "0.102 a #1 return refused\n"]), "NS-3 fail");
    // Nothing was created, but the client has to find that out.
    let unmade = without(&without(lost, "txn"), "created");
    says(&run(&[&unmade, "0.101 a #1 return refused\n"]), "first NS-3");
    says(&run(&[&unmade, asks, "0.102 a #1 return refused\n"]), "NS-3 pass");
    // Created too late for the read.
    let late = "0.200 server:0 #1 txn 0x3 s1 create ok\n0.200 server:0 #1 created 0x3 /names/db s1\n";
    says(&run(&[&unmade, asks, "0.102 a #1 return refused\n", late]), "NS-3 fail");
    // An unknown outcome is correct, and so is a time limit.
    says(&without(&run(&[lost, "0.101 a #1 return unknown\n"]), "quiesce"), "NS-3 vacuous");
    let limited = edit(lost, "call /names", "call /names limit 0.1");
    says(&without(&run(&[&limited, "0.102 a #1 return refused\n"]), "quiesce"), "NS-3 vacuous");
}

#[test]
fn ns_4_a_release_takes_its_own_only() {
    let expired = "
4.310 server:0 marked s1 heard 0.001
4.310 server:0 txn 0x4 s1 close_session ok
4.310 server:0 deleted 0x4 /names/db by s1
4.310 server:0 ended s1 0x4
4.311 b register#2 call /names
4.311 b #2 given db 0x0
4.312 server:0 #2 txn 0x5 s2 create ok
4.312 server:0 #2 created 0x5 /names/db s2
4.313 b #2 observed /names name db 0x5
4.313 b #2 return done
4.314 server:0 opened s3 timeout 4000 0x6
4.314 a state s3 connected
";
    let takes = "
4.320 a unregister#3 call /names
4.320 a #3 given db 0x0
4.321 server:0 #3 txn 0x7 s3 delete ok
4.321 server:0 #3 deleted 0x7 /names/db by s3
4.322 a #3 return done
";
    says(&run(&[A_REGISTERS, expired, takes]), "first NS-4, NS-4 fail");
    let looks = without(&without(takes, "txn"), "deleted");
    says(&run(&[A_REGISTERS, expired, &looks]), "NS-4 pass, all pass");
}

#[test]
fn ns_4_what_was_given_back_is_gone() {
    let left = without(&without(A_GIVES_BACK, "txn"), "deleted 0x5");
    says(&run(&[A_REGISTERS, &left]), "first AN-1, NS-4 fail");
    says(
        &run(&[&without(&A_REGISTERS.replace("return done", "return cancelled"), "observed")]),
        "first NS-4",
    );
}

#[test]
fn ns_5_a_lookup_gives_what_stood_there() {
    let look = |freshness: &str, seen: &str| {
        format!(
            "
0.030 b resolve#4 call /names
0.030 b #4 given db {freshness}
0.033 b #4 observed /names {seen}
0.033 b #4 return done
"
        )
    };
    let data = zk_checker::digest::data(Some(b"here"));
    let content = format!("created 0x3 /names/db s1\n0.002 server:0 data 4 {data:#x}");
    let registers = edit(A_REGISTERS, "created 0x3 /names/db s1", &content);
    says(&run(&[&registers, &look("0x2", "value here 0x3")]), "NS-5 pass, all pass");
    says(&run(&[&registers, &look("0x2", "value there 0x3")]), "first NS-5");
    says(&run(&[&registers, &look("0x0", "value here 0x9")]), "first NS-5");
    says(&run(&[&registers, &look("0x2", "missing db 0x0")]), "first NS-5");
    says(&run(&[&registers, &look("0x0", "missing db 0x0")]), "NS-5 pass");
    // It was deleted before the lookup began, which is fresh enough for the weakest lookup.
    says(&run(&[&registers, A_GIVES_BACK, &look("0x0", "value here 0x3")]), "NS-5 pass");
    says(&run(&[&registers, A_GIVES_BACK, &look("0x2", "value here 0x3")]), "first NS-5");
}

#[test]
fn ns_2_a_unique_name_is_of_the_znode_that_was_made() {
    let one = "
0.001 a unique#1 call /names
0.001 a #1 given job 0x0
0.002 server:0 #1 txn 0x3 s1 create ok
0.002 server:0 #1 created 0x3 /names/g-job-0000000000 s0
0.003 a #1 observed /names name g-job-0000000000 0x3
0.003 a #1 return done
";
    says(&run(&[one]), "NS-2 pass, first nothing");
    says(&run(&[&edit(one, "g-job-0000000000 0x3", "g-job-0000000000 0x9")]), "NS-2 fail, first NS-2");
    // In a capture one znode has one name, as far as znodes are known.
    let two = one.replace("#1", "#2").replace("0.00", "0.01").replace("0000000000", "0000000001");
    let capture = run(&[one, &two]).replace("run sim", "run client");
    says(&capture, "NS-2 fail, first NS-2");
    says(&capture.replace("0000 0x3", "0000 0x0").replace("0001 0x3", "0001 0x0"), "NS-2 pass");
}

#[test]
fn ns_3_a_time_limit_excuses_when_it_is_over() {
    let lost = "
0.001 a register#1 call /names limit 10
0.001 a #1 given db 0x0
0.001 a #1 send r1 create /names/db
0.003 a #1 lost r1
0.003 a state s1 suspended
0.100 a state s1 connected
8.000 a #1 return refused
";
    says(&run(&[lost]), "NS-3 fail, first NS-3");
    says(&run(&[&edit(lost, "limit 10", "limit 8")]), "NS-3 vacuous, first nothing");
}

#[test]
fn ns_4_a_name_of_its_own_excuses_nobody_who_takes_another() {
    let head = edit(HEAD, "clients a b\n", "clients a b x\n") + "0.000 x state s3 connected\n";
    let by = |number: u32, who: &str, session: &str, name: &str, zxid: &str| {
        format!(
            "0.010 {who} register#{number} call /names
0.010 {who} #{number} given {name} 0x0
0.010 server:0 #{number} txn {zxid} {session} create ok
0.010 server:0 #{number} created {zxid} /names/{name} {session}
0.010 {who} #{number} observed /names name {name} {zxid}
0.010 {who} #{number} return done
"
        )
    };
    let takes = "
0.015 x fault foreign_write x
0.015 server:0 txn 0x5 s3 other ok
0.015 server:0 written 0x5 /names/db
0.020 a unregister#3 call /names
0.020 a #3 given db 0x0
0.021 server:0 #3 txn 0x6 s1 delete ok
0.021 server:0 #3 deleted 0x6 /names/db by s1
0.022 a #3 return done
";
    let others =
        [&head, &*by(1, "a", "s1", "web", "0x3"), &by(2, "b", "s2", "db", "0x4"), takes, END].concat();
    says(&others, "NS-4 fail, first NS-4");
}

#[test]
fn ns_1_a_foreign_client_elsewhere_excuses_nobody() {
    let head =
        edit(HEAD, "clients a b\nname", "clients a b x\nlock /lock\nname") + "0.000 x state s3 connected\n";
    let unseen = without(&edit(A_REGISTERS, "name db 0x3", "name db 0x0"), "created");
    let foreign = |path: &str| {
        let foreign = format!(
            "0.0005 x fault foreign_write x\n0.0005 server:0 txn 0x2 s3 other ok\n0.0005 server:0 written 0x2 {path}\n"
        );
        [&head, &*foreign, &unseen, END].concat()
    };
    says(&foreign("/names/db"), "NS-1 pass, first nothing");
    says(&foreign("/lock/x"), "NS-1 fail, first NS-1");
}

#[test]
fn ns_5_who_follows_is_told_nothing_twice() {
    let data = |text: &str| format!("{:#x}", zk_checker::digest::data(Some(text.as_bytes())));
    let content = format!("created 0x3 /names/db s1\n0.002 server:0 data 4 {}", data("here"));
    let registers = edit(A_REGISTERS, "created 0x3 /names/db s1", &content);
    let follows = |told: &[&str]| {
        let mut text = "0.030 b follow#4 call /names\n0.030 b #4 given db 0x0\n".to_owned();
        for (at, told) in told.iter().enumerate() {
            text += &format!("0.03{} b #4 observed /names {told}\n", at + 1);
        }
        run(&[&registers, &text, "0.040 b #4 return done\n"])
    };
    let here = "value here 0x3";
    says(&follows(&[here]), "NS-5 pass");
    says(&follows(&[here, here]), "NS-5 fail, first NS-5");
    let missing = "missing db 0x0";
    let never = |told: &[&str]| {
        let text: String = told.iter().map(|told| format!("0.031 b #4 observed /names {told}\n")).collect();
        run(&["0.030 b follow#4 call /names\n0.030 b #4 given db 0x0\n", &text, "0.040 b #4 return done\n"])
    };
    says(&never(&[missing]), "NS-5 pass");
    says(&never(&[missing, missing]), "NS-5 fail, first NS-5");
}

#[test]
fn ns_5_what_comes_during_a_lookup_need_not_be_seen() {
    let looks = |at: &str, before: &str| {
        let called = format!("{at} b resolve#4 call /names\n{at} b #4 given db 0x2\n{before}");
        let told = "0.033 b #4 observed /names missing db 0x0\n0.033 b #4 return done\n";
        run(&[&edit(A_REGISTERS, before, &called), told])
    };
    says(&looks("0.001", "0.002 server:0 #1 txn"), "NS-5 pass, first nothing");
    says(&looks("0.002", "0.003 a #1 reply"), "NS-5 pass, first nothing");
    says(&looks("0.0025", "0.003 a #1 reply"), "NS-5 fail, first NS-5");
}

#[test]
fn ns_5_what_is_written_later_is_of_the_name_where_it_was_written() {
    let data = |text: &str| format!("{:#x}", zk_checker::digest::data(Some(text.as_bytes())));
    let content = format!("created 0x3 /names/db s1\n0.002 server:0 data 4 {}", data("here"));
    let registers = edit(A_REGISTERS, "created 0x3 /names/db s1", &content);
    let more = format!(
        "0.004 server:0 txn 0x4 s2 create ok
0.004 server:0 created 0x4 /names/web s2
0.010 server:0 txn 0x6 s1 set ok
0.010 server:0 written 0x6 /names/db
0.010 server:0 data 5 {}
",
        data("there")
    );
    let looks = |freshness: &str, seen: &str| {
        let look = format!(
            "0.030 b resolve#4 call /names
0.030 b #4 given db {freshness}
0.033 b #4 observed /names {seen}
0.033 b #4 return done
"
        );
        run(&[&registers, &more, &look])
    };
    says(&looks("0x2", "value there 0x6"), "NS-5 pass, first nothing");
    says(&looks("0x2", "value here 0x6"), "NS-5 fail, first NS-5");
    says(&looks("0x0", "value here 0x3"), "NS-5 pass, first nothing");
    says(&looks("0x2", "value here 0x3"), "NS-5 fail, first NS-5");
}

#[test]
fn an_1_a_synced_lookup_reads_behind_a_sync() {
    let looks_up = |freshness: u32| {
        format!(
            "0.030 b resolve#7 call /names
0.030 b #7 given db {freshness}
0.030 b #7 send r20 sync /names/db
0.030 b #7 send r21 get /names/db
0.031 b #7 reply r20 ok 0x3
0.032 b #7 reply r21 ok 0x3
0.032 b #7 observed /names value \"\" 0x3
0.032 b #7 return done
"
        )
    };
    let without_sync = |freshness| without(&without(&looks_up(freshness), "send r20"), "reply r20");
    says(&run(&[A_REGISTERS, &looks_up(1)]), "AN-1 pass");
    says(&run(&[A_REGISTERS, &without_sync(1)]), "AN-1 fail");
    let refused = edit(&looks_up(1), "reply r20 ok", "reply r20 other");
    says(&run(&[A_REGISTERS, &refused]), "AN-1 fail");
    says(&run(&[A_REGISTERS, &without_sync(0)]), "first nothing");
}

#[test]
fn an_2_a_permanent_registration_that_stands_is_found_again() {
    let owned = edit(A_REGISTERS, "created 0x3 /names/db s1", "created 0x3 /names/db s0");
    let recalls = "
0.030 a recall#4 call /names
0.030 a #4 given db 0x0
0.030 a #4 send r4 get /names/db
0.031 a #4 reply r4 ok 0x3
0.032 a #4 return refused nothing
";
    says(&run(&[&owned, recalls]), "AN-2 fail");
    says(&run(&[&owned, &recalls.replace("given db", "given web")]), "AN-2 pass");
    let gone = "0.020 server:0 txn 0x4 s2 delete ok\n0.020 server:0 deleted 0x4 /names/db by s2\n";
    says(&run(&[&owned, gone, recalls]), "AN-2 pass");
    // It is deleted while its owner searches for it.
    let late = gone.replace("0.020", "0.0305");
    says(&run(&[&owned, &edit(recalls, "0.031 a", &format!("{late}0.031 a"))]), "AN-2 pass");
    // A session's znode is no permanent name.
    says(&run(&[A_REGISTERS, recalls]), "AN-2 pass");
}
