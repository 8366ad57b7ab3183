//! The parts that recipes are made of.

pub(crate) mod parents;
