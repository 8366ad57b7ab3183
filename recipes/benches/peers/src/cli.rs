//! The command line: what is asked for, progress, output.

use crate::figures::Entry;
use crate::interrupt::Interrupt;
use crate::library::{Library, Programs};
use crate::measure::{Extent, Figure, Measurement, entries};
use crate::rows::{ROWS, Row};
use crate::stage::{Stage, Storage};
use crate::{readme, table};
use anyhow::bail;
use clap::{Parser, ValueEnum};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// Measures the recipes beside those of other libraries, on one server, in alternation.
#[derive(Debug, Parser)]
#[command(name = "cargo peers", version)]
pub struct Arguments {
    /// Alternations: the median of so many runs counts.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=100))]
    runs: u16,
    /// Where the server keeps its data.
    #[arg(long, value_enum, default_value_t = Storage::Memory)]
    storage: Storage,
    /// Rows by name or by their first words, such as `lock` or `queue-4x4`; all by default.
    #[arg(long, value_delimiter = ',', value_name = "ROWS")]
    only: Vec<String>,
    /// Libraries; all that are installed by default.
    #[arg(long, value_enum, value_delimiter = ',')]
    peers: Vec<Library>,
    /// What is measured; everything by default.
    #[arg(long, value_enum, value_delimiter = ',')]
    figures: Vec<Figure>,
    /// The delay each way for round trips, in milliseconds.
    #[arg(long, default_value_t = 10, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=1000))]
    delay: u64,
    /// A few operations of each row: shows that everything runs. The figures mean nothing.
    #[arg(long)]
    quick: bool,
    /// Lists rows and libraries, and measures nothing.
    #[arg(long, conflicts_with = "write_readme")]
    list: bool,
    /// The form of the results.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Writes the tables into the README of `recipes/benches/peers`, too. With `--only`, the tables of other rows stay, and must
    /// have been made under the same conditions.
    #[arg(long, conflicts_with_all = ["quick", "peers"])]
    write_readme: bool,
}

/// The form of the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Tables in Markdown.
    Text,
    /// A line for each recipe of each row.
    Json,
}

/// Does what is asked for.
///
/// # Errors
///
/// One sentence: a row that is not there, no server, an interrupt.
pub fn main(arguments: &Arguments) -> anyhow::Result<()> {
    let rows = rows(&arguments.only)?;
    let libraries = libraries(&arguments.peers)?;
    if arguments.list {
        list(&rows);
        return Ok(());
    }
    let figures = if arguments.figures.is_empty() { Figure::ALL.to_vec() } else { arguments.figures.clone() };
    let interrupt = Interrupt::listen()?;
    let mut is_first = true;
    // Each row as soon as it is measured: whoever interrupts keeps what there is.
    let tell = |row: &'static Row, entries: &[Entry], conditions: &str| {
        match arguments.format {
            Format::Text if is_first => print!("{conditions}\n{}", table::tables(&[row], entries)),
            Format::Text => print!("\n{}", table::tables(&[row], entries)),
            Format::Json => {
                for entry in entries {
                    println!("{}", serde_json::to_string(entry)?);
                }
            }
        }
        is_first = false;
        anyhow::Ok(())
    };
    let (entries, conditions) = measure(arguments, &rows, &libraries, &figures, &interrupt, tell)?;
    if arguments.write_readme {
        let tables: Vec<_> = rows.iter().map(|row| (row.title, table::tables(&[row], &entries))).collect();
        let path = readme::write(&conditions, &tables)?;
        eprintln!("written: {}", path.display());
    }
    Ok(())
}

/// The rows that the words mean.
fn rows(words: &[String]) -> anyhow::Result<Vec<&'static Row>> {
    for word in words {
        if !ROWS.iter().any(|row| row.is_called(word)) {
            let names: Vec<_> = ROWS.iter().map(|row| row.name).collect();
            bail!("there is no row {word:?}: there are {}", names.join(", "));
        }
    }
    let is_wanted = |row: &&Row| words.is_empty() || words.iter().any(|word| row.is_called(word));
    Ok(ROWS.iter().filter(is_wanted).collect())
}

/// The libraries that take part. One that was asked for must be installed.
fn libraries(asked: &[Library]) -> anyhow::Result<Vec<Library>> {
    let mut present = Vec::new();
    for library in Library::ALL {
        if !asked.is_empty() && !asked.contains(&library) {
            continue;
        }
        match library.installed() {
            Ok(_) => present.push(library),
            Err(missing) if asked.is_empty() => eprintln!("left out: {}: {missing}", library.name()),
            Err(missing) => bail!("{} is not installed: {missing}", library.name()),
        }
    }
    Ok(present)
}

fn list(rows: &[&Row]) {
    println!("libraries");
    for library in Library::ALL {
        let state = library.installed().unwrap_or_else(|missing| format!("not installed: {missing}"));
        println!("  {:<18} {state}", library.name());
    }
    println!("\nrows");
    for row in rows {
        println!("  {:<14} {}: {}", row.name, row.title, row.operation);
    }
}

/// Measures; `tell` gets each row when it is done, and the conditions for the reader. Returns all of them.
fn measure(
    arguments: &Arguments,
    rows: &[&'static Row],
    libraries: &[Library],
    figures: &[Figure],
    interrupt: &Interrupt,
    mut tell: impl FnMut(&'static Row, &[Entry], &str) -> anyhow::Result<()>,
) -> anyhow::Result<(Vec<Entry>, String)> {
    let programs = Programs::prepare(libraries)?;
    let stage = Stage::start(arguments.storage, Duration::from_millis(arguments.delay), arguments.quick)?;
    let conditions = conditions(arguments, libraries, figures, &stage);
    let extent = Extent { runs: usize::from(arguments.runs), is_quick: arguments.quick };
    let measurement = Measurement { stage: &stage, programs: &programs, interrupt, extent };
    let bar = bar((rows.len() * figures.len()) as u64);
    let mut all = Vec::new();
    for row in rows {
        let mut entries = entries(row, |contestant| libraries.contains(&contestant.library));
        for figure in figures {
            bar.set_message(format!("{}: {figure:?}", row.name));
            measurement.measure(row, *figure, &mut entries)?;
            bar.inc(1);
        }
        if !entries.is_empty() {
            bar.suspend(|| tell(row, &entries, &conditions))?;
        }
        all.extend(entries);
    }
    bar.finish_and_clear();
    Ok((all, conditions))
}

fn bar(total: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(10));
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len}, {elapsed}  {msg}")
        .expect("the template is well formed")
        .progress_chars("━╸ ");
    bar.set_style(style);
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}

/// What a reader has to know of how the figures were made.
fn conditions(arguments: &Arguments, libraries: &[Library], figures: &[Figure], stage: &Stage) -> String {
    let version = stage.version().map(|version| format!(" {version}")).unwrap_or_default();
    let names: Vec<String> = libraries
        .iter()
        .filter(|library| library.is_rival())
        .map(|library| format!("{} {}", library.name(), library.installed().unwrap_or_default()))
        .collect();
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let storage =
        arguments.storage.description().replace("ZooKeeper server", &format!("ZooKeeper{version} server"));
    let delay = match figures.contains(&Figure::RoundTrips) {
        true => format!("; round trips with a delay of {} ms each way", arguments.delay),
        false => String::new(),
    };
    format!(
        "Made on {} with {processors} processors, server and peers together: {storage}; {} alternations{delay}. Peers: {}.\n",
        std::env::consts::OS,
        arguments.runs,
        names.join(", "),
    )
}
