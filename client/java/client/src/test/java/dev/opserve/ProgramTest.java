package dev.opserve;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.opserve.ops.Activations;
import dev.opserve.ops.Arithmetic;
import dev.opserve.ops.Losses;
import dev.opserve.ops.Pooling;
import dev.opserve.ops.Products;
import dev.opserve.ops.Reduction;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Programs against a real server. */
@Timeout(60)
class ProgramTest {
  private static TestServer server;
  private static Client client;

  @TempDir Path folder;

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

  /** A loss whose value w is used twice, once through a view. */
  private static Program perceptron() {
    Program program = new Program();
    Value w = program.input("w");
    Value h = program.step("h", Products.addmm(program.input("b"), program.input("x"), w));
    Value a = program.step("a", Activations.gelu(h));
    Value y = program.step("y", Products.matmul(a, w.view(new long[] {2, 3}, new long[] {1, 2}, 0)));
    Value loss = program.step("loss", Losses.mseLoss(y.reshape(-1), program.input("t")).reduction(Reduction.MEAN));
    return program.output("loss", loss).gradient(loss, "w", "b");
  }

  private static Call callOf(Program program, float[] w, float[] b) {
    return Call.of(program).input("x", Tensor.of(new float[] {0.5f, -1, 2, 1.5f, 0.25f, -0.5f}, 2, 3)).input("w", Tensor.of(w, 3, 2))
        .input("b", Tensor.of(b)).input("t", Tensor.of(new float[] {1, 0, -1, 0.5f, 2, 1}));
  }

  private static float[] someW() {
    return new float[] {0.1f, -0.4f, 0.7f, 0.2f, -0.3f, 0.9f};
  }

  private static float[] someB() {
    return new float[] {0.05f, -0.2f};
  }

  @Test
  void gradientsAreThoseOfFiniteDifferences() {
    float[] w = someW();
    float[] b = someB();
    Program program = perceptron();
    Result result = client.execute(callOf(program, w, b));
    for (var learned : Map.of("grad_w", w, "grad_b", b).entrySet()) {
      float[] gradient = result.get(learned.getKey()).toFloats();
      float[] values = learned.getValue();
      for (int i = 0; i < values.length; i++) {
        float value = values[i];
        values[i] = value + 1e-2f;
        double above = client.execute(callOf(program, w, b)).get("loss").item();
        values[i] = value - 1e-2f;
        double below = client.execute(callOf(program, w, b)).get("loss").item();
        values[i] = value;
        assertEquals((above - below) / 2e-2, gradient[i], 2e-3, learned.getKey() + "[" + i + "]");
      }
    }
  }

  @Test
  void batchesAndSessionsTakeProgramsToo() {
    Call call = callOf(perceptron(), someW(), someB());
    Result alone = client.execute(call);
    Result batched = client.executeBatch(List.of(call)).get(0).result();
    try (Session session = client.session()) {
      OpExecutor executor = session.plan(call);
      for (int i = 0; i < 2; i++) {
        DeviceResult resident = executor.run();
        for (String name : List.of("loss", "grad_w", "grad_b")) {
          assertArrayEquals(alone.get(name).toFloats(), resident.get(name).download().toFloats(), name);
          assertArrayEquals(alone.get(name).toFloats(), batched.get(name).toFloats(), name);
        }
      }
    }
    assertEquals(client.plan(call).outputs(), client.planAsync(call).join().outputs());
  }

  @Test
  void errorsNameTheStepAndItsParameter() {
    Call call = callOf(perceptron(), someW(), someB()).input("w", Tensor.of(new float[8], 4, 2));
    InvalidArgumentException error = assertThrows(InvalidArgumentException.class, () -> client.execute(call));
    assertEquals("SHAPE_MISMATCH 161002: Addmm: h.mat2: want K = 3 as in mat1's shape [2, 3], got [4, 2]", error.getMessage());
    assertEquals("Addmm h.mat2", error.operator() + " " + error.parameter());
  }

  private static void refused(String message, Runnable mistake) {
    assertEquals(message, assertThrows(IllegalArgumentException.class, mistake::run).getMessage());
  }

