//! Tables of Markdown.

pub(crate) fn code(text: &str) -> String {
    format!("`{text}`")
}

/// Returns a table of Markdown with an empty line after it, or an empty text without rows.
pub(crate) fn table<const N: usize>(titles: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let row =
        |cells: [String; N]| format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|")).join(" | "));
    let body: String = rows.map(row).collect();
    if body.is_empty() {
        return body;
    }
    format!("{}|{}\n{body}\n", row(titles.map(str::to_owned)), "---|".repeat(N))
}
