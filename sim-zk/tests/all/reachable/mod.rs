//! What must be reachable: the odd things that real ZooKeeper may do, and that a simulation without bugs of its own
//! might never show.

mod by_hand;
mod curator264;
mod stories;
mod tapes;
