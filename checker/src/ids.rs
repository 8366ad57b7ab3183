//! The numbers by which events name texts, operations, requests, sessions, connections and objects.

use serde::{Deserialize, Serialize};

macro_rules! ids {
    ($($(#[doc = $doc:literal])+ $id:ident($number:ty);)+) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $id(pub $number);
    )+};
}

ids! {
    /// An interned text: a path, a znode's name, a client's name.
    Sym(u32);
    /// The number of an operation of a client: a [`What::Call`](crate::history::What::Call) and everything done for it.
    /// Zero is none.
    OpId(u32);
    /// The number of a request. Dense, from 1.
    ReqId(u32);
    /// The number of a session. Dense, from 1; zero is none, or not known yet.
    Session(u16);
    /// The number of a connection between a client and a server. Zero is none, or not known.
    Conn(u16);
    /// The number of a declared object: an index into [`History::objects`](crate::history::History::objects).
    ObjectId(u16);
}

impl Conn {
    /// Whether the connection is not known.
    pub fn is_none(&self) -> bool {
        self.0 == 0
    }
}
