//! The text of a response body, in a buffer that is reused.

use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The maximum size of a buffer that is kept for the next body, in bytes.
const LARGEST_SPARE: usize = 8 * 1024 * 1024;

/// The text of a response body. When it is dropped, its buffer is kept for the next body of the same upstream: the page faults of
/// a fresh buffer take a twentieth of the time of a request.
#[derive(Debug)]
pub struct Text {
    text: String,
    spare: Weak<Spare>,
}

impl Text {
    /// Returns a text whose buffer is not reused.
    pub(super) const fn new(text: String) -> Self {
        Self { text, spare: Weak::new() }
    }

    /// Returns a text whose buffer goes to `spare` when the text is dropped.
    pub(super) fn in_spare(text: String, spare: &Arc<Spare>) -> Self {
        Self { text, spare: Arc::downgrade(spare) }
    }

    /// How many bytes the text takes in memory: at most twice its length.
    pub(crate) const fn capacity(&self) -> usize {
        self.text.capacity()
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl Drop for Text {
    fn drop(&mut self) {
        if let Some(spare) = self.spare.upgrade() {
            spare.put(std::mem::take(&mut self.text).into_bytes());
        }
    }
}

/// The buffer that the next body is decompressed into.
#[derive(Debug, Default)]
pub(super) struct Spare(Mutex<Vec<u8>>);

impl Spare {
    /// Returns a buffer of this length with any content. Its capacity is at most twice the length, because a cached text
    /// keeps the buffer.
    pub(super) fn take(&self, length: usize) -> Vec<u8> {
        let mut spare = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !(length..=length.saturating_mul(2)).contains(&spare.capacity()) {
            return vec![0; length];
        }
        let mut buffer = std::mem::take(&mut *spare);
        buffer.resize(length, 0);
        buffer
    }

    fn put(&self, buffer: Vec<u8>) {
        if buffer.capacity() <= LARGEST_SPARE {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = buffer;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buffer_of_a_dropped_text_serves_the_next_body() {
        let spare = Arc::new(Spare::default());
        let text = |length| Text::in_spare(String::from_utf8(spare.take(length)).unwrap(), &spare);
        let first = text(10);
        let second = text(10);
        let place = first.as_ptr();
        assert_ne!(second.as_ptr(), place);
        drop(first);
        let third = text(5);
        assert_eq!((third.len(), third.as_ptr()), (5, place));
        drop(third);
        assert_eq!(text(20).len(), 20);
        drop(text(20));
        assert!(text(9).capacity() < 20, "a short text does not keep a long buffer");
        drop(text(LARGEST_SPARE + 1));
        assert!(spare.take(1).capacity() <= LARGEST_SPARE);
    }
}
