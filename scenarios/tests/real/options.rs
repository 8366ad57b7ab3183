//! What a session can be opened with, on real servers: TLS, SASL, credentials, an access list, a path below which
//! everything takes place; and what is never used, whatever is asked for.
//!
//! Where none is installed the tests say so and pass, unless `ZK_REQUIRE_REAL=1` asks for them.

use crate::common::proxy::Proxy;
use crate::common::secure::{Authority, KnowsUser, Secure, USER};
use crate::common::site::Real;
use crate::common::{connected, open, run, run_on, server_with};
use futures_util::FutureExt;
use std::time::Duration;
use zk_client::{Acl, Client, Options, Sasl, Tls};
use zk_real::{Server, Settings};
use zk_recipes::zk::{CreateMode, ErrorKind, Event, EventKind, Op, Over, State, ZooKeeper};
use zk_recipes::{Config, ConfigOptions, Lock, LockOptions, Released};
use zk_suite::Site;

const TICK: Duration = Duration::from_millis(200);
const SESSION: Duration = Duration::from_secs(2);

/// For many sessions, one after the other, also on a busy machine.
const BUSY: Duration = Duration::from_secs(10);

/// For sessions that cannot be had.
const SHORT: Duration = Duration::from_millis(400);

/// For what must be quick: no session that is asked for so long may have to run into its limit.
const LONG: Duration = Duration::from_secs(600);

#[test]
fn every_rule_of_the_suite_holds_over_tls_below_a_path_behind_an_access_list() {
    let Some(secure) = Secure::start(TICK) else { return };
    let options = Options::new(BUSY).with_tls(secure.tls()).with_acl(Acl::creator());
    assert_eq!(broken_rules(&secure.server, options), [""; 0]);
}

#[test]
fn every_rule_of_the_suite_holds_with_sasl_below_a_path_behind_an_access_list() {
    let Some(knows) = KnowsUser::start(TICK) else { return };
    let (user, password) = USER;
    let options = Options::new(BUSY).with_sasl(Sasl::digest_md5(user, password)).with_acl(Acl::creator());
    assert_eq!(broken_rules(&knows.server, options), [""; 0]);
}

#[test]
fn every_rule_of_the_suite_holds_with_sasl_over_tls() {
    let Some(both) = Secure::start_with_user(TICK) else { return };
    let (user, password) = USER;
    let sasl = || Sasl::digest_md5(user, password);
    let options = Options::new(BUSY).with_tls(both.tls()).with_sasl(sasl()).with_acl(Acl::creator());
    assert_eq!(broken_rules(&both.server, options), [""; 0]);
    // The answer to SASL may overtake the one that opens the session if both are asked for at once (Netty).
    let address = both.server.address();
    run(async {
        for number in 0..200 {
            let options = Options::new(BUSY).with_tls(both.tls()).with_sasl(sasl());
            let zk = open(&address, options).await;
            assert_eq!(zk.status().connection, 1, "session {number}");
            assert_eq!(zk.close(BUSY).await, Ok(()), "session {number}");
        }
        let wrong = Options::new(LONG).with_tls(both.tls()).with_sasl(Sasl::digest_md5(user, "water"));
        assert!(Client::open(&address, wrong).await.unwrap_err().is_auth_failed());
    });
}

/// The rules that do not hold below a path, with an access list that keeps others out.
fn broken_rules(server: &Server, options: Options) -> Vec<&'static str> {
    let address = server.address();
    run(async {
        let founder = open(&address, Options::new(SESSION)).await;
        founder.create("/app", b"", CreateMode::Persistent).await.unwrap();
        let broken = Real::new(address, "/app", options).broken_rules().await;
        let made = founder.children("/app").await.unwrap().names;
        assert!(made.iter().any(|name| name.starts_with("suite-")), "it took place below the path: {made:?}");
        let nobody = founder.children(&format!("/app/{}", made[0])).await;
        assert_eq!(nobody.err(), Some(ErrorKind::NoAuth.into()), "and behind the access list");
        broken
    })
}

