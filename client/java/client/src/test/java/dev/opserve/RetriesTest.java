package dev.opserve;

import static dev.opserve.FakeServer.FINE;
import static dev.opserve.FakeServer.SILENT;
import static dev.opserve.FakeServer.UNAVAILABLE;
import static dev.opserve.FakeServer.busy;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.opserve.v1.ExecuteResponse;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.Status;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Retries, deadlines, interrupts, and answers that make no sense: against a server of the test's own. */
@Timeout(60)
class RetriesTest {
  private static final Metadata.Key<String> TIMEOUT = Metadata.Key.of("grpc-timeout", Metadata.ASCII_STRING_MARSHALLER);
  private static final Call RELU = Call.of("Relu").input("self", 1f);

  private static Client connect(FakeServer server) {
    return Client.builder(server.address()).timeout(Duration.ofSeconds(20)).connect();
  }

  @Test
  void whereNoServerAnswersTheCallIsTriedAgain() throws IOException {
    try (FakeServer server = new FakeServer(UNAVAILABLE, UNAVAILABLE, UNAVAILABLE, FINE, FINE); Client client = connect(server)) {
      assertEquals("7", client.info().getVersion());
      assertEquals(5, server.calls().size());
    }
  }

  @Test
  void fourTriesAreMade() throws IOException {
    try (FakeServer server = new FakeServer(UNAVAILABLE, UNAVAILABLE, UNAVAILABLE, UNAVAILABLE, FINE)) {
      UnavailableException error = assertThrows(UnavailableException.class, () -> connect(server));
      assertEquals("UNAVAILABLE: draining", error.getMessage());
      assertEquals(4, server.calls().size());
    }
  }

  @Test
  void theServerSaysHowLongToWait() throws IOException {
    try (FakeServer server = new FakeServer(FINE, busy(300L, null), busy(null, 200L), FINE); Client client = connect(server)) {
      long start = System.nanoTime();
      client.info();
      assertTrue(System.nanoTime() - start >= 500_000_000L);
      assertEquals(4, server.calls().size());
    }
  }

  @Test
  void whatNoWaitingChangesIsNotTriedAgain() throws IOException {
    try (FakeServer server = new FakeServer(FINE, busy(null, null), busy(null, -1L)); Client client = connect(server)) {
      for (int i = 0; i < 2; i++) {
        ResourceExhaustedException error = assertThrows(ResourceExhaustedException.class, client::info);
        assertTrue(error.retryAfter().isEmpty());
        assertEquals("RESOURCE_LIMIT", error.reason());
      }
      assertEquals(3, server.calls().size());
    }
  }

  @Test
  void noTryBeginsBehindTheDeadline() throws IOException {
    try (FakeServer server = new FakeServer(FINE, busy(60_500L, null)); Client client = connect(server)) {
      ResourceExhaustedException error = assertThrows(ResourceExhaustedException.class, client::info);
      assertEquals(Duration.ofMillis(60_500), error.retryAfter().orElseThrow());
      assertEquals(2, server.calls().size());
    }
  }

  @Test
  void aTimeoutEndsTheCall() throws IOException {
    try (FakeServer server = new FakeServer(FINE, SILENT); Client client = connect(server)) {
      Client hurried = client.withTimeout(Duration.ofSeconds(3));
      assertThrows(DeadlineExceededException.class, () -> hurried.execute(RELU));
      assertTrue(server.calls().get(1).get(TIMEOUT).matches("[0-9]{1,8}[num]"));
    }
  }

  @Test
  void aTimeoutEndsACallThatReachesNoServer() throws IOException {
    try (ServerSocket mute = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      ClientBuilder hurried = Client.builder("localhost:" + mute.getLocalPort()).timeout(Duration.ofMillis(200));
      assertThrows(DeadlineExceededException.class, hurried::connect);
    }
  }

  @Test
  void theDeadlineOfTheContextHoldsToo() throws Exception {
    try (FakeServer server = new FakeServer(FINE, SILENT, FINE); Client client = connect(server)) {
      var timer = Executors.newSingleThreadScheduledExecutor();
      try (var context = Context.current().withDeadlineAfter(3, TimeUnit.SECONDS, timer)) {
        assertThrows(DeadlineExceededException.class, () -> context.call(() -> client.execute(RELU)));
      } finally {
        timer.shutdownNow();
      }
      client.withoutTimeout().info();
      assertNull(server.calls().get(2).get(TIMEOUT));
    }
  }

