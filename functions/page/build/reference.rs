//! The API reference as HTML, generated from the OpenAPI document. The HTML is in the page itself, so that a
//! reader without JavaScript, or with a slow connection, does not wait for Scalar.

use std::fmt::Write;
use std::io;

use serde_json::Value;

/// The path and the example that the quick start requests, and the fields that it prints.
const FIRST_PATH: &str = "/v1/bazaar";
const FIRST_EXAMPLE: &str = "item";
const FIRST_FIELDS: [&str; 3] = ["id", "buyPrice", "sellPrice"];

/// The maximum number of lines of a response to show.
const RESPONSE_LINES: usize = 40;

/// The element that the page's script fills with the address of the service.
const BASE: &str = "<span class=\"base\">YOUR_BASE_URL</span>";

/// Returns the page with parts of the document in place of the page's placeholders.
pub(crate) fn with_document(page: &str, document: &Value) -> io::Result<String> {
    let (python, output) = first_steps(document)
        .ok_or_else(|| io::Error::other(format!("{FIRST_PATH} lacks its example {FIRST_EXAMPLE}")))?;
    let (navigation, operations) = operations(document);
    let parts = [
        ("python", python),
        ("output", output),
        ("navigation", navigation),
        ("operations", operations),
        ("rules", paragraphs(text(document, "/info/description"))),
    ];
    let replaced =
        |page: String, (name, html): (&str, String)| page.replace(&format!("{{document:{name}}}"), &html);
    Ok(parts.into_iter().fold(page.to_owned(), replaced))
}

/// Returns a request in Python, and its output.
fn first_steps(document: &Value) -> Option<(String, String)> {
    let operation = document.get("paths")?.get(FIRST_PATH)?.get("get")?;
    let (request, response) = example(operation)?;
    let target = escaped(request.strip_prefix("GET ")?);
    let data = response.get("data")?;
    let fields = FIRST_FIELDS.map(|field| format!("item[\"{field}\"]")).join(", ");
    let python = format!(
        "import requests\n\
         url = \"{BASE}{target}\"\n\
         response = requests.get(url, headers={{\"X-API-Key\": \"YOUR_API_KEY\"}})\n\
         response.raise_for_status()\n\
         item = response.json()[\"data\"]\n\
         print({fields})"
    );
    let values = FIRST_FIELDS.iter().map(|field| data.get(field));
    let output = values.map(|value| Some(shown(value?))).collect::<Option<Vec<_>>>()?.join(" ");
    Some((python, output))
}

/// Returns the list of links to all `GET` operations, and the operations themselves, both grouped by tag.
fn operations(document: &Value) -> (String, String) {
    let mut links = String::new();
    let mut articles = String::new();
    for tag in list(document, "/tags") {
        let name = text(tag, "/name");
        let _ = writeln!(links, "<li>{}<ul>", escaped(name));
        let _ = writeln!(articles, "<h2>{}</h2>\n{}", escaped(name), paragraphs(text(tag, "/description")));
        for (path, item) in document.get("paths").and_then(Value::as_object).into_iter().flatten() {
            if let Some(operation) = item.get("get").filter(|operation| text(operation, "/tags/0") == name) {
                let id = escaped(text(operation, "/operationId"));
                let _ = writeln!(links, "<li><a href=\"#{id}\">{}</a></li>", escaped(path));
                articles += &article(&id, name, path, operation);
            }
        }
        links += "</ul></li>\n";
    }
    (links, articles)
}

