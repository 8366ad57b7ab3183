//! The sessions of a supervisor: opened again, shared, closed, and what they cost.

use super::*;

#[test]
fn work_of_a_session_is_dropped_with_it_and_its_value_ends_the_call() {
    play(|stage| async move {
        let a = Service::new(&stage, "a");
        let (supervisor, told) = (a.supervisor.clone(), a.told.clone());
        let ran = a.runs(async move {
            let work = async |session: Held<Session<SimClient>>| {
                told.says(format!("session {}", session.number()));
                session.create("/seen", b"", zk_recipes::zk::CreateMode::Persistent).await.ok();
                match session.number() {
                    1 => pending().await,
                    number => Ok::<_, Error>(number),
                }
            };
            supervisor.run("looks", work).await
        });
        a.is_told(1).await;
        a.expires();
        assert!(matches!(ran.await, Ok(2)));
    });
}

#[test]
fn permits_are_held_again_in_the_next_session_with_a_larger_token() {
    play(|stage| async move {
        let a = Service::new(&stage, "a");
        let (supervisor, told) = (a.supervisor.clone(), a.told.clone());
        let ran = a.runs(async move {
            let acquire = |zk: SimClient| {
                let slots = Semaphore::new(&zk, "/slots", 2, SemaphoreOptions::default());
                async move { slots?.acquire(2).await }
            };
            let first = AtomicI64::new(0);
            let work = async |held: Held<Guard<SimClient, Permits>>| {
                told.says(format!("token {}", held.token()));
                match first.swap(held.token(), Ordering::Relaxed) {
                    0 => pending().await,
                    before => Ok::<_, Error>((before, held.token())),
                }
            };
            supervisor.keep("slots", acquire, work).await
        });
        a.is_told(1).await;
        a.expires();
        let (before, now) = ran.await.expect("its work is done");
        assert!(before < now, "{before:#x} and {now:#x}");
    });
}

/// Opens no session before its last attempt.
struct Fails {
    connector: Connector,
    left: AtomicUsize,
    error: ErrorKind,
}

impl Connect for Fails {
    type Zk = SimClient;

    fn open(&self) -> impl Future<Output = Result<SimClient, Error>> + Send + use<> {
        let left = self.left.load(Ordering::Relaxed);
        self.left.store(left.saturating_sub(1), Ordering::Relaxed);
        let opening = if left > 0 { Err(self.error.clone()) } else { Ok(self.connector.open()) };
        async move { opening?.await }
    }

    fn sleep(&self, by: Duration) -> impl Future<Output = ()> + Send + use<> {
        self.connector.sleep(by)
    }

    fn random(&self) -> u64 {
        u64::MAX
    }
}

#[test]
fn sessions_are_tried_again_at_growing_intervals_until_the_policy_gives_up_or_nothing_can_help() {
    play(|stage| async move {
        let process = stage.sim.process("a");
        let supervisor = |left, error| {
            let fails = Fails { connector: process.connector(TIMEOUT), left: AtomicUsize::new(left), error };
            Supervisor::new(fails)
        };
        let backoff = Backoff { first: Duration::from_secs(1), longest: Duration::from_secs(4) };
        let policy = Policy::default().with_backoff(backoff);
        let begun = stage.sim.now();
        let patient = supervisor(4, ErrorKind::Unreachable).with_policy(policy.clone());
        let session = patient.session().await.expect("the fifth attempt succeeds");
        let took = stage.sim.now().since(begun);
        assert!(
            (Duration::from_secs(11)..Duration::from_secs(12)).contains(&took),
            "1 + 2 + 4 + 4: {took:?}"
        );
        assert_eq!(session.number(), 1);
        let hasty = supervisor(4, ErrorKind::Unreachable).with_policy(policy.clone().with_max_failures(2));
        assert!(matches!(hasty.session().await, Err(Ended::NoSession(error)) if error.is_unreachable()));
        let refused = supervisor(1, ErrorKind::SessionOver(Over::AuthFailed)).with_policy(policy);
        assert!(matches!(refused.session().await, Err(Ended::NoSession(error)) if error.is_auth_failed()));
    });
}

#[test]
fn a_hundred_calls_open_one_session_and_the_last_of_them_ends_the_attempt() {
    play(|stage| async move {
        let a = Service::new(&stage, "a");
        let mut calls: Vec<_> = (0..100).map(|_| Box::pin(a.supervisor.session())).collect();
        for call in &mut calls {
            assert!(call.now_or_never().is_none());
        }
        drop(calls);
        let first = a.supervisor.session().await.expect("another attempt");
        let second = a.supervisor.session().await.expect("the same");
        assert_eq!((first.zk().session(), a.supervisor.number()), (second.zk().session(), 1));
    });
}

