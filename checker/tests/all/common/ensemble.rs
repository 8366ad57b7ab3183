//! Three servers, and their events: pieces of histories.

use zk_checker::digest::{self, Digest, Stat};
use zk_checker::history::Session;

/// Three servers that have all applied three transactions; a client at server 1 and one at server 2.
pub const ENSEMBLE: &str = "
run sim timeout 4 tick 0.5 round_trip 0.002 settle 0.001 clients a b
lock /lock stop margin 0.4 fenced
0.000 server:0 txn 0x1 s0 create ok
0.000 server:0 created 0x1 /lock s0
0.000 server:0 data 0 0x0
0.000 server:1 applied 0x1
0.000 server:2 applied 0x1
0.000 server:0 txn 0x2 s1 connect ok
0.000 server:0 opened s1 timeout 4000 0x2
0.000 server:1 applied 0x2
0.000 server:2 applied 0x2
0.000 server:0 txn 0x3 s2 connect ok
0.000 server:0 opened s2 timeout 4000 0x3
0.000 server:1 applied 0x3
0.000 server:2 applied 0x3
0.001 a state s1 connected conn 1 server 1
0.001 b state s2 connected conn 2 server 2
";

/// The first client holds.
pub const A_HOLDS: &str = "
0.002 a acquire#1 call /lock
0.002 a #1 send r1 create /lock/a-
0.002 a #1 send r2 children /lock
0.003 server:1 #1 txn 0x4 s1 create ok
0.003 server:1 #1 created 0x4 /lock/a-0000000000 s1
0.003 server:1 #1 data 0 0x0
0.003 server:0 applied 0x4
0.003 server:2 applied 0x4
0.004 a #1 reply r1 ok 0x4 conn 1
0.004 a #1 made /lock/a-0000000000 0x4
0.004 a #1 reply r2 ok 0x4 conn 1
0.004 a #1 believe /lock s1 token 0x4
0.004 a #1 return done
";

/// The second client queues behind it, at server 2.
pub const B_WAITS: &str = "
0.010 b acquire#2 call /lock
0.010 b #2 send r3 create /lock/b-
0.010 b #2 send r4 children /lock
0.011 server:2 #2 txn 0x5 s2 create ok
0.011 server:2 #2 created 0x5 /lock/b-0000000001 s2
0.011 server:2 #2 data 0 0x0
0.011 server:0 applied 0x5
0.011 server:1 applied 0x5
0.012 b #2 reply r3 ok 0x5 conn 2
0.012 b #2 made /lock/b-0000000001 0x5
0.012 b #2 reply r4 ok 0x5 conn 2
0.012 b #2 send r5 children /lock/a-0000000000 watch
0.013 server:2 #2 arm s2 child /lock/a-0000000000 conn 2
0.014 b #2 reply r5 ok 0x5 conn 2
";

/// The first client releases; server 2 has not applied it.
pub const A_RELEASES: &str = "
0.020 a #1 unbelieve released
0.020 a release#3 call /lock
0.020 a #3 send r6 delete /lock/a-0000000000
0.021 server:1 #3 txn 0x6 s1 delete ok
0.021 server:1 #3 deleted 0x6 /lock/a-0000000000 by s1
0.021 server:0 applied 0x6
0.022 a #3 reply r6 ok 0x6 conn 1
0.022 a #3 return done
";

/// Server 2 applies it a second later.
pub const THE_LAGGARD_APPLIES_IT: &str = "
1.021 server:2 applied 0x6
1.021 server:2 #3 fire s2 deleted /lock/a-0000000000 0x6 conn 2
1.022 b #2 notice s2 deleted /lock/a-0000000000 conn 2
";

/// The second client lists, and holds.
pub const B_HOLDS: &str = "
1.022 b #2 send r7 children /lock
1.024 b #2 reply r7 ok 0x6 conn 2
1.024 b #2 believe /lock s2 token 0x5
1.024 b #2 return done
";

/// Pieces, one after the other.
pub fn join(pieces: &[&str]) -> String {
    pieces.concat()
}

/// A whole run with a lagging server.
pub fn lagging() -> String {
    [ENSEMBLE, A_HOLDS, B_WAITS, A_RELEASES, THE_LAGGARD_APPLIES_IT, B_HOLDS].concat()
}

/// The stat of a znode that was created and never changed.
pub fn fresh(czxid: u64, owner: u16) -> Stat {
    Stat { czxid, mzxid: czxid, pzxid: czxid, owner: Session(owner), ..Stat::default() }
}

/// The digest of a list, in the text form.
pub fn list(names: &[&str], stat: &Stat) -> String {
    let sum = names.iter().fold(0, |sum: u64, name| sum.wrapping_add(digest::name(name)));
    words(Digest::of_names(sum, Some(stat)))
}

/// The digest of a stat.
pub fn stat(stat: &Stat) -> String {
    words(Digest::of_stat(stat))
}

/// The digest of data and their stat.
pub fn data(bytes: &[u8], stat: &Stat) -> String {
    words(Digest::of_data(digest::data(Some(bytes)), stat))
}

fn words(digest: Digest) -> String {
    format!("{:#x} {:#x}", digest.content, digest.stat)
}
