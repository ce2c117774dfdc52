// Bodies of infer requests: what they become, and what is refused.
#include "server/rest/rest_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/op_error.h"
#include "inference/open_inference.pb.h"
#include "server/rest/json_reader.h"
#include "tests/support/errors.h"
#include "tests/support/status_matchers.h"

namespace opserve::server {
namespace {

using ::opserve::testing::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr RestLimits kLimits{.max_tensor_bytes = 1 << 20};

absl::StatusOr<RestRequest> Read(std::string_view body, std::optional<size_t> json = {}) {
  return ReadRestRequest("M", "1", body, json, kLimits, [](int64_t) { return absl::OkStatus(); });
}

void ExpectRefused(std::string_view body, std::string_view words, std::optional<size_t> json = {}) {
  const absl::StatusOr<RestRequest> read = Read(body, json);
  ASSERT_FALSE(read.ok()) << body;
  EXPECT_EQ(read.status().code(), absl::StatusCode::kInvalidArgument) << body;
  EXPECT_THAT(std::string(read.status().message()), HasSubstr(std::string(words))) << body;
}

std::string Input(std::string_view rest, std::string_view shape = "[2]",
                  std::string_view datatype = "FP32") {
  return absl::StrCat(R"({"inputs":[{"name":"x","datatype":")", std::string(datatype),
                      R"(","shape":)", std::string(shape), ",", std::string(rest), "}]}");
}

template <typename T>
std::vector<T> ElementsOf(const Fragments& raw) {
  std::vector<T> elements(raw.size_bytes() / sizeof(T));
  raw.CopyTo(reinterpret_cast<std::byte*>(elements.data()), 0, raw.size_bytes());
  return elements;
}

TEST(RestRequestTest, BecomesAModelInferRequest) {
  const auto read = Read(R"({"id":"7","parameters":{"a":1,"b":0.5,"c":"text","d":true,
      "e":[3, 2],"f":18446744073709551615,"binary_data_output":true},
      "inputs":[{"data":[1,2.5],"name":"x","shape":[2],"datatype":"FP32"}],
      "outputs":[{"name":"y","parameters":{"binary_data":false}},{"name":"z"}]})");
  ASSERT_THAT(read, IsOk());
  inference::ModelInferRequest request;
  ASSERT_TRUE(request.ParseFromString(read->header));
  EXPECT_EQ(request.model_name(), "M");
  EXPECT_EQ(request.model_version(), "1");
  EXPECT_EQ(read->id, "7");
  EXPECT_EQ(request.id(), "");
  const auto& parameters = request.parameters();
  EXPECT_EQ(parameters.size(), 6u);
  EXPECT_EQ(parameters.at("a").int64_param(), 1);
  EXPECT_EQ(parameters.at("b").double_param(), 0.5);
  EXPECT_EQ(parameters.at("c").string_param(), "text");
  EXPECT_TRUE(parameters.at("d").bool_param());
  EXPECT_EQ(parameters.at("e").string_param(), "[3, 2]");
  EXPECT_EQ(parameters.at("f").uint64_param(), 18446744073709551615U);
  ASSERT_EQ(request.outputs_size(), 2);
  EXPECT_FALSE(read->IsBinary(0));
  EXPECT_TRUE(read->IsBinary(1));
  ASSERT_EQ(read->raw.size(), 1u);
  EXPECT_THAT(ElementsOf<float>(read->raw[0]), ElementsAre(1, 2.5));
}

// A plan is kept by the header: it must not depend on the order of a map.
TEST(RestRequestTest, EqualRequestsHaveEqualHeaders) {
  const auto one = Read(R"({"id":"1","parameters":{"a":1,"b":2,"c":3},"inputs":[]})");
  const auto other = Read(R"({"inputs":[],"parameters":{"c":3,"b":2,"a":1},"id":"2"})");
  ASSERT_THAT(one, IsOk());
  EXPECT_EQ(one->header, other->header);
}

TEST(RestRequestTest, DataInAnyNesting) {
  for (const char* data : {"[1,2,3,4]", "[[1,2],[3,4]]"}) {
    const auto read = Read(Input(absl::StrCat("\"data\":", data), "[2,2]", "INT16"));
    ASSERT_THAT(read, IsOk()) << data;
    EXPECT_THAT(ElementsOf<int16_t>(read->raw[0]), ElementsAre(1, 2, 3, 4));
  }
  EXPECT_THAT(Read(Input("\"data\":[[[],[]]]", "[1,2,0]")), IsOk());
  EXPECT_THAT(Read(Input("\"data\":[]", "[3,0]")), IsOk());
  EXPECT_THAT(Read(Input("\"data\":[5]", "[]")), IsOk());
  for (const char* data : {"[1,2,3]", "[1,2,3,4,5]", "[[1,2,3],[4]]", "[[1,2],3,4]", "[1,[2],3,4]",
                           "[[[1,2],[3,4]]]", "[[1],[2],[3],[4]]", "[]", "[[],[]]"}) {
    ExpectRefused(Input(absl::StrCat("\"data\":", data), "[2,2]"), "x: want data");
  }
}

