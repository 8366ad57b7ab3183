//! Which promise was broken, by whom, when and why.
pub mod history;
