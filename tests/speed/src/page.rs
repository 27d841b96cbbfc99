//! The part of a page that a command writes: everything between two comments.

use std::path::Path;

/// Replaces what the page has between `<!-- NAME: begin -->` and `<!-- NAME: end -->`.
///
/// # Errors
/// A sentence, when the page cannot be read or written, or has no such part.
pub(crate) fn write(page: &Path, name: &str, content: &str) -> Result<(), String> {
    let text = std::fs::read_to_string(page);
    let text = text.map_err(|error| format!("cannot read {}: {error}", page.display()))?;
    let replaced = replace(&text, name, content)
        .ok_or_else(|| format!("{} has no comments that mark {name}", page.display()))?;
    std::fs::write(page, replaced).map_err(|error| format!("cannot write {}: {error}", page.display()))
}

fn replace(text: &str, name: &str, content: &str) -> Option<String> {
    let (begin, end) = (format!("<!-- {name}: begin -->\n"), format!("<!-- {name}: end -->"));
    let (before, rest) = text.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{begin}\n{}\n\n{end}{after}", content.trim()))
}

/// A table in Markdown. All columns but the first are aligned to the right.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: &[&str]| format!("| {} |\n", cells.join(" | "));
    let mut text = line(header);
    text.push_str("|---|");
    text.push_str(&"--:|".repeat(header.len().saturating_sub(1)));
    text.push('\n');
    for row in rows {
        text.push_str(&line(&row.iter().map(String::as_str).collect::<Vec<_>>()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_marked_part_changes() {
        let page = "a\n<!-- one: begin -->\nold\n<!-- one: end -->\nb\n";
        let expected = "a\n<!-- one: begin -->\n\nnew\n\n<!-- one: end -->\nb\n";
        assert_eq!(replace(page, "one", "new\n").as_deref(), Some(expected));
        assert_eq!(replace(expected, "one", "new").as_deref(), Some(expected));
        assert_eq!(replace(page, "two", "new"), None);
    }

    #[test]
    fn a_table_has_a_line_for_each_row() {
        let rows = [vec!["a".to_owned(), "1".to_owned()]];
        assert_eq!(table(&["what", "ms"], &rows), "| what | ms |\n|---|--:|\n| a | 1 |\n");
    }
}
