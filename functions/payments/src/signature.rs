//! The signature of an event: `Stripe-Signature: t=SECONDS,v1=HEX,v1=HEX`. While the secret is rotated, there is one `v1` for each valid
//! secret.

use std::time::Duration;

use common::time::{UnixMilliseconds, UnixSeconds};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The maximum difference between the time of a signature and the time of the request. It limits how long an intercepted event can be sent
/// again.
const TOLERANCE: Duration = Duration::from_mins(5);

/// Why a signature is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error(
        "The header Stripe-Signature must have a time and a signature, such as t=1777388600,v1=5257a869."
    )]
    Malformed,
    #[error("The time of the signature must be within five minutes of the request.")]
    Late,
    #[error("The signature does not match this body and the webhook's secret.")]
    Wrong,
}

/// The secret of the webhook.
#[derive(Debug)]
pub(crate) struct Secret(Hmac<Sha256>);

impl Secret {
    pub(crate) fn new(secret: &[u8]) -> Option<Self> {
        Hmac::new_from_slice(secret).ok().map(Self)
    }

    /// Checks the signature of the body.
    ///
    /// # Errors
    /// If the header has no signature of this body with the secret, or if the time in the header is too far from `now`.
    pub(crate) fn check(&self, header: &str, body: &str, now: UnixMilliseconds) -> Result<(), Refusal> {
        let values = |prefix| header.split(',').filter_map(move |pair| pair.trim().strip_prefix(prefix));
        let time = values("t=").next().ok_or(Refusal::Malformed)?;
        let seconds = time.parse().map_err(|_| Refusal::Malformed)?;
        if now.distance(UnixSeconds::new(seconds).into()) > TOLERANCE {
            return Err(Refusal::Late);
        }
        let mut mac = self.0.clone();
        for part in [time, ".", body] {
            mac.update(part.as_bytes());
        }
        // `verify_slice` compares in constant time.
        let is_right =
            |signature| bytes(signature).is_some_and(|bytes| mac.clone().verify_slice(&bytes).is_ok());
        if values("v1=").any(is_right) { Ok(()) } else { Err(Refusal::Wrong) }
    }
}

/// Returns the bytes of a hexadecimal number.
fn bytes(hexadecimal: &str) -> Option<Vec<u8>> {
    let pairs = hexadecimal.as_bytes().chunks(2).map(std::str::from_utf8);
    pairs.map(|pair| u8::from_str_radix(pair.ok()?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The signature of the body at 1777388600, as Stripe's library makes it.
    const SIGNATURE: &str = "216d38b984990784df4c52c3dc24e9f3b2c7deab5b32314c6b6b588bfcea548e";

    #[test]
    fn a_signature_of_the_body_is_accepted_for_five_minutes() {
        let secret = Secret::new(b"whsec_test").unwrap();
        let rotated = format!("t=1777388600,v1={},v1={SIGNATURE},v0=00", "0".repeat(64));
        for (header, seconds, expected) in [
            (rotated.clone(), 1_777_388_299, Err(Refusal::Late)),
            (rotated.clone(), 1_777_388_300, Ok(())),
            (rotated.clone(), 1_777_388_900, Ok(())),
            (rotated, 1_777_388_901, Err(Refusal::Late)),
            (String::new(), 1_777_388_600, Err(Refusal::Malformed)),
            (format!("t=x,v1={SIGNATURE}"), 1_777_388_600, Err(Refusal::Malformed)),
            ("t=1777388600,v1=é".to_owned(), 1_777_388_600, Err(Refusal::Wrong)),
            (format!("t=1777388600,v0={SIGNATURE}"), 1_777_388_600, Err(Refusal::Wrong)),
            (format!("t=1777388600,v1={SIGNATURE}00"), 1_777_388_600, Err(Refusal::Wrong)),
            (format!("t=1777388601,v1={SIGNATURE}"), 1_777_388_600, Err(Refusal::Wrong)),
        ] {
            let now = UnixSeconds::new(seconds).into();
            assert_eq!(secret.check(&header, r#"{"id":"evt_1"}"#, now), expected, "{header} at {seconds}");
        }
    }
}
