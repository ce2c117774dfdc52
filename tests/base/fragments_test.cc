#include "core/base/fragments.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace opserve {
namespace {

std::span<const std::byte> Bytes(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

TEST(FragmentsTest, CopiesAnyRangeAcrossPieces) {
  const std::string a = "abc", b = "d", empty, c = "efghi";
  Fragments fragments;
  for (const std::string* piece : {&a, &b, &empty, &c}) fragments.Append(Bytes(*piece));
  const std::string whole = a + b + c;
  ASSERT_EQ(fragments.size_bytes(), whole.size());
  for (size_t offset = 0; offset <= whole.size(); ++offset) {
    for (size_t count = 0; offset + count <= whole.size(); ++count) {
      std::string copy(count, '?');
      fragments.CopyTo(reinterpret_cast<std::byte*>(copy.data()), offset, count);
      EXPECT_EQ(copy, whole.substr(offset, count));
    }
  }
}

}  // namespace
}  // namespace opserve
