//! Parses the command line. Operators paste keys where they do not belong, so no error message repeats a key.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::str::FromStr;

use clap::Parser;
use common::auth::{AccountName, KEY_PREFIX, KeyId, Label, parse_unless_key, without_keys};
use common::time::{UnixMilliseconds, UnixSeconds};

/// The argument that stands for standard input or standard output.
pub(crate) const STANDARD_STREAM: &str = "-";
/// The exit code for an invalid command line, the same as clap's.
pub(crate) const INVALID_COMMAND_LINE: u8 = 2;

/// Parses the arguments of this process.
///
/// # Errors
/// Returns the exit code if the arguments are invalid or ask for help.
pub(crate) fn parse<A: Parser>() -> Result<A, ExitCode> {
    parse_from(std::env::args_os())
}

fn parse_from<A: Parser>(arguments: impl IntoIterator<Item = OsString>) -> Result<A, ExitCode> {
    A::try_parse_from(arguments).map_err(|error| {
        let message = error.render().to_string();
        if message.contains(KEY_PREFIX) && error.use_stderr() {
            let _ = io::stderr().lock().write_all(without_keys(&message).as_bytes());
        } else {
            let _ = error.print();
        }
        if error.use_stderr() { ExitCode::from(INVALID_COMMAND_LINE) } else { ExitCode::SUCCESS }
    })
}

pub(crate) fn account_name(text: &str) -> Result<AccountName, String> {
    parse_unless_key(text)
}

pub(crate) fn label(text: &str) -> Result<Label, String> {
    parse_unless_key(text)
}

/// Parses the name of a table or a stack.
pub(crate) fn resource_name(text: &str) -> Result<String, String> {
    if text.is_empty() { Err("must not be empty".to_owned()) } else { parse_unless_key(text) }
}

pub(crate) fn key_id(text: &str) -> Result<KeyId, String> {
    if text.starts_with(KEY_PREFIX) {
        return Err("this is an API key, not a KEY-ID; `key explain -` shows the KEY-ID of a key".to_owned());
    }
    text.parse().map_err(|error: <KeyId as FromStr>::Err| error.to_string())
}

/// Parses a time: RFC 3339, or a date, which means its first second in UTC.
pub(crate) fn time(text: &str) -> Result<UnixSeconds, &'static str> {
    let midnight = format!("{text}T00:00:00Z");
    let time = UnixMilliseconds::from_rfc3339(&midnight).or_else(|| UnixMilliseconds::from_rfc3339(text));
    time.map(UnixSeconds::from)
        .ok_or("must be a date like 2027-01-01, or RFC 3339, between the years 2001 and 2286")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_stands_for_its_first_second() {
        for (text, expected) in [
            ("2027-01-01", "2027-01-01T00:00:00Z"),
            ("2028-02-29", "2028-02-29T00:00:00Z"),
            ("2027-01-01T12:30:00Z", "2027-01-01T12:30:00Z"),
            ("2027-01-01T12:30:00.9+02:00", "2027-01-01T10:30:00Z"),
        ] {
            assert_eq!(time(text).unwrap().to_string(), expected);
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
            assert!(time(text).is_err(), "{text}");
        }
    }
}
