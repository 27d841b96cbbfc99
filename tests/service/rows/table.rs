//! Checks a route's responses to valid and invalid rows against a table of the rows' fields.

use local::Cloud;
use serde_json::{Value, json};
use simulator::Fault;

use crate::support::{
    await_logs, expect_clean_logs, get_at, log_lines, one_instance_each, simulator, start_with,
};
use crate::upstream_faults::expect_failure;

/// 2026-04-28 15:03:20 UTC, in Unix milliseconds.
pub(super) const START: i64 = 1_777_388_600_000;

/// Whether a list is served: if at least half of the rows are valid, or one of fewer than ten rows.
pub(super) const ONE_IS_ENOUGH: fn(usize, usize) -> bool =
    |good, bad| bad <= good || (good > 0 && good + bad < 10);

const DAY: i64 = 24 * 3_600 * 1_000;

/// A field of a row. All values are JSON text, so they can have forms that no JSON library writes.
pub(super) struct Field {
    pub(super) name: &'static str,
    /// The value in a usual row. `ID` stands for the id of the row.
    pub(super) usual: &'static str,
    /// Whether the field may be absent or `null`.
    pub(super) optional: bool,
    /// Other valid values.
    pub(super) good: &'static [&'static str],
    /// Invalid values: of other types, or out of range.
    pub(super) bad: &'static [&'static str],
}