  @Test
  void mistakesAreToldWhereTheyAreMade() {
    Program program = new Program();
    Value x = program.input("x");
    Value row = x.view(new long[] {2}, new long[] {1}, 1);
    refused("reshape: want a value whose elements lie in their order, got the view x[2].strides(1).offset(1)", () -> row.reshape(1, 2));
    refused("view: want a value whose elements lie in their order, got the view x[2].strides(1).offset(1)",
        () -> row.view(new long[] {1}, new long[] {1}, 0));
    refused("strides: want one for each of 1 extents, got 2", () -> x.view(new long[] {2}, new long[] {1, 1}, 0));
    refused("output: want a step for the output mean, got the view x[-1]", () -> x.reshape(-1).output("mean"));
    refused("gradient.of: want an input or a result of a step, got the view x[]", () -> program.gradient(x.reshape(), "x"));
    refused("outputs: want a value of this program, got y of another", () -> program.output("y", new Program().input("y")));
    refused("s.self: want a value of this program, got y of another",
        () -> program.step("s", Activations.relu(new Program().input("y"))));
    refused("s.self: want a Value, a Tensor or a TensorView, got a TensorSpec",
        () -> program.step("s", Activations.relu(TensorSpec.of(DataType.FLOAT32, 2))));
    refused("s: want a call of an operator without outputs, device and report, got Relu{self=x}",
        () -> program.step("s", Activations.relu(x).output("out", DataType.FLOAT16)));
    refused("Relu: self: want a Tensor or a TensorView, got a Value, which only steps of a program take",
        () -> client.execute(Activations.relu(x)));
    refused("Relu: self: want a tensor or a TensorSpec, got a Value, which only steps of a program take",
        () -> client.plan(Activations.relu(x)));
    assertThrows(UnsupportedOperationException.class, x::dtype);
  }

  @Test
  void outputsOfStepsAndSeeds() {
    Program program = new Program();
    Value norm = program.step("norm", Call.of("LayerNorm").input("input", program.input("x")).attribute("normalized_shape", new int[] {2}));
    program.output("mean", norm.output("mean")).gradientFrom(norm, "seed", "x");
    Result result = client.execute(Call.of(program).input("x", Tensor.of(new float[] {1, 3, 2, 6}, 2, 2))
        .input("seed", Tensor.of(new float[] {1, 1, 1, 1}, 2, 2)));
    assertArrayEquals(new float[] {2, 4}, result.get("mean").toFloats());
    assertArrayEquals(new float[4], result.get("grad_x").toFloats(), 1e-5f);
  }

  @Test
  void aProgramLargerThanAMessageGoesInPieces() throws Exception {
    Program program = new Program();
    Value relu = program.step("relu", Activations.relu(program.input("x")));
    program.output("sum", program.step("sum", Arithmetic.add(relu, relu)));
    float[] x = new float[1 << 19];
    x[x.length - 1] = 2;
    try (TestServer small = new TestServer("--max-message-bytes", "1048576"); Client pieces = small.connect()) {
      float[] sum = pieces.execute(Call.of(program).input("x", Tensor.of(x))).get("sum").toFloats();
      assertEquals(x.length, sum.length);
      assertEquals(4, sum[x.length - 1]);
    }
  }

