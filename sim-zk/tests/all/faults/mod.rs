//! Every kind of fault: where it strikes, and that it matters: each has the effect that it exists for.

mod blocked;
mod clients;
mod drawn;
mod refusals;
mod servers;
