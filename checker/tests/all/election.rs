//! Elections: LE-1 to LE-10.

use crate::common::{edit, report, says, without};
use zk_checker::RuleId;

/// Three clients and an election; the third one observes the leader.
pub const HEAD: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b c
election /e stop margin 0.4 budget 3 2 1 3
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 server:0 opened s3 timeout 4000 0x3
0.000 a state s1 connected
0.000 b state s2 connected
0.000 c state s3 connected
";

/// The first candidate leads, and watches its own znode.
pub const A_LEADS: &str = "
0.001 a stand#1 call /e
0.001 a #1 send r1 create /e/a-
0.001 a #1 send r2 children /e
0.002 server:0 #1 txn 0x4 s1 create ok
0.002 server:0 #1 created 0x4 /e/a-0 s1
0.003 a #1 reply r1 ok 0x4
0.003 a #1 reply r2 ok 0x4
0.003 a #1 send r3 children /e/a-0 watch
0.003 a #1 return done
0.003 a #1 believe /e s1 token 0x4
0.003 server:0 #1 arm s1 child /e/a-0
0.003 a #1 reply r3 ok 0x4
";

/// The second candidate runs, too.
const B_STANDS: &str = "
0.005 b stand#2 call /e
0.005 b #2 send r4 create /e/b-
0.005 b #2 send r5 children /e
0.005 server:0 #2 txn 0x5 s2 create ok
0.005 server:0 #2 created 0x5 /e/b-1 s2
0.005 b #2 reply r4 ok 0x5
0.005 b #2 reply r5 ok 0x5
0.005 b #2 send r6 children /e/a-0 watch
0.005 server:0 #2 arm s2 child /e/a-0
0.005 b #2 reply r6 ok 0x5
";

/// The leader records itself.
const A_ACKNOWLEDGES: &str = "
0.006 a acknowledge#3 call /e
0.006 a #3 given \"a:80\" 0x4
0.006 a #3 send r7 multi /e
0.007 server:0 #3 txn 0x6 s1 multi ok
0.007 server:0 #3 created 0x6 /e/leader s1
0.008 a #3 reply r7 ok 0x6
0.008 a #3 return done
";

const C_FOLLOWS: &str = "
0.009 c observe#4 call /e
0.009 c #4 send r8 get /e/leader watch
0.009 c #4 send r9 children /e
0.009 server:0 #4 arm s3 data /e/leader
0.010 c #4 reply r8 ok 0x6
0.010 c #4 reply r9 ok 0x6
0.010 c #4 observed /e leader \"a:80\" 0x4
";

/// The leader resigns and deletes its record, and the next candidate is notified.
const A_RESIGNS: &str = "
0.020 a #1 unbelieve released
0.020 a release#7 call /e
0.020 a #7 send r10 multi /e
0.021 server:0 #7 txn 0x7 s1 multi ok
0.021 server:0 #7 deleted 0x7 /e/a-0 by s1
0.021 server:0 #7 fire s2 deleted /e/a-0 0x7
0.021 server:0 #7 fire s1 deleted /e/a-0 0x7
0.021 server:0 #7 deleted 0x7 /e/leader by s1
0.021 server:0 #7 fire s3 deleted /e/leader 0x7
0.022 a #7 reply r10 ok 0x7
0.022 a #7 return done
0.022 b #2 notice s2 deleted /e/a-0
0.022 c #4 notice s3 deleted /e/leader
0.022 c #4 observed /e vacant \"\" 0
";

const B_LEADS: &str = "
0.022 b #2 send r11 children /e
0.024 b #2 reply r11 ok 0x7
0.024 b #2 send r12 children /e/b-1 watch
0.024 b #2 return done
0.024 b #2 believe /e s2 token 0x5
0.024 server:0 #2 arm s2 child /e/b-1
0.024 b #2 reply r12 ok 0x7
";

fn calm() -> String {
    [HEAD, A_LEADS, B_STANDS, A_ACKNOWLEDGES, C_FOLLOWS, A_RESIGNS, B_LEADS, "1.0 world heal\n"].concat()
}

