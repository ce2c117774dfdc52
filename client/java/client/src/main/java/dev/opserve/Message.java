package dev.opserve;

import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.MessageLite;
import io.grpc.Drainable;
import io.grpc.KnownLength;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.List;

/**
 * A request: small fields, which protobuf writes, and behind them tensors' bytes, each an entry of {@code repeated bytes raw = 15},
 * which go from where they lie into the transport's buffers.
 */
record Message(MessageLite header, List<Elements> raw) {
  /** {@code raw}, length-delimited. */
  static final int RAW_TAG = 15 << 3 | 2;

  static Message of(MessageLite header) {
    return new Message(header, List.of());
  }

  /** Bytes on the wire. */
  long byteSize() {
    long size = header.getSerializedSize();
    for (Elements entry : raw) {
      size += 1 + CodedOutputStream.computeInt64SizeNoTag(entry.byteSize()) + entry.byteSize();
    }
    return size;
  }

  /** ResourceExhaustedException where no message may be so large. */
  InputStream stream() {
    long size = byteSize();
    if (size > Integer.MAX_VALUE) {
      throw Errors.of(io.grpc.Status.Code.RESOURCE_EXHAUSTED, "a message of " + size + " bytes: gRPC's are below 2 GiB");
    }
    return new Stream(this, (int) size);
  }

  private void writeTo(OutputStream out) throws IOException {
    header.writeTo(out);
    byte[] varint = new byte[10];
    for (Elements entry : raw) {
      out.write(RAW_TAG);
      CodedOutputStream coded = CodedOutputStream.newInstance(varint);
      coded.writeUInt64NoTag(entry.byteSize());
      out.write(varint, 0, coded.getTotalBytesWritten());
      entry.writeTo(out);
    }
  }

  /** What gRPC takes. It drains it; who reads it, such as a compressor, reads a copy. */
  private static final class Stream extends InputStream implements Drainable, KnownLength {
    private final Message message;
    private final int size;
    private InputStream copy;
    private boolean drained;

    Stream(Message message, int size) {
      this.message = message;
      this.size = size;
    }

    @Override
    public int drainTo(OutputStream target) throws IOException {
      message.writeTo(target);
      drained = true;
      return size;
    }

    @Override
    public int available() throws IOException {
      return drained ? 0 : copy == null ? size : copy.available();
    }

    @Override
    public int read() throws IOException {
      return opened().read();
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      return opened().read(target, offset, length);
    }

    private InputStream opened() {
      if (copy == null) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(size);
        try {
          message.writeTo(bytes);
        } catch (IOException impossible) {
          throw new UncheckedIOException(impossible);
        }
        copy = new ByteArrayInputStream(bytes.toByteArray());
      }
      return copy;
    }
  }
}
