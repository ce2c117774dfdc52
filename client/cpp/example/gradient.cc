// The gradient of SmoothL1Loss, computed by an opserve server: gradient [TARGET]
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include <opserve/client.h>

using opserve::client::Call;
using opserve::client::Client;
using opserve::client::TensorView;

namespace {

absl::Status PrintGradient(const char* target) {
  absl::StatusOr<Client> client = Client::Connect(target);
  if (!client.ok()) return client.status();
  const std::vector<float> ones(8, 1.0f);
  const std::vector<float> self = {0, 1, 2, 3, 4, 5, 6, 7};
  Call call("SmoothL1LossBackward");
  call.Input("grad_out", TensorView::Of(ones, {4, 2}))
      .Input("self", TensorView::Of(self, {4, 2}))
      .Input("target", TensorView::Of(ones, {4, 2}))
      .Attribute("reduction", 0)
      .Attribute("beta", 1.0);
  const auto result = client->Execute(call, {.timeout = absl::Seconds(5)});
  if (!result.ok()) return result.status();
  const auto gradient = result->Elements<float>("grad_input");
  if (!gradient.ok()) return gradient.status();
  std::printf("grad_input");
  for (const float value : *gradient) std::printf(" %g", value);
  std::printf("\n");
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  const absl::Status status = PrintGradient(argc > 1 ? argv[1] : "localhost:8500");
  if (status.ok()) return 0;
  const std::string message(status.message());
  std::fprintf(stderr, "%s\n", message.c_str());
  return 1;
}
