//! Mutants that cargo-mutants does not make: a statement is left out, or executed twice.
//!
//! A recipe is a sequence of requests, so its typical bug is a skipped step or a repeated one.
//!
//! * Left out: a call whose value is not used (also behind `.await` and `?`, also as `let _ = …`), an assignment, and an early
//!   `return`, `break` or `continue`, if what follows it has a type without it.
//! * Twice: such a call.
//!
//! Calls of `observe` are left alone: they write spans and metrics, and decide nothing.

use crate::mutant::{Genre, Mutant};
use crate::source::{Source, bytes};
use syn::visit::{self, Visit};
use syn::{Attribute, Block, Expr, Item, Meta, Pat, Stmt};

/// The mutants of a file's statements, outside tests and outside implementations of `Debug` and `Display`.
pub fn statements(source: &Source) -> Vec<Mutant> {
    let mut found = Found { source, mutants: Vec::new(), unit: Vec::new() };
    found.visit_file(&source.tree);
    found.mutants
}

struct Found<'a> {
    source: &'a Source,
    mutants: Vec<Mutant>,
    /// The blocks that have the type `()` without their last statement: bodies of loops, and of an `if` without `else`.
    unit: Vec<usize>,
}

impl Found<'_> {
    fn add(&mut self, genre: Genre, stmt: &Stmt) {
        let span = bytes(stmt);
        let verb = if genre == Genre::DeleteStatement { "delete" } else { "repeat" };
        let description = format!("{verb} statement `{}`", self.source.excerpt(span.clone()));
        let (file, line) = (self.source.path.clone(), self.source.line(span.start));
        self.mutants.push(Mutant {
            file,
            span: span.into(),
            genre,
            replacement: String::new(),
            line,
            description,
        });
    }

    fn is_unit(&mut self, block: &Block) {
        self.unit.push(bytes(block).start);
    }
}

impl<'ast> Visit<'ast> for Found<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes = match item {
            Item::Fn(item) => &item.attrs,
            Item::Impl(item) if is_text_form(item) => return,
            Item::Impl(item) => &item.attrs,
            Item::Mod(item) => &item.attrs,
            _ => &Vec::new(),
        };
        if !attributes.iter().any(is_test) {
            visit::visit_item(self, item);
        }
    }

    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::If(expr) if expr.else_branch.is_none() => self.is_unit(&expr.then_branch),
            Expr::While(expr) => self.is_unit(&expr.body),
            Expr::ForLoop(expr) => self.is_unit(&expr.body),
            Expr::Loop(expr) => self.is_unit(&expr.body),
            _ => {}
        }
        visit::visit_expr(self, expr);
    }

    fn visit_block(&mut self, block: &'ast Block) {
        let is_unit = self.unit.contains(&bytes(block).start);
        for (index, stmt) in block.stmts.iter().enumerate() {
            let (expr, is_last) = (unused(stmt), index + 1 == block.stmts.len());
            match expr {
                Some(Expr::Return(_) | Expr::Break(_) | Expr::Continue(_)) if is_last && !is_unit => {}
                Some(
                    Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) | Expr::Assign(_) | Expr::Binary(_),
                ) => self.add(Genre::DeleteStatement, stmt),
                Some(expr) if is_call(expr) => {
                    self.add(Genre::DeleteStatement, stmt);
                    self.add(Genre::RepeatStatement, stmt);
                }
                _ => {}
            }
        }
        visit::visit_block(self, block);
    }
}

/// The expression of a statement whose value is not used.
fn unused(stmt: &Stmt) -> Option<&Expr> {
    match stmt {
        Stmt::Expr(expr, Some(_)) => Some(expr),
        Stmt::Local(local) if matches!(local.pat, Pat::Wild(_)) => {
            local.init.as_ref().filter(|init| init.diverge.is_none()).map(|init| &*init.expr)
        }
        _ => None,
    }
}

fn is_call(expr: &Expr) -> bool {
    match expr {
        Expr::Await(expr) => is_call(&expr.base),
        Expr::Try(expr) => is_call(&expr.expr),
        Expr::MethodCall(_) => true,
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) => path.path.segments.first().is_none_or(|first| first.ident != "observe"),
            _ => true,
        },
        _ => false,
    }
}

fn is_test(attribute: &Attribute) -> bool {
    let Meta::List(list) = &attribute.meta else { return attribute.path().is_ident("test") };
    list.path.is_ident("cfg") && list.tokens.to_string() == "test"
}

fn is_text_form(item: &syn::ItemImpl) -> bool {
    let name = item.trait_.as_ref().and_then(|(_, path, _)| path.segments.last());
    name.is_some_and(|name| name.ident == "Debug" || name.ident == "Display")
}
