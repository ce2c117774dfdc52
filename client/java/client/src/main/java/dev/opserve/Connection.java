package dev.opserve;

import io.grpc.CallOptions;
import io.grpc.ChannelCredentials;
import io.grpc.ClientCall;
import io.grpc.Deadline;
import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** A channel, the threads that read answers, and what goes with each call. Any number of threads may use it. */
final class Connection implements AutoCloseable {
  private static final Metadata.Key<String> AUTHORIZATION = Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);
  private static final AtomicInteger THREADS = new AtomicInteger();

  private final ExecutorService executor = Executors.newCachedThreadPool(task -> {
    Thread thread = new Thread(task, "opserve-" + THREADS.incrementAndGet());
    thread.setDaemon(true);
    return thread;
  });
  private final ManagedChannel channel;
  private final String token;
  private volatile boolean closed;

  Connection(List<String> targets, ChannelCredentials credentials, String serverName, String token, int maxAnswerBytes) {
    ManagedChannelBuilder<?> builder = Grpc.newChannelBuilder(Targets.joined(targets), credentials)
        .executor(executor).maxInboundMessageSize(maxAnswerBytes).disableRetry().userAgent("opserve-java");
    if (serverName != null) {
      builder.overrideAuthority(serverName);
    }
    if (Targets.spread(targets)) {
      builder.defaultLoadBalancingPolicy("round_robin");
    }
    this.channel = builder.build();
    this.token = token;
  }

  ExecutorService executor() {
    return executor;
  }

  boolean isClosed() {
    return closed;
  }

  /** IllegalStateException once the client is closed. */
  ClientCall<Message, Wire.Answer> newCall(MethodDescriptor<Message, Wire.Answer> method, CallOptions options) {
    if (closed) {
      throw new IllegalStateException("the client is closed");
    }
    return channel.newCall(method, options);
  }

  Metadata headers() {
    Metadata headers = new Metadata();
    if (token != null) {
      headers.put(AUTHORIZATION, "Bearer " + token);
    }
    return headers;
  }

  /** Dials a server that went away at once, rather than when the channel would. */
  void dialAgain() {
    channel.resetConnectBackoff();
  }

  static Deadline deadlineOf(Duration timeout) {
    return timeout == null ? null : Deadline.after(timeout.toNanos(), TimeUnit.NANOSECONDS);
  }

  /** Makes a call; its answer completes the future on a thread of this connection's. Cancelling that cancels the call. */
  <T> CompletableFuture<T> start(Request<T> request, Duration timeout) {
    return new UnaryCall<>(this, request, deadlineOf(timeout), executor, false).start();
  }

  /** Makes a call and waits for it, on this thread alone. */
  <T> T call(Request<T> request, Duration timeout) {
    Deadline deadline = deadlineOf(timeout);
    Waiting waiting = new Waiting(deadline);
    CompletableFuture<T> future = new UnaryCall<>(this, request, deadline, waiting, true).start();
    return waiting.await(future);
  }

  @Override
  public void close() {
    closed = true;
    channel.shutdownNow();
    try {
      channel.awaitTermination(5, TimeUnit.SECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    executor.shutdown();
  }
}
