//! The command line is read here. People paste keys into it where none belongs, so what is said about a command line that
//! is wrong never repeats one.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::str::FromStr;

use clap::Parser;
use common::auth::{AccountName, ApiKey, KEY_PREFIX, KeyId, Label, without_keys};
use common::time::{UnixMilliseconds, UnixSeconds};

/// What a command line that is wrong ends with (clap's own).
pub(crate) const WRONG_COMMAND_LINE: u8 = 2;

/// The arguments that this process was started with.
///
/// # Errors
/// How to end if it should end now: the arguments are wrong, or help was asked for and given.
pub(crate) fn parse<A: Parser>() -> Result<A, ExitCode> {
    parse_from(std::env::args_os())
}

fn parse_from<A: Parser>(arguments: impl IntoIterator<Item = OsString>) -> Result<A, ExitCode> {
    A::try_parse_from(arguments).map_err(|error| {
        let said = error.render().to_string();
        if said.contains(KEY_PREFIX) && error.use_stderr() {
            let _ = io::stderr().lock().write_all(without_keys(&said).as_bytes());
        } else {
            let _ = error.print();
        }
        if error.use_stderr() { ExitCode::from(WRONG_COMMAND_LINE) } else { ExitCode::SUCCESS }
    })
}

/// The name of an account.
pub(crate) fn account_name(text: &str) -> Result<AccountName, String> {
    unless_key(text)
}

/// The label of a key.
pub(crate) fn label(text: &str) -> Result<Label, String> {
    unless_key(text)
}

/// The name of a table or a stack.
pub(crate) fn resource_name(text: &str) -> Result<String, String> {
    if text.is_empty() { Err("it is empty".to_owned()) } else { unless_key(text) }
}

/// Whether there is a key in it, whatever stands around it.
fn holds_key(text: &str) -> bool {
    let begins_with_key = |rest: &str| {
        let ends = rest.char_indices().map(|(end, _)| end).chain([rest.len()]);
        ends.filter_map(|end| rest.get(..end)).any(|part| part.parse::<ApiKey>().is_ok())
    };
    text.match_indices(KEY_PREFIX).filter_map(|(at, _)| text.get(at..)).any(begins_with_key)
}

fn unless_key<T: FromStr<Err: ToString>>(text: &str) -> Result<T, String> {
    if holds_key(text) {
        return Err("this is an API key, which belongs to nobody but who asks with it".to_owned());
    }
    text.parse().map_err(|error: T::Err| error.to_string())
}

/// The name of a key.
pub(crate) fn key_id(text: &str) -> Result<KeyId, String> {
    if text.starts_with(KEY_PREFIX) {
        return Err("this is an API key and not a KEY-ID; `key explain -` takes a key and tells its KEY-ID"
            .to_owned());
    }
    text.parse().map_err(|error: <KeyId as FromStr>::Err| error.to_string())
}

/// A moment: a date, which is its first second, or RFC 3339.
pub(crate) fn moment(text: &str) -> Result<UnixSeconds, &'static str> {
    let midnight = format!("{text}T00:00:00Z");
    let moment = UnixMilliseconds::from_rfc3339(&midnight).or_else(|| UnixMilliseconds::from_rfc3339(text));
    moment
        .map(UnixSeconds::from)
        .ok_or("it must be a date like 2027-01-01, or RFC 3339, between the years 2001 and 2286")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_its_first_second() {
        for (text, expected) in [
            ("2027-01-01", "2027-01-01T00:00:00Z"),
            ("2028-02-29", "2028-02-29T00:00:00Z"),
            ("2027-01-01T12:30:00Z", "2027-01-01T12:30:00Z"),
            ("2027-01-01T12:30:00.9+02:00", "2027-01-01T10:30:00Z"),
        ] {
            assert_eq!(moment(text).unwrap().to_string(), expected);
        }
        for text in [
            "",
            "2027",
            "2027-13-01",
            "2027-02-29",
            "01.01.2027",
            "1999-01-01",
            "2027-01-01T00:00:00",
            "1800000000",
        ] {
            assert!(moment(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_key_is_taken_for_nothing_else() {
        let key = ApiKey::of_random_part("0123456789ABCDEFGHIJabcdefghij01").unwrap();
        for refused in [
            account_name(key.expose()).map(drop),
            label(key.expose()).map(drop),
            account_name(&format!("x{}", key.expose())).map(drop),
            label(&format!("my key {}0!", key.expose())).map(drop),
            resource_name(key.expose()).map(drop),
            key_id(key.expose()).map(drop),
            key_id("gd_whatever").map(drop),
        ] {
            assert!(refused.unwrap_err().contains("API key"));
        }
        assert!(account_name("gd_bots").is_ok());
    }
}