  /** What {@code opserve program show} prints. */
  private String shown(String program, String... more) throws Exception {
    Path file = Files.writeString(folder.resolve("a.program"), program);
    List<String> command = new ArrayList<>(List.of(
        Path.of(System.getenv("OPSERVE_BIN_DIR"), "opserve").toString(), "program", "show", file.toString(), "--target", server.address()));
    command.addAll(List.of(more));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String printed = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), printed + program);
    return printed;
  }

  @Test
  void aPlanIsTheTextThatTheCommandShows() throws Exception {
    Program program = perceptron();
    Plan plan = client.plan(callOf(program, someW(), someB()));
    ProgramPlan planned = plan.program().orElseThrow();
    assertTrue(planned.intermediateBytes() > 0 && plan.workspaceBytes() > 0, plan.toString());
    String text = shown(program.toString(), "-i", "x=f32[2,3]", "-i", "w=f32[3,2]", "-i", "b=f32[2]", "-i", "t=f32[6]");
    assertEquals(text, planned.toString());
    assertTrue(text.contains("return loss=loss.out, grad_w="), text);
    assertTrue(client.plan(Call.of("Relu").input("self", Tensor.of(new float[2]))).program().isEmpty());
  }

  /** A step for each way that a text has numbers, views and attributes. */
  private static Program literals() {
    Program program = new Program();
    Value x = program.input("x");
    Map<String, Input> others = new LinkedHashMap<>();
    others.put("a_float", Tensor.of(new float[] {1e5f, 123456792, 0, -0f, Float.NEGATIVE_INFINITY, 1e-7f, 3.4e38f, 0.5f}, 2, 4));
    others.put("a_double", Tensor.of(new double[] {
        0.1, 123456789012345680.0, 1e22, Math.PI, 1e-5, 0.001, 1e100, Double.MIN_VALUE, Double.NaN, Double.POSITIVE_INFINITY, 0x1p83, 0x1p-44}));
    others.put("a_half", Tensor.of(DataType.FLOAT16, new float[] {0.1f, 6e-8f, 65504, 3.14159f, Float.POSITIVE_INFINITY}));
    others.put("a_bf", Tensor.of(DataType.BFLOAT16, new float[] {0.1f, 9e-41f, 1e38f, 12345, 100}));
    others.put("an_int", Tensor.of(new long[] {Long.MIN_VALUE, 7}, 2, 1));
    others.put("a_uint", Tensor.of(DataType.UINT64, ByteBuffer.wrap(new byte[] {-1, -1, -1, -1, -1, -1, -1, -1})).reshape());
    others.put("a_byte", Tensor.of(DataType.UINT8, ByteBuffer.wrap(new byte[] {-1}), 1, 1, 1));
    others.put("a_bool", Tensor.of(new boolean[] {true, false}));
    others.put("nothing", Tensor.of(new float[0], 0, 3));
    others.put("across", Tensor.of(new float[] {1, 2, 3, 4}, 2, 2).transposed());
    double[] powers = IntStream.range(Double.MIN_EXPONENT - 52, Double.MAX_EXPONENT).mapToDouble(e -> Math.scalb(1.0, e)).toArray();
    float[] floatPowers = new float[powers.length];
    for (int i = 0; i < powers.length; i++) {
      floatPowers[i] = (float) powers[i];
    }
    others.put("powers", Tensor.of(powers));
    others.put("float_powers", Tensor.of(floatPowers));
    Random random = new Random(1);
    others.put("doubles", Tensor.of(random.ints(1000).mapToDouble(
        high -> Double.longBitsToDouble((long) high << 32 | random.nextInt() & 0xFFFF_FFFFL)).toArray()));
    for (DataType dtype : List.of(DataType.FLOAT32, DataType.FLOAT16, DataType.BFLOAT16)) {
      byte[] bits = new byte[1000 * dtype.byteSize()];
      random.nextBytes(bits);
      others.put(dtype + "s", Tensor.of(dtype, ByteBuffer.wrap(bits)));
    }
    others.put("flat", x.reshape(-1));
    others.put("point", x.reshape());
    others.put("view", x.view(new long[] {3, 2}, new long[] {1, 3}, 1));
    others.put("element", x.view(new long[0], new long[0], 5));
    others.put("whole", x);
    others.forEach((name, other) -> program.step(name, Arithmetic.add(x, other).alpha(0.1)));
    program.step("pool", Pooling.avgPool2d(x, new long[] {2, 2}, new long[0], new long[] {0, 1}).ceilMode(true));
    return program.output("out", x).output("sum", program.step("sum", Call.of("ReduceSum").input("self", x).attribute("dims", new int[1])));
  }

  @Test
  void aProgramIsTheTextThatTheCommandReads() throws Exception {
    String text = literals().toString();
    assertEquals(shown(text), text);
    Program program = new Program();
    program.gradientFrom(program.step("y", Activations.relu(program.input("x"))).output("out"), "dy", "x", "w");
    program.maxWorkspace(4096);
    assertEquals("y = Relu(self=x)\ngradient y.out: x, w seed dy within 4096\nreturn \n", program.toString());
  }

  @Test
  void whatAServerTellsMovesNoCursor() {
    var step = dev.opserve.v1.Step.newBuilder().setName("a\u001b[2J\n").setOp("Relu");
    step.addInputsBuilder().setName("self").setDtypeValue(99).getValuesBuilder().addFloats(1);
    var call = dev.opserve.v1.Call.newBuilder().setProgram(dev.opserve.v1.Program.newBuilder().addSteps(step)).build();
    assertEquals("a?[2J? = Relu(self=?[]{1})\nreturn \n", new ProgramPlan(0, call).toString());
  }

  /** The lines that docs/programs.md has for Java. */
  @Test
  void thePage() throws Exception {
    Tensor x = Tensor.of(new float[] {1, 2, 3, 4, 5, 6}, 2, 3);
    Tensor w = Tensor.of(new float[6], 3, 2);
    Tensor b = Tensor.of(new float[2]);
    Tensor classes = Tensor.of(new long[] {0, 1});

    Program program = new Program();
    Value h = program.step("h", Products.addmm(program.input("b"), program.input("x"), program.input("w")));
    Value loss = program.step("loss", Losses.crossEntropyLoss(h, program.input("classes")));
    program.output("loss", loss).gradient(loss, "w", "b");
    Call call = Call.of(program).input("x", x).input("w", w).input("b", b).input("classes", classes);
    Result result = client.execute(call); // loss, grad_w, grad_b

    assertEquals(Math.log(2), result.get("loss").item(), 1e-6);
    assertArrayEquals(new float[] {0.75f, -0.75f, 0.75f, -0.75f, 0.75f, -0.75f}, result.get("grad_w").toFloats());
    String page = Files.readString(Path.of("../../../docs/programs.md"));
    String block = page.substring(page.indexOf("```java\n") + 8);
    block = block.substring(0, block.indexOf("```"));
    String here = Files.readString(Path.of("src/test/java/dev/opserve/ProgramTest.java"));
    assertTrue(words(here).contains(words(block)), "docs/programs.md has lines that this test has not:\n" + block);
  }

  private static String words(String text) {
    return text.trim().replaceAll("\\s+", " ");
  }
}
