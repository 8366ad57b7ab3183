//! Recipes under load: n clients, r rounds. A workload knows its recipe and the journal; faults are drawn beside it.

pub mod lock;
pub mod raw;
