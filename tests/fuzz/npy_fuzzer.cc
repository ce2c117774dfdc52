// .npy files.
//
// Input: the file.
#include "client/cli/formats/npy.h"

#include <algorithm>

#include "tests/fuzz/fuzz_input.h"

namespace opserve::fuzz {
namespace {

// What is written of a dense tensor reads back to it.
void CheckRoundTrip(const cli::NpyTensor& tensor) {
  std::string file = cli::NpyPreamble(tensor.desc.dtype, tensor.desc.shape);
  Require(file.size() % 64 == 0, "data is aligned");
  file.append(reinterpret_cast<const char*>(tensor.data.data()), tensor.data.size());
  const absl::StatusOr<cli::NpyTensor> again = cli::ParseNpy(std::as_bytes(std::span(file)));
  Require(again.ok(), "a written file reads");
  Require(again->desc.dtype == tensor.desc.dtype, "a written file has the dtype");
  Require(SameShape(again->desc.shape, tensor.desc.shape), "a written file has the shape");
  Require(std::ranges::equal(again->data, tensor.data), "a written file has the elements");
}

void CheckTensor(const cli::NpyTensor& tensor, std::span<const std::byte> file) {
  Require(CheckDesc(tensor.desc, "").ok(), "the description is sound");
  const auto bytes = static_cast<int64_t>(tensor.data.size());
  Require(tensor.desc.size_bytes() == bytes, "as many bytes as the shape says");
  Require(tensor.desc.reach_bytes() <= bytes, "no element lies outside");
  Require(tensor.data.empty() || tensor.data.data() + bytes == file.data() + file.size(),
          "the data ends the file");
  if (tensor.desc.IsPlain()) CheckRoundTrip(tensor);
}

}  // namespace
}  // namespace opserve::fuzz

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  const absl::StatusOr<opserve::cli::NpyTensor> tensor = opserve::cli::ParseNpy(file);
  if (tensor.ok()) {
    opserve::fuzz::CheckTensor(*tensor, file);
  } else {
    opserve::fuzz::RequireDetail(tensor.status());
  }
  return 0;
}
