package dev.opserve;

import dev.opserve.v1.GradientRequest;
import dev.opserve.v1.ProgramOutput;
import dev.opserve.v1.Step;
import dev.opserve.v1.TensorValues;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * Several operators in one call, each of inputs of the call or results of earlier steps; and the gradients of one of its values.
 *
 * <pre>{@code
 * Program program = new Program();
 * Value h = program.step("h", Products.addmm(program.input("b"), program.input("x"), program.input("w")));
 * Value loss = program.step("loss", Losses.mseLoss(h, program.input("t")));
 * program.output("loss", loss).gradient(loss, "w", "b");
 * Result result = client.execute(Call.of(program).input("x", x).input("w", w).input("b", b).input("t", t));
 * }</pre>
 *
 * <p>Its methods change it; one thread at a time may call them. {@link Call#of(Program)} takes it as it is then.
 */
public final class Program {
  private final dev.opserve.v1.Program.Builder message = dev.opserve.v1.Program.newBuilder();

  /** A program without steps. */
  public Program() {}

  /**
   * An input of the call.
   *
   * @param name by which the call has it
   * @return the value
   */
  public Value input(String name) {
    return new Value(this, Objects.requireNonNull(name, "name"));
  }

  /**
   * Adds a step.
   *
   * @param name of its own among steps and inputs, without a dot; errors have it
   * @param call the operator with its attributes and inputs. These are values of this program, or tensors, which become constants that the
   *     program holds.
   * @return the operator's first output; {@link Value#output} is another
   */
  public Value step(String name, Call call) {
    Objects.requireNonNull(name, "name");
    if (!call.isStep()) {
      throw new IllegalArgumentException(name + ": want a call of an operator without outputs, device and report, got " + call);
    }
    Step.Builder step = Step.newBuilder().setName(name).setOp(call.op()).addAllAttributes(call.attributes());
    call.inputs().forEach((input, value) -> step.addInputs(inputOf(name + "." + input, value).setName(input)));
    message.addSteps(step);
    return input(name);
  }

  private dev.opserve.v1.Tensor.Builder inputOf(String parameter, Input input) {
    if (input instanceof Value value) {
      return own(parameter, value).message().toBuilder();
    }
    if (input instanceof Tensor tensor) {
      return constantOf(tensor);
    }
    if (input instanceof TensorView view) {
      return constantOf(view.dense());
    }
    throw new IllegalArgumentException(parameter + ": want a Value, a Tensor or a TensorView, got a " + input.getClass().getSimpleName());
  }

  private static dev.opserve.v1.Tensor.Builder constantOf(Tensor tensor) {
    TensorValues.Builder values = TensorValues.newBuilder();
    switch (tensor.dtype()) {
      case FLOAT32, FLOAT16, BFLOAT16, FLOAT64 -> Arrays.stream(tensor.toDoubles()).forEach(values::addFloats);
      case UINT64 -> Arrays.stream(tensor.toLongs()).forEach(values::addUints);
      case BOOL -> Arrays.stream(tensor.toLongs()).forEach(element -> values.addBools(element != 0));
      default -> Arrays.stream(tensor.toLongs()).forEach(values::addInts);
    }
    return Sent.described("", tensor).setValues(values);
  }

  /**
   * Has the call give a value.
   *
   * @param name by which the call gives it
   * @param value an input or a result of a step; no view
   * @return this program
   */
  public Program output(String name, Value value) {
    message.addOutputs(ProgramOutput.newBuilder().setName(name).setValue(whole("outputs", value)));
    return this;
  }

  /**
   * Asks for the gradients of a value that has one element. That of the input "w" is the output "grad_w".
   *
   * @param of an input or a result of a step; no view
   * @param withRespectTo inputs of the call
   * @return this program
   */
  public Program gradient(Value of, String... withRespectTo) {
    message.setGradient(
        GradientRequest.newBuilder().setOf(whole("gradient.of", of)).addAllWithRespectTo(List.of(withRespectTo)));
    return this;
  }

  /**
   * Asks for the gradients of a value of any shape.
   *
   * @param of an input or a result of a step; no view
   * @param seed the input of the call that is the gradient which comes in for the value, of its shape
   * @param withRespectTo inputs of the call
   * @return this program
   */
  public Program gradientFrom(Value of, String seed, String... withRespectTo) {
    gradient(of, withRespectTo);
    message.getGradientBuilder().setSeed(seed);
    return this;
  }

  /**
   * Bounds the workspace of a program whose gradients were asked for. The server computes results again where keeping them until
   * the gradients read them takes more.
   *
   * @param bytes the most workspace; 0 is no bound
   * @return this program
   * @throws IllegalStateException no gradients were asked for
   */
  public Program maxWorkspace(long bytes) {
    if (!message.hasGradient()) {
      throw new IllegalStateException("maxWorkspace: want a program whose gradients were asked for, got one without");
    }
    message.getGradientBuilder().setMaxWorkspaceBytes(bytes);
    return this;
  }

  private String whole(String parameter, Value value) {
    if (own(parameter, value).isView()) {
      throw new IllegalArgumentException(parameter + ": want an input or a result of a step, got the view " + value);
    }
    return value.message().getValue();
  }

  private Value own(String parameter, Value value) {
    if (value.program() != this) {
      throw new IllegalArgumentException(parameter + ": want a value of this program, got " + value + " of another");
    }
    return value;
  }

  dev.opserve.v1.Program toProto() {
    return message.build();
  }

  /** The program as a file of {@code opserve program} has it: a step a line, the gradient that it asks for, its outputs. */
  @Override
  public String toString() {
    return ProgramText.of(toProto());
  }
}
