// The ids of objects, alike for every kind of them.
#include <gtest/gtest.h>

#include <ostream>
#include <vector>

#include "tests/server/session/session_fixture.h"

namespace opserve::testing {
namespace {

struct ObjectKind {
  std::string name;      // the parameter in errors
  std::string create;    // with $ for the id
  std::string destroy;   // likewise
  std::string fail;      // a creation that fails
  std::string at_fault;  // the parameter of that failure
  std::vector<std::string> uses;
};

void PrintTo(const ObjectKind& kind, std::ostream* out) { *out << kind.name; }

constexpr const char* kCall =
    "call { op: 'Hardshrink' attributes { name: 'lambd' float_value: 1 } "
    "inputs { name: 'self' dtype: DATA_TYPE_FLOAT32 shape: 2 buffer { buffer: 9 } } }";

constexpr const char* kCopyOnStream =
    "copy { source { buffer: 9 row_bytes: 1 } destination { buffer: 9 offset_bytes: 4 row_bytes: 1 "
    "} "
    "stream: $ }";

constexpr const char* kPlanOnBuffer =
    "create_executor { executor: 100 context: 1 call { op: 'Hardshrink' inputs { "
    "name: 'self' dtype: DATA_TYPE_FLOAT32 shape: 2 buffer { buffer: $ } } } }";

ObjectKind ContextKind() {
  return {"context",
          "create_context { context: $ }",
          "destroy_context { context: $ }",
          "create_context { context: $ device: 'none:7' }",
          "device",
          {"create_stream { stream: 100 context: $ }", "create_event { event: 100 context: $ }",
           "allocate { buffer: 100 context: $ size_bytes: 8 }", "query_memory { context: $ }",
           "synchronize { context: $ }",
           absl::StrCat("create_executor { executor: 100 context: $ ", kCall, " }")}};
}

ObjectKind StreamKind() {
  return {"stream",
          "create_stream { stream: $ context: 1 }",
          "destroy_stream { stream: $ }",
          "create_stream { stream: $ context: 1 on_failure: 17 }",
          "on_failure",
          {"query_stream { stream: $ }", "synchronize { stream: $ }",
           "record_event { event: 9 stream: $ }", "wait_event { event: 9 stream: $ }",
           "upload { destination { buffer: 9 } stream: $ }",
           "download { source { buffer: 9 row_bytes: 8 } stream: $ }", kCopyOnStream,
           "fill { destination { buffer: 9 row_bytes: 8 } pattern: 'x' stream: $ }",
           "run_executor { executor: 9 stream: $ }"}};
}

ObjectKind EventKind() {
  return {"event",
          "create_event { event: $ context: 1 }",
          "destroy_event { event: $ }",
          "create_event { event: $ context: 77 }",
          "context",
          {"record_event { event: $ stream: 9 }", "wait_event { event: $ stream: 9 }",
           "query_event { event: $ }", "synchronize { event: $ }",
           "query_elapsed_time { start: $ end: 9 }", "query_elapsed_time { start: 9 end: $ }"}};
}

ObjectKind BufferKind() {
  return {"buffer",
          "allocate { buffer: $ context: 1 size_bytes: 8 }",
          "free { buffer: $ }",
          "allocate { buffer: $ context: 1 size_bytes: -1 }",
          "size_bytes",
          {"upload { destination { buffer: $ } stream: 9 }",
           "download { source { buffer: $ row_bytes: 8 } stream: 9 }",
           "copy { source { buffer: $ row_bytes: 8 } destination { buffer: 9 row_bytes: 8 } "
           "stream: 9 }",
           "copy { source { buffer: 9 row_bytes: 8 } destination { buffer: $ row_bytes: 8 } "
           "stream: 9 }",
           "fill { destination { buffer: $ row_bytes: 8 } pattern: 'x' stream: 9 }",
           "set_tensors { executor: 9 tensors { name: 'self' buffer { buffer: $ } } }",
           "run_executor { executor: 9 stream: 9 workspace { buffer: $ } }", kPlanOnBuffer}};
}

ObjectKind ExecutorKind() {
  return {"executor",
          absl::StrCat("create_executor { executor: $ context: 1 ", kCall, " }"),
          "destroy_executor { executor: $ }",
          "create_executor { executor: $ context: 1 call { op: 'Nothing' } }",
          "operator",
          {"run_executor { executor: $ stream: 9 }", "set_tensors { executor: $ }"}};
}

class SessionObjectsTest : public SessionFixture, public ::testing::WithParamInterface<ObjectKind> {
 protected:
  void SetUp() override {
    MakeStreams();
    session().Do("create_stream { stream: 9 context: 1 }");
    session().Do("create_event { event: 9 context: 1 }");
    session().Do("record_event { event: 9 stream: 9 }");
    session().Do("allocate { buffer: 9 context: 1 size_bytes: 8 }");
    session().Do(
        absl::StrCat("create_executor { executor: 9 context: 1 repeatable: true ", kCall, " }"));
  }