#[test]
fn who_cannot_be_trusted_is_not_spoken_with() {
    let Some(secure) = Secure::start(TICK) else { return };
    let address = secure.server.address();
    let stranger = Authority::new("stranger");
    let (certificate, key) = stranger.signs("client", &["127.0.0.1"]);
    let by_name = address.replace("127.0.0.1", "localhost");
    run(async {
        open(&address, Options::new(SESSION).with_tls(secure.tls())).await;
        open(&by_name, Options::new(SESSION)).await;
        let trusting = || Tls::trusting(&secure.authority.certificate);
        let own = secure.authority.signs("client", &["127.0.0.1"]);
        for (why, address, tls) in [
            ("the server's authority is a stranger", &address, Tls::trusting(&stranger.certificate)),
            ("the server's certificate is for another name", &by_name, secure.tls()),
            ("the client has no certificate", &address, trusting()),
            ("the client's authority is a stranger", &address, trusting().with_identity(certificate, key)),
            ("the server's is, and the client's is not", &address, {
                Tls::trusting(&stranger.certificate).with_identity(own.0, own.1)
            }),
        ] {
            let refused = Client::open(address, Options::new(SHORT).with_tls(tls)).await;
            assert_eq!(refused.err(), Some(ErrorKind::Unreachable.into()), "{why}");
        }
    });
}

#[test]
fn certificates_are_replaced_while_a_session_goes_on() {
    let Some(secure) = Secure::start(TICK) else { return };
    let proxy = Proxy::to(&secure.server.address());
    let (tls, stranger) = (secure.tls(), Authority::new("stranger"));
    run(async {
        let zk = open(proxy.address(), Options::new(BUSY).with_tls(tls.clone())).await;
        let bad = tls.replace(&Tls::trusting("no certificate"));
        assert!(bad.is_err_and(|e| e.is_bad_input()), "the former stay");
        tls.replace(&Tls::trusting(&stranger.certificate)).unwrap();
        assert!(zk.exists("/").await.is_ok(), "the connection goes on");
        proxy.cut();
        let lost = zk.status();
        while zk.status().is_connected() {
            zk.changed(lost).await;
        }
        assert_eq!(
            zk.exists("/").await,
            Err(ErrorKind::ConnectionLoss.into()),
            "a stranger is not spoken with"
        );
        tls.replace(&secure.tls()).unwrap();
        let status = connected(&zk).await;
        assert_eq!(status.connection, 2, "the session goes on with the certificates of now");
    });
}

#[test]
fn what_is_longer_than_usual_is_written_where_the_servers_take_it() {
    const LIMIT: usize = 4 << 20;
    let property = format!("jute.maxbuffer={LIMIT}");
    let Some(server) = server_with(TICK, Settings { properties: &[&property], lines: &[] }) else { return };
    let (address, persistent) = (server.address(), CreateMode::Persistent);
    run(async {
        let usual = open(&address, Options::new(BUSY)).await;
        let zk = open(&address, Options::new(BUSY).with_max_request_bytes(LIMIT)).await;
        let longest = LIMIT - 64 - "/data".len();
        let data = vec![7; longest + 1];
        assert!(usual.create("/data", &data[..2 << 20], persistent).await.is_err_and(|e| e.is_bad_input()));
        assert!(zk.create("/data", &data, persistent).await.is_err_and(|e| e.is_bad_input()));
        zk.create("/data", &data[1..], persistent).await.expect("the server takes it");
        assert_eq!(usual.get("/data").await.unwrap().data.len(), longest, "whoever reads it needs no option");

        let create =
            |n| Op::Create { path: format!("/{n}"), data: data[..1 << 20].to_vec(), mode: persistent };
        zk.multi((0..3).map(create).collect()).await.expect("a transaction, too");
        // Recipes ask the client for its limit.
        let config = Config::new(&zk, "/config", ConfigOptions::default()).unwrap();
        config.put(&data[..3 << 20]).await.expect("a value of three megabytes");
        let small = Config::new(&usual, "/config", ConfigOptions::default()).unwrap();
        assert!(small.put(&data[..3 << 20]).await.is_err_and(|e| e.is_bad_input()));
        assert_eq!((usual.status().connection, zk.status().connection), (1, 1), "no server hung up");
    });
    let short = Options::new(BUSY).with_max_request_bytes(1000);
    assert!(run(Client::open(&address, short)).is_err_and(|e| e.is_bad_input()));
}

