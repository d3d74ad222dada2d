#include "baton/tools/tool_main.h"

#include <errno.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>
#include <stdexcept>

#include "absl/functional/function_ref.h"
#include "baton/tools/heap.h"

namespace baton {
namespace {

void Write(const char* text) {
  [[maybe_unused]] const ssize_t n =
      write(STDERR_FILENO, text, std::strlen(text));
}

// Before main nobody catches std::bad_alloc: what is registered there takes
// memory, too. Protobuf has initializers of the first priority that is not
// reserved, 101, so this has one before it.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wprio-ctor-dtor"
__attribute__((constructor(100))) void SetNewHandlerBeforeMain() {
  std::set_new_handler([] {
    Write(program_invocation_short_name);
    Write(": out of memory\n");
    _exit(1);
  });
}
#pragma GCC diagnostic pop

}  // namespace

int RunTool(const char* program, absl::FunctionRef<int()> body) noexcept {
  std::set_new_handler(nullptr);
  PutHeapOnHugePages();
  // A file that grows too large is an error of who writes it. Not ignored: the
  // programs that this one starts have the signal as it was.
  std::signal(SIGXFSZ, [](int) {});
  const auto say = [program](const char* what) {
    std::fprintf(stderr, "%s: %s\n", program, what);
    return 1;
  };
  try {
    const int code = body();
    std::cout.flush();
    return code == 0 && !std::cout ? say("cannot write to standard output")
                                   : code;
  } catch (const std::bad_alloc&) {
    return say("out of memory");
  } catch (const std::length_error&) {
    return say("out of memory");
  } catch (const std::exception& e) {
    return say(e.what());
  } catch (...) {
    return say("an exception that is not a std::exception");
  }
}

}  // namespace baton
