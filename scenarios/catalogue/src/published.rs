//! Errors and gaps of ZooKeeper's published recipes page: the behaviour of a program that follows it literally, and the
//! mutant that is that program.
//!
//! The table in `scenarios/docs/published-recipes.md` is generated from this; a test compares them.

/// A passage of the page, followed literally.
pub struct Published {
    /// The recipe.
    pub recipe: &'static str,
    /// What the page says, in our words.
    pub says: &'static str,
    /// The consequence.
    pub happens: &'static str,
    /// The workload that implements it.
    pub workload: &'static str,
}

/// Every passage, in the order of the page.
pub const PUBLISHED: &[Published] = &[
    Published {
        recipe: "error handling",
        says: "after a lost reply, look for the guid among the children, and create again if it is not there",
        happens: "the list comes from a server that lags; the first znode shows up later, and nobody owns it",
        workload: "lock-no-settle",
    },
    Published {
        recipe: "name service",
        says: "\"directly by the API\"",
        happens: "a name that exists is taken for one's own",
        workload: "names-exists-is-mine",
    },
    Published {
        recipe: "configuration",
        says: "\"directly by the API\"",
        happens: "reading and then watching by a second request misses what is written in between",
        workload: "config-arms-late",
    },
    Published {
        recipe: "group membership",
        says: "ephemeral znodes, \"directly by the API\"",
        happens: "who restarts quickly finds its own former znode, takes that for success, and vanishes with it",
        workload: "group-exists-is-joined",
    },
    Published {
        recipe: "barrier",
        says: "ask `exists` with a watch, go on if it says no",
        happens: "the watch stays behind on every barrier that is open",
        workload: "barrier-exists-watch",
    },
    Published {
        recipe: "barrier",
        says: "after the event ask again",
        happens: "who was let go and finds the next barrier raised stays for that one too",
        workload: "barrier-asks-again",
    },
    Published {
        recipe: "double barrier",
        says: "the last one makes `ready`; nobody removes it",
        happens: "the second round is open before anybody comes",
        workload: "double-barrier-ready-stays",
    },
    Published {
        recipe: "double barrier",
        says: "count the children",
        happens: "`ready` is a child too: one participant less is enough",
        workload: "double-barrier-counts-ready",
    },
    Published {
        recipe: "queue",
        says: "items are made with the sequence and *ephemeral* flags",
        happens: "they go with their producer's session",
        workload: "queue-ephemeral-items",
    },
    Published {
        recipe: "queue",
        says: "idle consumers watch the queue",
        happens: "every put wakes all of them",
        workload: "queue-all-watch",
    },
    Published {
        recipe: "priority queue",
        says: "names end in `queue-YY`, the smaller YY first",
        happens: "priority 10 goes before 9, and priorities run into the numbers",
        workload: "priority-queue-page",
    },
    Published {
        recipe: "lock",
        says: "`exists` with a watch on the znode just ahead",
        happens: "where that one is gone already, a watch for its creation stays behind",
        workload: "lock-exists-watch",
    },
    Published {
        recipe: "lock",
        says: "to unlock, simply delete the znode",
        happens: "the delete is lost with the connection, and the lock is held by nobody",
        workload: "lock-forgets-failed-delete",
    },
    Published {
        recipe: "shared lock",
        says: "readers look for children \"starting with `write-`\"",
        happens: "with the guid in front that the page asks for, readers never see a writer",
        workload: "shared-lock-literal-names",
    },
    Published {
        recipe: "shared lock",
        says: "readers watch the writer with the \"next lowest\" number",
        happens: "read as the lowest, each writer that goes wakes all readers behind all writers",
        workload: "shared-lock-lowest-writer",
    },
    Published {
        recipe: "revocable shared lock",
        says: "\"freaking laser beams\": delete the holder's znode",
        happens: "the holder goes on beside the next one, and was never asked",
        workload: "revocable-lock-no-grace",
    },
    Published {
        recipe: "two-phase commit",
        says: "each site makes its own ephemeral znode, and votes in it",
        happens: "a vote for commit vanishes with its session after some have acted on it",
        workload: "two-phase-commit-ephemeral-votes",
    },
    Published {
        recipe: "two-phase commit",
        says: "the coordinator makes the children, one a site",
        happens: "a site decides on half a list",
        workload: "two-phase-commit-children-one-by-one",
    },
    Published {
        recipe: "two-phase commit",
        says: "every site watches all others' votes",
        happens: "n(n − 1) notifications where n are enough",
        workload: "two-phase-commit-watch-all-votes",
    },
    Published {
        recipe: "leader election",
        says: "(the simple solution) all watch the smallest znode",
        happens: "a leader that goes wakes every candidate",
        workload: "election-watch-leader",
    },
    Published {
        recipe: "leader election",
        says: "\"a separate znode to acknowledge\" that the leader has begun",
        happens: "as a plain znode it outlives its leader, and the next one finds the name taken",
        workload: "election-persistent-ack",
    },
    Published {
        recipe: "leader election",
        says: "nothing on how a leader learns that it is deposed",
        happens: "it leads on beside the next one",
        workload: "election-deaf-leader",
    },
];

/// The table, in Markdown.
pub fn table() -> String {
    let mut out = String::from("| recipe | the page | taken at its word | found by |\n|---|---|---|---|\n");
    for Published { recipe, says, happens, workload } in PUBLISHED {
        let rule = crate::find(workload).and_then(|workload| workload.caught_by);
        let rule = rule.map_or("", |caught| caught.by.name());
        out.push_str(&format!(
            "| {recipe} | {says} | {happens} | {rule}: `cargo sim sweep {workload} --seeds 100` |\n"
        ));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use zk_harness::workload::Workload;

    #[test]
    fn every_passage_has_its_broken_recipe() {
        for Published { workload, .. } in PUBLISHED {
            assert!(
                crate::find(workload).is_some_and(Workload::is_mutant),
                "{workload} is not broken on purpose"
            );
        }
    }

    /// `cargo test -p zk-catalogue --lib published` prints the table when it is out of date.
    #[test]
    fn the_page_has_the_table() {
        let page = include_str!("../../docs/published-recipes.md");
        assert!(
            page.contains(&table()),
            "the table of scenarios/docs/published-recipes.md is to be:\n\n{}",
            table()
        );
    }
}
