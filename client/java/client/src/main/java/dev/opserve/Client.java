package dev.opserve;

import dev.opserve.v1.Device;
import dev.opserve.v1.GetServerInfoRequest;
import dev.opserve.v1.GetServerInfoResponse;
import dev.opserve.v1.GetStatisticsRequest;
import dev.opserve.v1.GetStatisticsResponse;
import dev.opserve.v1.ListDevicesRequest;
import dev.opserve.v1.ListDevicesResponse;
import dev.opserve.v1.ListOperatorsRequest;
import dev.opserve.v1.ListOperatorsResponse;
import dev.opserve.v1.OperatorSchema;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * A connection to a server, or to several that share the calls. Any number of threads may use it.
 *
 * <p>A call that fails throws an {@link OpserveException}, or completes its future with one. It is tried up to four times where no
 * server answers, or where one says when it will have room, as long as the timeout allows. An interrupt of the thread that waits cancels
 * the call, as does {@link CompletableFuture#cancel} of a future. The deadline and the cancellation of {@link io.grpc.Context} hold
 * too.
 */
public final class Client implements AutoCloseable {
  private final Connection connection;
  private final Duration timeout;
  private final long maxMessageBytes;

  private Client(Connection connection, Duration timeout, long maxMessageBytes) {
    this.connection = connection;
    this.timeout = timeout;
    this.maxMessageBytes = maxMessageBytes;
  }

  /**
   * A client of a server, which is asked for its limits here.
   *
   * @param targets {@code host:port}, {@code dns:///host:port} or {@code unix:/path}, or {@code host:port} of several servers; without
   *     any what {@code $OPSERVE_TARGET} names, or {@code localhost:8500}
   * @return the client
   * @throws OpserveException if no server answers there
   */
  public static Client connect(String... targets) {
    return builder(targets).connect();
  }

  /**
   * A client whose connection has more to be said about.
   *
   * @param targets as of {@link #connect(String...)}
   * @return what takes it
   */
  public static ClientBuilder builder(String... targets) {
    return new ClientBuilder(targets.length == 0 ? Targets.byDefault() : List.copyOf(Arrays.asList(targets)));
  }

  /** Asks the server for its limits. */
  static Client over(Connection connection, Duration timeout) {
    try {
      return new Client(connection, timeout, new Client(connection, timeout, 0).info().getMaxMessageBytes());
    } catch (RuntimeException | Error error) {
      connection.close();
      throw error;
    }
  }

  /**
   * This client with another timeout: {@code client.withTimeout(Duration.ofSeconds(1)).execute(call)}. Both have one connection.
   *
   * @param timeout what each call may take, with its retries
   * @return a client
   */
  public Client withTimeout(Duration timeout) {
    return new Client(connection, ClientBuilder.checked(timeout), maxMessageBytes);
  }

  /**
   * This client without a timeout. Both have one connection.
   *
   * @return a client
   */
  public Client withoutTimeout() {
    return new Client(connection, null, maxMessageBytes);
  }

  /**
   * Runs a call and waits for its outputs. One whose inputs or outputs are larger than a message may be goes through a session of its
   * own, in pieces.
   *
   * @param call the call
   * @return the outputs
   */
  public Result execute(Call call) {
    Request<Result> request = Requests.execute(call);
    if (isTooLarge(request)) {
      return executeInPieces(call);
    }
    try {
      return connection.call(request, timeout);
    } catch (ResourceExhaustedException error) {
      if (!isTooLarge(error)) {
        throw error;
      }
    }
    return executeInPieces(call);
  }

  /**
   * Runs a call; any number may be under way.
   *
   * @param call the call; see {@link Tensor} on how long its elements must not change
   * @return the outputs to come. Cancelling it cancels the call.
   */
  public CompletableFuture<Result> executeAsync(Call call) {
    Request<Result> request = Requests.execute(call);
    if (isTooLarge(request)) {
      return executeInPiecesAsync(call);
    }
    CompletableFuture<Result> whole = connection.start(request, timeout);
    CompletableFuture<Result> result = new CompletableFuture<>();
    whole.whenComplete((value, error) -> {
      if (error instanceof ResourceExhaustedException exhausted && isTooLarge(exhausted) && !result.isDone()) {
        forward(executeInPiecesAsync(call), result);
      } else if (error != null) {
        result.completeExceptionally(error);
      } else {
        result.complete(value);
      }
    });
    result.whenComplete((value, error) -> whole.cancel(true));
    return result;
  }

  private boolean isTooLarge(Request<?> request) {
    return maxMessageBytes > 0 && request.message().byteSize() > maxMessageBytes;
  }

  /** Whether the server refused a call since its answer would be larger than a message. */
  private static boolean isTooLarge(ResourceExhaustedException error) {
    return error.parameter().equals("max_message_bytes");
  }

  private Result executeInPieces(Call call) {
    return Waiting.get(executeInPiecesAsync(call));
  }

  private CompletableFuture<Result> executeInPiecesAsync(Call call) {
    CompletableFuture<Result> result = new CompletableFuture<>();
    connection.executor().execute(() -> {
      try (Session session = new Session(connection, call.device(), timeout)) {
        result.whenComplete((value, error) -> {
          if (error != null) {
            session.cancel();
          }
        });
        result.complete(session.runWhole(call));
      } catch (RuntimeException | Error error) {
        result.completeExceptionally(error);
      }
    });
    return result;
  }

  private static <T> void forward(CompletableFuture<T> from, CompletableFuture<T> to) {
    from.whenComplete((value, error) -> {
      if (error != null) {
        to.completeExceptionally(error);
      } else {
        to.complete(value);
      }
    });
    to.whenComplete((value, error) -> from.cancel(true));
  }

  /**
   * Runs many calls in one message. Each has its own outcome, in their order.
   *
   * @param calls the calls
   * @return as many outcomes
   */
  public List<Outcome> executeBatch(List<? extends Call> calls) {
    return connection.call(Requests.executeBatch(calls), timeout);
  }

  /**
   * Runs many calls in one message.
   *
   * @param calls the calls
   * @return as many outcomes to come. Cancelling it cancels all.
   */
  public CompletableFuture<List<Outcome>> executeBatchAsync(List<? extends Call> calls) {
    return connection.start(Requests.executeBatch(calls), timeout);
  }

  /**
   * Phase one alone (GetWorkspaceSize): checks a call and tells what it would need and give. No tensor's data is sent.
   *
   * @param call the call; inputs may be {@link TensorSpec}s
   * @return what it needs and gives
   */
  public Plan plan(Call call) {
    return connection.call(Requests.plan(Sent.described(call)), timeout);
  }

  /**
   * Phase one alone.
   *
   * @param call the call; inputs may be {@link TensorSpec}s
   * @return what it needs and gives, to come
   */
  public CompletableFuture<Plan> planAsync(Call call) {
    return connection.start(Requests.plan(Sent.described(call)), timeout);
  }

  /**
   * The server's operators: what each takes and gives, and its mathematics.
   *
   * @return an unmodifiable map by name
   */
  public Map<String, OperatorSchema> operators() {
    ListOperatorsResponse answer = connection.call(
        Requests.ask("ListOperators", ListOperatorsRequest.getDefaultInstance(), ListOperatorsResponse.parser()), timeout);
    Map<String, OperatorSchema> operators = new LinkedHashMap<>();
    answer.getOperatorsList().forEach(operator -> operators.put(operator.getName(), operator));
    return Collections.unmodifiableMap(operators);
  }

  /**
   * The server's devices; the first is the one that calls run on unless they name another.
   *
   * @return the devices
   */
  public List<Device> devices() {
    return connection.call(
        Requests.ask("ListDevices", ListDevicesRequest.getDefaultInstance(), ListDevicesResponse.parser()), timeout).getDevicesList();
  }

  /**
   * What the server has counted since it started.
   *
   * @return the counters; docs/statistics.md says what they mean
   */
  public GetStatisticsResponse statistics() {
    return connection.call(
        Requests.ask("GetStatistics", GetStatisticsRequest.getDefaultInstance(), GetStatisticsResponse.parser()), timeout);
  }

  /**
   * The server's version and limits.
   *
   * @return what it tells of itself
   */
  public GetServerInfoResponse info() {
    return connection.call(
        Requests.ask("GetServerInfo", GetServerInfoRequest.getDefaultInstance(), GetServerInfoResponse.parser()), timeout);
  }

  /**
   * Opens a session on the server's first device. The client's timeout does not bound it.
   *
   * @return the session
   */
  public Session session() {
    return session("");
  }

  /**
   * Opens a session on a device.
   *
   * @param device as {@link #devices} has it: {@code "cpu:0"}
   * @return the session
   */
  public Session session(String device) {
    return new Session(connection, device, null);
  }

  /**
   * Opens a session that may take so long, all in all.
   *
   * @param device as {@link #devices} has it; "" is the server's first
   * @param limit when the session is cut
   * @return the session
   */
  public Session session(String device, Duration limit) {
    return new Session(connection, device, ClientBuilder.checked(limit));
  }

  /** Ends the connection, with the calls and sessions that are under way. */
  @Override
  public void close() {
    connection.close();
  }
}
