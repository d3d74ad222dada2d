#include "baton/docs/flags_page.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "baton/base/flags.h"
#include "baton/tools/opt_main.h"
#include "baton/tools/run_options.h"

namespace baton::docs {

std::string FlagsPage() {
  std::vector<std::string> kept;
  for (const Flag& flag : FlagsOf<RunOptions>()) {
    kept.push_back(absl::StrCat("`", flag.name, "`"));
  }
  return absl::StrCat(
      "# Flags of baton-opt\n"
      "\n"
      "[baton_opt.md](baton_opt.md) describes their use.\n"
      "\n"
      "This page is made from their descriptions in `tools/opt.h`, "
      "`tools/run_options.h`, `tools/opt_main.cc` and built-in instruments. To "
      "update it, run\n"
      "\n"
      "    ./bazelw run //docs:update\n"
      "\n"
      "```console\n"
      "$ baton-opt --help\n",
      OptHelp(),
      "```\n"
      "\n"
      "A flag is given as `--NAME=VALUE` or `--NAME VALUE`; one without a "
      "value, as `--NAME` or `--noNAME`. `--flagfile=FILE` reads flags from a "
      "file ([baton_opt.md](baton_opt.md#flag-files)). Libraries that are "
      "linked into a compiler may add flags, which its `--help` shows "
      "([write_an_instrument.md](write_an_instrument.md#flags-of-an-instrument)"
      ")"
      ".\n"
      "\n"
      "A reproducer keeps these, and the flags of instruments that skip or "
      "check passes or that libraries add: ",
      absl::StrJoin(kept, ", "), ".\n");
}

}  // namespace baton::docs
