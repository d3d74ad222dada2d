#include "baton/tools/run_main.h"

#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>

#include "absl/functional/function_ref.h"

namespace baton {

int RunMain(const char* program, absl::FunctionRef<int()> body) noexcept {
  const auto say = [program](const char* what) {
    std::fprintf(stderr, "%s: %s\n", program, what);
    return 1;
  };
  try {
    return body();
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
