#include "client/cli/formats/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/strings.h"
#include "tests/support/status_matchers.h"

namespace opserve::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

std::string File(std::string_view header, size_t data_bytes, char version = 1) {
  std::string file = "\x93NUMPY";
  file.push_back(version);
  file.push_back(0);
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    file.push_back(static_cast<char>((header.size() >> (8 * i)) & 0xff));
  file.append(header);
  return file + std::string(data_bytes, '\1');
}

// The parser's error, or "".
std::string ErrorOf(const std::string& file) {
  return std::string(ToStd(ParseNpy(std::as_bytes(std::span(file))).status().message()));
}

TEST(NpyTest, RoundTripsEveryDType) {
  for (int i = 1; i < kNumDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    for (const std::vector<int64_t>& shape :
         std::vector<std::vector<int64_t>>{{}, {0}, {3}, {2, 3}, {1, 2, 3, 4, 1, 1, 1, 2}}) {
      std::string file = NpyPreamble(dtype, shape);
      EXPECT_EQ(file.size() % 64, 0u);
      EXPECT_EQ(file.back(), '\n');
      const auto bytes = static_cast<size_t>(TensorDesc::Dense(dtype, shape).size_bytes());
      file.append(bytes, '\1');
      const absl::StatusOr<NpyTensor> tensor = ParseNpy(std::as_bytes(std::span(file)));
      ASSERT_THAT(tensor, testing::IsOk());
      EXPECT_EQ(tensor->desc.dtype, dtype);
      EXPECT_THAT(tensor->desc.shape, ElementsAreArray(shape));
      EXPECT_TRUE(tensor->desc.IsPlain());
      EXPECT_EQ(tensor->data.size(), bytes);
    }
  }
}

TEST(NpyTest, LongHeadersGetVersionTwo) {
  const std::vector<int64_t> shape(64, 1);
  EXPECT_EQ(NpyPreamble(DType::kFloat32, shape)[6], 1);
  const std::vector<int64_t> long_shape(30000, 1);
  EXPECT_EQ(NpyPreamble(DType::kFloat32, long_shape)[6], 2);
}

TEST(NpyTest, ReadsFortranOrderAsAView) {
  const std::string file =
      File("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3, 4), }\n", 96);
  const absl::StatusOr<NpyTensor> tensor = ParseNpy(std::as_bytes(std::span(file)));
  ASSERT_THAT(tensor, testing::IsOk());
  EXPECT_THAT(tensor->desc.strides, ElementsAre(1, 2, 6));
}

TEST(NpyTest, ReadsWhatOtherWritersWrite) {
  for (const char* header :
       {"{'descr':'<f4','fortran_order':False,'shape':(2,)}",
        "{\"shape\": (2L,), \"fortran_order\": False, \"descr\": \"=f4\"}",
        " { 'fortran_order' : False , 'descr' : '<f4' , 'shape' : ( 2 , ) , } \n"}) {
    for (const char version : {'\1', '\2', '\3'})
      EXPECT_EQ(ErrorOf(File(header, 8, version)), "") << header;
  }
  EXPECT_EQ(ErrorOf(File("{'descr': '|V2', 'fortran_order': False, 'shape': (), }", 2)), "");
  EXPECT_EQ(ErrorOf(File("{'descr': '>u1', 'fortran_order': False, 'shape': (2,), }", 2)), "");
}

struct BadHeader {
  const char* header;
  const char* message;
};

class BadHeaderTest : public ::testing::TestWithParam<BadHeader> {};

