#include "server/codec/message_scanner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/op_error.h"
#include "opserve/v1/operator_service.pb.h"
#include "tests/server/codec/wire_bytes.h"
#include "tests/support/errors.h"
#include "tests/support/seed.h"
#include "tests/support/status_matchers.h"

namespace opserve::server {
namespace {

using opserve::testing::AclnnCode;
using opserve::testing::kParamInvalid;
using opserve::testing::MakeRng;
using opserve::testing::Rng;

constexpr uint32_t kRaw = v1::ExecuteRequest::kRawFieldNumber;
constexpr ScanLimits kLimits = {.max_header_bytes = 1 << 20, .max_bulk_entries = 100};

// `bytes` in pieces that end anywhere, empty ones among them. Each is in memory of its own, so that
// reading past one is seen.
class Pieces {
 public:
  Pieces(std::string_view bytes, Rng& rng) {
    const size_t longest = Below(rng, 3) == 0 ? 2 : 40;
    while (!bytes.empty()) {
      const size_t size = std::min(bytes.size(), Below(rng, longest + 1));
      memory_.emplace_back(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
      bytes.remove_prefix(size);
    }
    for (const std::vector<char>& piece : memory_)
      spans_.push_back(std::as_bytes(std::span(piece)));
  }
  explicit Pieces(std::string_view bytes) {
    memory_.emplace_back(bytes.begin(), bytes.end());
    spans_.push_back(std::as_bytes(std::span(memory_[0])));
  }

  MessagePieces spans() const { return spans_; }

 private:
  std::vector<std::vector<char>> memory_;
  std::vector<std::span<const std::byte>> spans_;
};

v1::ExecuteRequest RandomRequest(Rng& rng) {
  v1::ExecuteRequest request;
  request.mutable_call()->set_op("Op" + std::to_string(Below(rng, 1000)));
  for (size_t i = Below(rng, 4); i > 0; --i) {
    v1::Tensor& tensor = *request.mutable_call()->add_inputs();
    tensor.set_name(std::string(Below(rng, 200), 'n'));
    tensor.set_dtype(v1::DATA_TYPE_FLOAT32);
    for (size_t j = Below(rng, 5); j > 0; --j) tensor.add_shape(static_cast<int64_t>(rng()));
    tensor.set_raw_index(static_cast<uint32_t>(rng()));
  }
  if (Below(rng, 2) == 0) request.set_output_encoding(v1::TENSOR_ENCODING_VALUES);
  for (size_t i = Below(rng, 5); i > 0; --i) request.add_raw(RandomBytes(rng, Below(rng, 300)));
  return request;
}

// A field that this version of the API does not have, of each wire type.
std::string UnknownField(Rng& rng) {
  switch (Below(rng, 4)) {
    case 0:
      return "\xa0\x06\x96\x01";  // 100, varint
    case 1:
      return "\xa1\x06" + RandomBytes(rng, 8);
    case 2:
      return "\xa2\x06\x05" + RandomBytes(rng, 5);
    default:
      return "\xa5\x06" + RandomBytes(rng, 4);
  }
}

// The request's fields in any order that keeps each field's own, with unknown fields between.
std::string Shuffled(const v1::ExecuteRequest& request, Rng& rng) {
  std::vector<std::string> others;
  v1::ExecuteRequest part;
  *part.mutable_call() = request.call();
  others.push_back(part.SerializeAsString());
  part.Clear();
  part.set_output_encoding(request.output_encoding());
  others.push_back(part.SerializeAsString());
  for (size_t i = Below(rng, 3); i > 0; --i) others.push_back(UnknownField(rng));
  std::shuffle(others.begin(), others.end(), rng);
  std::string bytes;
  int raw = 0;
  while (raw < request.raw_size() || !others.empty()) {
    if (others.empty() || (raw < request.raw_size() && Below(rng, 2) == 0)) {
      part.Clear();
      part.add_raw(request.raw(raw++));
      bytes += part.SerializeAsString();
    } else {
      bytes += others.back();
      others.pop_back();
    }
  }
  return bytes;
}

// What the scanner and the generated code make of the header together.
v1::ExecuteRequest Joined(const ScannedMessage& scanned, bool* parsed) {
  v1::ExecuteRequest request;
  *parsed = request.ParseFromString(scanned.header);
  EXPECT_EQ(request.raw_size(), 0);
  for (const Fragments& entry : scanned.bulk) request.add_raw(Flatten(entry));
  return request;
}

absl::StatusOr<ScannedMessage> Scan(std::string_view bytes) {
  const Pieces pieces(bytes);
  absl::StatusOr<ScannedMessage> scanned = ScanMessage(pieces.spans(), kRaw, kLimits);
  if (scanned.ok()) scanned->bulk.clear();  // points into `pieces`
  return scanned;
}

void ExpectMalformed(std::string_view bytes, std::string_view part) {
  const absl::Status status = Scan(bytes).status();
  const std::optional<ErrorDetail> detail = GetErrorDetail(status);
  ASSERT_TRUE(detail.has_value()) << status;
  EXPECT_EQ(AclnnCode(*detail), kParamInvalid);
  EXPECT_EQ(detail->parameter, "message");
  EXPECT_NE(std::string(status.message()).find(part), std::string::npos) << status;
}

TEST(MessageScannerTest, AgreesWithGeneratedCodeOnAnyOrderAndAnyBoundaries) {
  Rng rng = MakeRng(1);
  for (int i = 0; i < 2000; ++i) {
    const std::string bytes = Shuffled(RandomRequest(rng), rng);
    const Pieces pieces(bytes, rng);
    const absl::StatusOr<ScannedMessage> scanned = ScanMessage(pieces.spans(), kRaw, kLimits);
    ASSERT_THAT(scanned, testing::IsOk());
    bool parsed = false;
    const v1::ExecuteRequest joined = Joined(*scanned, &parsed);
    ASSERT_TRUE(parsed);
    v1::ExecuteRequest expected;
    ASSERT_TRUE(expected.ParseFromString(bytes));
    ASSERT_EQ(joined.SerializeAsString(), expected.SerializeAsString());
  }
}

TEST(MessageScannerTest, AcceptsNothingThatGeneratedCodeRefuses) {
  Rng rng = MakeRng(2);
  int accepted = 0;
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = Shuffled(RandomRequest(rng), rng);
    if (Below(rng, 2) == 0) bytes.resize(Below(rng, bytes.size() + 1));
    for (size_t j = Below(rng, 4); j > 0 && !bytes.empty(); --j)
      bytes[Below(rng, bytes.size())] = static_cast<char>(rng());
    const Pieces pieces(bytes, rng);
    const absl::StatusOr<ScannedMessage> scanned = ScanMessage(pieces.spans(), kRaw, kLimits);
    bool parsed = false;
    const v1::ExecuteRequest joined =
        scanned.ok() ? Joined(*scanned, &parsed) : v1::ExecuteRequest();
    ++(parsed ? accepted : refused);
    if (!parsed) continue;
    v1::ExecuteRequest expected;
    ASSERT_TRUE(expected.ParseFromString(bytes));
    ASSERT_EQ(joined.SerializeAsString(), expected.SerializeAsString());
  }
  EXPECT_GT(accepted, 100);
  EXPECT_GT(refused, 100);
}

TEST(MessageScannerTest, BulkIsNotCopied) {
  v1::ExecuteRequest request;
  request.add_raw(std::string(1000, 'x'));
  const std::string bytes = request.SerializeAsString();
  const std::vector<std::span<const std::byte>> pieces = {
      std::as_bytes(std::span(bytes.data(), 500)),
      std::as_bytes(std::span(bytes.data() + 500, bytes.size() - 500))};
  const absl::StatusOr<ScannedMessage> scanned = ScanMessage(pieces, kRaw, kLimits);
  ASSERT_THAT(scanned, testing::IsOk());
  ASSERT_EQ(scanned->bulk.size(), 1u);
  ASSERT_EQ(scanned->bulk[0].pieces().size(), 2u);
  EXPECT_EQ(scanned->bulk[0].pieces()[1].data(), pieces[1].data());
}

// The tag's first byte is no tag of its own.
TEST(MessageScannerTest, BulkWithATagOfTwoBytes) {
  constexpr uint32_t kField = 29;
  const std::string entry = "\xea\x01\x02\x08\x07";
  const Pieces pieces(entry + entry + entry);
  const absl::StatusOr<ScannedMessage> message = ScanMessage(pieces.spans(), kField, kLimits);
  ASSERT_THAT(message, testing::IsOk());
  EXPECT_EQ(message->header, "");
  ASSERT_EQ(message->bulk.size(), 3u);
  for (const Fragments& bulk : message->bulk) EXPECT_EQ(Flatten(bulk), "\x08\x07");
}

TEST(MessageScannerTest, EmptyMessageIsEmpty) {
  const absl::StatusOr<ScannedMessage> scanned = ScanMessage({}, kRaw, kLimits);
  ASSERT_THAT(scanned, testing::IsOk());
  EXPECT_TRUE(scanned->header.empty());
  EXPECT_TRUE(scanned->bulk.empty());
}

TEST(MessageScannerTest, BulkFieldOfAnotherWireTypeIsHeader) {
  const std::string_view bytes("\x78\x05", 2);
  const absl::StatusOr<ScannedMessage> scanned = Scan(bytes);
  ASSERT_THAT(scanned, testing::IsOk());
  EXPECT_EQ(scanned->header, bytes);
}

TEST(MessageScannerTest, RefusesWhatIsNoMessage) {
  using namespace std::string_view_literals;
  ExpectMalformed("\x80"sv, "tag");                      // truncated tag
  ExpectMalformed("\xff\xff\xff\xff\xff\x01"sv, "tag");  // tag of 6 bytes
  ExpectMalformed("\xff\xff\xff\xff\x7f"sv, "tag");      // tag above 32 bits
  ExpectMalformed("\x00\x00"sv, "tag");                  // field number 0
  ExpectMalformed("\x02\x00"sv, "tag");                  // field number 0
  ExpectMalformed("\x0b\x0c"sv, "wire type 3");          // group
  ExpectMalformed("\x0c"sv, "wire type 4");              // end of a group
  ExpectMalformed("\x0e"sv, "wire type 6");              //
  ExpectMalformed("\x0f"sv, "wire type 7");              //
  ExpectMalformed("\x10"sv, "varint");                   // no value
  ExpectMalformed("\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv, "varint");  // of 11 bytes
  ExpectMalformed("\x11\x01\x02"sv, "inside the message");                          // fixed64 cut
  ExpectMalformed("\x15\x01"sv, "inside the message");                              // fixed32 cut
  ExpectMalformed("\x0a\x05\x01"sv, "length of 5 with 1 bytes left");     // header field cut
  ExpectMalformed("\x7a\x05\x01"sv, "length of 5 with 1 bytes left");     // raw cut
  ExpectMalformed("\x7a\xff\xff\xff\xff\x0f"sv, "length of 4294967295");  // raw of 4 GiB
  ExpectMalformed("\x7a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv, "length of a field");
  ExpectMalformed("\x7a"sv, "length of a field");
  ExpectMalformed("\x7a\x81\x80\x80\x80\x80\x00*"sv, "length of a field");  // 1 in 6 bytes
  ExpectMalformed("\x0a\x81\x80\x80\x80\x80\x00*"sv, "length of a field");  // of the header
}

TEST(MessageScannerTest, BoundsWhatItAllocates) {
  std::string many;
  for (size_t i = 0; i <= kLimits.max_bulk_entries; ++i) many += std::string_view("\x7a\x00", 2);
  ExpectMalformed(many, "at most 100 raw entries");

  v1::ExecuteRequest large;
  large.mutable_call()->set_op(std::string(kLimits.max_header_bytes, 'x'));
  const absl::Status status = Scan(large.SerializeAsString()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
}

// Millions of fields of two bytes take long to read.
TEST(MessageScannerTest, ReadsNoMoreOfAHeaderThatIsTooLarge) {
  std::string fields;
  while (fields.size() <= kLimits.max_header_bytes) fields += std::string_view("\x08\x01", 2);
  const std::string_view no_field("\x0f", 1);
  EXPECT_EQ(Scan(fields + std::string(no_field)).status().code(),
            absl::StatusCode::kResourceExhausted);
  fields.resize(kLimits.max_header_bytes);
  EXPECT_EQ(Scan(fields + std::string(no_field)).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace opserve::server
