//! Reads a list.

use super::entry::{Entry, Judgement, Promise};

/// Reads the list of a recipe.
///
/// # Errors
///
/// A sentence that names the line and the mistake.
pub fn parse(recipe: &'static str, text: &str) -> Result<Vec<Entry>, String> {
    let mut reader = Reader { recipe, entries: Vec::new(), open: Vec::new() };
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if !line.is_empty() && (!line.starts_with('#') || line.starts_with("## ")) {
            reader.line(line).map_err(|problem| format!("line {}: {problem}", number + 1))?;
        }
    }
    reader.close()?;
    Ok(reader.entries)
}

struct Reader {
    recipe: &'static str,
    entries: Vec<Entry>,
    /// Sentences whose judgement has not been read yet.
    open: Vec<(String, String)>,
}

impl Reader {
    fn line(&mut self, line: &str) -> Result<(), String> {
        if let Some(subjects) = line.strip_prefix("## ") {
            self.close()?;
            self.entries.push(Entry { recipe: self.recipe, subjects: list(subjects), ..Entry::default() });
            return Ok(());
        }
        if let Some((heading, says)) = line.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
            self.entry()?;
            self.open.push((heading.to_owned(), says.to_owned()));
        } else if let Some(names) = line.strip_prefix("called by ") {
            let names = if names == "nobody" { Vec::new() } else { list(names) };
            self.entry()?.called_by = names;
        } else if let Some(names) = line.strip_prefix("shown by ") {
            return self.shown(list(names));
        } else {
            self.judged(judgement(line)?)?;
        }
        Ok(())
    }

    fn entry(&mut self) -> Result<&mut Entry, String> {
        self.entries.last_mut().ok_or_else(|| "an entry begins with `## ` and a method".to_owned())
    }

    fn judged(&mut self, judgement: Judgement) -> Result<(), String> {
        let open = std::mem::take(&mut self.open);
        let entry = self.entry()?;
        match (open.is_empty(), entry.promises.is_empty() && entry.judgement.is_none()) {
            (true, true) => entry.judgement = Some(judgement),
            (true, false) => return Err("a judgement stands below the sentences that it is about".to_owned()),
            (false, _) => {
                let of = |(heading, says)| Promise { heading, says, judgement: judgement.clone() };
                entry.promises.extend(open.into_iter().map(of));
            }
        }
        Ok(())
    }

    /// Adds mutants to the judgement above, of all sentences that share it.
    fn shown(&mut self, names: Vec<String>) -> Result<(), String> {
        let entry = self.entry()?;
        let last = match entry.promises.last() {
            Some(promise) => promise.judgement.clone(),
            None => entry.judgement.clone().ok_or("mutants stand below `judged by`")?,
        };
        let Judgement::By { judges, .. } = &last else {
            return Err("mutants stand below `judged by`".to_owned());
        };
        let with = Judgement::By { judges: judges.clone(), mutants: names };
        let shared = entry.promises.iter_mut().rev().take_while(|promise| promise.judgement == last);
        let mut count = 0;
        for promise in shared {
            promise.judgement = with.clone();
            count += 1;
        }
        if count == 0 {
            entry.judgement = Some(with);
        }
        Ok(())
    }

    fn close(&self) -> Result<(), String> {
        match self.open.first() {
            Some((heading, says)) => Err(format!("no judgement follows the sentence [{heading}] {says}")),
            None => Ok(()),
        }
    }
}

fn judgement(line: &str) -> Result<Judgement, String> {
    if let Some(judges) = line.strip_prefix("judged by ") {
        Ok(Judgement::By { judges: list(judges), mutants: Vec::new() })
    } else if let Some(reference) = line.strip_prefix("as ") {
        Ok(Judgement::As(reference.to_owned()))
    } else if let Some(reason) = line.strip_prefix("not judged: ") {
        Ok(Judgement::Nobody(reason.to_owned()))
    } else if line == "no promise" {
        Ok(Judgement::NoPromise)
    } else {
        Err(format!("`{line}` begins with no word of the list"))
    }
}

fn list(names: &str) -> Vec<String> {
    names.split(',').map(|name| name.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_share_the_judgement_below_them() {
        let text = "# c\n## A::b, C::d\ncalled by lock\njudged by MX-4\nshown by m\n\n[E] one\n[E] two\njudged by MX-5, t.rs::x\nshown by n\n[E] three\nno promise\n";
        let [entry] = &parse("lock", text).expect("a list")[..] else { panic!("one entry") };
        let by = |judges: &[&str], mutant: &str| Judgement::By {
            judges: judges.iter().map(|judge| (*judge).to_owned()).collect(),
            mutants: vec![mutant.to_owned()],
        };
        assert_eq!(entry.subjects, ["A::b", "C::d"]);
        assert_eq!(entry.judgement, Some(by(&["MX-4"], "m")));
        let judgements: Vec<_> = entry.promises.iter().map(|promise| promise.judgement.clone()).collect();
        let shared = by(&["MX-5", "t.rs::x"], "n");
        assert_eq!(judgements, [shared.clone(), shared, Judgement::NoPromise]);
    }

    #[test]
    fn a_list_that_cannot_be_read_is_refused_with_its_line() {
        let problem = |text| parse("lock", text).expect_err("it is wrong");
        assert_eq!(problem("[E] one\n"), "line 1: an entry begins with `## ` and a method");
        assert_eq!(problem("## A\nfoo\n"), "line 2: `foo` begins with no word of the list");
        assert_eq!(problem("## A\n[E] one\n"), "no judgement follows the sentence [E] one");
        assert_eq!(
            problem("## A\n[E] one\nno promise\nno promise\n"),
            "line 4: a judgement stands below the sentences that it is about"
        );
        assert_eq!(problem("## A\nno promise\nshown by x\n"), "line 3: mutants stand below `judged by`");
    }
}
