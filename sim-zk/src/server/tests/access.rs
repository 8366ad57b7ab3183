//! Access control: the permission that each operation needs, on which znode, and the order of checks.

use super::*;
use crate::acl::perms;

const U1: &str = "u1:fpT/y03U+EjItKZOSLGvjnJlyng=";

fn all_but(bit: i32) -> Acl {
    acl(&[(perms::ALL & !bit, "world", "anyone")])
}

impl Bench {
    fn guarded(&mut self, conn: ConnId, path: &str, acl: Acl) {
        let mut creation = self.creation(CreateForm::Create, path, 0);
        creation.acl = acl;
        self.created(conn, creation).expect("nothing is in the way");
    }

    fn prove(&mut self, conn: ConnId, auth: &str) {
        let proven = self.replica.authenticate(conn, "digest", auth.as_bytes(), &self.settings);
        proven.expect("a digest is never refused");
    }
}

#[test]
fn each_operation_needs_its_permission() {
    let (mut bench, [a]) = Bench::with_clients();
    for (path, bit) in
        [("/r", perms::READ), ("/w", perms::WRITE), ("/c", perms::CREATE), ("/d", perms::DELETE)]
    {
        bench.guarded(a, path, all_but(bit));
    }
    bench.made(a, &["/d/x"]);
    let r = bench.path("/r");
    let denied = refused(Code::NoAuth);
    assert_eq!(bench.get(a, "/r", false), denied);
    assert_eq!(bench.children(a, "/r", false), denied);
    assert_eq!(bench.ask(a, Ask::CountDescendants { path: r }), denied);
    assert_eq!(bench.ask(a, Ask::Check { path: r, version: -1 }), denied);
    assert_eq!(bench.set(a, "/w", "", 9), denied, "before the version");
    assert_eq!(bench.create(a, "/c/", 0), Err(Code::NoAuth), "before the path");
    assert_eq!(bench.delete(a, "/d/no"), denied, "of the parent, before the znode is looked for");
    bench.exists(a, "/r", false).expect("exists needs nothing");
}

#[test]
fn a_znodes_own_list_does_not_save_it_and_sessions_end_whatever_it_says() {
    let (mut bench, [a, b]) = Bench::with_clients();
    bench.guarded(a, "/n", acl(&[(perms::READ, "world", "anyone")]));
    bench.delete(b, "/n").expect("the parent allows it");
    bench.guarded(a, "/p", all_but(0));
    bench.create(b, "/p/e", 1).expect("nothing is in the way");
    bench.set_acl(a, "/p", all_but(perms::DELETE), -1).expect("nothing is in the way");
    assert_eq!(bench.delete(b, "/p/e"), refused(Code::NoAuth));
    assert_eq!(bench.close(2), ["/p/e"]);
}

#[test]
fn the_configuration_may_only_be_read() {
    let (mut bench, [a]) = Bench::with_clients();
    assert_eq!(bench.stat("/zookeeper/config").aversion, -1);
    assert_eq!(bench.set(a, "/zookeeper/config", "", -1), refused(Code::NoAuth));
    assert_eq!(bench.create(a, "/zookeeper/config/x", 0), Err(Code::NoAuth));
    bench.made(a, &["/zookeeper/x", "/zookeeper/quota/x"]);
    let path = bench.path("/zookeeper/config");
    let Ok(Answer::Acl(found, _)) = bench.ask(a, Ask::GetAcl { path }) else {
        panic!("everybody may read it")
    };
    assert_eq!(found, acl(&[(perms::READ, "world", "anyone")]));
}

#[test]
fn whoever_may_not_change_a_list_sees_it_masked() {
    let (mut bench, [a, b]) = Bench::with_clients();
    bench.guarded(a, "/n", acl(&[(perms::READ, "world", "anyone"), (perms::ALL, "digest", U1)]));
    let path = bench.path("/n");
    let seen = |bench: &mut Bench| match bench.ask(b, Ask::GetAcl { path }) {
        Ok(Answer::Acl(found, _)) => found.entries()[1].id.to_string(),
        other => panic!("no list: {other:?}"),
    };
    assert_eq!(seen(&mut bench), "u1:x");
    bench.prove(b, "u1:p1");
    assert_eq!(seen(&mut bench), U1);
    bench.guarded(a, "/hidden", all_but(perms::READ | perms::ADMIN));
    let path = bench.path("/hidden");
    assert_eq!(bench.ask(b, Ask::GetAcl { path }), refused(Code::NoAuth));
}

#[test]
fn identities_belong_to_the_connection() {
    let (mut bench, [a]) = Bench::with_clients();
    bench.prove(a, "u1:p1");
    bench.guarded(a, "/n", acl(&[(perms::ALL, "auth", "")]));
    bench.get(a, "/n", false).expect("it is ours");
    bench.forget(a);
    bench.replica.welcome(ConnId(9), SessionId(1));
    assert_eq!(bench.get(ConnId(9), "/n", false), refused(Code::NoAuth));
    let clients = vec![("ip".into(), "127.0.0.1".into())];
    assert_eq!(bench.ask(ConnId(9), Ask::WhoAmI), Ok(Answer::Clients(clients)));
}

#[test]
fn super_may_do_everything_and_a_strange_scheme_nothing() {
    let (mut bench, [a, b]) = Bench::with_clients();
    bench.settings.super_digest = Some("super:xQJmxLMiHGwaqBvst5y6rkB6HQs=".into());
    bench.guarded(a, "/n", acl(&[(0, "world", "anyone")]));
    assert_eq!(bench.get(b, "/n", false), refused(Code::NoAuth));
    bench.prove(b, "super:admin");
    bench.set(b, "/n", "", -1).expect("super may");
    let strange = bench.replica.authenticate(b, "sasl", b"", &bench.settings);
    assert_eq!(strange, Err(Code::AuthFailed));
}

#[test]
fn a_pending_change_of_a_list_is_not_looked_at_yet() {
    let (mut bench, [a]) = Bench::with_clients();
    bench.made(a, &["/n"]);
    let path = bench.path("/n");
    let lock = Ask::SetAcl { path, acl: all_but(perms::WRITE), version: -1 };
    let set = Ask::Set { path, data: None, version: -1 };
    let txns = [bench.propose(a, &lock), bench.propose(a, &set)];
    for txn in &txns {
        bench.commit(txn).expect("it was checked against the list before");
    }
    assert_eq!(bench.ask(a, set), refused(Code::NoAuth));
}