TEST_P(BadHeaderTest, IsRefused) {
  EXPECT_THAT(ErrorOf(File(GetParam().header, 8)), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadHeaderTest,
    ::testing::Values(
        BadHeader{"", "a dictionary"}, BadHeader{"{", "a dictionary"}, BadHeader{"{}", "each once"},
        BadHeader{"{'descr': '>f4', 'fortran_order': False, 'shape': (2,)}", "big-endian '>f4'"},
        BadHeader{"{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", "descr one of"},
        BadHeader{"{'descr': '', 'fortran_order': False, 'shape': (1,)}", "descr one of"},
        BadHeader{"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "descr one of"},
        BadHeader{"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}",
                  "a plain dtype"},
        BadHeader{"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
                  "each once"},
        BadHeader{"{'descr': '<f4', 'fortran_order': False}", "each once"},
        BadHeader{"{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}", "True or False"},
        BadHeader{"{'descr': '<f4', 'fortran_order': False, 'shape': 2}", "a tuple"},
        BadHeader{"{'descr': '<f4', 'fortran_order': False, 'shape': (2)}", "a tuple"},
        BadHeader{"{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}", "a tuple"},
        BadHeader{"{'descr': '<f4', 'fortran_order': False, 'shape': ((2,),)}", "whole numbers"},
        BadHeader{"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", "whole numbers"},
        BadHeader{"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
                  "below 2^63"},
        BadHeader{"{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 2)}",
                  "size in bytes below 2^63"},
        BadHeader{"{'descr': '<f4', 'fortran_order': False, 'shape': (3,)}",
                  "12 bytes of data for float32[3], got 8"},
        BadHeader{"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
                  "4 bytes of data for float32[1], got more"},
        BadHeader{"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x", "nothing behind"},
        BadHeader{"{'descr': '<f4', 'fortran_order': False, 'shape': (2,", "whole numbers"},
        BadHeader{"{'desc\\x72': '<f4', 'fortran_order': False, 'shape': (2,)}", "a dictionary"},
        BadHeader{"{'descr': '<f4' 'fortran_order': False, 'shape': (2,)}", "a dictionary"},
        BadHeader{"{'more': 1, 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
                  "each once"}));

TEST(NpyTest, TheStartTellsTheSize) {
  const std::string start = NpyPreamble(DType::kFloat64, std::vector<int64_t>{1 << 20, 1 << 20});
  EXPECT_EQ(*NpyFileBytes(std::as_bytes(std::span(start))), start.size() + (size_t{8} << 40));
  const std::string part = start.substr(0, 40);
  EXPECT_FALSE(NpyFileBytes(std::as_bytes(std::span(part))).ok());
  EXPECT_FALSE(NpyFileBytes({}).ok());
}

TEST(NpyTest, RefusesBadFrames) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("signature"));
  EXPECT_THAT(ErrorOf("PK\3\4"), HasSubstr("signature"));
  EXPECT_THAT(ErrorOf("\x93NUMPY"), HasSubstr("a version"));
  EXPECT_THAT(ErrorOf(std::string("\x93NUMPY\1\0", 8)), HasSubstr("a header length"));
  EXPECT_THAT(ErrorOf(std::string("\x93NUMPY\4\0\0\0\0\0", 12)),
              HasSubstr("version 1.0, 2.0 or 3.0, got 4.0"));
  EXPECT_THAT(ErrorOf(std::string("\x93NUMPY\1\0\xff\xff", 10)),
              HasSubstr("a header of 65535 bytes, got 0 bytes"));
  EXPECT_THAT(ErrorOf(std::string("\x93NUMPY\2\0\xff\xff\xff\xff", 12)),
              HasSubstr("at most 65536 bytes"));
}

TEST(NpyTest, BoundsTheRank) {
  std::string dims;
  for (int i = 0; i < 65; ++i) dims += "1,";
  EXPECT_THAT(ErrorOf(File("{'descr': '<f4', 'fortran_order': False, 'shape': (" + dims + ")}", 4)),
              HasSubstr("at most 64 dimensions"));
}

// Every truncation and every changed byte is refused or read, never worse.
TEST(NpyTest, SurvivesDamage) {
  const std::vector<int64_t> shape = {2, 3};
  const std::string good = NpyPreamble(DType::kFloat32, shape) + std::string(24, '\1');
  for (size_t length = 0; length < good.size(); ++length)
    EXPECT_NE(ErrorOf(good.substr(0, length)), "") << length;
  for (size_t i = 0; i < good.size(); ++i) {
    for (const char c : {'\0', '\xff', '\'', '(', ')', '9', ','}) {
      std::string bad = good;
      bad[i] = c;
      ErrorOf(bad);
    }
  }
}

}  // namespace
}  // namespace opserve::cli
