package dev.opserve;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * One unary call with its retries. Every method may be retried: where no server answers, and where one says when it will have room;
 * the waits double from the first, unless the server says how long. No try begins behind the deadline.
 */
final class UnaryCall<T> {
  static final int TRIES = 4;
  private static final Metadata.Key<String> TIMEOUT = Metadata.Key.of("grpc-timeout", Metadata.ASCII_STRING_MARSHALLER);
  private static final Duration FIRST_WAIT = Duration.ofMillis(100);

  private final Connection connection;
  private final Request<T> request;
  private final MethodDescriptor<Message, Wire.Answer> method;
  private final Deadline deadline;
  private final boolean isWatched;
  private final Executor executor;
  private final CompletableFuture<T> future = new CompletableFuture<>();
  private int tries;
  private ClientCall<Message, Wire.Answer> current;

  /**
   * A call to start.
   *
   * @param deadline may be null
   * @param executor runs what the call has to do
   * @param isWatched whether the caller ends the call at the deadline, so that gRPC need not set a timer, which may wake a thread
   */
  UnaryCall(Connection connection, Request<T> request, Deadline deadline, Executor executor, boolean isWatched) {
    this.connection = connection;
    this.request = request;
    this.method = Wire.unary(request.method(), request.places());
    this.deadline = deadline;
    this.isWatched = isWatched;
    this.executor = executor;
  }

  CompletableFuture<T> start() {
    future.whenComplete((value, error) -> {
      if (error != null) {
        cancelCurrent();
      }
    });
    attempt();
    return future;
  }

  private void attempt() {
    CallOptions options = CallOptions.DEFAULT.withExecutor(executor);
    Metadata headers = connection.headers();
    if (deadline != null && isWatched && Context.current().getDeadline() == null) {
      headers.put(TIMEOUT, Wire.timeout(deadline.timeRemaining(TimeUnit.NANOSECONDS)));
    } else if (deadline != null) {
      options = options.withDeadline(deadline);
    }
    ClientCall<Message, Wire.Answer> call = connection.newCall(method, options);
    synchronized (this) {
      current = call;
      tries++;
    }
    if (future.isDone()) {
      return;
    }
    try {
      call.start(new Listener(), headers);
      call.request(2);
      call.sendMessage(request.message());
      call.halfClose();
    } catch (RuntimeException | Error error) {
      call.cancel("the request could not be sent", error);
      future.completeExceptionally(error);
    }
  }

  private void cancelCurrent() {
    ClientCall<Message, Wire.Answer> call;
    synchronized (this) {
      call = current;
    }
    if (call != null) {
      call.cancel("the caller gave the call up", null);
    }
  }

  private final class Listener extends ClientCall.Listener<Wire.Answer> {
    private Wire.Answer answer;

    @Override
    public void onMessage(Wire.Answer came) {
      answer = came;
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      if (!status.isOk()) {
        failed(Errors.of(status, trailers));
        return;
      }
      try {
        if (answer == null) {
          throw Errors.badAnswer("there is none");
        }
        future.complete(request.reader().apply(answer.get()));
      } catch (RuntimeException | Error error) {
        future.completeExceptionally(error);
      }
    }
  }

  private void failed(OpserveException error) {
    Duration wait = waitAfter(error, tries);
    boolean late = deadline != null && wait != null && deadline.timeRemaining(TimeUnit.NANOSECONDS) <= wait.toNanos();
    if (wait == null || late || connection.isClosed()) {
      future.completeExceptionally(error);
      return;
    }
    CompletableFuture.delayedExecutor(wait.toNanos(), TimeUnit.NANOSECONDS, this::runLater).execute(() -> {
      try {
        connection.dialAgain();
        attempt();
      } catch (RuntimeException | Error failure) { // the client is being closed, say
        future.completeExceptionally(failure);
      }
    });
  }

  private void runLater(Runnable task) {
    try {
      executor.execute(task);
    } catch (RejectedExecutionException closed) {
      future.completeExceptionally(Errors.of(Status.Code.CANCELLED, "the client was closed"));
    }
  }

  /** How long to wait before another try; null where none is of use. */
  static Duration waitAfter(OpserveException error, int tries) {
    if (tries >= TRIES) {
      return null;
    }
    if (error.retryAfter().isPresent()) {
      return error.retryAfter().get();
    }
    if (error.code() != Status.Code.UNAVAILABLE) {
      return null;
    }
    double jitter = ThreadLocalRandom.current().nextDouble(0.8, 1.2);
    return Duration.ofNanos((long) (FIRST_WAIT.toNanos() * jitter * (1 << tries - 1)));
  }
}
