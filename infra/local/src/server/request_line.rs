//! Lets request targets through that are no URIs. `curl 'http://…/<script>'` sends just that, and hyper's URI parser
//! refuses it with an empty 400 before any code of ours runs, where API Gateway answers like for any other unknown path.
//! So each request line is read here first, and what must not stand in a target is percent-encoded.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Longer lines go to hyper as they are; it has a limit of its own and an answer for it.
const LONGEST_LINE: usize = 128 * 1024;

/// What the next byte of a connection belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    RequestLine,
    /// The header, which so far announces a body of this length.
    Header {
        body: usize,
    },
    /// A body that has this much to come.
    Body(usize),
    /// Where the next request begins is not followed any more: after a chunked body, or what is no HTTP. Everything goes to
    /// hyper as it is.
    Anywhere,
}

pub(super) struct Lenient<Stream> {
    stream: Stream,
    place: Place,
    /// What has come of a line that is not complete.
    line: Vec<u8>,
    /// What is ready for hyper, and how much of it hyper has.
    ready: Vec<u8>,
    taken: usize,
}

impl<Stream> Lenient<Stream> {
    pub(super) fn new(stream: Stream) -> Self {
        Self { stream, place: Place::RequestLine, line: Vec::new(), ready: Vec::new(), taken: 0 }
    }

    /// Makes what has come ready for hyper, except for a line that is not complete.
    fn feed(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let count = match self.place {
                Place::Anywhere => bytes.len(),
                Place::Body(left) => left.min(bytes.len()),
                Place::RequestLine | Place::Header { .. } => {
                    bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |position| position + 1)
                }
            };
            let (part, rest) = bytes.split_at(count);
            bytes = rest;
            match self.place {
                Place::Anywhere => self.ready.extend_from_slice(part),
                Place::Body(left) => {
                    self.ready.extend_from_slice(part);
                    self.place = after_header(left.saturating_sub(count));
                }
                Place::RequestLine | Place::Header { .. } => {
                    self.line.extend_from_slice(part);
                    if part.ends_with(b"\n") {
                        self.end_line();
                    } else if self.line.len() > LONGEST_LINE {
                        self.give_up();
                    }
                }
            }
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let is_blank = matches!(line.as_slice(), b"\r\n" | b"\n");
        match self.place {
            // Empty lines before a request are allowed.
            Place::RequestLine if is_blank => {}
            Place::RequestLine => {
                self.ready.extend(encode_target(&line));
                self.place = Place::Header { body: 0 };
            }
            Place::Header { body } => {
                self.place = if is_blank { after_header(body) } else { after_field(&line, body) };
                self.ready.extend(line);
            }
            Place::Body(_) | Place::Anywhere => self.ready.extend(line),
        }
    }

    fn give_up(&mut self) {
        self.ready.append(&mut self.line);
        self.place = Place::Anywhere;
    }
}

fn after_header(body: usize) -> Place {
    if body == 0 { Place::RequestLine } else { Place::Body(body) }
}

/// Where a line of the header leads to, after others that announced a body of this length.
fn after_field(line: &[u8], body: usize) -> Place {
    let mut parts = line.splitn(2, |byte| *byte == b':');
    let name = parts.next().unwrap_or_default();
    if name.eq_ignore_ascii_case(b"transfer-encoding") {
        return Place::Anywhere;
    }
    if !name.eq_ignore_ascii_case(b"content-length") {
        return Place::Header { body };
    }
    let value = parts.next().unwrap_or_default().trim_ascii();
    let length = std::str::from_utf8(value).ok().and_then(|value| value.parse().ok());
    length.map_or(Place::Anywhere, |body| Place::Header { body })
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
            if this.place == Place::Anywhere {
                return Pin::new(&mut this.stream).poll_read(context, buffer);
            }
            let mut chunk = [0; 8 * 1024];
            let mut chunk = ReadBuf::new(&mut chunk);
            ready!(Pin::new(&mut this.stream).poll_read(context, &mut chunk))?;
            this.ready.clear();
            this.taken = 0;
            this.feed(chunk.filled());
            if chunk.filled().is_empty() {
                if this.line.is_empty() {
                    return Poll::Ready(Ok(()));
                }
                // The end came in the middle of a line, which hyper has an answer for.
                this.give_up();
            }
        }
    }
}

impl<Stream: AsyncWrite + Unpin> AsyncWrite for Lenient<Stream> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(context, slices)
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

    /// What hyper gets of the connection's bytes if they come in these pieces.
    fn handed_over<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> String {
        let mut connection = Lenient::new(());
        for piece in pieces {
            connection.feed(piece);
        }
        assert_eq!(connection.line, b"");
        String::from_utf8(connection.ready).unwrap()
    }

    #[test]
    fn each_request_on_a_connection_is_found_wherever_packets_end() {
        let sent = "GET /< HTTP/1.1\r\nHost: x\r\n\r\n\r\nPOST /<2 HTTP/1.1\ncontent-LENGTH: 12 \n\nGET /< HTTP/\n\
            PUT /<3 HTTP/1.1\r\nContent-Length: 0\r\n\r\nGET /<4 HTTP/1.1\r\n\r\n";
        let expected = "GET /%3C HTTP/1.1\r\nHost: x\r\n\r\nPOST /%3C2 HTTP/1.1\ncontent-LENGTH: 12 \n\nGET /< HTTP/\
            PUT /%3C3 HTTP/1.1\r\nContent-Length: 0\r\n\r\nGET /%3C4 HTTP/1.1\r\n\r\n";
        let sent = sent.as_bytes();
        for end in 0..=sent.len() {
            let (one, two) = sent.split_at(end);
            assert_eq!(handed_over([one, two]), expected, "{end}");
        }
        assert_eq!(handed_over(sent.chunks(1)), expected);
    }

    #[test]
    fn after_a_body_of_unknown_length_everything_is_left_to_hyper() {
        for field in ["Transfer-Encoding: chunked", "Content-Length: some", "Content-Length: -1"] {
            let sent = format!("GET / HTTP/1.1\r\n{field}\r\n\r\n0\r\n\r\nGET /< HTTP/1.1\r\n\r\n");
            assert_eq!(handed_over([sent.as_bytes()]), sent);
        }
    }
}
