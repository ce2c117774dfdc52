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
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NavigableMap;
import java.util.Queue;
import java.util.TreeMap;
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
  private record Waiter(Pending command, boolean forgiving, CompletableFuture<Answer> future) {}

  private final Connection connection;
  private final ChunkPlaces places = new ChunkPlaces(this::chunksOf);
  private final ClientCall<Message, Wire.Answer> call;
  /** Commands that cleaners leave, since they may take no lock; the next command takes them along. */
  private final Queue<Command.Builder> discarded = new ConcurrentLinkedQueue<>();

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  // Guarded by lock:
  private final NavigableMap<Long, Pending> pending = new TreeMap<>();
  private final List<Waiter> waiters = new ArrayList<>();
  private final Outbox outbox = new Outbox();
  private long last;
  private int unanswered;
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
        put(new Pending(last + 1, 0, "a cleaner", null), left, null);
      }
      waitUntil(() -> !outbox.isFull() && unanswered < limit());
      if (ended != null) {
        throw ended.again();
      }
      Pending sent = new Pending(last + 1, stream, place, chunks);
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
    last = command.number;
    pending.put(command.number, command);
    unanswered++;
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
      Pending found = pending.get(command);
      return found == null || found.over ? null : found.chunks;
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
      told = settled();
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
    Pending command = pending.get(answer.getId());
    if (command == null || command.over) {
      throw Errors.badAnswer("command " + answer.getId() + " is not under way");
    }
    if (answer.hasChunk()) {
      if (command.chunks == null) {
        throw Errors.badAnswer("a chunk for command " + answer.getId());
      }
      ByteBuffer bytes = parts.entry(answer.getChunk().getRawIndex(), "a chunk");
      command.chunks.take(answer.getChunk(), bytes, places.filled(bytes, answer));
    }
    if (!answer.getMore()) {
      over(command, answer);
    }
  }

  private void over(Pending command, Answer answer) {
    command.over = true;
    command.answer = answer;
    unanswered--;
    if (!answer.hasError()) {
      pending.remove(command.number);
      return;
    }
    Pending failed = answer.getFailedCommand() == 0 ? command : pending.getOrDefault(answer.getFailedCommand(), command);
    command.error = Errors.of(answer.getError(), failed.number, failed.place);
  }

  private void end(OpserveException error) {
    List<Runnable> told;
    lock.lock();
    try {
      if (ended == null) {
        ended = error;
      }
      outbox.clear();
      told = settled();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    told.forEach(Runnable::run);
  }

  // ---- waiting

  /** A command's last answer, or the first failure among it and what came before it, on its stream or on none. */
  CompletableFuture<Answer> whenOver(Pending command) {
    return waitFor(new Waiter(command, false, new CompletableFuture<>()));
  }

  /**
   * When a command is over that tells the server that failures were told. Those that only followed from them are dropped then.
   */
  CompletableFuture<Answer> whenForgiven(Pending command) {
    return waitFor(new Waiter(command, true, new CompletableFuture<>()));
  }

  private CompletableFuture<Answer> waitFor(Waiter waiter) {
    List<Runnable> told;
    lock.lock();
    try {
      waiters.add(waiter);
      told = settled();
    } finally {
      lock.unlock();
    }
    told.forEach(Runnable::run);
    return waiter.future;
  }

  /** Takes those waiters out whose wait is over; what is given back tells them, once the lock is free. */
  private List<Runnable> settled() {
    List<Runnable> told = new ArrayList<>();
    for (Iterator<Waiter> each = waiters.iterator(); each.hasNext(); ) {
      Waiter waiter = each.next();
      Pending command = waiter.command;
      boolean over = command.over && (waiter.forgiving || !anyUnderWayBefore(command));
      if (!over && ended == null) {
        continue;
      }
      each.remove();
      OpserveException error = !over ? ended.again() : waiter.forgiving ? forgiven(command) : firstFailure(command);
      told.add(error == null ? () -> waiter.future.complete(command.answer) : () -> waiter.future.completeExceptionally(error));
    }
    return told;
  }

  private boolean anyUnderWayBefore(Pending command) {
    return pending.headMap(command.number).values().stream().anyMatch(other -> !other.over && other.precedes(command));
  }

  /** The failure that came first, all of which are told with it; null where all went well. */
  private OpserveException firstFailure(Pending command) {
    OpserveException first = command.error;
    for (Iterator<Pending> each = pending.headMap(command.number, true).values().iterator(); each.hasNext(); ) {
      Pending other = each.next();
      if (other.error == null || (other != command && !other.precedes(command))) {
        continue;
      }
      each.remove();
      if (first == null || other.error.failure().command() < first.failure().command()) {
        first = other.error;
      }
    }
    return first;
  }

  private OpserveException forgiven(Pending command) {
    pending.headMap(command.number, true).values().removeIf(
        other -> other == command || (other.error != null && other.error.reason().equals("STREAM_FAILED")));
    return null;
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
      List<Pending> untold = new ArrayList<>(pending.values());
      pending.clear();
      for (Pending command : untold) {
        if (command.error != null) {
          throw command.error.again();
        }
      }
      if (!untold.isEmpty()) {
        throw ended.again();
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
