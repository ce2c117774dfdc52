package dev.opserve;

import com.google.protobuf.ByteString;
import com.google.protobuf.Duration;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import dev.opserve.v1.Answer;
import dev.opserve.v1.GetServerInfoResponse;
import dev.opserve.v1.SessionInfo;
import dev.opserve.v1.SessionResponse;
import io.grpc.Grpc;
import io.grpc.HandlerRegistry;
import io.grpc.InsecureServerCredentials;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerMethodDefinition;
import io.grpc.Status;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CopyOnWriteArrayList;

/** A server of the test's own: answers each call with what the next of its steps does. */
final class FakeServer implements AutoCloseable {
  /** Ends a call. */
  interface Step {
    void answer(ServerCall<byte[], byte[]> call);

    /** The same, of a message that is looked at. */
    default void answer(ServerCall<byte[], byte[]> call, byte[] message) {
      answer(call);
    }
  }

  private static final MethodDescriptor.Marshaller<byte[]> BYTES = new MethodDescriptor.Marshaller<>() {
    @Override
    public InputStream stream(byte[] value) {
      return new ByteArrayInputStream(value);
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

  private final Queue<Step> steps;
  private final List<Metadata> calls = new CopyOnWriteArrayList<>();
  private final Server server;

  FakeServer(Step... steps) throws IOException {
    this.steps = new ArrayDeque<>(List.of(steps));
    server = Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create()).fallbackHandlerRegistry(new HandlerRegistry() {
      @Override
      public ServerMethodDefinition<?, ?> lookupMethod(String name, String authority) {
        var type = name.endsWith("/Session") ? MethodDescriptor.MethodType.BIDI_STREAMING : MethodDescriptor.MethodType.UNARY;
        return ServerMethodDefinition.create(
            MethodDescriptor.newBuilder(BYTES, BYTES).setType(type).setFullMethodName(name).build(), handler());
      }
    }).build().start();
  }

  private ServerCallHandler<byte[], byte[]> handler() {
    return (call, headers) -> {
      calls.add(headers);
      call.request(1);
      if (call.getMethodDescriptor().getType() == MethodDescriptor.MethodType.BIDI_STREAMING) {
        call.sendHeaders(new Metadata());
        call.sendMessage(SESSION_INFO);
      }
      return new ServerCall.Listener<>() {
        @Override
        public void onMessage(byte[] message) {
          Step step;
          synchronized (steps) {
            step = steps.remove();
          }
          step.answer(call, message);
        }
      };
    };
  }

  static Step message(byte[] bytes) {
    return call -> {
      call.sendHeaders(new Metadata());
      call.sendMessage(bytes);
      call.close(Status.OK, new Metadata());
    };
  }

  static final Step FINE = message(GetServerInfoResponse.newBuilder().setVersion("7").build().toByteArray());
  /** What a session begins with. */
  private static final byte[] SESSION_INFO = SessionResponse.newBuilder().addAnswers(Answer.newBuilder().setInfo(
      SessionInfo.newBuilder().setMaxQueuedCommands(100).setRecommendedChunkBytes(1 << 20).setMaxMessageBytes(4 << 20)))
      .build().toByteArray();

  static final Step UNAVAILABLE = call -> call.close(Status.UNAVAILABLE.withDescription("draining"), new Metadata());
  static final Step SILENT = call -> {};

  /** RESOURCE_EXHAUSTED, with a RetryInfo and the pushback of gRPC where they are given. */
  static Step busy(Long delayMillis, Long pushbackMillis) {
    return call -> {
      var status = com.google.rpc.Status.newBuilder().setCode(8).setMessage("too busy")
          .addDetails(detail("ErrorInfo", ErrorInfo.newBuilder().setReason("RESOURCE_LIMIT").build().toByteString()));
      if (delayMillis != null) {
        Duration delay = Duration.newBuilder().setSeconds(delayMillis / 1000).setNanos((int) (delayMillis % 1000) * 1_000_000).build();
        status.addDetails(detail("RetryInfo", RetryInfo.newBuilder().setRetryDelay(delay).build().toByteString()));
      }
      Metadata trailers = new Metadata();
      trailers.put(
          Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER), status.build().toByteArray());
      if (pushbackMillis != null) {
        trailers.put(Metadata.Key.of("grpc-retry-pushback-ms", Metadata.ASCII_STRING_MARSHALLER), pushbackMillis.toString());
      }
      call.close(Status.RESOURCE_EXHAUSTED.withDescription("too busy"), trailers);
    };
  }

  private static com.google.protobuf.Any detail(String kind, ByteString value) {
    return com.google.protobuf.Any.newBuilder().setTypeUrl("type.googleapis.com/google.rpc." + kind).setValue(value).build();
  }

  String address() {
    return "localhost:" + server.getPort();
  }

  /** The headers of the calls that came. */
  List<Metadata> calls() {
    return calls;
  }

  @Override
  public void close() {
    server.shutdownNow();
  }
}
