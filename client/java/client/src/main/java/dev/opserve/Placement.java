package dev.opserve;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.opserve.Parts.Places;
import dev.opserve.v1.ExecuteResponse;
import java.nio.ByteBuffer;
import java.util.IdentityHashMap;
import java.util.Map;

/**
 * Has the bytes of an answer read into the tensors that the call gave for its outputs, where these are bytes and the server sends the
 * outputs' descriptions first, as ours does. What did not come so is copied afterwards.
 */
final class Placement implements Places {
  private final Call call;
  /** Of those memories that were filled, the outputs' names. */
  private final Map<ByteBuffer, String> filled = new IdentityHashMap<>();

  Placement(Call call) {
    this.call = call;
  }

  @Override
  public ByteBuffer placeOf(byte[] header, int index, int size) {
    if (call.outputs().isEmpty()) {
      return null;
    }
    ExecuteResponse response;
    try {
      response = ExecuteResponse.parseFrom(header);
    } catch (InvalidProtocolBufferException toldLater) {
      return null;
    }
    for (dev.opserve.v1.Tensor output : response.getOutputsList()) {
      boolean here = output.hasRawIndex() && output.getRawIndex() == index;
      if (here && call.outputs().get(output.getName()) instanceof Tensor into && into.byteSize() == size) {
        ByteBuffer place = into.elements().writableBytes();
        if (place != null) {
          filled.put(place, output.getName());
        }
        return place;
      }
    }
    return null;
  }

  /** Whether these bytes were read into the memory of that output. */
  boolean filled(ByteBuffer bytes, String output) {
    return output.equals(filled.get(bytes));
  }
}
