//! Reads NBT without building a tree. A value is found by its name, and only the values that a rule needs are
//! read, so a value of an unexpected type does not affect the others. Nesting has a limit, and every length
//! is checked against the bytes.

/// The maximum depth of nested compounds and lists. Real items have a depth of 8.
pub const DEEPEST: usize = 32;

// The types of NBT values.
const END: u8 = 0;
const TEXT: u8 = 8;
const LIST: u8 = 9;
const COMPOUND: u8 = 10;

/// A complete value: its type and its bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Value<'a> {
    kind: u8,
    bytes: &'a [u8],
}

impl<'a> Value<'a> {
    /// Returns the compound in these bytes. `None` unless the bytes are one compound with a name, and nothing
    /// follows the compound.
    pub(super) fn root(nbt: &'a [u8]) -> Option<Self> {
        let mut rest = nbt;
        let kind = *rest.split_off_first()?;
        skip(&mut rest, TEXT, DEEPEST)?;
        let bytes = rest;
        skip(&mut rest, kind, DEEPEST)?;
        (kind == COMPOUND && rest.is_empty()).then_some(Self { kind, bytes })
    }

    /// Returns the names and values of a compound; `None` for other types.
    pub(super) fn entries(self) -> Option<impl Iterator<Item = (&'a [u8], Self)>> {
        let mut rest = self.bytes;
        let entries = std::iter::from_fn(move || {
            let kind = *rest.split_off_first().filter(|kind| **kind != END)?;
            let name = complete(&mut rest, TEXT)?.text_bytes()?;
            Some((name, complete(&mut rest, kind)?))
        });
        (self.kind == COMPOUND).then_some(entries)
    }

    /// Returns the value with this name in a compound.
    pub(super) fn get(self, name: &str) -> Option<Self> {
        self.entries()?.find(|(other, _)| *other == name.as_bytes()).map(|(_, value)| value)
    }

    /// Returns the element of a list that has exactly one.
    pub(super) fn only_element(self) -> Option<Self> {
        if self.kind != LIST {
            return None;
        }
        let mut rest = self.bytes;
        let kind = *rest.split_off_first()?;
        if length(&mut rest)? == 1 { complete(&mut rest, kind) } else { None }
    }

    /// Returns the bytes of a text. They are not UTF-8 if the text has characters beyond U+FFFF, which NBT
    /// stores as surrogate pairs.
    pub(super) fn text_bytes(self) -> Option<&'a [u8]> {
        if self.kind == TEXT { self.bytes.get(2..) } else { None }
    }

    /// Returns a text; `None` if its bytes are not UTF-8.
    pub(super) fn text(self) -> Option<&'a str> {
        str::from_utf8(self.text_bytes()?).ok()
    }

    /// Returns a whole number of any size.
    pub(super) fn integer(self) -> Option<i64> {
        let mut rest = self.bytes;
        match self.kind {
            1 => take(&mut rest).copied().map(i8::from_be_bytes).map(i64::from),
            2 => take(&mut rest).copied().map(i16::from_be_bytes).map(i64::from),
            3 => take(&mut rest).copied().map(i32::from_be_bytes).map(i64::from),
            4 => take(&mut rest).copied().map(i64::from_be_bytes),
            _ => None,
        }
    }

    /// Whether the value is a number other than 0, a text, list or array that is not empty, or a compound
    /// with such a value.
    pub(super) fn is_set(self) -> bool {
        match self.kind {
            COMPOUND => self.entries().is_some_and(|mut entries| entries.any(|(_, value)| value.is_set())),
            // The first byte is the type of the elements; their number follows.
            LIST => self.bytes.iter().skip(1).any(|byte| *byte != 0),
            // A text or an array begins with its length, which is 0 if it is empty.
            _ => self.bytes.iter().any(|byte| *byte != 0),
        }
    }
}

/// Takes a value of this type.
fn complete<'a>(rest: &mut &'a [u8], kind: u8) -> Option<Value<'a>> {
    let bytes = *rest;
    skip(rest, kind, DEEPEST)?;
    bytes.get(..bytes.len() - rest.len()).map(|bytes| Value { kind, bytes })
}

/// Skips a value of this type. `None` if it is incomplete or nested deeper than `depth`.
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
