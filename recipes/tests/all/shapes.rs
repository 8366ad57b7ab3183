//! What the compiler is to promise: futures that can be spawned, a guard that is one of a kind and not to be ignored.

use crate::common::play;
use sim_zk::SimClient;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use zk_recipes::guard::{Exclusive, Permits, Revocable, Write};
use zk_recipes::two_phase_commit::{Coordinator, Site, Transaction, Vote, Voted};
use zk_recipes::zk::Reserved;
use zk_recipes::{
    Barrier, Claimed, Consumer, Contender, DoubleBarrier, Guard, Inside, Lock, LockOptions, Membership,
    Priority, PriorityProducer, Producer, Registration, RevocableLock, Semaphore, SharedLock,
};
use zk_recipes::{Config, ConfigSet, Freshness, Group, Names, WithData};

fn can_be_spawned<T: Send>(_: &T) {}
fn can_be_shared<T: Send + Sync + 'static>() {}

/// Every future of the lock can be spawned on a runtime of many threads; checked where it compiles.
#[allow(dead_code, reason = "it only has to compile")]
fn every_future_can_be_spawned(lock: &Lock<SimClient>, guard: Guard<SimClient, Exclusive>) {
    can_be_spawned(&lock.acquire());
    can_be_spawned(&lock.try_acquire());
    can_be_spawned(&lock.acquire().within(Duration::ZERO));
    can_be_spawned(&lock.contenders());
    can_be_spawned(&guard.lost());
    can_be_spawned(&guard.resumed());
    can_be_spawned(&guard.run(std::future::pending::<()>()));
    can_be_spawned(&guard.transact(vec![]));
    can_be_spawned(&guard.transact_once(vec![]));
    can_be_spawned(&guard.release());
}

/// Every future of the queues can be spawned, too.
#[allow(dead_code, reason = "it only has to compile")]
fn every_future_of_the_queues_can_be_spawned(
    puts: &mut Producer<SimClient>,
    urgent: &mut PriorityProducer<SimClient>,
    gets: &mut Consumer<SimClient>,
    claim: fn() -> Claimed<SimClient>,
) {
    can_be_spawned(&puts.put(b""));
    can_be_spawned(&puts.put_all(&[]));
    can_be_spawned(&urgent.put(Priority(0), b""));
    can_be_spawned(&urgent.put_all(Priority(0), &[]));
    can_be_spawned(&gets.take());
    can_be_spawned(&gets.take_up_to(1));
    can_be_spawned(&gets.try_take());
    can_be_spawned(&gets.claim());
    can_be_spawned(&gets.claim_up_to(1));
    can_be_spawned(&gets.try_claim());
    can_be_spawned(&claim().done_with(vec![]));
    can_be_spawned(&Claimed::done_all(vec![claim()], vec![]));
    can_be_spawned(&claim().give_back());
}

/// And those of the shared and the revocable lock.
#[allow(dead_code, reason = "it only has to compile")]
fn those_of_shared_locks_too(
    shared: &SharedLock<SimClient>,
    revocable: &RevocableLock<SimClient>,
    write: Guard<SimClient, Write>,
    revocable_write: Guard<SimClient, Revocable<Write>>,
    who: &Contender,
) {
    can_be_spawned(&(shared.read(), shared.write(), shared.try_read(), shared.try_write()));
    can_be_spawned(&(shared.read().within(Duration::ZERO), shared.write().within(Duration::ZERO)));
    can_be_spawned(&(shared.contenders(), shared.evict(who)));
    can_be_spawned(&(revocable.read(), revocable.write(), revocable.try_read(), revocable.try_write()));
    can_be_spawned(&(revocable.read().within(Duration::ZERO), revocable.write().within(Duration::ZERO)));
    can_be_spawned(&(revocable.contenders(), revocable.ask(who), revocable.force(who, Duration::ZERO)));
    can_be_spawned(&(write.lost(), write.resumed(), write.run(std::future::pending::<()>())));
    can_be_spawned(&(revocable_write.revoked(), revocable_write.run(std::future::pending::<()>())));
    can_be_spawned(&(write.downgrade(), revocable_write.downgrade()));
}

