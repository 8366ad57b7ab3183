//! The persistent node of the workload: clients keep it, set its data, and delete it.

use super::standing::Open;
use crate::prelude::*;
use futures_util::future::{Either, select};
use std::pin::pin;
use std::time::Duration;
use zk_checker::history::Outcome;
use zk_recipes::names::{Names, NamesOptions};
use zk_recipes::supervisor::{Connect, Held, Lifetime, PersistentNodeOptions, Session, Supervisor};
use zk_recipes::zk::Guid;

use super::workload::NODE;

pub(super) const PATH: &str = "/supervised/nodes/api";
const DIRECTORY: &str = "/supervised/nodes";

/// Keeps the node there for a while, and sets its data. Several clients keep the same one: each waits for the others.
pub(super) async fn keeps<C: Client, X: Connect>(
    client: &C,
    supervisor: &Supervisor<X>,
    pace: Pace,
    written: u32,
    time: Duration,
) {
    let me = client.number();
    let outlives = client.choose(4) == 3;
    let guid = Guid(u128::from(me) << 32 | u128::from(written));
    let lifetime = if outlives { Lifetime::Permanent(guid) } else { Lifetime::Session };
    let data = |number: u32| format!("{me}-{}", written + number);
    let stored = |data: &str| if outlives { format!("{guid}\n{data}") } else { data.to_owned() };
    let open = Open::called(client, NODE, Verb::Keep).with(&stored(&data(0)), u64::from(outlives)).sends();
    let options = PersistentNodeOptions::default().with_lifetime(lifetime);
    let node = supervisor.persistent_node(PATH, data(0).as_bytes(), options);
    let uses = async {
        if let Either::Right(_) = select(pin!(node.until_there()), pin!(client.sleep(time))).await {
            sometimes!(client, "a node waits for another owner", true);
            return;
        }
        let first = supervisor.number();
        for number in 1..=client.choose(4) {
            client.sleep(pace.think * (1 + 40 * client.choose(8))).await;
            sometimes!(client, "a node is created again", !node.is_there());
            let next = data(number);
            let set = Open::called(client, NODE, Verb::Replace).with(&stored(&next), 0);
            let setting = pin!(node.set(next.as_bytes()));
            match select(setting, pin!(client.sleep(time))).await {
                Either::Left((Ok(()), _)) => {
                    sometimes!(
                        client,
                        "a node gets its data in another session",
                        first != supervisor.number()
                    );
                    set.returns(Outcome::Done);
                }
                // It will have them if it lives so long.
                _ => return,
            }
        }
        client.sleep(time).await;
    };
    // An access list may forbid it.
    let _ = select(pin!(node.run()), pin!(uses)).await;
    open.returns(Outcome::Done);
    if outlives {
        unregisters(client, supervisor, guid).await;
    }
}

/// Removes a permanent node, if it is there.
async fn unregisters<C: Client, X: Connect>(client: &C, supervisor: &Supervisor<X>, guid: Guid) {
    let removes = |session: Held<Session<X::Zk>>| async move {
        let names = Names::new(session.zk(), DIRECTORY, NamesOptions::default())?;
        if let Some(own) = names.registered("api", guid).await? {
            match own.unregister().await {
                // Somebody has put a znode below it.
                Err(error) if error.is_not_empty() => {}
                removed => _ = removed?,
            }
        }
        Ok::<_, Error>(())
    };
    let _ = supervisor.run("unregisters", removes).await;
    sometimes!(client, "a permanent node is removed", true);
}

/// Deletes the node, whoever keeps it, and its directory, if nothing else is in it.
pub(super) async fn evicts<C: Client, X: Connect>(client: &C, supervisor: &Supervisor<X>) {
    let Ok(session) = supervisor.session().await else { return };
    let open = Open::called(client, NODE, Verb::Evict).sends();
    let deleted = session.delete(PATH, None).await;
    sometimes!(client, "a node is evicted", deleted.is_ok());
    let _ = session.delete(DIRECTORY, None).await;
    open.returns(if deleted.is_ok() { Outcome::Done } else { Outcome::Unknown });
}
