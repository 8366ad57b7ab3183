//! The znodes of a queue: their names, their order, and their creation.
//!
//! ```text
//! <q>                              the mode, so that nobody uses the queue otherwise
//! <q>/queue-<n>                    an item; with priorities <q>/queue-<ppppp>-<n>
//! <q>/receipts/<guid>              one for each producer and consumer
//! <q>/takers/<guid>-taker-<n>      idle consumers in line
//! <q>/claims/<item>                a claim; its data name the attempt
//! ```

use super::{Delivery, Order};
use crate::parts::contenders::Contenders;
use crate::parts::naming::{Marks, number};
use crate::parts::parents::{Parents, is_at_top};
use crate::parts::retry::{again, connected, unless_again};
use crate::zk::{Error, ErrorKind, Stat, ZooKeeper, path};

/// Idle consumers.
const TAKERS: Marks = Marks::standard(&["-taker-"]);

/// The prefix of items' names.
const ITEM: &str = "queue-";

/// The rank of an item: smaller goes first. Negative numbers, which old servers assign when the counter has wrapped, come
/// last.
pub(super) type ItemRank = (u16, u32);

/// The location and the mode of a queue.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) root: String,
    pub(super) parents: Parents,
    /// `None`: first in, first out.
    pub(super) order: Option<Order>,
    pub(super) delivery: Delivery,
}

impl Layout {
    pub(super) fn receipts(&self) -> String {
        path::join(&self.root, "receipts")
    }

    fn takers(&self) -> String {
        path::join(&self.root, "takers")
    }

    pub(super) fn claims(&self) -> String {
        path::join(&self.root, "claims")
    }

    pub(super) fn item(&self, name: &str) -> String {
        path::join(&self.root, name)
    }

    pub(super) fn claim(&self, name: &str) -> String {
        path::join(&self.claims(), name)
    }

    /// The idle consumers. `make` creates their directory, since the queue above it has data.
    pub(super) fn contenders(&self) -> Contenders {
        Contenders { directory: self.takers(), marks: TAKERS, parents: Parents::MustExist }
    }

    /// The path of an item without its number. The priority has a fixed width and a dash behind it: otherwise `5` would
    /// sort behind `10`, and run into the number.
    pub(super) fn prefix(&self, priority: u16) -> String {
        match self.order {
            None => self.item(ITEM),
            Some(_) => self.item(&format!("{ITEM}{priority:05}-")),
        }
    }

    /// The sequence number of an item's znode. Negative ones, which follow the greatest one, are greater.
    pub(super) fn number(&self, item: &str) -> Option<u32> {
        self.rank(path::split(item).1).map(|(_, number)| number)
    }

    /// Parses the rank of an item; `None` for every other child.
    pub(super) fn rank(&self, name: &str) -> Option<ItemRank> {
        let rest = name.strip_prefix(ITEM)?;
        let (priority, digits) = match self.order {
            None => (0, rest),
            Some(_) => {
                let (priority, digits) = rest.split_at_checked(5)?;
                let is_number = priority.bytes().all(|b| b.is_ascii_digit());
                (is_number.then(|| priority.parse().ok())??, digits.strip_prefix('-')?)
            }
        };
        Some((priority, number(digits)?.cast_unsigned()))
    }

    /// The items among some names, sorted.
    fn ranked(&self, mut names: Vec<String>) -> impl Iterator<Item = (ItemRank, String)> + use<> {
        let mut order = Vec::with_capacity(names.len());
        let place = |(index, name): (usize, &String)| Some((self.rank(name)?, index));
        order.extend(names.iter().enumerate().filter_map(place));
        // Ranks are sorted instead of names, which are larger; names break ties of foreign children.
        order.sort_unstable_by(|(rank, index), (other, at)| {
            rank.cmp(other).then_with(|| names[*index].cmp(&names[*at]))
        });
        order.into_iter().map(move |(rank, index)| (rank, std::mem::take(&mut names[index])))
    }

    /// Splits the items, in order, into unclaimed and claimed ones.
    pub(super) fn sorted(&self, names: Vec<String>, claimed: Vec<String>) -> (Vec<String>, Vec<String>) {
        let mut claimed = self.ranked(claimed).peekable();
        let mut taken = Vec::new();
        // Both lists are in the same order.
        let is_free = |item: (ItemRank, String)| {
            while claimed.next_if(|claim| *claim < item).is_some() {}
            if claimed.peek() != Some(&item) {
                return Some(item.1);
            }
            taken.push(item.1);
            None
        };
        let free = self.ranked(names).filter_map(is_free).collect();
        (free, taken)
    }

    /// The mode of the queue, as its znode has it.
    pub(super) fn mode(&self) -> Vec<u8> {
        let order = match self.order {
            None => "queue",
            Some(Order::Fresh) => "priority-queue",
            Some(Order::Strict) => "strict-priority-queue",
        };
        let delivery = match self.delivery {
            Delivery::AtMostOnce => "at-most-once",
            Delivery::AtLeastOnce => "at-least-once",
        };
        format!("{order} {delivery}").into_bytes()
    }

