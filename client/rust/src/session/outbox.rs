//! Commands on their way out: those that wait go together in one message.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use prost::Message;
use tokio::sync::mpsc::UnboundedReceiver;
use tonic::codegen::tokio_stream::Stream;

use super::conversation::Conversation;
use crate::proto::{self, command};

const MESSAGE_COMMANDS: usize = 512;
const MESSAGE_BYTES: usize = 1 << 20;

/// A command and the bytes of its upload.
pub(crate) struct Outgoing {
    pub(crate) command: proto::Command,
    pub(crate) data: Option<Bytes>,
}

impl Outgoing {
    fn size(&self) -> usize {
        self.data_bytes() + self.command.encoded_len()
    }

    fn data_bytes(&self) -> usize {
        self.data.as_ref().map_or(0, Bytes::len)
    }
}

/// The messages of a session, made as gRPC takes them.
pub(crate) struct Outbox {
    commands: UnboundedReceiver<Outgoing>,
    talk: Arc<Conversation>,
}

impl Outbox {
    pub(crate) fn new(commands: UnboundedReceiver<Outgoing>, talk: Arc<Conversation>) -> Self {
        Self { commands, talk }
    }

    /// A message of the command and of those that wait behind it, up to one that fills it. A quarter of what the server takes is
    /// full: the last command may have another half, and each takes a few bytes more than its own.
    fn message(&mut self, first: Outgoing) -> proto::SessionRequest {
        let quarter = usize::try_from(self.talk.info().max_message_bytes / 4).unwrap_or(0);
        let full = if quarter == 0 { MESSAGE_BYTES } else { MESSAGE_BYTES.min(quarter) };
        let mut message = proto::SessionRequest::default();
        let mut size = 0;
        let mut taken = 0;
        let mut next = Some(first);
        while let Some(outgoing) = next {
            size += outgoing.size();
            taken += outgoing.data_bytes();
            add(&mut message, outgoing);
            let has_room = size < full && message.commands.len() < MESSAGE_COMMANDS;
            next = if has_room { self.commands.try_recv().ok() } else { None };
        }
        self.talk.sent(taken);
        message
    }
}

fn add(message: &mut proto::SessionRequest, mut outgoing: Outgoing) {
    if let Some(data) = outgoing.data
        && let Some(command::Command::Upload(upload)) = &mut outgoing.command.command
    {
        upload.raw_index = message.raw.len() as u32;
        message.raw.push(data);
    }
    message.commands.push(outgoing.command);
}

impl Stream for Outbox {
    type Item = proto::SessionRequest;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let first = ready!(self.commands.poll_recv(context));
        Poll::Ready(first.map(|first| self.message(first)))
    }
}