#[test]
fn what_can_never_be_opened_is_refused_in_one_sentence() {
    let authority = Authority::new("authority");
    let tls = || Tls::trusting(&authority.certificate);
    let plain = || Options::new(LONG);
    for (address, options, why) in [
        ("127.0.0.1", plain().with_tls(Tls::trusting("no certificate")), "TLS: no good authorities: "),
        ("127.0.0.1", plain().with_tls(tls().with_identity("", "no key")), "TLS: no good identity of ours: "),
        ("zk_1!:2181/app", plain().with_tls(tls()), "\"zk_1!\" is no name and no address"),
        ("127.0.0.1:1,tcp+tls://127.0.0.1:2", plain(), "tcp+tls://127.0.0.1:2 wants TLS"),
        (
            "127.0.0.1",
            Options::new(Duration::MAX),
            "a session needs a timeout above zero and of 24 days at most",
        ),
        ("127.0.0.1", Options::new(Duration::ZERO), "a session needs a timeout above zero"),
    ] {
        let refused = run(Client::open(address, options)).unwrap_err();
        assert!(refused.is_bad_input() && refused.to_string().contains(why), "{refused}");
    }
}

#[test]
fn secrets_are_not_printed() {
    let (certificate, key) = Authority::new("authority").signs("client", &[]);
    let options = Options::new(SESSION)
        .with_auth("digest", "ann:secret")
        .with_sasl(Sasl::digest_md5("ann", "secret"))
        .with_tls(Tls::trusting(certificate.clone()).with_identity(certificate, key));
    let told = format!("{options:?}");
    assert!(told.contains("digest") && told.contains("ann") && told.contains("has_identity: true"), "{told}");
    assert!(!told.contains("secret") && !told.contains("PRIVATE KEY"), "{told}");
}

#[test]
fn credentials_that_are_refused_are_an_error_of_their_own_and_at_once() {
    let Some(knows) = KnowsUser::start(TICK) else { return };
    let address = knows.server.address();
    let plain = || Options::new(LONG);
    let (user, password) = USER;
    run(async {
        open(&address, Options::new(SESSION).with_sasl(Sasl::digest_md5(user, password))).await;
        for (why, options) in [
            ("a wrong password", plain().with_sasl(Sasl::digest_md5(user, "water"))),
            ("a user that is not known", plain().with_sasl(Sasl::digest_md5("stranger", "water"))),
            ("a scheme that the server does not have", plain().with_auth("nosuch", "ann")),
        ] {
            let refused = Client::open(&address, options).await.expect_err(why);
            assert!(
                refused.is_auth_failed() && refused.is_session_over() && !refused.is_denied(),
                "{why}: {refused}"
            );
            assert_eq!(refused.to_string(), "the session is over (authentication failed)");
        }
    });
}

#[test]
fn whatever_is_created_bears_the_access_list() {
    let Some(server) = crate::common::server(TICK) else { return };
    let address = server.address();
    let known = |password: &str| Options::new(SESSION).with_auth("digest", format!("ann:{password}"));
    run(async {
        let ann = open(&address, known("pw").with_acl(Acl::creator())).await;
        let made = creates_of_every_kind(&ann, "/closed").await;
        let (again, wrong) = (open(&address, known("pw")).await, open(&address, known("guess")).await);
        let stranger = open(&address, Options::new(SESSION)).await;
        for path in &made {
            assert!(again.get(path).await.is_ok(), "{path}: the same credentials");
            for zk in [&wrong, &stranger] {
                let denied = zk.get(path).await.unwrap_err();
                assert_eq!(
                    (&denied, denied.is_outcome_unknown()),
                    (&ErrorKind::NoAuth.into(), false),
                    "{path}"
                );
            }
        }
        let delete = Op::Delete { path: made[1].clone(), version: None };
        let denied = stranger.multi(vec![delete]).await.unwrap_err();
        assert!(
            denied.is_denied() && denied.refused_operation().is_some_and(|(index, _)| index == 0),
            "{denied}"
        );

        let nobody = open(&address, Options::new(SESSION).with_acl(Acl::creator())).await;
        let refused = nobody.create("/nobody", b"", CreateMode::Persistent).await.unwrap_err();
        assert!(
            refused == ErrorKind::InvalidAcl && refused.is_denied(),
            "there is no creator to speak of: {refused}"
        );

        let listed = Acl::of(&[("auth", "", "cdrwa"), ("world", "anyone", "r")]).unwrap();
        let ann = open(&address, known("pw").with_acl(listed)).await;
        for path in creates_of_every_kind(&ann, "/open").await {
            assert!(stranger.get(&path).await.is_ok(), "{path}: everybody may read");
            assert_eq!(
                stranger.set(&path, b"", None).await,
                Err(ErrorKind::NoAuth.into()),
                "{path}: and no more"
            );
        }
    });
}

