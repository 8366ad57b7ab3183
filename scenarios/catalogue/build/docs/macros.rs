//! The macros of the recipes that make methods, expanded by the shape of their arms: a word, then arguments between commas.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use std::collections::BTreeMap;
use syn::parse::{ParseStream, Parser};

/// The macros that a source may call, by name.
#[derive(Default)]
pub(crate) struct Macros(BTreeMap<String, Vec<Arm>>);

struct Arm {
    word: String,
    parameters: Vec<String>,
    body: TokenStream,
}

impl Macros {
    /// Takes in the `macro_rules!` of a file.
    pub(crate) fn learn(&mut self, file: &syn::File) {
        for item in &file.items {
            let syn::Item::Macro(syn::ItemMacro { ident: Some(ident), mac, .. }) = item else { continue };
            let groups: Vec<Group> = groups(&mac.tokens).collect();
            let arms = groups.chunks(2).filter_map(|pair| match pair {
                [pattern, body] => Arm::of(&pattern.stream(), body.stream()),
                _ => None,
            });
            self.0.insert(ident.to_string(), arms.collect());
        }
    }

    /// The items that a call makes, or `None` if the macro makes no items.
    pub(crate) fn items(&self, call: &syn::Macro) -> Option<Vec<syn::Item>> {
        let file: syn::File = syn::parse2(self.expand(call)?).expect("an arm makes items");
        Some(file.items)
    }

    /// Visits the functions of an `impl`, with those that macros make.
    pub(crate) fn each_function(&self, items: &[syn::ImplItem], visit: &mut dyn FnMut(&syn::ImplItemFn)) {
        for item in items {
            match item {
                syn::ImplItem::Fn(function) => visit(function),
                syn::ImplItem::Macro(call) => {
                    let made = self.expand(&call.mac).expect("the macro is known");
                    let items = impl_items.parse2(made).expect("an arm makes items of an impl");
                    self.each_function(&items, visit);
                }
                _ => {}
            }
        }
    }

    fn expand(&self, call: &syn::Macro) -> Option<TokenStream> {
        let arms = self.0.get(&call.path.segments.last()?.ident.to_string())?;
        let mut tokens = call.tokens.clone().into_iter();
        let TokenTree::Ident(word) = tokens.next()? else { return None };
        let arm = arms.iter().find(|arm| word == arm.word)?;
        let arguments = arguments(tokens.collect());
        let bound: BTreeMap<&str, TokenStream> =
            arm.parameters.iter().map(String::as_str).zip(arguments).collect();
        Some(substitute(&arm.body, &bound))
    }
}

impl Arm {
    fn of(pattern: &TokenStream, body: TokenStream) -> Option<Arm> {
        let tokens: Vec<TokenTree> = pattern.clone().into_iter().collect();
        let TokenTree::Ident(word) = tokens.first()? else { return None };
        let is_dollar = |token: &TokenTree| matches!(token, TokenTree::Punct(p) if p.as_char() == '$');
        let pairs = tokens.windows(2).filter(|pair| is_dollar(&pair[0]));
        let parameters = pairs.map(|pair| pair[1].to_string()).collect();
        Some(Arm { word: word.to_string(), parameters, body })
    }
}

fn impl_items(input: ParseStream<'_>) -> syn::Result<Vec<syn::ImplItem>> {
    let mut items = Vec::new();
    while !input.is_empty() {
        items.push(input.parse()?);
    }
    Ok(items)
}

fn groups(tokens: &TokenStream) -> impl Iterator<Item = Group> {
    tokens.clone().into_iter().filter_map(|token| match token {
        TokenTree::Group(group) => Some(group),
        _ => None,
    })
}

fn arguments(tokens: Vec<TokenTree>) -> Vec<TokenStream> {
    let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(p) if p.as_char() == ',');
    let parts = tokens.split(is_comma).map(|part| part.iter().cloned().collect());
    parts.filter(|part: &TokenStream| !part.is_empty()).collect()
}

/// Puts the arguments in the place of `$name`, and `crate` in that of `$crate`.
fn substitute(body: &TokenStream, bound: &BTreeMap<&str, TokenStream>) -> TokenStream {
    let mut out = Vec::new();
    let mut tokens = body.clone().into_iter();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(dollar) if dollar.as_char() == '$' => {
                let Some(TokenTree::Ident(name)) = tokens.next() else { continue };
                let name = name.to_string();
                match bound.get(name.as_str()) {
                    Some(argument) => out.extend(argument.clone()),
                    None => out.push(Ident::new("crate", Span::call_site()).into()),
                }
            }
            TokenTree::Group(group) => {
                let inside = substitute(&group.stream(), bound);
                // The compiler puts an argument into a group without delimiters; the parser takes it bare.
                let delimiter = match group.delimiter() {
                    Delimiter::None => Delimiter::Parenthesis,
                    delimiter => delimiter,
                };
                out.push(Group::new(delimiter, inside).into());
            }
            token => out.push(token),
        }
    }
    out.into_iter().collect()
}
