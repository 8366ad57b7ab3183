//! A scenario's faults, on the members and links that it names.

use super::cluster::{Cluster, Link, MemberId, PipelineStage};
use super::play::{Player, Stuck};
use super::step::{Fault, LinkFault, Links, MemberFault};

impl<C: Cluster> Player<'_, C> {
    /// The member that has that name now.
    pub(super) fn member(&self, role: &str) -> Option<MemberId> {
        match role {
            "NEWL" => self.cluster.leader(),
            "NEWF" => {
                let (leader, serving) = (self.cluster.leader()?, self.cluster.serving());
                let runs = |member: &MemberId| self.cluster.last_applied(*member).is_some();
                let mut others = self.cast.iter().copied().filter(|member| *member != leader && runs(member));
                others.clone().find(|member| serving.contains(member)).or_else(|| others.next())
            }
            "L" => self.cast.first().copied(),
            follower => {
                let number: usize = follower.strip_prefix('F')?.parse().ok()?;
                self.cast.get(number).copied()
            }
        }
    }

    fn members(&self, roles: &[String]) -> Result<Vec<MemberId>, Stuck> {
        let nobody = |role: &String| Stuck::Nobody { step: self.number, role: role.clone() };
        roles.iter().map(|role| self.member(role).ok_or_else(|| nobody(role))).collect()
    }

    /// Begins or ends a fault.
    pub(super) fn fault(&mut self, fault: &Fault) -> Result<(), Stuck> {
        match fault {
            Fault::Link(what, links) => {
                for link in self.links(links)? {
                    match what {
                        LinkFault::Hold => self.cluster.hold(link),
                        LinkFault::Release => self.cluster.release(link),
                        LinkFault::Lose => self.cluster.lose(link),
                        LinkFault::Heal => self.cluster.heal(link),
                    }
                }
            }
            Fault::MemberId(what, roles) => {
                for member in self.members(roles)? {
                    self.strike(*what, member);
                }
            }
        }
        Ok(())
    }

    fn strike(&mut self, what: MemberFault, member: MemberId) {
        let cluster = &mut self.cluster;
        match what {
            MemberFault::Kill => cluster.kill(member),
            MemberFault::Start => cluster.start(member),
            MemberFault::Pause => cluster.pause(member),
            MemberFault::Resume => cluster.resume(member),
            MemberFault::DiskStop => cluster.stall(member, PipelineStage::Disk),
            MemberFault::DiskResume => cluster.unstall(member, PipelineStage::Disk),
            MemberFault::ApplyStop => cluster.stall(member, PipelineStage::Apply),
            MemberFault::ApplyResume => cluster.unstall(member, PipelineStage::Apply),
            MemberFault::CommitStop => cluster.stall(member, PipelineStage::Commit),
            MemberFault::CommitResume => cluster.unstall(member, PipelineStage::Commit),
        }
    }

    fn links(&self, links: &Links) -> Result<Vec<Link>, Stuck> {
        let (from, to, both) = match links {
            Links::All => (self.cast.clone(), self.cast.clone(), false),
            Links::Between(from, to) => (self.members(from)?, self.members(to)?, false),
            Links::BothWays(from, to) => (self.members(from)?, self.members(to)?, true),
        };
        let mut all = Vec::new();
        for (from, to) in from.iter().flat_map(|from| to.iter().map(move |to| (*from, *to))) {
            if from != to {
                all.push(Link { from, to });
                all.extend(both.then_some(Link { from: to, to: from }));
            }
        }
        Ok(all)
    }
}
