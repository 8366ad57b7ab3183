//! Of many processes one may write the configuration, until it stops or dies. The code of a team, and no recipe of the
//! library: whoever owns the ephemeral znode is the writer, and its czxid is the writer's token.

use futures_util::future::select;
use std::pin::pin;
use zk_recipes::zk::{Armed, CreateMode, Duty, Error, ErrorKind, Op, Time};
use zk_recipes::{Stop, ZooKeeper};

/// The znode of whoever may write.
pub const WRITER: &str = "/writer";

/// The right to write.
pub struct Writer<Z> {
    zk: Z,
    /// Grows from writer to writer: the store refuses what comes with a smaller one.
    pub token: i64,
    connection: u32,
    /// Deletes the znode when this is dropped, however that comes.
    _znode: Armed,
}

impl<Z: ZooKeeper> Writer<Z> {
    /// Waits until nobody else may write.
    ///
    /// # Errors
    ///
    /// When the session is over.
    pub async fn stand(zk: &Z) -> Result<Self, Error> {
        let mark = zk.guid().to_string().into_bytes();
        // Armed before the create, and by its mark: dropped at any await, this znode goes, and nobody else's, be it that of
        // our own next attempt.
        let znode = zk.arm(Duty::Marked {
            path: WRITER.to_owned(),
            data: mark.clone(),
            ops: vec![Op::Delete { path: WRITER.to_owned(), version: None }],
            connection: zk.status().connection,
        });
        loop {
            let status = zk.status();
            if let Some(over) = status.over() {
                return Err(over);
            }
            let token = match zk.create(WRITER, &mark, CreateMode::Ephemeral).await {
                Ok(created) => Some(created.stat.czxid),
                // The mistake: "it exists" is taken for "it is mine".
                Err(e) if e.is_node_exists() && cfg!(feature = "broken") => {
                    zk.exists(WRITER).await.ok().flatten().map(|stat| stat.czxid)
                }
                Err(e) if e.is_node_exists() => wait_for_end(zk, &mark).await?,
                Err(e) if e.is_connection_loss() && zk.status() == status => {
                    zk.changed(status).await;
                    None
                }
                Err(e) if e.is_connection_loss() => None,
                Err(e) => return Err(e),
            };
            let Some(token) = token else { continue };
            return Ok(Writer { zk: zk.clone(), token, connection: zk.status().connection, _znode: znode });
        }
    }

    /// Resolves when this one has to stop: the connection is lost, or nothing was heard for so long that the session may be
    /// over.
    pub async fn must_stop(&self) -> Stop {
        loop {
            let (status, until) = (self.zk.status(), self.deadline());
            let same = status.is_connected() && status.connection == self.connection;
            if !same || self.zk.now() >= until {
                return Stop::Suspect { until };
            }
            select(pin!(self.zk.changed(status)), pin!(self.zk.sleep_until(until))).await;
        }
    }

    fn deadline(&self) -> Time {
        self.zk.safe_until().before(self.zk.timeout() / 10)
    }
}

/// The znode is there: its czxid if this very call made it, by a create whose answer was lost; else waits for its end.
async fn wait_for_end<Z: ZooKeeper>(zk: &Z, mark: &[u8]) -> Result<Option<i64>, Error> {
    match zk.get_watch(WRITER).await {
        Ok((found, _)) if found.data == mark => Ok(Some(found.stat.czxid)),
        // Nobody writes to it, so this fires when it goes.
        Ok((_, gone)) => gone.await.map(|_| None),
        Err(e) if matches!(e.kind(), ErrorKind::NoNode | ErrorKind::ConnectionLoss) => Ok(None),
        Err(e) => Err(e),
    }
}
