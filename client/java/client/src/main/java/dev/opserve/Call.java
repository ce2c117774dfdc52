package dev.opserve;

import dev.opserve.v1.Attribute;
import dev.opserve.v1.BoolList;
import dev.opserve.v1.DoubleList;
import dev.opserve.v1.Int64List;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * An operator, or a {@link Program}, with its inputs and attributes, by the names that its schema has. It can be planned, executed, batched, and run in a
 * session, as often as is wanted.
 *
 * <p>Its methods change it and return it. Once it is complete any number of threads may use it.
 */
public class Call {
  private static final String PROGRAM = "Program";

  private final String op;
  /** Null where the call is of an operator. */
  private final dev.opserve.v1.Program program;
  private final Map<String, Input> inputs = new LinkedHashMap<>();
  private final Map<String, Attribute> attributes = new LinkedHashMap<>();
  private final Map<String, Input> outputs = new LinkedHashMap<>();
  private final Map<String, DataType> outputTypes = new LinkedHashMap<>();
  private String device = "";
  private boolean reported;

  /**
   * A call without inputs; {@link #of} is the same for programs.
   *
   * @param op the operator's name
   */
  protected Call(String op) {
    this(Objects.requireNonNull(op, "op"), null);
  }

  private Call(String op, dev.opserve.v1.Program program) {
    this.op = op;
    this.program = program;
  }

  /**
   * A call of an operator.
   *
   * @param op its name: {@code "SmoothL1LossBackward"}
   * @return a call without inputs
   */
  public static Call of(String op) {
    return new Call(op);
  }

  /**
   * A call of a program, as it is now.
   *
   * @param program the program
   * @return a call without inputs
   */
  public static Call of(Program program) {
    return new Call(PROGRAM, program.toProto());
  }

  /**
   * Sets an input.
   *
   * @param name its name in the operator's schema
   * @param value the tensor
   * @return this call
   */
  public Call input(String name, Input value) {
    inputs.put(Objects.requireNonNull(name, "name"), Objects.requireNonNull(value, name));
    return this;
  }

  /**
   * Sets an input to a FLOAT32 scalar.
   *
   * @param name its name in the operator's schema
   * @param value the element
   * @return this call
   */
  public Call input(String name, float value) {
    return input(name, Tensor.scalar(value));
  }

  /**
   * Sets an attribute.
   *
   * @param name its name in the operator's schema
   * @param value the value
   * @return this call
   */
  public Call attribute(String name, long value) {
    return put(name, Attribute.newBuilder().setIntValue(value));
  }

  /**
   * Sets an attribute.
   *
   * @param name its name in the operator's schema
   * @param value the value
   * @return this call
   */
  public Call attribute(String name, double value) {
    return put(name, Attribute.newBuilder().setFloatValue(value));
  }

  /**
   * Sets an attribute.
   *
   * @param name its name in the operator's schema
   * @param value the value
   * @return this call
   */
  public Call attribute(String name, boolean value) {
    return put(name, Attribute.newBuilder().setBoolValue(value));
  }

  /**
   * Sets an attribute whose values have names.
   *
   * @param name its name in the operator's schema
   * @param choice the value's name: {@code "mean"}
   * @return this call
   */
  public Call attribute(String name, String choice) {
    return put(name, Attribute.newBuilder().setStringValue(choice));
  }

  /**
   * Sets an attribute that is a list.
   *
   * @param name its name in the operator's schema
   * @param values the list
   * @return this call
   */
  public Call attribute(String name, long[] values) {
    Int64List.Builder list = Int64List.newBuilder();
    for (long value : values) {
      list.addValues(value);
    }
    return put(name, Attribute.newBuilder().setIntList(list));
  }

  /**
   * Sets an attribute that is a list.
   *
   * @param name its name in the operator's schema
   * @param values the list
   * @return this call
   */
  public Call attribute(String name, int[] values) {
    return attribute(name, Arrays.stream(values).asLongStream().toArray());
  }

