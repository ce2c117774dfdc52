package dev.opserve;

import dev.opserve.v1.Attribute;
import dev.opserve.v1.GradientRequest;
import dev.opserve.v1.ProgramOutput;
import dev.opserve.v1.Step;
import dev.opserve.v1.TensorValues;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.List;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Programs in the text form of docs/programs.md, to the character as {@code opserve program show} prints it. */
final class ProgramText {
  /** By the protocol's numbers. */
  private static final String[] DTYPES = {
    "?", "f32", "f16", "bf16", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "b8"
  };
  private static final int ENOUGH_DIGITS = 17;
  private static final List<RoundingMode> NEAREST = List.of(RoundingMode.HALF_EVEN);
  private static final List<RoundingMode> EITHER = List.of(RoundingMode.HALF_EVEN, RoundingMode.UP);

  private ProgramText() {}

  static String of(dev.opserve.v1.Program program) {
    StringBuilder text = new StringBuilder();
    for (Step step : program.getStepsList()) {
      line(text, step.getName() + " = " + step.getOp() + "(" + String.join(", ", arguments(step)) + ")");
    }
    if (program.hasGradient()) {
      GradientRequest asked = program.getGradient();
      String seed = asked.getSeed().isEmpty() ? "" : " seed " + asked.getSeed();
      String bound = asked.getMaxWorkspaceBytes() == 0 ? "" : " within " + asked.getMaxWorkspaceBytes();
      line(text, "gradient " + asked.getOf() + ": " + String.join(", ", asked.getWithRespectToList()) + seed + bound);
    }
    line(text, "return " + program.getOutputsList().stream().map(ProgramText::ofOutput).collect(Collectors.joining(", ")));
    return text.toString();
  }

  /** Names that a server tells break no line, and move no terminal's cursor. */
  private static void line(StringBuilder text, String line) {
    line.codePoints().map(point -> Character.isISOControl(point) ? '?' : point).forEach(text::appendCodePoint);
    text.append('\n');
  }

  private static String ofOutput(ProgramOutput output) {
    return output.getName() + "=" + output.getValue();
  }

  private static List<String> arguments(Step step) {
    Stream<String> inputs = step.getInputsList().stream().map(input -> input.getName() + "=" + ofValue(input));
    Stream<String> attributes = step.getAttributesList().stream().map(each -> each.getName() + "=" + ofAttribute(each));
    return Stream.concat(inputs, attributes).toList();
  }

  /** An input of a step: a value as it is, a view of one, or a constant. */
  static String ofValue(dev.opserve.v1.Tensor tensor) {
    boolean view = tensor.getShapeCount() > 0 || tensor.getScalar();
    String text = tensor.hasValues() ? dtypeOf(tensor) : tensor.getValue();
    if (tensor.hasValues() || view) {
      text += "[" + joined(tensor.getShapeList()) + "]";
    }
    if (tensor.hasValues()) {
      text += "{" + elements(tensor).collect(Collectors.joining(",")) + "}";
    }
    long offset = tensor.getStorageOffset();
    if (tensor.getStridesCount() > 0 || offset != 0 && view && !tensor.hasValues()) {
      text += ".strides(" + joined(tensor.getStridesList()) + ")";
    }
    return offset == 0 ? text : text + ".offset(" + offset + ")";
  }

  private static String dtypeOf(dev.opserve.v1.Tensor tensor) {
    int number = tensor.getDtypeValue();
    return number > 0 && number < DTYPES.length ? DTYPES[number] : DTYPES[0];
  }

  private static Stream<String> elements(dev.opserve.v1.Tensor tensor) {
    TensorValues values = tensor.getValues();
    dev.opserve.v1.DataType dtype = tensor.getDtype();
    boolean floating = tensor.getDtypeValue() >= 1 && tensor.getDtypeValue() <= 4;
    return Stream.of(
        values.getFloatsList().stream().map(value -> ofNumber(value, dtype)),
        values.getIntsList().stream().map(value -> floating ? ofNumber(value, dtype)
            : dtype == dev.opserve.v1.DataType.DATA_TYPE_BOOL ? String.valueOf(value != 0) : String.valueOf(value)),
        values.getUintsList().stream().map(value -> floating ? ofNumber(value, dtype) : Long.toUnsignedString(value)),
        values.getBoolsList().stream().map(String::valueOf)).flatMap(texts -> texts);
  }

