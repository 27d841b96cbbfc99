//! Makes scripts and style sheets smaller without changing what they do.

/// Returns the script or style sheet without indentation, empty lines and comments that begin a line, which are a quarter of what
/// browsers would load.
///
/// # Errors
/// - A line in which a comment ends and code follows, because the code would be left out too.
/// - A line of a template that begins like a comment, because it is text.
/// - A file whose templates or braces do not end, because its templates are not known then.
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
                    return Err(format!("write code that follows a comment on a line of its own: {line}"));
                }
            };
        } else if !is_comment && !line.is_empty() {
            follow(line, &mut open);
            lines.push(line);
        }
    }
    if open.is_empty() { Ok(lines.join("\n")) } else { Err(format!("at its end, these are open: {open:?}")) }
}

/// What a line of code can be in.
#[derive(Debug, PartialEq)]
enum Open {
    /// The text between two backticks.
    Template,
    /// The code between two braces, also in a template.
    Braces,
}

/// Notes what is open after this line. Strings and regular expressions hold no backtick and as many braces of each kind.
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
