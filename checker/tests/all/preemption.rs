//! Requests of a priority lock's waiter to less urgent holders: RV-5.

use crate::common::{says, without};
use crate::priority_lock::{HEAD, joins, releases, takes, waits};
use zk_checker::digest;

/// A less urgent client holds, and a more urgent one waits for it, with that policy.
pub fn waits_with(policy: &str) -> String {
    let head = HEAD.replace("budget 6 2 1 4", "budget 6 2 1 4 grace 0.1 forced");
    let given = "#2 given \"\" 5\n";
    let told = format!("{given}0.010 b #2 given {policy} 5\n");
    let joins_with = joins("b", "write", 2, 5, 6).replace(given, &told);
    [head, joins("a", "write", 1, 9, 4), takes("a", 1, 5), joins_with, waits("b", 2, "/p/held/a")].concat()
}

/// The waiter asks the holder to release, and the holder learns of it.
pub fn asks() -> String {
    let word = digest::data(Some(b"unlock"));
    format!(
        "
0.010 b #2 send r90 set /p/held/a
0.010 server:0 #2 txn 0x7 s2 set ok
0.010 server:0 #2 written 0x7 /p/held/a
0.010 server:0 #2 data 6 {word:#x}
0.010 server:0 #2 fire s1 data_changed /p/held/a 0x7
0.010 b #2 reply r90 ok 0x7
0.010 a #1 notice s1 data_changed /p/held/a
0.010 a #1 observed /p word \"\" 0
"
    )
}

/// The waiter deletes the holder's znode when the grace period is over.
const FORCES: &str = "
0.112 b #2 send r31 delete /p/held/a
0.112 server:0 #2 txn 0x8 s2 delete ok
0.112 server:0 #2 deleted 0x8 /p/held/a by s2
0.112 b #2 reply r31 ok 0x8
0.112 server:0 #2 fire s1 deleted /p/held/a 0x8
0.112 a notice s1 deleted /p/held/a
0.112 a #1 unbelieve lost
";

fn in_the_end(run: &[&str]) -> String {
    [&run.concat(), "0.200 world stopped\n"].concat()
}

#[test]
fn rv_5_a_less_urgent_holder_is_asked() {
    let release = releases("a", 1, 8, &[2]);
    says(&in_the_end(&[&waits_with("ask"), &asks(), &release]), "RV-5 pass, RV-1 pass");
    says(&in_the_end(&[&waits_with("ask"), &release]), "RV-5 fail, first RV-5");
    // Another waiter may ask it.
    let by_another = asks().replace("#2", "#3").replace("0.010 b", "0.010 c").replace(" s2 ", " s3 ");
    let by_another = by_another.replace("0x7", "0x17");
    let third = joins("c", "write", 3, 7, 0x16).replace("#3 given \"\" 7", "#3 given ask 7");
    let later = releases("a", 1, 0x18, &[2]);
    says(&in_the_end(&[&waits_with("ask"), &third, &by_another, &later]), "RV-5 pass");
    // A call without a policy is not judged.
    says(&in_the_end(&[&waits_with("\"\""), &release]), "RV-5 vacuous");
}

#[test]
fn rv_5_who_cannot_ask_or_need_not_is_not_blamed() {
    let releases = releases("a", 1, 8, &[2]);
    let quiet = |run: &str| says(&in_the_end(&[run, &releases]), "RV-5 vacuous");
    let waiting = waits_with("ask");
    quiet(&waits_with("never"));
    // The holder is as urgent.
    quiet(&waiting.replace("given \"\" 9", "given \"\" 5"));
    // The request is in flight.
    quiet(&[&waiting, "0.010 b #2 send r90 set /p/held/a\n"].concat());
    // Its connection is lost, or its process is paused.
    quiet(&[&waiting, "0.011 b state s2 suspended\n"].concat());
    // Another waiter is ahead.
    let first = joins("c", "write", 3, 1, 6);
    let (head, rest) = waiting.split_once("\n0.010 b write#2").expect("the second one joins");
    quiet(&[head, "\n", &first, "0.010 b write#2", &rest.replace("0x6", "0x7")].concat());
    // The waiter itself was asked to release.
    let word = digest::data(Some(b"unlock"));
    let asked = format!(
        "0.010 server:0 txn 0x17 s3 set ok\n0.010 server:0 written 0x17 /p/line/b-2\n0.010 server:0 data 6 {word:#x}\n"
    );
    quiet(&[waiting.as_str(), &asked].concat());
}

#[test]
fn rv_5_nobody_else_is_asked() {
    let asked = |run: &str| says(&[run, asks().as_str()].concat(), "RV-5 fail, first RV-5");
    asked(&waits_with("never"));
    let waiting = waits_with("ask");
    asked(&waiting.replace("given \"\" 9", "given \"\" 5"));
    asked(&waiting.replace("a write#1", "a read#1").replace("b write#2", "b read#2"));
    // A waiter is not a holder.
    let third = joins("c", "write", 3, 7, 0x16);
    let waiter = asks().replace("/p/held/a", "/p/line/c-3").replace(" s1 ", " s3 ");
    let waiter = without(&without(&waiter, "notice"), "observed");
    says(&[waiting.as_str(), &third, &waiter].concat(), "RV-5 fail");
}

#[test]
fn rv_5_a_holder_is_forced_where_the_policy_says_so() {
    let forced = |policy: &str| [waits_with(policy).as_str(), &asks(), FORCES].concat();
    says(&forced("force"), "RV-5 pass, RV-2 pass, first nothing");
    says(&forced("ask"), "RV-5 fail, first RV-5");
    let left_alone = in_the_end(&[&waits_with("force"), &asks()]);
    says(&left_alone, "RV-5 fail, first RV-5");
    // A slow clock ends the grace period late.
    let soon = |at: &str| [waits_with("force").as_str(), &asks(), at, " world stopped\n"].concat();
    says(&soon("0.113"), "RV-5 pass");
    says(&soon("0.114"), "RV-5 fail");
}
