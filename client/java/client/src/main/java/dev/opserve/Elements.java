package dev.opserve;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.ShortBuffer;

/**
 * The elements of a dense tensor, wherever they are: an array, memory outside of the heap, a mapped file. Reads and writes them as the
 * little-endian bytes of the wire. The buffer's position and limit are not looked at again after construction.
 */
final class Elements {
  private static final int PIECE_BYTES = 1 << 16;

  private final Buffer buffer;
  private final int unit;
  private final long byteSize;

  /** Bytes are little-endian whatever the order of a ByteBuffer says; all others are in the order that they have. */
  Elements(Buffer buffer) {
    this.buffer = buffer instanceof ByteBuffer bytes ? bytes.slice().order(ByteOrder.LITTLE_ENDIAN) : buffer.slice();
    this.unit = unitOf(buffer);
    this.byteSize = (long) this.buffer.capacity() * unit;
  }

  static Elements allocate(DataType dtype, long elements) {
    long bytes = Math.multiplyExact(elements, (long) dtype.byteSize());
    if (bytes <= Integer.MAX_VALUE - 8) {
      return new Elements(ByteBuffer.allocate((int) bytes));
    }
    if (elements > Integer.MAX_VALUE - 8 || dtype.byteSize() == 1) {
      throw new IllegalArgumentException("a tensor of " + elements + " elements is larger than an array of Java may be");
    }
    int count = (int) elements;
    return new Elements(switch (dtype.byteSize()) {
      case 2 -> ShortBuffer.allocate(count);
      case 4 -> IntBuffer.allocate(count);
      default -> LongBuffer.allocate(count);
    });
  }

  private static int unitOf(Buffer buffer) {
    if (buffer instanceof ByteBuffer) {
      return 1;
    }
    if (buffer instanceof ShortBuffer) {
      return 2;
    }
    if (buffer instanceof FloatBuffer || buffer instanceof IntBuffer) {
      return 4;
    }
    if (buffer instanceof DoubleBuffer || buffer instanceof LongBuffer) {
      return 8;
    }
    throw new IllegalArgumentException("want a buffer of bytes, shorts, ints, longs, floats or doubles, got " + buffer);
  }

  long byteSize() {
    return byteSize;
  }

  /** The bytes of an element of the buffer. */
  int unit() {
    return unit;
  }

  boolean isReadOnly() {
    return buffer.isReadOnly();
  }

  /** A part; both numbers are multiples of eight, or end where the elements end. */
  Elements part(long offsetBytes, long sizeBytes) {
    int from = Math.toIntExact(offsetBytes / unit);
    int count = Math.toIntExact(sizeBytes / unit);
    return new Elements(buffer.slice(from, count));
  }

  /** The bytes, read-only: these elements themselves where they are bytes already, else a copy. */
  ByteBuffer bytes() {
    if (buffer instanceof ByteBuffer bytes) {
      return bytes.asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
    }
    ByteBuffer copy = ByteBuffer.allocate(Math.toIntExact(byteSize)).order(ByteOrder.LITTLE_ENDIAN);
    read(0, copy);
    return copy.flip().asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
  }

  /** The memory that bytes of the wire may be written to as they are; null where they must be converted. */
  ByteBuffer writableBytes() {
    return buffer instanceof ByteBuffer bytes && !bytes.isReadOnly() ? bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN) : null;
  }

  /** Sends them: from an array at once, else by way of a small one, as streams take arrays only. */
  void writeTo(OutputStream out) throws IOException {
    if (buffer instanceof ByteBuffer bytes && bytes.hasArray()) {
      out.write(bytes.array(), bytes.arrayOffset(), bytes.capacity());
      return;
    }
    ByteBuffer piece = ByteBuffer.allocate((int) Math.min(PIECE_BYTES, byteSize)).order(ByteOrder.LITTLE_ENDIAN);
    for (long done = 0; done < byteSize; done += piece.position()) {
      piece.clear().limit((int) Math.min(piece.capacity(), byteSize - done));
      read((int) (done / unit), piece);
      out.write(piece.array(), 0, piece.position());
    }
  }

  /** Fills what remains of {@code target}, a whole number of elements, and moves its position to its limit. */
  private void read(int from, ByteBuffer target) {
    int count = target.remaining() / unit;
    if (buffer instanceof ByteBuffer bytes) {
      target.put(target.position(), bytes, from, count);
    } else if (buffer instanceof ShortBuffer shorts) {
      target.asShortBuffer().put(0, shorts, from, count);
    } else if (buffer instanceof IntBuffer ints) {
      target.asIntBuffer().put(0, ints, from, count);
    } else if (buffer instanceof FloatBuffer floats) {
      target.asFloatBuffer().put(0, floats, from, count);
    } else if (buffer instanceof LongBuffer longs) {
      target.asLongBuffer().put(0, longs, from, count);
    } else {
      target.asDoubleBuffer().put(0, (DoubleBuffer) buffer, from, count);
    }
    target.position(target.limit());
  }

  /** Takes bytes of the wire, from a place on that is a whole number of elements. */
  void write(long offsetBytes, ByteBuffer source) {
    int to = Math.toIntExact(offsetBytes / unit);
    int count = source.remaining() / unit;
    ByteBuffer from = source.slice().order(ByteOrder.LITTLE_ENDIAN);
    if (buffer instanceof ByteBuffer bytes) {
      bytes.put(to, from, 0, count);
    } else if (buffer instanceof ShortBuffer shorts) {
      shorts.put(to, from.asShortBuffer(), 0, count);
    } else if (buffer instanceof IntBuffer ints) {
      ints.put(to, from.asIntBuffer(), 0, count);
    } else if (buffer instanceof FloatBuffer floats) {
      floats.put(to, from.asFloatBuffer(), 0, count);
    } else if (buffer instanceof LongBuffer longs) {
      longs.put(to, from.asLongBuffer(), 0, count);
    } else {
      ((DoubleBuffer) buffer).put(to, from.asDoubleBuffer(), 0, count);
    }
  }
}