    /// Creates missing znodes, pipelined, and checks the mode. Returns the next number.
    pub(super) async fn make<Z: ZooKeeper>(&self, zk: &Z) -> Result<u32, Error> {
        let mode = self.parents.mode();
        loop {
            let status = connected(zk).await?;
            let above = (self.parents != Parents::MustExist).then(|| {
                (self.parents.make(zk, path::split(&self.root).0), zk.create(&self.root, &self.mode(), mode))
            });
            let below = match self.delivery {
                Delivery::AtMostOnce => vec![self.receipts(), self.takers()],
                Delivery::AtLeastOnce => vec![self.receipts(), self.takers(), self.claims()],
            };
            let below: Vec<_> = below.iter().map(|directory| zk.create(directory, &[], mode)).collect();
            let mut made = Ok(());
            if let Some((levels, root)) = above {
                let levels = levels.done().await;
                made = refused(root.await);
                if made == Err(ErrorKind::NoNode.into()) && is_at_top(&self.root) {
                    return Err(ErrorKind::NoNode.into());
                }
                match levels {
                    // That is why there is no place for the root.
                    Err(e) if e.is_retryable_refusal() && made == Err(ErrorKind::NoNode.into()) => {
                        made = Err(e)
                    }
                    Err(e) if !e.is_retryable_refusal() => return Err(e),
                    _ => {}
                }
            }
            for directory in below {
                made = made.and(refused(directory.await));
            }
            match made.and(self.check(zk).await) {
                // Reaped or deleted in between.
                Err(e) if e.is_no_node() && self.parents != Parents::MustExist => {}
                Err(e) if e.is_transient() => again(zk, status, e).await?,
                done => return done,
            }
        }
    }

    /// Checks that the queue has this handle's mode, and returns its next number, which may be a while ago. A znode without data
    /// gets ours.
    ///
    /// # Errors
    ///
    /// [`Error::is_mismatch`], `NoNode`.
    pub(super) async fn check<Z: ZooKeeper>(&self, zk: &Z) -> Result<u32, Error> {
        loop {
            let status = connected(zk).await?;
            let Some(stands) = unless_again(zk, status, zk.get(&self.root).await).await? else { continue };
            if stands.data == self.mode() {
                return Ok(next_number(&stands.stat));
            }
            if !stands.data.is_empty() {
                let (ours, theirs) = (self.mode(), stands.data);
                return Err(ErrorKind::Mismatch(format!(
                    "{} is {:?}, not {:?}",
                    self.root,
                    String::from_utf8_lossy(&theirs),
                    String::from_utf8_lossy(&ours)
                ))
                .into());
            }
            match zk.set(&self.root, &self.mode(), Some(stands.stat.version)).await {
                // Deleted and recreated in between, perhaps with another mode.
                Ok(written) if written.czxid != stands.stat.czxid => {
                    return Err(
                        ErrorKind::Mismatch(format!("{} was made anew at the same time", self.root)).into()
                    );
                }
                // Ours, another client's, or lost: read again.
                Ok(_) | Err(Error { kind: ErrorKind::BadVersion, .. }) => {}
                Err(e) => again(zk, status, e).await?,
            }
        }
    }
}

/// The number of children that a directory has had, which is the number of its next sequential child. The stat counts creations
/// and deletions, in 32 bits.
fn next_number(stat: &Stat) -> u32 {
    stat.cversion.wrapping_add(stat.num_children).cast_unsigned() / 2
}

/// An existing level is success.
fn refused<T>(made: Result<T, Error>) -> Result<(), Error> {
    match made {
        Ok(_) | Err(Error { kind: ErrorKind::NodeExists, .. }) => Ok(()),
        Err(e) => Err(e),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(order: Option<Order>) -> Layout {
        let (parents, delivery) = (Parents::Container, Delivery::AtMostOnce);
        Layout { root: "/q".to_owned(), parents, order, delivery }
    }

    #[test]
    fn items_stand_in_the_order_of_their_numbers() {
        let names =
            ["queue-0000000010", "queue-0000000009", "receipts", "queue--000000007", "queue-7", "queue-"];
        let (sorted, _) = layout(None).sorted(names.map(str::to_owned).to_vec(), Vec::new());
        assert_eq!(sorted, ["queue-0000000009", "queue-0000000010", "queue--000000007"]);
    }

    #[test]
    fn what_is_claimed_stands_apart() {
        let texts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let names = texts(&["queue-0000000010", "queue-0000000009", "queue-0000000011", "claims"]);
        let claimed = texts(&["queue-0000000011", "claims", "queue-0000000008", "queue-0000000010"]);
        let (free, taken) = layout(None).sorted(names.clone(), claimed);
        assert_eq!(
            (free, taken),
            (texts(&["queue-0000000009"]), texts(&["queue-0000000010", "queue-0000000011"]))
        );
        assert_eq!(layout(None).sorted(names.clone(), names).0, texts(&[]));
    }

    #[test]
    fn the_smaller_priority_goes_first() {
        let layout = layout(Some(Order::Fresh));
        let names = [
            "queue-00010-0000000001",
            "queue-00009-0000000003",
            "queue-00009-0000000002",
            "queue-0000000001",
            "queue-9-0000000001",
            "queue-99999-0000000001",
            "queue-+0001-0000000001",
            "queue-0000\u{e9}-0000000001",
        ];
        let (sorted, _) = layout.sorted(names.map(str::to_owned).to_vec(), Vec::new());
        assert_eq!(sorted, ["queue-00009-0000000002", "queue-00009-0000000003", "queue-00010-0000000001"]);
        assert_eq!(layout.prefix(5), "/q/queue-00005-");
    }
}
