// A server in a process of its own, and the C interface on it.
#pragma once

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "aclnnop/aclnn_l1_loss_backward.h"
#include "tests/acl/acl_fixture.h"
#include "tests/server/server_process.h"

namespace opserve::acl_test {

inline constexpr size_t kMiB = size_t{1} << 20;

class TemporaryFolder {
 public:
  TemporaryFolder() : path_("/tmp/opserve-acl-XXXXXX") {
    EXPECT_NE(::mkdtemp(path_.data()), nullptr);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Listens on a unix socket, which OPSERVE_TARGET names as long as this lives.
class RemoteServer {
 public:
  explicit RemoteServer(std::vector<std::string> flags = {})
      : process_(AllFlags(std::move(flags))), variable_("OPSERVE_TARGET", target().c_str()) {
    EXPECT_TRUE(process_.WaitForLine("msg=serving")) << process_.output();
  }

  std::string target() const { return "unix:" + folder_.path() + "/socket"; }
  // Until Continue it does nothing, and answers nothing.
  void Pause() { process_.Pause(); }
  void Continue() { process_.Signal(SIGCONT); }
  void Kill() {
    process_.Signal(SIGKILL);
    EXPECT_EQ(process_.Wait(), -SIGKILL);
  }

 private:
  std::vector<std::string> AllFlags(std::vector<std::string> flags) const {
    flags.insert(flags.begin(), {"--listen", target()});
    return flags;
  }

  const TemporaryFolder folder_;
  opserve::testing::ServerProcess process_;
  const Environment variable_;
};

// A call of L1LossBackward without a reduction, planned and not run.
inline aclnnStatus PlanL1(const FloatTensor& grad, const FloatTensor& self, const FloatTensor& out,
                          Planned& planned) {
  return aclnnL1LossBackwardGetWorkspaceSize(grad.get(), self.get(), grad.get(), 0, out.get(),
                                             &planned.workspace_size, &planned.executor);
}

}  // namespace opserve::acl_test
