package dev.opserve;

import io.grpc.Status;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;

/** A thread that waits for a call and meanwhile runs what the call has to do: so no other thread wakes for it. */
final class Waiting implements Executor {
  private final BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();

  @Override
  public void execute(Runnable task) {
    tasks.add(task);
  }

  <T> T await(CompletableFuture<T> future) {
    future.whenComplete((value, error) -> tasks.add(() -> {}));
    try {
      while (!future.isDone()) {
        tasks.take().run();
      }
    } catch (InterruptedException interrupted) {
      throw cancelled(future);
    }
    return get(future);
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