/// Of every kind of znode one, by single requests and by transactions: their paths.
async fn creates_of_every_kind(zk: &Client, directory: &str) -> Vec<String> {
    let mut made = vec![zk.create(directory, b"", CreateMode::Persistent).await.unwrap().path];
    for (name, mode) in [
        ("p", CreateMode::Persistent),
        ("ps-", CreateMode::PersistentSequential),
        ("e", CreateMode::Ephemeral),
        ("es-", CreateMode::EphemeralSequential),
        ("c", CreateMode::Container),
    ] {
        made.push(zk.create(&format!("{directory}/{name}"), b"", mode).await.unwrap().path);
        let create = Op::Create { path: format!("{directory}/multi-{name}"), data: vec![], mode };
        for result in zk.multi(vec![create]).await.unwrap() {
            let zk_recipes::zk::OpResult::Created(path) = result else { panic!("a create was done") };
            made.push(path);
        }
    }
    made
}

#[test]
fn credentials_outlive_connections_and_what_is_dropped_meanwhile_is_cleaned_up() {
    let Some(server) = crate::common::server(TICK) else { return };
    let options = Options::new(SESSION).with_auth("digest", "ann:pw").with_acl(Acl::creator());
    run(async {
        let root = open(&server.address(), Options::new(SESSION).with_auth("digest", "ann:pw")).await;
        root.create("/app", b"", CreateMode::Persistent).await.unwrap();
        let site = Real::new(server.address(), "/app", options);
        let (a, b) = (site.open().await, site.open().await);
        let held = lock(&a).acquire().await.unwrap();
        assert!(held.path().starts_with("/locks/"), "paths begin below the path: {}", held.path());
        let waiting = Box::pin(waits(&b)).await;
        assert_eq!(root.children("/app/locks/a").await.unwrap().names.len(), 2);

        // Dropped while the connection is away: the duty is done with the next one, which knows the credentials as well.
        let cutting = site.cut(&b);
        cutting.await;
        drop(waiting);
        assert_eq!(
            b.close(Duration::from_secs(20)).await,
            Ok(()),
            "closing waits for what is to be cleaned up"
        );
        assert_eq!(root.children("/app/locks/a").await.unwrap().names.len(), 1);
        assert_eq!(held.release().await, Ok(Released::Clean));
    });
}

fn lock(zk: &Client) -> Lock<Client> {
    Lock::new(zk, "/locks/a", LockOptions::default()).unwrap()
}

/// Stands in line for the lock, behind somebody else.
async fn waits(zk: &Client) -> impl Future<Output = ()> + use<> {
    let lock = lock(zk);
    let mut waiting = Box::pin(async move { drop(lock.acquire().await) });
    while lock_contenders(zk).await < 2 {
        assert!((&mut waiting).now_or_never().is_none(), "somebody else has it");
    }
    waiting
}

async fn lock_contenders(zk: &Client) -> usize {
    lock(zk).contenders().await.unwrap().len()
}

