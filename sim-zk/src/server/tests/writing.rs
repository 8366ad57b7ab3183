//! Writes: the checks and their order, pending changes, and the effects.

use super::*;

#[test]
fn a_create_marks_its_parent_and_nothing_above() {
    let (mut bench, [a]) = Bench::with_clients();
    bench.made(a, &["/p", "/p/c"]);
    let parent = bench.stat("/p");
    assert_eq!((parent.czxid, parent.mzxid, parent.pzxid), (2, 2, 3));
    assert_eq!((parent.version, parent.cversion, parent.num_children), (0, 1, 1));
    assert_eq!((bench.stat("/").pzxid, bench.stat("/").cversion), (2, 0), "-1 of a fresh root, and one");
    bench.delete(a, "/p/c").expect("it is empty");
    assert_eq!((bench.stat("/p").pzxid, bench.stat("/p").cversion), (4, 2));
}

#[test]
fn no_data_and_empty_data_are_two_things_of_length_0() {
    let (mut bench, [a]) = Bench::with_clients();
    let mut creation = bench.creation(CreateForm::Create2, "/n", 0);
    creation.data = None;
    bench.created(a, creation).expect("nothing is in the way");
    let stat = bench.stat("/n");
    assert_eq!((bench.get(a, "/n", false), stat.data_length), (Ok(Answer::Data(None, stat)), 0));
    bench.set(a, "/n", "", -1).expect("any version");
    assert!(matches!(bench.get(a, "/n", false), Ok(Answer::Data(Some(data), _)) if data.is_empty()));
}

#[test]
fn a_path_is_checked_as_late_as_zookeeper_does() {
    let (mut bench, [a]) = Bench::with_clients();
    bench.made(a, &["/p"]);
    for (path, flags, expected) in [
        ("", 0, Err(Code::BadArguments)),
        ("p", 0, Err(Code::BadArguments)),
        ("/\0", 0, Err(Code::BadArguments)),
        ("//", 0, Err(Code::BadArguments)),
        ("/p/", 0, Err(Code::BadArguments)),
        ("/🔒", 0, Err(Code::BadArguments)),
        ("p/x", 0, Err(Code::NoNode)),
        ("/no/", 0, Err(Code::NoNode)),
        ("/no//x", 0, Err(Code::NoNode)),
        ("/", 0, Err(Code::NodeExists)),
        ("/p/", 2, Ok("/p/0000000000".to_owned())),
        ("/p/.", 2, Ok("/p/.0000000001".to_owned())),
        ("/p/..", 2, Ok("/p/..0000000002".to_owned())),
        ("/p//", 2, Err(Code::NoNode)),
    ] {
        assert_eq!(bench.create(a, path, flags), expected, "{path:?} {flags}");
    }
}

#[test]
fn deletes_look_less_closely_at_paths_and_sets_more() {
    let (mut bench, [a]) = Bench::with_clients();
    bench.made(a, &["/a"]);
    for path in ["", "a", "/\0", "/", "/zookeeper", "/zookeeper/quota", "/zookeeper/config"] {
        assert_eq!(bench.delete(a, path), refused(Code::BadArguments), "{path:?}");
    }
    for path in ["/a/", "//", "/no", "/no/x"] {
        assert_eq!(bench.delete(a, path), refused(Code::NoNode), "{path:?}");
    }
    for path in ["", "a", "/a/", "//"] {
        assert_eq!(bench.set(a, path, "", -1), refused(Code::BadArguments), "{path:?}");
        assert_eq!(bench.set_acl(a, path, acl(&[]), -1), refused(Code::BadArguments), "{path:?}");
    }
    assert_eq!(
        bench.set_acl(a, "/no", acl(&[]), -1),
        refused(Code::InvalidAcl),
        "before the znode is looked for"
    );
}

#[test]
fn the_mode_comes_first_and_the_ephemeral_parent_last() {
    let (mut bench, [a]) = Bench::with_clients();
    bench.create(a, "/e", 1).expect("nothing is in the way");
    let mut creation = bench.creation(CreateForm::Create, "bad", 7);
    creation.acl = acl(&[]);
    assert_eq!(bench.created(a, creation.clone()), Err(Code::BadArguments));
    creation.flags = 0;
    creation.path = bench.path("/no/x");
    assert_eq!(bench.created(a, creation), Err(Code::InvalidAcl));
    for flags in 0..=4 {
        assert_eq!(bench.create(a, "/e/c", flags), Err(Code::NoChildrenForEphemerals), "{flags}");
    }
}

