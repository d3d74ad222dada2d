#include "baton/tir/ir/script_target.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {
namespace {

// A kind of targets: its keys, and the options that it adds.
struct TargetKind {
  absl::string_view name;
  absl::string_view keys;
  absl::string_view defaults;
};
constexpr TargetKind kKinds[] = {
    {"aocl", "aocl,hls", ""},
    {"aocl_sw_emu", "aocl,hls", ""},
    {"c", "cpu", ""},
    {"cuda", "cuda,gpu",
     "-arch=sm_50 -max_num_threads=1024 -thread_warp_size=32"},
    {"hexagon", "hexagon,cpu", ""},
    {"llvm", "cpu", ""},
    {"metal", "metal,gpu",
     "-max_function_args=31 -max_num_threads=256 "
     "-max_shared_memory_per_block=32768 -max_threads_per_block=256 "
     "-thread_warp_size=16"},
    {"nvptx", "cuda,gpu",
     "-max_num_threads=1024 -mcpu=sm_50 -mtriple=nvptx64-nvidia-cuda "
     "-thread_warp_size=32"},
    {"opencl", "opencl,gpu",
     "-max_function_args=128 -max_num_threads=256 "
     "-max_shared_memory_per_block=16384 -max_threads_per_block=256 "
     "-texture_spatial_limit=16384 -thread_warp_size=1"},
    {"rocm", "rocm,gpu",
     "-max_num_threads=256 -max_shared_memory_per_block=65536 "
     "-max_threads_per_block=256 -mcpu=gfx900 -mtriple=amdgcn-amd-amdhsa-hcc "
     "-thread_warp_size=64"},
    {"sdaccel", "sdaccel,hls", ""},
    {"stackvm", "cpu", ""},
    {"vulkan", "vulkan,gpu",
     "-max_num_threads=256 -max_threads_per_block=256 -supports_float32=1 "
     "-supports_int32=1 -thread_warp_size=1"},
    {"webgpu", "webgpu,gpu", "-max_num_threads=256"},
};

// Options whose values are lists.
constexpr absl::string_view kLists[] = {"cl-opt", "keys", "libs",
                                        "llvm-options", "mattr"};

PrimExpr ListOf(const std::vector<std::string>& items) {
  std::vector<PrimExpr> texts;
  texts.reserve(items.size());
  for (const std::string& item : items) texts.push_back(StringImm(item));
  return List(std::move(texts));
}

// Options whose values are texts, also those that are written as numbers.
constexpr absl::string_view kTexts[] = {"arch",  "device",  "mabi",
                                        "march", "mcpu",    "mfloat-abi",
                                        "model", "mtriple", "runtime"};

// Adds the options of `words` whose names are not in `known` to `entries`, and
// their names to `known`.
absl::Status AddOptions(absl::string_view words,
                        FlatHashSet<std::string>& known,
                        std::vector<Dict::Entry>& entries) {
  for (absl::string_view word : absl::StrSplit(
           words, absl::ByAnyChar(" \t\n\r"), absl::SkipWhitespace())) {
    const absl::string_view all = word;
    if (!absl::ConsumePrefix(&word, "-")) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected an option -name=value, got ", all));
    }
    absl::ConsumePrefix(&word, "-");
    const std::pair<absl::string_view, absl::string_view> option =
        absl::StrSplit(word, absl::MaxSplits('=', 1));
    if (option.first.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected the name of an option, got ", all));
    }
    if (!known.insert(std::string(option.first)).second) continue;
    const bool is_list = absl::c_linear_search(kLists, option.first);
    const bool is_text = absl::c_linear_search(kTexts, option.first);
    int32_t number = 0;
    PrimExpr value;
    if (is_list) {
      value = ListOf(absl::StrSplit(option.second, ',', absl::SkipEmpty()));
    } else if (option.second.data() == nullptr || option.second == "true") {
      value = IntImm(DType::Bool(), 1);
    } else if (option.second == "false") {
      value = IntImm(DType::Bool(), 0);
    } else if (!is_text && absl::SimpleAtoi(option.second, &number)) {
      value = absl::StartsWith(option.first, "supports_")
                  ? IntImm(DType::Bool(), number != 0)
                  : IntImm(kInt32, number);
    } else {
      value = StringImm(std::string(option.second));
    }
    entries.emplace_back(std::string(option.first), std::move(value));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Dict> TargetConfigOf(absl::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits(absl::ByAnyChar(" \t\n"), 1));
  const absl::string_view name = parts.first;
  if (name.empty() || name.front() == '-') {
    return absl::InvalidArgumentError("expected the kind of a target");
  }
  std::vector<Dict::Entry> entries = {{"kind", StringImm(std::string(name))},
                                      {"tag", StringImm("")}};
  FlatHashSet<std::string> known = {"kind", "tag"};
  BATON_RETURN_IF_ERROR(AddOptions(parts.second, known, entries));
  std::vector<std::string> keys;
  FlatHashSet<std::string> known_keys = {""};
  const auto add_key = [&keys, &known_keys](absl::string_view key) {
    if (known_keys.insert(std::string(key)).second) keys.emplace_back(key);
  };
  // Keys that are given, the one of the device, those of the kind.
  for (const Dict::Entry& entry : entries) {
    if (entry.first != "keys") continue;
    for (const PrimExpr& key : entry.second.As<ListNode>()->items()) {
      add_key(key.As<StringImmNode>()->value());
    }
  }
  for (const Dict::Entry& entry : entries) {
    const auto* device = entry.second.As<StringImmNode>();
    if (entry.first == "device" && device != nullptr) add_key(device->value());
  }
  for (const TargetKind& kind : kKinds) {
    if (kind.name != name) continue;
    for (absl::string_view key : absl::StrSplit(kind.keys, ',')) add_key(key);
    BATON_RETURN_IF_ERROR(AddOptions(kind.defaults, known, entries));
  }
  entries.emplace_back("keys", ListOf(keys));  // the last one counts
  return Dict::OfAll(std::move(entries));
}

}  // namespace baton::tir