/// The same of a semaphore.
#[allow(dead_code, reason = "it only has to compile")]
fn every_future_of_a_semaphore_can_be_spawned(slots: &Semaphore<SimClient>, held: Guard<SimClient, Permits>) {
    can_be_spawned(&slots.acquire(1));
    can_be_spawned(&slots.acquire(1).within(Duration::ZERO));
    can_be_spawned(&slots.try_acquire(1));
    can_be_spawned(&(slots.permits(), slots.set_permits(2), slots.holders()));
    can_be_spawned(&(held.lost(), held.resumed(), held.run(std::future::pending::<()>())));
    can_be_spawned(&(held.transact(vec![]), held.transact_once(vec![])));
    can_be_spawned(&held.release());
    can_be_shared::<Semaphore<SimClient>>();
}

/// And every future of two-phase commit.
#[allow(dead_code, reason = "it only has to compile")]
fn every_future_of_a_transaction_can_be_spawned(
    zk: &SimClient,
    transaction: Transaction,
    coordinator: Coordinator<SimClient>,
    site: Site<SimClient>,
    voted: Voted<SimClient>,
) {
    can_be_spawned(&Coordinator::begin(zk, "/tx", transaction));
    can_be_spawned(&Coordinator::resume(zk, "/tx"));
    can_be_spawned(&Site::open(zk, "/tx", "a"));
    can_be_spawned(&coordinator.decision());
    can_be_spawned(&coordinator.decision().within(Duration::ZERO));
    can_be_spawned(&coordinator.forget());
    can_be_spawned(&site.vote(Vote::Commit));
    can_be_spawned(&voted.decision());
    can_be_spawned(&voted.decision().within(Duration::ZERO));
    can_be_spawned(&voted.next_vote());
    can_be_spawned(&voted.finish());
}

/// The same of the barriers.
#[allow(dead_code, reason = "it only has to compile")]
fn so_can_those_of_the_barriers(
    gate: &Barrier<SimClient>,
    step: &DoubleBarrier<SimClient>,
    inside: fn() -> Inside<SimClient>,
) {
    can_be_spawned(&gate.raise());
    can_be_spawned(&gate.lower());
    can_be_spawned(&gate.wait());
    can_be_spawned(&gate.wait().within(Duration::ZERO));
    can_be_spawned(&gate.wait_until_down());
    can_be_spawned(&gate.wait_until_down().within(Duration::ZERO));
    can_be_spawned(&step.enter());
    can_be_spawned(&step.enter().within(Duration::ZERO));
    let place = inside();
    can_be_spawned(&place.lost());
    can_be_spawned(&place.resumed());
    can_be_spawned(&place.leave());
    can_be_spawned(&inside().leave().within(Duration::ZERO));
    can_be_shared::<Barrier<SimClient>>();
    can_be_shared::<DoubleBarrier<SimClient>>();
    can_be_shared::<Inside<SimClient>>();
}

/// The same of names.
#[allow(dead_code, reason = "it only has to compile")]
fn every_future_of_names_can_be_spawned(names: &Names<SimClient>, registered: Registration<SimClient>) {
    can_be_spawned(&names.register("a", b""));
    can_be_spawned(&names.register("a", b"").within(Duration::ZERO));
    can_be_spawned(&names.register_permanent("a", b""));
    can_be_spawned(&names.resolve("a", Freshness::Latest));
    can_be_spawned(&names.unique("a"));
    can_be_spawned(&registered.lost());
    can_be_spawned(&registered.set(b""));
    can_be_spawned(&registered.release());
}

