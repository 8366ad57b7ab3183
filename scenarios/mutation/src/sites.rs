//! The places of a syntax tree at which mutants can be switched on.

use crate::mutant::{Genre, Mutant};
use crate::source::{Source, bytes};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;
use syn::visit::{self, Visit};
use syn::{Arm, Block, Expr, ExprBinary, ExprUnary, ImplItemFn, ItemFn, TraitItemFn};

/// A place, and the numbers of its mutants with the text that each puts there.
#[derive(Debug)]
pub struct Site {
    /// The bytes that are rewritten; empty where something is inserted.
    pub range: Range<usize>,
    /// How the switch is written.
    pub shape: Shape,
    /// A number and a text for each mutant.
    pub alternatives: Vec<(u32, String)>,
    /// The numbers of mutants that leave the place out.
    pub deletions: Vec<u32>,
}

/// How the switch is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shape {
    /// At the start of a function's body: an early return.
    Body,
    /// Behind the pattern of an arm without a guard: a guard.
    Pattern,
    /// A statement: a condition around it, and another one ahead of it.
    Statement,
    /// The guard of an arm.
    Guard,
    /// An expression: an `if` with a branch for each mutant.
    Expression,
}

/// The sites of a file, outer ones before inner ones, and the numbers of mutants that have none.
pub fn sites(source: &Source, mutants: &[(u32, Mutant)]) -> (Vec<Site>, Vec<u32>) {
    let mut wanted: BTreeMap<(usize, usize), Vec<(u32, &Mutant)>> = BTreeMap::new();
    for (number, mutant) in mutants {
        wanted.entry((mutant.span.start, mutant.span.end)).or_default().push((*number, mutant));
    }
    let mut finder = Finder { source, wanted, sites: BTreeMap::new() };
    finder.visit_file(&source.tree);
    let mut missing: Vec<u32> = finder.wanted.into_values().flatten().map(|(number, _)| number).collect();
    missing.sort_unstable();
    (finder.sites.into_values().collect(), missing)
}

struct Finder<'a> {
    source: &'a Source,
    /// The mutants without a site, by their span.
    wanted: BTreeMap<(usize, usize), Vec<(u32, &'a Mutant)>>,
    sites: BTreeMap<(usize, bool, Reverse<usize>, Shape), Site>,
}

impl<'a> Finder<'a> {
    /// Takes the mutants of these genres at a span.
    fn take(&mut self, span: Range<usize>, genres: &[Genre]) -> Vec<(u32, &'a Mutant)> {
        let Some(here) = self.wanted.get_mut(&(span.start, span.end)) else { return Vec::new() };
        here.extract_if(.., |(_, mutant)| genres.contains(&mutant.genre)).collect()
    }

    fn site(&mut self, range: Range<usize>, shape: Shape) -> &mut Site {
        // An insertion stands before what begins at the same byte.
        let key = (range.start, !range.is_empty(), Reverse(range.end), shape);
        let none = || Site { range, shape, alternatives: Vec::new(), deletions: Vec::new() };
        self.sites.entry(key).or_insert_with(none)
    }

    fn expression(&mut self, range: Range<usize>, operator: Range<usize>, genre: Genre) {
        let text = &self.source.text;
        let (before, behind) = (&text[range.start..operator.start], &text[operator.end..range.end]);
        for (number, mutant) in self.take(operator, &[genre]) {
            let text = format!("{before}{}{behind}", mutant.replacement);
            self.site(range.clone(), Shape::Expression).alternatives.push((number, text));
        }
    }

    fn body(&mut self, block: &Block) {
        let (Some(first), Some(last)) = (block.stmts.first(), block.stmts.last()) else { return };
        let inside = bytes(&block.brace_token.span.open()).end;
        for (number, mutant) in self.take(bytes(first).start..bytes(last).end, &[Genre::FnValue]) {
            let text = mutant.replacement.clone();
            self.site(inside..inside, Shape::Body).alternatives.push((number, text));
        }
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.body(&item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.body(&item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        if let Some(block) = &item.default {
            self.body(block);
        }
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_block(&mut self, block: &'ast Block) {
        for stmt in &block.stmts {
            let range = bytes(stmt);
            for (number, mutant) in
                self.take(range.clone(), &[Genre::DeleteStatement, Genre::RepeatStatement])
            {
                let text = self.source.text[range.clone()].to_owned();
                let site = self.site(range.clone(), Shape::Statement);
                match mutant.genre {
                    Genre::DeleteStatement => site.deletions.push(number),
                    _ => site.alternatives.push((number, text)),
                }
            }
        }
        visit::visit_block(self, block);
    }

    fn visit_arm(&mut self, arm: &'ast Arm) {
        let deleted = self.take(bytes(arm), &[Genre::MatchArm]);
        let guard = arm.guard.as_ref().map(|(_, guard)| bytes(guard));
        let replaced = guard.clone().map(|guard| self.take(guard, &[Genre::MatchArmGuard]));
        let place = match guard {
            Some(guard) => (guard, Shape::Guard),
            None => {
                let behind = bytes(&arm.pat).end;
                (behind..behind, Shape::Pattern)
            }
        };
        for (number, _) in deleted {
            self.site(place.0.clone(), place.1).deletions.push(number);
        }
        for (number, mutant) in replaced.into_iter().flatten() {
            let text = mutant.replacement.clone();
            self.site(place.0.clone(), place.1).alternatives.push((number, text));
        }
        visit::visit_arm(self, arm);
    }

    fn visit_expr_binary(&mut self, expr: &'ast ExprBinary) {
        // A condition that binds with `let` can stand in no branch: its mutants have no site.
        if !binds(&expr.left) && !binds(&expr.right) {
            self.expression(bytes(expr), bytes(&expr.op), Genre::BinaryOperator);
        }
        visit::visit_expr_binary(self, expr);
    }

    fn visit_expr_unary(&mut self, expr: &'ast ExprUnary) {
        self.expression(bytes(expr), bytes(&expr.op), Genre::UnaryOperator);
        visit::visit_expr_unary(self, expr);
    }
}

fn binds(expr: &Expr) -> bool {
    match expr {
        Expr::Let(_) => true,
        Expr::Binary(expr) => binds(&expr.left) || binds(&expr.right),
        _ => false,
    }
}
