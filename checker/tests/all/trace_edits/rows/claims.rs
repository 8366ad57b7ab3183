//! The claims of foreign programs: SM-1, CO-1, PA-1, PA-2, CA-1, PR-1, GM-9.

use super::{Edit::*, Row, row};
use crate::common::reports;
use zk_checker::digest;

const LEASES: &str = "
1.000 a lease#1 call /o
1.001 a #1 return done
1.100 b lease#2 call /o
1.101 b #2 return done
1.200 a yield#3 call /o
1.200 a #3 return done
1.300 c lease#4 call /o
1.301 c #4 return done
1.400 b yield#5 call /o
1.400 b #5 return done
1.500 c yield#6 call /o
1.500 c #6 return done
20.000 world stopped
";

const ADDS: &str = "
1.000 a add#1 call /o
1.000 a #1 given 2 0x0
1.001 a #1 return done
1.100 b add#2 call /o
1.100 b #2 given 1 0x0
1.101 b #2 return unknown
20.000 world stopped
20.001 a audit#3 call /o
20.001 a #3 observed /o value 2 0x0
20.001 a #3 return done
";

const PARTS: &str = "
1.000 a whole#1 call /o
1.000 a #1 given p,q 0x0
1.000 a #1 return done
1.100 a own#2 call /o
1.100 a #2 given p 0x0
1.100 a #2 return done
1.200 b own#3 call /o
1.200 b #3 given q 0x0
1.200 b #3 return done
2.000 b yield#4 call /o
2.000 b #4 given q 0x0
2.000 b #4 return done
2.100 a own#5 call /o
2.100 a #5 given q 0x0
2.100 a #5 return done
20.000 world stopped
";

const HOLDS: &str = "
1.000 a acquire#1 call /o
1.001 a #1 believe /o s1 token 0x0
1.001 a #1 return done
1.100 b acquire#2 call /o
1.200 a #1 unbelieve released
1.300 b #2 believe /o s2 token 0x0
1.300 b #2 return done
1.400 b #2 unbelieve released
20.000 world stopped
";

const MEMBERS: &str = "
1.000 a join#1 call /o
1.000 a #1 given m 0x0
1.001 server:0 txn 0x4 s1 create ok
1.001 server:0 created 0x4 /o/m s1
1.002 a #1 return done
20.000 world stopped
20.001 b audit#2 call /o
20.001 b #2 observed /o view m 0x0
20.001 b #2 return done
";