  private static String ofAttribute(Attribute attribute) {
    return switch (attribute.getValueCase()) {
      case INT_VALUE -> String.valueOf(attribute.getIntValue());
      case FLOAT_VALUE -> ofDouble(attribute.getFloatValue());
      case BOOL_VALUE -> String.valueOf(attribute.getBoolValue());
      case STRING_VALUE -> attribute.getStringValue();
      case INT_LIST -> "[" + joined(attribute.getIntList().getValuesList()) + "]";
      case BOOL_LIST -> "[" + joined(attribute.getBoolList().getValuesList()) + "]";
      case FLOAT_LIST -> "["
          + attribute.getFloatList().getValuesList().stream().map(ProgramText::ofDouble).collect(Collectors.joining(",")) + "]";
      case VALUE_NOT_SET -> "";
    };
  }

  private static String joined(List<?> values) {
    return values.stream().map(String::valueOf).collect(Collectors.joining(","));
  }

  private static String ofDouble(double value) {
    return ofNumber(value, dev.opserve.v1.DataType.DATA_TYPE_FLOAT64);
  }

  /** The shortest text that is read as the same number of the type. */
  static String ofNumber(double number, dev.opserve.v1.DataType dtype) {
    DoubleUnaryOperator rounded = switch (dtype) {
      case DATA_TYPE_FLOAT32 -> value -> (float) value;
      case DATA_TYPE_FLOAT16 -> value -> Halves.fromFloat16(Halves.toFloat16((float) value));
      case DATA_TYPE_BFLOAT16 -> value -> Halves.fromBfloat16(Halves.toBfloat16((float) value));
      default -> value -> value;
    };
    double value = rounded.applyAsDouble(number);
    if (Double.isNaN(value)) {
      return "nan";
    }
    if (Double.isInfinite(value)) {
      return value > 0 ? "inf" : "-inf";
    }
    String sign = Math.copySign(1, value) < 0 ? "-" : "";
    if (value == 0) {
      return sign + "0";
    }
    BigDecimal exact = new BigDecimal(Math.abs(value));
    boolean half = dtype == dev.opserve.v1.DataType.DATA_TYPE_FLOAT16 || dtype == dev.opserve.v1.DataType.DATA_TYPE_BFLOAT16;
    BigDecimal shortest = shortestOf(exact, rounded, half ? NEAREST : EITHER);
    return sign + (half ? general(shortest) : shorter(exact, shortest));
  }

  /**
   * As few digits as are read as the same number. Below a power of two numbers lie closer, so that the nearest digits may miss it, but
   * others of as many do not; where the nearest are sought, as of 16 bits, these do not count.
   */
  private static BigDecimal shortestOf(BigDecimal exact, DoubleUnaryOperator rounded, List<RoundingMode> modes) {
    for (int digits = 1; digits < ENOUGH_DIGITS; digits++) {
      for (RoundingMode mode : modes) {
        BigDecimal decimal = exact.round(new MathContext(digits, mode)).stripTrailingZeros();
        if (rounded.applyAsDouble(decimal.doubleValue()) == exact.doubleValue()) {
          return decimal;
        }
      }
    }
    return exact.round(new MathContext(ENOUGH_DIGITS, RoundingMode.HALF_EVEN)).stripTrailingZeros();
  }

  private static int exponentOf(BigDecimal decimal) {
    return decimal.precision() - decimal.scale() - 1;
  }

  private static String scientific(BigDecimal decimal) {
    String digits = decimal.unscaledValue().toString();
    int exponent = exponentOf(decimal);
    String fraction = digits.length() > 1 ? "." + digits.substring(1) : "";
    return digits.charAt(0) + fraction + "e" + (exponent < 0 ? "-" : "+") + (Math.abs(exponent) < 10 ? "0" : "") + Math.abs(exponent);
  }

  /** The shorter one of both notations; all digits of a large number, where they are no longer. */
  private static String shorter(BigDecimal exact, BigDecimal shortest) {
    String scientific = scientific(shortest);
    String plain = (exact.stripTrailingZeros().scale() <= 0 ? exact : shortest).toPlainString();
    return scientific.length() < plain.length() ? scientific : plain;
  }

  /** As C's %g writes as many digits. */
  private static String general(BigDecimal shortest) {
    int exponent = exponentOf(shortest);
    return exponent < -4 || exponent >= shortest.precision() ? scientific(shortest) : shortest.toPlainString();
  }
}
