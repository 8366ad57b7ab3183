//! Programs that are wrong on purpose, over the bare client.

use super::AGAIN;
use hunt_driver::{Driver, PAUSE, pause};
use std::time::Duration;
use zk_client::Client;
use zk_recipes::zk::{CreateMode, ZooKeeper, path};
use zk_recipes::{Error, ErrorKind, Group, GroupOptions, IfTaken};

/// Longer than a client may take until it has learned that its session is over.
const LONG_WORK: Duration = Duration::from_millis(1600);

/// A lock whose holder never looks whether its session still stands.
pub async fn lock(driver: &mut Driver, zk: &Client) -> Result<(), Error> {
    let others = u32::try_from(driver.clients.saturating_sub(2)).unwrap_or(u32::MAX);
    until_there(zk, parent(&driver.object)).await?;
    while !driver.rests() {
        driver.report("asks");
        loop {
            match zk.create(&driver.object, b"", CreateMode::Ephemeral).await {
                Ok(_) => break,
                Err(e) if matches!(e.kind(), ErrorKind::NodeExists | ErrorKind::ConnectionLoss) => {
                    pause(PAUSE).await
                }
                Err(error) => {
                    driver.report("refused");
                    return Err(error);
                }
            }
        }
        driver.report("acquired");
        pause(LONG_WORK).await;
        driver.report("released");
        let _ = zk.delete(&driver.object, None).await;
        // Whoever asks first gets it: the others have their turns, and somebody always waits.
        pause(LONG_WORK * others + LONG_WORK / 5).await;
    }
    Ok(())
}

/// A queue whose consumer takes no lost reply into account: what it may have deleted it never hands out.
pub async fn queue(driver: &mut Driver, zk: &Client, items: &mut u32) -> Result<(), Error> {
    until_there(zk, parent(&driver.object)).await?;
    until_there(zk, &driver.object).await?;
    loop {
        let rests = driver.rests();
        if !rests {
            *items += 1;
            let item = format!("{}-{}-{items}", driver.name, std::process::id());
            driver.report_item("puts", &item);
            let znode = path::join(&driver.object, "item-");
            match zk.create(&znode, item.as_bytes(), CreateMode::PersistentSequential).await {
                Ok(_) => driver.report_item("put", &item),
                Err(error) => {
                    driver.report_item("unknown", &item);
                    if error.is_session_over() {
                        return Err(error);
                    }
                }
            }
        }
        driver.report("takes");
        match take(driver, zk).await {
            Ok(Some(item)) => driver.report_item("took", item),
            Ok(None) => {
                driver.report("empty");
                if rests {
                    return Ok(());
                }
            }
            Err(error) if error.is_session_over() => {
                driver.report("failed");
                return Err(error);
            }
            // Here an item is forgotten.
            Err(_) => driver.report("empty"),
        }
        driver.while_random(PAUSE).await;
    }
}

async fn take(driver: &Driver, zk: &Client) -> Result<Option<String>, Error> {
    let mut names = zk.children(&driver.object).await?.names;
    names.sort();
    for name in names {
        let znode = path::join(&driver.object, &name);
        let data = match zk.get(&znode).await {
            Err(e) if e.is_no_node() => continue,
            data => data?.data,
        };
        match zk.delete(&znode, None).await {
            Err(e) if e.is_no_node() => {}
            deleted => {
                deleted?;
                return Ok(Some(String::from_utf8_lossy(&data).into_owned()));
            }
        }
    }
    Ok(None)
}

/// A member that joins once, and believes in it for ever.
pub async fn group(driver: &mut Driver, zk: &Client) -> Result<(), Error> {
    let group = Group::new(zk, &driver.object, GroupOptions::default().with_if_taken(IfTaken::Wait))?;
    driver.report_item("joins", &driver.name);
    let member = group.join(Some(&driver.name), b"").await;
    let member = member.inspect_err(|_| driver.report_item("refused", &driver.name))?;
    driver.report_item("joined", &driver.name);
    driver.has_rested_for(Duration::ZERO).await;
    driver.rests_to_the_end().await;
    driver.report_item("leaves", &driver.name);
    member.leave().await.map(drop)
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// Makes a znode, unless it is there.
async fn until_there(zk: &Client, path: &str) -> Result<(), Error> {
    if path.is_empty() {
        return Ok(());
    }
    loop {
        match zk.create(path, b"", CreateMode::Persistent).await {
            Ok(_) => return Ok(()),
            Err(e) if e.is_node_exists() => return Ok(()),
            Err(e) if e.is_connection_loss() => pause(AGAIN).await,
            Err(error) => return Err(error),
        }
    }
}