#[test]
fn a_calm_change_of_leaders_passes() {
    says(
        &calm(),
        "first nothing, LE-1 pass, LE-2 pass, LE-3 pass, LE-4 pass, LE-6 pass, LE-7 pass, LE-8 pass",
    );
    says(&calm(), "LE-5 vacuous, LE-9 vacuous, MX-2 vacuous, MX-3 vacuous, MX-4 vacuous, MX-7 pass");
}

#[test]
fn le_1_one_leads() {
    let hasty = "0.010 b #2 believe /e s2 token 0x5\n";
    says(&[HEAD, A_LEADS, B_STANDS, hasty].concat(), "LE-1 fail, LE-3 fail, first LE-3");
    let black = "
run client clients a b
election /e
0.000 a stand#1 call /e
0.000 b stand#2 call /e
0.001 a #1 return done
0.002 a release#3 call /e
0.003 b #2 return done
";
    says(black, "LE-1 pass");
    says(&without(black, "release"), "LE-1 fail, first LE-1");
}

#[test]
fn le_2_the_epoch_is_the_czxid_of_the_candidate() {
    says(&edit(&calm(), "believe /e s2 token 0x5", "believe /e s2 token 0x9"), "LE-2 fail, first LE-2");
}

#[test]
fn le_3_the_candidate_is_of_the_present_session() {
    let run = [HEAD, A_LEADS].concat();
    says(
        &edit(&run, "/e/a-0 s1\n0.003 a #1 reply r1", "/e/a-0 s9\n0.003 a #1 reply r1"),
        "LE-3 fail, first LE-3",
    );
    // It created none, and takes over its former one.
    let adopts = "
0.030 a state s9 connected
0.031 a stand#8 call /e
0.031 a #8 send r20 children /e
0.032 a #8 reply r20 ok 0x4
0.032 a #8 believe /e s9 token 0x4
";
    let gives_up = edit(&without(A_LEADS, "believe"), "return done", "return cancelled");
    says(&[HEAD, &gives_up, adopts].concat(), "first LE-3");
}

#[test]
fn le_4_a_deposed_leader_puts_nothing_on_record() {
    let late = "
0.025 a acknowledge#8 call /e
0.025 a #8 given \"a:80\" 0x4
0.025 a #8 send r21 multi /e
0.026 server:0 #8 txn 0x8 s1 multi ok
0.026 server:0 #8 created 0x8 /e/leader s1
";
    let run = without(&calm(), "1.0 world heal");
    says(&[&run, late].concat(), "LE-4 fail, first LE-4");
    let refused = "0.026 server:0 #8 txn 0x8 s1 multi no_node\n0.027 a #8 reply r21 no_node 0x8\n0.027 a #8 return refused\n";
    let asks: String = late.lines().take(4).map(|line| format!("{line}\n")).collect();
    says(&[&run, &asks, refused].concat(), "LE-4 pass, first nothing");
}

#[test]
fn le_4_the_record_is_made_with_a_check_and_goes_with_its_session() {
    says(&edit(&calm(), "txn 0x6 s1 multi", "txn 0x6 s1 create"), "LE-4 fail, first LE-4");
    says(&edit(&calm(), "/e/leader s1\n", "/e/leader s0\n"), "LE-4 fail, first LE-4");
    // An old record exists, and the refusal is taken for success.
    let swallowed =
        without(&without(A_ACKNOWLEDGES, "txn"), "created").replace("reply r7 ok", "reply r7 node_exists");
    says(&[HEAD, A_LEADS, &swallowed].concat(), "LE-4 fail, first LE-4");
}

