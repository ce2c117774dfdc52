package dev.opserve;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.gson.JsonElement;
import com.google.gson.JsonParser;
import dev.opserve.ops.Activations;
import dev.opserve.ops.Arithmetic;
import dev.opserve.ops.Losses;
import dev.opserve.ops.Normalization;
import dev.opserve.ops.Reduction;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The typed calls of the catalogue. */
class OperatorsTest {
  private static final Tensor X = Tensor.of(new float[] {1, 2}, 1, 2);

  private static dev.opserve.v1.Call message(Call call) {
    return Sent.described(call);
  }

  @Test
  void aTypedCallIsTheCallByNames() {
    assertEquals(
        message(Call.of("SmoothL1LossBackward").input("grad_out", X).input("self", X).input("target", X)
            .attribute("reduction", "none").attribute("beta", 0.5).device("cpu:0")),
        message(Losses.smoothL1LossBackward(X, X, X).reduction(Reduction.NONE).beta(0.5).device("cpu:0")));
    assertEquals(
        message(Call.of("LayerNorm").input("input", X).attribute("normalized_shape", new long[] {2}).input("bias", X)),
        message(Normalization.layerNorm(X, new long[] {2}).bias(X)));
    assertEquals(
        message(Call.of("Mean").input("self", X).attribute("dim", new long[] {1}).attribute("keep_dim", true)
            .attribute("dtype", "float16")),
        message(Arithmetic.mean(X, new long[] {1}).keepDim(true).dtype(DataType.FLOAT16)));
  }

  @Test
  void everyOperatorHasAFunction() throws Exception {
    var catalogue = JsonParser.parseString(Files.readString(Path.of("../../catalogue/operators.json"))).getAsJsonObject();
    var wanted = new TreeSet<String>();
    var families = new TreeSet<String>();
    for (JsonElement each : catalogue.getAsJsonArray("operators")) {
      wanted.add(each.getAsJsonObject().get("name").getAsString());
      families.add(each.getAsJsonObject().get("family").getAsString());
    }
    var made = new TreeSet<String>();
    for (String family : families) {
      StringBuilder name = new StringBuilder("dev.opserve.ops.");
      for (String word : family.split(" ")) {
        name.append(Character.toUpperCase(word.charAt(0))).append(word.substring(1));
      }
      for (Method method : Class.forName(name.toString()).getDeclaredMethods()) {
        if (Modifier.isStatic(method.getModifiers())) {
          made.add(((Call) method.invoke(null, arguments(method))).op());
        }
      }
    }
    assertEquals(wanted, made);
    assertEquals(114, made.size());
  }

  private static Object[] arguments(Method method) {
    List<Object> arguments = new ArrayList<>();
    for (Class<?> type : method.getParameterTypes()) {
      arguments.add(
          type == Input.class ? X : type == long.class ? 1L : type == double.class ? 1.0 : type == boolean.class ? true
              : type == long[].class ? new long[] {1} : type == boolean[].class ? new boolean[] {true} : type.getEnumConstants()[0]);
    }
    return arguments.toArray();
  }

  @Test
  void typedCallsRun() throws IOException, InterruptedException {
    try (TestServer server = new TestServer(); Client client = server.connect(); Session session = client.session()) {
      assertArrayEquals(new float[] {0, 2}, client.execute(Activations.hardshrink(X, 1.5)).only().toFloats());
      DeviceTensor x = session.tensor(X);
      DeviceTensor mean = session.execute(Arithmetic.mean(x, new long[] {1})).get("out");
      assertArrayEquals(new float[] {1.5f}, mean.download().toFloats());
    }
  }
}
