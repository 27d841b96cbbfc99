//! The API reference as Markdown, `GET /docs.md`, and its summary for language models, `GET /llms.txt`. Both
//! are generated from the OpenAPI document, so they cannot contradict it.

use std::collections::BTreeSet;
use std::fmt::Write;

use common::routes::{DOCS_MARKDOWN, OPENAPI, Route, VERSION_1};
use serde_json::Value;

use crate::table::{code, table};
use crate::{PUBLIC_FILES, columns, limits};

/// The heading of the table of errors, and its anchor.
const ERRORS: &str = "Errors";

/// One row of a table of fields.
struct Field {
    path: String,
    kind: String,
    description: String,
}

/// The OpenAPI document.
pub(crate) struct Reference<'a>(pub(crate) &'a Value);

/// Returns the text of `GET /docs.md`.
#[must_use]
pub(crate) fn reference(document: &Value) -> String {
    let reference = Reference(document);
    let info = at(document, "/info");
    let mut page = format!(
        "# {}\n\n{}. Version {}.\n\n{}\n\n",
        text(at(info, "/title")),
        text(at(info, "/summary")),
        text(at(info, "/version")),
        text(at(info, "/description")),
    );
    page += "The address of this deployment's public files: {files}. [Examples](#examples) of clients are at the end of this page.\n\n\
        Paths are relative to the base address, which is this page's address without its last segment. \
        [openapi.json](openapi.json) has the same facts for programs. In the tables of fields, `[]` stands for every entry of an array \
        and `KEY` for every key of an object. An object with further fields can have more fields from the game's provider.\n\n";
    page +=
        &table(["route", "returns"], crate::routes().map(|route| [link(route), route.summary.to_owned()]));
    page += "## Envelopes\n\nA success has `success`, which is `true`, `data`, which has the fields listed for each route, and `meta`:\n\n";
    page += &reference.fields(at(document, "/components/schemas/Meta"));
    let _ = write!(
        page,
        "An error has `success`, which is `false`, `error.code` and `error.message`.\n\n## {ERRORS}\n\n"
    );
    page += &table(["status", "code", "description"], reference.errors().into_iter());
    for tag in list(document, "/tags") {
        let _ = write!(page, "## {}\n\n", text(at(tag, "/name")));
        if let Some(description) = at(tag, "/description").as_str() {
            let _ = write!(page, "{description}\n\n");
        }
        for route in crate::routes().filter(|route| route.tag.name == text(at(tag, "/name"))) {
            page += &reference.operation(route.path);
        }
    }
    page
}

/// Returns the text of `GET /llms.txt`, in the format of llmstxt.org.
#[must_use]
pub(crate) fn summary(document: &Value) -> String {
    let info = at(document, "/info");
    let routes = VERSION_1.into_iter().map(|route| {
        let seconds = route.cache.as_secs();
        format!("- [GET {}]({}): {}; cached for {seconds} s\n", route.path, address(route), route.summary)
    });
    let keyless = VERSION_1.into_iter().filter(|route| !route.requires_key);
    let open = keyless.map(|route| format!("`{}`", route.path)).collect::<Vec<_>>().join(" and ");
    format!(
        "# {title}\n\n> {summary}.\n\n\
         - The base address is this file's address without `/llms.txt`. Links and paths of routes are relative to it.\n\
         - Every `/v1` route except {open} requires an API key in the header `X-API-Key`. {limits}\n\
         - All requests are `GET`; some paths also answer `HEAD`. A success is `{{\"success\":true,\"data\":…,\"meta\":…}}`, an error \
           `{{\"success\":false,\"error\":{{\"code\":…,\"message\":…}}}}`.\n\
         - Request a route at most once while its responses are cached, and many items in one request where the route allows it. After \
           a 429 or 500, wait for the seconds in `Retry-After`.\n\
         - Ignore unknown fields; new fields can be added. In a query, escape `;` as `%3B` and `+` as `%2B`.\n\
         - The bazaar and auctions have different ids; the reference explains both.\n\
         - For several ids, send one text: `ids=A,B`. A repeated `ids` is a 400, and `ids[]` an unknown parameter.\n\
         - The bazaar's next prices can come 20 s after its `lastUpdated`, and those of auctions 60 s after theirs.\n\
         - Public files, which require no key, are at this address: {{files}}. The files: {PUBLIC_FILES}. {columns}\n\n\
         ## Documentation\n\n\
         - [API reference]({reference}): every route with its parameters, fields and errors\n\
         - [Examples]({reference}#examples): a Google Sheets script, a Discord command, an MCP server and a notebook\n\
         - [OpenAPI document]({openapi}): the same for programs\n\
         - [List of routes](.): the routes as JSON\n\n\
         ## Routes\n\n{routes}",
        title = text(at(info, "/title")),
        summary = text(at(info, "/summary")),
        limits = limits::sentences(),
        columns = columns(),
        reference = relative(&DOCS_MARKDOWN),
        openapi = relative(&OPENAPI),
        routes = routes.collect::<String>(),
    )
}

