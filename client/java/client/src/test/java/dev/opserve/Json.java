package dev.opserve;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.MessageOrBuilder;
import com.google.protobuf.TypeRegistry;
import com.google.protobuf.util.JsonFormat;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;

/** The JSON of the conformance vectors, and whether a message matches it; the rules are in their README. */
final class Json {
  private static final TypeRegistry TYPES =
      TypeRegistry.newBuilder().add(ErrorInfo.getDescriptor()).add(RetryInfo.getDescriptor()).build();

  private Json() {}

  static <B extends Message.Builder> B read(JsonElement text, B into) throws InvalidProtocolBufferException {
    JsonFormat.parser().usingTypeRegistry(TYPES).merge(text.toString(), into);
    return into;
  }

  @SuppressWarnings("deprecation") // its other name came with protobuf-java 4.26
  static JsonObject print(MessageOrBuilder message) throws InvalidProtocolBufferException {
    String text = JsonFormat.printer().usingTypeRegistry(TYPES).includingDefaultValueFields().print(message);
    return JsonParser.parseString(text).getAsJsonObject();
  }

  /** Where something does not match; null where it does. */
  static String difference(JsonElement got, JsonElement want, String place) {
    if (want.isJsonObject()) {
      return got != null && got.isJsonObject() ? ofObjects(got.getAsJsonObject(), want.getAsJsonObject(), place) : told(place, want, got);
    }
    if (want.isJsonArray()) {
      JsonArray list = want.getAsJsonArray();
      int size = got == null ? 0 : got.getAsJsonArray().size();
      String problem = size == list.size() ? null : told(place, want, got);
      for (int i = 0; i < size && problem == null; i++) {
        problem = difference(got.getAsJsonArray().get(i), list.get(i), place + "[" + i + "]");
      }
      return problem;
    }
    return same(got, want) ? null : told(place, want, got);
  }

  private static String ofObjects(JsonObject got, JsonObject want, String place) {
    for (String name : want.keySet()) {
      String problem = difference(got.get(name), want.get(name), place + "." + name);
      if (problem != null) {
        return problem;
      }
    }
    return null;
  }

  private static boolean same(JsonElement got, JsonElement want) {
    String wanted = want.getAsString();
    if (got == null) {
      return wanted.isEmpty() || wanted.equals("0") || wanted.equals("false");
    }
    if (!got.isJsonPrimitive()) {
      return false;
    }
    String found = got.getAsString();
    if (found.equals(wanted) || want.getAsJsonPrimitive().isBoolean()) {
      return found.equals(wanted);
    }
    try {
      return Double.parseDouble(found) == Double.parseDouble(wanted);
    } catch (NumberFormatException words) {
      return false;
    }
  }

  private static String told(String place, JsonElement want, JsonElement got) {
    return place + ": want " + want + ", got " + got;
  }
}
