//! The order of contenders: by number while numbers give it, then by czxid.

use super::{Contender, Contenders};
use crate::zk::{Error, ZooKeeper, path};

/// The highest sequence number. Here the server's counter sticks or wraps, and numbers no longer give the order
/// (ZOOKEEPER-4372); czxids do.
pub(super) const WORN: i32 = i32::MAX;

/// Rank in the queue: by number while numbers give the order, then by czxid; equal numbers by czxid.
pub(crate) type Seniority = (bool, i64, i64);

/// A contender in a list of names: its number and its index.
pub(crate) type Numbered = (i32, usize);

/// Whether the number gives the order.
pub(crate) fn is_good(number: i32) -> bool {
    (0..WORN).contains(&number)
}

pub(crate) fn seniority(number: i32, czxid: i64) -> Seniority {
    if is_good(number) { (false, i64::from(number), czxid) } else { (true, czxid, 0) }
}

impl Contenders {
    /// Lists all contenders, in order.
    pub(crate) async fn contenders<Z: ZooKeeper>(&self, zk: &Z) -> Result<Vec<Contender>, Error> {
        let names = match zk.children(&self.directory).await {
            Ok(list) => list.names,
            Err(e) if e.is_no_node() => return Ok(Vec::new()),
            Err(e) => return Err(e),
        };
        if let Some(all) = self.by_number(&names) {
            return Ok(all);
        }
        let order = self.in_order(zk, &names).await?;
        Ok(self.contenders_at(&names, &order))
    }

    /// Lists all contenders in order, if numbers give it. Paths are built in list order and sorted afterwards: with 100,000
    /// names, building them in rank order would miss the cache for each.
    fn by_number(&self, names: &[String]) -> Option<Vec<Contender>> {
        let contender = |name: &String| {
            let number = self.marks.number(name)?;
            Some(Contender { path: path::join(&self.directory, name), number })
        };
        let mut all = Vec::with_capacity(names.len());
        all.extend(names.iter().filter_map(contender));
        all.sort_unstable_by_key(|one| one.number);
        let are_good = all.first().is_none_or(|one| is_good(one.number))
            && all.last().is_none_or(|one| is_good(one.number));
        (are_good && all.is_sorted_by(|one, next| one.number < next.number)).then_some(all)
    }

    /// Builds the contenders at these indices.
    pub(crate) fn contenders_at(&self, names: &[String], order: &[Numbered]) -> Vec<Contender> {
        let contender = |(number, index): &Numbered| Contender {
            path: path::join(&self.directory, &names[*index]),
            number: *number,
        };
        order.iter().map(contender).collect()
    }

    /// Sorts the contenders among `names`.
    pub(crate) async fn in_order<Z: ZooKeeper>(
        &self,
        zk: &Z,
        names: &[String],
    ) -> Result<Vec<Numbered>, Error> {
        let standing = |(index, name): (usize, &String)| Some((self.marks.number(name)?, index));
        let mut order = Vec::with_capacity(names.len());
        order.extend(names.iter().enumerate().filter_map(standing));
        order.sort_unstable();
        // In a sorted list equal numbers are neighbours.
        let alike = |at: usize, other: usize| order.get(other).is_some_and(|one| one.0 == order[at].0);
        let is_unclear = |at: usize| {
            !is_good(order[at].0)
                || alike(at, at + 1)
                || at.checked_sub(1).is_some_and(|before| alike(at, before))
        };
        let mut unclear: Vec<Numbered> =
            (0..order.len()).filter(|at| is_unclear(*at)).map(|at| order[at]).collect();
        if unclear.is_empty() {
            return Ok(order);
        }
        order.retain(|one| unclear.binary_search(one).is_err());
        // The czxids are requested in list order.
        unclear.sort_unstable_by_key(|(_, index)| *index);
        let found = czxids(zk, &self.directory, names, unclear).await?;
        let mut ranked: Vec<(Seniority, Numbered)> =
            order.into_iter().map(|one| (seniority(one.0, 0), one)).collect();
        ranked.extend(
            found.into_iter().map(|(number, index, czxid)| (seniority(number, czxid), (number, index))),
        );
        ranked.sort_unstable_by_key(|(seniority, (_, index))| (*seniority, *index));
        Ok(ranked.into_iter().map(|(_, one)| one).collect())
    }
}

/// Fetches the czxids of contenders whose numbers do not give the order, pipelined; each comes with its index in `names`. A
/// contender that is gone is left out.
pub(crate) async fn czxids<Z: ZooKeeper, N>(
    zk: &Z,
    directory: &str,
    names: &[String],
    of: Vec<(N, usize)>,
) -> Result<Vec<(N, usize, i64)>, Error> {
    let ask = |(number, index): (N, usize)| (number, index, zk.exists(&path::join(directory, &names[index])));
    let asked: Vec<_> = of.into_iter().map(ask).collect();
    let mut found = Vec::with_capacity(asked.len());
    for (number, index, stat) in asked {
        if let Some(stat) = stat.await? {
            found.push((number, index, stat.czxid));
        }
    }
    Ok(found)
}
