#include "client/cpp/wire/wire_reader.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace opserve::client {
namespace {

// `bytes` in pieces of `piece` bytes.
Fragments Cut(std::string_view bytes, size_t piece) {
  Fragments fragments;
  for (size_t i = 0; i < bytes.size(); i += piece)
    fragments.Append(std::as_bytes(std::span(bytes.substr(i, piece))));
  return fragments;
}

TEST(WireReaderTest, ReadsAcrossPieces) {
  const std::string bytes(
      "\x0a\x03"
      "abc"
      "\x10\x96\x01"
      "\x19"
      "12345678"
      "\x25"
      "1234",
      22);
  for (size_t piece = 1; piece <= bytes.size(); ++piece) {
    const Fragments fragments = Cut(bytes, piece);
    WireReader reader(fragments);
    WireReader::Field field;
    ASSERT_TRUE(reader.ReadField(field));
    EXPECT_EQ(field.number, 1u);
    ASSERT_EQ(field.length, 3u);
    std::string text(3, '\0');
    ASSERT_TRUE(reader.Read(reinterpret_cast<std::byte*>(text.data()), 3));
    EXPECT_EQ(text, "abc");
    uint64_t value = 0;
    ASSERT_TRUE(reader.ReadField(field) && reader.ReadVarint(value));
    EXPECT_EQ(value, 150u);
    ASSERT_TRUE(reader.ReadField(field) && reader.SkipField(field));
    ASSERT_TRUE(reader.ReadField(field) && reader.SkipField(field));
    EXPECT_EQ(field.type, WireReader::Type::kFixed32);
    EXPECT_EQ(reader.remaining(), 0u);
    EXPECT_FALSE(reader.ReadField(field));
  }
}

TEST(WireReaderTest, RefusesMalformedBytes) {
  const std::vector<std::string> bad = {
      std::string("\x00", 1),  // field 0
      std::string("\x0b", 1),  // a group
      std::string("\x0f", 1),  // no wire type
      std::string("\x0a\x05"
                  "abc",
                  5),                                               // longer than what follows
      std::string("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10),  // a length beyond everything
      std::string("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11),
      std::string("\x80", 1),
  };
  for (const std::string& bytes : bad) {
    const Fragments fragments = Cut(bytes, 3);
    WireReader reader(fragments);
    WireReader::Field field;
    EXPECT_FALSE(reader.ReadField(field));
  }
}

TEST(WireReaderTest, SkipStopsAtTheEnd) {
  const std::string bytes(
      "\x19"
      "123",
      4);
  const Fragments fragments = Cut(bytes, 2);
  WireReader reader(fragments);
  WireReader::Field field;
  ASSERT_TRUE(reader.ReadField(field));
  EXPECT_FALSE(reader.SkipField(field));
}

}  // namespace
}  // namespace opserve::client
