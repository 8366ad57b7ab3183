//! Every kind of fault: its injection points, and the effect that it exists for.

mod blocked;
mod clients;
mod drawn;
mod refusals;
mod servers;
