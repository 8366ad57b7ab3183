//! The wake sources of waiters: MX-7.

use crate::common::*;

#[test]
fn a_watch_on_the_data_of_the_directory_tells_nothing() {
    let run = [HEAD, A_HOLDS, B_WAITS, "1.000 world heal\n"].concat();
    says(&edit(&run, "arm s2 child /lock/a-0", "arm s2 data /lock"), "MX-7 fail, first MX-7");
}

#[test]
fn a_server_that_lags_will_tell_of_its_directory() {
    let text = ensemble::lagging().replace("children /lock/a-0000000000 watch", "children /lock watch");
    let text = edit(&text, "arm s2 child /lock/a-0000000000", "arm s2 child /lock");
    let text = text.replace("s2 deleted /lock/a-0000000000", "s2 children_changed /lock");
    says(&text, "MX-7 pass, first nothing");
    // Another event in between triggers the check.
    let meanwhile =
        edit(&text, "1.021 server:2 applied", "0.500 world fault reply_late b\n1.021 server:2 applied");
    says(&meanwhile, "MX-7 pass, first nothing");
}

#[test]
fn a_watch_that_was_given_up_is_not_waited_for() {
    let lost = "
0.100 server:0 disarm s2 child /lock/a-0
2.000 b state s2 suspended
3.000 b state s2 connected
4.000 b send r9 remove_watches /lock/a-0 cleanup
4.001 b reply r9 ok 0x4
4.002 world fault reply_late b
4.010 world heal
";
    let run = [HEAD, A_HOLDS, B_WAITS, lost].concat();
    says(&run, "MX-7 fail, first MX-7");
    says(&without(&without(&run, "send r9"), "reply r9"), "MX-7 pass, first nothing");
}

/// The first client holds a priority lock, and the second one waits.
const PRIORITY: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b
priority_lock /p stop margin 0.4 budget 6 2 1 4
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 a state s1 connected
0.000 b state s2 connected
0.001 a write#1 call /p
0.001 a #1 given \"\" 5
0.001 server:0 #1 txn 0x3 s1 create ok
0.001 server:0 #1 created 0x3 /p/line/a-0 s1
0.001 server:0 #1 txn 0x4 s1 multi ok
0.001 server:0 #1 deleted 0x4 /p/line/a-0 by s1
0.001 server:0 #1 created 0x4 /p/held/a s1
0.002 b write#2 call /p
0.002 b #2 given \"\" 5
0.002 b #2 send r1 create /p/line/b-
0.002 server:0 #2 txn 0x5 s2 create ok
0.002 server:0 #2 created 0x5 /p/line/b-1 s2
0.003 b #2 reply r1 ok 0x5
0.003 b #2 send r2 children /p/held watch
0.003 server:0 #2 arm s2 child /p/held
0.003 b #2 reply r2 ok 0x5
1.000 world heal
";

#[test]
fn of_a_priority_lock_each_room_tells_of_its_own() {
    says(PRIORITY, "MX-7 pass");
    // There is no waiter ahead of it.
    says(&edit(PRIORITY, "arm s2 child /p/held", "arm s2 child /p/line"), "MX-7 fail");
}

#[test]
fn a_server_that_lags_will_tell_of_a_room() {
    let run = |fault: &str| {
        format!(
            "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b
priority_lock /p stop margin 0.4 budget 6 2 1 4
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 a state s1 connected conn 1 server 1
0.000 b state s2 connected conn 2 server 2
0.001 a write#1 call /p
0.001 a #1 given \"\" 5
0.001 server:1 #1 txn 0x3 s1 create ok
0.001 server:1 #1 created 0x3 /p/line/a-0 s1
0.001 server:1 #1 txn 0x4 s1 multi ok
0.001 server:1 #1 deleted 0x4 /p/line/a-0 by s1
0.001 server:1 #1 created 0x4 /p/held/a s1
0.001 server:2 applied 0x3
0.001 server:2 applied 0x4
0.002 b write#2 call /p
0.002 b #2 given \"\" 5
0.002 b #2 send r1 create /p/line/b-
0.002 server:2 #2 txn 0x5 s2 create ok
0.002 server:2 #2 created 0x5 /p/line/b-1 s2
0.002 server:1 applied 0x5
0.003 b #2 reply r1 ok 0x5 conn 2
0.003 b #2 send r2 children /p/held watch
0.003 server:2 #2 arm s2 child /p/held conn 2
0.003 b #2 reply r2 ok 0x5 conn 2
0.011 server:1 #1 txn 0x6 s1 delete ok
0.011 server:1 #1 deleted 0x6 /p/held/a by s1
{fault}1.021 server:2 applied 0x6
1.021 server:2 fire s2 children_changed /p/held 0x6 conn 2
1.022 b #2 notice s2 children_changed /p/held conn 2
"
        )
    };
    says(&run(""), "first nothing");
    says(&run("0.500 world fault reply_late b\n"), "first nothing");
    // A notified waiter has no wake source left there.
    let late = "1.030 world fault reply_late b\n2.000 world heal\n";
    says(&[&run(""), late].concat(), "MX-7 fail, first MX-7");
}