#[test]
fn le_4_the_record_stands_while_its_leader_leads() {
    let run = [HEAD, A_LEADS, B_STANDS, A_ACKNOWLEDGES].concat();
    let deletes = |by: &str| {
        format!("0.010 server:0 txn 0x7 {by} delete ok\n0.010 server:0 deleted 0x7 /e/leader by {by}\n")
    };
    let next = "0.011 server:0 txn 0x8 s3 set ok\n";
    says(&[&run, &deletes("s2"), next].concat(), "LE-4 fail, first LE-4");
    says(&[&run, &deletes("s1"), next].concat(), "LE-4 fail, first LE-4");
    let report = report(&[&run, &deletes("s2"), next].concat());
    let text = &report.findings[0].text;
    assert!(text.starts_with("b deleted the record of epoch 0x4, in which a leads, at e"), "{text}");
    // The same transaction deletes the candidate.
    let candidate = "0.010 server:0 deleted 0x7 /e/a-0 by s1\n";
    says(&[&run, &deletes("s1"), candidate, next].concat(), "LE-4 pass");
    // A leader that resigns may delete the record first; a foreign client may do anything.
    let drops = "0.009 a #1 unbelieve released\n";
    says(&[&run, drops, &deletes("s1"), next].concat(), "LE-4 pass");
    let foreign = "0.009 b fault foreign_delete b\n";
    says(&[&run, foreign, &deletes("s2"), next].concat(), "LE-4 pass");
}

#[test]
fn le_4_whose_record_a_foreign_client_has_deleted_may_take_the_next_one_for_it() {
    let evicts = "
0.010 c fault foreign_delete c
0.010 server:0 txn 0x7 s3 delete ok
0.010 server:0 deleted 0x7 /e/a-0 by s3
";
    let erases = "0.011 server:0 txn 0x8 s3 delete ok\n0.011 server:0 deleted 0x8 /e/leader by s3\n";
    let next = "
0.026 b acknowledge#8 call /e
0.026 b #8 given \"b:80\" 0x5
0.026 b #8 send r21 multi /e
0.027 server:0 #8 txn 0x9 s2 multi ok
0.027 server:0 #8 created 0x9 /e/leader s2
";
    let cleans_up = "
0.028 server:0 txn 0xa s1 multi ok
0.028 server:0 deleted 0xa /e/leader by s1
0.029 server:0 txn 0xb s3 set ok
";
    let run = [HEAD, A_LEADS, B_STANDS, A_ACKNOWLEDGES, evicts].concat();
    says(&[&run, erases, next, cleans_up].concat(), "LE-4 pass");
    let replaces = next.replace(
        "0.027 server:0 #8 created",
        "0.027 server:0 #8 deleted 0x9 /e/leader by s2\n0.027 server:0 #8 created",
    );
    says(&[&run, &replaces, cleans_up].concat(), "LE-4 fail");
    // However late it comes, and whichever leaders came in between.
    let others = "
0.028 server:0 txn 0xa s2 multi ok
0.028 server:0 deleted 0xa /e/b-1 by s2
0.028 server:0 deleted 0xa /e/leader by s2
0.029 c stand#9 call /e
0.029 c #9 send r22 create /e/c-
0.029 server:0 #9 txn 0xb s3 create ok
0.029 server:0 #9 created 0xb /e/c-2 s3
0.030 c acknowledge#10 call /e
0.030 c #10 given \"c:80\" 0xb
0.030 c #10 send r23 multi /e
0.031 server:0 #10 txn 0xc s3 multi ok
0.031 server:0 #10 created 0xc /e/leader s3
";
    let late = cleans_up.replace("0xa", "0xd").replace("0xb", "0xe").replace("0.02", "0.03");
    says(&[&run, erases, next, others, &late].concat(), "LE-4 pass");
    let by_b = late.replace("s1", "s2");
    says(&[&run, erases, next, others, &by_b].concat(), "LE-4 fail");
}

#[test]
fn le_4_an_epoch_is_put_on_record_once() {
    let again = "
0.015 a acknowledge#8 call /e
0.015 a #8 given \"a:80\" 0x4
0.015 a #8 send r21 multi /e
0.016 server:0 #8 txn 0x7 s1 multi ok
0.016 server:0 #8 deleted 0x7 /e/leader by s1
0.016 server:0 #8 created 0x7 /e/leader s1
";
    says(&[HEAD, A_LEADS, A_ACKNOWLEDGES, again].concat(), "LE-4 fail, first LE-4");
}

