//! Permits: MX-4 and MX-15 of semaphores, SM-1, and the refusal of a request for more than there are.

use super::{Edit::*, Row, row};

/// A client stands in line for so many permits, and is served the lists of the line and of the holders.
fn joins(who: &str, op: u32, permits: u32, zxid: u32) -> String {
    let [r1, r2, r3] = [0, 1, 2].map(|n| 10 * op + n);
    format!(
        "0.0{op}0 {who} acquire#{op} call /n
0.0{op}0 {who} #{op} given \"\" {permits}
0.0{op}0 {who} #{op} send r{r1} create /n/line/{who}-
0.0{op}0 {who} #{op} send r{r2} children /n/line
0.0{op}0 {who} #{op} send r{r3} children /n/held
0.0{op}1 server:0 #{op} txn {zxid:#x} s{op} create ok
0.0{op}1 server:0 #{op} created {zxid:#x} /n/line/{who}-{op} s{op}
0.0{op}2 {who} #{op} reply r{r1} ok {zxid:#x}
0.0{op}2 {who} #{op} reply r{r2} ok {zxid:#x}
0.0{op}2 {who} #{op} reply r{r3} ok {zxid:#x}
"
    )
}

/// The client moves from the line to the holders.
fn takes(who: &str, op: u32, zxid: u32) -> String {
    let r = 10 * op + 3;
    format!(
        "0.0{op}3 {who} #{op} send r{r} multi /n/held
0.0{op}4 server:0 #{op} txn {zxid:#x} s{op} multi ok
0.0{op}4 server:0 #{op} deleted {zxid:#x} /n/line/{who}-{op} by s{op}
0.0{op}4 server:0 #{op} created {zxid:#x} /n/held/{who} s{op}
0.0{op}5 {who} #{op} reply r{r} ok {zxid:#x}
0.0{op}5 {who} #{op} return done
0.0{op}5 {who} #{op} believe /n s{op} token {zxid:#x}
"
    )
}

/// There are two permits; two clients take one each, and the third one wants three.
fn permits() -> String {
    let head = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b c
permits /n stop margin 0.4 budget 4 2 1 4
0.000 server:0 opened s1 timeout 4000 0x1
0.000 server:0 opened s2 timeout 4000 0x2
0.000 server:0 opened s3 timeout 4000 0x3
0.000 a state s1 connected
0.000 b state s2 connected
0.000 c state s3 connected
0.001 c resize#9 call /n
0.001 c #9 given 2 0
0.001 c #9 send r90 multi /n/held
0.002 server:0 #9 txn 0x4 s3 multi ok
0.002 server:0 #9 created 0x4 /n/held s0
0.002 server:0 #9 created 0x4 /n/held/permits-2 s0
0.003 c #9 reply r90 ok 0x4
0.003 c #9 return done
";
    let (a, b) = (joins("a", 1, 1, 5) + &takes("a", 1, 6), joins("b", 2, 1, 7) + &takes("b", 2, 8));
    let c = joins("c", 3, 3, 9) + "0.033 c #3 return refused bad_input\n";
    [head, &a, &b, &c].concat()
}

pub fn rows() -> Vec<Row> {
    let permits = permits();
    let of = |what, edits: &[_], rule| row(what, &permits, edits, rule);
    let wants = |who: &str, op: u32, permits: u32| {
        format!("0.0{op}0 {who} #{op} given \"\" {permits}\n0.0{op}0 {who} #{op} send r{op}0")
    };
    vec![
        of(
            "two permits are granted, and one is free",
            &[Put(&wants("b", 2, 1), &wants("b", 2, 2))],
            "MX-4 (SM-1)",
        ),
        of(
            "a permit is granted when there are fewer",
            &[
                Put("0.001 c #9 given 2 0", "0.001 c #9 given 1 0"),
                Put("created 0x4 /n/held/permits-2", "created 0x4 /n/held/permits-1"),
            ],
            "MX-4 (SM-1)",
        ),
        of(
            "a request is refused, and there are as many permits",
            &[Put(&wants("c", 3, 3), &wants("c", 3, 2))],
            "AN-2",
        ),
        of(
            "another number is made than was wanted",
            &[Put("0.001 c #9 given 2 0", "0.001 c #9 given 3 0")],
            "AN-1",
        ),
    ]
}