/// The same of a configuration.
#[allow(dead_code, reason = "it only has to compile")]
fn every_future_of_a_config_can_be_spawned(config: &Config<SimClient>) {
    can_be_spawned(&config.follow().next());
    can_be_spawned(&config.get());
    can_be_spawned(&config.put(b""));
    can_be_spawned(&config.compare_and_set(None, b""));
}

/// The same of a set of values.
#[allow(dead_code, reason = "it only has to compile")]
fn every_future_of_a_config_set_can_be_spawned(
    set: &ConfigSet<SimClient>,
    values: &BTreeMap<String, Vec<u8>>,
) {
    can_be_spawned(&set.publish(values, None));
    can_be_spawned(&set.snapshot());
}

/// The same of a group.
#[allow(dead_code, reason = "it only has to compile")]
fn every_future_of_a_group_can_be_spawned(group: &Group<SimClient>, member: Membership<SimClient>) {
    can_be_spawned(&group.join(None, b""));
    can_be_spawned(&group.join(None, b"").within(Duration::ZERO));
    can_be_spawned(&group.follow(WithData::Yes).next());
    can_be_spawned(&member.lost());
    can_be_spawned(&member.resumed());
    can_be_spawned(&member.set(b""));
    can_be_spawned(&member.leave());
}

/// Two of these hold for a type that is `Clone`, so that the compiler cannot tell which is meant.
trait IsOneOfAKind<Why> {
    const YES: bool = true;
}
impl<T> IsOneOfAKind<()> for T {}
impl<T: Clone> IsOneOfAKind<&'static str> for T {}

const _: () = assert!(<Guard<SimClient, Exclusive> as IsOneOfAKind<_>>::YES);
const _: () = assert!(<Claimed<SimClient> as IsOneOfAKind<_>>::YES);
const _: () = assert!(<Producer<SimClient> as IsOneOfAKind<_>>::YES);
const _: () = assert!(<Consumer<SimClient> as IsOneOfAKind<_>>::YES);
const _: () = assert!(<Site<SimClient> as IsOneOfAKind<_>>::YES);
const _: () = assert!(<Voted<SimClient> as IsOneOfAKind<_>>::YES);
const _: () = assert!(<Inside<SimClient> as IsOneOfAKind<_>>::YES);
const _: () = assert!(<Registration<SimClient> as IsOneOfAKind<_>>::YES);
const _: () = assert!(<Membership<SimClient> as IsOneOfAKind<_>>::YES);

/// Fails to compile without a warning that the guard is not to be ignored.
#[allow(dead_code, reason = "it only has to compile")]
#[expect(unused_must_use, reason = "a guard that is ignored is released at once")]
fn a_guard_is_not_to_be_ignored(guard: fn() -> Guard<SimClient, Exclusive>) {
    guard();
}

#[test]
fn locks_and_guards_go_from_task_to_task() {
    can_be_shared::<Lock<SimClient>>();
    can_be_shared::<Guard<SimClient, Exclusive>>();
    can_be_shared::<Coordinator<SimClient>>();
    can_be_shared::<Voted<SimClient>>();
    play(|stage| async move {
        let (a, b) = (stage.founder().await, stage.client("b").await);
        let lock =
            Lock::new(&a.zk, crate::common::DIRECTORY, LockOptions::default()).expect("the path is good");
        let clone = lock.clone();
        let held = a.process.spawn(async move { clone.acquire().await }).await.expect("its process lives");
        let held = held.expect("it is granted");
        assert!(format!("{held:?}").contains(held.path()), "it says which it is");
        b.process
            .spawn(async move { held.release().await })
            .await
            .expect("its process lives")
            .expect("released");
        drop(lock.acquire().await);
    });
}

#[test]
fn what_a_duty_keeps_equals_itself_alone() {
    let one = Reserved::new(Arc::new("kept"));
    assert_eq!(one, one.clone());
    assert_ne!(one, Reserved::new(Arc::new("kept")));
}
