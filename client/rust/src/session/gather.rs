//! The bytes of a download as they come.

use bytes::{Bytes, BytesMut};

use crate::error::{Error, Result};

/// Chunks put together. A download that comes in one chunk is that chunk, without a copy.
pub(crate) struct Gather {
    want: usize,
    came: usize,
    whole: Option<Bytes>,
    pieces: BytesMut,
    is_wanted: bool,
}

impl Gather {
    pub(crate) fn new(want: usize) -> Self {
        Self { want, came: 0, whole: None, pieces: BytesMut::new(), is_wanted: true }
    }

    /// The chunk that starts at `offset`.
    pub(crate) fn take(&mut self, offset: i64, chunk: &Bytes) -> Result<()> {
        if usize::try_from(offset) != Ok(self.came) || chunk.len() > self.want - self.came {
            return Err(Error::bad_answer("a chunk is out of place"));
        }
        self.came += chunk.len();
        if !self.is_wanted {
            return Ok(());
        }
        if chunk.len() == self.want {
            self.whole = Some(chunk.clone());
            return Ok(());
        }
        if self.pieces.is_empty() {
            self.pieces.reserve(self.want);
        }
        self.pieces.extend_from_slice(chunk);
        Ok(())
    }

    /// Nobody waits for the bytes any more: those that still come are only counted.
    pub(crate) fn give_up(&mut self) {
        (self.is_wanted, self.pieces, self.whole) = (false, BytesMut::new(), None);
    }

    pub(crate) fn finish(self) -> Result<Bytes> {
        if self.came != self.want {
            return Err(Error::bad_answer(format!("{} of {} bytes came", self.came, self.want)));
        }
        Ok(self.whole.unwrap_or_else(|| self.pieces.freeze()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_must_follow_each_other() {
        let mut gather = Gather::new(4);
        gather.take(0, &Bytes::from_static(b"ab")).unwrap();
        assert!(gather.take(1, &Bytes::from_static(b"c")).is_err());
        assert!(gather.take(-1, &Bytes::from_static(b"c")).is_err());
        assert!(gather.take(2, &Bytes::from_static(b"cde")).is_err());
        gather.take(2, &Bytes::from_static(b"cd")).unwrap();
        assert_eq!(gather.finish().unwrap(), "abcd");
    }

    #[test]
    fn bytes_that_lack_are_told() {
        let mut gather = Gather::new(4);
        gather.take(0, &Bytes::from_static(b"ab")).unwrap();
        assert!(gather.finish().unwrap_err().message().contains("2 of 4 bytes came"));
    }

    #[test]
    fn a_single_chunk_is_not_copied() {
        let chunk = Bytes::from(vec![1u8; 64]);
        let mut gather = Gather::new(64);
        gather.take(0, &chunk).unwrap();
        assert_eq!(gather.finish().unwrap().as_ptr(), chunk.as_ptr());
    }
}
