//! The description of a function for the OpenAPI document (`infra/openapi`): its route, the types of its
//! responses, an example of each response, and requests that fail.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::error::ApiError;
use crate::json::Verbatim;
use crate::request::route::Route;
use crate::time::{UnixMilliseconds, UnixSeconds};

/// Generates the schema of a type.
pub type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// One kind of response: most routes have one, the bazaar has one for each mode.
#[derive(Debug)]
pub struct Kind {
    /// The name of the kind among the kinds of the route; empty if the route has only one kind.
    pub name: &'static str,
    /// The schema of `data`.
    pub data: SchemaOf,
    /// JSON with a request (`request`, path and query) and the data of its response (`data`), also as CSV
    /// (`csv`) if the route can return CSV.
    pub example: &'static str,
}

/// A request that fails.
#[derive(Debug)]
pub struct FailingRequest {
    /// The name of the example in the document.
    pub name: &'static str,
    /// Path and query.
    pub request: &'static str,
    /// The error; `None` if the request fails because the parameter `name` has a value that is not allowed.
    pub error: Option<ApiError>,
}

/// A route with its responses.
#[derive(Debug)]
pub struct Description {
    pub route: &'static Route,
    pub kinds: Vec<Kind>,
    /// Whether a response can also be CSV.
    pub has_csv: bool,
    /// A request for each error that only some routes have.
    pub failures: Vec<FailingRequest>,
}

impl Description {
    /// Returns the description of `route`, without any kind of response.
    #[must_use]
    pub const fn new(route: &'static Route) -> Self {
        Self { route, kinds: Vec::new(), has_csv: false, failures: Vec::new() }
    }

    /// Returns the description of `route`, whose responses have the data `T`. For `example`, see
    /// [`Kind::example`].
    #[must_use]
    pub fn of<T: JsonSchema>(route: &'static Route, example: &'static str) -> Self {
        Self::new(route).kind::<T>("", example)
    }

    /// Adds the kind `name`, whose responses have the data `T`. For `example`, see [`Kind::example`].
    #[must_use]
    pub fn kind<T: JsonSchema>(mut self, name: &'static str, example: &'static str) -> Self {
        self.kinds.push(Kind { name, data: SchemaGenerator::subschema_for::<T>, example });
        self
    }

    /// Adds CSV to the formats of responses.
    #[must_use]
    pub fn or_csv(self) -> Self {
        Self { has_csv: true, ..self }
    }

    /// Adds a request in which `parameter` has a value that is not allowed.
    #[must_use]
    pub fn invalid(mut self, parameter: &'static str, request: &'static str) -> Self {
        self.failures.push(FailingRequest { name: parameter, request, error: None });
        self
    }

    #[must_use]
    pub fn fails(mut self, name: &'static str, request: &'static str, error: ApiError) -> Self {
        self.failures.push(FailingRequest { name, request, error: Some(error) });
        self
    }
}

/// A function that describes its responses.
pub trait Describe {
    fn description() -> Description;
}

/// Inlines the schema of a type, so that the document does not list the type by name.
macro_rules! inline {
    ($name:literal) => {
        fn inline_schema() -> bool {
            true
        }

        fn schema_name() -> Cow<'static, str> {
            $name.into()
        }
    };
}

impl JsonSchema for UnixMilliseconds {
    inline!("UnixMilliseconds");

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "date-time"})
    }
}

impl JsonSchema for UnixSeconds {
    inline!("UnixSeconds");

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "date-time"})
    }
}

impl<const FIRST: u8> JsonSchema for Verbatim<'_, FIRST> {
    inline!("Verbatim");

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        match FIRST {
            b'"' => json_schema!({"type": "string"}),
            b'{' => json_schema!({"type": "object", "additionalProperties": true}),
            _ => Schema::default(),
        }
    }
}
