//! What a call was asked and answered, what it changed, and the znodes that it found.
//!
//! The rules about answers gather the evidence; the descriptions in `kinds` say what it proves.

mod doing;
mod znodes;

pub(crate) use doing::{Act, Doing, Effect};
pub(crate) use znodes::{Place, Znode, Znodes, is_path, proves_nothing};
