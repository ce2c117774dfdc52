// Trains a small convolutional classifier on generated pictures: training [TARGET [STEPS]]
//
// Pictures, parameters and everything between stay on the server; a step is a row of operators on
// one stream, planned once for each batch. Only the loss comes back, now and then.
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <opserve/client.h>
#include <opserve/session.h>

using opserve::DType;
using opserve::client::Client;
using opserve::client::Context;
using opserve::client::DeviceCall;
using opserve::client::DeviceTensor;
using opserve::client::Executor;
using opserve::client::ExecutorUse;
using opserve::client::Session;
using opserve::client::Stream;
using opserve::client::Tensor;
using opserve::client::TensorView;

namespace {

using Shape = std::vector<int64_t>;

constexpr int64_t kPictures = 256;
constexpr int64_t kBatch = 64;
constexpr int64_t kSide = 12;
constexpr int64_t kClasses = 4;
constexpr int64_t kChannels = 8;
constexpr int64_t kGroups = 2;
constexpr int64_t kPooled = kSide / 2;
constexpr int64_t kFeatures = kChannels * kPooled * kPooled;
constexpr double kLearningRate = 0.125;

// The same numbers on every machine and in every language.
class Numbers {
 public:
  explicit Numbers(uint32_t seed) : state_(seed) {}

  uint32_t Below(uint32_t bound) { return (Next() >> 16) % bound; }
  // In [-1, 1).
  float Uniform() { return static_cast<float>(Next() >> 8) * 0x1p-23f - 1; }
  std::vector<float> Uniforms(int64_t count, float scale) {
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) value = Uniform() * scale;
    return values;
  }

 private:
  uint32_t Next() { return state_ = state_ * 1664525u + 1013904223u; }

  uint32_t state_;
};

// Pictures of rows, columns, diagonals or squares, moved by some pixels and with noise.
struct Pictures {
  std::vector<float> pixels;
  std::vector<int64_t> classes;

  explicit Pictures(Numbers numbers) {
    for (int64_t i = 0; i < kPictures; ++i) {
      const auto kind = static_cast<int64_t>(numbers.Below(kClasses));
      const auto shift = static_cast<int64_t>(numbers.Below(4));
      classes.push_back(kind);
      for (int64_t p = 0; p < kSide * kSide; ++p) {
        const int64_t row = p / kSide + shift;
        const int64_t column = p % kSide + shift;
        const std::array<int64_t, kClasses> stripe = {row / 2, column / 2, (row + column) / 2,
                                                      row / 2 + column / 2};
        const float bright = stripe[static_cast<size_t>(kind)] % 2 == 0 ? 0.5f : -0.5f;
        pixels.push_back(bright + numbers.Uniform());
      }
    }
  }
};

// The same memory with another shape: dense, or transposed.
DeviceTensor Reshaped(DeviceTensor tensor, const Shape& shape) {
  tensor.desc = opserve::TensorDesc::Dense(tensor.desc.dtype, shape);
  return tensor;
}
DeviceTensor Transposed(DeviceTensor matrix) {
  std::swap(matrix.desc.shape[0], matrix.desc.shape[1]);
  std::swap(matrix.desc.strides[0], matrix.desc.strides[1]);
  return matrix;
}

// A parameter, its gradient, and what it becomes by a step.
struct Parameter {
  DeviceTensor value;
  DeviceTensor gradient;
  DeviceTensor next;
};

class Training {
 public:
  Training(Context context, Stream stream)
      : context_(std::move(context)), stream_(std::move(stream)) {}

  absl::Status Prepare() {
    const Pictures pictures{Numbers(1)};
    pixels_ = Put({kPictures, 1, kSide, kSide}, pictures.pixels);
    classes_ = context_.NewTensor(DType::kInt64, {kPictures});
    Keep(stream_.Upload(classes_, TensorView::Of(pictures.classes, Shape{kPictures})));
    Numbers numbers(2);
    kernel_ = MakeParameter({kChannels, 1, 3, 3}, numbers.Uniforms(kChannels * 9, 1.0f / 3));
    gamma_ = MakeParameter({kChannels}, std::vector<float>(kChannels, 1));
    beta_ = MakeParameter({kChannels}, std::vector<float>(kChannels, 0));
    weight_ =
        MakeParameter({kFeatures, kClasses}, numbers.Uniforms(kFeatures * kClasses, 1.0f / 17));
    bias_ = MakeParameter({1, kClasses}, std::vector<float>(kClasses, 0));
    ones_ = Put({1, kBatch}, std::vector<float>(kBatch, 1));
    loss_ = New({});
    for (int64_t first = 0; first < kPictures; first += kBatch) PlanStep(first);
    for (const std::vector<Executor>& plans : steps_) {
      for (const Executor& executor : plans) Keep(executor.plan().status());
    }
    Keep(stream_.Synchronize());
    return status_;
  }