  @Test
  void aCancelledFutureCancelsTheCall() throws Exception {
    CountDownLatch called = new CountDownLatch(1);
    CountDownLatch cancelled = new CountDownLatch(1);
    FakeServer.Step slow = call -> {
      called.countDown();
      untilCancelled(call, cancelled);
    };
    try (FakeServer server = new FakeServer(FINE, slow); Client client = connect(server)) {
      CompletableFuture<Result> future = client.executeAsync(RELU);
      assertTrue(called.await(20, TimeUnit.SECONDS));
      future.cancel(true);
      assertTrue(cancelled.await(20, TimeUnit.SECONDS));
    }
  }

  private static void untilCancelled(io.grpc.ServerCall<byte[], byte[]> call, CountDownLatch cancelled) {
    Thread watcher = new Thread(() -> {
      while (!call.isCancelled()) {
        Thread.onSpinWait();
      }
      cancelled.countDown();
    });
    watcher.setDaemon(true);
    watcher.start();
  }

  @Test
  void anInterruptCancelsTheCall() throws Exception {
    CountDownLatch called = new CountDownLatch(1);
    CountDownLatch cancelled = new CountDownLatch(1);
    FakeServer.Step slow = call -> {
      called.countDown();
      untilCancelled(call, cancelled);
    };
    try (FakeServer server = new FakeServer(FINE, slow); Client client = connect(server)) {
      AtomicReference<Throwable> thrown = new AtomicReference<>();
      AtomicReference<Boolean> interrupted = new AtomicReference<>();
      Thread thread = new Thread(() -> {
        thrown.set(assertThrows(CancelledException.class, () -> client.execute(RELU)));
        interrupted.set(Thread.currentThread().isInterrupted());
      });
      thread.start();
      assertTrue(called.await(20, TimeUnit.SECONDS));
      thread.interrupt();
      thread.join(20_000);
      assertTrue(cancelled.await(20, TimeUnit.SECONDS));
      assertEquals("CANCELLED: the thread was interrupted", thrown.get().getMessage());
      assertTrue(interrupted.get());
    }
  }

  @Test
  void aTokenGoesWithEachCall() throws IOException {
    try (FakeServer server = new FakeServer(FINE, FINE);
        Client client = Client.builder(server.address()).token("secret").connect()) {
      client.info();
      Metadata.Key<String> key = Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);
      server.calls().forEach(headers -> assertEquals("Bearer secret", headers.get(key)));
      assertEquals(2, server.calls().size());
    }
  }

  @Test
  void anAnswerThatMakesNoSense() throws IOException {
    byte[] lies = ExecuteResponse.newBuilder().addOutputs(
        dev.opserve.v1.Tensor.newBuilder().setName("out").setDtypeValue(1).addShape(1L << 40).addShape(1L << 40)).build().toByteArray();
    try (FakeServer server = new FakeServer(FINE, FakeServer.message(new byte[] {0x7A, -1}), FakeServer.message(lies));
        Client client = connect(server)) {
      for (int i = 0; i < 2; i++) {
        InternalException error = assertThrows(InternalException.class, () -> client.execute(RELU));
        assertTrue(error.getMessage().contains("makes no sense"), error.getMessage());
      }
    }
  }

  @Test
  void anErrorWhoseDetailsMakeNoSenseIsStillOne() throws IOException {
    FakeServer.Step odd = call -> {
      Metadata trailers = new Metadata();
      trailers.put(Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER), new byte[] {-1, -1});
      call.close(Status.INTERNAL.withDescription("odd"), trailers);
    };
    try (FakeServer server = new FakeServer(FINE, odd); Client client = connect(server)) {
      assertEquals("INTERNAL: odd", assertThrows(InternalException.class, client::info).getMessage());
    }
  }

  @Test
  void aClosedClientSaysSo() throws IOException {
    try (FakeServer server = new FakeServer(FINE)) {
      Client client = connect(server);
      client.close();
      assertEquals("the client is closed", assertThrows(IllegalStateException.class, client::info).getMessage());
    }
  }
}