#[test]
fn le_4_who_follows_is_told_nothing_twice() {
    let reads = "0.011 c #4 send r30 get /e/leader watch\n0.011 c #4 send r31 children /e\n\
                 0.011 server:0 #4 arm s3 data /e/leader\n0.012 c #4 reply r30 ok 0x6\n0.012 c #4 reply r31 ok 0x6\n";
    let run = |told: &str| [HEAD, A_LEADS, B_STANDS, A_ACKNOWLEDGES, C_FOLLOWS, reads, told].concat();
    says(&run(""), "LE-4 pass");
    says(&run("0.012 c #4 observed /e leader \"a:80\" 0x4\n"), "LE-4 fail, first LE-4");
    let missing = |told: &str| edit(&run(told), "reply r30 ok", "reply r30 no_node");
    says(&missing("0.012 c #4 observed /e vacant \"\" 0\n"), "LE-4 pass");
    says(&missing(&"0.012 c #4 observed /e vacant \"\" 0\n".repeat(2)), "LE-4 fail, first LE-4");
}

#[test]
fn le_4_who_has_read_a_valid_record_is_told_of_its_leader() {
    let reads = "0.011 c #4 send r30 get /e/leader watch\n0.011 c #4 send r31 children /e\n\
                 0.011 server:0 #4 arm s3 data /e/leader\n0.012 c #4 reply r30 ok 0x6\n0.012 c #4 reply r31 ok 0x6\n";
    let vacant = "0.012 c #4 observed /e vacant \"\" 0\n";
    let run = [HEAD, A_LEADS, B_STANDS, A_ACKNOWLEDGES, C_FOLLOWS, reads, vacant].concat();
    says(&run, "LE-4 fail, first LE-4");
    // Without its candidate in the list, the record is outdated.
    let relic = "0.012 server:0 txn 0x7 s1 delete ok\n0.012 server:0 deleted 0x7 /e/a-0 by s1\n";
    let before_the_list =
        |what: &str| edit(&run, "0.012 c #4 reply r31 ok 0x6", &format!("{what}0.012 c #4 reply r31 ok 0x7"));
    says(&before_the_list(relic), "LE-4 pass");
    // A directory that does not exist has no candidates.
    let emptied = "0.012 world fault foreign_delete server:0 lasts 0\n0.012 server:0 txn 0x7 s1 multi ok\n\
                0.012 server:0 deleted 0x7 /e/a-0 by s1\n0.012 server:0 deleted 0x7 /e/b-1 by s1\n";
    says(&before_the_list(emptied).replace("reply r31 ok", "reply r31 no_node"), "LE-4 pass");
    // The deletion of the record itself counts as well.
    let gone = "0.012 world fault foreign_delete server:0 lasts 0\n0.012 server:0 txn 0x7 s1 delete ok\n\
                0.012 server:0 deleted 0x7 /e/leader by s1\n";
    says(&before_the_list(gone), "LE-4 pass");
    says(&before_the_list(&gone.replace("deleted 0x7 /e/leader by s1", "created 0x7 /x s0")), "LE-4 fail");
}

#[test]
fn le_4_who_follows_obeys_the_record_of_the_lowest_candidate() {
    says(
        &edit(&calm(), "observed /e leader \"a:80\"", "observed /e leader \"b:80\""),
        "LE-4 fail, first LE-4",
    );
    says(&edit(&calm(), "observed /e leader \"a:80\" 0x4", "observed /e leader \"a:80\" 0x5"), "LE-4 fail");
    // An outdated record of a deleted candidate.
    let relic = "
0.025 c #4 send r22 get /e/leader watch
0.025 c #4 send r23 children /e
0.026 c #4 reply r22 ok 0x7
0.026 c #4 reply r23 ok 0x7
0.026 c #4 observed /e leader \"a:80\" 0x4
";
    let run = without(&calm(), "1.0 world heal");
    says(&[&run, relic].concat(), "LE-4 fail, first LE-4");
}

#[test]
fn le_4_without_looking_inside() {
    let run = "
run client clients a b
election /e
0.000 a stand#1 call /e
0.001 a #1 return done
0.002 b acknowledge#2 call /e
0.002 b #2 given \"b\" 0x5
0.003 b #2 return done
0.004 a acknowledge#3 call /e
0.004 a #3 given \"a\" 0x6
0.005 a #3 return done
";
    says(run, "LE-4 pass");
    says(&edit(run, "\"a\" 0x6", "\"a\" 0x4"), "LE-4 fail, first LE-4");
}

