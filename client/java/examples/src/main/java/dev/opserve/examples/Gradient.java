package dev.opserve.examples;

import dev.opserve.Client;
import dev.opserve.OpserveException;
import dev.opserve.Result;
import dev.opserve.Tensor;
import dev.opserve.ops.Losses;
import dev.opserve.ops.Losses.SmoothL1LossBackward;
import dev.opserve.ops.Reduction;

/** Computes a gradient on an opserve server: {@code Gradient [TARGET]}, by default $OPSERVE_TARGET or localhost:8500. */
public final class Gradient {
  private Gradient() {}

  /**
   * The program.
   *
   * @param arguments the server's address
   */
  public static void main(String[] arguments) {
    Tensor ones = Tensor.of(new float[] {1, 1, 1, 1, 1, 1, 1, 1}, 4, 2);
    Tensor self = Tensor.of(new float[] {0, 1, 2, 3, 4, 5, 6, 7}, 4, 2);
    SmoothL1LossBackward call = Losses.smoothL1LossBackward(ones, self, ones).reduction(Reduction.NONE).beta(1.0);
    try (Client client = Client.connect(arguments)) {
      Result result = client.execute(call);
      result.outputs().forEach((name, tensor) -> Printed.print(name, tensor, "%.0f"));
    } catch (OpserveException error) {
      System.err.println(error.getMessage());
      System.exit(1);
    }
  }
}