  void Step(int64_t step) {
    const size_t batch = static_cast<size_t>(step) % steps_.size();
    for (const Executor& executor : steps_[batch]) stream_.Execute(executor);
    for (const Parameter* p : {&kernel_, &gamma_, &beta_, &weight_, &bias_})
      Keep(stream_.Copy(p->next, p->value));
  }

  absl::StatusOr<float> Loss() {
    Keep(stream_.Synchronize());
    if (!status_.ok()) return status_;
    const absl::StatusOr<Tensor> loss = stream_.Download(loss_);
    if (!loss.ok()) return loss.status();
    return loss->As<float>()[0];
  }

 private:
  void Keep(const absl::Status& status) { status_.Update(status); }

  DeviceTensor New(const Shape& shape) { return context_.NewTensor(DType::kFloat32, shape); }
  DeviceTensor Put(const Shape& shape, const std::vector<float>& values) {
    DeviceTensor tensor = New(shape);
    Keep(stream_.Upload(tensor, TensorView::Of(values, shape)));
    return tensor;
  }
  Parameter MakeParameter(const Shape& shape, const std::vector<float>& values) {
    return {Put(shape, values), New(shape), New(shape)};
  }

  void Plan(const DeviceCall& call) {
    plans_->push_back(context_.CreateExecutor(call, ExecutorUse::kRepeatable));
  }

  DeviceCall Convolve(const char* op) const {
    DeviceCall call(op);
    call.Attribute("stride", Shape{1, 1})
        .Attribute("padding", Shape{1, 1})
        .Attribute("dilation", Shape{1, 1})
        .Attribute("transposed", false)
        .Attribute("output_padding", Shape{0, 0})
        .Attribute("groups", 1);
    return call;
  }
  DeviceCall Normalize(const char* op) const {
    DeviceCall call(op);
    call.Attribute("N", kBatch)
        .Attribute("C", kChannels)
        .Attribute("HxW", kSide * kSide)
        .Attribute("group", kGroups);
    return call;
  }
  DeviceCall Pool(const char* op) const {
    DeviceCall call(op);
    call.Attribute("kernel_size", Shape{2, 2})
        .Attribute("stride", Shape{2, 2})
        .Attribute("padding", Shape{0, 0});
    return call;
  }
  void Multiply(const DeviceTensor& a, const DeviceTensor& b, const DeviceTensor& out) {
    Plan(DeviceCall("Matmul").Input("self", a).Input("mat2", b).Output("out", out));
  }

  // What a step keeps between its operators.
  struct Activations {
    DeviceTensor input, target, convolved, mean, rstd, normal, active, pooled, scores, log_prob;

    DeviceTensor features() const { return Reshaped(pooled, {kBatch, kFeatures}); }
  };

  // Of the pictures from `first` on.
  Activations NewActivations(int64_t first) {
    const Shape plane = {kBatch, kChannels, kSide, kSide};
    Activations a;
    a.input = Reshaped(pixels_, {kBatch, 1, kSide, kSide});
    a.input.offset_bytes += first * kSide * kSide * static_cast<int64_t>(sizeof(float));
    a.target = Reshaped(classes_, {kBatch});
    a.target.offset_bytes += first * static_cast<int64_t>(sizeof(int64_t));
    for (DeviceTensor* tensor : {&a.convolved, &a.normal, &a.active}) *tensor = New(plane);
    for (DeviceTensor* tensor : {&a.mean, &a.rstd}) *tensor = New({kBatch, kGroups});
    a.pooled = New({kBatch, kChannels, kPooled, kPooled});
    for (DeviceTensor* tensor : {&a.scores, &a.log_prob}) *tensor = New({kBatch, kClasses});
    return a;
  }

  void PlanForward(const Activations& a) {
    Plan(Convolve("Convolution")
             .Input("input", a.input)
             .Input("weight", kernel_.value)
             .Output("out", a.convolved));
    Plan(Normalize("GroupNorm")
             .Input("self", a.convolved)
             .Input("gamma", gamma_.value)
             .Input("beta", beta_.value)
             .Output("out", a.normal)
             .Output("mean", a.mean)
             .Output("rstd", a.rstd));
    Plan(DeviceCall("Relu").Input("self", a.normal).Output("out", a.active));
    Plan(Pool("AvgPool2d").Input("self", a.active).Output("out", a.pooled));
    Plan(DeviceCall("Addmm")
             .Input("self", bias_.value)
             .Input("mat1", a.features())
             .Input("mat2", weight_.value)
             .Output("out", a.scores));
    Plan(DeviceCall("CrossEntropyLoss")
             .Input("self", a.scores)
             .Input("target", a.target)
             .Output("loss", loss_)
             .Output("log_prob", a.log_prob));
  }

