//! Names, configuration and groups.

use super::told;
use insta::assert_snapshot;
use std::collections::BTreeMap;
use zk_recipes::group::WithData;
use zk_recipes::{
    Config, ConfigOptions, ConfigSet, ConfigSetOptions, Freshness, Group, GroupOptions, Names, NamesOptions,
};

#[test]
fn names_are_registered_resolved_and_taken() {
    assert_snapshot!(told(|stage| async move {
        let (a, b) = (stage.client("a").await, stage.client("b").await);
        let on = |zk| Names::new(zk, "/names", NamesOptions::default()).expect("a good path");
        let names = on(&a.zk);
        let registered = names.register("db", b"10.0.0.1").await.expect("it is free");
        let taken = on(&b.zk).register("db", b"10.0.0.2").await;
        assert!(taken.expect_err("it is a's").is_taken());
        on(&b.zk).resolve("db", Freshness::Latest).await.expect("it is there");
        registered.set(b"10.0.0.3").await.expect("it can be changed");
        registered.release().await.expect("it can be released");
        on(&b.zk).resolve("db", Freshness::Latest).await.expect("it has gone");
        let permanent = names.register_permanent("home", b"x").await.expect("it is free");
        permanent.unregister().await.expect("it is there");
        names.unique("job").await.expect("there are numbers left");
    }));
}

#[test]
fn a_value_is_written_and_followed() {
    assert_snapshot!(told(|stage| async move {
        let a = stage.client("a").await;
        let config = Config::new(&a.zk, "/config", ConfigOptions::default()).expect("a good path");
        assert_eq!(config.get().await, Ok(None));
        let first = config.put(b"1").await.expect("it is written");
        config.compare_and_set(Some(&first), b"2").await.expect("nobody else writes");
        let conflict = config.compare_and_set(Some(&first), b"3").await;
        assert!(conflict.expect_err("it is at 2").is_conflict());
        config.follow().next().await.expect("there is a value");
        let set = ConfigSet::new(&a.zk, "/set", ConfigSetOptions::default()).expect("a good path");
        set.publish(&BTreeMap::from([("x".to_owned(), vec![1])]), None).await.expect("it is published");
        set.snapshot().await.expect("it is there");
    }));
}

#[test]
fn a_group_is_joined_viewed_and_left() {
    assert_snapshot!(told(|stage| async move {
        let a = stage.client("a").await;
        let group = Group::new(&a.zk, "/group", GroupOptions::default()).expect("a good path");
        let member = group.join(Some("one"), b"").await.expect("it joins");
        group.follow(WithData::No).next().await.expect("there is a view");
        member.leave().await.expect("it leaves");
    }));
}