  static std::string With(std::string text, uint64_t id) {
    for (size_t at = text.find('$'); at != std::string::npos; at = text.find('$'))
      text.replace(at, 1, std::to_string(id));
    return text;
  }

  // Every use of `id` fails with words that hold `got`.
  void ExpectUseless(uint64_t id, std::string_view reason, std::string_view got) {
    for (const std::string& use : GetParam().uses) {
      const Reply reply = session().Refuse(With(use, id), reason, GetParam().name, Raw(use));
      EXPECT_NE(reply.part("got").find(got), std::string::npos) << use << ": " << reply.part("got");
    }
  }

  static std::vector<std::string> Raw(const std::string& use) {
    return use.starts_with("upload") ? std::vector<std::string>{"12345678"}
                                     : std::vector<std::string>{};
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, SessionObjectsTest,
                         ::testing::Values(ContextKind(), StreamKind(), EventKind(), BufferKind(),
                                           ExecutorKind()),
                         [](const auto& param) { return param.param.name; });

TEST_P(SessionObjectsTest, IdZeroIsNobodys) {
  session().Refuse(With(GetParam().create, 0), kNull, GetParam().name);
  session().Refuse(With(GetParam().destroy, 0), kNull, GetParam().name);
  ExpectUseless(0, kNull, "");
}

TEST_P(SessionObjectsTest, AnIdIsUsedOnce) {
  session().Do(With(GetParam().create, 50));
  const Reply reply = session().Refuse(With(GetParam().create, 50), kInUse, GetParam().name);
  EXPECT_EQ(reply.part("got"), "50, which is in use");
  session().Do(With(GetParam().destroy, 50));  // the first is still there
}

TEST_P(SessionObjectsTest, UnknownIds) {
  session().Refuse(With(GetParam().destroy, 50), kNotFound, GetParam().name);
  ExpectUseless(50, kNotFound, "50, which was never made or is gone");
}

TEST_P(SessionObjectsTest, ADestroyedOneIsGoneAndItsIdFree) {
  session().Do(With(GetParam().create, 50));
  session().Do(With(GetParam().destroy, 50));
  ExpectUseless(50, kNotFound, "50, which was never made or is gone");
  session().Refuse(With(GetParam().destroy, 50), kNotFound, GetParam().name);
  session().Do(With(GetParam().create, 50));
}

TEST_P(SessionObjectsTest, OneThatFailedToBeMadeNamesTheCommand) {
  const uint64_t command = session().Send(With(GetParam().fail, 50));
  const Reply failed = session().Await(command);
  EXPECT_EQ(failed.part("parameter"), GetParam().at_fault) << failed.last().ShortDebugString();
  ExpectUseless(50, kNotFound,
                absl::StrCat("50, which command ", command,
                             " failed to make: ", failed.last().error().message()));
  session().Do(With(GetParam().destroy, 50));  // nothing is left to destroy
  ExpectUseless(50, kNotFound, "never made or is gone");
}

TEST_P(SessionObjectsTest, OneThatFailedToBeMadeMayBeMadeAgain) {
  session().Await(session().Send(With(GetParam().fail, 50)));
  session().Do(With(GetParam().create, 50));
  session().Do(With(GetParam().destroy, 50));
}

}  // namespace
}  // namespace opserve::testing
