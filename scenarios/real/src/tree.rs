//! Lists the znodes below a znode.

use futures_util::future::try_join_all;
use std::collections::VecDeque;
use zk_recipes::zk::{Error, Stat, ZooKeeper, path};

/// All descendants of a znode, parents before their children; none if it does not exist. Znodes that are deleted
/// meanwhile may be missing.
pub(super) async fn tree<Z: ZooKeeper>(zk: &Z, root: &str) -> Result<Vec<(String, Stat)>, Error> {
    let mut found = Vec::new();
    let mut unseen = VecDeque::from([root.to_owned()]);
    while let Some(parent) = unseen.pop_front() {
        let names = match zk.children(&parent).await {
            Ok(list) => list.names,
            Err(e) if e.is_no_node() => continue,
            Err(error) => return Err(error),
        };
        let children = names.iter().map(|name| path::join(&parent, name)).map(|child| {
            let stat = zk.exists(&child);
            async move { Ok::<_, Error>(stat.await?.map(|stat| (child, stat))) }
        });
        for (child, stat) in try_join_all(children).await?.into_iter().flatten() {
            if stat.num_children > 0 {
                unseen.push_back(child.clone());
            }
            found.push((child, stat));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_zk::choose::Calm;
    use sim_zk::{Config, Sim};
    use std::time::Duration;
    use zk_recipes::zk::CreateMode;

    #[test]
    fn everything_below_is_found_parents_first_and_nothing_below_nothing() {
        let run = Sim::run(Config::default(), Duration::from_secs(60), Calm, (), |sim| async move {
            let zk = sim.process("a").open(Duration::from_secs(6)).await;
            for path in ["/a", "/a/b", "/a/b/c", "/a/d", "/e"] {
                zk.create(path, b"", CreateMode::Persistent).await.expect("it is new");
            }
            let found = tree(&zk, "/a").await.expect("it can be listed");
            assert_eq!(tree(&zk, "/x").await, Ok(Vec::new()));
            found.into_iter().map(|(path, _)| path).collect::<Vec<_>>()
        });
        assert_eq!(run.output.expect("it comes to its end"), ["/a/b", "/a/d", "/a/b/c"]);
    }
}
