#include "tests/client/hostile/answer_mutations.h"

#include <limits>
#include <utility>
#include <vector>

#include "google/protobuf/descriptor.h"

namespace opserve::client {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// A change of a message whose descriptor it knows.
using Change = std::function<void(Message&)>;

template <typename T>
const std::vector<T>& Edges() {
  using Limits = std::numeric_limits<T>;
  static const auto& edges = *new std::vector<T>{T{0},
                                                 T{1},
                                                 static_cast<T>(-1),
                                                 Limits::lowest(),
                                                 Limits::max(),
                                                 static_cast<T>(int64_t{1} << 31),
                                                 static_cast<T>(int64_t{1} << 40)};
  return edges;
}

const std::vector<std::string>& Texts() {
  static const auto& texts = *new std::vector<std::string>{
      "", "x", "\x1b[2J\n", "\xff\xfe", std::string(1, '\0'), std::string(100000, 'x')};
  return texts;
}

template <typename T, typename Set, typename Add>
void AddEdges(const FieldDescriptor* field, const std::vector<T>& edges, Set set, Add add,
              std::vector<std::pair<std::string, Change>>& changes) {
  for (const T& edge : edges) {
    if (!field->is_repeated()) {
      changes.emplace_back(
          "set", [=](Message& message) { (message.GetReflection()->*set)(&message, field, edge); });
      continue;
    }
    changes.emplace_back(
        "added", [=](Message& message) { (message.GetReflection()->*add)(&message, field, edge); });
    changes.emplace_back("alone", [=](Message& message) {
      message.GetReflection()->ClearField(&message, field);
      (message.GetReflection()->*add)(&message, field, edge);
    });
  }
}

void AddNumbers(const FieldDescriptor* field,
                std::vector<std::pair<std::string, Change>>& changes) {
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return AddEdges(field, Edges<int32_t>(), &Reflection::SetInt32, &Reflection::AddInt32,
                      changes);
    case FieldDescriptor::CPPTYPE_INT64:
      return AddEdges(field, Edges<int64_t>(), &Reflection::SetInt64, &Reflection::AddInt64,
                      changes);
    case FieldDescriptor::CPPTYPE_UINT32:
      return AddEdges(field, Edges<uint32_t>(), &Reflection::SetUInt32, &Reflection::AddUInt32,
                      changes);
    case FieldDescriptor::CPPTYPE_UINT64:
      return AddEdges(field, Edges<uint64_t>(), &Reflection::SetUInt64, &Reflection::AddUInt64,
                      changes);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return AddEdges(field,
                      std::vector<double>{-1, 1e300, std::numeric_limits<double>::infinity(),
                                          std::numeric_limits<double>::quiet_NaN()},
                      &Reflection::SetDouble, &Reflection::AddDouble, changes);
    case FieldDescriptor::CPPTYPE_BOOL:
      return AddEdges(field, std::vector<bool>{false, true}, &Reflection::SetBool,
                      &Reflection::AddBool, changes);
    case FieldDescriptor::CPPTYPE_ENUM:
      return AddEdges(field, Edges<int32_t>(), &Reflection::SetEnumValue, &Reflection::AddEnumValue,
                      changes);
    default:
      return;
  }
}

// What is done to one field, whether it is set or not.
std::vector<std::pair<std::string, Change>> ChangesOf(const FieldDescriptor* field) {
  std::vector<std::pair<std::string, Change>> changes;
  changes.emplace_back("cleared", [field](Message& message) {
    message.GetReflection()->ClearField(&message, field);
  });
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    changes.emplace_back("empty", [field](Message& message) {
      const Reflection& reflection = *message.GetReflection();
      field->is_repeated() ? reflection.AddMessage(&message, field)
                           : reflection.MutableMessage(&message, field);
    });
  } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
    for (const std::string& text : Texts()) {
      changes.emplace_back("text", [field, text](Message& message) {
        const Reflection& reflection = *message.GetReflection();
        field->is_repeated() ? reflection.AddString(&message, field, text)
                             : reflection.SetString(&message, field, text);
      });
    }
  } else {
    AddNumbers(field, changes);
  }
  return changes;
}

using Visit = std::function<void(const std::string&, const Message&)>;

// `whole` is the message that is sent, of which `part` is a part that may be changed.
class Mutator {
 public:
  Mutator(const Message& valid, const Visit& visit) : whole_(valid.New()), visit_(visit) {
    whole_->CopyFrom(valid);
  }

  void Run() { Mutate(*whole_, whole_->GetTypeName(), 0); }

 private:
  void Mutate(Message& part, const std::string& path, int depth) {
    constexpr int kMaxDepth = 6;
    if (depth == kMaxDepth) return;
    const std::unique_ptr<Message> before(part.New());
    before->CopyFrom(part);
    for (int i = 0; i < part.GetDescriptor()->field_count(); ++i) {
      const FieldDescriptor* field = part.GetDescriptor()->field(i);
      for (const auto& [what, change] : ChangesOf(field)) {
        change(part);
        visit_(path + "." + field->name() + " " + what, *whole_);
        part.CopyFrom(*before);
      }
    }
    std::vector<const FieldDescriptor*> fields;
    part.GetReflection()->ListFields(part, &fields);
    for (const FieldDescriptor* field : fields) Descend(part, field, path, depth);
  }

  void Descend(Message& part, const FieldDescriptor* field, const std::string& path, int depth) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE || field->is_map()) return;
    const Reflection& reflection = *part.GetReflection();
    const std::string inner = path + "." + field->name();
    if (!field->is_repeated())
      return Mutate(*reflection.MutableMessage(&part, field), inner, depth + 1);
    reflection.AddMessage(&part, field)->CopyFrom(reflection.GetRepeatedMessage(part, field, 0));
    visit_(inner + " twice", *whole_);
    reflection.RemoveLast(&part, field);
    for (int i = 0; i < reflection.FieldSize(part, field); ++i)
      Mutate(*reflection.MutableRepeatedMessage(&part, field, i), inner, depth + 1);
  }

  const std::unique_ptr<Message> whole_;
  const Visit& visit_;
};

}  // namespace

void ForEachMutation(const Message& valid, const Visit& visit) { Mutator(valid, visit).Run(); }

void ForEachDamage(const std::string& valid, const std::function<void(const std::string&)>& visit) {
  for (size_t i = 0; i < valid.size(); ++i) {
    visit(valid.substr(0, i));
    for (const int bits : {0x01, 0x08, 0x80, 0xff}) {
      std::string damaged = valid;
      damaged[i] = static_cast<char>(damaged[i] ^ bits);
      visit(damaged);
    }
  }
}

}  // namespace opserve::client
