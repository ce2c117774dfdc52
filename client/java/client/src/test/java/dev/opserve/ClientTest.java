package dev.opserve;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls against a real server. */
@Timeout(60)
class ClientTest {
  private static TestServer server;
  private static Client client;

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

  private static float[] numbers(int count) {
    float[] numbers = new float[count];
    for (int i = 0; i < count; i++) {
      numbers[i] = i;
    }
    return numbers;
  }

  private static Call relu(Tensor self) {
    return Call.of("Relu").input("self", self);
  }

  @Test
  void aGradient() {
    Tensor ones = Tensor.of(new float[] {1, 1, 1, 1, 1, 1, 1, 1}, 4, 2);
    Result result = client.execute(Call.of("SmoothL1LossBackward").input("grad_out", ones).input("self", Tensor.of(numbers(8), 4, 2))
        .input("target", ones).attribute("reduction", "none").attribute("beta", 1.0).reported());
    assertArrayEquals(new float[] {-1, 0, 1, 1, 1, 1, 1, 1}, result.get("grad_input").toFloats());
    assertArrayEquals(new long[] {4, 2}, result.only().shape());
    assertEquals("cpu:0", result.execution().orElseThrow().getDevice());
    assertThrows(IllegalArgumentException.class, () -> result.get("grad"));
  }

  @Test
  void dtypesAndViews() {
    for (DataType dtype : List.of(DataType.FLOAT32, DataType.FLOAT16, DataType.BFLOAT16)) {
      Tensor out = client.execute(relu(Tensor.of(dtype, new float[] {-1, 0.5f, 3}))).get("out");
      assertEquals(dtype, out.dtype());
      assertArrayEquals(new float[] {0, 0.5f, 3}, out.toFloats());
    }
    Tensor matrix = Tensor.of(numbers(6), 2, 3);
    Call transposed = Call.of("Relu").input("self", matrix.transposed()).output("out", DataType.FLOAT16);
    assertArrayEquals(new float[] {0, 3, 1, 4, 2, 5}, client.execute(transposed).get("out").toFloats());
    Call repeated = Call.of("Relu").input("self", matrix.view(new long[] {2, 2}, new long[] {0, 1}, 4));
    assertArrayEquals(new float[] {4, 5, 4, 5}, client.execute(repeated).get("out").toFloats());
    Call equal = Call.of("L1Loss").input("self", 3f).input("target", Tensor.scalar(1)).attribute("reduction", "mean");
    assertEquals(2.0, client.execute(equal).only().item());
  }

  @Test
  void outputsAreWrittenIntoTheProgramsMemory() {
    Tensor self = Tensor.of(new float[] {-1, 2, 3});
    float[] array = new float[3];
    List<Tensor> places = List.of(
        Tensor.of(DataType.FLOAT32, ByteBuffer.allocateDirect(12)), Tensor.of(DataType.FLOAT32, ByteBuffer.allocate(12)), Tensor.of(array),
        Tensor.of(DataType.FLOAT32, ByteBuffer.allocateDirect(12).asFloatBuffer()));
    for (Tensor into : places) {
      assertSame(into, client.execute(relu(self).output("out", into)).get("out"));
      assertArrayEquals(new float[] {0, 2, 3}, into.toFloats());
    }
    assertArrayEquals(new float[] {0, 2, 3}, array);
    Tensor small = Tensor.of(new float[2]);
    assertEquals("out", assertThrows(InvalidArgumentException.class, () -> client.execute(relu(self).output("out", small))).parameter());
    Tensor readOnly = Tensor.of(DataType.FLOAT32, FloatBuffer.allocate(3).asReadOnlyBuffer());
    assertThrows(IllegalArgumentException.class, () -> relu(self).output("out", readOnly));
  }

  @Test
  void largeDirectBuffersGoThereAndBack() {
    ByteBuffer in = ByteBuffer.allocateDirect(16 << 20);
    ByteBuffer out = ByteBuffer.allocateDirect(16 << 20);
    FloatBuffer floats = in.order(java.nio.ByteOrder.LITTLE_ENDIAN).asFloatBuffer();
    for (int i = 0; i < floats.capacity(); i++) {
      floats.put(i, i % 1000 - 500);
    }
    client.execute(relu(Tensor.of(DataType.FLOAT32, in)).output("out", Tensor.of(DataType.FLOAT32, out)));
    FloatBuffer got = out.order(java.nio.ByteOrder.LITTLE_ENDIAN).asFloatBuffer();
    for (int i = 0; i < got.capacity(); i++) {
      assertEquals(Math.max(0, i % 1000 - 500), got.get(i));
    }
  }

