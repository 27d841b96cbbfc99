//! The page for operators has every parameter and every alarm.

use std::collections::{BTreeMap, BTreeSet};

use super::OPERATIONS;
use super::page::{MarkdownPage, read};
use crate::support::deployed_template;

const MONITORING: &str = "infra/monitoring.yaml";

#[test]
fn the_operators_page_has_every_parameter_of_the_template_with_its_default() {
    let page = MarkdownPage::read(OPERATIONS);
    let rows = page.by_first_cell("Configuration", 0);
    let parameters = deployed_template().parameters;
    let expected: BTreeMap<_, _> = parameters
        .iter()
        .map(|(name, default)| {
            let default = match (name.as_str(), default.as_str()) {
                ("DashboardUrl", _) => "required",
                (_, "") => "empty",
                (_, default) => default,
            };
            (name.as_str(), default)
        })
        .collect();
    let defaults: BTreeMap<_, _> = rows.into_iter().map(|(name, cells)| (name, cells[0])).collect();
    assert_eq!(defaults, expected);
}

#[test]
fn the_operators_page_has_every_parameter_and_every_alarm_of_the_monitoring() {
    let page = MarkdownPage::read(OPERATIONS);
    let first_codes = |heading, index| -> BTreeSet<String> {
        page.rows(heading, index).iter().flat_map(|row| row[0].codes.iter().cloned()).collect()
    };
    let text = read(MONITORING);
    let parameters = text.split("\nParameters:\n").nth(1).unwrap().split("\nConditions:\n").next().unwrap();
    let keys = parameters.lines().filter_map(|line| line.strip_prefix("  ")?.strip_suffix(':'));
    let names: BTreeSet<_> = keys.filter(|name| !name.starts_with(' ')).map(str::to_owned).collect();
    assert_eq!(first_codes("Configuration", 1), names);
    let alarm = |line: &str| {
        let name = line.trim().strip_prefix("AlarmName: !Sub '${Service} ")?.strip_suffix('\'')?;
        Some(name.to_owned())
    };
    let alarms: BTreeSet<_> = text.lines().filter_map(alarm).collect();
    assert_eq!(first_codes("Alarms", 0), alarms);
    assert!(alarms.len() > 5, "{alarms:?}");
}
