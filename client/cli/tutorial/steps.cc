#include "client/cli/tutorial/steps.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"

namespace opserve::cli {
namespace {

constexpr size_t kMostColumns = 78;
constexpr char kProgramFile[] = "layer.program";

bool NeedsNoQuotes(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
         absl::StrContains("_./=:,+-", absl::string_view(&c, 1));
}

std::string Quoted(const std::string& word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), NeedsNoQuotes)) return word;
  return absl::StrCat("'", absl::StrReplaceAll(word, {{"'", R"('\'')"}}), "'");
}

// The call of the first steps, and what is added to it.
std::vector<std::string> GradientWith(const std::vector<std::string>& more) {
  std::vector<std::string> words = {
      "run", "SmoothL1LossBackward",           "-i", "grad_out=1",
      "-i",  "self=f32[4,2]{0,1,2,3,4,5,6,7}", "-i", "target=f32[4,2]=1"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::vector<TutorialStep> CallSteps() {
  return {
      {.title = "A gradient",
       .text = "A call names an operator and gives its inputs by name. This one computes the\n"
               "gradient of the loss SmoothL1 for eight predictions. f32[4,2]{...} is a tensor\n"
               "with its elements, f32[4,2]=1 a tensor of ones, and 1 a scalar.",
       .words = GradientWith({})},
      {.title = "What an operator takes",
       .text = "Each operator has a page with its formula, inputs, attributes and dtypes.\n"
               "`opserve ops` without a name lists all operators.",
       .words = {"ops", "SmoothL1LossBackward"}},
      {.title = "Attributes",
       .text = "Attributes change what an operator computes. Attributes that are left out\n"
               "have their defaults. --execution adds the device and the time of the call.",
       .words = GradientWith({"-a", "reduction=none", "-a", "beta=2", "--execution"})},
      {.title = "A wrong call",
       .text = "The server checks a call before it runs anything. The error names the\n"
               "operator, the parameter, what was wanted and what came. The exit status is\n"
               "then 1.",
       .words = GradientWith({"-a", "beta=-1"}),
       .outcome = Outcome::kRefused,
       .afterwards = "161002 is the code that CANN has for this error, INVALID_ARGUMENT the\n"
                     "status of gRPC. Each client has both."}};
}

std::vector<TutorialStep> LargerSteps(const std::string& folder) {
  const std::string file = absl::StrCat(folder, "/gradient.npy");
  return {
      {.title = "A batch",
       .text = "Small calls cost mostly their messages. A batch sends many calls in one\n"
               "message, and each call has its own answer. This command loads the server with\n"
               "batches of 100 calls for half a second, and measures.",
       .words = {"bench", "Relu", "--shape", "8", "--mode", "batch", "--batch", "100",
                 "--concurrency", "1", "--duration", "500ms", "--warm-up", "100ms"}},
      {.title = "A session",
       .text = "A session keeps tensors on the server and sends them in pieces, so that a call\n"
               "may be larger than a message. -o writes an output to a NumPy file.",
       .words = {"run", "TanhBackward", "-i", "grad_output=1", "-i", "output=f32{0,0.5,1}",
                 "--session", "-o", absl::StrCat("grad_input=", file)}},
      {.title = "Files",
       .text = "A NumPy file is an input like any other.",
       .words = {"run", "Mul", "-i", absl::StrCat("self=", file), "-i", "other=2"}}};
}

TutorialStep ProgramStep(const std::string& folder) {
  const TutorialFile program = ProgramOfTutorial();
  const std::string path = absl::StrCat(folder, "/", program.name);
  return {.title = "A program with its gradient",
          .text = absl::StrCat(
              "A program is several operators in one call. The tutorial has written this one\n"
              "to ",
              path, ":\n\n    ", absl::StrReplaceAll(program.contents, {{"\n", "\n    "}}),
              "\n--grad asks for the gradient of the loss with respect to w and b. The server\n"
              "works out the steps backwards by itself: a training step is one message."),
          .words = {"program", "run", path, "--grad", "loss:w,b", "-i", "x=f32[2,3]=1", "-i",
                    "w=f32[3,1]=2", "-i", "b=f32{0}", "-i", "t=f32[2,1]=5"}};
}

}  // namespace

TutorialFile ProgramOfTutorial() {
  return {kProgramFile,
          "h = Addmm(self=b, mat1=x, mat2=w)\n"
          "loss = MseLoss(self=h, target=t, reduction=mean)\n"
          "return loss\n"};
}

std::vector<TutorialStep> TutorialSteps(const std::string& folder) {
  std::vector<TutorialStep> steps = CallSteps();
  for (TutorialStep& step : LargerSteps(folder)) steps.push_back(std::move(step));
  steps.push_back(ProgramStep(folder));
  return steps;
}

std::string ShellText(const std::vector<std::string>& words) {
  constexpr char kNextLine[] = " \\\n    ";
  std::string text = "opserve";
  size_t columns = text.size();
  for (size_t i = 0; i < words.size(); ++i) {
    std::string part = Quoted(words[i]);
    // An option and its value stay on one line.
    const bool has_value =
        words[i].starts_with("-") && i + 1 < words.size() && !words[i + 1].starts_with("-");
    if (has_value) absl::StrAppend(&part, " ", Quoted(words[++i]));
    const bool fits = columns + 1 + part.size() + 2 <= kMostColumns;
    absl::StrAppend(&text, fits ? " " : kNextLine, part);
    columns = (fits ? columns + 1 : 4) + part.size();
  }
  return text;
}

}  // namespace opserve::cli
