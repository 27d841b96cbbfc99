//! The name service: which names exist, their spelling, and the UUIDs of players. A UUID contains a checksum,
//! so that the game recognizes its players by UUID alone.

use crate::chance::{hash, mix, text_hash};

/// A player with very large profiles: a body of about 3.5 MB.
pub const WHALE: &str = "whale";

/// A player whose profiles of about 8 MB exceed the limit for a Lambda function's response, 6 MB.
pub const LEVIATHAN: &str = "leviathan";

/// A player without profiles: `profiles` is `null`.
pub const NEVER_PLAYED: &str = "neverplayed";

/// The start of names that no player has.
pub const NOBODY: &str = "nobody_";

#[derive(Debug, PartialEq, Eq)]
pub struct Response {
    pub status: u16,
    /// The body, in the name service's own spelling of JSON.
    pub body: String,
}

/// The response to `/users/profiles/minecraft/NAME`.
#[must_use]
pub fn lookup(seed: u64, name: &str) -> Response {
    let path = format!("/users/profiles/minecraft/{name}");
    if !is_legal(name) {
        let body = pretty(&[("path", &path), ("errorMessage", "getProfileName.name: Invalid profile name")]);
        return Response { status: 400, body };
    }
    let Some(uuid) = uuid(seed, name) else {
        let message = format!("Couldn't find any profile with name {name}");
        return Response { status: 404, body: pretty(&[("path", &path), ("errorMessage", &message)]) };
    };
    Response { status: 200, body: pretty(&[("id", &uuid), ("name", &spelling(seed, name))]) }
}

/// The UUID of the player called `name` in any case: 32 hexadecimal digits, or `None` if there is no such
/// player.
#[must_use]
pub fn uuid(seed: u64, name: &str) -> Option<String> {
    let name = name.to_ascii_lowercase();
    if !is_legal(&name) || name.starts_with(NOBODY) {
        return None;
    }
    Some(identity(seed, text_hash(&name)))
}

/// The name in its owner's spelling.
#[must_use]
pub fn spelling(seed: u64, name: &str) -> String {
    let name = name.to_ascii_lowercase();
    let style = hash(seed, "spelling", text_hash(&name));
    let mut upper = !style.is_multiple_of(4);
    let spell = |character: char| {
        let spelt = if upper { character.to_ascii_uppercase() } else { character };
        // One player in four writes Every_Word_In_Title_Case, one in four in UPPER CASE.
        upper = style % 4 == 3 || style % 4 == 2 && character == '_';
        spelt
    };
    name.chars().map(spell).collect()
}

/// Whether `uuid` (32 lower-case hexadecimal digits) belongs to a player of the game with this seed.
#[must_use]
pub fn is_player(seed: u64, uuid: &str) -> bool {
    let Ok(bits) = u128::from_str_radix(uuid, 16) else { return false };
    u128::from(check_of(seed, bits >> 32)) == bits & 0xffff_ffff
}

/// The UUID of the player with this number. It looks random (version 4), and [`is_player`] recognizes it.
pub(crate) fn identity(seed: u64, number: u64) -> String {
    let high = hash(seed, "player", number) & !0xf000 | 0x4000;
    let middle = hash(seed, "player's second half", number) & 0x3fff_ffff | 0x8000_0000;
    let unchecked = u128::from(high) << 32 | u128::from(middle);
    format!("{:032x}", unchecked << 32 | u128::from(check_of(seed, unchecked)))
}

fn check_of(seed: u64, unchecked: u128) -> u32 {
    let folded = (unchecked ^ (unchecked >> 64)) as u64;
    mix(hash(seed, "player check", folded)) as u32
}

fn is_legal(name: &str) -> bool {
    (1..=16).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// An object in the name service's layout. Rust's `Debug` escapes these values as JSON does.
fn pretty(fields: &[(&str, &str)]) -> String {
    let lines: Vec<String> = fields.iter().map(|(key, value)| format!("  \"{key}\" : {value:?}")).collect();
    format!("{{\n{}\n}}", lines.join(",\n"))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn a_name_is_found_in_any_case_and_returned_in_its_owners_spelling() {
        for name in
            ["a", "technoblade", "co_op_farmer", "X", "0123456789abcdef", "_", WHALE, LEVIATHAN, NEVER_PLAYED]
        {
            let response = lookup(1, name);
            assert_eq!(response.status, 200, "{name}");
            assert_eq!(response, lookup(1, &name.to_ascii_uppercase()));
            let parsed: Value = serde_json::from_str(&response.body).unwrap();
            assert!(parsed["name"].as_str().unwrap().eq_ignore_ascii_case(name));
            let id = parsed["id"].as_str().unwrap();
            assert!(is_player(1, id) && id.len() == 32 && id.as_bytes()[12] == b'4', "{id}");
            assert!(!is_player(2, id), "another game's player");
        }
        let spelt: Vec<String> = ["alpha_x", "beta_x", "gamma_x", "delta_x", "epsilon_x", "zeta_x"]
            .map(|name| spelling(1, name))
            .to_vec();
        assert!(spelt.iter().any(|name| name.chars().any(char::is_uppercase)), "{spelt:?}");
    }

    #[test]
    fn an_unknown_name_has_the_name_services_message() {
        let response = lookup(1, "Nobody_Here");
        assert_eq!(response.status, 404);
        let parsed: Value = serde_json::from_str(&response.body).unwrap();
        assert_eq!(parsed["path"], "/users/profiles/minecraft/Nobody_Here");
        assert_eq!(parsed["errorMessage"], "Couldn't find any profile with name Nobody_Here");
    }

    #[test]
    fn illegal_names_are_refused() {
        for name in ["", "seventeen_letters", "with-dash", "with space", "é"] {
            assert_eq!(lookup(1, name).status, 400, "{name}");
        }
    }
}
