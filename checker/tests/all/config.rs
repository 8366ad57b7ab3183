//! Configuration: a history and a verdict for each promise.

use crate::common::*;

pub const HEAD: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b
config /cfg
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 a state s1 connected conn 1
0.000 b state s2 connected conn 2
";

fn data(text: &str) -> String {
    format!("data {} {:#x}", text.len(), zk_checker::digest::data(Some(text.as_bytes())))
}

/// b writes values at zxids 0x10 and 0x20.
fn writes(number: u32, at: &str, text: &str, verb: &str, expected: &str, zxid: &str) -> String {
    let effect =
        if zxid == "0x10" { format!("created {zxid} /cfg s0") } else { format!("written {zxid} /cfg") };
    format!(
        "
{at}0 b {verb}#{number} call /cfg
{at}0 b #{number} given {text} {expected}
{at}0 b #{number} send r{number}0 set /cfg
{at}1 server:0 #{number} txn {zxid} s2 set ok
{at}1 server:0 #{number} {effect}
{at}1 server:0 #{number} {}
{at}2 b #{number} reply r{number}0 ok {zxid}
{at}2 b #{number} return done
",
        data(text)
    )
}

fn first() -> String {
    writes(5, "0.01", "v1", "overwrite", "0x0", "0x10")
}

fn second() -> String {
    writes(6, "0.03", "v2", "compare_and_set", "0x10", "0x20")
}

const FOLLOWS: &str = "
0.020 a follow#1 call /cfg
0.020 a #1 send r1 get /cfg watch
0.021 server:0 arm s1 data /cfg conn 1
0.022 a #1 reply r1 ok 0x10 conn 1
0.022 a #1 observed /cfg value v1 0x10
";

const IS_TOLD: &str = "
0.031 server:0 fire s1 data_changed /cfg 0x20 conn 1
0.032 a #1 notice s1 data_changed /cfg conn 1
0.032 a #1 send r2 get /cfg watch
0.033 server:0 arm s1 data /cfg conn 1
0.033 server:0 served r2 0x20 conn 1
0.034 a #1 reply r2 ok 0x20 conn 1
0.034 a #1 observed /cfg value v2 0x20
";

const ENDS: &str = "0.900 a #1 return done\n";

/// Events in the order of their times.
fn run(parts: &[&str]) -> String {
    let all = parts.concat();
    let mut events: Vec<&str> = all.lines().filter(|line| !line.is_empty()).collect();
    events.sort_by_key(|line| line.split(' ').next().expect("a time").to_owned());
    format!("{HEAD}{}\n0.950 world quiesce\n", events.join("\n"))
}

fn calm() -> String {
    run(&[&first(), FOLLOWS, &second(), IS_TOLD, ENDS])
}

#[test]
fn a_calm_run_passes_and_an_empty_one_proves_nothing() {
    says(&calm(), "all pass, CF-1 pass, CF-2 pass, CF-3 pass, CF-4 pass, CF-5 pass, CF-7 pass, CF-8 pass");
    for rule in ["CF-1", "CF-2", "CF-3", "CF-4", "CF-5", "CF-6", "CF-7", "CF-8"] {
        says(&run(&[]), &format!("{rule} vacuous"));
    }
}

#[test]
fn cf_1_a_follower_does_not_go_back() {
    let back = "0.040 a #1 observed /cfg value v1 0x10\n";
    says(&run(&[&first(), FOLLOWS, &second(), IS_TOLD, back, ENDS]), "first CF-1, CF-1 fail, CF-2 pass");
    let missing = "0.035 a #1 observed /cfg missing \"\" 0x0\n";
    says(&run(&[&first(), FOLLOWS, &second(), IS_TOLD, missing, back, ENDS]), "CF-1 fail");
}

#[test]
fn cf_1_a_follower_is_told_nothing_twice() {
    // It has read again, and found the same value.
    let reads = "
0.040 a #1 send r3 get /cfg watch
0.041 server:0 arm s1 data /cfg conn 1
0.041 server:0 served r3 0x20 conn 1
0.042 a #1 reply r3 ok 0x20 conn 1
";
    let told = |what: &str| run(&[&first(), FOLLOWS, &second(), IS_TOLD, reads, what, ENDS]);
    says(&told("0.042 a #1 observed /cfg value v2 0x20\n"), "CF-1 fail, first CF-1");
    says(&told(""), "CF-1 pass, first nothing");
    let missing = "0.042 a #1 observed /cfg missing \"\" 0x0\n";
    says(&told(&missing.repeat(2)), "CF-1 fail");
    says(&told(missing), "CF-1 pass");
}

