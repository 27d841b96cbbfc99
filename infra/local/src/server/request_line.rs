//! Lets request targets through that are no URIs. `curl 'http://…/<script>'` sends just that, and hyper's URI parser
//! refuses it with an empty 400 before any code of ours runs, where API Gateway answers like for any other unknown path.
//! So each request line is read here first, and what must not stand in a target is percent-encoded.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Longer request lines go to hyper as they are; it has a limit of its own and an answer for it.
const LONGEST_LINE: usize = 128 * 1024;

pub(super) struct Lenient<Stream> {
    stream: Stream,
    /// Whether the next bytes to come are the beginning of a request.
    in_request_line: bool,
    /// What has come of the request line so far.
    line: Vec<u8>,
    /// What is ready for hyper, and how much of it hyper has.
    ready: Vec<u8>,
    taken: usize,
}

impl<Stream> Lenient<Stream> {
    pub(super) fn new(stream: Stream) -> Self {
        Self { stream, in_request_line: true, line: Vec::new(), ready: Vec::new(), taken: 0 }
    }

    /// Hands the line over once it is complete.
    fn advance(&mut self, at_end: bool) {
        // Empty lines before a request are allowed.
        let blank = self.line.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        self.line.drain(..blank);
        let end = self.line.iter().position(|byte| *byte == b'\n');
        if end.is_none() && !at_end && self.line.len() <= LONGEST_LINE {
            return;
        }
        let (line, rest) = self.line.split_at(end.unwrap_or(0));
        self.ready = encode_target(line);
        self.ready.extend_from_slice(rest);
        self.taken = 0;
        self.line.clear();
        self.in_request_line = false;
    }

    /// An answer has gone out, so a request comes next. (Handlers read a request's body before they answer.)
    fn wrote(&mut self, bytes: &[u8]) {
        let asks_for_body = bytes.starts_with(b"HTTP/1.1 100");
        if !asks_for_body && self.taken == self.ready.len() {
            self.in_request_line = true;
        }
    }
}

/// The request line with everything encoded in its target that no URI may hold.
fn encode_target(line: &[u8]) -> Vec<u8> {
    let start = line.iter().position(|byte| *byte == b' ').map(|position| position + 1);
    let end = line.iter().rposition(|byte| *byte == b' ');
    let (Some(start), Some(end)) = (start, end) else { return line.to_vec() };
    let (Some(target), Some(version)) = (line.get(start..end), line.get(end..)) else { return line.to_vec() };
    if !version.starts_with(b" HTTP/") {
        return line.to_vec();
    }
    let mut encoded = Vec::with_capacity(line.len());
    encoded.extend(line.iter().take(start));
    for byte in target {
        if matches!(byte, 0..=0x20 | b'"' | b'#' | b'<' | b'>' | b'`' | 0x7f..) {
            encoded.extend(format!("%{byte:02X}").bytes());
        } else {
            encoded.push(*byte);
        }
    }
    encoded.extend_from_slice(version);
    encoded
}

impl<Stream: AsyncRead + Unpin> AsyncRead for Lenient<Stream> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            let waiting = this.ready.get(this.taken..).unwrap_or_default();
            if !waiting.is_empty() {
                let count = waiting.len().min(buffer.remaining());
                buffer.put_slice(waiting.get(..count).unwrap_or_default());
                this.taken += count;
                return Poll::Ready(Ok(()));
            }
            if !this.in_request_line {
                return Pin::new(&mut this.stream).poll_read(context, buffer);
            }
            let mut chunk = [0; 8 * 1024];
            let mut chunk = ReadBuf::new(&mut chunk);
            ready!(Pin::new(&mut this.stream).poll_read(context, &mut chunk))?;
            let at_end = chunk.filled().is_empty();
            this.line.extend_from_slice(chunk.filled());
            this.advance(at_end);
            if at_end && this.ready.len() == this.taken {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl<Stream: AsyncWrite + Unpin> AsyncWrite for Lenient<Stream> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let count = ready!(Pin::new(&mut this.stream).poll_write(context, bytes))?;
        this.wrote(bytes);
        Poll::Ready(Ok(count))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let count = ready!(Pin::new(&mut this.stream).poll_write_vectored(context, slices))?;
        this.wrote(slices.first().map(|slice| &**slice).unwrap_or_default());
        Poll::Ready(Ok(count))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(line: &[u8]) -> String {
        String::from_utf8(encode_target(line)).unwrap()
    }

    #[test]
    fn a_legal_target_stays_as_it_is() {
        let line = "GET /v1/bazaar?mode=item&id=INK_SACK:3%20&x={a} HTTP/1.1\r";
        assert_eq!(encoded(line.as_bytes()), line);
    }

    #[test]
    fn what_no_uri_may_hold_is_encoded() {
        assert_eq!(
            encoded(b"GET /<script> \"\xff\x01 HTTP/1.1\r"),
            "GET /%3Cscript%3E%20%22%FF%01 HTTP/1.1\r"
        );
    }

    #[test]
    fn what_is_no_request_line_is_left_to_hyper() {
        for line in ["", "GET", "GET /", "GET / <", "\u{16}\u{3}\u{1} TLS"] {
            assert_eq!(encoded(line.as_bytes()), line);
        }
    }
}
