//! Supervised calls: over many sessions, through failures of their work, to the shutdown.

mod sessions;

use crate::common::{RECONNECT, Stage, TIMEOUT, play, play_with};
use futures_util::future::{join, join5, select};
use futures_util::{FutureExt, StreamExt};
use sim_zk::choose::{Rates, Seeded};
use sim_zk::fault::Fault;
use sim_zk::observer::{Kind, SimEvent};
use sim_zk::{Connector, Process, SimClient};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::{Future, pending};
use std::pin::pin;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use zk_recipes::guard::Permits;
use zk_recipes::supervisor::{
    Backoff, Connect, Ended, Followed, Held, OnFailure, OnStop, PersistentNodeOptions, Policy, Session,
    SessionChange, Supervisor,
};
use zk_recipes::zk::{CreateMode, Error, ErrorKind, Over, ZooKeeper};
use zk_recipes::{
    Config, ConfigOptions, Delivery, Election, ElectionOptions, Group, GroupOptions, Guard, IfTaken,
    LockOptions, Queue, QueueOptions, Semaphore, SemaphoreOptions, Update, WithData,
};

const OFFICE: &str = "/office";
const LONG: Duration = Duration::from_secs(60);

/// A process with a supervisor, and what its work has told.
pub struct Service {
    pub process: Process,
    pub supervisor: Supervisor<Connector>,
    told: Told,
}

/// Lines of the work.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<String>>>);

impl Told {
    fn says(&self, line: impl Into<String>) {
        self.0.lock().expect("no panic").push(line.into());
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().expect("no panic").clone()
    }
}

