//! What the fuzz targets of `fuzz/` do with their bytes. A panic is a finding; so is a well-behaved client that gets no answer.
//!
//! | target | bytes |
//! |---|---|
//! | [`wire`] | one frame, as the first and as a later one of a connection |
//! | [`front`] | what several clients do, in order: connect, send slices of frames, hang up, wait, meet faults |
//! | [`control`] | a verb, a newline, and the body of a request |
//!
//! The corpus in `fuzz/corpus` is replayed by the tests of this module. [`Load`] is no target: it keeps an ensemble busy for as long as it
//! is asked to, for a look at what grows.

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
