package dev.opserve;

import com.google.protobuf.ByteString;
import dev.opserve.v1.AllocateCommand;
import dev.opserve.v1.BufferRange;
import dev.opserve.v1.Command;
import dev.opserve.v1.CopyCommand;
import dev.opserve.v1.DownloadCommand;
import dev.opserve.v1.FillCommand;
import dev.opserve.v1.FreeCommand;
import dev.opserve.v1.UploadCommand;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;

/**
 * A dense tensor on the server's device. What has no stream for an argument runs on the session's default stream. Only downloads wait.
 */
public final class DeviceTensor extends Handle implements Input {
  private final DataType dtype;
  private final long[] shape;
  private final long byteSize;

  DeviceTensor(Session session, long id, DataType dtype, long[] shape) {
    this(session, id, dtype, shape.clone(), Math.multiplyExact(Shapes.elements(shape), (long) dtype.byteSize()));
  }

  private DeviceTensor(Session session, long id, DataType dtype, long[] shape, long byteSize) {
    super(
        session, id,
        Command.newBuilder().setAllocate(
            AllocateCommand.newBuilder().setBuffer(id).setContext(session.context()).setSizeBytes(byteSize)),
        Command.newBuilder().setFree(FreeCommand.newBuilder().setBuffer(id)));
    this.dtype = dtype;
    this.shape = shape;
    this.byteSize = byteSize;
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
   * The size of the elements.
   *
   * @return bytes
   */
  public long byteSize() {
    return byteSize;
  }

  private BufferRange.Builder range(long offset, long size) {
    return BufferRange.newBuilder().setBuffer(id()).setOffsetBytes(offset).setRowBytes(size);
  }

  /**
   * Writes a tensor's elements.
   *
   * @param value of this dtype and shape; its elements must not change until a wait of the session has come back
   */
  public void upload(Tensor value) {
    upload(value, session().defaultStream());
  }

  /**
   * Writes a tensor's elements.
   *
   * @param value of this dtype and shape; its elements must not change until a wait of the stream has come back
   * @param stream in whose turn
   */
  public void upload(Tensor value, Stream stream) {
    checkAlike(value);
    Elements elements = value.elements();
    long chunk = session().chunkBytes();
    for (long start = 0; start < byteSize; start += chunk) {
      long size = Math.min(chunk, byteSize - start);
      var upload = UploadCommand.newBuilder().setDestination(range(start, size)).setStream(stream.id());
      send(stream, Command.newBuilder().setUpload(upload), elements.part(start, size), null);
    }
  }

  private void checkAlike(Tensor value) {
    if (value.dtype() != dtype || !Arrays.equals(value.extents(), shape)) {
      throw new IllegalArgumentException("value: want " + dtype + Arrays.toString(shape) + ", got " + value);
    }
  }

  /**
   * Sets every element.
   *
   * @param value in the tensor's dtype: rounded where that is floating
   */
  public void fill(double value) {
    fill(value, session().defaultStream());
  }

  /**
   * Sets every element.
   *
   * @param value in the tensor's dtype: rounded where that is floating
   * @param stream in whose turn
   */
  public void fill(double value, Stream stream) {
    if (byteSize == 0) {
      return;
    }
    var fill = FillCommand.newBuilder().setDestination(range(0, byteSize)).setPattern(patternOf(value)).setStream(stream.id());
    send(stream, Command.newBuilder().setFill(fill));
  }

  private ByteString patternOf(double value) {
    ByteBuffer pattern = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);
    switch (dtype) {
      case FLOAT32 -> pattern.putFloat(0, (float) value);
      case FLOAT64 -> pattern.putDouble(0, value);
      case FLOAT16 -> pattern.putShort(0, Halves.toFloat16((float) value));
      case BFLOAT16 -> pattern.putShort(0, Halves.toBfloat16((float) value));
      default -> {
        if (value != Math.rint(value)) {
          throw new IllegalArgumentException("value: want a whole number for " + dtype + ", got " + value);
        }
        pattern.putLong(0, dtype == DataType.BOOL && value != 0 ? 1 : (long) value);
      }
    }
    return ByteString.copyFrom(pattern.limit(dtype.byteSize()));
  }

  /**
   * Copies a tensor of as many bytes, on the device.
   *
   * @param other the tensor
   */
  public void copyFrom(DeviceTensor other) {
    copyFrom(other, session().defaultStream());
  }

  /**
   * Copies a tensor of as many bytes, on the device.
   *
   * @param other the tensor
   * @param stream in whose turn
   */
  public void copyFrom(DeviceTensor other, Stream stream) {
    var copy = CopyCommand.newBuilder().setSource(other.range(0, other.byteSize)).setDestination(range(0, byteSize))
        .setStream(stream.id());
    other.send(stream, Command.newBuilder().setCopy(copy));
  }

  /**
   * The elements. Waits for them, and throws the first failure on the stream.
   *
   * @return a tensor of its own memory
   */
  public Tensor download() {
    return download(allocated());
  }

  /**
   * The elements, in memory of the program's: waits as {@link #download()}.
   *
   * @param into a tensor of this dtype and shape, over memory that may be written
   * @return {@code into}
   */
  public Tensor download(Tensor into) {
    return Waiting.get(downloadAsync(into, session().defaultStream()));
  }

  /**
   * The elements, without waiting.
   *
   * @return a tensor of its own memory, to come
   */
  public CompletableFuture<Tensor> downloadAsync() {
    return downloadAsync(allocated(), session().defaultStream());
  }

  /**
   * The elements, in memory of the program's, without waiting.
   *
   * @param into a tensor of this dtype and shape, over memory that may be written
   * @param stream in whose turn
   * @return {@code into}, to come
   */
  public CompletableFuture<Tensor> downloadAsync(Tensor into, Stream stream) {
    checkAlike(into);
    if (into.elements().isReadOnly()) {
      throw new IllegalArgumentException("into: want a tensor over memory that may be written, got one over a read-only buffer");
    }
    Chunks chunks = new Chunks(into.elements());
    var download = DownloadCommand.newBuilder().setSource(range(0, byteSize)).setStream(stream.id());
    return session().whenAnswered(send(stream, Command.newBuilder().setDownload(download), null, chunks), answer -> {
      chunks.checkWhole();
      return into;
    });
  }

  private Tensor allocated() {
    return Tensor.answered(dtype, Elements.allocate(dtype, byteSize / dtype.byteSize()), shape);
  }

  @Override
  public String toString() {
    return dtype + Arrays.toString(shape) + " on the server";
  }
}
