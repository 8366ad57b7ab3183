//! The parts that recipes are made of.

pub(crate) mod naming;
pub(crate) mod parents;
pub(crate) mod retry;