impl Field {
    /// Values that are not texts. The last two have lone surrogates, which are not characters.
    pub(super) const NO_TEXTS: &[&str] =
        &["5", "true", "{}", "[]", r#"["A"]"#, r#""\ud800""#, r#""A\udd25x""#];

    /// Values that are not whole numbers of at least 0.
    pub(super) const NO_COUNTS: &[&str] = &[
        "-1",
        "-9007199254740993",
        "0.5",
        "1e300",
        "1e400",
        "9223372036854775808",
        r#""5""#,
        "true",
        "{}",
        "[]",
    ];

    /// Values that are not times in Unix milliseconds.
    pub(super) const NO_TIMES: &[&str] = &[
        "-1777388600000",
        "0",
        "1777388600",
        "17773886000000",
        "1777388600000.5",
        r#""soon""#,
        "true",
        "{}",
        "[]",
    ];

    /// A required text.
    pub(super) const fn text(name: &'static str, usual: &'static str) -> Self {
        let good = &[r#""""#, r#""\u00a7a \ud83d\udd25 ''""#];
        Self { name, usual, optional: false, good, bad: Self::NO_TEXTS }
    }

    /// The text that names the row.
    pub(super) const fn id(name: &'static str) -> Self {
        let bad = &["5", "true", "{}", "[]", r#""""#, r#""\ud800""#];
        Self { name, usual: "ID", optional: false, good: &[r#""B:\u0027\ud83d\udd25""#], bad }
    }

    /// A required whole number of at least 0.
    pub(super) const fn count(name: &'static str) -> Self {
        let good = &["0", "6.0E7", "3000000000", "9007199254740993"];
        Self { name, usual: "7", optional: false, good, bad: Self::NO_COUNTS }
    }
}

/// A route whose response lists rows of the provider.
pub(super) struct Route {
    pub(super) path: &'static str,
    /// The provider's path.
    pub(super) upstream: &'static str,
    pub(super) fields: &'static [Field],
    /// The field that names a row. `None` if the keys of an object name the rows.
    pub(super) id: Option<&'static str>,
    /// Returns the row with this id and this text between its braces.
    pub(super) row: fn(&str, &str) -> String,
    /// Returns this value, which is not a row, in the place of the row with this id.
    pub(super) no_row: fn(&str, &str) -> String,
    /// Returns the provider's response with these rows, separated by commas.
    pub(super) body: fn(&str) -> String,
    /// Returns the ids of the rows in the data of the service's response.
    pub(super) listed: fn(&Value) -> Vec<String>,
    /// Whether a list with these numbers of valid and invalid rows is served.
    pub(super) is_served: fn(usize, usize) -> bool,
}

/// The texts of a field in all rows.
pub(super) fn texts(rows: &Value, field: &str) -> Vec<String> {
    rows.as_array().unwrap().iter().map(|row| row[field].as_str().unwrap().to_owned()).collect()
}

/// The row of an array: the text in braces.
pub(super) fn in_braces(_: &str, fields: &str) -> String {
    format!("{{{fields}}}")
}

/// A value in an array, in the place of a row.
pub(super) fn bare(_: &str, value: &str) -> String {
    value.to_owned()
}

impl Route {
    /// The members of the row `id`, with another value of one field. `None` leaves the field out.
    fn members(&self, id: &str, changed: Option<(&str, Option<&str>)>) -> String {
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

    /// The row `id` with usual values.
    pub(super) fn usual(&self, id: &str) -> String {
        (self.row)(id, &self.members(id, None))
    }

    /// The row `id` with usual values and a further member.
    fn with(&self, id: &str, member: &str) -> String {
        (self.row)(id, &format!("{},{member}", self.members(id, None)))
    }

    /// Makes the provider serve these rows.
    pub(super) fn show(&self, cloud: &Cloud, rows: &[String]) {
        let body = (self.body)(&rows.join(","));
        simulator(cloud).set_fault(self.upstream, Fault::default().with_body(body));
    }

    /// All variants of the row `B`: a description, the row, the row's name in the log, and whether the row is valid.
    fn cases(&self) -> Vec<(String, String, String, bool)> {
        let mut cases = Vec::new();
        for field in self.fields {
            let changed =
                |value: Option<&str>| (self.row)("B", &self.members("B", Some((field.name, value))));
            let name = |value: Option<&str>| {
                let is_id = self.id == Some(field.name);
                let text = value.and_then(|value| serde_json::from_str(value).ok());
                if is_id { text.unwrap_or_else(|| "#1".to_owned()) } else { "B".to_owned() }
            };
            let mut add = |value: Option<&str>, makes_sense| {
                let what = format!("{}: {}", field.name, value.unwrap_or("missing"));
                cases.push((what, changed(value), name(value), makes_sense));
            };
            add(None, field.optional);
            add(Some("null"), field.optional);
            field.good.iter().for_each(|value| add(Some(value), true));
            field.bad.iter().for_each(|value| add(Some(value), false));
            let again = format!("{}:{}", json!(field.name), field.usual.replace("ID", r#""B""#));
            cases.push((format!("{} twice", field.name), self.with("B", &again), "B".to_owned(), false));
        }
        for (what, member) in [
            ("an unknown field", r#""unknown":{"a":[1,null,"\ud800"]}"#),
            ("an unknown field of null", r#""unknown":null"#),
            ("an unknown field twice", r#""unknown":1,"unknown":2"#),
        ] {
            cases.push((what.to_owned(), self.with("B", member), "B".to_owned(), true));
        }
        let place = if self.id.is_some() { "#1" } else { "B" };
        for value in ["null", "5", "true", r#""text""#, "[]", "{}", "[{}]"] {
            cases.push((value.to_owned(), (self.no_row)("B", value), place.to_owned(), false));
        }
        let values = self.fields.iter().map(|field| field.usual.replace("ID", r#""B""#)).collect::<Vec<_>>();
        let values = format!("[{}]", values.join(","));
        cases.push((values.clone(), (self.no_row)("B", &values), place.to_owned(), false));
        cases
    }

    /// Checks the response to each variant of the row `B` between two usual rows.
    pub(super) async fn expect_table(&self) {
        let cloud = start_with(one_instance_each()).await;
        let mut now = START;
        let mut warnings = 0;
        for (what, row, name, makes_sense) in self.cases() {
            self.show(&cloud, &[self.usual("A"), row, self.usual("C")]);
            let response = get_at(&cloud, self.path, now).await;
            assert!(!response.cached(), "{what}");
            let listed = (self.listed)(&response.data());
            if makes_sense {
                assert_eq!((listed.len(), &*listed[0], &*listed[2]), (3, "A", "C"), "{what}: {listed:?}");
            } else {
                assert_eq!(listed, ["A", "C"], "{what}");
                warnings += 1;
                let line = await_logs(&cloud, warnings, is_warning).await.pop().unwrap();
                assert_eq!((&line["skipped"], &line["ids"]), (&json!(1), &json!(name)), "{what}: {line}");
                assert_eq!(line["path"], self.upstream, "{line}");
                assert!(!line["reason"].as_str().unwrap().is_empty(), "{line}");
            }
            now += DAY;
        }
        // Two rows have the same id in different spellings. If the ids are the keys of an object, the last row counts, otherwise the first.
        let other = self.fields.last().unwrap();
        let second = (self.row)(r"\u0042", &self.members(r"\u0042", Some((other.name, Some(other.good[0])))));
        let counted = if self.id.is_some() { self.usual("B") } else { second.clone() };
        self.show(&cloud, &[self.usual("A"), counted, self.usual("C")]);
        let expected = get_at(&cloud, self.path, now).await.data();
        self.show(&cloud, &[self.usual("A"), self.usual("B"), second, self.usual("C")]);
        assert_eq!(get_at(&cloud, self.path, now + DAY).await.data(), expected);
        warnings += 1;
        let line = await_logs(&cloud, warnings, is_warning).await.pop().unwrap();
        assert_eq!((&line["skipped"], &line["ids"]), (&json!(1), &json!("B")), "{line}");
        assert_eq!(log_lines(&cloud).iter().filter(|line| is_warning(line)).count(), warnings);
        expect_clean_logs(&cloud);
    }

    /// Checks which lists fail because of too many invalid rows, and the log lines about them.
    pub(super) async fn expect_limit(&self) {
        let cloud = start_with(one_instance_each()).await;
        let ids = |count| (0..count).map(|number| format!("GOOD{number}")).collect::<Vec<_>>();
        let bad = |count| (0..count).map(|number| (self.no_row)(&format!("BAD{number}"), "7"));
        let names = |count: usize, good: usize| {
            let named = (0..count.min(5)).map(|number| match self.id {
                Some(_) => format!("#{}", good + number),
                None => format!("BAD{number}"),
            });
            named.collect::<Vec<_>>().join(", ")
        };
        let rows =
            |good, count| ids(good).iter().map(|id| self.usual(id)).chain(bad(count)).collect::<Vec<_>>();
        let mut now = START;
        let mut warnings = 0;
        let mut failures = 0;
        for (good, count) in [(0, 0), (1, 1), (7, 7), (1, 2), (0, 1), (6, 7), (1, 8), (0, 9), (1, 9), (5, 5)]
        {
            self.show(&cloud, &rows(good, count));
            let response = get_at(&cloud, self.path, now).await;
            let what = format!("{good} good and {count} bad rows");
            if (self.is_served)(good, count) {
                assert_eq!((self.listed)(&response.data()), ids(good), "{what}");
                if count > 0 {
                    warnings += 1;
                    let line = await_logs(&cloud, warnings, is_warning).await.pop().unwrap();
                    let expected = (&json!(count), &json!(names(count, good)));
                    assert_eq!((&line["skipped"], &line["ids"]), expected, "{what}: {line}");
                }
            } else {
                expect_failure(&response, &what);
                failures += 1;
                let of_failure = |line: &Value| line["status"] == 500;
                let line = await_logs(&cloud, failures, of_failure).await.pop().unwrap();
                let cause = line["cause"].as_str().unwrap();
                let expected = match count {
                    0 => "no product has a price".to_owned(),
                    _ => format!(
                        "{count} of {} rows are invalid, such as {}",
                        good + count,
                        names(count, good)
                    ),
                };
                assert!(cause.contains(&expected), "{what}: {cause}");
            }
            now += DAY;
        }
        // If there is an earlier response, it is served instead of a failure.
        self.show(&cloud, &rows(2, 1));
        let earlier = get_at(&cloud, self.path, now).await;
        assert_eq!((self.listed)(&earlier.data()), ids(2));
        self.show(&cloud, &rows(0, 2));
        let ttl = self.ttl();
        get_at(&cloud, self.path, now + ttl).await.expect_replay_of(&earlier);
        self.show(&cloud, &rows(3, 3));
        // The pause after the failure is over.
        assert_eq!((self.listed)(&get_at(&cloud, self.path, now + ttl + 1_000).await.data()), ids(3));
        expect_clean_logs(&cloud);
    }

    fn ttl(&self) -> i64 {
        let mut routes = common::routes::VERSION_1.into_iter();
        let path = self.path.split('?').next().unwrap();
        let route = routes.find(|route| match route.path.split_once("{username}") {
            Some((front, _)) => path.starts_with(front),
            None => path == route.path,
        });
        route.unwrap().cache.as_millis().try_into().unwrap()
    }
}

/// Whether the line is the warning about rows that are left out.
pub(super) fn is_warning(line: &Value) -> bool {
    line["level"] == "WARN" && line["message"] == "rows are left out"
}
