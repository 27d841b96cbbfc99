//! Markdown tables, which commands print and write into pages.

use std::path::Path;

/// Writes `content` into the page at `path`: between `<!-- NAME: begin -->` and `<!-- NAME: end -->`.
///
/// # Errors
/// If the page cannot be read or written, or has no such comments. The error is a sentence.
pub fn write(path: &Path, name: &str, content: &str) -> Result<(), String> {
    let page =
        std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let replaced = replace(&page, name, content)
        .ok_or_else(|| format!("{} has no comments that mark {name}", path.display()))?;
    std::fs::write(path, replaced).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// Returns the page with `content` between `<!-- NAME: begin -->` and `<!-- NAME: end -->`; `None` if it has
/// no such comments.
#[must_use]
pub fn replace(page: &str, name: &str, content: &str) -> Option<String> {
    let begin = format!("<!-- {name}: begin -->\n");
    let end = format!("<!-- {name}: end -->");
    let (before, rest) = page.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{begin}{}\n{end}{after}", content.trim()))
}

/// Returns a table. All columns but the first are aligned to the right.
#[must_use]
pub fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let mut text = line(header);
    text.push_str("|---|");
    text.push_str(&"--:|".repeat(header.len().saturating_sub(1)));
    text.push('\n');
    for row in rows {
        text.push_str(&line(row));
    }
    text
}

fn line(cells: &[impl AsRef<str>]) -> String {
    let texts: Vec<_> = cells.iter().map(AsRef::as_ref).collect();
    format!("| {} |\n", texts.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_marked_part_changes() {
        let page = "a\n<!-- one: begin -->\nold\n<!-- one: end -->\nb\n";
        let expected = "a\n<!-- one: begin -->\nnew\n<!-- one: end -->\nb\n";
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
