// peer-cpp-server ADDRESS: SmoothL1LossBackward by gRPC's C++ library and libtorch, written by
// hand. It trusts its client: no schema, no checks, no limits. Says "ready", and serves until it is
// killed.
#include <cstdio>
#include <memory>
#include <string>

#include <ATen/ATen.h>
#include <grpcpp/grpcpp.h>

#include "gradient.grpc.pb.h"

namespace opserve::peer {
namespace {

at::Tensor TensorOf(const std::string& bytes) {
  return at::from_blob(const_cast<char*>(bytes.data()),
                       {static_cast<int64_t>(bytes.size() / sizeof(float))}, at::kFloat);
}

class Service final : public GradientService::Service {
  grpc::Status SmoothL1LossBackward(grpc::ServerContext* /*context*/,
                                    const GradientRequest* request,
                                    GradientAnswer* answer) override {
    const at::Tensor gradient =
        at::smooth_l1_loss_backward(TensorOf(request->grad_out()), TensorOf(request->self()),
                                    TensorOf(request->target()), at::Reduction::None, 1.0);
    answer->set_grad_input(gradient.data_ptr(), gradient.nbytes());
    return grpc::Status::OK;
  }
};

int Serve(const char* address) {
  Service service;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials());
  builder.SetMaxReceiveMessageSize(-1);
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) {
    std::fprintf(stderr, "peer-cpp-server: cannot listen on %s\n", address);
    return 1;
  }
  std::puts("ready");
  std::fflush(stdout);
  server->Wait();
  return 0;
}

}  // namespace
}  // namespace opserve::peer

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "Usage: peer-cpp-server ADDRESS\n");
    return 2;
  }
  return opserve::peer::Serve(argv[1]);
}
