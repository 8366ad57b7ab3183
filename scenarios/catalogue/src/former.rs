//! An interceptor by which a recipe takes a znode of an earlier attempt of the same process for its own, even if a
//! former session owns it, whose end deletes the znode.

use crate::session::{Interceptor, Reply};
use futures_util::FutureExt;
use std::sync::{Arc, Mutex, MutexGuard};
use zk_recipes::zk::{CreateMode, Created, Guid, SessionId, ZooKeeper, path};

/// The attempts that a process remembers, across its sessions.
#[derive(Clone, Default)]
pub(super) struct TakesItsFormer(Arc<Mutex<Former>>);

#[derive(Default)]
struct Former {
    guids: Vec<Guid>,
    session: Option<SessionId>,
}

impl TakesItsFormer {
    fn former(&self) -> MutexGuard<'_, Former> {
        self.0.lock().expect("nobody panics while holding this")
    }

    fn knows(&self, name: &str) -> bool {
        self.former().guids.iter().any(|guid| name.starts_with(&guid.to_string()))
    }

    /// Whether this is the first attempt of a session other than the first.
    fn begins_again(&self, session: SessionId) -> bool {
        let before = self.former().session.replace(session);
        before.is_some_and(|before| before != session)
    }
}

impl<Z: ZooKeeper> Interceptor<Z> for TakesItsFormer {
    fn guid(&self, guid: Guid) -> Guid {
        self.former().guids.push(guid);
        guid
    }

    fn create(&self, zk: &Z, path: &str, data: &[u8], mode: CreateMode) -> Reply<Created> {
        let (zk, path, data, former) = (zk.clone(), path.to_owned(), data.to_vec(), self.clone());
        let looks = mode == CreateMode::EphemeralSequential && former.begins_again(zk.session());
        async move {
            let directory = path::split(&path).0;
            if looks && let Ok(list) = zk.children(directory).await {
                for name in list.names.iter().filter(|name| former.knows(name)) {
                    let path = path::join(directory, name);
                    if let Ok(Some(stat)) = zk.exists(&path).await
                        && stat.ephemeral_owner != zk.session()
                    {
                        return Ok(Created { path, stat });
                    }
                }
            }
            zk.create(&path, &data, mode).await
        }
        .boxed()
    }
}
