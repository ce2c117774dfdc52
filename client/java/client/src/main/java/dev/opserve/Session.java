package dev.opserve;

import dev.opserve.v1.Answer;
import dev.opserve.v1.CancelCommand;
import dev.opserve.v1.Command;
import dev.opserve.v1.CreateContextCommand;
import dev.opserve.v1.MemoryState;
import dev.opserve.v1.QueryMemoryCommand;
import dev.opserve.v1.SessionInfo;
import dev.opserve.v1.SynchronizeCommand;
import io.grpc.Deadline;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

/**
 * Tensors that stay on a device of a server, and work on them, in one RPC. Closing it finishes what was given and frees everything.
 *
 * <p>Nothing waits but what gives numbers: downloads, {@link #synchronize}, queries. A command that failed throws there, with the place in
 * the program that gave it. Any number of threads may use a session.
 */
public final class Session implements AutoCloseable {
  private static final long LEAST_CHUNK_BYTES = 1 << 12;
  private static final int MOST_PLANS = 512; // kept; beyond them all are dropped

  private final Connection connection;
  private final String device;
  private final Deadline deadline; // null: none
  private final Conversation conversation;
  private final AtomicLong ids = new AtomicLong();
  private final AtomicBoolean closed = new AtomicBoolean();
  private final Map<dev.opserve.v1.Call, Plan> plans = new ConcurrentHashMap<>();
  private final long context = ids.incrementAndGet();
  private final Stream defaultStream;

  Session(Connection connection, String device, Duration limit) {
    this.connection = connection;
    this.device = device;
    this.deadline = Connection.deadlineOf(limit);
    this.conversation = new Conversation(connection, limit);
    send(null, Command.newBuilder().setCreateContext(CreateContextCommand.newBuilder().setContext(context).setDevice(device)));
    this.defaultStream = stream();
  }

  // ---- tensors

  /**
   * A tensor on the device with a tensor's elements.
   *
   * @param value its elements must not change until a wait of the session has come back
   * @return the tensor on the device
   */
  public DeviceTensor tensor(Tensor value) {
    DeviceTensor tensor = empty(value.dtype(), value.extents());
    tensor.upload(value);
    return tensor;
  }

  /**
   * A tensor on the device. All new memory of a session is zeros.
   *
   * @param dtype the type of the elements
   * @param shape the extents, outermost first; none for a scalar
   * @return the tensor
   */
  public DeviceTensor empty(DataType dtype, long... shape) {
    return new DeviceTensor(this, ids.incrementAndGet(), dtype, shape);
  }

  /**
   * A tensor that is filled on the device.
   *
   * @param dtype the type of the elements
   * @param value of each element
   * @param shape the extents, outermost first; none for a scalar
   * @return the tensor
   */
  public DeviceTensor full(DataType dtype, double value, long... shape) {
    DeviceTensor tensor = empty(dtype, shape);
    tensor.fill(value);
    return tensor;
  }

  // ---- calls

  /**
   * Phase one: an executor, which runs as often as is wanted on the same tensors. Inputs that are not on the device yet are uploaded.
   * Outputs that the call does not name are made here, of the shapes that the server infers.
   *
   * @param call the call
   * @return the executor
   */
  public OpExecutor plan(Call call) {
    Map<String, DeviceTensor> inputs = new LinkedHashMap<>();
    call.inputs().forEach((name, input) -> inputs.put(name, onDevice(call, name, input)));
    Map<String, DeviceTensor> outputs = new LinkedHashMap<>();
    call.outputs().forEach((name, output) -> {
      if (!(output instanceof DeviceTensor tensor)) {
        throw new IllegalArgumentException(call.op() + ": " + name + ": want a DeviceTensor, got a Tensor: download it");
      }
      outputs.put(name, tensor);
    });
    Map<String, DeviceTensor> all = new LinkedHashMap<>();
    planned(call).outputs().forEach((name, spec) -> {
      DeviceTensor given = outputs.get(name);
      all.put(name, given == null ? empty(spec.dtype(), spec.shape()) : given);
    });
    return new OpExecutor(
        this, ids.incrementAndGet(), call, Collections.unmodifiableMap(inputs), Collections.unmodifiableMap(all));
  }

  private DeviceTensor onDevice(Call call, String name, Input input) {
    if (input instanceof DeviceTensor tensor) {
      return tensor;
    }
    if (input instanceof Tensor tensor) {
      return tensor(tensor);
    }
    if (input instanceof TensorView view) {
      return tensor(view.dense());
    }
    throw new IllegalArgumentException(
        call.op() + ": " + name + ": want a DeviceTensor, a Tensor or a TensorView, got a " + Sent.kindOf(input));
  }

  private Plan planned(Call call) {
    var message = Sent.described(call).toBuilder().setDevice(device).build();
    Plan known = plans.get(message);
    if (known == null) {
      known = connection.call(Requests.plan(message), planTimeout());
      if (plans.size() >= MOST_PLANS) {
        plans.clear();
      }
      plans.put(message, known);
    }
    return known;
  }

  private Duration planTimeout() {
    return deadline == null ? Duration.ofSeconds(60) : Duration.ofNanos(deadline.timeRemaining(TimeUnit.NANOSECONDS));
  }