impl<'a> Reference<'a> {
    /// Returns the section of a route.
    fn operation(&self, path: &str) -> String {
        let operation = at(self.0, &format!("/paths/{}/get", path.replace('/', "~1")));
        let mut section = format!(
            "### `GET {path}`\n\n{}. {}\n\n",
            text(at(operation, "/summary")),
            text(at(operation, "/description"))
        );
        let parameters = list(operation, "/parameters");
        let rows: Vec<_> = parameters
            .map(|parameter| {
                let required = if at(parameter, "/required") == true { ", required" } else { "" };
                let place = format!("{}{required}", text(at(parameter, "/in")));
                [code(text(at(parameter, "/name"))), place, text(at(parameter, "/description")).to_owned()]
            })
            .collect();
        if !rows.is_empty() {
            section += &table(["parameter", "in", "description"], rows.into_iter());
        }
        let success = self.success(path);
        section += "Example requests:\n\n";
        for (_, example) in entries(success, "/examples") {
            let _ =
                writeln!(section, "- `{}`", text(at(example, "/summary")).trim_end_matches(" (shortened)"));
        }
        section.push('\n');
        let kinds = self.kinds(path);
        for kind in &kinds {
            if kinds.len() > 1 {
                let what = text(at(self.followed(kind), "/description"));
                let _ = write!(section, "**{}** {what}\n\n", text(at(kind, "/description")));
            }
            section += &self.fields(kind);
        }
        let responses = entries(operation, "/responses");
        let errors: Vec<_> =
            responses.map(|(status, _)| status.as_str()).filter(|status| *status != "200").collect();
        let _ = write!(section, "[{ERRORS}](#{}): {}.\n\n", ERRORS.to_lowercase(), errors.join(", "));
        section
    }

