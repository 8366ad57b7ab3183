//! Four-letter words: `ruok`, `srvr`, `mntr`, `stat`, `cons`, `wchs`, `envi`, `isro`.

use sim_zk::raw::Raw;
use sim_zk::world::World;
use std::collections::BTreeSet;

/// The words that a server knows (`FourLetterCommands`). Anything else is the length of a frame.
const KNOWN: [&[u8; 4]; 18] = [
    b"conf", b"cons", b"crst", b"dirs", b"dump", b"envi", b"gtmk", b"hash", b"isro", b"mntr", b"ruok",
    b"srst", b"srvr", b"stat", b"stmk", b"wchc", b"wchp", b"wchs",
];

/// The words that are answered.
const ANSWERED: [&[u8; 4]; 8] = [b"ruok", b"srvr", b"mntr", b"stat", b"cons", b"wchs", b"envi", b"isro"];

/// Whether these bytes are a word, and not the length of a frame: they would be a frame of more than 1.6 GB.
pub(crate) fn is_word(first: [u8; 4]) -> bool {
    KNOWN.contains(&&first)
}

/// What a member answers to a word, with a line about each of its connections.
pub(crate) fn answer(word: [u8; 4], server: u8, connections: &[String], raw: &Raw) -> String {
    let world = raw.world();
    if !ANSWERED.contains(&&word) {
        let word = String::from_utf8_lossy(&word);
        return format!("{word} is not executed because it is not in the whitelist.\n");
    }
    let serves = world.following_quorum().contains(&server);
    match &word {
        b"ruok" => return if world.is_running(server) { "imok".to_owned() } else { String::new() },
        b"envi" => return format!("Environment:\nzookeeper.version={VERSION}\n"),
        // `IsroCommand` asks before it looks whether the server runs.
        b"isro" => return if serves { "rw" } else { "null" }.to_owned(),
        _ if !serves => return "This ZooKeeper instance is not currently serving requests\n".to_owned(),
        _ => {}
    }
    let watches = || world.watches();
    match &word {
        b"cons" => connections.concat(),
        b"wchs" => format!(
            "{} connections watching {} paths\nTotal watches:{}\n",
            different(watches().map(|(_, session)| session)),
            different(watches().map(|(path, _)| path)),
            watches().count(),
        ),
        b"mntr" => {
            let znodes = world.znodes().count();
            let ephemerals = world.znodes().filter(|(_, owner)| owner.0 > 0).count();
            let figures = [
                ("version", VERSION.to_owned()),
                ("server_state", mode(server, world).to_owned()),
                ("num_alive_connections", connections.len().to_string()),
                ("znode_count", znodes.to_string()),
                ("watch_count", watches().count().to_string()),
                ("ephemerals_count", ephemerals.to_string()),
            ];
            figures.map(|(name, figure)| format!("zk_{name}\t{figure}\n")).concat()
        }
        _ => {
            let clients = match &word {
                b"stat" => format!("Clients:\n{}\n", connections.concat()),
                _ => String::new(),
            };
            format!(
                "Zookeeper version: {VERSION}\n{clients}Connections: {}\nZxid: {:#x}\nMode: {}\nNode count: {}\n",
                connections.len(),
                world.applied(server),
                mode(server, world),
                world.znodes().count(),
            )
        }
    }
}

/// The version whose behaviour the simulation has.
const VERSION: &str = "3.8.0-simulated";

fn mode(server: u8, world: &World) -> &'static str {
    match (world.config().servers, world.leader_of_quorum()) {
        (1, _) => "standalone",
        (_, Some(leader)) if leader == server => "leader",
        _ => "follower",
    }
}

/// How many different ones there are.
fn different<T: Ord>(all: impl Iterator<Item = T>) -> usize {
    all.collect::<BTreeSet<_>>().len()
}
