//! Seeded randomness. The same seed and time give the same bytes, and any detail can be computed
//! independently.

use fastrand::Rng;

/// A number that depends on the seed, a label and a number.
pub(crate) fn hash(seed: u64, label: &str, number: u64) -> u64 {
    mix(mix(seed ^ text_hash(label)).wrapping_add(number))
}

/// A generator that is seeded with [`hash`].
pub(crate) fn generator(seed: u64, label: &str, number: u64) -> Rng {
    Rng::with_seed(hash(seed, label, number))
}

/// A hash of a text (FNV-1a).
pub(crate) fn text_hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |state, byte| (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The last step of the generator `SplitMix64`: every input bit affects every output bit.
pub(crate) fn mix(value: u64) -> u64 {
    let mut mixed = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// One of `list`, or the type's default if the list is empty.
pub(crate) fn pick<T: Copy + Default>(rng: &mut Rng, list: &[T]) -> T {
    rng.choice(list).copied().unwrap_or_default()
}

/// About half of `things`, in their order.
pub(crate) fn some<T>(rng: &mut Rng, things: impl IntoIterator<Item = T>) -> Vec<T> {
    things.into_iter().filter(|_| rng.bool()).collect()
}

/// A number between `low` and `high`, with every order of magnitude equally likely.
pub(crate) fn magnitude(rng: &mut Rng, low: f64, high: f64) -> f64 {
    low * (high / low).powf(rng.f64())
}

/// A slow wave between -1 and 1 over `period_ms`, with its own phase (0 to 1).
pub(crate) fn wave(now_ms: i64, period_ms: i64, phase: f64) -> f64 {
    let turn = now_ms.rem_euclid(period_ms) as f64 / period_ms as f64;
    ((turn + phase) * std::f64::consts::TAU).sin()
}

/// `digits` (at most 32) random lower-case hexadecimal digits.
pub(crate) fn hexadecimal(rng: &mut Rng, digits: usize) -> String {
    let mut text = format!("{:032x}", rng.u128(..));
    text.truncate(digits);
    text
}

/// A random (version 4) UUID, 32 hexadecimal digits without dashes.
pub(crate) fn uuid(rng: &mut Rng) -> String {
    let bits = rng.u128(..) & !(0xf << 76) | (0x4 << 76);
    format!("{:032x}", bits & !(0x3 << 62) | (0x2 << 62))
}

/// A UUID with dashes, from one without.
pub(crate) fn dashed(uuid: &str) -> String {
    let mut text = String::with_capacity(36);
    for (position, character) in uuid.chars().enumerate() {
        if matches!(position, 8 | 12 | 16 | 20) {
            text.push('-');
        }
        text.push(character);
    }
    text
}

/// Random base64 text of about `length` characters, with padding if necessary.
pub(crate) fn base64_text(rng: &mut Rng, length: usize) -> String {
    use base64::Engine;
    let mut bytes = vec![0; length * 3 / 4];
    rng.fill(&mut bytes);
    base64::engine::general_purpose::STANDARD.encode(bytes)
}
