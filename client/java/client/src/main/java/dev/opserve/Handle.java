package dev.opserve;

import dev.opserve.v1.Command;
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;

/**
 * An object of a session on the server. {@link #close} frees it there; so does Java, some time after the program has dropped it, and so
 * does the session's end.
 */
public abstract sealed class Handle implements AutoCloseable permits DeviceTensor, Event, OpExecutor, Stream {
  private static final Cleaner CLEANER = Cleaner.create();

  private final Session session;
  private final long id;
  private final Cleaner.Cleanable freed;

  Handle(Session session, long id, Command.Builder begin, Command.Builder end) {
    this.session = session;
    this.id = id;
    session.send(null, begin);
    Conversation conversation = session.conversation();
    this.freed = CLEANER.register(this, () -> conversation.discard(end));
  }

  final long id() {
    return id;
  }

  final Session session() {
    return session;
  }

  /** Sends a command of this object, which stays until the command is on its way. */
  final Pending send(Stream stream, Command.Builder command, Elements data, Chunks chunks) {
    try {
      return session.conversation().send(stream == null ? 0 : stream.id(), command, data, chunks);
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  final Pending send(Stream stream, Command.Builder command) {
    return send(stream, command, null, null);
  }

  /** Frees the object, with the session's next command; work that uses it ends first. It is not to be used any more. */
  @Override
  public void close() {
    freed.clean();
  }
}
