"""Writes the C++ test that is made of a page's ```cpp block: make_snippet_test.py PAGE OUTPUT

The block's #include and using lines go to the top of the file, the rest into a function; "localhost:8500" is the test's server.
"""

import pathlib
import re
import sys

FILE = """\
// Made from {page} by tests/readme/make_snippet_test.py.
// NOLINTBEGIN
{head}

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/test_server.h"

static absl::Status FollowReadme(const std::string& target, std::vector<float>& result_of_snippet) {{
{body}
  result_of_snippet.assign(gradient.begin(), gradient.end());
  return absl::OkStatus();
}}

namespace opserve::testing {{
namespace {{

using ReadmeTest = ServerTest;

TEST_F(ReadmeTest, SnippetComputesTheGradient) {{
  std::vector<float> gradient;
  const absl::Status status = FollowReadme(server().addresses().front(), gradient);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(gradient, ::testing::ElementsAre(-1, 0, 1, 1, 1, 1, 1, 1));
}}

}}  // namespace
}}  // namespace opserve::testing
// NOLINTEND
"""


def main():
    page, output = map(pathlib.Path, sys.argv[1:])
    blocks = re.findall(r"^```cpp\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    if len(blocks) != 1:
        sys.exit(f"{page.name}: want one ```cpp block, got {len(blocks)}")
    head, body = [], []
    for line in blocks[0].splitlines():
        (body if body or not re.match(r"#include |using |$", line) else head).append(line)
    body = [line.replace('"localhost:8500"', "target") for line in body]
    text = FILE.format(page=page.name, head="\n".join(head).strip(), body="\n".join(body))
    output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
