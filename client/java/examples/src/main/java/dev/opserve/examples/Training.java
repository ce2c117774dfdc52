package dev.opserve.examples;

import dev.opserve.Call;
import dev.opserve.Client;
import dev.opserve.OpserveException;
import dev.opserve.Program;
import dev.opserve.Result;
import dev.opserve.Tensor;
import dev.opserve.Value;
import dev.opserve.ops.Activations;
import dev.opserve.ops.Losses;
import dev.opserve.ops.Normalization;
import dev.opserve.ops.Pooling;
import dev.opserve.ops.Products;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Teaches a convolutional classifier on an opserve server, one message a step: the loss and its gradients come back, and the weights are
 * stepped here. {@code Training [TARGET]}, by default $OPSERVE_TARGET or localhost:8500.
 */
public final class Training {
  private static final int BATCH = 32;
  private static final int SIZE = 12;
  private static final int CHANNELS = 8;
  private static final int CLASSES = 4;
  private static final int FEATURES = CHANNELS * SIZE / 2 * SIZE / 2;
  private static final int STEPS = 40;
  private static final float RATE = 0.1f;
  /** Of what is learned. */
  private static final Map<String, long[]> SHAPES = Map.of(
      "kernel", new long[] {CHANNELS, 1, 3, 3}, "gamma", new long[] {CHANNELS}, "beta", new long[] {CHANNELS},
      "w", new long[] {FEATURES, CLASSES}, "b", new long[] {CLASSES});

  private final Random random = new Random();
  private final Map<String, float[]> learned = new LinkedHashMap<>();

  private Training() {
    SHAPES.forEach((name, shape) -> learned.put(name, new float[(int) Arrays.stream(shape).reduce(1, (a, b) -> a * b)]));
    fill("kernel", 1.0 / 3);
    fill("w", 1 / Math.sqrt(FEATURES));
    Arrays.fill(learned.get("gamma"), 1);
  }

  private void fill(String name, double scale) {
    float[] values = learned.get(name);
    for (int i = 0; i < values.length; i++) {
      values[i] = (float) (random.normal() * scale);
    }
  }

  /**
   * The program.
   *
   * @param arguments the server's address
   */
  public static void main(String[] arguments) {
    try (Client client = Client.connect(arguments)) {
      new Training().run(client);
    } catch (OpserveException error) {
      System.err.println(error.getMessage());
      System.exit(1);
    }
  }

  /** The loss of a batch, and its gradients. */
  private static Program model() {
    Program program = new Program();
    long[] ones = {1, 1};
    long[] zeros = {0, 0};
    long[] twos = {2, 2};
    Value conv = program.step("conv", Call.of("Convolution").input("input", program.input("x")).input("weight", program.input("kernel"))
        .attribute("stride", ones).attribute("padding", ones).attribute("dilation", ones).attribute("output_padding", zeros));
    Value norm = program.step("norm", Normalization.groupNorm(conv, BATCH, CHANNELS, SIZE * SIZE, 2)
        .gamma(program.input("gamma")).beta(program.input("beta")));
    Value relu = program.step("relu", Activations.relu(norm));
    Value pool = program.step("pool", Pooling.avgPool2d(relu, twos, twos, zeros));
    Value scores = program.step("scores", Products.addmm(program.input("b"), pool.reshape(-1, FEATURES), program.input("w")));
    Value loss = program.step("loss", Losses.crossEntropyLoss(scores, program.input("classes")));
    return program.output("loss", loss).gradient(loss, "kernel", "gamma", "beta", "w", "b");
  }

  private void run(Client client) {
    Program program = model();
    for (int step = 0; step < STEPS; step++) {
      Call call = samples(Call.of(program));
      learned.forEach((name, values) -> call.input(name, Tensor.of(values, SHAPES.get(name))));
      Result result = client.execute(call);
      learned.forEach((name, values) -> {
        float[] gradient = result.get("grad_" + name).toFloats();
        for (int i = 0; i < values.length; i++) {
          values[i] -= RATE * gradient[i];
        }
      });
      if (step % 10 == 0 || step == STEPS - 1) {
        System.out.printf(Locale.ROOT, "step %d loss %.4f%n", step, result.get("loss").item());
      }
    }
  }

  /** The call with noisy pictures with stripes: across, down, and along either diagonal. */
  private Call samples(Call call) {
    int[][] directions = {{0, 1}, {1, 0}, {1, 1}, {1, SIZE - 1}};
    float[] x = new float[BATCH * SIZE * SIZE];
    long[] labels = new long[BATCH];
    for (int sample = 0; sample < BATCH; sample++) {
      int label = (int) (random.uniform() * CLASSES);
      double phase = random.uniform() * 2 * Math.PI;
      labels[sample] = label;
      for (int i = 0; i < SIZE * SIZE; i++) {
        int along = directions[label][0] * (i / SIZE) + directions[label][1] * (i % SIZE);
        x[sample * SIZE * SIZE + i] = (float) (Math.sin(along * Math.PI / 2 + phase) + 0.3 * random.normal());
      }
    }
    return call.input("x", Tensor.of(x, BATCH, 1, SIZE, SIZE)).input("classes", Tensor.of(labels));
  }

  /** The numbers that the examples of all languages draw: Marsaglia's xorshift of 32 bits. */
  private static final class Random {
    private int state = 1;

    /** From 0 to 1. */
    double uniform() {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      return Integer.toUnsignedLong(state) / 0x1p32;
    }

    /** Nearly normal: of twelve, whose variances are a twelfth. */
    double normal() {
      double sum = -6;
      for (int i = 0; i < 12; i++) {
        sum += uniform();
      }
      return sum;
    }
  }
}
