//! The command: lists, builds and judges mutants. See the crate's documentation.

use anyhow::Context;
use clap::Parser;
use futures_util::{StreamExt, TryStreamExt, stream};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash as _, Hasher as _};
use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use zk_mutation::built::{self, Built};
use zk_mutation::copy::Copy;
use zk_mutation::judge::judge;
use zk_mutation::listing::list;
use zk_mutation::mutant::{Genre, Mutant};
use zk_mutation::reach::{self, Effort, Reach};
use zk_mutation::sample::sample;
use zk_mutation::scope::Scope;
use zk_mutation::source::Source;
use zk_mutation::table::{Judged, inserted, markdown};
use zk_mutation::viable::{LeftOut, drop_unviable};

/// The README with the tables.
const README: &str = "scenarios/README.md";

/// Mutation testing with all mutants in one build. Exits with 1 if a mutant survives that `--known` does not name.
#[derive(Parser)]
struct Arguments {
    /// What is mutated
    #[arg(long, value_enum, default_value = "recipes")]
    scope: Scope,
    /// Number of mutants drawn from all that type-check
    #[arg(long, default_value_t = 400)]
    sample: usize,
    /// Seed of the draw
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Seeds of a short sweep, and of a long one
    #[arg(long, num_args = 2, default_values_t = [200, 2000])]
    seeds: Vec<u64>,
    /// Number of processes beside each other; default: all cores
    #[arg(long)]
    jobs: Option<usize>,
    /// Judge only those that the last run with this scope, sample and seed did not kill, and keep the other outcomes
    #[arg(long)]
    survivors: bool,
    /// Leave out the tests: what sweeps and stories find alone, without a build of the tests
    #[arg(long)]
    without_tests: bool,
    /// File that names known survivors: a line each, with the reason
    #[arg(long, value_name = "FILE", default_value = "scenarios/mutation/survivors.md")]
    known: PathBuf,
    /// Write the tables into scenarios/README.md
    #[arg(long)]
    write_readme: bool,
}

fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let workspace = std::env::current_dir()?;
    let scope = arguments.scope;
    let copy = Copy::of(&workspace, scope)?;
    let mutants = drawn(&workspace, &copy, &arguments)?;
    eprintln!("    building the programs that judge");
    let built = built::build(&copy, scope, !arguments.without_tests)?;
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = arguments.jobs.unwrap_or_else(cores);
    let limits = [60, 240, 30, 240].map(Duration::from_secs);
    let effort = Effort { seeds: [arguments.seeds[0], arguments.seeds[1]], limits, jobs };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(all(&arguments, &copy, &built, effort, &mutants))
}

fn digest(sources: &BTreeMap<String, Source>) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    sources.iter().for_each(|(file, source)| (file, &source.text).hash(&mut hasher));
    hasher.finish()
}

/// The sample, written into the copy. A repeated call that is no request stays in the build and is not judged: most such calls are
/// idempotent.
fn drawn(workspace: &Path, copy: &Copy, arguments: &Arguments) -> anyhow::Result<BTreeMap<u32, Mutant>> {
    let scope = arguments.scope;
    let (sources, listed) = list(workspace, scope)?;
    eprintln!("    {} mutants of {} files", listed.len(), sources.len());
    let mut mutants: BTreeMap<u32, Mutant> = (0..).zip(listed).collect();
    // The compiler is asked once for each state of the sources.
    let kept = copy.root.with_file_name(format!("{}-viable-{:016x}.json", scope.name(), digest(&sources)));
    let left_out: LeftOut = match std::fs::read_to_string(&kept) {
        Ok(text) => {
            let (viable, left_out): (BTreeSet<u32>, LeftOut) = serde_json::from_str(&text)?;
            mutants.retain(|number, _| viable.contains(number));
            left_out
        }
        Err(_) => {
            let left_out = drop_unviable(copy, scope, &sources, &mut mutants)?;
            let viable: BTreeSet<u32> = mutants.keys().copied().collect();
            std::fs::write(&kept, serde_json::to_string(&(viable, left_out))?)?;
            left_out
        }
    };
    eprintln!("    {} type-check; left out: {left_out:?}", mutants.len());
    let mut sample = sample(&mutants, arguments.sample, arguments.seed);
    let again = drop_unviable(copy, scope, &sources, &mut sample)?;
    let drawn = sample.len();
    sample.retain(|_, mutant| {
        let text = &sources[&mutant.file].text[Range::from(mutant.span)];
        mutant.genre != Genre::RepeatStatement || text.contains(".await")
    });
    eprintln!("    {drawn} drawn, {again:?} of them left out, and {} to judge", sample.len());
    Ok(sample)
}

async fn all(
    arguments: &Arguments,
    copy: &Copy,
    built: &Built,
    effort: Effort,
    mutants: &BTreeMap<u32, Mutant>,
) -> anyhow::Result<ExitCode> {
    let scope = arguments.scope;
    let home = copy.root.parent().context("the copy lies in a folder")?;
    let scratch = home.join(format!("{}-reached", scope.name()));
    std::fs::create_dir_all(&scratch)?;
    eprintln!("    recording which mutants each judge reaches");
    let reach: Reach = reach::record(built, effort, &scratch).await?;
    let results = home.join(format!("{}-{}-{}.jsonl", scope.name(), arguments.sample, arguments.seed));
    let earlier = if arguments.survivors { read(&results)? } else { BTreeMap::new() };
    let judged = stream::iter(mutants).map(|(number, mutant)| {
        let kept = earlier.get(mutant).filter(|one| one.outcome.is_killed()).cloned();
        let reach = &reach;
        async move {
            if let Some(kept) = kept {
                return anyhow::Ok((*number, kept));
            }
            let outcome = judge(built, reach, effort, *number).await?;
            println!("{number:4} {}\n     {}", mutant.title(), outcome.words());
            Ok((*number, Judged { mutant: mutant.clone(), outcome }))
        }
    });
    let mut running = judged.buffer_unordered(effort.jobs);
    let mut judged = BTreeMap::new();
    // Written one by one: a run that is interrupted goes on with `--survivors`.
    let mut file = std::fs::File::create(&results)?;
    while let Some((number, one)) = running.try_next().await? {
        writeln!(file, "{}", serde_json::to_string(&one)?)?;
        judged.insert(number, one);
    }
    let judged: Vec<Judged> = judged.into_values().collect();
    let text = markdown(&judged, scope.folder());
    println!("\n{text}");
    if arguments.write_readme {
        let readme = std::fs::read_to_string(README)?;
        let written =
            inserted(&readme, text.trim_end()).with_context(|| format!("{README} lacks the marks"))?;
        std::fs::write(README, written)?;
    }
    let known = std::fs::read_to_string(&arguments.known)
        .with_context(|| format!("{} cannot be read", arguments.known.display()))?;
    let survivors = judged.iter().filter(|one| !one.outcome.is_killed());
    let unknown: Vec<_> = survivors.filter(|one| !known.contains(&one.mutant.title())).collect();
    for one in &unknown {
        println!("{}: {}", one.outcome.words(), one.mutant.title());
    }
    Ok(if unknown.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn read(results: &Path) -> anyhow::Result<BTreeMap<Mutant, Judged>> {
    let text =
        std::fs::read_to_string(results).with_context(|| format!("no results in {}", results.display()))?;
    let judged = text.lines().map(serde_json::from_str::<Judged>);
    judged.map(|one| one.map(|one| (one.mutant.clone(), one)).map_err(Into::into)).collect()
}
