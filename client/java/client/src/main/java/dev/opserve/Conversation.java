package dev.opserve;

import dev.opserve.v1.Answer;
import dev.opserve.v1.Command;
import dev.opserve.v1.SessionInfo;
import dev.opserve.v1.SessionResponse;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * The RPC below a session: commands out, answers in, and which failure is told where. Every command is answered; a failure that nobody
 * waits for is kept until the wait for a later command tells it. Any number of threads may use it.
 */
final class Conversation {
  private final Connection connection;
  private final ChunkPlaces places = new ChunkPlaces(this::chunksOf);
  private final ClientCall<Message, Wire.Answer> call;
  /** Commands that cleaners leave, since they may take no lock; the next command takes them along. */
  private final Queue<Command.Builder> discarded = new ConcurrentLinkedQueue<>();

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  // Guarded by lock:
  private final Commands commands = new Commands();
  private final Outbox outbox = new Outbox();
  private boolean sending;
  private boolean closing;
  private boolean draining;
  private SessionInfo info;
  private OpserveException ended;

  Conversation(Connection connection, Duration limit) {
    this.connection = connection;
    CallOptions options = CallOptions.DEFAULT;
    this.call = connection.newCall(
        Wire.session(places), limit == null ? options : options.withDeadline(Connection.deadlineOf(limit)));
    call.start(new Listener(), connection.headers());
    call.request(1);
    lock.lock();
    try {
      waitUntil(() -> info != null);
    } catch (OpserveException error) {
      cancel(); // nobody has a session to close
      throw error;
    } finally {
      lock.unlock();
    }
  }

  // ---- commands out

  /** Sends a command, an upload with its data. Waits only while too much is under way. */
  Pending send(long stream, Command.Builder command, Elements data, Chunks chunks) {
    String place = Place.ofCaller();
    lock.lock();
    try {
      if (closing) {
        throw new IllegalStateException("the session is closed");
      }
      for (Command.Builder left = discarded.poll(); left != null; left = discarded.poll()) {
        put(new Pending(commands.next(), 0, "a cleaner", null), left, null);
      }
      waitUntil(() -> !outbox.isFull() && commands.unanswered() < limit());
      if (ended != null) {
        throw ended.again();
      }
      Pending sent = new Pending(commands.next(), stream, place, chunks);
      put(sent, command, data);
      return sent;
    } finally {
      lock.unlock();
    }
  }

  private int limit() {
    return info == null || info.getMaxQueuedCommands() <= 0 ? 1024 : (int) Math.min(1 << 20, (info.getMaxQueuedCommands() + 1) / 2);
  }

  private void put(Pending command, Command.Builder message, Elements data) {
    commands.add(command);
    outbox.add(message.setId(command.number), data);
    wakeSender();
  }

  /** Sends a command later, with another one. It takes no lock: cleaners call it. */
  void discard(Command.Builder command) {
    discarded.add(command);
  }

  /** Has another thread send: what comes meanwhile goes into the same message. */
  private void wakeSender() {
    if (!sending && ended == null && (closing || !outbox.isEmpty())) {
      sending = true;
      try {
        connection.executor().execute(this::sendWaiting);
      } catch (RejectedExecutionException closed) {
        end(Errors.of(Status.Code.CANCELLED, "the client was closed"));
      }
    }
  }

  private void sendWaiting() {
    while (true) {
      Message message = null;
      lock.lock();
      try {
        if (ended != null || (!outbox.isEmpty() && !call.isReady()) || (outbox.isEmpty() && !closing)) {
          sending = false;
          return;
        }
        message = outbox.isEmpty() ? null : outbox.next(info);
        changed.signalAll();
      } finally {
        lock.unlock();
      }
      try {
        if (message == null) {
          call.halfClose(); // `sending` stays: nothing comes behind
          return;
        }
        call.sendMessage(message);
      } catch (RuntimeException error) {
        call.cancel("a message could not be sent", error);
        return;
      }
    }
  }

  // ---- answers in

  private final class Listener extends ClientCall.Listener<Wire.Answer> {
    @Override
    public void onReady() {
      lock.lock();
      try {
        wakeSender();
      } finally {
        lock.unlock();
      }
    }

