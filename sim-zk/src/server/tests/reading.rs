//! Reads: the znode that is read, the order of children, and missing znodes.

use super::*;

#[test]
fn the_root_has_two_names_and_other_texts_have_no_znode() {
    let (mut bench, [a]) = Bench::with_clients();
    assert_eq!(bench.names(a, ""), ["zookeeper"]);
    assert_eq!(bench.exists(a, "", false), bench.exists(a, "/", false));
    for path in ["a", "//", "/zookeeper/", "é"] {
        assert_eq!(bench.get(a, path, false), refused(Code::NoNode), "{path:?}");
    }
    assert_eq!(bench.exists(a, "/\0", false), refused(Code::BadArguments));
    assert_eq!(bench.get(a, "/\0", false), refused(Code::NoNode));
}

#[test]
fn children_come_in_the_order_of_javas_set() {
    let (mut bench, [a]) = Bench::with_clients();
    bench.made(a, &["/p"]);
    for _ in 0..2 {
        bench.create(a, "/p/n-", 2).expect("nothing is in the way");
    }
    assert_eq!(bench.names(a, "/p"), ["n-0000000001", "n-0000000000"], "recorded from a real server");
}

#[test]
fn descendants_are_counted_by_path_and_not_by_prefix() {
    let (mut bench, [a]) = Bench::with_clients();
    bench.made(a, &["/p", "/p/a", "/p/a/b", "/pp"]);
    for (path, number) in [("/p", 2), ("/p/a/b", 0), ("/", 7), ("", 8)] {
        let path = bench.path(path);
        assert_eq!(bench.ask(a, Ask::CountDescendants { path }), Ok(Answer::Number(number)));
    }
    let path = bench.path("/no");
    assert_eq!(bench.ask(a, Ask::CountDescendants { path }), refused(Code::NoNode));
}

#[test]
fn ephemerals_are_those_of_the_session_by_prefix_of_the_text() {
    let (mut bench, [a, b]) = Bench::with_clients();
    for (who, path) in [(a, "/lock-1"), (a, "/other"), (b, "/lock-2")] {
        bench.create(who, path, 1).expect("nothing is in the way");
    }
    let mut found = |prefix: &str| match bench.ask(a, Ask::Ephemerals { prefix: prefix.into() }) {
        Ok(Answer::Ephemerals(paths)) => paths.len(),
        other => panic!("no ephemerals: {other:?}"),
    };
    let counts = ["/lo", "/", "", " / ", "/none", "lock"].map(&mut found);
    assert_eq!(counts, [1, 2, 2, 2, 0, 0]);
}

#[test]
fn many_reads_answer_each_for_itself() {
    let (mut bench, [a]) = Bench::with_clients();
    bench.made(a, &["/p", "/p/c"]);
    let (p, c, no) = (bench.path("/p"), bench.path("/p/c"), bench.path("/no"));
    let stat = bench.stat("/p");
    let ops = vec![ReadOp::Get(no), ReadOp::Get(p), ReadOp::Children(p)];
    let found = vec![
        Err(Code::NoNode),
        Ok(Found::Data(Some(b"".as_slice().into()), stat)),
        Ok(Found::Children(vec![c])),
    ];
    assert_eq!(bench.ask(a, Ask::MultiRead(ops)), Ok(Answer::Many(found)));
    let mixed = vec![ReadOp::Get(p), ReadOp::Other(1)];
    assert_eq!(bench.ask(a, Ask::MultiRead(mixed)), refused(Code::MarshallingError));
    assert_eq!(bench.ask(a, Ask::Malformed(4)), refused(Code::MarshallingError));
}

#[test]
fn reads_take_no_zxid_and_are_told() {
    let (mut bench, [a]) = Bench::with_clients();
    bench.seen.0.clear();
    bench.exists(a, "/", true).expect("there is a root");
    assert_eq!(bench.seen.0, ["Armed", "Served"]);
    assert_eq!(bench.replica.applied, bench.zxid);
}
