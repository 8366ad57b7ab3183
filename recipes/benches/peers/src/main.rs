//! The recipes of this workspace beside those of other libraries: `cargo peers` starts a server, lets the peers take turns, and
//! prints rates, requests, notifications, round trips in turn, memory and threads.
//!
//! | module | content |
//! |---|---|
//! | `cli` | the command line, progress, output |
//! | `rows` | the table of rows: operations, sizes, recipes that take part |
//! | `library` | the libraries: whether they are installed, and what starts a program of each |
//! | `measure` | the order of measurement |
//! | `peer` | one process of a library, and how it is spoken to |
//! | `stage`, `proxy` | the server, and the proxies that count and delay |
//! | `figures`, `table`, `readme` | statistics and tables |
//! | `agent` | the programs of libraries in Rust; those of others are `Curator.java` and `kazoo_peer.py` |
//! | `clock`, `interrupt` | real time, and Ctrl-C |
//! | `interop` | tests: our locks beside those of the same libraries |

mod agent;
mod cli;
mod clock;
mod figures;
#[cfg(test)]
mod interop;
mod interrupt;
mod library;
mod measure;
mod peer;
mod proxy;
mod readme;
mod rows;
mod stage;
mod table;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [role, library, rest @ ..] = &words[..]
        && role == library::AS_PEER
    {
        agent::main(library, rest);
        return ExitCode::SUCCESS;
    }
    match cli::main(&cli::Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(3)
        }
    }
}