/// Everything that a supervisor keeps, at once.
async fn keeps_everything(supervisor: Supervisor<Connector>) {
    let work = async |_| pending::<Result<(), Error>>().await;
    let lead = supervisor.lead(OFFICE, ElectionOptions::default(), work);
    let work = async |_| pending::<Result<(), Error>>().await;
    let hold = supervisor.hold("/office-lock", LockOptions::default(), work);
    let join = |zk: SimClient| {
        let group = Group::new(&zk, "/office-staff", GroupOptions::default().with_if_taken(IfTaken::Wait));
        async move { group?.join(Some("a"), b"").await }
    };
    let serve = supervisor.serve("member a", join);
    let latch = supervisor.latch("/office-latch", ElectionOptions::default());
    let work = async |_| pending::<Result<(), Error>>().await;
    let run = supervisor.run("runs", work);
    let _ = join5(lead, hold, serve, latch.run(), run).await;
}

#[test]
fn calls_dropped_at_any_moment_give_back_what_they_held() {
    play(|stage| async move {
        let a = Service::new(&stage, "a");
        for moment in 0..60 {
            let all = Box::pin(keeps_everything(a.supervisor.clone()));
            let soon = Box::pin(a.sleeps(Duration::from_millis(5 * moment)));
            drop(select(all, soon).await);
            a.sleeps(Duration::from_secs(1)).await;
            assert_eq!(a.znodes("/office"), 0, "dropped after {} ms", 5 * moment);
        }
        a.supervisor.shutdown(LONG).await.expect("no call is left");
    });
}

#[test]
fn calm_calls_send_pings_only_and_another_session_costs_what_its_recipes_do() {
    play(|stage| async move {
        let a = Service::new(&stage, "a");
        drop(a.runs(keeps_everything(a.supervisor.clone())));
        a.sleeps(TIMEOUT).await;
        let calm = stage.mark();
        a.sleeps(LONG).await;
        let sent = a.sent(&stage, calm);
        let pings = (LONG.as_secs() / (TIMEOUT.as_secs() / 3)) as usize;
        assert!(sent.iter().all(|kind| *kind == Kind::Ping) && sent.len() <= pings + 1, "{sent:?}");
        a.expires();
        a.sleeps(TIMEOUT * 3).await;
        let again = stage.mark();
        a.sleeps(TIMEOUT * 3).await;
        assert_eq!(a.supervisor.number(), 2);
        let mut sent: Vec<_> = a.sent(&stage, again).into_iter().filter(|kind| *kind != Kind::Ping).collect();
        sent.sort_by_key(|kind| format!("{kind:?}"));
        // An election, a latch and a lock: a create and a list each, and the watch of a holder; a membership: a create and a watch.
        assert_eq!(sent, [vec![Kind::Children; 7], vec![Kind::Create; 4]].concat());
    });
}

#[test]
fn a_close_that_is_not_confirmed_is_told_and_the_changes_end_with_it() {
    play(|stage| async move {
        let a = Service::new(&stage, "a");
        let mut changes = pin!(a.supervisor.changes().into_stream());
        a.supervisor.session().await.expect("it is connected");
        assert!(
            changes.next().await.is_some_and(|change| change.to_string().starts_with("session 1 began: "))
        );
        a.process.inflict(Fault::ClientPartition, TIMEOUT * 3);
        let not = a.supervisor.shutdown(TIMEOUT).await.expect_err("no server answers");
        assert!(not.running().is_empty() && not.close().is_some_and(Error::is_connection_loss), "{not}");
        let last: Vec<_> = changes.map(|change| change.to_string()).collect().await;
        assert_eq!(last, ["session 1 ended: closed"]);
    });
}

#[test]
fn a_margin_that_no_session_could_keep_is_refused() {
    play(|stage| async move {
        let a = Service::new(&stage, "a");
        let hasty = a.supervisor.with_policy(Policy::default().with_margin(TIMEOUT));
        let ran = hasty.run("runs", async |_| Ok::<_, Error>(())).await;
        assert!(matches!(ran, Err(Ended::Recipe(error)) if error.is_bad_input()));
    });
}

#[test]
fn a_follower_that_cannot_be_made_says_why() {
    play(|stage| async move {
        let a = Service::new(&stage, "a");
        let mut bad =
            a.supervisor.follow(|zk| Ok(Config::new(zk, "settings", ConfigOptions::default())?.follow()));
        assert!(matches!(bad.next().await, Err(Ended::Recipe(error)) if error.is_bad_input()));
    });
}

