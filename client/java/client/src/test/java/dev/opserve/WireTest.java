package dev.opserve;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.opserve.Parts.Places;
import dev.opserve.v1.ExecuteRequest;
import dev.opserve.v1.ExecuteResponse;
import io.grpc.Drainable;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Our own writing and reading of messages, beside protobuf's. */
class WireTest {
  private static final long SEED = 20240229;

  private static byte[] drained(Message message) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ((Drainable) message.stream()).drainTo(out);
    return out.toByteArray();
  }

  private static Parts taken(byte[] message) throws IOException {
    return PartsReader.read(new ByteArrayInputStream(message), Places.OWN);
  }

  private static Call call() {
    FloatBuffer bigEndian = ByteBuffer.allocateDirect(4 * 40_000).order(ByteOrder.BIG_ENDIAN).asFloatBuffer();
    for (int i = 0; i < 40_000; i++) {
      bigEndian.put(i, i);
    }
    return Call.of("SmoothL1Loss").input("self", Tensor.of(DataType.FLOAT32, bigEndian, 200, 200))
        .input("target", Tensor.of(new float[6], 2, 3).transposed()).input("grad", Tensor.of(new float[0], 0, 3))
        .attribute("beta", -1.5).attribute("reduction", "sum").attribute("sizes", new long[] {1, 1L << 40})
        .attribute("mask", new boolean[] {true, false}).attribute("none", new long[0]).output("loss", DataType.FLOAT16)
        .device("cpu:0").reported();
  }

  @Test
  void aTimeoutHasAtMostEightDigits() {
    assertEquals("1n", Wire.timeout(-5));
    assertEquals("99999999n", Wire.timeout(99_999_999));
    assertEquals("100000u", Wire.timeout(100_000_999));
    assertEquals("5000000u", Wire.timeout(5_000_000_000L));
    assertEquals("99999999m", Wire.timeout(99_999_999_999_999L));
    assertEquals("100000S", Wire.timeout(100_000_000_000_000L));
    assertEquals("2562047H", Wire.timeout(Long.MAX_VALUE));
  }

  @Test
  void aRequestHasProtobufsBytes() throws IOException {
    Message message = Requests.execute(call()).message();
    byte[] bytes = drained(message);
    ExecuteRequest request = ExecuteRequest.parseFrom(bytes);
    assertArrayEquals(request.toByteArray(), bytes);
    assertArrayEquals(bytes, message.stream().readAllBytes());
    assertEquals(bytes.length, message.byteSize());
    assertEquals(3, request.getRawCount());
    FloatBuffer first = request.getRaw(0).asReadOnlyByteBuffer().order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer();
    for (int i = 0; i < 40_000; i++) {
      assertEquals(i, first.get(i));
    }
    assertEquals(3, taken(bytes).raw().size());
  }

  @Test
  void aTensorThatComesTwiceIsSentOnce() throws IOException {
    Tensor x = Tensor.of(new float[] {1, 2});
    Message message = Requests.execute(Call.of("L1Loss").input("self", x).input("target", x.reshape(2, 1))).message();
    assertEquals(1, ExecuteRequest.parseFrom(drained(message)).getRawCount());
  }

  @Test
  void fieldsComeInAnyOrder() throws IOException {
    ExecuteResponse rest = ExecuteResponse.newBuilder().addOutputs(dev.opserve.v1.Tensor.newBuilder().setName("a").setRawIndex(1)).build();
    ExecuteResponse raw =
        ExecuteResponse.newBuilder().addRaw(ByteString.copyFromUtf8("xy")).addRaw(ByteString.copyFrom(new byte[300])).build();
    ByteString[] messages = {rest.toByteString().concat(raw.toByteString()), raw.toByteString().concat(rest.toByteString())};
    for (ByteString message : messages) {
      Parts parts = taken(message.toByteArray());
      assertEquals(rest, parts.read(ExecuteResponse.parser()));
      assertEquals(2, parts.raw().get(0).remaining());
      assertEquals(300, parts.raw().get(1).remaining());
    }
  }

  @Test
  void bytesThatAreNoMessageAreAnErrorAndNothingElse() throws IOException {
    byte[] message = ExecuteResponse.newBuilder().addOutputs(dev.opserve.v1.Tensor.newBuilder().setName("output").addShape(300))
        .addRaw(ByteString.copyFrom(new byte[200])).build().toByteArray();
    Random random = new Random(SEED);
    int refused = 0;
    for (int round = 0; round < 20_000; round++) {
      byte[] mutated = java.util.Arrays.copyOf(message, random.nextInt(message.length));
      for (int i = random.nextInt(4); i > 0 && mutated.length > 0; i--) {
        mutated[random.nextInt(mutated.length)] = (byte) random.nextInt(256);
      }
      try {
        Parts parts = taken(mutated);
        assertTrue(parts.header().length + parts.raw().stream().mapToInt(ByteBuffer::remaining).sum() <= mutated.length);
      } catch (InternalException expected) {
        refused++;
      }
    }
    assertTrue(refused > 1000, "seed " + SEED);
  }

  @Test
  void anAnswerHasNoMoreEntriesAndSmallFieldsThanThereMayBe() throws IOException {
    byte[] entries = new byte[2 * ((1 << 17) + 1)];
    for (int i = 0; i < entries.length; i += 2) {
      entries[i] = 0x7A;
    }
    assertTrue(assertThrows(InternalException.class, () -> taken(entries)).getMessage().contains("131072 entries"));
    assertEquals(1 << 17, taken(java.util.Arrays.copyOf(entries, entries.length - 2)).raw().size());
    byte[] header = new byte[(64 << 20) + 16];
    System.arraycopy(new byte[] {0x0A, (byte) 0x8A, (byte) 0x80, (byte) 0x80, 0x20}, 0, header, 0, 5); // a field of 64 MiB + 10
    assertTrue(assertThrows(InternalException.class, () -> taken(header)).getMessage().contains("besides raw"));
  }

  private static void refused(dev.opserve.v1.Tensor.Builder output, String... raw) throws IOException {
    ExecuteResponse.Builder response = ExecuteResponse.newBuilder().addOutputs(output.setName("out"));
    for (String entry : raw) {
      response.addRaw(ByteString.copyFromUtf8(entry));
    }
    Request<Result> request = Requests.execute(Call.of("Relu").input("self", 1f));
    Parts parts = taken(response.build().toByteArray());
    InternalException error = assertThrows(InternalException.class, () -> request.reader().apply(parts));
    assertTrue(error.getMessage().contains("makes no sense"), error.getMessage());
  }

  @Test
  void aServerThatLies() throws IOException {
    refused(dev.opserve.v1.Tensor.newBuilder().setDtypeValue(1).addShape(2).setRawIndex(0), "1234");
    refused(dev.opserve.v1.Tensor.newBuilder().setDtypeValue(1).addShape(2).setRawIndex(7), "12345678");
    refused(dev.opserve.v1.Tensor.newBuilder().setDtypeValue(1).addShape(2).setRawIndex(-1), "12345678");
    refused(dev.opserve.v1.Tensor.newBuilder().setDtypeValue(1).addShape(-2).addShape(-1).setRawIndex(0), "12345678");
    refused(dev.opserve.v1.Tensor.newBuilder().setDtypeValue(99).addShape(2).setRawIndex(0), "12345678");
    refused(dev.opserve.v1.Tensor.newBuilder().setDtypeValue(1).addShape(1L << 40).addShape(1L << 40));
    refused(dev.opserve.v1.Tensor.newBuilder().setDtypeValue(1).addShape(2));
  }

  @Test
  void halvesAreRoundedToNearestEven() {
    float[] values = {0, -0f, 1, -2, 65504, 65519.99f, 65520, 1e9f, 0x1p-14f, 0x1p-24f, 0x1p-25f, 0x1.8p-25f, 1 + 0x1p-11f,
        1 + 0x1.8p-10f};
    float[] wanted = {0, -0f, 1, -2, 65504, 65504, Float.POSITIVE_INFINITY, Float.POSITIVE_INFINITY, 0x1p-14f, 0x1p-24f, 0, 0x1p-24f, 1,
        1 + 0x1p-9f};
    assertArrayEquals(wanted, Tensor.of(DataType.FLOAT16, values).toFloats());
    for (int bits = 0; bits < 1 << 16; bits++) {
      float half = Halves.fromFloat16((short) bits);
      float brain = Halves.fromBfloat16((short) bits);
      assertTrue(Float.isNaN(half) ? Float.isNaN(Halves.fromFloat16(Halves.toFloat16(half))) : (short) bits == Halves.toFloat16(half));
      assertTrue(Float.isNaN(brain) ? Float.isNaN(Halves.fromBfloat16(Halves.toBfloat16(brain))) : (short) bits == Halves.toBfloat16(brain));
    }
    assertArrayEquals(new float[] {1, 1, 1 + 0x1p-6f, Float.POSITIVE_INFINITY},
        Tensor.of(DataType.BFLOAT16, new float[] {1, 1 + 0x1p-8f, 1 + 0x1.8p-7f, Float.MAX_VALUE}).toFloats());
  }
}