  /**
   * Plans a call and runs it once on the default stream, without waiting.
   *
   * @param call the call
   * @return the outputs, on the device
   */
  public DeviceResult execute(Call call) {
    return execute(call, defaultStream);
  }

  /**
   * Plans a call and runs it once, without waiting. Inputs that are uploaded are so on the default stream.
   *
   * @param call the call
   * @param stream in whose turn
   * @return the outputs, on the device
   */
  public DeviceResult execute(Call call, Stream stream) {
    try (OpExecutor executor = plan(call)) {
      return executor.run(stream);
    }
  }

  /** A call whose tensors are here: up, run, down. */
  Result runWhole(Call call) {
    Call onDevice = call.withoutOutputs();
    Map<String, DeviceTensor> made = new LinkedHashMap<>();
    planned(call).outputs().forEach((name, spec) -> made.put(name, empty(spec.dtype(), spec.shape())));
    made.forEach((name, tensor) -> onDevice.output(name, tensor));
    execute(onDevice);
    Map<String, Tensor> outputs = new LinkedHashMap<>();
    made.forEach((name, tensor) ->
        outputs.put(name, call.outputs().get(name) instanceof Tensor into ? tensor.download(into) : tensor.download()));
    return new Result(Collections.unmodifiableMap(outputs), null);
  }

  // ---- order

  /**
   * The stream that all runs on that names none.
   *
   * @return the stream
   */
  public Stream defaultStream() {
    return defaultStream;
  }

  /**
   * Another stream: its work runs beside that of the others.
   *
   * @return the stream
   */
  public Stream stream() {
    return new Stream(this, ids.incrementAndGet());
  }

  /**
   * A mark that streams record and wait for.
   *
   * @return the event
   */
  public Event event() {
    return new Event(this, ids.incrementAndGet());
  }

  private Pending sendSynchronize() {
    return send(null, Command.newBuilder().setSynchronize(SynchronizeCommand.newBuilder().setContext(context)));
  }

  /** Waits until all that was given is done. Throws the first failure. */
  public void synchronize() {
    answerOf(sendSynchronize());
  }

  /**
   * As {@link #synchronize}, without waiting.
   *
   * @return complete when all that was given is done
   */
  public CompletableFuture<Void> synchronizeAsync() {
    return whenAnswered(sendSynchronize(), answer -> null);
  }

  /**
   * What the session holds on the device, and what it may.
   *
   * @return bytes
   */
  public MemoryState memory() {
    return answerOf(send(null, Command.newBuilder().setQueryMemory(QueryMemoryCommand.newBuilder().setContext(context)))).getMemory();
  }

  /**
   * The session's limits.
   *
   * @return what the server told when it opened
   */
  public SessionInfo info() {
    return conversation.info();
  }

  /**
   * Whether the server said that it is stopping: it ends the session once nothing is under way.
   *
   * @return true if so
   */
  public boolean isDraining() {
    return conversation.isDraining();
  }

  // ---- below

  Conversation conversation() {
    return conversation;
  }

  long context() {
    return context;
  }

  /** The size of an upload's pieces: whole elements of any type. */
  long chunkBytes() {
    SessionInfo limits = conversation.info();
    return Math.max(LEAST_CHUNK_BYTES, Math.min(limits.getRecommendedChunkBytes(), limits.getMaxMessageBytes() / 2) & ~7L);
  }

  Pending send(Stream stream, Command.Builder command) {
    return conversation.send(stream == null ? 0 : stream.id(), command, null, null);
  }

  /** Waits for a command's last answer, and throws the first failure among it and what came before it. */
  Answer answerOf(Pending command) {
    return Waiting.get(whenAnswered(command, answer -> answer));
  }

  /** The same without waiting; {@code read} makes the result, on a thread that may wait. */
  <T> CompletableFuture<T> whenAnswered(Pending command, Function<Answer, T> read) {
    CompletableFuture<T> result = conversation.whenOver(command).<CompletionStage<T>>handleAsync(
        (answer, error) -> error == null
            ? CompletableFuture.completedFuture(read.apply(answer))
            : forgiven((OpserveException) error),
        connection.executor()).thenCompose(Function.identity());
    result.whenComplete((value, error) -> {
      if (result.isCancelled() && conversation.isOpen()) {
        send(null, Command.newBuilder().setCancel(CancelCommand.newBuilder().setCommand(command.number)));
      }
    });
    return result;
  }

  /** A failure is told: streams that it stopped go on with what comes next. */
  private <T> CompletionStage<T> forgiven(OpserveException failure) {
    if (!conversation.isOpen()) {
      return CompletableFuture.failedFuture(failure);
    }
    return conversation.whenForgiven(sendSynchronize()).<T>handle((answer, ended) -> {
      throw new CompletionException(failure);
    });
  }

  // ---- the end

  /**
   * Finishes what was given and frees everything.
   *
   * @throws OpserveException the first failure that was not told
   */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      conversation.finish();
    }
  }

  /** Drops what waits and frees everything. */
  public void cancel() {
    closed.set(true);
    conversation.cancel();
  }
}
