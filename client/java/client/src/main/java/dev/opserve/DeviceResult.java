package dev.opserve;

import java.util.Map;

/** An operator's outputs on the server's device. */
public final class DeviceResult {
  private final Map<String, DeviceTensor> outputs;

  DeviceResult(Map<String, DeviceTensor> outputs) {
    this.outputs = outputs;
  }

  /**
   * An output.
   *
   * @param name its name in the operator's schema
   * @return the tensor
   * @throws IllegalArgumentException if the operator has no output of that name
   */
  public DeviceTensor get(String name) {
    return Result.named(outputs, name);
  }

  /**
   * All outputs, in the order of the operator's schema.
   *
   * @return an unmodifiable map by name
   */
  public Map<String, DeviceTensor> outputs() {
    return outputs;
  }
}
