//! Detects ids of auction items whose `;` was not percent-encoded: API Gateway splits a query at a raw `;`.

use super::Request;
use crate::error::ApiError;
use crate::excerpt::Excerpt;

/// The largest number of digits after the `;` of an id: levels go up to 10.
const LONGEST_LEVEL: usize = 2;

impl Request {
    /// Checks that the ids in `parameter` had no raw `;`.
    ///
    /// # Errors
    /// `BAD_REQUEST`, which must not be stored.
    pub fn refuse_split(&self, parameter: &str) -> Result<(), ApiError> {
        let rest = self.undeclared_without_value().find(|name| continues_an_id(name));
        rest.map_or(Ok(()), |rest| Err(split_id(parameter, rest)))
    }
}

/// Whether the name can be the text after the `;` of an id, which begins with a level: `4`, `4+100` or
/// `4,COAL`. The gateway turns a `+` into a blank.
fn continues_an_id(name: &str) -> bool {
    let level = name.bytes().take_while(u8::is_ascii_digit).count();
    (1..=LONGEST_LEVEL).contains(&level)
        && matches!(name.as_bytes().get(level), None | Some(b',' | b'+' | b' '))
}

/// Returns the error of a query that was split at a raw `;` before `rest`. The error must not be stored:
/// `rest` is not part of the cache key, so the response could reach a client that sent only the text before
/// `rest`.
#[must_use]
pub fn split_id(parameter: &str, rest: &str) -> ApiError {
    let rest = Excerpt::of(rest);
    let message = format!(
        "Parameter '{parameter}' must have ';' as '%3B', but the query was split at a ';' before '{rest}'."
    );
    ApiError::bad_request(message).never_stored()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_rest_of_an_id_is_refused() {
        for name in ["4", "10", "0,COAL", "4,", "4+100", "4 100,COAL"] {
            assert!(continues_an_id(name), "{name}");
        }
        for name in ["", "x", ",4", "4x", "4;5", "-4", "100", "1795325498613", "_4"] {
            assert!(!continues_an_id(name), "{name}");
        }
    }
}
