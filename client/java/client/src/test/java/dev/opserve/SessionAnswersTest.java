package dev.opserve;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.opserve.v1.Answer;
import dev.opserve.v1.Command;
import dev.opserve.v1.OutputChunk;
import dev.opserve.v1.SessionRequest;
import dev.opserve.v1.SessionResponse;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import java.io.IOException;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Sessions with a server of the test's own, whose answers make no sense, or that ends. */
@Timeout(60)
class SessionAnswersTest {
  private static final Tensor X = Tensor.of(new float[2]);

  /** Answers each command OK, and a download with what the test says. */
  private static FakeServer.Step answering(LongFunction<SessionResponse.Builder> download) {
    return new FakeServer.Step() {
      @Override
      public void answer(ServerCall<byte[], byte[]> call) {
        throw new UnsupportedOperationException();
      }

      @Override
      public void answer(ServerCall<byte[], byte[]> call, byte[] message) {
        try {
          for (Command command : SessionRequest.parseFrom(message).getCommandsList()) {
            SessionResponse.Builder answer = command.hasDownload() ? download.apply(command.getId())
                : SessionResponse.newBuilder().addAnswers(Answer.newBuilder().setId(command.getId()));
            call.sendMessage(answer.build().toByteArray());
          }
        } catch (InvalidProtocolBufferException error) {
          call.close(Status.INTERNAL.withCause(error), new Metadata());
        }
        call.request(1);
      }
    };
  }

  private static SessionResponse.Builder chunk(long command, long offset, int index, String bytes) {
    return SessionResponse.newBuilder()
        .addAnswers(Answer.newBuilder().setId(command).setChunk(OutputChunk.newBuilder().setOffsetBytes(offset).setRawIndex(index)))
        .addRaw(ByteString.copyFromUtf8(bytes));
  }

  private static OpserveException failure(LongFunction<SessionResponse.Builder> download) throws IOException {
    FakeServer.Step step = answering(download);
    FakeServer.Step[] steps = new FakeServer.Step[10];
    java.util.Arrays.fill(steps, step);
    steps[0] = FakeServer.FINE;
    try (FakeServer server = new FakeServer(steps); Client client = Client.connect(server.address())) {
      Session session = client.session();
      OpserveException error = assertThrows(OpserveException.class, () -> session.tensor(X).download());
      session.cancel();
      return error;
    }
  }

  private static void refused(LongFunction<SessionResponse.Builder> download) throws IOException {
    OpserveException error = failure(download);
    assertTrue(error instanceof InternalException && error.getMessage().contains("makes no sense"), error.getMessage());
  }

  @Test
  void chunksThatMakeNoSense() throws IOException {
    refused(id -> chunk(id, 0, 0, "1234")); // too few
    refused(id -> chunk(id, 0, 0, "123456789012")); // too many
    refused(id -> chunk(id, 4, 0, "1234")); // a gap
    refused(id -> chunk(id, -4, 0, "12345678"));
    refused(id -> chunk(id, Long.MAX_VALUE, 0, "12345678"));
    refused(id -> chunk(id, 0, 7, "12345678"));
    refused(id -> chunk(id, 0, -1, "12345678"));
    refused(id -> chunk(1, 0, 0, "12345678")); // of a command that is over
    refused(id -> SessionResponse.newBuilder().addAnswers(Answer.newBuilder().setId(99)));
    refused(id -> SessionResponse.newBuilder().addAnswers(Answer.newBuilder().setId(id))); // nothing at all
  }

  @Test
  void anErrorThatIsNone() throws IOException {
    refused(id -> SessionResponse.newBuilder()
        .addAnswers(Answer.newBuilder().setId(id).setError(com.google.rpc.Status.getDefaultInstance())));
  }

  @Test
  void theEndOfTheRpcEndsWaits() throws IOException {
    FakeServer.Step ends = call -> call.close(Status.UNAVAILABLE.withDescription("draining"), new Metadata());
    try (FakeServer server = new FakeServer(FakeServer.FINE, ends); Client client = Client.connect(server.address())) {
      Session session = client.session();
      assertEquals("UNAVAILABLE: draining", assertThrows(UnavailableException.class, session::synchronize).getMessage());
      assertThrows(UnavailableException.class, session::close);
      session.close();
    }
  }
}