#[test]
fn cf_2_a_value_is_what_was_written_then() {
    says(&edit(&calm(), "value v2 0x20", "value v9 0x20"), "first CF-2");
    says(&edit(&calm(), "value v2 0x20", "value v2 0x1f"), "first CF-2");
    let capture = calm().replace("run sim", "run client");
    says(&edit(&capture, "value v2 0x20", "value v9 0x20"), "CF-2 fail");
    says(&capture, "CF-2 pass");
}

#[test]
fn cf_3_a_follower_without_a_watch_will_not_hear() {
    let unarmed = IS_TOLD.replace("send r2 get /cfg watch", "send r2 get /cfg");
    let unarmed = without(&unarmed, "arm s1");
    says(&run(&[&first(), FOLLOWS, &second(), &unarmed, ENDS]), "first CF-3, CF-3 fail, CF-5 fail");
    let deaf = without(FOLLOWS, "arm s1");
    says(&run(&[&first(), &deaf, ENDS]), "first CF-3");
}

#[test]
fn cf_3_a_follower_that_has_had_time_has_the_last_value() {
    let late = |part: &str| part.replace("0.900", "30.000").replace("0.950", "31.000");
    let heal = "0.050 world heal\n";
    says(&late(&run(&[&first(), FOLLOWS, &second(), IS_TOLD, heal, ENDS])), "CF-3 pass");
    // It has read too early, and armed its watch too late.
    let behind = edit(
        &edit(IS_TOLD, "value v2 0x20", "value v1 0x10"),
        "fire s1 data_changed /cfg 0x20",
        "fire s1 data_changed /cfg 0x0",
    );
    says(&late(&run(&[&first(), FOLLOWS, &second(), &behind, heal, ENDS])), "CF-3 fail");
}

#[test]
fn cf_4_a_read_after_a_notification_shows_the_change() {
    says(&edit(&calm(), "served r2 0x20", "served r2 0x10"), "CF-4 fail");
}

#[test]
fn cf_5_the_read_that_is_used_arms_the_watch() {
    let two = FOLLOWS.replace(
        "0.020 a #1 send r1 get /cfg watch",
        "0.020 a #1 send r1 get /cfg\n0.020 a #1 send r3 exists /cfg watch",
    ) + "0.022 a #1 reply r3 ok 0x10 conn 1\n";
    says(&run(&[&first(), &two, ENDS]), "first CF-5");
    let capture = run(&[&first(), &two, ENDS]).replace("run sim", "run client");
    says(&capture, "CF-5 fail");
}

#[test]
fn cf_6_a_set_is_read_whole() {
    let published = writes(5, "0.01", "x1,x2", "publish", "0x0", "0x10");
    let again = writes(6, "0.03", "y1,y2", "publish", "0x10", "0x20");
    let read = |seen: &str| {
        format!(
            "0.040 a snapshot#1 call /cfg\n0.041 a #1 observed /cfg value {seen}\n0.042 a #1 return done\n"
        )
    };
    says(&run(&[&published, &again, &read("y1,y2 0x20")]), "CF-6 pass, CF-7 pass");
    says(&run(&[&published, &again, &read("x1,y2 0x20")]), "first CF-6");
    says(&run(&[&published, &again, &read("x1,x2 0x20")]), "first CF-6");
    says(&run(&[&published, &again, &read("x1,y2 0x20")]).replace("run sim", "run client"), "CF-6 fail");
}

#[test]
fn cf_7_conditional_writes_form_a_chain() {
    let stale = writes(7, "0.05", "v3", "compare_and_set", "0x10", "0x30");
    says(&run(&[&first(), &second(), &stale]), "first CF-7, CF-7 fail");
    let honest = stale.replace("0x10", "0x20");
    says(&run(&[&first(), &second(), &honest]), "CF-7 pass");
    let capture = |text: &str| text.replace("run sim", "run client");
    says(&capture(&run(&[&first(), &second(), &stale])), "CF-7 fail");
    says(&capture(&run(&[&first(), &second(), &honest])), "CF-7 pass");
    // A refused call must not have written, and a done one must have.
    says(&run(&[&first(), &second().replace("return done", "return refused")]), "CF-7 fail");
    let nothing = without(&without(&without(&second(), "txn"), "written"), "data 2");
    says(&run(&[&first(), &nothing]), "CF-7 fail");
    says(&run(&[&first(), &nothing.replace("return done", "return refused")]), "CF-7 pass");
    // An unknown outcome is neither.
    says(&run(&[&first(), &second().replace("return done", "return unknown")]), "CF-7 pass");
}

