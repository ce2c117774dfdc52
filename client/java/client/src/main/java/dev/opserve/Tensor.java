package dev.opserve;

import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.ShortBuffer;
import java.util.Arrays;
import java.util.function.IntToLongFunction;

/**
 * A dense, row-major tensor in this program's memory.
 *
 * <p>A tensor looks at the array or the buffer that it was made of and copies nothing. Leave the elements alone while a call that takes
 * them is under way: until {@link Client#execute} returns, the future of {@link Client#executeAsync} is complete, or a wait of the
 * session has come back. Apart from that tensors are immutable, and any number of threads may use one.
 *
 * <p>Where no shape is given, it is that of a vector.
 */
public final class Tensor implements Input {
  private final DataType dtype;
  private final long[] shape;
  private final Elements elements;

  private Tensor(DataType dtype, Elements elements, long[] shape) {
    this.dtype = dtype;
    this.elements = elements;
    this.shape = shape;
  }

  private static Tensor made(DataType dtype, Buffer data, long[] shape) {
    Elements elements = new Elements(data);
    if (elements.byteSize() % dtype.byteSize() != 0) {
      throw new IllegalArgumentException(
          "data: want a whole number of elements of " + dtype.byteSize() + " bytes, got " + elements.byteSize() + " bytes");
    }
    long count = elements.byteSize() / dtype.byteSize();
    long[] extents = shape.length == 0 ? new long[] {count} : shape.clone();
    Shapes.check(count, extents);
    return new Tensor(dtype, elements, extents);
  }

  /** An output of the server's: its elements, whose number was checked. */
  static Tensor answered(DataType dtype, Elements elements, long[] shape) {
    return new Tensor(dtype, elements, shape);
  }

  /**
   * A FLOAT32 tensor of an array's elements.
   *
   * @param data the elements
   * @param shape the extents, outermost first
   * @return the tensor
   */
  public static Tensor of(float[] data, long... shape) {
    return made(DataType.FLOAT32, FloatBuffer.wrap(data), shape);
  }

  /**
   * A FLOAT64 tensor of an array's elements.
   *
   * @param data the elements
   * @param shape the extents, outermost first
   * @return the tensor
   */
  public static Tensor of(double[] data, long... shape) {
    return made(DataType.FLOAT64, DoubleBuffer.wrap(data), shape);
  }

  /**
   * An INT8 tensor of an array's elements.
   *
   * @param data the elements
   * @param shape the extents, outermost first
   * @return the tensor
   */
  public static Tensor of(byte[] data, long... shape) {
    return made(DataType.INT8, ByteBuffer.wrap(data), shape);
  }

  /**
   * An INT16 tensor of an array's elements.
   *
   * @param data the elements
   * @param shape the extents, outermost first
   * @return the tensor
   */
  public static Tensor of(short[] data, long... shape) {
    return made(DataType.INT16, ShortBuffer.wrap(data), shape);
  }

  /**
   * An INT32 tensor of an array's elements.
   *
   * @param data the elements
   * @param shape the extents, outermost first
   * @return the tensor
   */
  public static Tensor of(int[] data, long... shape) {
    return made(DataType.INT32, IntBuffer.wrap(data), shape);
  }

  /**
   * An INT64 tensor of an array's elements: labels, lengths, indices.
   *
   * @param data the elements
   * @param shape the extents, outermost first
   * @return the tensor
   */
  public static Tensor of(long[] data, long... shape) {
    return made(DataType.INT64, LongBuffer.wrap(data), shape);
  }

  /**
   * A BOOL tensor. The array is copied, as a boolean of Java has no bytes.
   *
   * @param data the elements
   * @param shape the extents, outermost first
   * @return the tensor
   */
  public static Tensor of(boolean[] data, long... shape) {
    byte[] bytes = new byte[data.length];
    for (int i = 0; i < data.length; i++) {
      bytes[i] = (byte) (data[i] ? 1 : 0);
    }
    return made(DataType.BOOL, ByteBuffer.wrap(bytes), shape);
  }

  /**
   * A tensor of what a buffer has between its position and its limit. A {@link ByteBuffer} has the elements' little-endian bytes,
   * whatever its own order; a buffer of floats, doubles, shorts, ints or longs has elements of that size, in any order. Direct buffers are
   * sent, and written, where they are.
   *
   * @param dtype the type of the elements; a FLOAT16 or BFLOAT16 is two bytes or a short, a UINT32 four bytes or an int, and so on
   * @param data the elements
   * @param shape the extents, outermost first
   * @return the tensor
   */
  public static Tensor of(DataType dtype, Buffer data, long... shape) {
    int unit = new Elements(data).unit();
    if (unit != 1 && unit != dtype.byteSize()) {
      throw new IllegalArgumentException("data: want elements of " + dtype.byteSize() + " bytes, got a buffer of such of " + unit);
    }
    return made(dtype, data, shape);
  }

  /**
   * A tensor of floats in another floating type: rounded to nearest even to FLOAT16 and BFLOAT16.
   *
   * @param dtype a floating type
   * @param data the elements
   * @param shape the extents, outermost first
   * @return the tensor
   */
  public static Tensor of(DataType dtype, float[] data, long... shape) {
    return switch (dtype) {
      case FLOAT32 -> of(data, shape);
      case FLOAT64 -> {
        double[] wide = new double[data.length];
        Arrays.setAll(wide, i -> data[i]);
        yield of(wide, shape);
      }
      case FLOAT16, BFLOAT16 -> {
        short[] bits = new short[data.length];
        for (int i = 0; i < data.length; i++) {
          bits[i] = dtype == DataType.FLOAT16 ? Halves.toFloat16(data[i]) : Halves.toBfloat16(data[i]);
        }
        yield made(dtype, ShortBuffer.wrap(bits), shape);
      }
      default -> throw new IllegalArgumentException("dtype: want a floating type, got " + dtype);
    };
  }

