//! Makes scripts and style sheets smaller without changing their effect.

/// Returns the script or style sheet without indentation, empty lines and comments that begin a line. These
/// are about a quarter of its size.
///
/// # Errors
/// - If code follows the end of a comment on the same line: the code would be left out with the comment.
/// - If a line of text in a template begins like a comment: the line would be left out.
/// - If a template or a brace is not closed: the bounds of templates are then unknown.
pub(crate) fn compact(code: &str) -> Result<String, String> {
    let mut is_in_comment = false;
    let mut open = Vec::new();
    let mut lines = Vec::new();
    for line in code.lines().map(str::trim) {
        let is_comment = line.starts_with("//") || line.starts_with("/*");
        if is_comment && open.last() == Some(&Open::Template) {
            return Err(format!("begin a line of a template with something else: {line}"));
        }
        if is_in_comment || line.starts_with("/*") {
            is_in_comment = match line.split_once("*/") {
                None => true,
                Some((_, "")) => false,
                Some(_) => {
                    return Err(format!("write the code after a comment on a separate line: {line}"));
                }
            };
        } else if !is_comment && !line.is_empty() {
            follow(line, &mut open);
            lines.push(line);
        }
    }
    if open.is_empty() { Ok(lines.join("\n")) } else { Err(format!("open at the end of the file: {open:?}")) }
}

/// Syntax that can stay open at the end of a line.
#[derive(Debug, PartialEq)]
enum Open {
    /// The text between two backticks.
    Template,
    /// The code between two braces, also in a template.
    Braces,
}

/// Updates `open` with this line. Assumes that strings and regular expressions contain no backtick and only
/// matching braces.
fn follow(line: &str, open: &mut Vec<Open>) {
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        let is_text = open.last() == Some(&Open::Template);
        match character {
            '\\' => drop(characters.next()),
            '`' if is_text => drop(open.pop()),
            '`' => open.push(Open::Template),
            '$' if is_text && characters.next_if_eq(&'{').is_some() => open.push(Open::Braces),
            '{' if !is_text => open.push(Open::Braces),
            '}' if !is_text => drop(open.pop()),
            _ => {}
        }
    }
}