  /**
   * Sets an attribute that is a list.
   *
   * @param name its name in the operator's schema
   * @param values the list
   * @return this call
   */
  public Call attribute(String name, double[] values) {
    DoubleList.Builder list = DoubleList.newBuilder();
    for (double value : values) {
      list.addValues(value);
    }
    return put(name, Attribute.newBuilder().setFloatList(list));
  }

  /**
   * Sets an attribute that is a list.
   *
   * @param name its name in the operator's schema
   * @param values the list
   * @return this call
   */
  public Call attribute(String name, boolean[] values) {
    BoolList.Builder list = BoolList.newBuilder();
    for (boolean value : values) {
      list.addValues(value);
    }
    return put(name, Attribute.newBuilder().setBoolList(list));
  }

  private Call put(String name, Attribute.Builder attribute) {
    attributes.put(name, attribute.setName(name).build());
    return this;
  }

  /**
   * Asks for an output in a type of its own.
   *
   * @param name the output's name in the operator's schema
   * @param dtype the type; without this the operator infers one
   * @return this call
   */
  public Call output(String name, DataType dtype) {
    outputs.remove(name);
    outputTypes.put(name, Objects.requireNonNull(dtype, name));
    return this;
  }

  /**
   * Has an output written into a tensor's own memory, in its type. The elements are undefined when the call fails.
   *
   * @param name the output's name in the operator's schema
   * @param into the tensor, of the shape that the operator infers; over memory that may be written
   * @return this call
   */
  public Call output(String name, Tensor into) {
    if (into.elements().isReadOnly()) {
      throw new IllegalArgumentException(name + ": want a tensor over memory that may be written, got one over a read-only buffer");
    }
    outputTypes.remove(name);
    outputs.put(name, into);
    return this;
  }

  /**
   * Has an output written into a tensor on the server; for {@link Session#plan} and {@link Session#execute}.
   *
   * @param name the output's name in the operator's schema
   * @param into the tensor, of the shape that the operator infers
   * @return this call
   */
  public Call output(String name, DeviceTensor into) {
    outputTypes.remove(name);
    outputs.put(name, Objects.requireNonNull(into, name));
    return this;
  }

  /**
   * Chooses the device.
   *
   * @param name as {@link Client#devices} has it: {@code "cpu:0"}; without this the server's first
   * @return this call
   */
  public Call device(String name) {
    device = Objects.requireNonNull(name, "device");
    return this;
  }

  /**
   * Asks for {@link Result#execution}: which device ran the call, and how long.
   *
   * @return this call
   */
  public Call reported() {
    reported = true;
    return this;
  }

  /** The same inputs and attributes; outputs as the operator infers them. */
  final Call withoutOutputs() {
    Call other = new Call(op, program);
    other.inputs.putAll(inputs);
    other.attributes.putAll(attributes);
    return other;
  }

  final String op() {
    return op;
  }

  /** Whether it is what a step of a program can be: an operator with inputs and attributes, and nothing else. */
  final boolean isStep() {
    return program == null && outputs.isEmpty() && outputTypes.isEmpty() && device.isEmpty() && !reported;
  }

  final Collection<Attribute> attributes() {
    return attributes.values();
  }

  final String device() {
    return device;
  }

  final Map<String, Input> inputs() {
    return inputs;
  }

  final Map<String, Input> outputs() {
    return outputs;
  }

  final Map<String, DataType> outputTypes() {
    return outputTypes;
  }

  /** The message without tensors. */
  final dev.opserve.v1.Call.Builder toProto() {
    var message = dev.opserve.v1.Call.newBuilder().addAllAttributes(attributes.values()).setDevice(device).setReportExecution(reported);
    return program == null ? message.setOp(op) : message.setProgram(program);
  }

  @Override
  public String toString() {
    return op + inputs;
  }
}