  // From the loss back to what was pooled; its gradient.
  DeviceTensor PlanBackwardOfScores(const Activations& a) {
    const DeviceTensor of_scores = New({kBatch, kClasses});
    DeviceTensor of_pooled = New({kBatch, kChannels, kPooled, kPooled});
    Plan(DeviceCall("CrossEntropyLossGrad")
             .Input("grad_loss", Reshaped(ones_, {}))
             .Input("log_prob", a.log_prob)
             .Input("target", a.target)
             .Output("out", of_scores));
    Multiply(Transposed(a.features()), of_scores, weight_.gradient);
    Multiply(ones_, of_scores, bias_.gradient);
    Multiply(of_scores, Transposed(weight_.value), Reshaped(of_pooled, {kBatch, kFeatures}));
    return of_pooled;
  }

  void PlanBackwardOfPooled(const Activations& a, const DeviceTensor& of_pooled) {
    const Shape plane = {kBatch, kChannels, kSide, kSide};
    const DeviceTensor of_active = New(plane), of_normal = New(plane), of_convolved = New(plane);
    Plan(Pool("AvgPool2dBackward")
             .Input("grad_output", of_pooled)
             .Input("self", a.active)
             .Output("grad_input", of_active));
    Plan(DeviceCall("ThresholdBackward")
             .Input("grad_output", of_active)
             .Input("self", a.normal)
             .Attribute("threshold", 0.0)
             .Output("out", of_normal));
    Plan(Normalize("GroupNormBackward")
             .Input("grad_out", of_normal)
             .Input("input", a.convolved)
             .Input("mean", a.mean)
             .Input("rstd", a.rstd)
             .Input("gamma", gamma_.value)
             .Output("grad_input", of_convolved)
             .Output("grad_gamma", gamma_.gradient)
             .Output("grad_beta", beta_.gradient));
    Plan(Convolve("ConvolutionBackward")
             .Input("grad_output", of_convolved)
             .Input("input", a.input)
             .Input("weight", kernel_.value)
             .Attribute("output_mask", std::vector<bool>{false, true, false})
             .Output("grad_weight", kernel_.gradient));
  }

  // The step of the pictures from `first` on: forward, backward, and a step down the gradient.
  void PlanStep(int64_t first) {
    plans_ = &steps_.emplace_back();
    const Activations activations = NewActivations(first);
    PlanForward(activations);
    PlanBackwardOfPooled(activations, PlanBackwardOfScores(activations));
    for (const Parameter* p : {&kernel_, &gamma_, &beta_, &weight_, &bias_}) {
      Plan(DeviceCall("Sub")
               .Input("self", p->value)
               .Input("other", p->gradient)
               .Attribute("alpha", kLearningRate)
               .Output("out", p->next));
    }
  }

  Context context_;
  Stream stream_;
  absl::Status status_;
  DeviceTensor pixels_, classes_, ones_, loss_;
  Parameter kernel_, gamma_, beta_, weight_, bias_;
  std::vector<std::vector<Executor>> steps_;  // of each batch
  std::vector<Executor>* plans_ = nullptr;
};

absl::Status Train(const char* server, int64_t steps) {
  const absl::StatusOr<Client> client = Client::Connect(server);
  if (!client.ok()) return client.status();
  absl::StatusOr<Session> session = client->OpenSession();
  if (!session.ok()) return session.status();
  Context context = session->CreateContext();
  Training training(context, context.CreateStream());
  if (const absl::Status status = training.Prepare(); !status.ok()) return status;
  const auto start = std::chrono::steady_clock::now();
  for (int64_t step = 0; step < steps; ++step) {
    training.Step(step);
    if (step % 10 != 0 && step != steps - 1) continue;
    const absl::StatusOr<float> loss = training.Loss();
    if (!loss.ok()) return loss.status();
    std::printf("step %lld loss %.6f\n", static_cast<long long>(step), static_cast<double>(*loss));
  }
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  std::printf("%.3f ms a step\n", time.count() / static_cast<double>(steps));
  return session->Close();
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t steps = argc > 2 ? std::strtoll(argv[2], nullptr, 10) : 100;
  if (steps < 1) {
    std::fprintf(stderr, "training [TARGET [STEPS]]: want STEPS >= 1, got %s\n", argv[2]);
    return 2;
  }
  const absl::Status status = Train(argc > 1 ? argv[1] : "localhost:8500", steps);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return 1;
}