#[test]
fn cf_8_one_notification_a_change() {
    let twice = "0.031 server:0 fire s1 data_changed /cfg 0x20 conn 1\n";
    says(&run(&[&first(), FOLLOWS, &second(), IS_TOLD, twice, ENDS]), "CF-8 fail");
    let polls: String = (0..12)
        .map(|n| {
            format!(
                "0.05{n:02} a #1 send r{} get /cfg watch\n0.05{n:02} a #1 reply r{} ok 0x20\n",
                70 + n,
                70 + n
            )
        })
        .collect();
    says(&run(&[&first(), FOLLOWS, &second(), IS_TOLD, &polls, ENDS]), "CF-8 fail");
}

#[test]
fn cf_3_a_watch_on_the_children_tells_nothing_of_the_value() {
    says(&run(&[&first(), &FOLLOWS.replace("arm s1 data", "arm s1 child"), ENDS]), "first CF-3");
}

#[test]
fn cf_3_that_a_value_is_gone_is_news_too() {
    let gone = "
0.031 server:0 txn 0x20 s2 delete ok
0.031 server:0 deleted 0x20 /cfg by s2
0.031 server:0 fire s1 deleted /cfg 0x20 conn 1
0.032 a #1 notice s1 deleted /cfg conn 1
0.032 a #1 send r2 exists /cfg watch
0.033 server:0 arm s1 data /cfg conn 1
0.034 a #1 reply r2 no_node 0x20 conn 1
0.034 a #1 observed /cfg missing \"\" 0x0
";
    let late = |gone: &str| {
        let text = run(&[&first(), FOLLOWS, gone, "0.050 world heal\n", ENDS]);
        text.replace("0.900", "30.000").replace("0.950", "31.000")
    };
    says(&late(gone), "CF-3 pass, first nothing");
    says(&late(&without(gone, "observed")), "CF-3 fail");
}

#[test]
fn cf_3_who_stands_still_or_is_cut_off_is_not_late() {
    // It has no wake source, but its process is paused.
    let deaf = without(FOLLOWS, "arm s1");
    says(&run(&[&first(), &deaf, "0.022 world fault client_pause a lasts 1\n"]), "CF-3 pass, first nothing");
    // It never learns of the second value.
    let told = "0.031 server:0 fire s1 data_changed /cfg 0x20 conn 1\n";
    let late = |stops: &str| {
        let text = run(&[&first(), FOLLOWS, stops, &second(), told, "0.050 world heal\n"]);
        text.replace("0.950", "31.000")
    };
    says(&late("0.025 world fault client_pause a lasts 1\n"), "CF-3 pass, first nothing");
    says(&late("0.025 a state s1 suspended\n"), "CF-3 pass, first nothing");
    says(&late(""), "CF-3 fail");
}

#[test]
fn cf_3_a_watch_is_registered_again_within_two_timeouts() {
    // It reconnects within the settle time.
    let lost = "
1.000 server:0 disarm s1 data /cfg conn 1
2.000 a state s1 suspended
3.000 a state s1 connected conn 3
11.000 a #1 send r3 exists /other
11.000 a #1 reply r3 ok 0x10 conn 3
11.0005 server:0 arm s1 data /cfg conn 3
12.000 world quiesce
";
    let text = [HEAD, &first(), FOLLOWS, lost].concat();
    says(&text, "CF-3 pass, first nothing");
    says(&text.replace("11.0005 server", "11.002 server"), "CF-3 fail");
}

#[test]
fn cf_6_a_set_is_of_a_publication_of_its_own() {
    let written = writes(5, "0.01", "x1,x2", "publish", "0x0", "0x10");
    let read =
        "0.040 a snapshot#1 call /cfg\n0.041 a #1 observed /cfg value x1,x2 0x10\n0.042 a #1 return done\n";
    says(&run(&[&written, read]), "CF-6 pass");
    // A write is no publication, and a publication elsewhere does not belong to this set.
    says(&run(&[&written.replace("publish", "overwrite"), read]), "CF-6 fail, first CF-6");
    let elsewhere =
        run(&[&written.replace("/cfg", "/other"), read]).replace("/cfg\n0.000", "/cfg\nconfig /other\n0.000");
    says(&elsewhere, "CF-6 fail, first CF-6");
    says(&elsewhere.replace("run sim", "run client"), "CF-6 fail");
}

#[test]
fn cf_7_who_repeats_a_write_writes_over_whoever_has_come_in_between() {
    let third = writes(7, "0.05", "v3", "overwrite", "0x0", "0x30");
    let again = "0.0515 server:0 #7 txn 0x40 s2 set ok\n0.0515 server:0 #7 written 0x40 /cfg\n";
    says(&run(&[&first(), &second(), &third, again]), "CF-7 pass, first nothing");
    let other = writes(8, "0.0512", "v4", "overwrite", "0x0", "0x38");
    says(&run(&[&first(), &second(), &third, &other, again]), "CF-7 fail, first CF-7");
}
