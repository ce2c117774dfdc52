package dev.opserve;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Sessions against a real server. */
@Timeout(60)
class SessionTest {
  private static TestServer server;
  private static Client client;
  private Session session;

  @BeforeAll
  static void start() throws Exception {
    server = new TestServer();
    client = server.connect();
  }

  @AfterAll
  static void stop() {
    client.close();
    server.close();
  }

  @BeforeEach
  void open() {
    session = client.session();
  }

  @AfterEach
  void close() {
    session.close();
  }

  private static Tensor ramp(int count, long... shape) {
    float[] numbers = new float[count];
    for (int i = 0; i < count; i++) {
      numbers[i] = i;
    }
    return Tensor.of(numbers, shape);
  }

  @Test
  void aPlanRunsAgainAndAgain() {
    DeviceTensor x = session.tensor(ramp(8, 4, 2));
    DeviceTensor y = session.empty(DataType.FLOAT32, 4, 2);
    OpExecutor plan = session.plan(Call.of("Hardshrink").input("self", x).attribute("lambd", 5.5).output("out", y));
    plan.run();
    assertArrayEquals(new float[] {0, 0, 0, 0, 0, 0, 6, 7}, y.download().toFloats());
    x.upload(Tensor.of(new float[8], 4, 2));
    assertArrayEquals(new float[8], plan.run().get("out").download().toFloats());
    plan.close();
  }

  @Test
  void whatAForwardCallLeavesStaysThere() {
    Tensor grad = Tensor.of(new float[] {1, 0, 0, 0, 0, 2, 0, 0}, 1, 4, 2);
    DeviceTensor x = session.tensor(ramp(8, 1, 4, 2));
    DeviceTensor gamma = session.full(DataType.FLOAT32, 1, 4);
    DeviceResult forward = session.execute(sized("GroupNorm").input("self", x).input("gamma", gamma).attribute("eps", 1e-5));
    DeviceResult backward = session.execute(sized("GroupNormBackward").input("grad_out", grad).input("input", x).input("gamma", gamma)
        .input("mean", forward.get("mean")).input("rstd", forward.get("rstd")));
    assertArrayEquals(new float[] {1, 0, 2, 0}, backward.get("grad_beta").download().toFloats(), 1e-6f);
    assertArrayEquals(new float[] {.268f, -.358f, -.089f, .179f, -.716f, 1.252f, -.358f, -.179f},
        backward.get("grad_input").download().toFloats(), 1e-3f);
  }

  private static Call sized(String op) {
    return Call.of(op).attribute("N", 1).attribute("C", 4).attribute("HxW", 2).attribute("group", 2);
  }

  @Test
  void tensorsLargerThanAChunk() {
    Tensor large = ramp(3 << 20);
    DeviceTensor tensor = session.tensor(large);
    DeviceTensor copy = session.empty(DataType.FLOAT32, 3 << 20);
    copy.copyFrom(tensor);
    tensor.fill(7);
    assertArrayEquals(large.toFloats(), copy.download().toFloats());
    Tensor direct = Tensor.of(DataType.FLOAT32, ByteBuffer.allocateDirect(12 << 20));
    assertArrayEquals(large.toFloats(), copy.download(direct).toFloats());
    float[] array = new float[3 << 20];
    copy.download(Tensor.of(array));
    assertArrayEquals(large.toFloats(), array);
    float[] sevens = tensor.downloadAsync().join().toFloats();
    assertEquals(7, sevens[sevens.length - 1]);
  }

  @Test
  void kindsOfTensors() {
    assertArrayEquals(new float[3], session.empty(DataType.FLOAT16, 3).download().toFloats());
    assertArrayEquals(new long[] {-2, -2}, session.full(DataType.INT64, -2, 2).download().toLongs());
    assertArrayEquals(new boolean[] {true, true}, session.full(DataType.BOOL, 1, 2).download().toBooleans());
    assertArrayEquals(new double[] {0.5}, session.full(DataType.FLOAT64, 0.5).download().toDoubles());
    assertEquals(0, session.tensor(Tensor.of(new float[0], 0, 3)).download().elementCount());
    assertThrows(IllegalArgumentException.class, () -> session.empty(DataType.FLOAT32, 3).upload(ramp(4)));
    assertThrows(IllegalArgumentException.class, () -> session.full(DataType.INT32, 0.5, 3));
    DeviceTensor viewed = session.execute(Call.of("Relu").input("self", ramp(6, 2, 3).transposed())).get("out");
    assertArrayEquals(new float[] {0, 3, 1, 4, 2, 5}, viewed.download().toFloats());
  }

  @Test
  void streamsAndEvents() {
    Stream first = session.stream();
    Stream second = session.stream();
    DeviceTensor x = session.empty(DataType.FLOAT32, 1000, 1000);
    DeviceTensor y = session.empty(DataType.FLOAT32, 1000, 1000);
    Event start = session.event().record(first);
    x.fill(3, first);
    Event done = session.event().record(first);
    second.await(done);
    y.copyFrom(x, second);
    Tensor into = Tensor.of(new float[1_000_000], 1000, 1000);
    assertEquals(3, y.downloadAsync(into, second).join().toFloats()[999_999]);
    done.synchronize();
    assertTrue(done.isReached());
    assertFalse(done.since(start).isNegative());
    first.synchronize();
    assertTrue(first.isIdle());
  }