  /**
   * A FLOAT32 tensor without dimensions.
   *
   * @param value its element
   * @return the tensor
   */
  public static Tensor scalar(float value) {
    return of(new float[] {value}).reshape();
  }

  /**
   * The same elements in another shape.
   *
   * @param shape the extents, outermost first; none for a scalar
   * @return the tensor
   */
  public Tensor reshape(long... shape) {
    Shapes.check(elementCount(), shape);
    return new Tensor(dtype, elements, shape.clone());
  }

  /**
   * A strided look into the elements, as an input.
   *
   * @param shape the extents, outermost first
   * @param strides for each extent the distance in elements between neighbours; 0 repeats one
   * @param offset the element that the view begins with
   * @return the view
   */
  public TensorView view(long[] shape, long[] strides, long offset) {
    return new TensorView(this, shape, strides, offset);
  }

  /**
   * A matrix with its two dimensions changed for each other, as an input.
   *
   * @return the view
   */
  public TensorView transposed() {
    if (shape.length != 2) {
      throw new IllegalStateException("want a tensor of two dimensions, got " + this);
    }
    return view(new long[] {shape[1], shape[0]}, new long[] {1, shape[1]}, 0);
  }

  @Override
  public DataType dtype() {
    return dtype;
  }

  @Override
  public long[] shape() {
    return shape.clone();
  }

  /**
   * The number of elements.
   *
   * @return the product of the extents
   */
  public long elementCount() {
    return elements.byteSize() / dtype.byteSize();
  }

  /**
   * The size of the elements.
   *
   * @return bytes
   */
  public long byteSize() {
    return elements.byteSize();
  }

  /**
   * The elements' little-endian bytes: of an output, and of a tensor that was made of bytes, the memory itself, else a copy.
   *
   * @return a read-only buffer
   */
  public ByteBuffer bytes() {
    return elements.bytes();
  }

  /**
   * The elements as floats; FLOAT16 and BFLOAT16 are widened.
   *
   * @return a new array
   */
  public float[] toFloats() {
    float[] floats = new float[arrayLength()];
    ByteBuffer bytes = bytes();
    switch (dtype) {
      case FLOAT32 -> bytes.asFloatBuffer().get(floats);
      case FLOAT16, BFLOAT16 -> {
        ShortBuffer bits = bytes.asShortBuffer();
        for (int i = 0; i < floats.length; i++) {
          floats[i] = dtype == DataType.FLOAT16 ? Halves.fromFloat16(bits.get(i)) : Halves.fromBfloat16(bits.get(i));
        }
      }
      default -> throw new IllegalStateException("dtype: want float32, float16 or bfloat16, got " + dtype);
    }
    return floats;
  }

  /**
   * The elements as doubles, whatever floating type they have.
   *
   * @return a new array
   */
  public double[] toDoubles() {
    double[] doubles = new double[arrayLength()];
    if (dtype == DataType.FLOAT64) {
      bytes().asDoubleBuffer().get(doubles);
    } else {
      float[] floats = toFloats();
      Arrays.setAll(doubles, i -> floats[i]);
    }
    return doubles;
  }

  /**
   * The elements as longs, of any integer type; those of UINT64 above 2<sup>63</sup> are negative.
   *
   * @return a new array
   */
  public long[] toLongs() {
    ByteBuffer bytes = bytes();
    IntToLongFunction element = switch (dtype) {
      case INT8 -> bytes::get;
      case UINT8, BOOL -> i -> bytes.get(i) & 0xFF;
      case INT16 -> i -> bytes.getShort(2 * i);
      case UINT16 -> i -> bytes.getShort(2 * i) & 0xFFFF;
      case INT32 -> i -> bytes.getInt(4 * i);
      case UINT32 -> i -> bytes.getInt(4 * i) & 0xFFFF_FFFFL;
      case INT64, UINT64 -> i -> bytes.getLong(8 * i);
      default -> throw new IllegalStateException("dtype: want an integer type, got " + dtype);
    };
    long[] longs = new long[arrayLength()];
    Arrays.setAll(longs, element);
    return longs;
  }

  /**
   * The elements as booleans.
   *
   * @return a new array
   */
  public boolean[] toBooleans() {
    if (dtype != DataType.BOOL) {
      throw new IllegalStateException("dtype: want bool, got " + dtype);
    }
    ByteBuffer bytes = bytes();
    boolean[] booleans = new boolean[arrayLength()];
    for (int i = 0; i < booleans.length; i++) {
      booleans[i] = bytes.get(i) != 0;
    }
    return booleans;
  }

  /**
   * The one element of a floating tensor: a loss.
   *
   * @return the element
   */
  public double item() {
    if (elementCount() != 1) {
      throw new IllegalStateException("want a tensor of one element, got " + this);
    }
    return toDoubles()[0];
  }

  private int arrayLength() {
    return Math.toIntExact(elementCount());
  }

  Elements elements() {
    return elements;
  }

  /** For one's own use: not to be changed. */
  long[] extents() {
    return shape;
  }

  @Override
  public String toString() {
    return dtype + Arrays.toString(shape);
  }
}
