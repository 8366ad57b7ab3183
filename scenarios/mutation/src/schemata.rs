//! Mutant schemata: a source file in which every mutant stands beside the original, behind a switch.
//!
//! A branch that belongs to a mutant holds original code around its one edit; only the branch of the original holds further
//! switches. So the text grows by the nesting of expressions and not by its power, and whether a mutant type-checks does not
//! depend on the other mutants.

use crate::mutant::Mutant;
use crate::sites::{Shape, Site, sites};
use crate::source::Source;
use std::collections::BTreeSet;
use std::ops::Range;

/// A rewritten file.
#[derive(Debug)]
pub struct Schemata {
    /// The text.
    pub text: String,
    /// The bytes that belong to one mutant alone.
    pub marks: Vec<(Range<usize>, u32)>,
    /// The bytes of a whole switch, with the numbers of its mutants.
    pub switches: Vec<(Range<usize>, Vec<u32>)>,
    /// The mutants for which no switch can be written.
    pub missing: Vec<u32>,
}

/// Rewrites a file so that each of the numbered mutants can be switched on.
pub fn rewrite(source: &Source, mutants: &[(u32, Mutant)]) -> Schemata {
    let (sites, missing) = sites(source, mutants);
    let out = Schemata { text: String::new(), marks: Vec::new(), switches: Vec::new(), missing };
    let mut writer = Writer { source: &source.text, out };
    writer.region(0..source.text.len(), &sites);
    writer.out
}

struct Writer<'a> {
    source: &'a str,
    out: Schemata,
}

impl Writer<'_> {
    /// Writes a region of the source, with the switches of the sites in it.
    fn region(&mut self, region: Range<usize>, mut sites: &[Site]) {
        let mut at = region.start;
        while let [site, rest @ ..] = sites {
            self.out.text.push_str(&self.source[at..site.range.start]);
            let is_inside = |other: &Site| other.range.start < site.range.end;
            let count = rest.iter().take_while(|other| is_inside(other)).count();
            let (inner, behind) = rest.split_at(count);
            self.site(site, inner);
            (at, sites) = (site.range.end, behind);
        }
        self.out.text.push_str(&self.source[at..region.end]);
    }

    fn site(&mut self, site: &Site, inner: &[Site]) {
        let start = self.out.text.len();
        match site.shape {
            Shape::Body => {
                for (number, value) in &site.alternatives {
                    self.mark(*number, &format!(" if {} {{ return {value}; }}", is(*number)));
                }
            }
            Shape::Pattern => {
                self.out.text.push_str(" if true");
                site.deletions.iter().for_each(|number| self.mark(*number, &format!(" && !{}", is(*number))));
            }
            Shape::Statement => {
                for (number, text) in &site.alternatives {
                    self.mark(*number, &format!("if {} {{ {text} }} ", is(*number)));
                }
                site.deletions
                    .iter()
                    .for_each(|number| self.mark(*number, &format!("if !{} {{ ", is(*number))));
                self.region(site.range.clone(), inner);
                site.deletions.iter().for_each(|number| self.mark(*number, " }"));
            }
            Shape::Guard => {
                site.deletions.iter().for_each(|number| self.mark(*number, &format!("!{} && ", is(*number))));
                self.branches(site, inner);
            }
            Shape::Expression => self.branches(site, inner),
        }
        let numbers = site.alternatives.iter().map(|(number, _)| *number).chain(site.deletions.clone());
        self.out.switches.push((start..self.out.text.len(), numbers.collect()));
    }

    fn branches(&mut self, site: &Site, inner: &[Site]) {
        self.out.text.push('(');
        for (number, text) in &site.alternatives {
            self.mark(*number, &format!("if {} {{ {text} }} else ", is(*number)));
        }
        self.out.text.push_str("{ ");
        self.region(site.range.clone(), inner);
        self.out.text.push_str(" })");
    }

    fn mark(&mut self, number: u32, text: &str) {
        let start = self.out.text.len();
        self.out.text.push_str(text);
        self.out.marks.push((start..self.out.text.len(), number));
    }
}

fn is(number: u32) -> String {
    format!("crate::mutant_switch::is({number})")
}

impl Schemata {
    /// The mutants that the spans of one error of the compiler point at: those whose own text has a span in it, of the
    /// primary spans if there is one; else those of the smallest switch around a span.
    pub fn blamed(&self, primary: &[Range<usize>], others: &[Range<usize>]) -> BTreeSet<u32> {
        [primary, others]
            .into_iter()
            .find_map(|spans| some(self.owning(spans)))
            .or_else(|| [primary, others].into_iter().find_map(|spans| some(self.around(spans))))
            .unwrap_or_default()
    }

    fn owning(&self, spans: &[Range<usize>]) -> BTreeSet<u32> {
        let marks = self.marks.iter().filter(|(mark, _)| spans.iter().any(|span| covers(mark, span)));
        marks.map(|(_, number)| *number).collect()
    }

    fn around(&self, spans: &[Range<usize>]) -> BTreeSet<u32> {
        let smallest = |span: &Range<usize>| {
            let around = self.switches.iter().filter(|(switch, _)| covers(switch, span));
            around.min_by_key(|(switch, _)| switch.len()).map(|(_, numbers)| numbers.clone())
        };
        spans.iter().filter_map(smallest).flatten().collect()
    }
}

fn covers(outer: &Range<usize>, inner: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

fn some(numbers: BTreeSet<u32>) -> Option<BTreeSet<u32>> {
    (!numbers.is_empty()).then_some(numbers)
}