#[test]
fn versions_match_or_are_minus_1() {
    let (mut bench, [a]) = Bench::with_clients();
    bench.made(a, &["/n"]);
    for (version, fits) in [(0, true), (0, false), (-2, false), (1, true), (-1, true)] {
        assert_eq!(bench.set(a, "/n", "", version).is_ok(), fits, "{version}");
    }
    assert_eq!(bench.stat("/n").version, 3);
    let open = || acl(&[(31, "world", "anyone")]);
    assert_eq!(bench.set_acl(a, "/n", open(), 3), refused(Code::BadVersion), "its version is another");
    bench.set_acl(a, "/n", open(), 0).expect("the first change");
    assert_eq!((bench.stat("/n").aversion, bench.stat("/n").mzxid), (1, 7));
}

#[test]
fn a_full_znode_stays_but_a_wrong_version_is_told_first() {
    let (mut bench, [a]) = Bench::with_clients();
    bench.made(a, &["/p", "/p/c"]);
    let path = bench.path("/p");
    assert_eq!(bench.ask(a, Ask::Delete { path, version: 5 }), refused(Code::BadVersion));
    assert_eq!(bench.delete(a, "/p"), refused(Code::NotEmpty));
}

#[test]
fn numbers_count_what_was_ever_created_below_and_start_again_with_the_parent() {
    let (mut bench, [a]) = Bench::with_clients();
    bench.made(a, &["/p", "/p/plain", "/p/n-0000000002"]);
    assert_eq!(bench.create(a, "/p/n-", 2), Err(Code::NodeExists), "the counter does not move");
    assert_eq!(bench.create(a, "/p/n-", 2), Err(Code::NodeExists));
    assert_eq!(bench.create(a, "/p/m-", 2), Ok("/p/m-0000000002".into()));
    bench.delete(a, "/p/m-0000000002").expect("it is empty");
    assert_eq!(bench.create(a, "/p/m-", 3), Ok("/p/m-0000000003".into()));
    for child in ["plain", "n-0000000002", "m-0000000003"] {
        bench.delete(a, &format!("/p/{child}")).expect("it is empty");
    }
    bench.delete(a, "/p").expect("it is empty");
    bench.made(a, &["/p"]);
    assert_eq!(bench.create(a, "/p/m-", 2), Ok("/p/m-0000000000".into()));
    assert_eq!(bench.create(a, "/r", 2), Ok("/r0000000002".into()), "the root counts too");
}

