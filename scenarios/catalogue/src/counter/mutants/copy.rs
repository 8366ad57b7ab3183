//! A counter as other libraries have it: it reads the count, and writes the sum if the version is unchanged. Its znodes are
//! those of the recipe.

use crate::counter::workload::{Counting, PATH, new};
use crate::prelude::*;
use zk_recipes::zk::CreateMode;
use zk_recipes::{Freshness, Updates};

/// The steps that can be wrong.
pub(super) struct Mutation {
    /// After a lost reply it reads, and adds again.
    pub looks_after_loss: bool,
    pub loss_is_refusal: bool,
    pub writes_with_version: bool,
    pub sets_with_version: bool,
    pub tells_its_last_try: bool,
    pub asks_as_freshly: bool,
}

impl Mutation {
    /// No wrong step but that a lost reply is left unknown.
    pub(super) const RIGHT: Mutation = Mutation {
        looks_after_loss: false,
        loss_is_refusal: false,
        writes_with_version: true,
        sets_with_version: true,
        tells_its_last_try: true,
        asks_as_freshly: true,
    };
}

#[derive(Clone)]
pub(super) struct Optimistic<Z> {
    pub zk: Z,
    pub mutation: &'static Mutation,
}

/// A count, and the version of its znode; none if there is no znode.
type Read = (i64, Option<i32>);

impl<Z: ZooKeeper> Optimistic<Z> {
    fn value(&self) -> String {
        format!("{PATH}/value")
    }

    async fn read(&self) -> Result<Read, Error> {
        match self.zk.get(&self.value()).await {
            Ok(found) => {
                let text = String::from_utf8_lossy(&found.data).into_owned();
                let number: i64 = text.parse().unwrap_or(0);
                let count = number.saturating_add(found.stat.version.cast_unsigned().into());
                Ok((count, Some(found.stat.version)))
            }
            Err(e) if e.is_no_node() => Ok((0, None)),
            Err(e) => Err(e),
        }
    }

    /// Writes a count.
    async fn write(&self, count: i64, version: Option<i32>, is_conditional: bool) -> Result<(), Error> {
        let Some(version) = version else {
            let (directory, _) = PATH.rsplit_once('/').expect("it is absolute");
            for path in [directory, PATH] {
                match self.zk.create(path, b"", CreateMode::Persistent).await {
                    Err(e) if !e.is_node_exists() => return Err(e),
                    _ => {}
                }
            }
            let data = count.to_string().into_bytes();
            return self.zk.create(&self.value(), &data, CreateMode::Persistent).await.map(drop);
        };
        // The version behind the write is one more.
        let number = count - 1 - i64::from(version.cast_unsigned());
        let condition = is_conditional.then_some(version);
        self.zk.set(&self.value(), number.to_string().as_bytes(), condition).await.map(drop)
    }

    /// Reads and writes until nobody is faster.
    async fn change(
        &self,
        is_conditional: bool,
        new: impl Fn(i64) -> Result<i64, Error> + Send,
    ) -> Result<i64, Error> {
        let mut first = None;
        loop {
            let (count, version) = self.read().await?;
            let new = new(count)?;
            let told = *first.get_or_insert(new);
            match self.write(new, version, is_conditional).await {
                Ok(()) => return Ok(if self.mutation.tells_its_last_try { new } else { told }),
                Err(e) if e.is_bad_version() || e.is_node_exists() => {}
                Err(e) if e.is_connection_loss() && self.mutation.looks_after_loss => {
                    let status = self.zk.status();
                    if !status.is_connected() {
                        self.zk.changed(status).await;
                    }
                }
                Err(e) if e.is_connection_loss() && self.mutation.loss_is_refusal => {
                    return Err(ErrorKind::Exhausted(PATH.to_owned()).into());
                }
                Err(e) => return Err(e),
            }
        }
    }
}

impl<Z: ZooKeeper> Counting for Optimistic<Z> {
    async fn add(&self, number: i64) -> Result<Option<i64>, Error> {
        self.change(self.mutation.writes_with_version, |count| Ok(count + number)).await.map(Some)
    }

    async fn get(&self, freshness: Freshness) -> Result<i64, Error> {
        let freshness = if self.mutation.asks_as_freshly { freshness } else { Freshness::Local };
        new(&self.zk).get(freshness).await
    }

    async fn set(&self, count: i64) -> Result<(), Error> {
        self.change(true, |_| Ok(count)).await.map(drop)
    }

    async fn compare_and_set(&self, expected: i64, new: i64) -> Result<(), Error> {
        let compared = move |count| if count == expected { Ok(new) } else { Err(ErrorKind::Conflict.into()) };
        self.change(self.mutation.sets_with_version, compared).await.map(drop)
    }

    type Updates = Updates<Z>;

    fn follow(&self) -> Updates<Z> {
        new(&self.zk).follow()
    }
}