/// Says when it is dropped.
struct Tells(Told, &'static str);

impl Drop for Tells {
    fn drop(&mut self) {
        self.0.says(self.1);
    }
}

impl Service {
    pub fn new(stage: &Stage, name: &str) -> Service {
        let process = stage.sim.process(name);
        let supervisor = Supervisor::new(process.connector(TIMEOUT));
        Service { process, supervisor, told: Told::default() }
    }

    pub fn runs<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> impl Future<Output = T> {
        self.process.spawn(work).map(|done| done.expect("its process lives"))
    }

    pub async fn sleeps(&self, by: Duration) {
        self.process.sim().sleep(&self.process, by).await;
    }

    /// Leads until it must stop, and tells of each beginning and each end.
    fn leads(&self, policy: Policy) -> impl Future<Output = Result<Infallible, Ended<Error>>> {
        let (supervisor, told) = (self.supervisor.with_policy(policy), self.told.clone());
        self.runs(async move {
            let number = supervisor.clone();
            let work = async |term: Held<zk_recipes::Term<SimClient>>| {
                assert_eq!(term.zk().session(), number.session().await.expect("it lives").zk().session());
                told.says(format!("leads in session {}", number.number()));
                let _ends = Tells(told.clone(), "stops");
                let _held = term;
                pending::<Result<Infallible, Error>>().await
            };
            supervisor.lead(OFFICE, ElectionOptions::default(), work).await
        })
    }

    pub fn expires(&self) {
        self.process.inflict(Fault::SessionExpiry, TIMEOUT * 3);
    }

    /// The requests that it has sent since a mark.
    pub fn sent(&self, stage: &Stage, mark: usize) -> Vec<Kind> {
        let mine = |(_, event): &(u64, SimEvent<'_>)| match event {
            SimEvent::Sent { process, kind, .. } if *process == self.process.id() => Some(*kind),
            _ => None,
        };
        stage.since(mark).iter().filter_map(mine).collect()
    }

    async fn is_told(&self, count: usize) -> Vec<String> {
        while self.told.lines().len() < count {
            self.sleeps(Duration::from_millis(100)).await;
        }
        self.told.lines()
    }

    /// The ephemerals of all sessions below a path.
    pub fn znodes(&self, path: &str) -> usize {
        let below = |name: &str| name.starts_with(path);
        self.process
            .sim()
            .look(|world| world.znodes().filter(|(name, owner)| owner.0 != 0 && below(name)).count())
    }
}

#[test]
fn a_leader_stands_again_in_the_next_session() {
    play(|stage| async move {
        let a = Service::new(&stage, "a");
        let mut changes = a.supervisor.changes();
        drop(a.leads(Policy::default()));
        assert!(matches!(changes.next().await, Some(SessionChange::Began { number: 1, .. })));
        a.is_told(1).await;
        a.expires();
        assert!(matches!(changes.next().await, Some(SessionChange::Suspect { number: 1, .. })));
        assert_eq!(a.is_told(2).await, ["leads in session 1", "stops"], "before the session is over");
        let ended = SessionChange::Ended { number: 1, why: Over::Expired };
        assert_eq!(changes.next().await, Some(ended));
        assert!(matches!(changes.next().await, Some(SessionChange::Began { number: 2, .. })));
        assert_eq!(a.is_told(3).await[2], "leads in session 2");
    });
}

#[test]
fn work_stops_while_the_connection_is_away_and_begins_again_under_the_same_token() {
    play(|stage| async move {
        let a = Service::new(&stage, "a");
        let tokens = Arc::new(Mutex::new(Vec::new()));
        let (supervisor, seen) = (a.supervisor.clone(), tokens.clone());
        drop(a.runs(async move {
            let work = async |term: Held<zk_recipes::Term<SimClient>>| {
                seen.lock().expect("no panic").push(term.token());
                pending::<Result<(), Error>>().await
            };
            supervisor.lead(OFFICE, ElectionOptions::default(), work).await
        }));
        a.sleeps(Duration::from_secs(1)).await;
        a.process.order(Fault::Disconnect);
        let lost = a.supervisor.session().await.expect("it lives").exists("/").await;
        assert!(lost.is_err_and(|error| error.is_connection_loss()));
        a.sleeps(RECONNECT * 2).await;
        let tokens = tokens.lock().expect("no panic").clone();
        assert!(tokens.len() == 2 && tokens[0] == tokens[1], "{tokens:?}");
        assert_eq!(a.supervisor.number(), 1);
    });
}

#[test]
fn of_two_services_the_other_leads_while_one_is_away() {
    play(|stage| async move {
        let (a, b) = (Service::new(&stage, "a"), Service::new(&stage, "b"));
        drop(a.leads(Policy::default()));
        a.is_told(1).await;
        drop(b.leads(Policy::default()));
        a.process.inflict(Fault::ClientPartition, TIMEOUT * 3);
        assert_eq!(b.is_told(1).await, ["leads in session 1"]);
        assert_eq!(a.told.lines(), ["leads in session 1", "stops"], "it stopped before");
        b.expires();
        assert_eq!(a.is_told(3).await[2], "leads in session 2");
    });
}

#[test]
fn nothing_begins_while_a_task_still_has_the_hold() {
    play(|stage| async move {
        let a = Service::new(&stage, "a");
        let (kept, begun) = (Arc::new(Mutex::new(None)), Arc::new(AtomicU32::new(0)));
        let (supervisor, keeps, begins) = (a.supervisor.clone(), kept.clone(), begun.clone());
        drop(a.runs(async move {
            let work = async |guard: Held<_>| {
                if begins.fetch_add(1, Ordering::Relaxed) == 0 {
                    *keeps.lock().expect("no panic") = Some(guard);
                }
                pending::<Result<(), Error>>().await
            };
            supervisor.hold("/locks/a", LockOptions::default(), work).await
        }));
        a.sleeps(Duration::from_secs(1)).await;
        a.expires();
        a.sleeps(TIMEOUT * 5).await;
        assert_eq!(begun.load(Ordering::Relaxed), 1, "its task has not stopped");
        drop(kept.lock().expect("no panic").take());
        a.sleeps(TIMEOUT).await;
        assert_eq!(begun.load(Ordering::Relaxed), 2);
    });
}

#[test]
fn work_that_is_waited_for_ends_by_itself_before_it_begins_again() {
    play(|stage| async move {
        let a = Service::new(&stage, "a");
        let (supervisor, told) =
            (a.supervisor.with_policy(Policy::default().with_on_stop(OnStop::Wait)), a.told.clone());
        let (process, sim) = (a.process.clone(), stage.sim.clone());
        drop(a.runs(async move {
            let work = async |term: Held<zk_recipes::Term<SimClient>>| {
                told.says("begins");
                term.lost().await;
                sim.sleep(&process, TIMEOUT * 4).await;
                told.says("has tidied up");
                Err::<(), _>(Error::from(ErrorKind::TimedOut))
            };
            supervisor.lead(OFFICE, ElectionOptions::default(), work).await
        }));
        a.is_told(1).await;
        a.expires();
        a.sleeps(TIMEOUT * 3).await;
        assert_eq!(a.told.lines(), ["begins"], "the expired session is long gone");
        assert_eq!(a.is_told(3).await, ["begins", "has tidied up", "begins"]);
    });
}

/// The result of work that fails the first times: how it ends, how often it ran, and the terms in which it did.
async fn failing(stage: &Stage, policy: Policy, panics: bool) -> (Result<u32, Ended<Error>>, Vec<i64>) {
    let a = Service::new(stage, "a");
    let (supervisor, tokens) = (a.supervisor.with_policy(policy), Arc::new(Mutex::new(Vec::new())));
    let seen = tokens.clone();
    let ended = a.runs(async move {
        let work = async |term: Held<zk_recipes::Term<SimClient>>| {
            let run = {
                let mut seen = seen.lock().expect("no panic");
                seen.push(term.token());
                seen.len()
            };
            match run {
                1 | 2 if panics => panic!("the disk is full"),
                1 | 2 => Err(ErrorKind::Conflict.into()),
                _ => Ok(run as u32),
            }
        };
        supervisor.lead(OFFICE, ElectionOptions::default(), work).await
    });
    let ended = ended.await;
    assert_eq!(a.znodes(OFFICE), 0, "it has resigned");
    let tokens = tokens.lock().expect("no panic").clone();
    (ended, tokens)
}

#[test]
fn failed_work_is_returned_or_restarted_or_gives_back_by_policy() {
    play(|stage| async move {
        let stage = &stage;
        let of = |on_failure| Policy::default().with_on_failure(on_failure);
        let (ended, tokens) = failing(stage, of(OnFailure::Return), false).await;
        assert!(
            matches!(ended, Err(Ended::Work(error)) if error == ErrorKind::Conflict) && tokens.len() == 1
        );
        let (ended, tokens) = failing(stage, of(OnFailure::Restart), false).await;
        assert!(matches!(ended, Ok(3)) && tokens[0] == tokens[2], "one term: {tokens:?}");
        let (ended, tokens) = failing(stage, of(OnFailure::GiveBack), false).await;
        assert!(
            matches!(ended, Ok(3)) && tokens[0] < tokens[1] && tokens[1] < tokens[2],
            "three terms: {tokens:?}"
        );
        let (ended, tokens) = failing(stage, of(OnFailure::Restart).with_max_failures(2), false).await;
        assert!(matches!(ended, Err(Ended::Work(_))) && tokens.len() == 2, "{tokens:?}");
    });
}

#[test]
fn a_panic_is_a_failure_and_says_its_message() {
    play(|stage| async move {
        let (ended, tokens) = failing(&stage, Policy::default(), true).await;
        let Err(Ended::Panicked(panicked)) = ended else { panic!("{ended:?}") };
        assert_eq!(
            (panicked.to_string().as_str(), tokens.len()),
            ("the work has panicked: the disk is full", 1)
        );
        let restarts = Policy::default().with_on_failure(OnFailure::Restart);
        let (ended, tokens) = failing(&stage, restarts, true).await;
        assert!(matches!(ended, Ok(3)) && tokens.len() == 3);
        let a = Service::new(&stage, "b");
        let at_once = |_| -> std::future::Ready<Result<(), Error>> { panic!("before there is a future") };
        let ended = a.supervisor.hold("/locks/a", LockOptions::default(), at_once).await;
        assert!(matches!(ended, Err(Ended::Panicked(_))), "{ended:?}");
    });
}

#[test]
fn work_that_fails_because_its_hold_is_lost_is_not_at_fault() {
    play(|stage| async move {
        let (a, b) = (Service::new(&stage, "a"), stage.client("b").await);
        let (supervisor, told) = (a.supervisor.clone(), a.told.clone());
        let led = a.runs(async move {
            let work = async |term: Held<zk_recipes::Term<SimClient>>| {
                told.says("leads");
                loop {
                    term.transact(Vec::new()).await?;
                    if told.lines().len() > 1 {
                        return Ok::<_, Error>("done");
                    }
                }
            };
            supervisor.lead(OFFICE, ElectionOptions::default(), work).await
        });
        a.is_told(1).await;
        let candidate = Election::new(&b.zk, OFFICE, ElectionOptions::default()).expect("a good path");
        let candidate = candidate.candidates().await.expect("it is connected")[0].clone();
        b.zk.delete(&candidate.path, None).await.expect("it is there");
        assert!(matches!(led.await, Ok("done")));
        assert_eq!(a.told.lines(), ["leads"; 2]);
    });
}

#[test]
fn all_calls_share_a_session_and_a_shutdown_gives_everything_back() {
    play(|stage| async move {
        let a = Service::new(&stage, "a");
        let led = a.leads(Policy::default());
        let options = GroupOptions::default().with_if_taken(IfTaken::Wait);
        let of_group = a.supervisor.clone();
        let served = a.runs(async move {
            let join = |zk: SimClient| {
                let group = Group::new(&zk, "/workers", options.clone());
                async move { group?.join(Some("a"), b"").await }
            };
            of_group.serve("member a", join).await
        });
        a.is_told(1).await;
        a.sleeps(Duration::from_secs(1)).await;
        assert_eq!((a.znodes(OFFICE), a.znodes("/workers"), a.supervisor.number()), (1, 1, 1));
        a.expires();
        a.is_told(3).await;
        a.sleeps(Duration::from_secs(1)).await;
        assert_eq!((a.znodes(OFFICE), a.znodes("/workers"), a.supervisor.number()), (1, 1, 2));
        let session = a.supervisor.session().await.expect("it lives").zk().session();
        a.supervisor.shutdown(LONG).await.expect("everything ends");
        assert_eq!((a.znodes(OFFICE), a.znodes("/workers")), (0, 0));
        assert!(!stage.sim.look(|world| world.lives(session)), "it is closed");
        let (led, served) = join(led, served).await;
        assert!(
            led.is_err_and(|ended| ended.is_shut_down()) && served.is_err_and(|ended| ended.is_shut_down())
        );
        assert!(a.supervisor.session().await.is_err_and(|ended| ended.is_shut_down()), "and stays so");
        assert_eq!(a.supervisor.changes().next().await, None);
    });
}

#[test]
fn a_shutdown_names_the_work_that_has_not_ended_and_keeps_its_session() {
    play(|stage| async move {
        let a = Service::new(&stage, "a");
        drop(a.leads(Policy::default().with_on_stop(OnStop::Wait)));
        a.is_told(1).await;
        let not = a.supervisor.shutdown(TIMEOUT).await.expect_err("it goes on");
        assert_eq!(
            (not.running(), not.to_string().as_str()),
            (&[OFFICE.to_owned()][..], "still running: /office")
        );
        assert_eq!(a.znodes(OFFICE), 1, "nobody else leads while it may act");
    });
}

#[test]
fn a_registration_comes_back_when_another_client_deletes_it() {
    play(|stage| async move {
        let (a, b) = (Service::new(&stage, "a"), stage.client("b").await);
        let supervisor = a.supervisor.clone();
        drop(a.runs(async move {
            let join = |zk: SimClient| {
                let group = Group::new(&zk, "/workers", GroupOptions::default());
                async move { group?.join(Some("a"), b"").await }
            };
            supervisor.serve("member a", join).await
        }));
        a.sleeps(Duration::from_secs(1)).await;
        b.zk.delete("/workers/a", None).await.expect("it is there");
        a.sleeps(Duration::from_secs(1)).await;
        assert_eq!(a.znodes("/workers"), 1);
    });
}

#[test]
fn a_follower_goes_on_in_the_next_session_and_is_told_nothing_twice() {
    play(|stage| async move {
        let (a, b) = (Service::new(&stage, "a"), stage.founder().await);
        let config = Config::new(&b.zk, "/settings", ConfigOptions::default()).expect("a good path");
        config.put(b"1").await.expect("it is written");
        let mut settings =
            a.supervisor.follow(|zk| Ok(Config::new(zk, "/settings", ConfigOptions::default())?.follow()));
        let told = a.told.clone();
        drop(a.runs(async move {
            while let Ok(followed) = settings.next().await {
                let Update::Value(value) = followed.news else { panic!("it was written") };
                let value = String::from_utf8(value.data).expect("it is text");
                told.says(format!(
                    "{value} in session {}, rollback: {}",
                    followed.session, followed.is_rollback
                ));
            }
        }));
        a.is_told(1).await;
        a.expires();
        a.sleeps(TIMEOUT * 5).await;
        config.put(b"2").await.expect("it is written");
        let expected = ["1 in session 1, rollback: false", "2 in session 2, rollback: false"];
        assert_eq!(a.is_told(2).await, expected);
    });
}

#[test]
fn items_of_a_queue_are_worked_off_over_sessions_and_failed_ones_are_delivered_again() {
    play(|stage| async move {
        let (a, b) = (Service::new(&stage, "a"), stage.founder().await);
        let queue =
            Queue::new(&b.zk, "/jobs", QueueOptions::new(Delivery::AtLeastOnce)).expect("a good path");
        let mut producer = queue.producer();
        for item in [b"1", b"2", b"3"] {
            producer.put(item).await.expect("it is put");
        }
        let policy = Policy::default().with_on_failure(OnFailure::Restart);
        let (supervisor, told) = (a.supervisor.with_policy(policy), a.told.clone());
        drop(a.runs(async move {
            let make = |zk: &SimClient| {
                Queue::new(zk, "/jobs", QueueOptions::new(Delivery::AtLeastOnce))
                    .map(|queue| queue.consumer())
            };
            let work = async |claimed: Held<zk_recipes::Claimed<SimClient>>| {
                let item = String::from_utf8_lossy(&claimed.item().data).into_owned();
                told.says(format!("{item}, attempt {}", claimed.attempts()));
                match (&*item, claimed.attempts()) {
                    ("1", 1) => Err(ErrorKind::Conflict),
                    ("2", 1) => pending().await,
                    _ => Ok(()),
                }
            };
            supervisor.consume("jobs", make, work).await
        }));
        assert_eq!(a.is_told(3).await, ["1, attempt 1", "1, attempt 2", "2, attempt 1"]);
        a.expires();
        assert_eq!(a.is_told(5).await[3..], ["2, attempt 2", "3, attempt 1"]);
        a.sleeps(Duration::from_secs(1)).await;
        assert!(stage.names("/jobs").iter().all(|name| !name.contains("item")), "{:?}", stage.names("/jobs"));
    });
}

#[test]
fn a_consumer_whose_work_is_waited_for_finishes_its_item_and_stops_between_two() {
    play(|stage| async move {
        let (a, b) = (Service::new(&stage, "a"), stage.founder().await);
        let options = QueueOptions::new(Delivery::AtLeastOnce);
        let queue = Queue::new(&b.zk, "/jobs", options.clone()).expect("a good path");
        let mut producer = queue.producer();
        let (supervisor, told) =
            (a.supervisor.with_policy(Policy::default().with_on_stop(OnStop::Wait)), a.told.clone());
        let (process, sim) = (a.process.clone(), stage.sim.clone());
        let consumed = a.runs(async move {
            let make = |zk: &SimClient| Ok(Queue::new(zk, "/jobs", options.clone())?.consumer());
            let work = async |claimed: Held<zk_recipes::Claimed<SimClient>>| {
                told.says(format!("begins, attempt {}", claimed.attempts()));
                sim.sleep(&process, TIMEOUT).await;
                told.says("is done");
                Ok::<_, Error>(())
            };
            supervisor.consume("jobs", make, work).await
        });
        a.sleeps(Duration::from_secs(1)).await;
        a.expires();
        a.sleeps(TIMEOUT * 4).await;
        assert_eq!(a.supervisor.number(), 2, "an idle consumer is not waited for");
        for item in [b"1", b"2"] {
            producer.put(item).await.expect("it is put");
        }
        assert_eq!(a.is_told(1).await, ["begins, attempt 1"]);
        a.supervisor.shutdown(LONG).await.expect("the first item is done, and no other begins");
        assert!(consumed.await.is_err_and(|ended| ended.is_shut_down()));
        assert_eq!(a.told.lines(), ["begins, attempt 1", "is done"]);
        let mut consumer = queue.consumer();
        let left = consumer.claim().await.expect("the second item is there");
        assert_eq!((&left.item().data[..], left.attempts()), (&b"2"[..], 1));
        assert!(consumer.try_claim().await.expect("it is connected").is_none(), "the first one is confirmed");
    });
}

#[test]
fn what_is_only_registered_is_not_waited_for() {
    play(|stage| async move {
        let a = Service::new(&stage, "a");
        let waits = a.supervisor.with_policy(Policy::default().with_on_stop(OnStop::Wait));
        let latch = waits.latch(OFFICE, ElectionOptions::default());
        let node = waits.persistent_node("/services/a", b"", PersistentNodeOptions::default());
        let (leads, stays) = (latch.clone(), node.clone());
        let running = a.runs(async move { join(leads.run(), stays.run()).await });
        a.sleeps(Duration::from_secs(1)).await;
        let token = latch.token().expect("it leads");
        a.expires();
        a.sleeps(TIMEOUT * 4).await;
        assert!(latch.token().is_some_and(|next| next > token) && node.is_there());
        a.supervisor.shutdown(LONG).await.expect("there is no work");
        let (led, stayed) = running.await;
        assert!(
            led.is_err_and(|ended| ended.is_shut_down()) && stayed.is_err_and(|ended| ended.is_shut_down())
        );
    });
}

#[test]
fn a_latch_says_that_it_leads_only_while_it_may() {
    play(|stage| async move {
        let a = Service::new(&stage, "a");
        let latch = a.supervisor.latch(OFFICE, ElectionOptions::default());
        assert!(!latch.has_leadership());
        let runs = latch.clone();
        let running = a.runs(async move { runs.run().await });
        a.sleeps(Duration::from_secs(1)).await;
        let token = latch.token().expect("it leads");
        a.process.inflict(Fault::ClientPartition, TIMEOUT * 2);
        a.sleeps(TIMEOUT).await;
        assert!(!latch.has_leadership(), "its session may be over");
        a.sleeps(TIMEOUT * 3).await;
        assert!(latch.token().is_some_and(|next| next > token));
        a.supervisor.shutdown(LONG).await.expect("it ends");
        assert!(running.await.is_err_and(|ended| ended.is_shut_down()) && !latch.has_leadership());
    });
}
