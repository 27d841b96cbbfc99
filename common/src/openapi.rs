//! What a route says of itself for the API description (`infra/openapi`): the types of its parameters and of its answers.
//! Only with the feature `openapi`; a deployed function is built without it.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::json::Verbatim;
use crate::params::{ItemId, Limit, Page, Username};
use crate::routes::Route;
use crate::time::UnixSeconds;

/// A type's schema, once there is a generator to make it.
pub type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// One kind of answer: most routes have one, the bazaar has one for each mode.
#[derive(Debug)]
pub struct Kind {
    /// Its name among the kinds of its route; empty where there is one.
    pub name: &'static str,
    /// The `data` of the answer.
    pub data: SchemaOf,
}

/// A route with the types behind it.
#[derive(Debug)]
pub struct Description {
    /// The route.
    pub route: &'static Route,
    /// The parameters by name, each as the type that it is parsed into.
    pub parameters: Vec<(&'static str, SchemaOf)>,
    /// The kinds of answers.
    pub kinds: Vec<Kind>,
}

impl Description {
    /// The description of `route`, without parameters and answers.
    #[must_use]
    pub const fn new(route: &'static Route) -> Self {
        Self { route, parameters: Vec::new(), kinds: Vec::new() }
    }

    /// The description of `route`, whose answers have the data `T`.
    #[must_use]
    pub fn of<T: JsonSchema>(route: &'static Route) -> Self {
        Self::new(route).kind::<T>("")
    }

    /// With answers of the kind `name`, which have the data `T`.
    #[must_use]
    pub fn kind<T: JsonSchema>(mut self, name: &'static str) -> Self {
        self.kinds.push(Kind { name, data: SchemaGenerator::subschema_for::<T> });
        self
    }

    /// With the parameter `name`, which is parsed into a `T`.
    #[must_use]
    pub fn parameter<T: JsonSchema>(mut self, name: &'static str) -> Self {
        self.parameters.push((name, SchemaGenerator::subschema_for::<T>));
        self
    }
}

/// A function that can say what it takes and gives.
pub trait Described {
    /// What it takes and gives.
    fn description() -> Description;
}

/// The schema of a value that has no name of its own.
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

impl<const MIN: u32, const MAX: u32, const DEFAULT: u32> JsonSchema for Limit<MIN, MAX, DEFAULT> {
    inline!("Limit");

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "integer", "minimum": MIN, "maximum": MAX, "default": DEFAULT})
    }
}

impl JsonSchema for Page {
    inline!("Page");

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "integer", "minimum": 0, "maximum": u32::MAX, "default": Self::default().get()})
    }
}

impl JsonSchema for Username {
    inline!("Username");

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "pattern": "^[A-Za-z0-9_]{1,16}$"})
    }
}

impl JsonSchema for ItemId {
    inline!("ItemId");

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "pattern": "^[A-Z0-9_:-]{1,64}$"})
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
