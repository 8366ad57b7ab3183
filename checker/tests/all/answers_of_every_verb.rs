//! Answers of operations that other rules judge as well, and of operations that read.

use crate::answers::{END, data, head, voted};
use crate::common::*;

/// A lock is acquired and released.
fn released() -> String {
    head("lock /l")
        + "
0.001 a acquire#1 call /l
0.001 a #1 send r1 create /l/g-lock-
0.002 server:0 #1 txn 0x3 s1 create ok
0.002 server:0 #1 created 0x3 /l/g-lock-0000000000 s1
0.003 a #1 reply r1 ok 0x3
0.003 a #1 return done
0.010 a release#2 call /l
0.010 a #2 send r2 delete /l/g-lock-0000000000
0.011 server:0 #2 txn 0x4 s1 delete ok
0.011 server:0 #2 deleted 0x4 /l/g-lock-0000000000 by s1
0.012 a #2 reply r2 ok 0x4
0.012 a #2 return done
" + END
}

#[test]
fn a_release_that_says_that_nothing_was_done_has_left_the_znode() {
    says(&edit(&released(), "a #2 return done", "a #2 return refused"), "AN-3 fail");
}

/// Both sites have voted and finish; the second one removes the transaction.
fn finished() -> String {
    let (own, vote) = (voted(), data("abort"));
    let rest = format!(
        "0.013 server:0 txn 0x5 s2 create ok
0.013 server:0 created 0x5 /tx/decision s0
0.014 b vote#3 call /tx
0.014 b #3 given abort 0x1
0.014 b #3 send r3 multi /tx/s_b
0.015 server:0 #3 txn 0x6 s2 multi ok
0.015 server:0 #3 written 0x6 /tx/s_b
0.015 {vote}
0.016 b #3 reply r3 ok 0x6
0.016 b #3 return done
0.020 a finish#4 call /tx
0.020 a #4 given \"\" 0x0
0.020 a #4 send r4 multi /tx/s_a
0.021 server:0 #4 txn 0x7 s1 multi ok
0.021 server:0 #4 deleted 0x7 /tx/s_a by s1
0.022 a #4 reply r4 ok 0x7
0.022 a #4 return done
0.030 b finish#5 call /tx
0.030 b #5 given \"\" 0x1
0.030 b #5 send r5 multi /tx/s_b
0.031 server:0 #5 txn 0x8 s2 multi ok
0.031 server:0 #5 deleted 0x8 /tx/s_b by s2
0.032 b #5 reply r5 ok 0x8
0.032 b #5 send r6 multi /tx
0.033 server:0 #5 txn 0x9 s2 multi ok
0.033 server:0 #5 deleted 0x9 /tx/decision by s2
0.033 server:0 #5 deleted 0x9 /tx by s2
0.034 b #5 reply r6 ok 0x9
0.034 b #5 return done
"
    );
    edit(&own, END, &(rest + END))
}

#[test]
fn the_last_site_takes_the_transaction_away() {
    says(&finished(), "AN-1 pass");
    says(&without(&finished(), "deleted 0x9 /tx by s2"), "AN-1 fail");
    // A site that is not the last one need not remove it.
    let first_only = without(&finished(), "b #5");
    says(&without(&first_only, "server:0 #5"), "AN-1 pass");
    says(&without(&finished(), "deleted 0x7"), "AN-1 fail");
}

#[test]
fn a_coordinator_that_has_finished_has_taken_the_transaction_away() {
    let forgets = "0.040 a finish#6 call /tx
0.040 a #6 given \"\" 0xffff
0.041 a #6 return done
";
    says(&edit(&finished(), END, &(forgets.to_owned() + END)), "AN-1 pass");
    says(&edit(&voted(), END, &(forgets.to_owned() + END)), "AN-1 fail");
}

/// A follower reports that there is no value, and then a value.
fn followed() -> String {
    head("config /cfg")
        + "
0.001 a follow#1 call /cfg
0.001 a #1 send r1 get /cfg
0.002 a #1 reply r1 no_node 0x2
0.002 a #1 observed /cfg missing \"\" 0x0
0.010 b overwrite#2 call /cfg
0.010 b #2 given v1 0x0
0.010 b #2 send r2 create /cfg
0.011 server:0 #2 txn 0x10 s2 create ok
0.011 server:0 #2 created 0x10 /cfg s0
0.011 DATA
0.012 b #2 reply r2 ok 0x10
0.012 b #2 return done
0.020 a #1 send r3 get /cfg
0.021 a #1 reply r3 ok 0x10
0.021 a #1 observed /cfg value v1 0x10
0.900 a #1 return done
"
        .replace("DATA", &data("v1"))
        .as_str()
        + END
}

#[test]
fn a_follower_is_told_what_a_server_has_said() {
    says(&followed(), "AN-1 pass");
    says(&edit(&followed(), "reply r1 no_node 0x2", "reply r1 ok 0x2"), "AN-1 fail");
    // For a client without any reply, the history may lack its reads.
    says(&without(&followed(), "reply r1"), "AN-1 pass");
    // A notification counts as a read.
    let notified = edit(
        &edit(&followed(), "reply r1 no_node 0x2", "reply r1 ok 0x2"),
        "0.002 a #1 observed",
        "0.002 a #1 notice s1 deleted /cfg\n0.002 a #1 observed",
    );
    says(&notified, "AN-1 pass");
}

#[test]
fn a_unique_name_is_a_znode() {
    let right = head("name_service /names stop margin 0.4")
        + "
0.001 a unique#1 call /names
0.001 a #1 given job 0x0
0.001 a #1 send r1 create /names/g-job-
0.002 server:0 #1 txn 0x3 s1 create ok
0.002 server:0 #1 created 0x3 /names/g-job-0000000000 s0
0.003 a #1 reply r1 ok 0x3
0.003 a #1 observed /names name g-job-0000000000 0x3
0.003 a #1 return done
" + END;
    says(&right, "AN-1 pass");
    says(&without(&right, "created 0x3"), "AN-1 fail");
}

#[test]
fn a_record_and_a_claim_that_are_said_not_to_be_are_none() {
    let acknowledged = head("election /e stop margin 0.4")
        + "
0.001 a acknowledge#1 call /e
0.001 a #1 given \"a\" 0x3
0.001 a #1 send r1 multi /e/leader
0.002 server:0 #1 txn 0x4 s1 multi ok
0.002 server:0 #1 created 0x4 /e/leader s1
0.003 a #1 reply r1 ok 0x4
0.003 a #1 return done
" + END;
    says(&acknowledged, "AN-1 pass");
    says(&edit(&acknowledged, "a #1 return done", "a #1 return refused"), "AN-3 fail");
    let given_back = head("queue /q at_least_once")
        + "
0.001 a give_back#1 call /q
0.001 a #1 given one 0x0
0.001 a #1 send r1 delete /q/claims/i-0
0.002 server:0 #1 txn 0x4 s1 delete ok
0.002 server:0 #1 deleted 0x4 /q/claims/i-0 by s1
0.003 a #1 reply r1 ok 0x4
0.003 a #1 return done
" + END;
    says(&edit(&given_back, "a #1 return done", "a #1 return refused"), "AN-3 fail");
}
