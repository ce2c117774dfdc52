"""Writes the C++ test that is made of a page's ```cpp blocks: make_snippet_test.py PAGE OUTPUT

A block's #include and using lines go to the top of the file, the rest into a function; "localhost:8500" is the test's server.
Each block ends with the sample's result in `gradient`.
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

{functions}
namespace opserve::testing {{
namespace {{

using ReadmeTest = ServerTest;

{tests}
}}  // namespace
}}  // namespace opserve::testing
// NOLINTEND
"""

FUNCTION = """\
static absl::Status FollowBlock{number}(const std::string& target, std::vector<float>& result_of_block) {{
{body}
  result_of_block.assign(gradient.begin(), gradient.end());
  return absl::OkStatus();
}}
"""

TEST = """\
TEST_F(ReadmeTest, Block{number}ComputesTheGradient) {{
  std::vector<float> gradient;
  const absl::Status status = FollowBlock{number}(server().addresses().front(), gradient);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(gradient, ::testing::ElementsAre(-1, 0, 1, 1, 1, 1, 1, 1));
}}
"""


def main():
    page, output = map(pathlib.Path, sys.argv[1:])
    blocks = re.findall(r"^```cpp\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    if not blocks:
        sys.exit(f"{page.name}: want a ```cpp block, got none")
    head, functions, tests = [], [], []
    for number, block in enumerate(blocks, start=1):
        body = []
        for line in block.splitlines():
            (body if body or not re.match(r"#include |using |$", line) else head).append(line)
        body = [line.replace('"localhost:8500"', "target") for line in body]
        functions.append(FUNCTION.format(number=number, body="\n".join(body)))
        tests.append(TEST.format(number=number))
    text = FILE.format(page=page.name, head="\n".join(line for line in head if line), functions="\n".join(functions),
                       tests="\n".join(tests))
    output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