#[test]
fn le_5_somebody_leads_in_the_end_and_everybody_knows() {
    let stuck =
        [HEAD, A_LEADS, B_STANDS, &without(A_RESIGNS, "/e/leader by s1"), "0.030 world heal\n"].concat();
    let stuck = without(&without(&without(&stuck, "fire s3"), "c #4 notice"), "vacant");
    says(&[&stuck, "9.0 world quiesce"].concat(), "LE-5 fail");
    let run = [HEAD, A_LEADS, A_ACKNOWLEDGES, C_FOLLOWS, "0.030 world heal\n"].concat();
    says(&[&run, "9.0 world stopped"].concat(), "LE-5 vacuous, first nothing");
    says(&[&without(&run, "observed"), "9.0 world stopped"].concat(), "LE-5 fail, first LE-5");
    says(&[&without(&run, "observed"), "4.0 world stopped"].concat(), "LE-5 vacuous");
}

#[test]
fn le_6_who_stands_makes_one_candidate() {
    let again = "
0.010 b #2 send r13 create /e/b-
0.010 server:0 #2 txn 0x7 s2 create ok
0.010 server:0 #2 created 0x7 /e/b-2 s2
";
    says(&[HEAD, A_LEADS, B_STANDS, again].concat(), "LE-6 fail, first LE-6");
    let removed = "
0.009 server:0 #2 txn 0x6 s2 delete ok
0.009 server:0 #2 deleted 0x6 /e/b-1 by s2
";
    says(&[HEAD, A_LEADS, B_STANDS, removed, again].concat(), "LE-6 fail, first LE-6");
    let foreign =
        ["0.009 world fault foreign_delete b", &removed.replace("s2", "s0").replace("#2 ", "")].concat();
    says(&[HEAD, A_LEADS, B_STANDS, &foreign, again].concat(), "LE-6 pass");
}

#[test]
fn le_7_a_leader_that_goes_wakes_one() {
    let c = B_STANDS
        .replace("b stand#2", "c stand#5")
        .replace("#2", "#5")
        .replace("b #5", "c #5")
        .replace("/e/b-1", "/e/c-2")
        .replace("s2", "s3")
        .replace("0x5", "0x6")
        .replace("r4", "r24")
        .replace("r5", "r25")
        .replace("r6", "r26");
    let resigns = without(&without(A_RESIGNS, "/e/leader by s1"), "fire s3");
    let resigns = without(&without(&resigns, "c #4 notice"), "vacant");
    let herd =
        edit(&resigns, "0.022 a #7 reply", "0.021 server:0 #7 fire s3 deleted /e/a-0 0x7\n0.022 a #7 reply");
    says(&[HEAD, A_LEADS, B_STANDS, &c, &herd, "1.0 world heal\n"].concat(), "LE-7 fail");
    says(
        &[HEAD, A_LEADS, B_STANDS, &resigns, B_LEADS, "1.0 world heal\n"].concat(),
        "LE-7 pass, first nothing",
    );
}

#[test]
fn le_8_who_resigns_leaves_no_candidate() {
    let stays = without(&calm(), "deleted 0x7 /e/a-0 by s1");
    let stays = without(&stays, "fire s1");
    says(&stays, "LE-8 fail");
}

