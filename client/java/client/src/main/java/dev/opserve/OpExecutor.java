package dev.opserve;

import dev.opserve.v1.BufferView;
import dev.opserve.v1.Command;
import dev.opserve.v1.CreateExecutorCommand;
import dev.opserve.v1.DestroyExecutorCommand;
import dev.opserve.v1.RunExecutorCommand;
import java.util.Map;

/** A planned call on tensors of a session, which may be run again and again. {@link Session#plan} makes one. */
public final class OpExecutor extends Handle {
  /** Kept, so that Java frees none of them before this. */
  private final Map<String, DeviceTensor> inputs;
  private final DeviceResult outputs;

  OpExecutor(Session session, long id, Call call, Map<String, DeviceTensor> inputs, Map<String, DeviceTensor> outputs) {
    super(
        session, id,
        Command.newBuilder().setCreateExecutor(
            CreateExecutorCommand.newBuilder().setExecutor(id).setContext(session.context()).setRepeatable(true)
                .setCall(messageOf(call, inputs, outputs))),
        Command.newBuilder().setDestroyExecutor(DestroyExecutorCommand.newBuilder().setExecutor(id)));
    this.inputs = inputs;
    this.outputs = new DeviceResult(outputs);
  }

  private static dev.opserve.v1.Call messageOf(
      Call call, Map<String, DeviceTensor> inputs, Map<String, DeviceTensor> outputs) {
    var message = call.toProto();
    inputs.forEach((name, tensor) -> message.addInputs(described(name, tensor)));
    outputs.forEach((name, tensor) -> message.addOutputs(described(name, tensor)));
    return message.build();
  }

  private static dev.opserve.v1.Tensor.Builder described(String name, DeviceTensor tensor) {
    return Sent.described(name, tensor).setBuffer(BufferView.newBuilder().setBuffer(tensor.id()));
  }

  /**
   * The tensors that it reads.
   *
   * @return an unmodifiable map by name
   */
  public Map<String, DeviceTensor> inputs() {
    return inputs;
  }

  /**
   * The tensors that it writes.
   *
   * @return the outputs by name
   */
  public DeviceResult outputs() {
    return outputs;
  }

  /**
   * Phase two, on the session's default stream. Does not wait.
   *
   * @return the outputs
   */
  public DeviceResult run() {
    return run(session().defaultStream());
  }

  /**
   * Phase two. Does not wait.
   *
   * @param stream in whose turn
   * @return the outputs
   */
  public DeviceResult run(Stream stream) {
    send(stream, Command.newBuilder().setRunExecutor(RunExecutorCommand.newBuilder().setExecutor(id()).setStream(stream.id())));
    return outputs;
  }
}
