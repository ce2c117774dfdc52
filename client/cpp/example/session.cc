// The gradient of SmoothL1Loss with tensors that lie on the server: session [TARGET]
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <opserve/client.h>
#include <opserve/session.h>

using opserve::DType;
using opserve::client::Client;
using opserve::client::Context;
using opserve::client::DeviceBuffer;
using opserve::client::DeviceCall;
using opserve::client::DeviceTensor;
using opserve::client::Executor;
using opserve::client::Session;
using opserve::client::Stream;
using opserve::client::Tensor;
using opserve::client::TensorView;

namespace {

const std::vector<int64_t> kShape = {4, 2};

// A tensor on the device that holds `values` once what is on the stream has ended.
absl::StatusOr<DeviceTensor> Put(Context& context, Stream& stream,
                                 const std::vector<float>& values) {
  DeviceTensor tensor = context.NewTensor(DType::kFloat32, kShape);
  const absl::Status status = stream.Upload(tensor, TensorView::Of(values, kShape));
  if (!status.ok()) return status;
  return tensor;
}

absl::Status PrintGradient(Context& context, Stream& stream) {
  // The tensors of the call.
  const std::vector<float> ones(8, 1.0f);
  const auto grad_out = Put(context, stream, ones);
  if (!grad_out.ok()) return grad_out.status();
  const auto self = Put(context, stream, {0, 1, 2, 3, 4, 5, 6, 7});
  if (!self.ok()) return self.status();
  const auto target = Put(context, stream, ones);
  if (!target.ok()) return target.status();
  const DeviceTensor grad_input = context.NewTensor(DType::kFloat32, kShape);

  // Phase one: checks the call and tells how much scratch memory it needs.
  DeviceCall call("SmoothL1LossBackward");
  call.Input("grad_out", *grad_out)
      .Input("self", *self)
      .Input("target", *target)
      .Output("grad_input", grad_input)
      .Attribute("reduction", 0)
      .Attribute("beta", 1.0);
  const Executor executor = context.CreateExecutor(call);
  const absl::StatusOr<int64_t> workspace_bytes = executor.workspace_bytes();
  if (!workspace_bytes.ok()) return workspace_bytes.status();
  DeviceBuffer workspace;
  if (*workspace_bytes > 0) workspace = context.Allocate(*workspace_bytes);

  // Phase two: puts the call on the stream, and waits for it.
  stream.Execute(executor, workspace);
  const absl::Status status = stream.Synchronize();
  if (!status.ok()) return status;

  const absl::StatusOr<Tensor> result = stream.Download(grad_input);
  if (!result.ok()) return result.status();
  for (size_t i = 0; i < ones.size(); ++i)
    std::printf("result[%zu] is: %f\n", i, static_cast<double>(result->As<float>()[i]));
  return absl::OkStatus();
}

absl::Status Run(const char* server) {
  const absl::StatusOr<Client> client = Client::Connect(server);
  if (!client.ok()) return client.status();
  absl::StatusOr<Session> session = client->OpenSession();
  if (!session.ok()) return session.status();
  Context context = session->CreateContext();
  Stream stream = context.CreateStream();
  const absl::Status status = PrintGradient(context, stream);
  // Everything that the server holds goes with the session.
  return status.ok() ? session->Close() : status;
}

}  // namespace

int main(int argc, char** argv) {
  const absl::Status status = Run(argc > 1 ? argv[1] : "localhost:8500");
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return 1;
}