#[test]
fn le_9_a_leader_stops_when_its_candidate_is_deleted() {
    let gone = "
0.100 world fault foreign_delete a
0.100 server:0 txn 0x7 s0 delete ok
0.100 server:0 deleted 0x7 /e/a-0 by s0
0.100 server:0 fire s1 deleted /e/a-0 0x7
0.100 server:0 fire s2 deleted /e/a-0 0x7
0.101 b #2 notice s2 deleted /e/a-0
0.101 b #2 send r11 children /e
0.103 b #2 reply r11 ok 0x7
0.103 b #2 believe /e s2 token 0x5
";
    let told = "0.110 a notice s1 deleted /e/a-0\n0.110 a #1 unbelieve lost\n";
    let run = [HEAD, A_LEADS, B_STANDS, gone].concat();
    says(&[&run, told].concat(), "LE-9 pass, LE-1 unavoidable, first nothing");
    // It does not watch its znode any more.
    let blind = without(&without(&run, "arm s1"), "fire s1");
    says(&[&blind, "0.110 world heal\n"].concat(), "LE-9 fail, LE-1 fail, first LE-9");
    // While it is cut off from its server, it learns of the deletion later.
    let away = edit(
        &blind,
        "0.100 world fault",
        "0.050 a state s1 suspended\n0.050 a #1 unbelieve suspect\n0.100 world fault",
    );
    says(&[&away, "0.110 world heal\n"].concat(), "LE-9 pass, first nothing");
}

#[test]
fn mx_7_who_waits_for_the_record_waits_for_nothing() {
    let b = B_STANDS
        .replace("children /e/a-0", "exists /e/leader")
        .replace("arm s2 child /e/a-0", "arm s2 data /e/leader");
    says(&[HEAD, A_LEADS, &b, "1.0 world heal\n"].concat(), "MX-7 fail, first MX-7");
}

/// The leader records itself once more.
const AGAIN: &str = "
0.015 a acknowledge#8 call /e
0.015 a #8 given \"a:80\" 0x4
0.015 a #8 send r21 multi /e
0.016 server:0 #8 txn 0x8 s1 multi ok
0.016 server:0 #8 created 0x8 /e/leader s1
0.017 a #8 reply r21 ok 0x8
0.017 a #8 return done
";

#[test]
fn le_4_each_election_has_its_own_record() {
    let two = edit(HEAD, "election /e", "election /d\nelection /e");
    says(&calm().replace(HEAD, &two), "LE-4 pass, first nothing");
    let single = edit(&calm(), "txn 0x6 s1 multi", "txn 0x6 s1 create");
    says(&single.replace(HEAD, &two), "LE-4 fail, first LE-4");
}

#[test]
fn le_4_an_epoch_does_not_come_after_a_later_one() {
    let hasty = "
0.0055 b acknowledge#9 call /e
0.0055 b #9 given \"b:80\" 0x5
0.0055 b #9 send r30 multi /e
0.0055 server:0 #9 txn 0x6 s2 multi ok
0.0055 server:0 #9 created 0x6 /e/leader s2
";
    let then = A_ACKNOWLEDGES.replace("0x6", "0x7").replace(
        "0.007 server:0 #3 created",
        "0.007 server:0 #3 deleted 0x7 /e/leader by s1\n0.007 server:0 #3 created",
    );
    let text = [HEAD, A_LEADS, B_STANDS, hasty, &then].concat();
    let report = report(&text);
    let told: Vec<&str> =
        report.findings.iter().filter(|found| found.rule == RuleId::Le4).map(|found| &*found.text).collect();
    assert_eq!(told.len(), 2, "{report}\n{text}");
    assert!(told[0].contains("is ahead of its candidate"), "{report}");
    assert!(told[1].contains("the record had epoch 0x5"), "{report}");
}

#[test]
fn le_4_a_record_that_was_spoilt_is_made_again() {
    let run = [HEAD, A_LEADS, A_ACKNOWLEDGES].concat();
    // A foreign client overwrites the record, and its leader does not recognize it.
    let foreign = "
0.012 b fault foreign_write b
0.012 server:0 txn 0x7 s2 other ok
0.012 server:0 written 0x7 /e/leader
";
    let replaced = AGAIN.replace("#8 created", "#8 deleted 0x8 /e/leader by s1\n0.016 server:0 #8 created");
    says(&[&run, foreign, &replaced].concat(), "LE-4 pass, first nothing");
    says(&[&run, &*replaced].concat(), "LE-4 fail, first LE-4");
    // No session of a client deletes it.
    let gone = "0.012 server:0 txn 0x7 s0 delete ok\n0.012 server:0 deleted 0x7 /e/leader by s0\n";
    says(&[&run, gone, AGAIN].concat(), "LE-4 pass, first nothing");
    says(&[&run, &*gone.replace("s0", "s1"), AGAIN].concat(), "LE-4 fail, first LE-4");
}