TEST(RestRequestTest, ElementsOfEveryDatatype) {
  EXPECT_THAT(ElementsOf<uint64_t>(
                  Read(Input("\"data\":[0,18446744073709551615]", "[2]", "UINT64"))->raw[0]),
              ElementsAre(0, 18446744073709551615U));
  EXPECT_THAT(ElementsOf<uint8_t>(Read(Input("\"data\":[true,0]", "[2]", "BOOL"))->raw[0]),
              ElementsAre(1, 0));
  EXPECT_THAT(ElementsOf<uint16_t>(Read(Input("\"data\":[1,-2]", "[2]", "FP16"))->raw[0]),
              ElementsAre(0x3c00, 0xc000));
  const auto special = Read(Input(R"("data":["NaN","-Infinity"])"));
  EXPECT_TRUE(std::isnan(ElementsOf<float>(special->raw[0])[0]));
  ExpectRefused(Input("\"data\":[1,300]", "[2]", "INT8"), "x: ");
  ExpectRefused(Input("\"data\":[1,1.5]", "[2]", "INT32"), "x: ");
  ExpectRefused(Input("\"data\":[1,true]"), "a number");
  ExpectRefused(Input("\"data\":[\"a\"]", "[1]", "BYTES"), "datatype");
}

TEST(RestRequestTest, InputsInSharedMemoryBringNothing) {
  const std::string shared =
      R"({"name":"a","datatype":"FP32","shape":[2],"parameters":{"shared_memory_region":"r",
          "shared_memory_byte_size":8})";
  const auto read = Read("{\"inputs\":[" + shared +
                         R"(},{"name":"b","datatype":"FP32","shape":[1],"data":[3]}]})");
  ASSERT_THAT(read, IsOk());
  ASSERT_EQ(read->raw.size(), 1u);
  EXPECT_THAT(ElementsOf<float>(read->raw[0]), ElementsAre(3));
  EXPECT_THAT(read->header, ::testing::HasSubstr("shared_memory_region"));
  ExpectRefused("{\"inputs\":[" + shared + ",\"data\":[1,2]}]}",
                "a: want data or shared memory, got both");
}

TEST(RestRequestTest, BinaryDataFollowsInTheOrderOfTheInputs) {
  const std::string json =
      R"({"inputs":[{"name":"a","datatype":"FP32","shape":[1],"parameters":{"binary_data_size":4}},
      {"name":"b","datatype":"FP32","shape":[1],"data":[3]},
      {"name":"c","datatype":"UINT8","shape":[2],"parameters":{"binary_data_size":2}}]})";
  const std::string body = json + "abcdef";
  const auto read = Read(body, json.size());
  ASSERT_THAT(read, IsOk());
  ASSERT_EQ(read->raw.size(), 3u);
  EXPECT_EQ(read->raw[0].pieces()[0].data(),
            reinterpret_cast<const std::byte*>(&body[json.size()]));
  EXPECT_THAT(ElementsOf<float>(read->raw[1]), ElementsAre(3));
  EXPECT_THAT(ElementsOf<char>(read->raw[2]), ElementsAre('e', 'f'));
  ExpectRefused(json + "abcde", "c: want 2 bytes of binary data, got 1", json.size());
  ExpectRefused(json + "abcdefg", "1 more", json.size());
  for (const size_t wrong :
       {size_t{0}, json.size() - 1, json.size() + 1, body.size() + 1, ~size_t{0}})
    EXPECT_FALSE(Read(body, wrong).ok()) << wrong;
}

