//! Four-letter words: `ruok`, `srvr`, `mntr`, `stat`, `cons`, `wchs`.

use sim_zk::raw::Raw;
use std::fmt::Write;

/// Whether these bytes are a word, and not the length of a frame: they would be a frame of more than 1.6 GB.
pub(crate) fn is_word(first: [u8; 4]) -> bool {
    first.iter().all(u8::is_ascii_lowercase)
}

/// What a member answers to a word.
pub(crate) fn answer(word: [u8; 4], server: u8, connections: usize, raw: &Raw) -> String {
    let world = raw.world();
    if &word == b"ruok" {
        return if world.is_running(server) { "imok".to_owned() } else { String::new() };
    }
    if !matches!(&word, b"srvr" | b"stat" | b"mntr" | b"cons" | b"wchs") {
        let word = String::from_utf8_lossy(&word).into_owned();
        return format!("{word} is not executed because it is not in the whitelist.\n");
    }
    if !world.following_quorum().contains(&server) {
        return "This ZooKeeper instance is not currently serving requests\n".to_owned();
    }
    let mode = match (world.config().servers, world.leader_of_quorum()) {
        (1, _) => "standalone",
        (_, Some(leader)) if leader == server => "leader",
        _ => "follower",
    };
    let znodes = world.znodes().count();
    let ephemerals = world.znodes().filter(|(_, owner)| owner.0 > 0).count();
    let watches = world.watches().count();
    let zxid = world.applied(server);
    let mut text = String::new();
    match &word {
        b"mntr" => {
            let version = "zk_version\t3.8.0-zksim";
            let state = format!("zk_server_state\t{mode}");
            let figures = format!(
                "zk_num_alive_connections\t{connections}\nzk_znode_count\t{znodes}\nzk_watch_count\t{watches}\nzk_ephemerals_count\t{ephemerals}"
            );
            let _ = writeln!(text, "{version}\n{state}\n{figures}");
        }
        b"cons" => {}
        b"wchs" => {
            let mut sessions: Vec<_> = world.watches().map(|(_, session)| session).collect();
            sessions.sort_unstable();
            sessions.dedup();
            let mut paths: Vec<_> = world.watches().map(|(path, _)| path).collect();
            paths.sort_unstable();
            paths.dedup();
            let _ = writeln!(
                text,
                "{} connections watching {} paths\nTotal watches:{watches}",
                sessions.len(),
                paths.len()
            );
        }
        _ => {
            let _ = writeln!(text, "Zookeeper version: 3.8.0-zksim");
            let _ = writeln!(
                text,
                "Connections: {connections}\nZxid: {zxid:#x}\nMode: {mode}\nNode count: {znodes}"
            );
        }
    }
    text
}
