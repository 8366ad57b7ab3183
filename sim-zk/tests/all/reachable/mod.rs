//! Anomalies that must be reachable: real ZooKeeper allows them, and a simulation without bugs might never show them.

mod by_hand;
mod curator264;
mod stories;
mod tapes;
