// Reads arbitrary scripts: each is read or refused with an error at a place. A
// module that is read is printed; its text is read again and printed the same.
//
// Besides the input as it is, some inputs are made of it by changes of lines:
// a line is removed, doubled, exchanged with another, indented otherwise.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"

namespace baton {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 16;
constexpr int kChanged = 4;

[[noreturn]] void Fail(absl::string_view what, absl::string_view text) {
  std::fprintf(stderr, "%s:\n%s\n", std::string(what).c_str(),
               std::string(text).c_str());
  std::abort();
}

void Read(const std::string& script) {
  const absl::StatusOr<IRModule> module = ParseModule(script, "fuzz.tir");
  if (!module.ok()) {
    const absl::string_view message = module.status().message();
    if (message.find("fuzz.tir") == absl::string_view::npos) {
      Fail("an error without a place", message);
    }
    return;
  }
  const std::string printed = AsText(*module);
  const absl::StatusOr<IRModule> again = ParseModule(printed, "printed.tir");
  if (!again.ok()) Fail(again.status().message(), printed);
  if (AsText(*again) != printed) Fail("another text", printed);
}

std::string Changed(absl::string_view script, std::mt19937& random) {
  std::vector<std::string> lines = absl::StrSplit(script, '\n');
  const size_t at = random() % lines.size();
  const size_t other = random() % lines.size();
  switch (random() % 6) {
    case 0:
      lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at));
      break;
    case 1: {
      std::string line = lines[at];
      lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(other),
                   std::move(line));
      break;
    }
    case 2:
      std::swap(lines[at], lines[other]);
      break;
    case 3:
      lines[at].insert(0, random() % 2 == 0 ? "    " : "\t");
      break;
    case 4:
      lines[at].erase(0, std::min<size_t>(lines[at].size(), 4));
      break;
    default: {
      constexpr absl::string_view kValues[] = {
          "9223372036854775807", "-1", "T.int64(4294967296)", "0", "1e400"};
      const size_t digit = lines[at].find_first_of("0123456789");
      if (digit != std::string::npos) {
        lines[at].replace(digit, 1, std::string(kValues[random() % 5]));
      }
    }
  }
  return absl::StrJoin(lines, "\n");
}

}  // namespace
}  // namespace baton

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > baton::kMaxBytes) return 0;
  const std::string script(reinterpret_cast<const char*>(data), size);
  baton::Read(script);
  uint32_t seed = 1;
  for (const char c : script) seed = seed * 31 + static_cast<uint8_t>(c);
  std::mt19937 random(seed);
  for (int i = 0; i < baton::kChanged; ++i) {
    baton::Read(baton::Changed(script, random));
  }
  return 0;
}
