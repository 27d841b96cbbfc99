//! Whether bytes are NBT that is safe to read with `fastnbt`. It recurses into everything that it skips, without a limit, and
//! panics at a list of ends.

/// How deep compounds and lists may nest. Real items nest 8 deep.
pub const DEEPEST: usize = 32;

// The types of NBT that a rule here is about.
const END: u8 = 0;
const TEXT: u8 = 8;
const LIST: u8 = 9;
const COMPOUND: u8 = 10;

/// Whether these bytes are one compound with a name, and nothing after it.
pub(super) fn is_sound(nbt: &[u8]) -> bool {
    let mut rest = nbt;
    rest.split_off_first() == Some(&COMPOUND)
        && skip(&mut rest, TEXT, DEEPEST).is_some()
        && skip(&mut rest, COMPOUND, DEEPEST).is_some()
        && rest.is_empty()
}

/// Skips a value of this type. `None` if it is incomplete, or nests deeper than `depth`.
fn skip(rest: &mut &[u8], kind: u8, depth: usize) -> Option<()> {
    let size = match kind {
        1 => 1,
        2 => 2,
        3 | 5 => 4,
        4 | 6 => 8,
        7 => length(rest)?,
        TEXT => u16::from_be_bytes(*take(rest)?).into(),
        LIST => return skip_list(rest, depth.checked_sub(1)?),
        COMPOUND => return skip_compound(rest, depth.checked_sub(1)?),
        11 => length(rest)?.checked_mul(4)?,
        12 => length(rest)?.checked_mul(8)?,
        _ => return None,
    };
    rest.split_off(..size).map(drop)
}

fn skip_list(rest: &mut &[u8], depth: usize) -> Option<()> {
    match (*rest.split_off_first()?, length(rest)?) {
        (END, length) => (length == 0).then_some(()),
        (kind, length) => (0..length).try_for_each(|_| skip(rest, kind, depth)),
    }
}

fn skip_compound(rest: &mut &[u8], depth: usize) -> Option<()> {
    loop {
        let kind = *rest.split_off_first()?;
        if kind == END {
            return Some(());
        }
        skip(rest, TEXT, depth)?;
        skip(rest, kind, depth)?;
    }
}

fn length(rest: &mut &[u8]) -> Option<usize> {
    i32::from_be_bytes(*take(rest)?).try_into().ok()
}

fn take<'a, const LENGTH: usize>(rest: &mut &'a [u8]) -> Option<&'a [u8; LENGTH]> {
    rest.split_off(..LENGTH)?.first_chunk()
}
