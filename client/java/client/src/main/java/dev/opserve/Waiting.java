package dev.opserve;

import io.grpc.Deadline;
import io.grpc.Status;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A thread that waits for a call and meanwhile runs what the call has to do: so no other thread wakes for it. */
final class Waiting implements Executor {
  private final BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
  private final Deadline deadline;

  /**
   * A thread's wait for one call.
   *
   * @param deadline when the wait ends, and with it the call; null if never
   */
  Waiting(Deadline deadline) {
    this.deadline = deadline;
  }

  @Override
  public void execute(Runnable task) {
    tasks.add(task);
  }

  /** Runs the call's tasks until the future is complete; completes it with DEADLINE_EXCEEDED once the deadline is over. */
  <T> T await(CompletableFuture<T> future) {
    future.whenComplete((value, error) -> tasks.add(() -> {}));
    try {
      while (!future.isDone()) {
        Runnable task = next();
        if (task == null) {
          future.completeExceptionally(Errors.of(Status.Code.DEADLINE_EXCEEDED, "no answer came within the timeout"));
        } else {
          task.run();
        }
      }
    } catch (InterruptedException interrupted) {
      throw cancelled(future);
    }
    return get(future);
  }

  /** The next task; null where the deadline comes first. */
  private Runnable next() throws InterruptedException {
    return deadline == null ? tasks.take() : tasks.poll(deadline.timeRemaining(TimeUnit.NANOSECONDS), TimeUnit.NANOSECONDS);
  }

  /** The value of a future that others complete; an interrupt cancels it. */
  static <T> T get(CompletableFuture<T> future) {
    try {
      return future.get();
    } catch (InterruptedException interrupted) {
      throw cancelled(future);
    } catch (CancellationException cancelled) {
      throw Errors.of(Status.Code.CANCELLED, "the call was cancelled");
    } catch (ExecutionException failed) {
      throw told(failed.getCause());
    }
  }

  private static OpserveException cancelled(CompletableFuture<?> future) {
    future.cancel(true);
    Thread.currentThread().interrupt();
    return Errors.of(Status.Code.CANCELLED, "the thread was interrupted");
  }

  /** What to throw on this thread: the error with this thread's stack, as the other's says nothing. */
  private static RuntimeException told(Throwable error) {
    if (error instanceof OpserveException failure) {
      failure.fillInStackTrace();
      return failure;
    }
    if (error instanceof RuntimeException unchecked) {
      return unchecked;
    }
    if (error instanceof Error defect) {
      throw defect;
    }
    return new CompletionException(error);
  }
}