TEST(RestRequestTest, WhatIsRefused) {
  ExpectRefused("", "Inference-Header-Content-Length");
  ExpectRefused("{}", "inputs: want a list of tensors");
  ExpectRefused("[]", "an object");
  ExpectRefused("{\"inputs\":[]} x", "nothing more");
  ExpectRefused(R"({"inputs":[],"inputs":[]})", "inputs: want it once");
  ExpectRefused(R"({"inputs":[],"paramaters":{}})", "did you mean \"parameters\"?");
  ExpectRefused(R"({"inputs":[],"parameters":{"a":1,"a":2}})", "a: want it once");
  ExpectRefused(R"({"inputs":[],"parameters":{"a":null}})", "a: want a number");
  ExpectRefused(R"({"inputs":[],"parameters":{"a":{}}})", "a: want a number");
  ExpectRefused(R"({"inputs":[],"parameters":{"a":[[1]]}})", "a: want a list of numbers");
  ExpectRefused(R"({"inputs":[],"parameters":{"binary_data_output":1}})", "true or false");
  ExpectRefused(R"({"inputs":[],"outputs":[{"name":"y","shape":[]}]})", "outputs: want");
  ExpectRefused(Input("\"name2\":1"), "inputs: want name");
  ExpectRefused(Input("\"parameters\":{}"), "x: want data, binary_data_size or shared memory");
  ExpectRefused(Input(R"("data":[1,2],"parameters":{"binary_data_size":8})"), "both");
  ExpectRefused(Input(R"("parameters":{"binary_data_size":-1})"), "binary_data_size");
  ExpectRefused(Input(R"("parameters":{"binary_data_size":9223372036854775807})"), "x: want");
  ExpectRefused(Input("\"data\":[1]", "[1.5]"), "shape: want");
  ExpectRefused(Input("\"data\":[1]", "[-1]"), "extents >= 0");
  ExpectRefused(Input("\"data\":[1]", "[9223372036854775807,9223372036854775807]"), "at most");
  ExpectRefused(Input("\"data\":[1]", "[1000000]"), "at most 1048576 bytes");
  ExpectRefused(Input("\"data\":[1]", "[1],\"shape\":[1]"), "shape: want it once");
  ExpectRefused(Input("\"data\":[no],\"data\":[1]", "[1]"), "data: want it once");
}

TEST(RestRequestTest, CountsAreBounded) {
  std::string inputs;
  std::string parameters;
  for (int i = 0; i < 65; ++i)
    absl::StrAppend(&inputs, i > 0 ? "," : "", "{\"name\":\"x\"",
                    ",\"datatype\":\"FP32\",\"shape\":[0],\"data\":[]}");
  ExpectRefused(absl::StrCat("{\"inputs\":[", inputs, "]}"), "inputs: want at most 64");
  for (int i = 0; i < 257; ++i) absl::StrAppend(&parameters, i > 0 ? "," : "", "\"", i, "\":1");
  ExpectRefused(absl::StrCat("{\"inputs\":[],\"parameters\":{", parameters, "}}"),
                "parameters: want at most 256");
  std::string shape = "[1";
  for (int i = 0; i < 64; ++i) shape.append(",1");
  ExpectRefused(Input("\"data\":[1]", shape + "]"), "shape: want at most 64");
}

TEST(RestRequestTest, TextsAreBoundedBeforeTheyAreKept) {
  const std::string long_name(size_t{8} << 20, 'a');
  const std::string name = absl::StrCat("\"", long_name, "\"");
  for (const std::string& body :
       {absl::StrCat("{", name, ":1}"), absl::StrCat(R"({"inputs":[{)", name, ":1}]}"),
        absl::StrCat(R"({"inputs":[{"name":)", name, "}]}"), absl::StrCat(R"({"id":)", name, "}"),
        absl::StrCat(R"({"parameters":{"a":)", name, "}}"),
        absl::StrCat(R"({"parameters":{)", name, ":1}}")}) {
    const absl::Status status = Read(body).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_LT(status.message().size(), size_t{1} << 10);
  }
  // The names take 12 bytes, and a character of four bytes finds room for two.
  const std::string most(JsonReader::kMaxStringBytes - 14, 'a');
  ExpectRefused(absl::StrCat(R"({"parameters":{"a":")", most, "\",\"b\":\"\xf0\x9f\x98\x80\"}}"),
                "no more than 2 MiB of strings");
  const std::string list(size_t{1} << 20, ' ');
  ExpectRefused(absl::StrCat(R"({"parameters":{"a":[)", list, R"(],"b":[)", list, "]}}"),
                "b: want a shorter list");
}

TEST(RestRequestTest, SaysAgainWhatThePathSays) {
  const std::string inputs = R"(,"inputs":[]})";
  const std::string header = Read("{\"id\":\"\"" + inputs)->header;
  EXPECT_EQ(Read(R"({"model_name":"M")" + inputs)->header, header);
  EXPECT_EQ(Read(R"({"model_name":"","model_version":"1")" + inputs)->header, header);
  ExpectRefused(R"({"model_name":"N")" + inputs,
                "model_name: want \"M\", as in the path, got \"N\"");
  EXPECT_EQ(ReadRestRequest("M", "", R"({"model_version":"1")" + inputs, {}, kLimits,
                            [](int64_t) { return absl::OkStatus(); })
                ->header,
            header);
  ExpectRefused(R"({"model_version":"2")" + inputs, "model_version: want \"1\"");
}

TEST(RestRequestTest, MemoryIsAskedForBeforeItIsTaken) {
  const auto read =
      ReadRestRequest("M", "", Input("\"data\":[1,2]"), {}, kLimits, [](int64_t bytes) {
        EXPECT_EQ(bytes, 8);
        return absl::ResourceExhaustedError("no");
      });
  EXPECT_EQ(read.status().code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace opserve::server
