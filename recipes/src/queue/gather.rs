//! Steps 2 to 4: listing, reading, and taking or claiming.

use super::claimed::Claimed;
use super::consumer::{Consumer, IfEmpty, Item, Read};
use super::spread::Spread;
use super::{Delivery, Idle, Order};
use crate::parts::contenders::OwnContender;
use crate::parts::receipt::WriteOutcome;
use crate::parts::retry::{again, connected};
use crate::zk::{CreateMode, Data, Duty, Error, ErrorKind, Listing, Op, ZooKeeper};
use std::collections::{BTreeSet, VecDeque};

/// The result of step 4.
enum Tried {
    Got,
    /// Another consumer was faster with one of them.
    Refused,
    /// One of them was written since it was read.
    Rewritten,
    /// The list is stale, or of a deleted queue.
    Stale,
}

/// The number of refusals in one call after which a consumer waits its turn before it retries.
const PATIENT_REFUSALS: u32 = 1;

/// The same for a relaxed consumer, which retries with another share of the items first.
const RELAXED_REFUSALS: u32 = 4;

/// The most items that are read at once to find out which of them are still there.
const MOST_READ: usize = 1024;

/// The length of a name in a list of names, in bytes.
const LENGTH_BYTES: usize = 4;

impl<Z: ZooKeeper> Consumer<Z> {
    /// Steps 2 to 6, until items are in hand.
    pub(super) async fn gather(&mut self, count: usize, if_empty: IfEmpty) -> Result<(), Error> {
        self.stand().await?;
        if self.recover().await? {
            return Ok(());
        }
        if self.layout().order.is_some() {
            // Every call lists anew.
            self.known.clear();
        }
        let mut contender = None;
        let mut refusals = 0;
        let most_refusals = if self.spread.is_some() { RELAXED_REFUSALS } else { PATIENT_REFUSALS };
        loop {
            if self.known.is_empty() {
                self.list().await?;
            }
            if self.known.is_empty() {
                if if_empty == IfEmpty::GivesUp {
                    return Ok(());
                }
                self.idle(&mut contender).await?;
            } else if refusals >= most_refusals && if_empty == IfEmpty::Waits {
                self.stand_in_line(&mut contender).await?;
                refusals = 0;
                continue;
            }
            self.deal().await?;
            let read = self.read(count).await?;
            if read.is_empty() {
                continue;
            }
            let tried = match self.layout().delivery {
                Delivery::AtMostOnce => self.take_them(read, &mut contender).await?,
                Delivery::AtLeastOnce => self.claim_them(read, &mut contender).await?,
            };
            match tried {
                Tried::Got => return Ok(()),
                Tried::Refused => {
                    refusals += 1;
                    if let Some(spread) = &mut self.spread {
                        spread.lost_a_race();
                    }
                }
                Tried::Rewritten => {}
                Tried::Stale => {
                    self.forget();
                    self.stand().await?;
                }
            }
        }
    }

    /// Step 1. A list from the time of another receipt may be of a queue that was deleted and recreated since, where the
    /// same names are other items.
    async fn stand(&mut self) -> Result<(), Error> {
        self.core.ready(&self.receipt).await?;
        let stands = self.receipt.path().unwrap_or_default();
        if *self.stood != *stands {
            self.stood = stands.into();
            self.forget();
            self.ahead.clear();
        }
        Ok(())
    }

    /// Forgets the list, but not what was read.
    fn forget(&mut self) {
        self.known.clear();
        if let Some(spread) = &mut self.spread {
            spread.forget();
        }
    }

    /// Settles a dropped take: the receipt tells whether its items are ours.
    pub(super) async fn recover(&mut self) -> Result<bool, Error> {
        if self.under_way.is_empty() {
            return Ok(false);
        }
        let fate = self.receipt.settled().await?;
        let items = std::mem::take(&mut self.under_way);
        if fate == Some(WriteOutcome::Applied) {
            items.iter().for_each(|item| self.strike(&item.name));
            self.hand.extend(items.into_iter().map(Item::from));
        }
        Ok(!self.hand.is_empty())
    }