/// A reconnect hands the watches back before the server knows the user again: the changes in between are made while the
/// rest of the authentication is on its way.
#[test]
fn no_watch_is_lost_while_a_user_is_recognized() {
    const SET_WATCHES: i32 = 101;
    let Some(knows) = KnowsUser::start(TICK) else { return };
    let (user, password) = USER;
    let options = Options::new(BUSY).with_sasl(Sasl::digest_md5(user, password)).with_acl(Acl::creator());
    run(async {
        let site = Real::new(knows.server.address(), "", options);
        let (zk, other) = (site.open().await, site.open().await);
        let persistent = CreateMode::Persistent;
        for path in ["/set", "/gone", "/grown", "/cut", "/still"] {
            zk.create(path, b"", persistent).await.unwrap();
        }
        let (_, set) = zk.get_watch("/set").await.unwrap();
        let (_, gone) = zk.exists_watch("/gone").await.unwrap();
        let (_, made) = zk.exists_watch("/made").await.unwrap();
        let (_, grown) = zk.children_watch("/grown").await.unwrap();
        let (_, cut) = zk.children_watch("/cut").await.unwrap();
        let (_, mut still) = zk.get_watch("/still").await.unwrap();

        site.with_way(&zk, |way| way.hold_behind(SET_WATCHES));
        site.cut(&zk).await;
        site.with_way(&zk, Proxy::wait_until_held);
        other.set("/set", b"", None).await.unwrap();
        other.delete("/gone", None).await.unwrap();
        other.create("/made", b"", persistent).await.unwrap();
        other.create("/grown/child", b"", persistent).await.unwrap();
        other.delete("/cut", None).await.unwrap();
        site.with_way(&zk, Proxy::release);

        for (watch, kind, path) in [
            (set, EventKind::NodeDataChanged, "/set"),
            (gone, EventKind::NodeDeleted, "/gone"),
            (made, EventKind::NodeCreated, "/made"),
            (grown, EventKind::NodeChildrenChanged, "/grown"),
            (cut, EventKind::NodeDeleted, "/cut"),
        ] {
            let event =
                tokio::time::timeout(BUSY, watch).await.unwrap_or_else(|_| panic!("{path}: never told"));
            assert_eq!(event, Ok(Event { kind, path: path.to_owned() }));
        }
        assert!((&mut still).now_or_never().is_none(), "nothing was done to it");
        site.cut(&zk).await;
        other.set("/still", b"", None).await.unwrap();
        assert_eq!(still.await.unwrap().path, "/still");
    });
}

#[test]
fn a_server_that_only_reads_is_never_used() {
    // Without local sessions it would refuse those, too, that are content with a server that only reads.
    let (properties, lines) = (&["readonlymode.enabled=true"], &["localSessionsEnabled=true"]);
    let Some(mut servers) = crate::common::ensemble_with(3, TICK, Settings { properties, lines }) else {
        return;
    };
    let options = Options::new(Duration::from_secs(4));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let survivor = servers.servers()[0].address();
    let zk = run_on(&runtime, open(&survivor, options));
    let connected = zk.status();
    for server in &mut servers.servers_mut()[1..] {
        server.kill().unwrap();
    }
    wait_until_it_only_reads(&servers.servers()[0]);
    run_on(&runtime, async {
        let refused = Client::open(&survivor, Options::new(SESSION)).await;
        assert_eq!(refused.err(), Some(ErrorKind::Unreachable.into()), "no session is opened");
        assert!(zk.get("/").await.is_err(), "it is not read from");
        let over = zk.changed(connected).await;
        assert!(over.connection == 1 && over.state != State::Connected, "{over:?}");
        assert_eq!(
            zk.close(SESSION).await,
            Err(ErrorKind::ConnectionLoss.into()),
            "it cannot be closed there"
        );
        assert_eq!(
            (zk.status().over(), zk.status().connection),
            (Some(ErrorKind::SessionOver(Over::Closed).into()), 1)
        );
    });
}

fn wait_until_it_only_reads(server: &Server) {
    let reads = (0..1000).any(|_| {
        #[expect(
            clippy::disallowed_methods,
            reason = "a server tells nobody when it begins to serve readers only"
        )]
        std::thread::sleep(Duration::from_millis(10));
        server.ask("isro").is_ok_and(|answer| answer.trim() == "ro")
    });
    assert!(reads, "a server without others serves readers");
}