    /// Returns the content of a successful response of a route.
    fn success(&self, path: &str) -> &'a Value {
        let place = format!("/paths/{}/get/responses/200/content/application~1json", path.replace('/', "~1"));
        at(self.0, &place)
    }

    /// Returns the schemas of the kinds of data that a route returns.
    fn kinds(&self, path: &str) -> Vec<&'a Value> {
        let envelope = self.followed(at(self.success(path), "/schema"));
        let data = envelope.pointer("/properties/data").unwrap_or(envelope);
        at(data, "/anyOf").as_array().map_or_else(|| vec![data], |kinds| kinds.iter().collect())
    }

    /// Returns the errors of all routes, as rows of a table, by status.
    pub(crate) fn errors(&self) -> BTreeSet<[String; 3]> {
        let operations = entries(self.0, "/paths").map(|(_, item)| at(item, "/get"));
        let responses = operations.flat_map(|operation| entries(operation, "/responses"));
        let errors = responses.filter(|(status, _)| *status != "200").map(|(status, response)| {
            let response = self.followed(response);
            let schema = self.followed(at(response, "/content/application~1json/schema"));
            let name = text(at(schema, "/properties/error/properties/code/const"));
            [status.clone(), code(name), text(at(response, "/description")).to_owned()]
        });
        errors.collect()
    }

    /// Returns the target of a reference, or the schema itself. A schema that also allows null counts as the
    /// schema without null.
    fn followed(&self, schema: &'a Value) -> &'a Value {
        let schema = match at(schema, "/anyOf").get(0) {
            Some(named) if is_nullable(schema) => named,
            _ => schema,
        };
        let place = at(schema, "/$ref").as_str().and_then(|place| place.strip_prefix('#'));
        place.and_then(|place| self.0.pointer(place)).unwrap_or(schema)
    }

    /// Returns the table of the fields of an object and of its parts.
    fn fields(&self, schema: &'a Value) -> String {
        let mut fields = Vec::new();
        self.collect("", self.followed(schema), &mut fields);
        let rows = fields.into_iter().map(|field| [code(&field.path), field.kind, field.description]);
        table(["field", "type", "description"], rows)
    }

    fn collect(&self, path: &str, schema: &'a Value, fields: &mut Vec<Field>) {
        let required = || list(schema, "/required").filter_map(Value::as_str);
        let properties = at(schema, "/properties").as_object();
        let optional = properties.into_iter().flatten().map(|(name, _)| name.as_str());
        // `required` lists fields in the order in which the type declares them.
        for name in required().chain(optional.filter(|name| required().all(|required| required != *name))) {
            let Some(field) = properties.and_then(|properties| properties.get(name)) else { continue };
            let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
            let target = self.followed(field);
            let description =
                at(field, "/description").as_str().unwrap_or_else(|| text(at(target, "/description")));
            let optional = if required().any(|required| required == name) { "" } else { ", optional" };
            let kind = self.kind(field) + optional;
            fields.push(Field { path: path.clone(), kind, description: description.to_owned() });
            self.collect_parts(&path, target, fields);
        }
    }

    /// Collects the fields inside a field: the fields of an object, of the entries of an array, and of the
    /// values of a map.
    fn collect_parts(&self, path: &str, schema: &'a Value, fields: &mut Vec<Field>) {
        self.collect(path, schema, fields);
        for (part, mark) in [("items", "[]"), ("additionalProperties", ".KEY")] {
            if let Some(part) = schema.get(part).filter(|part| part.is_object()) {
                self.collect_parts(&format!("{path}{mark}"), self.followed(part), fields);
            }
        }
    }

    /// Returns the type of a field, such as `array of string`, and the values if there are few.
    fn kind(&self, schema: &'a Value) -> String {
        let target = self.followed(schema);
        let kind = match at(target, "/type") {
            _ if at(target, "/additionalProperties") == true => "object with further fields".to_owned(),
            Value::Array(kinds) => kinds.iter().map(text).collect::<Vec<_>>().join(" or "),
            kind => text(kind).to_owned(),
        };
        let null = if is_nullable(schema) { " or null" } else { "" };
        let values = list(target, "/enum").filter_map(Value::as_str).map(code).collect::<Vec<_>>();
        if !values.is_empty() {
            return format!("{kind}{null}: {}", values.join(", "));
        }
        match (at(target, "/format").as_str(), target.get("items")) {
            (Some("date-time"), _) => format!("{kind}, RFC 3339{null}"),
            (_, Some(items)) => format!("{kind} of {}{null}", self.kind(items)),
            _ => format!("{kind}{null}"),
        }
    }
}

/// Whether the schema is a named schema that also allows null.
fn is_nullable(schema: &Value) -> bool {
    list(schema, "/anyOf").any(|shape| at(shape, "/type") == "null")
}

/// Returns the part of a value at a JSON pointer, or null.
fn at<'a>(value: &'a Value, place: &str) -> &'a Value {
    value.pointer(place).unwrap_or(&Value::Null)
}

/// Returns the entries of the array at a JSON pointer.
fn list<'a>(value: &'a Value, place: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    at(value, place).as_array().into_iter().flatten()
}

/// Returns the entries of the object at a JSON pointer.
fn entries<'a>(value: &'a Value, place: &str) -> impl Iterator<Item = (&'a String, &'a Value)> + use<'a> {
    at(value, place).as_object().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns the address of a route, relative to a page at the root of the service.
fn relative(route: &Route) -> &'static str {
    route.path.trim_start_matches('/')
}

fn address(route: &Route) -> String {
    let heading = format!("get-{}", route.path.to_lowercase());
    let anchor = heading.chars().filter(|character| character.is_alphanumeric() || "-_".contains(*character));
    format!("{}#{}", relative(&DOCS_MARKDOWN), anchor.collect::<String>())
}

fn link(route: &Route) -> String {
    let anchor = address(route).trim_start_matches(relative(&DOCS_MARKDOWN)).to_owned();
    format!("[`GET {}`]({anchor})", route.path)
}
