//! The description of a resource, with what most resources have in common.

use serde_json::{Map, Value, json};

use super::expected::{Data, Expected};
use super::field::{Field, texts};

/// The seed of the simulated game.
pub(crate) const SEED: u64 = 1;

/// 2026-04-28 15:03:20 UTC, in Unix milliseconds.
pub(crate) const NOW: i64 = 1_777_388_600_000;

pub(crate) struct ParsedResource {
    pub(crate) path: &'static str,
    /// The request whose response lists the rows. `None` if no route serves them.
    pub(crate) route: Option<&'static str>,
    /// The place of the rows, as a JSON pointer: in the body, and in the data of the response.
    pub(crate) rows: [&'static str; 2],
    pub(crate) names: Names,
    pub(crate) fields: &'static [Field],
    /// Further parts of a row that a function reads, as JSON pointers.
    pub(crate) further_parts: &'static [&'static str],
    /// A body, with `ROWS` in place of the rows.
    pub(crate) body: &'static str,
    /// Whether a body with these numbers of valid and invalid rows is served.
    pub(crate) is_served: fn(usize, usize) -> bool,
    /// A field that a test can change with every refresh, to tell snapshots apart. History does not refer to
    /// rows by it.
    pub(crate) tag: Option<&'static str>,
    /// The data of the response to `route`, from the body and the rows in the response.
    pub(crate) data: fn(&Value, Value) -> Value,
    /// Requests, and the data that must follow from this body.
    pub(crate) requests: fn(&Self, &str) -> Vec<Expected>,
    /// The times of simulated bodies, in Unix milliseconds.
    pub(crate) moments: fn() -> Vec<i64>,
    /// The names of captured bodies.
    pub(crate) captures: &'static [&'static str],
}

/// What names the rows.
#[derive(Clone, Copy)]
pub(crate) enum Names {
    /// A field of each row in an array.
    Field(&'static str),
    /// The keys of an object. A member of each row has its fields.
    Keys { fields_in: &'static str },
}

/// Half of the rows must be valid.
pub(super) const HALF: fn(usize, usize) -> bool = |good, bad| bad <= good;

/// At least half of the rows must be valid, or one of fewer than ten rows.
pub(super) const ONE_IS_ENOUGH: fn(usize, usize) -> bool =
    |good, bad| bad <= good || (good > 0 && good + bad < 10);

impl ParsedResource {
    /// What most resources have in common.
    pub(super) const USUAL: Self = Self {
        path: "",
        route: None,
        rows: ["", ""],
        names: Names::Field("id"),
        fields: &[],
        further_parts: &[],
        body: "",
        is_served: HALF,
        tag: None,
        data: |_, rows| rows,
        requests: |resource, text| vec![resource.expected(text)],
        moments: || vec![NOW],
        captures: &[],
    };

    pub(crate) fn row(&self, id: &str, members: &str) -> String {
        match self.names {
            Names::Field(_) => format!("{{{members}}}"),
            Names::Keys { fields_in } => {
                format!(r#""{id}":{{"product_id":"{id}","{fields_in}":{{{members}}}}}"#)
            }
        }
    }

    /// This value, which is not a row, in the place of the row with this id.
    pub(crate) fn no_row(&self, id: &str, value: &str) -> String {
        match self.names {
            Names::Field(_) => value.to_owned(),
            Names::Keys { .. } => format!(r#""{id}":{value}"#),
        }
    }

    /// The members of the row `id`, with another value of one field. `None` leaves the field out.
    pub(crate) fn members(&self, id: &str, changed: Option<(&str, Option<&str>)>) -> String {
        let usual = self.fields.iter().map(|field| (field.name, Some(field.usual)));
        let members = usual.filter_map(|(name, usual)| {
            let value = match changed {
                Some((other, value)) if other == name => value,
                _ => usual,
            };
            Some(format!("{}:{}", json!(name), value?.replace("ID", &format!("\"{id}\""))))
        });
        members.collect::<Vec<_>>().join(",")
    }

    pub(crate) fn usual(&self, id: &str) -> String {
        self.row(id, &self.members(id, None))
    }

    /// The parts of a row that a function reads, as JSON pointers.
    pub(crate) fn parts(&self) -> Vec<String> {
        let parent = match self.names {
            Names::Field(_) => String::new(),
            Names::Keys { fields_in } => format!("/{fields_in}"),
        };
        let fields = self.fields.iter().map(|field| format!("{parent}/{}", field.name));
        fields.chain(self.further_parts.iter().map(|part| (*part).to_owned())).collect()
    }

    /// The provider's response with these rows.
    pub(crate) fn body(&self, rows: &str) -> String {
        self.body.replace("ROWS", rows)
    }

    /// The ids of the rows in the data of the response to `route`.
    pub(crate) fn listed(&self, data: &Value) -> Vec<String> {
        let id = match self.names {
            Names::Field(field) => field,
            Names::Keys { .. } => "id",
        };
        texts(data.pointer(self.rows[1]).unwrap(), id)
    }

    /// The fields of this row in the response. `None` if the row is invalid.
    pub(super) fn served(&self, row: &Value) -> Option<Map<String, Value>> {
        let fields = match self.names {
            Names::Field(_) => row,
            Names::Keys { fields_in } => &row[fields_in],
        };
        let served = |field: &Field| Some((field.name.to_owned(), field.served(fields.get(field.name))?));
        self.fields.iter().map(served).collect()
    }

    /// The data of the response to `route` that must follow from this body. `None` if no route can serve it.
    pub(crate) fn data(&self, text: &str) -> Option<Value> {
        self.route?;
        let body: Value = serde_json::from_str(text).unwrap();
        let rows = match body.pointer(self.rows[0]).unwrap() {
            Value::Array(rows) => &rows[..],
            // A player without profiles has `null`.
            Value::Null => &[],
            other => panic!("{}: the rows must be an array: {other:.100}", self.path),
        };
        let valid: Vec<_> = rows.iter().filter_map(|row| self.served(row)).collect();
        (self.is_served)(valid.len(), rows.len() - valid.len()).then(|| (self.data)(&body, json!(valid)))
    }

    /// The request for `route`, and the data that must follow from this body. Panics if no data follow.
    #[track_caller]
    pub(super) fn expected(&self, text: &str) -> Expected {
        Expected::new(self.route.unwrap(), Data::Parsed(self.data(text).unwrap()))
    }
}