    /// Step 2.
    pub(super) async fn list(&mut self) -> Result<(), Error> {
        loop {
            let status = connected(&self.core.zk).await?;
            let list = self.core.zk.children(&self.layout().root);
            let claims = self.claims_listing();
            match list.await {
                Ok(list) => {
                    let Some(claimed) = names_of(&self.core.zk, claims).await? else { continue };
                    self.knows(list.names, claimed, list.stat.version);
                    return Ok(());
                }
                Err(e) if e.is_no_node() => self.core.make().await?,
                Err(e) => again(&self.core.zk, status, e).await?,
            }
        }
    }

    /// Requests the list of claims, if the queue delivers by claims.
    pub(super) fn claims_listing(
        &self,
    ) -> Option<impl Future<Output = Result<Listing, Error>> + Send + use<Z>> {
        let layout = self.layout();
        (layout.delivery == Delivery::AtLeastOnce).then(|| self.core.zk.children(&layout.claims()))
    }

    /// Records a list; returns the items that are claimed.
    pub(super) fn knows(&mut self, names: Vec<String>, claimed: Vec<String>, version: i32) -> Vec<String> {
        let (free, taken) = self.layout().sorted(names, claimed);
        self.forget();
        self.known = free.into();
        self.is_fresh = true;
        self.ahead.forget_unless_in(&self.known);
        self.version = version;
        taken
    }

    /// Deals a relaxed consumer its next share, when the last one is used up.
    async fn deal(&mut self) -> Result<(), Error> {
        let Some(window) =
            self.spread.as_ref().filter(|spread| spread.share().is_empty()).map(Spread::window)
        else {
            return Ok(());
        };
        if !std::mem::take(&mut self.is_fresh) {
            self.look_again(window).await?;
        }
        let (layout, random) = (&self.core.layout, self.core.zk.guid().0);
        if let Some(spread) = &mut self.spread {
            spread.deal(self.known.iter().take(window), |name| layout.number(name), random);
        }
        Ok(())
    }

    /// Brings the first `count` known items up to date when others may have taken some: by reading them, or by a new list,
    /// whichever is shorter.
    pub(super) async fn look_again(&mut self, count: usize) -> Result<(), Error> {
        self.ahead.clear();
        let list: usize = self.known.front().map_or(0, |name| name.len() + LENGTH_BYTES) * self.known.len();
        if self.ahead.bytes_of(count) > list {
            return self.list().await;
        }
        let Some(claimed) = names_of(&self.core.zk, self.claims_listing()).await? else { return Ok(()) };
        let claimed: BTreeSet<String> = claimed.into_iter().collect();
        let mut reach = count;
        while self.known.front().is_some_and(|first| self.ahead.of(first).is_none()) {
            let next: Vec<String> = self.known.iter().take(reach).cloned().collect();
            let (claimed, free): (Vec<_>, Vec<_>) = next.into_iter().partition(|name| claimed.contains(name));
            claimed.iter().for_each(|name| self.strike(name));
            self.read_ahead(free).await?;
            reach = (2 * reach).min(MOST_READ.max(count));
        }
        Ok(())
    }

    /// The items to take next, in order.
    fn next(&self) -> &VecDeque<String> {
        self.spread.as_ref().map_or(&self.known, Spread::share)
    }

    /// Step 3, if the next items were not read before. Returns no more than a transaction can deliver.
    async fn read(&mut self, count: usize) -> Result<Vec<Read>, Error> {
        let next: Vec<&String> = self.next().iter().take(count).take_while(self.fits()).collect();
        if next.iter().any(|name| self.ahead.of(name).is_none()) {
            let names = self.next().iter().take(self.ahead.amount(next.len())).take_while(self.fits());
            self.read_ahead(names.cloned().collect()).await?;
        }
        let mut room = self.core.room();
        let mut read: Vec<Read> = Vec::new();
        for name in self.next().iter().take(count) {
            let Some(data) = self.ahead.of(name) else { break };
            let bytes = self.core.bytes_of(name, &data.data);
            if bytes > room && !read.is_empty() {
                break;
            }
            room = room.saturating_sub(bytes);
            read.push(Read { name: name.clone(), data: data.clone() });
        }
        Ok(read)
    }

