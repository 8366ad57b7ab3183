//! All tests of the rewriting in one binary. Each module says what it tries.

mod blame;
mod common;
mod listing;
mod rewriting;
mod sampling;
mod statements;
mod table;
