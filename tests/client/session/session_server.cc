#include "tests/client/session/session_server.h"
#include "tests/support/status_matchers.h"

#include <algorithm>
#include <random>
#include <utility>

namespace opserve::client {

std::vector<float> Random(size_t count, uint32_t seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-3.0f, 3.0f);
  std::vector<float> values(count);
  for (float& value : values) value = uniform(generator);
  return values;
}

void ExpectSame(const Tensor& a, const Tensor& b) {
  ASSERT_TRUE(SameShape(a.shape(), b.shape()));
  ASSERT_EQ(a.dtype(), b.dtype());
  EXPECT_TRUE(std::equal(a.bytes().begin(), a.bytes().end(), b.bytes().begin()));
}

void SessionServerTest::SetUp() {
  ServerTest::SetUp();
  client_.emplace(*Client::Connect(server().addresses()[1]));
  absl::StatusOr<Session> session = client_->OpenSession();
  ASSERT_THAT(session, testing::IsOk());
  session_.emplace(*std::move(session));
  context_.emplace(session_->CreateContext());
  stream_.emplace(context_->CreateStream());
}

DeviceTensor SessionServerTest::Put(const TensorView& view) {
  DeviceTensor tensor = context_->NewTensor(view.dtype, view.shape);
  EXPECT_EQ(stream_->Upload(tensor, view), absl::OkStatus());
  return tensor;
}

}  // namespace opserve::client