    /// Whether a transaction has room for one more item, as far as its name tells.
    fn fits(&self) -> impl FnMut(&&String) -> bool + use<'_, Z> {
        let mut room = self.core.room();
        move |name| {
            let bytes = self.core.bytes_of(name, &[]);
            let fits = room >= bytes;
            room = room.saturating_sub(bytes);
            fits
        }
    }

    /// Reads those of some items that were not read before, and strikes those that are gone.
    async fn read_ahead(&mut self, mut names: Vec<String>) -> Result<(), Error> {
        names.retain(|name| self.ahead.of(name).is_none());
        if names.is_empty() {
            return Ok(());
        }
        let paths: Vec<String> = names.iter().map(|name| self.layout().item(name)).collect();
        let answers = loop {
            let status = connected(&self.core.zk).await?;
            match self.core.zk.get_many(&paths).await {
                Ok(answers) => break answers,
                Err(e) => again(&self.core.zk, status, e).await?,
            }
        };
        let mut read = Vec::with_capacity(names.len());
        for (name, data) in names.into_iter().zip(answers) {
            match data {
                Some(data) => read.push((name, data)),
                None => self.strike(&name),
            }
        }
        self.ahead.keep(read);
        Ok(())
    }

    fn strike(&mut self, name: &str) {
        self.ahead.forget(name);
        if let Some(spread) = &mut self.spread {
            spread.strike(name);
        }
        // It is one of the first, so a search from the front is cheap.
        if let Some(at) = self.known.iter().position(|other| other == name) {
            self.known.remove(at);
        }
    }

    /// The guard of a transaction of step 4: with [`Order::Strict`], that no put came since the list.
    fn guard(&self) -> Vec<Op> {
        match self.layout().order {
            Some(Order::Strict) => {
                vec![Op::Check { path: self.layout().root.clone(), version: Some(self.version) }]
            }
            Some(Order::Fresh) | None => Vec::new(),
        }
    }

    /// Sends a transaction of step 4: the guard, `each` operations for each of `names`, and the deletion of the own
    /// contender.
    async fn attempt(
        &mut self,
        names: &[String],
        each: usize,
        ops: Vec<Op>,
        contender: &mut Option<OwnContender>,
    ) -> Result<Tried, Error> {
        let guard = self.guard();
        let before = guard.len();
        let mut all: Vec<Op> = guard.into_iter().chain(ops).collect();
        let own = all.len();
        loop {
            all.truncate(own);
            all.extend(
                contender
                    .as_ref()
                    .map(|contender| Op::Delete { path: contender.path.clone(), version: None }),
            );
            let written = self.receipt.write_under(&self.stood, &all).await;
            let (index, cause) = match written {
                Ok(None) => return Ok(Tried::Stale),
                Ok(Some(_)) => {
                    if let Some(contender) = contender.take() {
                        contender.armed.done();
                    }
                    for name in names {
                        self.strike(name);
                    }
                    return Ok(Tried::Got);
                }
                Err(Error { kind: ErrorKind::Multi { index, cause }, .. }) => (index, *cause),
                Err(e) => return Err(e),
            };
            match cause {
                Error { kind: ErrorKind::BadVersion | ErrorKind::NoNode, .. } if index < before => {
                    return Ok(Tried::Stale);
                }
                // Another client has deleted the own contender: continue without it.
                Error { kind: ErrorKind::NoNode, .. } if index >= own => {
                    if let Some(contender) = contender.take() {
                        contender.armed.done();
                    }
                }
                // The directory of the claims is missing.
                Error { kind: ErrorKind::NoNode, .. }
                    if each > 1 && (index - before).is_multiple_of(each) =>
                {
                    self.core.make().await?
                }
                Error { kind: ErrorKind::NoNode | ErrorKind::NodeExists, .. } => {
                    self.strike(&names[(index - before) / each]);
                    return Ok(Tried::Refused);
                }
                // Read it again.
                Error { kind: ErrorKind::BadVersion, .. } => {
                    self.ahead.forget(&names[(index - before) / each]);
                    return Ok(Tried::Rewritten);
                }
                cause => return Err(ErrorKind::Multi { index, cause: Box::new(cause) }.into()),
            }
        }
    }

    /// Step 4 with [`Delivery::AtMostOnce`].
    async fn take_them(
        &mut self,
        read: Vec<Read>,
        contender: &mut Option<OwnContender>,
    ) -> Result<Tried, Error> {
        let names: Vec<String> = read.iter().map(|read| read.name.clone()).collect();
        let delete = |Read { name, data }: &Read| Op::Delete {
            path: self.layout().item(name),
            version: Some(data.stat.version),
        };
        let ops: Vec<Op> = read.iter().map(delete).collect();
        self.under_way = read;
        let tried = self.attempt(&names, 1, ops, contender).await;
        match tried {
            Ok(Tried::Got) => self.hand.extend(self.under_way.drain(..).map(Item::from)),
            // Not applied, or the outcome stays unknown.
            _ => self.under_way.clear(),
        }
        tried
    }

    /// Step 4 with [`Delivery::AtLeastOnce`].
    async fn claim_them(
        &mut self,
        read: Vec<Read>,
        contender: &mut Option<OwnContender>,
    ) -> Result<Tried, Error> {
        let guid = self.core.zk.guid().to_string().into_bytes();
        let connection = self.core.zk.status().connection;
        let mut names = Vec::with_capacity(read.len());
        let mut ops = Vec::with_capacity(2 * read.len());
        let mut claims = Vec::with_capacity(read.len());
        for Read { name, data: Data { data, stat } } in read {
            ops.push(Op::Create {
                path: self.layout().claim(&name),
                data: guid.clone(),
                mode: CreateMode::Ephemeral,
            });
            let path = self.layout().item(&name);
            ops.push(Op::Set { path, data: data.clone(), version: Some(stat.version) });
            let version = stat.version.wrapping_add(1);
            // The data of the claim tell whether it is ours. The item's version does not, until the outcome is known, or if
            // another client has written or deleted the item.
            let claim = self.layout().claim(&name);
            let gives_back = Duty::Marked {
                path: claim.clone(),
                data: guid.clone(),
                ops: vec![Op::Delete { path: claim, version: None }],
                connection,
            };
            claims.push(Claimed {
                armed: self.core.zk.arm(gives_back),
                mark: guid.clone(),
                core: self.core.clone(),
                receipt: self.receipt.clone(),
                stood: self.stood.clone(),
                item: Item { data, czxid: stat.czxid },
                name: name.clone(),
                version,
            });
            names.push(name);
        }
        let tried = self.attempt(&names, 2, ops, contender).await;
        match &tried {
            Ok(Tried::Got) => {
                self.claims.extend(claims);
            }
            // Nothing was claimed.
            Ok(Tried::Refused | Tried::Rewritten | Tried::Stale) => {
                claims.into_iter().for_each(|claim| claim.armed.done())
            }
            // They may be ours, so dropping them gives them back.
            Err(_) => {}
        }
        tried
    }

    /// Whether idle consumers wait one after the other.
    pub(super) fn is_herd_free(&self) -> bool {
        self.core.idle == Idle::HerdFree
    }
}

/// The names in an optional list whose directory may be missing; `None` if the list was lost.
pub(super) async fn names_of<Z: ZooKeeper>(
    zk: &Z,
    listing: Option<impl Future<Output = Result<Listing, Error>>>,
) -> Result<Option<Vec<String>>, Error> {
    let Some(listing) = listing else { return Ok(Some(Vec::new())) };
    let status = zk.status();
    match listing.await {
        Ok(listing) => Ok(Some(listing.names)),
        Err(e) if e.is_no_node() => Ok(Some(Vec::new())),
        // The caller waits for the reconnect anyway.
        Err(e) if e.is_connection_loss() => Ok(None),
        Err(e) => again(zk, status, e).await.map(|()| None),
    }
}
