package dev.opserve;

import dev.opserve.v1.Answer;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

/** The commands of a session that are not over, or whose failure was not told yet, and who waits for them. Guarded by its lock. */
final class Commands {
  private record Waiter(Pending command, boolean forgiving, CompletableFuture<Answer> future) {}

  private final NavigableMap<Long, Pending> pending = new TreeMap<>();
  private final List<Waiter> waiters = new ArrayList<>();
  private long last;
  private int unanswered;

  /** The number of the command that comes next. */
  long next() {
    return last + 1;
  }

  int unanswered() {
    return unanswered;
  }

  void add(Pending command) {
    last = command.number;
    pending.put(command.number, command);
    unanswered++;
  }

  /** Where a command's chunks go; null for one that takes none now. */
  Chunks chunksOf(long command) {
    Pending found = pending.get(command);
    return found == null || found.over ? null : found.chunks;
  }

  /** The command that an answer is for; InternalException where it is none. */
  Pending underWay(long number) {
    Pending command = pending.get(number);
    if (command == null || command.over) {
      throw Errors.badAnswer("command " + number + " is not under way");
    }
    return command;
  }

  /** Takes a command's last answer. */
  void over(Pending command, Answer answer) {
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

  /** Has a future wait for a command; see Conversation's whenOver and whenForgiven. */
  void await(Pending command, boolean forgiving, CompletableFuture<Answer> future) {
    waiters.add(new Waiter(command, forgiving, future));
  }

  /**
   * Takes those waits out that are over, all where the RPC has ended ({@code ended} is null before); what is given back tells of them, once
   * the lock is free.
   */
  List<Runnable> settled(OpserveException ended) {
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

  /** The first failure that nobody was told of; {@code ended} where commands were cut off; null where all went well. */
  OpserveException untold(OpserveException ended) {
    List<Pending> left = new ArrayList<>(pending.values());
    pending.clear();
    for (Pending command : left) {
      if (command.error != null) {
        return command.error;
      }
    }
    return left.isEmpty() ? null : ended;
  }
}
