//! The people who stand for mayor.

use std::sync::LazyLock;

/// A person who stands for mayor, with all perks that they may offer.
pub(crate) struct Person {
    pub(crate) key: &'static str,
    pub(crate) name: &'static str,
    /// The year in a cycle of 24 years in which this special candidate stands; `None` for regular candidates.
    year: Option<i64>,
    /// Names and descriptions.
    pub(crate) perks: Vec<(&'static str, &'static str)>,
}

/// In the file, a person has a line with the fields above and a line for each perk.
static PEOPLE: LazyLock<Vec<Person>> = LazyLock::new(|| {
    let person = |text: &'static str| {
        let (first, perks) = text.split_once('\n')?;
        let mut fields = first.split(' ');
        Some(Person {
            key: fields.next()?,
            name: fields.next()?,
            year: fields.next().and_then(|year| year.parse().ok()),
            perks: perks.lines().filter_map(|perk| perk.split_once(": ")).collect(),
        })
    };
    include_str!("../words/people.txt").split("\n\n").filter_map(person).collect()
});

/// The people who can stand in every election.
pub(crate) fn regulars() -> impl Iterator<Item = &'static Person> {
    PEOPLE.iter().filter(|person| person.year.is_none())
}

/// The special candidate of an election, if there is one. Every eighth year, a special candidate stands and
/// wins.
pub(crate) fn special(year: i64) -> Option<&'static Person> {
    PEOPLE.iter().find(|person| person.year == Some(year.rem_euclid(24)))
}