#[test]
fn le_4_nobody_who_follows_is_led_back() {
    let run = "
run client clients a b
election /e
0.000 a observe#1 call /e
0.000 b observe#2 call /e
0.001 a #1 observed /e leader \"new\" 0x6
0.002 b #2 observed /e leader \"old\" 0x5
";
    says(run, "LE-4 pass");
    let back = "0.003 a #1 observed /e leader \"old\" 0x5\n";
    says(&[run, back].concat(), "LE-4 fail, first LE-4");
    says(&[run, "0.002 a #1 observed /e vacant \"\" 0\n", back].concat(), "LE-4 fail, first LE-4");
    says(&[run, "0.003 b #2 observed /e leader \"new\" 0x6\n"].concat(), "LE-4 pass");
}

#[test]
fn le_5_who_cannot_be_told_need_not_know() {
    let run = [HEAD, A_LEADS, A_ACKNOWLEDGES, C_FOLLOWS, "0.030 world heal\n9.0 world stopped\n"].concat();
    let unaware = without(&run, "observed");
    says(&unaware, "LE-5 fail, first LE-5");
    for away in ["0.020 world fault client_pause c lasts 0", "0.020 c state s3 suspended"] {
        let away = edit(&unaware, "0.030 world heal", &format!("{away}\n0.030 world heal"));
        says(&away, "LE-5 vacuous, first nothing");
    }
    // A foreign client that overwrites the record excuses it; one that writes elsewhere does not.
    let foreign = |path: &str| {
        let foreign = format!(
            "0.020 b fault foreign_write b\n0.020 server:0 txn 0x7 s2 other ok\n0.020 server:0 written 0x7 {path}\n"
        );
        edit(&unaware, "0.030 world heal", &format!("{foreign}0.030 world heal"))
    };
    says(&foreign("/e/leader"), "LE-5 vacuous, first nothing");
    says(&foreign("/e/other"), "LE-5 fail, first LE-5");
}

#[test]
fn le_5_who_follows_one_election_need_not_know_of_another() {
    let other = "
0.012 b stand#5 call /f
0.012 b #5 send r30 create /f/b-
0.012 b #5 send r31 children /f
0.012 server:0 #5 txn 0x7 s2 create ok
0.012 server:0 #5 created 0x7 /f/b-0 s2
0.012 b #5 reply r30 ok 0x7
0.012 b #5 reply r31 ok 0x7
0.012 b #5 return done
0.012 b #5 believe /f s2 token 0x7
0.013 b acknowledge#6 call /f
0.013 b #6 given \"b:80\" 0x7
0.013 b #6 send r32 multi /f
0.013 server:0 #6 txn 0x8 s2 multi ok
0.013 server:0 #6 created 0x8 /f/leader s2
0.013 b #6 reply r32 ok 0x8
0.013 b #6 return done
0.030 world heal
9.0 world stopped
";
    let head = edit(HEAD, "clients a b c\n", "clients a b c\nelection /f stop margin 0.4\n");
    says(&[&head, A_LEADS, A_ACKNOWLEDGES, C_FOLLOWS, other].concat(), "LE-5 vacuous, LE-4 pass");
}

#[test]
fn le_6_each_further_candidate_needs_a_reason() {
    let makes = |znode: &str, zxid: &str| {
        format!("0.010 server:0 #2 txn {zxid} s2 create ok\n0.010 server:0 #2 created {zxid} {znode} s2\n")
    };
    let foreign = "
0.009 world fault foreign_delete b
0.009 server:0 txn 0x6 s0 delete ok
0.009 server:0 deleted 0x6 /e/b-1 by s0
";
    let run = [HEAD, A_LEADS, B_STANDS, foreign, &makes("/e/b-2", "0x7")].concat();
    says(&run, "LE-6 pass");
    says(&[&*run, &makes("/e/b-3", "0x8")].concat(), "LE-6 fail");
}
