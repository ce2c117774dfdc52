#include "core/backends/ascend/acl_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/mutex.h"
#include "core/base/op_error.h"
#include "core/base/status_macros.h"

namespace opserve::ascend {
namespace {

constexpr int32_t kRepeatedInit = 100002;

// Loads libraries and keeps account of what was tried.
class Loader {
 public:
  explicit Loader(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
      std::error_code error;
      (std::filesystem::is_directory(path, error) ? folders_ : files_).push_back(path);
    }
  }

  // Null when it cannot be loaded.
  void* LoadFile(const std::string& path) {
    void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    absl::StrAppend(&tried_, tried_.empty() ? "" : "; ",
                    handle != nullptr ? path : std::string(::dlerror()));
    return handle;
  }

  // From the folders, else from where the system looks.
  void* LoadNamed(const std::string& name) {
    for (const std::string& folder : folders_) {
      const std::string path = absl::StrCat(folder, "/", name);
      std::error_code error;
      if (!std::filesystem::exists(path, error)) continue;
      if (void* handle = LoadFile(path)) return handle;
    }
    return LoadFile(name);
  }

  // Those of the folders by their names, and the usual ones.
  std::vector<std::string> NamesOfOperatorLibraries() const {
    std::vector<std::string> names = {"libopapi_math.so", "libopapi_nn.so"};
    for (const std::string& folder : folders_) {
      std::error_code error;
      for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        const std::string name = entry.path().filename();
        if (name.rfind("libopapi_", 0) == 0 && entry.path().extension() == ".so")
          names.push_back(name);
      }
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    names.emplace_back("libopapi.so");
    return names;
  }

  const std::vector<std::string>& files() const { return files_; }
  absl::Status NotFound(std::string_view what) const {
    return InvalidParameter("ascend", what, absl::StrCat("none: ", tried_));
  }

 private:
  std::vector<std::string> folders_;
  std::vector<std::string> files_;
  std::string tried_;
};

void* FindSymbol(std::span<void* const> handles, const std::string& symbol) {
  for (void* handle : handles) {
    if (void* found = ::dlsym(handle, symbol.c_str())) return found;
  }
  return nullptr;
}

// A function of the runtime, and where it goes.
struct Wanted {
  const char* symbol;
  void (*put)(void* found, AclFunctions& functions);
};

constexpr Wanted kWanted[] = {
#define OPSERVE_ACL_FUNCTION(member, symbol, result, parameters)             \
  {symbol, [](void* found, AclFunctions& functions) {                        \
     functions.member = reinterpret_cast<decltype(functions.member)>(found); \
   }},
#include "core/backends/ascend/acl_functions.inc"
#undef OPSERVE_ACL_FUNCTION
};

absl::Status ResolveAll(std::span<void* const> handles, AclFunctions& functions) {
  for (const Wanted& wanted : kWanted) {
    void* found = FindSymbol(handles, wanted.symbol);
    if (found == nullptr) {
      return InvalidParameter(
          "ascend", absl::StrCat(wanted.symbol, " in libascendcl.so or libnnopbase.so"), "none");
    }
    wanted.put(found, functions);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<const AclLibrary>> AclLibrary::Open(
    const std::vector<std::string>& paths) {
  static Mutex mutex;
  static auto& open = *new std::map<std::vector<std::string>, std::weak_ptr<const AclLibrary>>;
  MutexLock lock(mutex);
  std::weak_ptr<const AclLibrary>& place = open[paths];
  if (std::shared_ptr<const AclLibrary> found = place.lock()) return found;
  const std::shared_ptr<AclLibrary> made(new AclLibrary);
  OPSERVE_RETURN_IF_ERROR(made->Load(paths));
  OPSERVE_RETURN_IF_ERROR(made->Initialize());
  place = made;
  return std::shared_ptr<const AclLibrary>(made);
}

AclLibrary::~AclLibrary() {
  if (initialized_) functions_.finalize();
}

absl::Status AclLibrary::Load(const std::vector<std::string>& paths) {
  Loader loader(paths);
  std::vector<void*> runtime;
  for (const char* name : {"libascendcl.so", "libnnopbase.so"}) {
    runtime.push_back(loader.LoadNamed(name));
    if (runtime.back() == nullptr) return loader.NotFound(absl::StrCat("the library ", name));
  }
  OPSERVE_RETURN_IF_ERROR(ResolveAll(runtime, functions_));
  for (const std::string& file : loader.files()) {
    operators_.push_back(loader.LoadFile(file));
    if (operators_.back() == nullptr) return loader.NotFound(absl::StrCat("the library ", file));
  }
  for (const std::string& name : loader.NamesOfOperatorLibraries()) {
    if (void* handle = loader.LoadNamed(name)) operators_.push_back(handle);
  }
  if (operators_.empty()) return loader.NotFound("a library of operators, as libopapi.so");
  return absl::OkStatus();
}

absl::Status AclLibrary::Initialize() {
  const int32_t code = functions_.init(nullptr);
  initialized_ = code == 0 || code == kRepeatedInit;
  if (initialized_) return absl::OkStatus();
  const char* message = functions_.recent_message();
  return MakeError({.reason = ErrorReason::kDeviceError,
                    .op = {},
                    .parameter = "ascend",
                    .want = "aclInit to succeed",
                    .got = absl::StrCat(code, " ", message == nullptr ? "" : message)});
}

std::optional<AclOperator> AclLibrary::FindOperator(std::string_view name) const {
  const std::string symbol = "aclnn" + std::string(name);
  void* plan = FindSymbol(operators_, symbol + "GetWorkspaceSize");
  void* execute = FindSymbol(operators_, symbol);
  if (plan == nullptr || execute == nullptr) return std::nullopt;
  return AclOperator{plan, reinterpret_cast<decltype(AclOperator::execute)>(execute)};
}

}  // namespace opserve::ascend
