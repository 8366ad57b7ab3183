//! The fuzz targets of `fuzz/`. A panic is a finding; so is a well-behaved client without an answer.
//!
//! | target | bytes |
//! |---|---|
//! | [`wire`] | one frame, as the first and as a later one of a connection |
//! | [`front`] | the steps of several clients: connect, send slices of frames, hang up, wait, meet faults |
//! | [`control`] | a verb, a newline, and the body of a request |
//!
//! The tests of this module replay the corpus in `fuzz/corpus`. [`Load`] is not a target: it keeps an ensemble busy for
//! as long as needed, to measure growth.

mod control;
mod front;
mod input;
mod load;
mod sane;
#[cfg(test)]
mod tests;
mod wire;

pub use control::control;
pub use front::front;
pub use load::{Load, Loaded};
pub use wire::wire;
