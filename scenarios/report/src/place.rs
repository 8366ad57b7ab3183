//! A place in a Markdown page for generated text: the lines between two comments.

/// The comments before and after the text, each on its own line.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The comment before the text.
    pub begin: &'static str,
    /// The comment after the text.
    pub end: &'static str,
}

impl Place {
    /// The present text; `None` if the page has no such place.
    pub fn text<'a>(&self, page: &'a str) -> Option<&'a str> {
        self.parts(page).map(|[_, text, _]| text.trim())
    }

    /// The page with a new text; `None` if the page has no such place.
    pub fn filled(&self, page: &str, text: &str) -> Option<String> {
        let Place { begin, end } = self;
        let [before, _, after] = self.parts(page)?;
        Some(format!("{before}{begin}\n\n{}\n\n{end}{after}", text.trim()))
    }

    fn parts<'a>(&self, page: &'a str) -> Option<[&'a str; 3]> {
        let (before, rest) = page.split_once(self.begin)?;
        let (text, after) = rest.split_once(self.end)?;
        Some([before, text, after])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_between_the_marks_is_replaced() {
        let place = Place { begin: "<!-- begin -->", end: "<!-- end -->" };
        let written = place.filled("top\n<!-- begin -->\nold\n<!-- end -->\nbottom\n", "new\n").unwrap();
        assert_eq!(written, "top\n<!-- begin -->\n\nnew\n\n<!-- end -->\nbottom\n");
        assert_eq!(place.filled(&written, "new\n").unwrap(), written);
        assert_eq!(place.text(&written), Some("new"));
        for page in ["no marks", "<!-- end -->, and then <!-- begin -->"] {
            assert!(place.filled(page, "new").is_none() && place.text(page).is_none());
        }
    }
}
