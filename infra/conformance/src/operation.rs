//! The operations of a document, and the check of their responses.

use http::HeaderMap;
use http::header::{CONTENT_TYPE, EXPIRES, HeaderName, LAST_MODIFIED, RETRY_AFTER};
use serde_json::Value;

use crate::document::{Document, parameter_value};
use crate::headers::{header_text, single_header};
use crate::mismatch::{Mismatch, excerpt};

/// The media type of every body except CSV.
pub const JSON: &str = "application/json";

/// The media type of CSV in responses.
const CSV: &str = "text/csv; charset=utf-8";

/// Headers that a response has only if the document describes them.
const OPTIONAL_HEADERS: [HeaderName; 3] = [LAST_MODIFIED, EXPIRES, RETRY_AFTER];

#[derive(Clone, Copy)]
pub struct Operation<'a> {
    document: &'a Document,
    path: &'a str,
    value: &'a Value,
}

#[derive(Clone, Copy)]
pub struct Example<'a> {
    /// The path and query of the request.
    pub request: &'a str,
    pub body: &'a Value,
    pub is_shortened: bool,
}

impl Document {
    /// Every `GET` operation.
    pub fn operations(&self) -> impl Iterator<Item = Operation<'_>> {
        let paths = self.value().get("paths").and_then(Value::as_object).into_iter().flatten();
        paths.filter_map(|(path, item)| Some(Operation { document: self, path, value: item.get("get")? }))
    }

    /// The `GET` operation of `path`, if the document has one.
    #[must_use]
    pub fn operation(&self, path: &str) -> Option<Operation<'_>> {
        self.operations().find(|operation| operation.path() == path)
    }
}

impl<'a> Operation<'a> {
    /// The path, with its parameters in braces.
    #[must_use]
    pub const fn path(&self) -> &'a str {
        self.path
    }

    /// The operation's JSON in the document.
    #[must_use]
    pub const fn value(&self) -> &'a Value {
        self.value
    }

    /// Whether the path also has the operation `HEAD`.
    #[must_use]
    pub fn has_head(&self) -> bool {
        let item = self.document.value().get("paths").and_then(|paths| paths.get(self.path));
        item.is_some_and(|item| item.get("head").is_some())
    }

    #[must_use]
    pub fn requires_key(&self) -> bool {
        let security = self.value.get("security").or_else(|| self.document.value().get("security"));
        security.and_then(Value::as_array).is_some_and(|schemes| !schemes.is_empty())
    }

    #[must_use]
    pub fn parameters(&self) -> &'a [Value] {
        self.value.get("parameters").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    /// Every response that the document describes, with its status.
    pub fn responses(&self) -> impl Iterator<Item = (u16, &'a Value)> {
        let document = self.document;
        let responses = self.value.get("responses").and_then(Value::as_object).into_iter().flatten();
        responses.filter_map(|(status, response)| Some((status.parse().ok()?, document.resolve(response)?)))
    }

    /// The response with this status, if the document describes it.
    #[must_use]
    pub fn response(&self, status: u16) -> Option<&'a Value> {
        self.responses().find(|(described, _)| *described == status).map(|(_, response)| response)
    }

    /// The examples of responses with this status. Skips an example whose summary does not name a request:
    /// `GET`, the path and query, and a note in parentheses if the body is shortened.
    pub fn examples(&self, status: u16) -> impl Iterator<Item = Example<'a>> {
        let examples =
            self.response(status).and_then(|response| content(response)?.get("examples")?.as_object());
        examples.into_iter().flatten().filter_map(|(_, example)| {
            let request = example.get("summary")?.as_str()?.strip_prefix("GET ")?;
            let (request, note) = request.split_once(' ').unwrap_or((request, ""));
            Some(Example { request, body: example.get("value")?, is_shortened: !note.is_empty() })
        })
    }

    /// Checks a response to this operation.
    ///
    /// # Errors
    /// Names the first difference between the response and the document.
    pub fn check_response(&self, status: u16, headers: &HeaderMap, body: &str) -> Result<(), Mismatch> {
        let response = self.response(status).ok_or_else(|| {
            Mismatch::new("a status that the document describes", format!("{status}: {}", excerpt(body)))
        })?;
        let media_type = single_header(headers, CONTENT_TYPE.as_str());
        let has_csv = response.get("content").is_some_and(|content| content.get("text/csv").is_some());
        if has_csv && media_type == Some(CSV) {
            return self.check_headers(response, headers);
        }
        if media_type != Some(JSON) {
            let received = header_text(headers, CONTENT_TYPE.as_str());
            return Err(Mismatch::new(format!("the header content-type: {JSON}"), received));
        }
        let body = serde_json::from_str(body)
            .map_err(|error| Mismatch::new("a JSON body", format!("{error}: {}", excerpt(body))))?;
        let schema = content(response).and_then(|content| content.get("schema")).unwrap_or(&Value::Null);
        self.document.check_value(schema, &body)?;
        self.check_headers(response, headers)
    }

    fn check_headers(&self, response: &Value, headers: &HeaderMap) -> Result<(), Mismatch> {
        let described = response.get("headers").and_then(Value::as_object);
        for (name, header) in described.into_iter().flatten() {
            let header = self.document.resolve(header).unwrap_or(&Value::Null);
            let schema = header.get("schema").unwrap_or(&Value::Null);
            let Some(text) = single_header(headers, name) else {
                return Err(Mismatch::new(format!("one header {name}"), header_text(headers, name)));
            };
            self.document.check_value(schema, &parameter_value(text, schema)).map_err(|mismatch| {
                Mismatch::new(
                    format!("the described header {name}"),
                    format!("{text}: {}", mismatch.received),
                )
            })?;
        }
        for name in OPTIONAL_HEADERS {
            let is_described = described
                .is_some_and(|headers| headers.keys().any(|known| known.eq_ignore_ascii_case(name.as_str())));
            if !is_described && headers.contains_key(&name) {
                return Err(Mismatch::new(format!("no header {name}"), header_text(headers, name.as_str())));
            }
        }
        Ok(())
    }
}

fn content(response: &Value) -> Option<&Value> {
    response.get("content")?.get(JSON)
}
