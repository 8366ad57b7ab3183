//! Foreign programs that report their beliefs: only the reports and the fate of their sessions are judged.

use crate::common::*;

/// Two clients and a lock whose holders report their holds themselves.
const HEAD: &str = "run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.250 clients a b
lock /lock until_deadline reported
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 a state s1 connected
0.000 b state s2 connected
1.000 a acquire#1 call /lock
1.000 a #1 believe /lock s1 token 0x0
1.000 a #1 return done
";

const B_HOLDS: &str = "
5.000 b acquire#2 call /lock
5.000 b #2 believe /lock s2 token 0x0
5.000 b #2 return done
";

const A_ENDS: &str = "5.010 a #1 unbelieve released
5.010 a state s1 expired
";

/// The session of the first client ends without notice to it.
const ITS_SESSION_ENDS: &str = "4.899 world fault session_expiry a
4.900 server:0 txn 0x6 s1 close_session ok
4.900 server:0 ended s1 0x6
";

fn run(between: &str) -> String {
    [HEAD, between, B_HOLDS, A_ENDS].concat()
}

#[test]
fn one_after_the_other_is_right() {
    says(&run("4.000 a #1 unbelieve released").replace(A_ENDS, ""), "MX-2 pass, MX-4 vacuous, first nothing");
}

#[test]
fn two_at_once_are_a_breach_while_the_session_of_the_first_lives() {
    says(&run(""), "first MX-2");
}

#[test]
fn a_report_has_what_programs_have_shown() {
    let report = report(&run(ITS_SESSION_ENDS));
    assert_eq!((report.metrics.zombies, report.metrics.longest_zombie), (1, 10_000), "{report}");
    assert_eq!(report.black_boxes.len(), 1, "{report}");
}

#[test]
fn a_session_that_has_ended_excuses_until_its_client_must_have_been_told() {
    says(&run(ITS_SESSION_ENDS), "MX-2 unavoidable, first nothing");
    let told = format!("{ITS_SESSION_ENDS}4.900 a state s1 expired\n");
    let late = run(&told).replace("5.010 a #1", "5.200 a #1").replace("5.010 a state s1 expired\n", "");
    says(&late, "first MX-14");
}

/// The clients' reports about an object, one line each: the client, the event, the object with its flags.
fn reports(object: &str, lines: &str) -> String {
    format!(
        "run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.250 clients a b\n{object} reported\n{lines}"
    )
}

fn call(number: u32, at: u32, who: &str, verb: &str, item: &str) -> String {
    let (begin, op) = (format!("{at}.000 {who}"), format!("#{number}"));
    let given = match verb {
        "put" => format!("{begin} {op} given {item} 0x0\n"),
        "take" => format!("{begin} {op} observed /o item {item} 0x0\n"),
        _ => String::new(),
    };
    format!("{begin} {verb}{op} call /o\n{given}{begin} {op} return done\n")
}

#[test]
fn items_are_judged_by_their_reports() {
    let put = [call(1, 1, "a", "put", "x"), call(2, 2, "a", "put", "y")].concat();
    for (takes, verdict) in [
        (["x", "y"], "QU-4 pass, first nothing"),
        (["y", "x"], "first QU-4"),
        (["x", "x"], "first QU-1"),
        (["x", "z"], "first QU-1"),
    ] {
        let takes = [call(3, 3, "b", "take", takes[0]), call(4, 4, "b", "take", takes[1])].concat();
        says(&reports("queue /o stop", &[put.as_str(), &takes].concat()), verdict);
    }
}

#[test]
fn a_barrier_is_judged_by_its_reports() {
    let wait = "2.000 b wait#2 call /o\n";
    let raise = call(1, 1, "a", "raise", "");
    let lower = call(3, 3, "a", "lower", "");
    let pass = "4.000 b #2 return done\n";
    let run = |parts: &[&str]| reports("barrier /o stop", &parts.concat());
    says(&run(&[&raise, wait, &lower, pass]), "BA-1 pass, first nothing");
    says(&run(&[&raise, wait, pass]), "first BA-1");
}

/// A foreign library may skip re-registration, and may register other watches; this project's must not.
#[test]
fn what_foreign_libraries_do_with_their_watches_is_not_judged() {
    let run = |flag: &str| {
        format!(
            "run sim {flag} timeout 4 tick 0.5 round_trip 0.002 settle 0.250 clients a
0.000 server:0 txn 0x1 s1 connect ok
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 attached s1 conn 1
0.000 a state s1 connected conn 1
0.100 a send r1 exists /w watch
0.101 server:0 served r1 0x1 conn 1
0.101 server:0 found exists no_node /w 0 0
0.101 server:0 arm s1 data /w conn 1
0.102 a reply r1 no_node 0x1 conn 1
0.200 server:0 attached s1 conn 2
0.200 a state s1 connected conn 2
0.300 a send r2 exists /other
0.301 server:0 served r2 0x1 conn 2
0.301 server:0 found exists no_node /other 0 0
0.302 a reply r2 no_node 0x1 conn 2
"
        )
    };
    says(&run("foreign_clients"), "ZK-6 pass, first nothing");
    says(&run(""), "ZK-6 fail, ZK-7 fail");
}
