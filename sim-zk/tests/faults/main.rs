//! Every kind of fault: where it strikes, and that it matters: each has the effect that it exists for.

#[path = "../common/mod.rs"]
mod common;

mod blocked;
mod clients;
mod drawn;
mod servers;
