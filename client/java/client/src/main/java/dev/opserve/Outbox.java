package dev.opserve;

import dev.opserve.v1.Command;
import dev.opserve.v1.SessionInfo;
import dev.opserve.v1.SessionRequest;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;

/** Commands that wait to be sent, and the messages that are made of them. Guarded by the conversation's lock. */
final class Outbox {
  /** A message is full with so many commands or bytes. Senders wait while so many bytes wait to be sent. */
  private static final int MESSAGE_COMMANDS = 512;
  private static final long MESSAGE_BYTES = 1 << 20;
  private static final long WAITING_BYTES = 64L << 20;

  private record Item(Command.Builder command, Elements data) {
    long byteSize() {
      return data == null ? 0 : data.byteSize();
    }
  }

  private final Queue<Item> items = new ArrayDeque<>();
  private long waitingBytes;

  boolean isEmpty() {
    return items.isEmpty();
  }

  boolean isFull() {
    return waitingBytes > WAITING_BYTES;
  }

  /** An upload with its data; anything else with null. */
  void add(Command.Builder command, Elements data) {
    Item item = new Item(command, data);
    items.add(item);
    waitingBytes += item.byteSize();
  }

  void clear() {
    items.clear();
    waitingBytes = 0;
  }

  /** The next message. It ends behind the command that fills it, and has at most half of what the server takes. */
  Message next(SessionInfo info) {
    long full = info == null ? MESSAGE_BYTES : Math.min(MESSAGE_BYTES, info.getMaxMessageBytes() / 4);
    SessionRequest.Builder header = SessionRequest.newBuilder();
    List<Elements> raw = new ArrayList<>();
    for (long size = 0; !items.isEmpty() && header.getCommandsCount() < MESSAGE_COMMANDS && size < full; ) {
      Item item = items.remove();
      if (item.data != null) {
        item.command.getUploadBuilder().setRawIndex(raw.size());
        raw.add(item.data);
      }
      Command command = item.command.build();
      header.addCommands(command);
      size += command.getSerializedSize() + item.byteSize();
      waitingBytes -= item.byteSize();
    }
    return new Message(header.build(), raw);
  }
}