    @Override
    public void onMessage(Wire.Answer message) {
      try {
        take(message.get());
        call.request(1);
      } catch (OpserveException error) {
        end(error);
        call.cancel("an answer makes no sense", error);
      }
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      end(status.isOk() ? Errors.of(Status.Code.CANCELLED, "the session is over") : Errors.of(status, trailers));
    }
  }

  private Chunks chunksOf(long command) {
    lock.lock();
    try {
      return commands.chunksOf(command);
    } finally {
      lock.unlock();
    }
  }

  private void take(Parts parts) {
    SessionResponse response = parts.read(SessionResponse.parser());
    List<Runnable> told;
    lock.lock();
    try {
      for (Answer answer : response.getAnswersList()) {
        take(answer, parts);
      }
      told = commands.settled(ended);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    told.forEach(Runnable::run);
  }

  private void take(Answer answer, Parts parts) {
    if (answer.getId() == 0) {
      info = answer.hasInfo() ? answer.getInfo() : info;
      draining |= answer.hasDraining();
      return;
    }
    Pending command = commands.underWay(answer.getId());
    if (answer.hasChunk()) {
      if (command.chunks == null) {
        throw Errors.badAnswer("a chunk for command " + answer.getId());
      }
      ByteBuffer bytes = parts.entry(answer.getChunk().getRawIndex(), "a chunk");
      command.chunks.take(answer.getChunk(), bytes, places.filled(bytes, answer));
    }
    if (!answer.getMore()) {
      commands.over(command, answer);
    }
  }

  private void end(OpserveException error) {
    List<Runnable> told;
    lock.lock();
    try {
      if (ended == null) {
        ended = error;
      }
      outbox.clear();
      told = commands.settled(ended);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    told.forEach(Runnable::run);
  }

  // ---- waiting

  /** A command's last answer, or the first failure among it and what came before it, on its stream or on none. */
  CompletableFuture<Answer> whenOver(Pending command) {
    return waitFor(command, false);
  }

  /**
   * When a command is over that tells the server that failures were told. Those that only followed from them are dropped then.
   */
  CompletableFuture<Answer> whenForgiven(Pending command) {
    return waitFor(command, true);
  }

  private CompletableFuture<Answer> waitFor(Pending command, boolean forgiving) {
    CompletableFuture<Answer> future = new CompletableFuture<>();
    List<Runnable> told;
    lock.lock();
    try {
      commands.await(command, forgiving, future);
      told = commands.settled(ended);
    } finally {
      lock.unlock();
    }
    told.forEach(Runnable::run);
    return future;
  }

  /** Under the lock: until something is so, or the RPC has ended; then, unless it is so, throws what ended it. */
  private void waitUntil(BooleanSupplier condition) {
    try {
      while (!condition.getAsBoolean() && ended == null) {
        changed.await();
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw Errors.of(Status.Code.CANCELLED, "the thread was interrupted");
    }
    if (!condition.getAsBoolean()) {
      throw ended.again();
    }
  }

  SessionInfo info() {
    lock.lock();
    try {
      return info;
    } finally {
      lock.unlock();
    }
  }

  boolean isOpen() {
    lock.lock();
    try {
      return ended == null && !closing;
    } finally {
      lock.unlock();
    }
  }

  boolean isDraining() {
    lock.lock();
    try {
      return draining;
    } finally {
      lock.unlock();
    }
  }

  /** Half-closes, waits for the server to finish what was sent, and throws the first failure that was not told. */
  void finish() {
    lock.lock();
    try {
      closing = true;
      wakeSender();
      awaitEnd();
      OpserveException untold = commands.untold(ended);
      if (untold != null) {
        throw untold.again();
      }
    } finally {
      lock.unlock();
    }
  }

  private void awaitEnd() {
    try {
      waitUntil(() -> ended != null);
    } catch (CancelledException interrupted) {
      cancel();
      throw interrupted;
    }
  }

  /** Ends the RPC at once: the server drops what waits. */
  void cancel() {
    call.cancel("the program cancelled the session", null);
  }
}