#[test]
fn a_view_without_a_directory_is_no_older_in_the_next_session() {
    play(|stage| async move {
        let (a, b) = (Service::new(&stage, "a"), stage.founder().await);
        for path in ["/workers", "/workers/w"] {
            b.zk.create(path, b"", CreateMode::Persistent).await.expect("it is free");
        }
        let mut views = a
            .supervisor
            .follow(|zk| Ok(Group::new(zk, "/workers", GroupOptions::default())?.follow(WithData::No)));
        let told = a.told.clone();
        drop(a.runs(async move {
            let mut newest = 0;
            while let Ok(Followed { news, session, is_rollback, .. }) = views.next().await {
                told.says(format!("{} in session {session}, {is_rollback}", news.members.len()));
                assert!(news.zxid >= newest, "{news:?} after {newest}");
                newest = news.zxid;
            }
        }));
        a.is_told(1).await;
        a.expires();
        for path in ["/workers/w", "/workers"] {
            b.zk.delete(path, None).await.expect("it is there");
        }
        assert_eq!(a.is_told(2).await, ["1 in session 1, false", "0 in session 2, false"]);
    });
}

#[test]
fn a_session_that_its_user_closes_is_followed_by_the_next_one() {
    play(|stage| async move {
        let a = Service::new(&stage, "a");
        let (supervisor, told) = (a.supervisor.clone(), a.told.clone());
        drop(a.runs(async move {
            let work = async |session: Held<Session<SimClient>>| {
                told.says(format!("works in session {}", session.number()));
                let _ends = Tells(told.clone(), "stops");
                pending::<Result<(), Error>>().await
            };
            supervisor.run("works", work).await
        }));
        assert_eq!(a.is_told(1).await, ["works in session 1"]);
        // The close and the deadline of the work come together, after a pause of the process.
        let supervisor = a.supervisor.clone();
        let sleeping = a.process.sim().sleep(&a.process, Duration::from_secs(1));
        drop(a.runs(async move {
            sleeping.await;
            supervisor.session().await.expect("it lives").close(LONG).await
        }));
        a.process.inflict(Fault::ClientPause, TIMEOUT);
        assert_eq!(a.is_told(3).await[1..], ["stops", "works in session 2"]);
    });
}

/// A thousand clients whose sessions have all ended, when the ensemble is back: each opens one session, and together they send
/// what their recipes cost, spread over time.
#[test]
fn a_thousand_clients_come_back_without_a_herd() {
    const CLIENTS: usize = 1_000;
    const OFFICES: usize = 100;
    let drawn = Seeded::new(1, Rates::NONE);
    let config = sim_zk::Config::default();
    let _ = play_with(config, drawn, |stage| async move {
        let services: Vec<_> = (0..20).map(|number| Service::new(&stage, &format!("p{number}"))).collect();
        let supervisors: Vec<_> = (0..CLIENTS)
            .map(|number| Supervisor::new(services[number % services.len()].process.connector(TIMEOUT)))
            .collect();
        for (number, supervisor) in supervisors.iter().cloned().enumerate() {
            let standing = services[number % services.len()].runs(async move {
                let office = format!("/offices/{}", number % OFFICES);
                let work = async |_| pending::<Result<(), Error>>().await;
                let id = format!("m{number}");
                let joins = |zk: SimClient| {
                    let options = GroupOptions::default().with_if_taken(IfTaken::Wait);
                    let group = Group::new(&zk, "/members", options);
                    let id = id.clone();
                    async move { group?.join(Some(&id), b"").await }
                };
                let lead = supervisor.lead(&office, ElectionOptions::default(), work);
                join(lead, supervisor.serve("member", joins)).await
            });
            drop(standing);
        }
        let a = &services[0];
        a.sleeps(TIMEOUT * 4).await;
        let stands = || a.znodes("/members") == CLIENTS && a.znodes("/offices") == CLIENTS;
        assert!(stands());
        services.iter().for_each(|service| service.process.inflict(Fault::ClientPartition, TIMEOUT * 3));
        a.sleeps(TIMEOUT * 3).await;
        assert_eq!(a.znodes("/"), 0, "all sessions have ended");
        let back = stage.mark();
        let mut waited = Duration::ZERO;
        while !stands() {
            a.sleeps(Duration::from_millis(100)).await;
            waited += Duration::from_millis(100);
        }
        a.sleeps(TIMEOUT).await;
        let mut buckets = BTreeMap::new();
        let mut requests = 0;
        for (at, event) in stage.since(back) {
            if let SimEvent::Sent { kind, .. } = event
                && kind != Kind::Ping
            {
                requests += 1;
                *buckets.entry(at / 100_000).or_insert(0) += 1;
            }
        }
        let sessions: u32 = supervisors.iter().map(Supervisor::number).sum();
        let most = buckets.values().max().copied().unwrap_or_default();
        let told =
            format!("back in {waited:?}, {requests} requests, at most {most} in 100 ms, {sessions} sessions");
        // A session, a candidate, a member: a create and a list each, and the watch of a leader for a tenth of them.
        assert!(sessions == 2 * CLIENTS as u32 && requests <= 6 * CLIENTS && most * 8 <= requests, "{told}");
        assert!(waited <= TIMEOUT, "{told}");
    });
}
