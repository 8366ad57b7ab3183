//! The parts of ZooKeeper's wire protocol that clients and servers share: frames, their encoding and the operation codes.
//!
//! This module knows neither sockets nor clocks.
//!
//! | module | content |
//! |---|---|
//! | [`frame`] | packets behind their lengths |
//! | [`jute`] | the encoding: numbers, texts, buffers, lists |
//! | [`number`] | the numbers of operations, and the xids that mean something |

pub mod frame;
pub mod jute;
pub mod number;
