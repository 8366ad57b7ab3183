//! Names, groups and configuration: the handle, what it has claimed, and who follows.

use crate::common::left_alone::{Call, Calling, Part, Scene, call, none_holds_up_another};
use crate::common::{Client, Stage};
use sim_zk::SimClient;
use std::collections::BTreeMap;
use std::time::Duration;
use zk_recipes::Updates;
use zk_recipes::config::{Config, ConfigOptions, ConfigSet, ConfigSetOptions};
use zk_recipes::group::{Group, GroupOptions, Membership, Views, WithData};
use zk_recipes::names::{Freshness, IfTaken, Names, NamesOptions, PermanentName, Registration};
use zk_recipes::zk::{Guid, ZooKeeper};

const SHORT: Duration = Duration::from_secs(10);

/// A stranger deletes a znode.
fn deleted(by: &Client, path: &str) -> Calling {
    let (zk, path) = (by.zk.clone(), path.to_owned());
    Box::pin(async move { drop(zk.delete(&path, None).await) })
}

struct Registered {
    a: Client,
    b: Client,
    names: Part<Names<SimClient>>,
    registration: Part<Registration<SimClient>>,
    permanent: Part<PermanentName<SimClient>>,
    updates: Part<Updates<SimClient>>,
    /// The same names, for what has nothing to do with the others.
    elsewhere: Part<Names<SimClient>>,
}

impl Registered {
    fn freed(&self) -> Calling {
        deleted(&self.b, "/x/mine")
    }
}

impl Scene for Registered {
    const CALLS: &'static [Call<Self>] = &[
        call!(share names.register("mine", b"again"), while freed),
        call!(share names.register("mine", b"again") within SHORT),
        call!(share elsewhere.register("another", b"")),
        call!(share elsewhere.register_permanent("a third", b"")),
        call!(share names.registered("permanent", Guid(7))),
        call!(share names.resolve("mine", Freshness::Latest)),
        call!(share names.unique("job")),
        call!(share registration.set(b"other")),
        call!(share registration.lost(), while freed),
        call!(share registration.resumed()),
        call!(share registration.run(async {})),
        call!(take registration.release()),
        call!(share permanent.set(b"other")),
        call!(share permanent.unregister()),
        call!(change updates.next()),
    ];

    fn inherent(left: &str, other: &str) -> Option<&'static str> {
        let claims = |call: &str| call.contains(".register");
        let same = left.split('.').next() == other.split('.').next();
        (same && claims(left) && claims(other)).then_some("a call that claims a name has it as an owner has")
    }

    async fn set(stage: Stage) -> Self {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let options = NamesOptions::default().with_if_taken(IfTaken::Wait);
        let names = Names::new(&a.zk, "/x", options).expect("the path is good");
        let registration = Part::new(names.register("mine", b"").await.expect("it is free"));
        let permanent = Part::new(names.register_permanent("permanent", b"").await.expect("it is free"));
        let updates = Part::new(names.follow("mine").expect("the name is good"));
        let elsewhere = Part::new(names.clone());
        Registered { a, b, names: Part::new(names), registration, permanent, updates, elsewhere }
    }

    fn caller(&self) -> &Client {
        &self.a
    }
}

struct Joined {
    a: Client,
    b: Client,
    group: Part<Group<SimClient>>,
    membership: Part<Membership<SimClient>>,
    views: Part<Views<SimClient>>,
}

impl Joined {
    fn freed(&self) -> Calling {
        deleted(&self.b, "/x/mine")
    }
}

impl Scene for Joined {
    const CALLS: &'static [Call<Self>] = &[
        call!(share group.join(None, b"")),
        call!(share group.join(Some("mine"), b"")),
        call!(share group.join(Some("another"), b"")),
        call!(share group.join(None, b"") within SHORT),
        call!(share membership.set(b"other")),
        call!(share membership.lost(), while freed),
        call!(share membership.resumed()),
        call!(share membership.run(async {})),
        call!(take membership.leave()),
        call!(change views.next()),
    ];

    async fn set(stage: Stage) -> Self {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let group = Group::new(&a.zk, "/x", GroupOptions::default()).expect("the path is good");
        let membership = Part::new(group.join(Some("mine"), b"").await.expect("it is free"));
        let views = Part::new(group.follow(WithData::Yes));
        Joined { a, b, group: Part::new(group), membership, views }
    }

    fn caller(&self) -> &Client {
        &self.a
    }
}

struct Configured {
    a: Client,
    config: Part<Config<SimClient>>,
    set: Part<ConfigSet<SimClient>>,
    updates: Part<Updates<SimClient>>,
}

fn values() -> BTreeMap<String, Vec<u8>> {
    BTreeMap::from([("key".to_owned(), b"value".to_vec())])
}

impl Scene for Configured {
    const CALLS: &'static [Call<Self>] = &[
        call!(share config.get()),
        call!(share config.put(b"2")),
        call!(share config.compare_and_set(None, b"3")),
        call!(share set.publish(&values(), None)),
        call!(share set.snapshot()),
        call!(change updates.next()),
    ];

    async fn set(stage: Stage) -> Self {
        let a = stage.client("a").await;
        let config = Config::new(&a.zk, "/x/value", ConfigOptions::default()).expect("the path is good");
        let set = ConfigSet::new(&a.zk, "/x/set", ConfigSetOptions::default()).expect("the path is good");
        config.put(b"1").await.expect("it is written");
        let updates = Part::new(config.follow());
        Configured { config: Part::new(config), set: Part::new(set), updates, a }
    }

    fn caller(&self) -> &Client {
        &self.a
    }
}

#[test]
fn none_of_names() {
    none_holds_up_another::<Registered>();
}

#[test]
fn none_of_a_group() {
    none_holds_up_another::<Joined>();
}

#[test]
fn none_of_a_configuration() {
    none_holds_up_another::<Configured>();
}
