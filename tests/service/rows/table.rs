//! Checks a route's responses to valid and invalid rows against the fields in the description of its
//! resource.

use local::Cloud;
use serde_json::{Value, json};
use simulator::Fault;

use crate::provider::{NOW, Names, ParsedResource};
use crate::support::{Log, expect_clean_logs, get_at, logged, one_instance_each, simulator, start_with};
use crate::upstream_faults::expect_failure;

const DAY: i64 = 24 * 3_600 * 1_000;

impl ParsedResource {
    fn route(&self) -> &'static str {
        self.route.unwrap()
    }

    /// Whether the keys of an object name the rows.
    fn has_keys(&self) -> bool {
        matches!(self.names, Names::Keys { .. })
    }

    /// The row `id` with usual values and a further member.
    fn with(&self, id: &str, member: &str) -> String {
        self.row(id, &format!("{},{member}", self.members(id, None)))
    }

    /// Makes the provider serve these rows.
    pub(super) fn show(&self, cloud: &Cloud, rows: &[String]) {
        let body = self.body(&rows.join(","));
        simulator(cloud).set_fault(self.path, Fault::default().with_body(body));
    }

    /// All variants of the row `B`: a description, the row, the row's name in the log, and whether the row is
    /// valid.
    fn cases(&self) -> Vec<(String, String, String, bool)> {
        let mut cases = Vec::new();
        for field in self.fields {
            let changed = |value: Option<&str>| self.row("B", &self.members("B", Some((field.name, value))));
            let name = |value: Option<&str>| {
                let is_id = matches!(self.names, Names::Field(id) if id == field.name);
                let text = value.and_then(|value| serde_json::from_str(value).ok());
                if is_id { text.unwrap_or_else(|| "#1".to_owned()) } else { "B".to_owned() }
            };
            let mut add = |value: Option<&str>, makes_sense| {
                let what = format!("{}: {}", field.name, value.unwrap_or("missing"));
                cases.push((what, changed(value), name(value), makes_sense));
            };
            add(None, field.default.is_some());
            add(Some("null"), field.default.is_some());
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
        let place = if self.has_keys() { "B" } else { "#1" };
        for value in ["null", "5", "true", r#""text""#, "[]", "{}", "[{}]"] {
            cases.push((value.to_owned(), self.no_row("B", value), place.to_owned(), false));
        }
        let values = self.fields.iter().map(|field| field.usual.replace("ID", r#""B""#)).collect::<Vec<_>>();
        let values = format!("[{}]", values.join(","));
        cases.push((values.clone(), self.no_row("B", &values), place.to_owned(), false));
        cases
    }

    /// Checks the response to each variant of the row `B` between two usual rows.
    pub(super) async fn expect_table(&self) {
        let cloud = start_with(one_instance_each()).await;
        let mut now = NOW;
        for (what, row, name, makes_sense) in self.cases() {
            self.show(&cloud, &[self.usual("A"), row, self.usual("C")]);
            let (response, log) = logged(&cloud, get_at(&cloud, self.route(), now)).await;
            assert!(!response.cached(), "{what}");
            let listed = self.listed(&response.data());
            if makes_sense {
                assert_eq!((listed.len(), &*listed[0], &*listed[2]), (3, "A", "C"), "{what}: {listed:?}");
                assert_eq!(log.warnings, [json!(null); 0], "{what}");
            } else {
                assert_eq!(listed, ["A", "C"], "{what}");
                let line = log.expect_warning(1, &name);
                assert_eq!(line["path"], self.path, "{line}");
                assert!(!line["reason"].as_str().unwrap().is_empty(), "{line}");
            }
            now += DAY;
        }
        // Two rows have the same id in different spellings. If the ids are the keys of an object, the last
        // row counts, otherwise the first.
        let other = self.fields.last().unwrap();
        let second = self.row(r"\u0042", &self.members(r"\u0042", Some((other.name, Some(other.good[0])))));
        let counted = if self.has_keys() { second.clone() } else { self.usual("B") };
        self.show(&cloud, &[self.usual("A"), counted, self.usual("C")]);
        let expected = get_at(&cloud, self.route(), now).await.data();
        self.show(&cloud, &[self.usual("A"), self.usual("B"), second, self.usual("C")]);
        let (response, log) = logged(&cloud, get_at(&cloud, self.route(), now + DAY)).await;
        assert_eq!(response.data(), expected);
        log.expect_warning(1, "B");
        expect_clean_logs(&cloud);
    }

    /// Checks which lists fail because of too many invalid rows, and the log lines about them.
    pub(super) async fn expect_limit(&self) {
        let cloud = start_with(one_instance_each()).await;
        let ids = |count| (0..count).map(|number| format!("GOOD{number}")).collect::<Vec<_>>();
        let bad = |count| (0..count).map(|number| self.no_row(&format!("BAD{number}"), "7"));
        let names = |count: usize, good: usize| {
            let named = (0..count.min(5)).map(|number| match self.names {
                Names::Field(_) => format!("#{}", good + number),
                Names::Keys { .. } => format!("BAD{number}"),
            });
            named.collect::<Vec<_>>().join(", ")
        };
        let rows =
            |good, count| ids(good).iter().map(|id| self.usual(id)).chain(bad(count)).collect::<Vec<_>>();
        let mut now = NOW;
        for (good, count) in [(0, 0), (1, 1), (7, 7), (1, 2), (0, 1), (6, 7), (1, 8), (0, 9), (1, 9), (5, 5)]
        {
            self.show(&cloud, &rows(good, count));
            let (response, log) = logged(&cloud, get_at(&cloud, self.route(), now)).await;
            let what = format!("{good} good and {count} bad rows");
            if (self.is_served)(good, count) {
                assert_eq!(self.listed(&response.data()), ids(good), "{what}");
                if count > 0 {
                    log.expect_warning(count, &names(count, good));
                }
            } else {
                expect_failure(&response, &what);
                let cause = log.line["cause"].as_str().unwrap();
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
        let earlier = get_at(&cloud, self.route(), now).await;
        assert_eq!(self.listed(&earlier.data()), ids(2));
        self.show(&cloud, &rows(0, 2));
        let ttl = self.ttl();
        get_at(&cloud, self.route(), now + ttl).await.expect_replay_of(&earlier);
        self.show(&cloud, &rows(3, 3));
        // The pause after the failure is over.
        assert_eq!(self.listed(&get_at(&cloud, self.route(), now + ttl + 10_000).await.data()), ids(3));
        expect_clean_logs(&cloud);
    }

    fn ttl(&self) -> i64 {
        let mut routes = common::routes::VERSION_1.into_iter();
        let path = self.route().split('?').next().unwrap();
        let route = routes.find(|route| match route.path.split_once("{username}") {
            Some((front, _)) => path.starts_with(front),
            None => path == route.path,
        });
        route.unwrap().cache.as_millis().try_into().unwrap()
    }
}

impl Log {
    /// Returns the one warning, which must be about this number of rows that are left out, with these ids.
    #[track_caller]
    pub(super) fn expect_warning(&self, skipped: usize, ids: &str) -> &Value {
        let [line] = &self.warnings[..] else { panic!("{:?} is not one warning", self.warnings) };
        assert_eq!((&line["level"], &line["message"]), (&json!("WARN"), &json!("rows are left out")));
        assert_eq!((&line["skipped"], &line["ids"]), (&json!(skipped), &json!(ids)), "{line}");
        line
    }
}
