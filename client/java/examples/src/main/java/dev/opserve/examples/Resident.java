package dev.opserve.examples;

import dev.opserve.Client;
import dev.opserve.DataType;
import dev.opserve.DeviceResult;
import dev.opserve.DeviceTensor;
import dev.opserve.OpserveException;
import dev.opserve.Session;
import dev.opserve.Tensor;
import dev.opserve.ops.Losses;
import dev.opserve.ops.Normalization;

/**
 * A session on an opserve server: GroupNorm, then its gradient; CtcLoss, then its gradient. What a forward call leaves for the backward
 * one (mean, rstd; log_alpha) never leaves the device. {@code Resident [TARGET]}, by default $OPSERVE_TARGET or localhost:8500.
 */
public final class Resident {
  private Resident() {}

  /**
   * The program.
   *
   * @param arguments the server's address
   */
  public static void main(String[] arguments) {
    try (Client client = Client.connect(arguments); Session session = client.session()) {
      groupNorm(session);
      ctcLoss(session);
    } catch (OpserveException error) {
      System.err.println(error.getMessage());
      System.exit(1);
    }
  }

  private static void groupNorm(Session session) {
    DeviceTensor x = session.tensor(Tensor.of(new float[] {0, 1, 2, 3, 4, 5, 6, 7}, 1, 4, 2));
    DeviceTensor gamma = session.full(DataType.FLOAT32, 1, 4);
    Tensor grad = Tensor.of(new float[] {1, 0, 0, 0, 0, 2, 0, 0}, 1, 4, 2);
    DeviceResult forward = session.execute(Normalization.groupNorm(x, 1, 4, 2, 2).gamma(gamma).eps(1e-5));
    DeviceResult backward = session.execute(
        Normalization.groupNormBackward(grad, x, forward.get("mean"), forward.get("rstd"), 1, 4, 2, 2).gamma(gamma));
    print("out", forward);
    backward.outputs().keySet().forEach(name -> print(name, backward));
  }

  private static void ctcLoss(Session session) {
    DeviceTensor logProbs = session.full(DataType.FLOAT32, Math.log(1.0 / 3), 3, 1, 3);
    DeviceTensor targets = session.tensor(Tensor.of(new long[] {2}, 1, 1));
    long[] inputLengths = {3};
    long[] targetLengths = {1};
    DeviceResult forward = session.execute(Losses.ctcLoss(logProbs, targets, inputLengths, targetLengths));
    DeviceResult backward = session.execute(
        Losses.ctcLossBackward(
            session.full(DataType.FLOAT32, 1, 1), logProbs, targets, forward.get("neg_log_likelihood"), forward.get("log_alpha"),
            inputLengths, targetLengths));
    print("neg_log_likelihood", forward);
    print("grad", backward);
  }

  private static void print(String name, DeviceResult result) {
    Printed.print(name, result.get(name).download(), "%.3f");
  }
}
