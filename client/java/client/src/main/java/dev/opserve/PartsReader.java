package dev.opserve;

import dev.opserve.Parts.Places;
import io.grpc.HasByteBuffer;
import io.grpc.KnownLength;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * Takes a message apart while it is read: each entry of {@code raw} goes from the transport's buffers to where it belongs, and is copied
 * only there. Sizes are held against what there is of the message before memory is taken.
 */
final class PartsReader {
  private static final int VARINT = 0;
  private static final int FIXED64 = 1;
  private static final int DELIMITED = 2;
  private static final int FIXED32 = 5;
  /** More than any answer has: 4096 calls of a batch with 32 outputs each, and what describes them. */
  private static final int MAX_ENTRIES = 1 << 17;
  private static final int MAX_HEADER_BYTES = 64 << 20;

  private final InputStream in;
  private final Places places;
  private final ByteArrayOutputStream header = new ByteArrayOutputStream();
  private final List<ByteBuffer> raw = new ArrayList<>();
  private byte[] taken = {};
  private long left;

  private PartsReader(InputStream in, Places places) throws IOException {
    this.in = in;
    this.places = places;
    this.left = in instanceof KnownLength ? in.available() : Long.MAX_VALUE;
  }

  /** InternalException for bytes that are no message. */
  static Parts read(InputStream in, Places places) throws IOException {
    InputStream known = in instanceof KnownLength ? in : new Whole(in.readAllBytes());
    return new PartsReader(known, places).parts();
  }

  private static final class Whole extends java.io.ByteArrayInputStream implements KnownLength {
    Whole(byte[] bytes) {
      super(bytes);
    }
  }

  private Parts parts() throws IOException {
    while (left > 0) {
      long key = varint();
      int kind = (int) key & 7;
      if (key == Message.RAW_TAG) {
        takeEntry(length());
        continue;
      }
      writeVarint(key);
      switch (kind) {
        case VARINT -> writeVarint(varint());
        case FIXED64 -> copy(8);
        case FIXED32 -> copy(4);
        case DELIMITED -> {
          int length = length();
          writeVarint(length);
          copy(length);
        }
        default -> throw Errors.badAnswer("a field of kind " + kind);
      }
    }
    return new Parts(header.toByteArray(), raw);
  }

  private void takeEntry(int size) throws IOException {
    if (raw.size() == MAX_ENTRIES) {
      throw Errors.badAnswer("more than " + MAX_ENTRIES + " entries of raw");
    }
    if (header.size() != taken.length) {
      taken = header.toByteArray();
    }
    ByteBuffer place = places.placeOf(taken, raw.size(), size);
    ByteBuffer entry = place == null ? ByteBuffer.allocate(size) : place;
    if (entry.hasArray()) {
      if (in.readNBytes(entry.array(), entry.arrayOffset() + entry.position(), size) != size) {
        throw shortened();
      }
    } else {
      fill(entry.duplicate());
    }
    left -= size;
    raw.add(entry.order(ByteOrder.LITTLE_ENDIAN));
  }

  /** Fills memory outside of the heap, from the transport's own where that is told. */
  private void fill(ByteBuffer target) throws IOException {
    byte[] piece = null;
    while (target.hasRemaining()) {
      ByteBuffer source = in instanceof HasByteBuffer buffers && buffers.byteBufferSupported() ? buffers.getByteBuffer() : null;
      if (source != null && source.hasRemaining()) {
        int count = Math.min(source.remaining(), target.remaining());
        target.put(source.slice(source.position(), count));
        in.skipNBytes(count);
        continue;
      }
      piece = piece == null ? new byte[1 << 13] : piece;
      int count = in.read(piece, 0, Math.min(piece.length, target.remaining()));
      if (count < 0) {
        throw shortened();
      }
      target.put(piece, 0, count);
    }
  }

  private void copy(int count) throws IOException {
    if (count > left) {
      throw shortened();
    }
    if (count > MAX_HEADER_BYTES - header.size()) {
      throw Errors.badAnswer("more than " + MAX_HEADER_BYTES + " bytes besides raw");
    }
    byte[] bytes = in.readNBytes(count);
    if (bytes.length != count) {
      throw shortened();
    }
    header.writeBytes(bytes);
    left -= count;
  }

  private int length() throws IOException {
    long length = varint();
    if (length < 0 || length > left) {
      throw Errors.badAnswer("a field is longer than the message");
    }
    return (int) length;
  }

  private long varint() throws IOException {
    long number = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      int next = left > 0 ? in.read() : -1;
      if (next < 0) {
        throw shortened();
      }
      left--;
      number |= (long) (next & 0x7F) << shift;
      if (next < 0x80) {
        return number;
      }
    }
    throw Errors.badAnswer("a number without an end");
  }

  private void writeVarint(long number) {
    long rest = number;
    for (; (rest & ~0x7FL) != 0; rest >>>= 7) {
      header.write((int) (rest & 0x7F | 0x80));
    }
    header.write((int) rest);
  }

  private static OpserveException shortened() {
    return Errors.badAnswer("the message ends within a field");
  }
}
