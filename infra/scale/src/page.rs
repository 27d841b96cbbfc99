//! The places of the tables in a page: between a comment with the name of the table and one with `end`.

/// Returns the page with these tables, by name, in their places; `None` if one has no place.
#[must_use]
pub fn with_tables(page: &str, tables: &[(&str, String)]) -> Option<String> {
    tables.iter().try_fold(page.to_owned(), |page, (name, table)| {
        let (before, rest) = page.split_once(&format!("<!-- cargo scale: {name} -->\n"))?;
        let (_, after) = rest.split_once("<!-- end -->\n")?;
        Some(format!("{before}<!-- cargo scale: {name} -->\n{table}<!-- end -->\n{after}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_replace_what_is_in_their_places() {
        let page =
            "a\n<!-- cargo scale: one -->\nold\n<!-- end -->\nb\n<!-- cargo scale: two -->\n<!-- end -->\n";
        let written = with_tables(page, &[("two", "2\n".to_owned()), ("one", "1\n".to_owned())]);
        let expected =
            "a\n<!-- cargo scale: one -->\n1\n<!-- end -->\nb\n<!-- cargo scale: two -->\n2\n<!-- end -->\n";
        assert_eq!(written.as_deref(), Some(expected));
        assert_eq!(with_tables(page, &[("three", String::new())]), None);
    }
}