#[test]
fn at_the_end_of_the_numbers_only_what_is_pending_goes_on() {
    let (mut bench, [a]) = Bench::with_clients();
    bench.made(a, &["/p"]);
    let txn = {
        let (path, data, form) = (bench.path("/p/x"), None, CreateForm::Create);
        bench.path("/p");
        bench.zxid += 1;
        let (acl, life) = (Acl::Open, crate::txn::Life::Persistent);
        let change = crate::txn::Change::Create { form, path, data, acl, life, creations: i32::MAX };
        bench.order(SessionId(1), Body::One(change))
    };
    bench.commit(&txn).expect("it is applied as it is");
    let ask = Ask::Create(bench.creation(CreateForm::Create, "/p/n", 2).into());
    let pipelined = [bench.propose(a, &ask), bench.propose(a, &ask), bench.propose(a, &ask)];
    let made: Vec<String> = pipelined
        .iter()
        .map(|txn| match bench.commit(txn) {
            Ok(Answer::Path(path)) => bench.paths.text(path).to_owned(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(made, ["/p/n2147483647", "/p/n-2147483648", "/p/n-2147483647"]);
    assert_eq!(bench.create(a, "/p/n", 2), Err(Code::NodeExists), "the applied count stuck");
    bench.delete(a, "/p/n2147483647").expect("it is empty");
    assert_eq!(bench.create(a, "/p/n", 2), Ok("/p/n2147483647".into()));
}

#[test]
fn a_multi_sees_its_own_changes_and_those_that_are_pending() {
    let (mut bench, [a]) = Bench::with_clients();
    let first = Ask::Create(bench.creation(CreateForm::Create, "/p", 0).into());
    let first = bench.propose(a, &first);
    let (n, version) = (bench.path("/p/n-0000000000"), -1);
    let ops = vec![
        AskOp::Create(bench.creation(CreateForm::Create2, "/p/n-", 2)),
        AskOp::Set { path: n, data: None, version: 0 },
        AskOp::Check { path: n, version: 1 },
        AskOp::Delete { path: n, version },
        AskOp::Create(bench.creation(CreateForm::Container, "/p/c", 4)),
    ];
    let second = bench.propose(a, &Ask::Multi(ops));
    bench.commit(&first).expect("nothing is in the way");
    let Ok(Answer::Multi(answers)) = bench.commit(&second) else { panic!("nothing is in the way") };
    let c = bench.path("/p/c");
    let stat = bench.stat("/p/c");
    assert!(matches!(answers[1], OpAnswer::Set(Stat { version: 1, mzxid: 3, .. })));
    assert_eq!(answers[0], OpAnswer::Created(n), "of create2, too, only the path is told");
    assert_eq!(
        answers[2..],
        [OpAnswer::Checked, OpAnswer::Deleted, OpAnswer::CreatedWith(CreateForm::Container, c, stat)]
    );
    assert_eq!((stat.czxid, stat.ephemeral_owner), (3, SessionId(0)));
}

#[test]
fn a_multi_that_fails_leaves_nothing_behind_not_even_a_number() {
    let (mut bench, [a]) = Bench::with_clients();
    bench.made(a, &["/p"]);
    let before = bench.propose_create(a, "/p/n-", 2);
    let gone = bench.path("/no");
    let ops = vec![
        AskOp::Create(bench.creation(CreateForm::Create, "/p/n-", 2)),
        AskOp::Delete { path: gone, version: -1 },
        AskOp::Check { path: gone, version: -1 },
    ];
    let failed = bench.propose(a, &Ask::Multi(ops));
    let after = bench.propose_create(a, "/p/n-", 2);
    bench.commit(&before).expect("nothing is in the way");
    let refusal = Refusal::Multi { index: 1, of: 3, code: Code::NoNode };
    assert_eq!(bench.commit(&failed), Err(refusal));
    bench.commit(&after).expect("nothing is in the way");
    assert_eq!(bench.names(a, "/p"), ["n-0000000001", "n-0000000000"]);
    assert_eq!(bench.replica.applied, after.zxid, "the refused one took a zxid");
}

#[test]
fn a_multi_takes_writes_and_checks_only() {
    let (mut bench, [a]) = Bench::with_clients();
    let ops = vec![AskOp::Create(bench.creation(CreateForm::Create, "/x", 0)), AskOp::Other(4)];
    assert_eq!(bench.ask(a, Ask::Multi(ops)), refused(Code::MarshallingError));
    assert_eq!(bench.ask(a, Ask::Multi(vec![])), Ok(Answer::Multi(vec![])));
    assert_eq!(bench.ask(a, Ask::Malformed(1)), refused(Code::MarshallingError));
    assert_eq!(bench.ask(a, Ask::Reconfig), refused(Code::ReconfigDisabled));
    assert_eq!((bench.replica.applied, bench.replica.tree.len()), (5, 4), "each took a zxid");
}

#[test]
fn in_a_multi_the_mode_makes_the_operation() {
    let (mut bench, [a]) = Bench::with_clients();
    let mut container = vec![AskOp::Create(bench.creation(CreateForm::Create, "/c", 4))];
    let Ok(Answer::Multi(answers)) = bench.ask(a, Ask::Multi(container.clone())) else {
        panic!("it is made")
    };
    assert!(matches!(answers[..], [OpAnswer::CreatedWith(CreateForm::Container, ..)]));
    container[0] = AskOp::Create(bench.creation(CreateForm::Create, "/t", 5));
    assert_eq!(bench.ask(a, Ask::Multi(container)), refused(Code::MarshallingError));
}

#[test]
fn a_time_to_live_needs_the_switch_and_forty_bits() {
    let (mut bench, [a]) = Bench::with_clients();
    let mut creation = bench.creation(CreateForm::Ttl, "/t", 5);
    for (ttl, flags, expected) in [
        (0, 5, Err(Code::BadArguments)),
        (1 << 40, 5, Err(Code::BadArguments)),
        (100, 0, Err(Code::BadArguments)),
        ((1 << 40) - 1, 5, Ok("/t".to_owned())),
        (100, 6, Ok("/t0000000001".to_owned())),
    ] {
        (creation.ttl, creation.flags) = (ttl, flags);
        assert_eq!(bench.created(a, creation.clone()), expected, "{ttl} {flags}");
    }
    assert_eq!(bench.create(a, "/u", 5), Err(Code::BadArguments), "a plain create has no time");
    assert_eq!(bench.stat("/t").ephemeral_owner, SessionId(0));
    bench.made(a, &["/t/child"]);
    bench.settings.extended_types = false;
    assert_eq!(bench.created(a, creation), Err(Code::Unimplemented));
}

#[test]
fn containers_are_reaped_when_their_last_child_has_gone_and_times_when_they_are_over() {
    let (mut bench, [a]) = Bench::with_clients();
    for path in ["/used", "/full", "/fresh"] {
        let creation = bench.creation(CreateForm::Container, path, 4);
        bench.created(a, creation).expect("nothing is in the way");
    }
    bench.create(a, "/plain", 4).expect("nothing is in the way");
    bench.made(a, &["/used/c", "/full/c", "/plain/c"]);
    bench.delete(a, "/used/c").expect("it is empty");
    bench.delete(a, "/plain/c").expect("it is empty");
    let mut timed = bench.creation(CreateForm::Ttl, "/timed", 5);
    timed.ttl = 100;
    bench.created(a, timed).expect("nothing is in the way");
    let (used, full, timed) = (bench.path("/used"), bench.path("/full"), bench.path("/timed"));
    assert_eq!(bench.replica.reapable(1100), [used], "a plain create makes no container");
    assert_eq!(bench.replica.reapable(1101), [used, timed]);
    for (path, expected) in
        [(used, Ok(Answer::Nothing)), (full, refused(Code::NotEmpty)), (used, refused(Code::NoNode))]
    {
        bench.zxid += 1;
        let body = bench.prep.reap(&bench.replica, bench.zxid, path, &bench.paths);
        let txn = bench.order(SessionId(0), body);
        assert_eq!(bench.commit(&txn), expected);
    }
}

#[test]
fn a_session_takes_its_ephemerals_along_in_the_order_of_javas_set() {
    let (mut bench, [a, b]) = Bench::with_clients();
    bench.made(a, &["/p"]);
    for name in ["e0", "e1", "e2"] {
        bench.create(b, &format!("/p/{name}"), 1).expect("nothing is in the way");
    }
    bench.create(a, "/mine", 1).expect("nothing is in the way");
    bench.create(b, "/left", 1).expect("nothing is in the way");
    bench.delete(a, "/left").expect("whoever may delete, may");
    bench.made(a, &["/left"]);
    assert_eq!(bench.close(2), ["/p/e0", "/p/e2", "/p/e1"], "recorded from a real server");
    assert_eq!((bench.stat("/p").cversion, bench.stat("/p").pzxid), (6, bench.replica.applied));
    assert!(
        bench.replica.sessions().any(|(known, _)| known == SessionId(1))
            && !bench.replica.sessions().any(|(known, _)| known == SessionId(2))
    );
    assert!(bench.stat("/left").czxid > 0 && bench.stat("/mine").czxid > 0);
}

#[test]
fn an_end_takes_what_is_pending_into_account() {
    let (mut bench, [a, b]) = Bench::with_clients();
    for path in ["/gone", "/again", "/stays", "/hers"] {
        bench.create(b, path, 1).expect("nothing is in the way");
    }
    let mut pending = Vec::new();
    for path in ["/gone", "/again", "/hers"] {
        let path = bench.path(path);
        pending.push(bench.propose(a, &Ask::Delete { path, version: -1 }));
    }
    for (who, path) in [(b, "/again"), (b, "/new"), (a, "/hers")] {
        pending.push(bench.propose_create(who, path, 1));
    }
    pending.push(bench.propose_close(2));
    let Body::Close { ephemerals, .. } = &pending[6].body else { panic!("an end is an end") };
    let mut listed: Vec<&str> = ephemerals.iter().map(|path| bench.paths.text(*path)).collect();
    listed.sort_unstable();
    assert_eq!(listed, ["/again", "/new", "/stays"]);
    for txn in pending {
        bench.commit(&txn).expect("nothing is in the way");
    }
    assert_eq!(bench.stat("/hers").ephemeral_owner, SessionId(1));
}

#[test]
fn behind_an_end_that_is_not_applied_the_parent_is_full_and_the_name_is_free() {
    let (mut bench, [a, b]) = Bench::with_clients();
    bench.made(a, &["/p"]);
    bench.create(b, "/p/e", 1).expect("nothing is in the way");
    let end = bench.propose_close(2);
    let path = bench.path("/p");
    let delete = bench.propose(a, &Ask::Delete { path, version: -1 });
    let create = bench.propose_create(a, "/p/e", 1);
    bench.commit(&end).expect("an end is not refused");
    assert_eq!(bench.commit(&delete), refused(Code::NotEmpty));
    bench.commit(&create).expect("the name is free");
    assert_eq!(bench.stat("/p/e").ephemeral_owner, SessionId(1));
}

#[test]
fn what_was_applied_is_pending_no_more() {
    let (mut bench, [a]) = Bench::with_clients();
    bench.made(a, &["/p"]);
    let txns = [bench.propose_create(a, "/p/a", 0), bench.propose_create(a, "/p/b", 0)];
    for txn in &txns {
        bench.commit(txn).expect("nothing is in the way");
    }
    // As after a restart: only the tree counts.
    bench.prep = Prep::default();
    assert_eq!(bench.create(a, "/p/n", 2), Ok("/p/n0000000002".into()));
}

#[test]
fn a_dead_session_is_told_so_after_the_mode_was_looked_at() {
    let (mut bench, [_]) = Bench::with_clients();
    let settings = bench.settings.clone();
    let why = |ask: &Ask| refused_for_session(ask, Code::SessionExpired, &settings);
    let bad = Ask::Create(bench.creation(CreateForm::Create, "bad", 9).into());
    assert_eq!(why(&bad), Some(Code::BadArguments.into()));
    let good = bench.creation(CreateForm::Create, "bad", 0);
    assert_eq!(why(&Ask::Create(good.clone().into())), Some(Code::SessionExpired.into()));
    let refusal = Refusal::Multi { index: 0, of: 1, code: Code::SessionExpired };
    assert_eq!(why(&Ask::Multi(vec![AskOp::Create(good)])), Some(refusal));
    assert_eq!(why(&Ask::Multi(vec![])), None, "nothing in it looks at the session");
}

#[test]
fn trees_with_a_limit_are_counted_without_a_trace() {
    let (mut bench, [a]) = Bench::with_clients();
    bench.made(a, &["/q", "/q/old", "/zookeeper/quota/q", "/zookeeper/quota/q/zookeeper_limits"]);
    let stats = "/zookeeper/quota/q/zookeeper_stats";
    bench.made(a, &[stats, "/q/a", "/other"]);
    bench.set(a, "/q/a", "four", -1).expect("any version");
    bench.delete(a, "/q/old").expect("it is empty");
    let before = bench.stat(stats);
    let counted = Some(b"count=2,bytes=4".as_slice().into());
    assert_eq!(bench.get(a, stats, false), Ok(Answer::Data(counted, before)));
    assert_eq!((before.version, before.mzxid), (0, before.czxid));
}

#[test]
fn effects_are_told_once_and_the_rest_apply_in_silence() {
    let (mut bench, [a]) = Bench::with_clients();
    let txn = bench.propose_create(a, "/n", 0);
    let mut behind = bench.replica.clone();
    bench.seen.0.clear();
    bench.commit(&txn).expect("nothing is in the way");
    assert_eq!(bench.seen.0, ["Txn", "Created"]);
    bench.seen.0.clear();
    let mut env = env!(bench);
    env.first = false;
    behind.apply(&txn, &mut env).expect("it is the same");
    assert_eq!(bench.seen.0, ["Applied"]);
    assert_eq!(bench.replica.tree.len(), behind.tree.len());
}