  @Test
  void errorsSayWhatIsWrong() {
    Tensor x = Tensor.of(numbers(4));
    Call call = Call.of("SmoothL1Loss").input("self", x).input("target", x).attribute("beta", -1.0);
    InvalidArgumentException error = assertThrows(InvalidArgumentException.class, () -> client.execute(call));
    assertEquals("OUT_OF_RANGE 161002: SmoothL1Loss: beta: want >= 0, got -1", error.getMessage());
    assertEquals(io.grpc.Status.Code.INVALID_ARGUMENT, error.code());
    assertEquals("OUT_OF_RANGE", error.reason());
    assertEquals(161002, error.aclnnCode().orElseThrow());
    assertEquals("SmoothL1Loss", error.operator());
    assertEquals("beta", error.parameter());
    assertEquals(">= 0", error.want());
    assertEquals("-1", error.got());
    assertTrue(
        Stream.of(error.getStackTrace()).anyMatch(frame -> "ClientTest.java".equals(frame.getFileName())), "the stack is the caller's");
    assertThrows(NotFoundException.class, () -> client.execute(Call.of("Nothing")));
    CompletionException wrapped = assertThrows(CompletionException.class, () -> client.executeAsync(call).join());
    assertEquals("beta", ((OpserveException) wrapped.getCause()).parameter());
    assertThrows(IllegalArgumentException.class, () -> client.execute(Call.of("Relu").input("self", TensorSpec.of(DataType.FLOAT32, 2))));
    assertThrows(IllegalArgumentException.class, () -> Tensor.of(new float[3], 2, 2));
  }

  @Test
  void aBatchHasAnOutcomeForEachCall() {
    Tensor x = Tensor.of(new float[] {-1, 2});
    List<Call> calls = List.of(relu(x), Call.of("SmoothL1Loss").input("self", x).input("target", x).attribute("beta", -1.0),
        relu(x).output("out", Tensor.of(new float[2])));
    List<Outcome> outcomes = client.executeBatch(calls);
    assertArrayEquals(new float[] {0, 2}, outcomes.get(0).result().only().toFloats());
    assertTrue(outcomes.get(0).error().isEmpty());
    assertEquals("beta", outcomes.get(1).error().orElseThrow().parameter());
    assertThrows(InvalidArgumentException.class, () -> outcomes.get(1).result());
    assertArrayEquals(new float[] {0, 2}, outcomes.get(2).result().only().toFloats());
    assertEquals(3, client.executeBatchAsync(calls).join().size());
  }

  @Test
  void aPlanNeedsNoData() {
    Call call = Call.of("L1Loss").input("self", TensorSpec.of(DataType.FLOAT32, 64, 1000))
        .input("target", TensorSpec.of(DataType.FLOAT32, 64, 1000)).attribute("reduction", "none");
    Plan plan = client.plan(call);
    assertEquals(TensorSpec.of(DataType.FLOAT32, 64, 1000), plan.get("out"));
    assertEquals(256000, plan.outputBytes());
    assertEquals(plan.outputs(), client.planAsync(call).join().outputs());
  }

  @Test
  void discovery() {
    assertEquals("Losses", client.operators().get("SmoothL1LossBackward").getFamily());
    assertEquals("cpu:0", client.devices().get(0).getName());
    assertFalse(client.info().getVersion().isEmpty());
    assertTrue(client.statistics().getUptimeNs() > 0);
  }

  @Test
  void manyCallsAreUnderWayAtOnce() {
    List<CompletableFuture<Result>> futures = new ArrayList<>();
    IntStream.range(0, 200).forEach(i -> futures.add(client.executeAsync(relu(Tensor.of(new float[] {i, -i})))));
    for (int i = 0; i < 200; i++) {
      assertArrayEquals(new float[] {i, -0f + 0}, futures.get(i).join().only().toFloats());
    }
  }

  @Test
  void targets() throws Exception {
    String port = server.address().substring(server.address().lastIndexOf(':') + 1);
    for (String target : List.of("127.0.0.1:" + port, "dns:///localhost:" + port)) {
      try (Client other = Client.connect(target)) {
        assertEquals("cpu:0", other.devices().get(0).getName());
      }
    }
    try (TestServer second = new TestServer("--device", "cpu,threads=1");
        Client both = Client.connect(server.address(), second.address())) {
      try (Client alone = second.connect()) {
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (alone.statistics().getEngine().getInlineCalls() == 0) {
          both.execute(relu(Tensor.scalar(1)));
          assertTrue(System.nanoTime() < until, "the second server has no calls");
        }
      }
      second.kill();
      for (int i = 0; i < 8; i++) {
        both.execute(relu(Tensor.scalar(1)));
      }
    }
    Path socket = Files.createTempDirectory("opserve-java-").resolve("socket");
    try (TestServer local = new TestServer(List.of("--listen", "unix:" + socket)); Client other = Client.connect(local.address())) {
      assertEquals("cpu:0", other.devices().get(0).getName());
    }
    for (String wrong : List.of("", "localhost", "localhost:0", "localhost:70000", "a b:1", "http://localhost:1")) {
      assertTrue(assertThrows(IllegalArgumentException.class, () -> Client.connect(wrong)).getMessage().startsWith("target: want"));
    }
    assertThrows(UnavailableException.class, () -> Client.connect("localhost:1"));
    assertThrows(IllegalArgumentException.class, () -> Client.builder("example.org:1").token("secret").connect());
  }
}
