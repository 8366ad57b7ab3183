//! The links between the members of an ensemble: two for each pair and direction of connecting, one for votes and one
//! for the packets to and from the leader.

use crate::proxy::{Line, Network, Speech, Way};
use crate::server::Peer;
use std::io;

/// All links of an ensemble, by the connecting and the accepting member. Members are counted from 0.
pub struct ServerLinks {
    links: Vec<Vec<Link>>,
}

/// The link from one member to another.
struct Link {
    line: Line,
    peer: Peer,
}

impl ServerLinks {
    /// Creates links between all members, each of which listens at those ports.
    pub(super) fn link(network: &Network, members: &[Peer]) -> io::Result<ServerLinks> {
        let count = members.len();
        let mut places = Vec::new();
        for _ in 0..count * count {
            places.push((network.place()?, network.place()?));
        }
        let votes: Vec<_> = places.iter().map(|(_, votes)| votes.address()).collect();
        let mut links: Vec<Vec<Link>> = (0..count).map(|_| Vec::new()).collect();
        for (number, (quorum, election)) in places.into_iter().enumerate() {
            let (from, to) = (number / count, number % count);
            let line = Line::default();
            let peer = Peer { quorum: quorum.address().port(), election: election.address().port() };
            if from != to {
                let listens = members[to];
                let at = |port: u16| format!("127.0.0.1:{port}");
                network.link(quorum, &at(listens.quorum), &line, Speech::Bytes)?;
                // The accepting member may call back, over its own link.
                let call_back = votes[to * count + from];
                network.link(election, &at(listens.election), &line, Speech::Votes(call_back))?;
            }
            links[from].push(Link { line, peer: if from == to { members[to] } else { peer } });
        }
        Ok(ServerLinks { links })
    }

    /// The ports at which a member reaches the others, and its own.
    pub(super) fn seen_by(&self, member: usize) -> Vec<Peer> {
        self.links[member].iter().map(|link| link.peer).collect()
    }

    /// Partitions a member from all others: both directions are held.
    pub fn isolate(&self, member: usize) {
        for line in self.lines_of(member) {
            Way::BOTH.into_iter().for_each(|way| line.hold(way));
        }
    }

    /// Holds the packets from one member to another.
    pub fn hold(&self, from: usize, to: usize) {
        self.links[from][to].line.hold(Way::There);
        self.links[to][from].line.hold(Way::Back);
    }

    /// Heals all links.
    pub fn heal(&self) {
        self.links.iter().flatten().for_each(|link| link.line.heal());
    }

    fn lines_of(&self, member: usize) -> impl Iterator<Item = &Line> {
        let there = self.links[member].iter();
        let back = self.links.iter().map(move |links| &links[member]);
        there.chain(back).map(|link| &link.line)
    }
}

impl std::fmt::Debug for ServerLinks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerLinks").field("members", &self.links.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_member_finds_itself_at_its_own_ports_and_the_others_at_links() {
        let network = Network::start().unwrap();
        let members: Vec<Peer> = (1..=3).map(|n| Peer { quorum: n, election: 10 + n }).collect();
        let between = ServerLinks::link(&network, &members).unwrap();
        for member in 0..3 {
            let seen = between.seen_by(member);
            let own: Vec<usize> = (0..3).filter(|other| seen[*other] == members[*other]).collect();
            assert_eq!(own, [member]);
        }
    }

    #[test]
    fn a_member_is_cut_off_both_ways_and_a_link_is_held_one_way_whoever_connected() {
        let network = Network::start().unwrap();
        let members = [Peer { quorum: 1, election: 2 }; 3];
        let between = ServerLinks::link(&network, &members).unwrap();
        let held = |from: usize, to: usize| {
            let line = &between.links[from][to].line;
            Way::BOTH.map(|way| line.holds(way))
        };
        between.isolate(1);
        assert_eq!([held(0, 1), held(1, 0), held(2, 1), held(1, 2)], [[true; 2]; 4]);
        assert_eq!([held(0, 2), held(2, 0)], [[false; 2]; 2]);
        between.heal();
        assert_eq!(held(0, 1), [false; 2]);
        between.hold(0, 2);
        assert_eq!([held(0, 2), held(2, 0)], [[true, false], [false, true]]);
        assert_eq!(held(0, 1), [false; 2]);
    }
}
