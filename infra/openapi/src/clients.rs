//! The example clients in `functions/examples`, as a section of the reference.

use std::fmt::Write;
use std::path::Path;

use serde_json::Value;

use crate::error::Error;
use crate::limits::read;

/// The page whose table lists the clients.
const LIST: &str = "functions/examples/README.md";

/// The file of each client, and its language in Markdown.
const CLIENTS: [(&str, &str); 5] = [
    ("functions/examples/discord_price.py", "python"),
    ("functions/examples/alert.py", "python"),
    ("functions/examples/buying_hours.ipynb", "python"),
    ("functions/examples/mcp_server.py", "python"),
    ("functions/examples/prices.gs", "javascript"),
];

/// Returns the section: what each client shows and needs, and its code.
///
/// # Errors
/// If a file cannot be read, or the page does not list it.
pub(crate) fn section(root: &Path) -> Result<String, Error> {
    let list = read(root, LIST)?;
    let mut section =
        "## Examples\n\nClients to copy. `BASE_URL` is the base address, and `API_KEY` a key.\n\n".to_owned();
    for (path, language) in CLIENTS {
        let name = path.rsplit('/').next().unwrap_or(path);
        let row = list.lines().find_map(|line| line.strip_prefix(&format!("| [{name}]({name}) | ")));
        let cells = row.and_then(|row| row.trim_end_matches(" |").split_once(" | "));
        let (shows, needs) = cells.ok_or(Error::NotListed { path, list: LIST })?;
        let code = match serde_json::from_str::<Value>(&read(root, path)?) {
            Ok(notebook) => code_of(&notebook),
            Err(_) => read(root, path)?,
        };
        let code = code.trim_end();
        let _ = write!(
            section,
            "### `{name}`\n\nShows {shows}. Needs {needs}.\n\n```{language}\n{code}\n```\n\n"
        );
    }
    Ok(section)
}

fn code_of(notebook: &Value) -> String {
    let cells = notebook.pointer("/cells").and_then(Value::as_array).into_iter().flatten();
    let code = cells.filter(|cell| cell.get("cell_type").is_some_and(|kind| kind == "code"));
    let lines = |cell: &Value| {
        let lines = cell.get("source").and_then(Value::as_array).into_iter().flatten();
        lines.filter_map(Value::as_str).collect::<String>()
    };
    code.map(lines).collect::<Vec<_>>().join("\n\n")
}