/// Returns one operation as HTML. The link "Try it" leads to the fragment of Scalar's form for the operation.
fn article(id: &str, tag: &str, path: &str, operation: &Value) -> String {
    let path = escaped(path);
    let fragment = format!("tag/{}/GET{path}", escaped(&tag.to_lowercase().replace(' ', "-")));
    let description = text(operation, "/description").split("\n\n").next().unwrap_or_default();
    let mut html = format!(
        "<article id=\"{id}\">\n<h3>{}</h3>\n\
         <p><code class=\"route\">GET {path}</code> <a class=\"try\" href=\"#{fragment}\" aria-label=\"Try it: GET {path}\">Try it</a></p>\n\
         <p>{}</p>\n",
        escaped(text(operation, "/summary")),
        marked(description),
    );
    let parameters: String = list(operation, "/parameters").map(parameter).collect();
    if !parameters.is_empty() {
        let _ = write!(html, "<h4>Parameters</h4>\n<dl>\n{parameters}</dl>\n");
    }
    if let Some((request, response)) = example(operation) {
        let response = serde_json::to_string_pretty(response).unwrap_or_default();
        let mut lines: Vec<_> = response.lines().take(RESPONSE_LINES).collect();
        lines.extend(response.lines().nth(RESPONSE_LINES).map(|_| "…"));
        let response = escaped(&lines.join("\n"));
        let request = escaped(request);
        let _ =
            write!(html, "<h4>Example: <code>{request}</code></h4>\n<pre><code>{response}</code></pre>\n");
    }
    html + "</article>\n"
}

/// Returns the request and the response of the example `item`, or else of the first example.
fn example(operation: &Value) -> Option<(&str, &Value)> {
    let examples = operation.pointer("/responses/200/content/application~1json/examples")?.as_object()?;
    let example = examples.get(FIRST_EXAMPLE).or_else(|| examples.values().next())?;
    Some((text(example, "/summary"), example.get("value")?))
}

fn parameter(parameter: &Value) -> String {
    let schema = parameter.get("schema").unwrap_or(&Value::Null);
    let bound = |name: &str| schema.get(name).map(shown);
    let words: Vec<_> = list(schema, "/enum").map(|word| format!("<code>{}</code>", shown(word))).collect();
    let kind = bound("format").or_else(|| bound("type")).unwrap_or_default();
    let allowed = match (words.as_slice(), bound("minimum").zip(bound("maximum")), bound("pattern")) {
        ([_, ..], ..) => format!("one of {}", words.join(", ")),
        (_, Some((minimum, maximum)), _) => format!("{kind} from {minimum} to {maximum}"),
        (_, _, Some(pattern)) => format!("{kind} like <code>{pattern}</code>"),
        _ => kind,
    };
    let required =
        if parameter.get("required") == Some(&Value::Bool(true)) { "required" } else { "optional" };
    let default = bound("default").map(|value| format!(", default <code>{value}</code>")).unwrap_or_default();
    format!(
        "<dt><code>{}</code> in {}, {required}{default}</dt>\n<dd>{allowed}</dd>\n<dd>{}</dd>\n",
        escaped(text(parameter, "/name")),
        escaped(text(parameter, "/in")),
        marked(text(parameter, "/description")),
    )
}

/// Returns the paragraphs of Markdown as HTML.
fn paragraphs(markdown: &str) -> String {
    let paragraphs = markdown.split("\n\n").filter(|paragraph| !paragraph.is_empty());
    paragraphs.map(|paragraph| format!("<p>{}</p>\n", marked(paragraph))).collect::<Vec<_>>().concat()
}

/// Returns Markdown text as HTML. Converts only code and strong text.
fn marked(markdown: &str) -> String {
    [("`", "code"), ("**", "strong")].into_iter().fold(escaped(markdown), |html, (mark, tag)| {
        let part = |(index, part)| match index % 2 {
            0 => String::from(part),
            _ => format!("<{tag}>{part}</{tag}>"),
        };
        html.split(mark).enumerate().map(part).collect()
    })
}

/// Returns a value as HTML. A string has no quotes.
fn shown(value: &Value) -> String {
    escaped(&value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn text<'a>(value: &'a Value, place: &str) -> &'a str {
    value.pointer(place).and_then(Value::as_str).unwrap_or_default()
}

fn list<'a>(value: &'a Value, place: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    value.pointer(place).and_then(Value::as_array).into_iter().flatten()
}
