//! Digests of read results: each part counts, and no returned part is zero.

use zk_checker::digest::{Digest, Stat, data, name};
use zk_checker::history::Session;

#[test]
fn every_field_of_a_stat_counts() {
    let stat = Stat { czxid: 1, mzxid: 2, pzxid: 3, version: 4, cversion: 5, aversion: 6, ..Stat::default() };
    let others = [
        Stat { czxid: 9, ..stat },
        Stat { mzxid: 9, ..stat },
        Stat { pzxid: 9, ..stat },
        Stat { version: 9, ..stat },
        Stat { cversion: 9, ..stat },
        Stat { aversion: 9, ..stat },
        Stat { owner: Session(9), ..stat },
        Stat { data_length: 9, ..stat },
        Stat { num_children: 9, ..stat },
    ];
    for other in others {
        assert_ne!(Digest::of_stat(&stat), Digest::of_stat(&other), "{other:?}");
    }
}

#[test]
fn no_data_is_not_empty_data() {
    let all =
        [data(None), data(Some(b"")), data(Some(b"\0")), data(Some(b"\0\0")), data(Some(b"longer than 8"))];
    for (at, one) in all.iter().enumerate() {
        assert!(!all[at + 1..].contains(one));
    }
}

#[test]
fn the_order_of_a_list_does_not_count() {
    let sum = |names: &[&str]| names.iter().fold(0u64, |sum, text| sum.wrapping_add(name(text)));
    assert_eq!(sum(&["a", "b"]), sum(&["b", "a"]));
    assert_ne!(sum(&["a", "b"]), sum(&["a", "c"]));
    assert_ne!(Digest::of_names(0, None).content, 0, "an empty list is told");
}
