// What decides how passes run and what becomes of a module.

#ifndef BATON_TOOLS_RUN_OPTIONS_H_
#define BATON_TOOLS_RUN_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace baton {

// Those of baton-opt's options that a reproducer keeps: given the same module
// and the same of these, the same happens again. Each has a flag of its name,
// but for `typed_input`.
struct RunOptions {
  std::string passes;  // see transform/pipeline.h; empty for none
  int opt_level = 2;
  std::vector<std::string> disabled_pass;
  std::vector<std::string> required_pass;
  std::string config;         // `KEY=VALUE,...`; see transform/config.h
  int threads = 1;            // 0 for as many as the machine has
  int64_t bisect_limit = -1;  // negative for no limit
  bool verify_each = false;
  bool check_values = false;
  int64_t seed = 0;
  // Whether the module that the passes are given has types.
  bool typed_input = false;

  template <typename V>
  static void VisitFields(V& v) {
    v("passes", &RunOptions::passes, "The passes to run.");
    v("opt_level", &RunOptions::opt_level,
      "Sequences run the passes of this level and below.");
    v("disabled_pass", &RunOptions::disabled_pass,
      "Passes that sequences leave out.");
    v("required_pass", &RunOptions::required_pass,
      "Passes that run whatever their level.");
    v("config", &RunOptions::config, "Settings of passes.");
    v("threads", &RunOptions::threads, "Threads for function passes.");
    v("bisect_limit", &RunOptions::bisect_limit,
      "Executions after which passes no longer change the program.");
    v("verify_each", &RunOptions::verify_each,
      "Check the module after each pass.");
    v("check_values", &RunOptions::check_values,
      "Compare what the module computes before and after each pass.");
    v("seed", &RunOptions::seed, "Of the random inputs of check_values.");
    v("typed_input", &RunOptions::typed_input,
      "Infer types before the passes run.");
  }
};

}  // namespace baton

#endif  // BATON_TOOLS_RUN_OPTIONS_H_
