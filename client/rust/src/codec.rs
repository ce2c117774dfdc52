//! Messages ↔ the bytes that gRPC takes, with a bound on what a server's message may take once it is read.

use std::borrow::Borrow;
use std::marker::PhantomData;

use bytes::Buf;
use prost::Message;
use tonic::Status;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};

/// Bytes of a message besides `raw`, and entries of `raw`: more than any server sends. Small fields take up to a hundred times their
/// bytes once they are read.
const MAX_HEADER_BYTES: usize = 16 << 20;
const MAX_RAW_ENTRIES: usize = 1 << 16;
const RAW_FIELD: u64 = 15;

/// Writes messages, each an `M` or what shares one, such as an `Arc<M>`, and reads them. The entries of `raw` look into the bytes that
/// came.
pub(crate) struct MessageCodec<E, M, D>(PhantomData<(E, M, D)>);

impl<E, M, D> MessageCodec<E, M, D> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<E, M, D> Codec for MessageCodec<E, M, D>
where
    E: Borrow<M> + Send + 'static,
    M: Message + 'static,
    D: Message + Default + 'static,
{
    type Encode = E;
    type Decode = D;
    type Encoder = Writer<E, M>;
    type Decoder = Reader<D>;

    fn encoder(&mut self) -> Writer<E, M> {
        Writer(PhantomData)
    }

    fn decoder(&mut self) -> Reader<D> {
        Reader(PhantomData)
    }
}

pub(crate) struct Writer<E, M>(PhantomData<(E, M)>);

impl<E: Borrow<M>, M: Message> Encoder for Writer<E, M> {
    type Item = E;
    type Error = Status;

    fn encode(&mut self, message: E, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        let message = message.borrow();
        buffer.reserve(message.encoded_len());
        message.encode(buffer).map_err(|error| Status::internal(error.to_string()))
    }
}

pub(crate) struct Reader<D>(PhantomData<D>);

impl<D: Message + Default> Decoder for Reader<D> {
    type Item = D;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<D>, Status> {
        check_bounds(buffer.chunk()).map_err(bad_message)?;
        D::decode(buffer).map(Some).map_err(|error| bad_message(&error.to_string()))
    }
}

fn bad_message(what: &str) -> Status {
    Status::internal(format!("the server's answer makes no sense: {what}"))
}

/// Refuses a message whose small fields would take too much.
fn check_bounds(mut message: &[u8]) -> Result<(), &'static str> {
    let (mut header, mut entries) = (0, 0);
    while !message.is_empty() {
        let before = message.len();
        let key = varint(&mut message)?;
        let size = match key & 7 {
            0 => varint(&mut message).map(|_| 0)?,
            1 => 8,
            2 => varint(&mut message)?,
            5 => 4,
            _ => return Err("a field of a kind that there is not"),
        };
        let size = usize::try_from(size).ok().filter(|size| *size <= message.len());
        message = &message[size.ok_or("the message ends within a field")?..];
        if key == RAW_FIELD << 3 | 2 {
            entries += 1;
        } else {
            header += before - message.len();
        }
    }
    if header > MAX_HEADER_BYTES {
        return Err("more than 16 MiB besides the tensors' bytes");
    }
    if entries > MAX_RAW_ENTRIES {
        return Err("more than 65536 entries of bytes");
    }
    Ok(())
}

fn varint(bytes: &mut &[u8]) -> Result<u64, &'static str> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first().ok_or("the message ends within a number")?;
        *bytes = rest;
        number |= u64::from(byte & 0x7F) << shift;
        if *byte < 0x80 {
            return Ok(number);
        }
    }
    Err("a number without an end")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::{ExecuteResponse, Tensor};

    #[test]
    fn what_is_no_message_is_refused() {
        let bad: [&[u8]; 5] = [&[0x7A, 5, 1], &[0x80], &[0x08], &[0x0B], &[0xFF; 11]];
        for bytes in bad {
            assert!(check_bounds(bytes).is_err(), "{bytes:?}");
        }
        let good =
            ExecuteResponse { outputs: vec![Tensor::default()], raw: vec![vec![1; 300].into()], ..Default::default() };
        assert_eq!(check_bounds(&good.encode_to_vec()), Ok(()));
    }

    #[test]
    fn small_fields_are_bounded() {
        let outputs = [0x0A, 0x00].repeat(MAX_HEADER_BYTES / 2);
        assert_eq!(check_bounds(&outputs), Ok(()));
        assert!(check_bounds(&[outputs, vec![0x0A, 0x00]].concat()).is_err());
        let entries = [0x7A, 0x00].repeat(MAX_RAW_ENTRIES);
        assert_eq!(check_bounds(&entries), Ok(()));
        assert!(check_bounds(&[entries, vec![0x7A, 0x00]].concat()).is_err());
    }
}