  @Test
  void aRefusedCommandIsToldWithItsPlaceAndTheSessionGoesOn() {
    DeviceTensor x = session.tensor(ramp(8));
    OpExecutor plan = session.plan(Call.of("Hardshrink").input("self", x).attribute("lambd", 1.0));
    x.copyFrom(session.empty(DataType.FLOAT32, 3));
    plan.run();
    InvalidArgumentException error = assertThrows(InvalidArgumentException.class, () -> plan.outputs().get("out").download());
    assertTrue(error.command().isPresent());
    assertFalse(error.place().isEmpty());
    assertArrayEquals(new float[] {0, 0, 2, 3, 4, 5, 6, 7}, plan.run().get("out").download().toFloats());
  }

  @Test
  void aFailureInItsTurnStopsWhatFollowsUntilItIsTold() {
    DeviceTensor classes = session.tensor(Tensor.of(new long[] {0, 9}));
    OpExecutor loss = session.plan(
        Call.of("NLLLoss").input("self", Tensor.of(new float[6], 2, 3)).input("target", classes).attribute("reduction", "none"));
    DeviceTensor y = session.empty(DataType.FLOAT32, 2);
    loss.run();
    y.fill(5);
    OpserveException error = assertThrows(OpserveException.class, y::download);
    assertNotEquals("STREAM_FAILED", error.reason());
    y.fill(5);
    assertArrayEquals(new float[] {5, 5}, y.download().toFloats());
    classes.upload(Tensor.of(new long[] {0, 1}));
    assertArrayEquals(new float[2], loss.run().get("out").download().toFloats(), 1e-6f);
  }

  @Test
  void theEndTellsWhatWasNotTold() {
    Session other = client.session();
    other.empty(DataType.FLOAT32, 3).copyFrom(other.empty(DataType.FLOAT32, 4));
    assertThrows(InvalidArgumentException.class, other::close);
    assertThrows(IllegalStateException.class, () -> other.empty(DataType.FLOAT32, 3));
    Session dropped = client.session();
    dropped.empty(DataType.FLOAT32, 3).copyFrom(dropped.empty(DataType.FLOAT32, 4));
    dropped.cancel();
    dropped.close();
  }

  @Test
  void memoryIsFreed() throws InterruptedException {
    DeviceTensor tensor = session.empty(DataType.FLOAT32, 1 << 20);
    assertTrue(session.memory().getUsedBytes() >= 4 << 20);
    tensor.close();
    session.synchronize();
    assertTrue(session.memory().getUsedBytes() < 1 << 20);
    tensor = session.empty(DataType.FLOAT32, 1 << 20);
    tensor = null;
    for (int i = 0; i < 200 && session.memory().getUsedBytes() >= 1 << 20; i++) {
      System.gc();
      Thread.sleep(10);
    }
    assertTrue(session.memory().getUsedBytes() < 1 << 20, "what the program dropped is freed");
  }

  @Test
  void moreCommandsThanTheServerLetsWait() {
    DeviceTensor tensor = session.empty(DataType.FLOAT32, 4);
    List<CompletableFuture<Tensor>> downloads = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      tensor.fill(i);
      if (i % 1000 == 0) {
        downloads.add(tensor.downloadAsync());
      }
    }
    assertEquals(19_999, tensor.download().toFloats()[0]);
    for (int i = 0; i < downloads.size(); i++) {
      assertEquals(1000f * i, downloads.get(i).join().toFloats()[3]);
    }
  }

  @Test
  void moreMemoryThanASessionMayHave() {
    session.empty(DataType.FLOAT32, 1L << 50);
    assertThrows(ResourceExhaustedException.class, session::synchronize);
  }

  @Test
  void anInterruptedThreadLeavesNoSession() throws Exception {
    try (TestServer narrow = new TestServer("--max-sessions", "1"); Client other = narrow.connect()) {
      Thread.currentThread().interrupt();
      assertThrows(CancelledException.class, other::session);
      assertTrue(Thread.interrupted());
      for (int tries = 0;; tries++) {
        try (Session next = other.session()) {
          assertEquals(1, next.full(DataType.FLOAT32, 1, 1).download().toFloats()[0]);
          break;
        } catch (ResourceExhaustedException full) { // the server has not heard of the end yet
          assertTrue(tries < 100, full.getMessage());
          Thread.sleep(50);
        }
      }
    }
  }

  @Test
  void aServerThatGoesAway() throws Exception {
    try (TestServer dying = new TestServer(); Client other = dying.connect()) {
      Session lost = other.session();
      DeviceTensor tensor = lost.tensor(ramp(8));
      tensor.download();
      dying.kill();
      assertThrows(UnavailableException.class, tensor::download);
      assertThrows(UnavailableException.class, () -> {
        for (int i = 0; i < 1000; i++) {
          tensor.fill(1);
        }
      });
      lost.cancel();
    }
  }

  @Test
  void aCallLargerThanAMessageGoesThroughASession() throws Exception {
    try (TestServer narrow = new TestServer("--max-message-bytes", "1MiB"); Client other = narrow.connect()) {
      Tensor large = ramp(1 << 20);
      float[] into = new float[1 << 20];
      other.execute(Call.of("Relu").input("self", large).output("out", Tensor.of(into)));
      assertArrayEquals(large.toFloats(), into);
      assertArrayEquals(into, other.executeAsync(Call.of("Relu").input("self", large)).join().only().toFloats());
      Call product = Call.of("Matmul").input("self", ramp(1000, 1000, 1)).input("mat2", ramp(1000, 1, 1000));
      assertEquals(998001f, other.execute(product).only().toFloats()[999_999]);
      assertEquals(998001f, other.executeAsync(product).join().only().toFloats()[999_999]);
      Call wrong = Call.of("SmoothL1Loss").input("self", large).input("target", large).attribute("beta", -1.0);
      assertEquals("beta", assertThrows(InvalidArgumentException.class, () -> other.execute(wrong)).parameter());
    }
  }
}
