package dev.opserve.benchmark;

import dev.opserve.Call;
import dev.opserve.Client;
import dev.opserve.DataType;
import dev.opserve.Tensor;
import dev.opserve.ops.Activations;
import dev.opserve.v1.ExecuteRequest;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/**
 * The client beside bare gRPC: calls of 8 floats a second, one by one and 16 at a time, and bytes a second at 16 MiB each way. Usage:
 * {@code Benchmark [TARGET]}, by default localhost:8500. Run it on an idle machine, against a release build.
 *
 * <p>Bare gRPC calls the same opserve server's Execute with a message of bytes that was made once, and the same timeout, and reads
 * nothing of the answer's bytes. The two take turns; the medians are printed.
 */
public final class Benchmark {
  private static final double SECONDS = 1;
  private static final int ROUNDS = 5;
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final int IN_FLIGHT = 16;
  private static final int LARGE_BYTES = 16 << 20;

  private static final MethodDescriptor.Marshaller<byte[]> BYTES = new MethodDescriptor.Marshaller<>() {
    @Override
    public InputStream stream(byte[] message) {
      return new ByteArrayInputStream(message);
    }

    @Override
    public byte[] parse(InputStream in) {
      try {
        return in.readAllBytes();
      } catch (IOException error) {
        throw new UncheckedIOException(error);
      }
    }
  };
  private static final MethodDescriptor<byte[], byte[]> EXECUTE = MethodDescriptor.newBuilder(BYTES, BYTES)
      .setType(MethodDescriptor.MethodType.UNARY).setFullMethodName("opserve.v1.OperatorService/Execute").build();

  private Benchmark() {}

  /**
   * The program.
   *
   * @param arguments the server's address
   */
  public static void main(String[] arguments) {
    String target = arguments.length > 0 ? arguments[0] : "localhost:8500";
    ManagedChannel channel = Grpc.newChannelBuilder(target, InsecureChannelCredentials.create())
        .maxInboundMessageSize(Integer.MAX_VALUE).build();
    try (Client client = Client.builder(target).timeout(TIMEOUT).connect()) {
      Call small = Activations.relu(Tensor.of(new float[8]));
      byte[] smallBytes = bytesOf(8);
      row("8 floats, one by one", "calls/s", 1, 1, () -> CompletableFuture.completedFuture(client.execute(small)),
          () -> waited(channel, smallBytes));
      row("8 floats, 16 at a time", "calls/s", 1, IN_FLIGHT, () -> client.executeAsync(small), () -> bare(channel, smallBytes));
      Tensor in = Tensor.of(DataType.FLOAT32, ByteBuffer.allocateDirect(LARGE_BYTES));
      Tensor out = Tensor.of(DataType.FLOAT32, ByteBuffer.allocateDirect(LARGE_BYTES));
      Tensor array = Tensor.of(new float[LARGE_BYTES / 4]);
      byte[] largeBytes = bytesOf(LARGE_BYTES / 4);
      row("16 MiB each way, arrays", "GB/s", 2e-9 * LARGE_BYTES, 1,
          () -> CompletableFuture.completedFuture(client.execute(Activations.relu(array))), () -> waited(channel, largeBytes));
      row("16 MiB each way, direct buffers", "GB/s", 2e-9 * LARGE_BYTES, 1,
          () -> CompletableFuture.completedFuture(client.execute(Activations.relu(in).output("out", out))),
          () -> waited(channel, largeBytes));
    } finally {
      channel.shutdownNow();
    }
  }

  private static void row(String name, String unit, double factor, int inFlight, Supplier<? extends CompletableFuture<?>> byClient,
      Supplier<? extends CompletableFuture<?>> byGrpc) {
    double[] ours = new double[ROUNDS];
    double[] bare = new double[ROUNDS];
    for (int round = -1; round < ROUNDS; round++) { // the first is to warm up
      ours[Math.max(round, 0)] = rate(inFlight, byClient);
      bare[Math.max(round, 0)] = rate(inFlight, byGrpc);
    }
    Arrays.sort(ours);
    Arrays.sort(bare);
    double client = ours[ROUNDS / 2];
    double grpc = bare[ROUNDS / 2];
    System.out.printf(Locale.ROOT, "%-32s opserve %10.4g %s   bare gRPC %10.4g %s   ratio %.2f%n", name, client * factor, unit,
        grpc * factor, unit, client / grpc);
  }

  private static byte[] bytesOf(int floats) {
    var self = dev.opserve.v1.Tensor.newBuilder().setName("self").setDtypeValue(1).addShape(floats).setRawIndex(0);
    return ExecuteRequest.newBuilder().setCall(dev.opserve.v1.Call.newBuilder().setOp("Relu").addInputs(self))
        .addRaw(com.google.protobuf.ByteString.copyFrom(new byte[4 * floats])).build().toByteArray();
  }

  private static CompletableFuture<byte[]> waited(Channel channel, byte[] message) {
    CompletableFuture<byte[]> future = bare(channel, message);
    future.join();
    return future;
  }

  private static CompletableFuture<byte[]> bare(Channel channel, byte[] message) {
    CompletableFuture<byte[]> future = new CompletableFuture<>();
    ClientCall<byte[], byte[]> call = channel.newCall(EXECUTE, CallOptions.DEFAULT.withDeadlineAfter(TIMEOUT));
    call.start(new ClientCall.Listener<>() {
      private byte[] answer;

      @Override
      public void onMessage(byte[] came) {
        answer = came;
      }

      @Override
      public void onClose(Status status, Metadata trailers) {
        if (status.isOk()) {
          future.complete(answer);
        } else {
          future.completeExceptionally(status.asRuntimeException());
        }
      }
    }, new Metadata());
    call.request(2);
    call.sendMessage(message);
    call.halfClose();
    return future;
  }

  /** Calls a second with so many of them under way. */
  private static double rate(int inFlight, Supplier<? extends CompletableFuture<?>> call) {
    Semaphore places = new Semaphore(inFlight);
    AtomicLong calls = new AtomicLong();
    long start = System.nanoTime();
    while (System.nanoTime() - start < SECONDS * 1e9) {
      places.acquireUninterruptibly();
      call.get().whenComplete((value, error) -> {
        calls.incrementAndGet();
        places.release();
      });
    }
    places.acquireUninterruptibly(inFlight);
    return calls.get() / ((System.nanoTime() - start) * 1e-9);
  }
}