/// Two clients report the contents of their caches at the same time.
fn cached() -> String {
    let data = digest::data(Some(b"x"));
    format!(
        "
1.000 server:0 txn 0x4 s1 create ok
1.000 server:0 created 0x4 /o/z s0
1.000 server:0 data 1 {data:#x}
20.000 world stopped
20.001 a audit#2 call /o
20.001 a #2 observed /o znode /o/z {data:#x}
20.001 b audit#1 call /o
20.001 b #1 observed /o znode /o/z {data:#x}
20.001 a #2 return done
20.001 b #1 return done
"
    )
}

pub fn rows() -> Vec<Row> {
    let barrier = "
1.000 a raise#1 call /o
1.001 a #1 return done
1.100 b wait#2 call /o
1.200 a lower#3 call /o
1.201 a #3 return done
1.202 b #2 return done
20.000 world stopped
";
    let double = "
1.000 a enter#1 call /o
1.100 b enter#2 call /o
1.101 b #2 return done
1.102 a #1 return done
1.200 a leave#3 call /o
1.300 b leave#4 call /o
1.301 a #3 return done
1.302 b #4 return done
20.000 world stopped
";
    let queue = "
1.000 a put#1 call /o
1.000 a #1 given x 0x0
1.001 a #1 return done
1.100 b take#2 call /o
1.101 b #2 observed /o item x 0x0
1.101 b #2 return done
1.200 b take#3 call /o
1.201 b #3 return refused
20.000 world stopped
";
    let ended = "20.000 world stopped";
    let written = format!(" data 1 {:#x}", digest::data(Some(b"x")));
    vec![
        row(
            "a lease is given out although none is free",
            &reports("semaphore /o stop size 2", LEASES),
            &[Cut("a yield#3"), Cut("a #3 return")],
            "SM-1",
        ),
        row(
            "a client waits for a lease that is free",
            &reports("semaphore /o stop size 2", LEASES),
            &[Cut("c #4 return"), Cut("c yield#6"), Cut("c #6 return")],
            "PR-1",
        ),
        row(
            "an increment that was acknowledged counts twice",
            &reports("counter /o stop", ADDS),
            &[Put("value 2 0x0", "value 4 0x0")],
            "CO-1",
        ),
        row(
            "an increment that was acknowledged does not count",
            &reports("counter /o stop", ADDS),
            &[Put("value 2 0x0", "value 1 0x0")],
            "CO-1",
        ),
        row(
            "an increment that was refused counts",
            &reports("counter /o stop", ADDS),
            &[Put("b #2 return unknown", "b #2 return refused"), Put("value 2 0x0", "value 3 0x0")],
            "CO-1",
        ),
        row(
            "a part is taken from a live owner",
            &reports("partition /o stop", PARTS),
            &[Cut("b yield#4"), Cut("b #4 given"), Cut("b #4 return")],
            "PA-1",
        ),
        row(
            "a part is given back, and nobody takes it",
            &reports("partition /o stop", PARTS),
            &[Cut("a own#5"), Cut("a #5 given"), Cut("a #5 return")],
            "PA-2",
        ),
        row(
            "a cache has other data",
            &reports("cache /o stop", &cached()),
            &[Put(&written, " data 1 0x7")],
            "CA-1",
        ),
        row("a cache lacks a znode", &reports("cache /o stop", &cached()), &[Cut("a #2 observed")], "CA-1"),
        row(
            "a cache keeps a znode",
            &reports("cache /o stop", &cached()),
            &[Cut("created"), Cut(" data 1 ")],
            "CA-1",
        ),
        row(
            "a lock is free, and a client waits for it",
            &reports("lock /o stop", HOLDS),
            &[Cut("b #2 believe"), Cut("b #2 return"), Cut("b #2 unbelieve")],
            "PR-1 (MX-8)",
        ),
        row(
            "a waiter is not woken when the barrier is lowered",
            &reports("barrier /o stop", barrier),
            &[Cut("b #2 return")],
            "PR-1",
        ),
        row(
            "a double barrier lets in one of two",
            &reports("double_barrier /o stop size 2", double),
            &[Cut("b enter#2"), Cut("b #2 return"), Cut("b leave#4"), Cut("b #4 return")],
            "DB-1",
        ),
        row(
            "a participant leaves before the other one",
            &reports("double_barrier /o stop size 2", double),
            &[Cut("a #3 return"), After("a leave#3", "1.201 a #3 return done")],
            "DB-2",
        ),
        row(
            "all have entered, and one still waits",
            &reports("double_barrier /o stop size 2", double),
            &[Cut("a #1 return"), Cut("a leave#3"), Cut("a #3 return"), Cut("b leave#4"), Cut("b #4 return")],
            "PR-1",
        ),
        row(
            "an item is lost",
            &reports("queue /o stop", queue),
            &[Cut("observed"), Cut("b #2 return"), Cut("b take#2")],
            "QU-2",
        ),
        row(
            "an item was put although its put was refused",
            &reports("queue /o stop", queue),
            &[Put("a #1 return done", "a #1 return refused")],
            "QU-3",
        ),
        row(
            "a member is not seen",
            &reports("group /o stop", MEMBERS),
            &[Put("view m 0x0", "view - 0x0")],
            "GM-9",
        ),
        row("a member has no znode", &reports("group /o stop", MEMBERS), &[Cut("created")], "GM-9"),
        row(
            "who has left is still seen",
            &reports("group /o stop", MEMBERS),
            &[Before(ended, "2.000 a yield#3 call /o\n2.000 a #3 given m 0x0\n2.000 a #3 return done")],
            "GM-9",
        ),
    ]
}
