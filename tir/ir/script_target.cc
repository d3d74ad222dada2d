#include "baton/tir/ir/script_target.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
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

// A kind of targets: its keys, the names of its options by type, and the
// options that it adds.
struct TargetKind {
  absl::string_view name;
  absl::string_view keys;
  absl::string_view texts;
  absl::string_view integers;
  absl::string_view lists;
  absl::string_view defaults;
};
constexpr TargetKind kKinds[] = {
    {"aocl", "aocl,hls", "", "", "", ""},
    {"aocl_sw_emu", "aocl,hls", "", "", "", ""},
    {"c", "cpu", "mcpu,march",
     "workspace-byte-alignment,constants-byte-alignment", "", ""},
    {"cuda", "cuda,gpu", "mcpu,arch",
     "max_shared_memory_per_block,max_threads_per_block,thread_warp_size,"
     "registers_per_block,max_num_threads",
     "", "arch=sm_50 max_num_threads=1024 thread_warp_size=32"},
    {"hexagon", "hexagon,cpu", "mcpu,mtriple", "num-cores,vtcm-capacity",
     "mattr,llvm-options", ""},
    {"llvm", "cpu", "mcpu,mtriple,mfloat-abi,mabi",
     "num-cores,fast-math,fast-math-nnan,fast-math-ninf,fast-math-nsz,"
     "fast-math-arcp,fast-math-contract,fast-math-reassoc,opt-level",
     "mattr,cl-opt", ""},
    {"metal", "metal,gpu", "",
     "max_num_threads,max_threads_per_block,max_shared_memory_per_block,"
     "thread_warp_size,max_function_args",
     "",
     "max_function_args=31 max_num_threads=256 "
     "max_shared_memory_per_block=32768 max_threads_per_block=256 "
     "thread_warp_size=16"},
    {"nvptx", "cuda,gpu", "mcpu,mtriple", "max_num_threads,thread_warp_size",
     "",
     "max_num_threads=1024 mcpu=sm_50 mtriple=nvptx64-nvidia-cuda "
     "thread_warp_size=32"},
    {"opencl", "opencl,gpu", "",
     "max_threads_per_block,max_shared_memory_per_block,max_num_threads,"
     "thread_warp_size,texture_spatial_limit,max_function_args",
     "",
     "max_function_args=128 max_num_threads=256 "
     "max_shared_memory_per_block=16384 max_threads_per_block=256 "
     "texture_spatial_limit=16384 thread_warp_size=1"},
    {"rocm", "rocm,gpu", "mcpu,mtriple",
     "max_num_threads,max_threads_per_block,max_shared_memory_per_block,"
     "thread_warp_size",
     "mattr",
     "max_num_threads=256 max_shared_memory_per_block=65536 "
     "max_threads_per_block=256 mcpu=gfx900 mtriple=amdgcn-amd-amdhsa-hcc "
     "thread_warp_size=64"},
    {"sdaccel", "sdaccel,hls", "", "", "", ""},
    {"stackvm", "cpu", "", "", "", ""},
    {"vulkan", "vulkan,gpu", "device_type,device_name,driver_name",
     "supports_float16,supports_float32,supports_float64,supports_int8,"
     "supports_int16,supports_int32,supports_int64,supports_8bit_buffer,"
     "supports_16bit_buffer,supports_storage_buffer_storage_class,"
     "supports_push_descriptor,supports_dedicated_allocation,"
     "supports_integer_dot_product,supports_cooperative_matrix,"
     "supported_subgroup_operations,max_num_threads,max_threads_per_block,"
     "thread_warp_size,max_block_size_x,max_block_size_y,max_block_size_z,"
     "max_push_constants_size,max_uniform_buffer_range,"
     "max_storage_buffer_range,max_per_stage_descriptor_storage_buffer,"
     "max_shared_memory_per_block,driver_version,vulkan_api_version,"
     "max_spirv_version",
     "mattr",
     "max_num_threads=256 max_threads_per_block=256 supports_float32=true "
     "supports_int32=true thread_warp_size=1"},
    {"webgpu", "webgpu,gpu", "", "max_num_threads", "", "max_num_threads=256"},
};

// The options of every kind.
constexpr absl::string_view kTexts = "kind,tag,device,model,runtime";
constexpr absl::string_view kIntegers = "from_device,target_device_type";
constexpr absl::string_view kLists = "keys,libs";
// Options whose values have these types where the kind does not say.
constexpr absl::string_view kOtherTexts =
    "arch,mabi,march,mcpu,mfloat-abi,mtriple";
constexpr absl::string_view kOtherLists = "cl-opt,llvm-options,mattr";

enum class OptionType { kAny, kText, kInteger, kList, kTarget };

bool IsIn(absl::string_view names, absl::string_view name) {
  return absl::c_linear_search(absl::StrSplit(names, ','), name);
}

const TargetKind* FindKind(absl::string_view name) {
  for (const TargetKind& kind : kKinds) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

OptionType TypeOf(const TargetKind* kind, absl::string_view option) {
  if (option == "host") return OptionType::kTarget;
  if (IsIn(kTexts, option)) return OptionType::kText;
  if (IsIn(kIntegers, option)) return OptionType::kInteger;
  if (IsIn(kLists, option)) return OptionType::kList;
  if (kind != nullptr) {
    if (IsIn(kind->texts, option)) return OptionType::kText;
    if (IsIn(kind->integers, option)) return OptionType::kInteger;
    if (IsIn(kind->lists, option)) return OptionType::kList;
  }
  if (IsIn(kOtherTexts, option)) return OptionType::kText;
  if (IsIn(kOtherLists, option)) return OptionType::kList;
  return OptionType::kAny;
}

absl::Status WrongType(absl::string_view option, const char* expected) {
  return absl::InvalidArgumentError(
      absl::StrCat("the option ", option, " of this target is ", expected));
}

PrimExpr ListOf(const std::vector<std::string>& items) {
  std::vector<PrimExpr> texts;
  texts.reserve(items.size());
  for (const std::string& item : items) texts.push_back(StringImm(item));
  return List(std::move(texts));
}

// The texts of a list; false if `e` is none.
bool TextsOf(const PrimExpr& e, std::vector<std::string>* texts) {
  const auto* list = e.As<ListNode>();
  if (list == nullptr) return false;
  for (const PrimExpr& item : list->items()) {
    const auto* text = item.As<StringImmNode>();
    if (text == nullptr) return false;
    texts->push_back(text->value());
  }
  return true;
}

std::string TextOf(const Dict& config, absl::string_view option) {
  const PrimExpr value = config.Find(option);
  const auto* text = value.defined() ? value.As<StringImmNode>() : nullptr;
  return text == nullptr ? std::string() : text->value();
}

absl::Status CheckType(absl::string_view option, OptionType type,
                       const PrimExpr& value) {
  switch (type) {
    case OptionType::kText:
      return value.Is<StringImmNode>() ? absl::OkStatus()
                                       : WrongType(option, "a string");
    case OptionType::kInteger:
      return value.Is<IntImmNode>() ? absl::OkStatus()
                                    : WrongType(option, "an integer");
    case OptionType::kList: {
      std::vector<std::string> texts;
      return TextsOf(value, &texts) ? absl::OkStatus()
                                    : WrongType(option, "a list of strings");
    }
    default:
      return absl::OkStatus();
  }
}

// `text` without the quotes around it and the backslashes in it.
std::string Unquoted(absl::string_view text) {
  if (text.size() >= 2 && text.front() == '\'' && text.back() == '\'' &&
      !absl::StrContains(text.substr(1, text.size() - 2), '\'')) {
    text = text.substr(1, text.size() - 2);
  }
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    result += text[i];
  }
  return result;
}

// The parts of `text` between characters of `separators` that are not quoted.
absl::StatusOr<std::vector<std::string>> Split(absl::string_view text,
                                               absl::string_view separators) {
  std::vector<std::string> words;
  std::string word;
  bool is_quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!is_quoted && absl::StrContains(separators, text[i])) {
      if (!word.empty()) words.push_back(std::move(word));
      word.clear();
      continue;
    }
    if (text[i] == '\'') is_quoted = !is_quoted;
    if (text[i] == '\\' && i + 1 < text.size()) word += text[i++];
    word += text[i];
  }
  if (is_quoted) return absl::InvalidArgumentError("a quote ' is not closed");
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

// The value that `text` is for an option.
absl::StatusOr<PrimExpr> ValueOf(absl::string_view option, OptionType type,
                                 absl::string_view text) {
  const std::string value = Unquoted(text);
  const std::string lower = absl::AsciiStrToLower(value);
  const bool is_truth = lower == "true" || lower == "false";
  int32_t number = 0;
  switch (type) {
    case OptionType::kTarget: {
      BATON_ASSIGN_OR_RETURN(const Dict config, TargetConfigOf(value));
      return config;
    }
    case OptionType::kText:
      return StringImm(std::string(absl::StripAsciiWhitespace(value)));
    case OptionType::kList: {
      BATON_ASSIGN_OR_RETURN(std::vector<std::string> items, Split(value, ","));
      for (std::string& item : items) item = Unquoted(item);
      return ListOf(items);
    }
    case OptionType::kInteger:
      if (is_truth) return IntImm(kInt32, lower == "true" ? 1 : 0);
      if (absl::SimpleAtoi(value, &number)) return IntImm(kInt32, number);
      return absl::InvalidArgumentError(absl::StrCat(
          "the option ", option,
          " of this target is an integer of 32 bits, not `", value, "`"));
    default:
      if (is_truth) return IntImm::Bool(lower == "true");
      if (absl::SimpleAtoi(value, &number)) return IntImm(kInt32, number);
      return StringImm(value);
  }
}

bool IsArmCpu(const TargetKind& kind, const Dict& config) {
  if (kind.name != "llvm" && kind.name != "c") return false;
  const std::string cpu = TextOf(config, "mcpu");
  const std::string triple = TextOf(config, "mtriple");
  constexpr absl::string_view kCores[] = {
      "cortex-m0",  "cortex-m3",   "cortex-m4",  "cortex-m7",
      "cortex-m33", "cortex-m35p", "cortex-m55", "cortex-m85"};
  return absl::c_any_of(kCores,
                        [&](absl::string_view core) {
                          return absl::StartsWith(cpu, core);
                        }) ||
         absl::StartsWith(triple, "aarch64") ||
         (absl::StartsWith(triple, "arm") &&
          !absl::StartsWith(cpu, "cortex-m"));
}

// An error if the kind does not have the architecture that is given.
absl::Status CheckArchitecture(const TargetKind& kind, const Dict& config) {
  const auto check = [&](const char* option, absl::string_view prefix,
                         bool (*is_part)(unsigned char)) {
    const std::string arch = TextOf(config, option);
    absl::string_view rest = arch;
    if (!config.Find(option).defined() ||
        (absl::ConsumePrefix(&rest, prefix) && !rest.empty() &&
         absl::c_all_of(rest, is_part))) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        absl::StrCat("the option ", option, " of a target of kind ", kind.name,
                     " begins with ", prefix, ", this is ", arch));
  };
  if (kind.name == "cuda") return check("arch", "sm_", absl::ascii_isdigit);
  if (kind.name == "nvptx") return check("mcpu", "sm_", absl::ascii_isdigit);
  if (kind.name == "rocm") return check("mcpu", "gfx", absl::ascii_isalnum);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Dict> CompleteTargetConfig(const Dict& config) {
  const std::string name = TextOf(config, "kind");
  if (name.empty()) {
    return absl::InvalidArgumentError("the target has no entry `kind`");
  }
  const TargetKind* kind = FindKind(name);
  std::vector<Dict::Entry> entries = {{"tag", StringImm("")}};
  // Given keys, or those of processors of Arm; the device; else those of the
  // kind.
  std::vector<std::string> keys;
  bool has_keys = false;
  for (size_t i = 0; i < config->keys().size(); ++i) {
    const std::string& option = config->keys()[i];
    const PrimExpr& value = config->values()[i];
    const OptionType type = TypeOf(kind, option);
    BATON_RETURN_IF_ERROR(CheckType(option, type, value));
    if (option == "keys") {
      has_keys = true;
      TextsOf(value, &keys);
    } else if (type != OptionType::kTarget) {
      entries.emplace_back(option, value);
    } else if (const auto* text = value.As<StringImmNode>()) {
      BATON_ASSIGN_OR_RETURN(Dict host, TargetConfigOf(text->value()));
      entries.emplace_back(option, std::move(host));
    } else if (const auto* target = value.As<TargetNode>()) {
      entries.emplace_back(option, target->config());
    } else if (const auto* dict = value.As<DictNode>()) {
      BATON_ASSIGN_OR_RETURN(Dict host, CompleteTargetConfig(Dict(dict)));
      entries.emplace_back(option, std::move(host));
    } else {
      return WrongType(option, "a target");
    }
  }
  const auto add_keys = [&keys](absl::string_view list) {
    for (absl::string_view key : absl::StrSplit(list, ',')) {
      keys.emplace_back(key);
    }
  };
  if (kind != nullptr && IsArmCpu(*kind, config)) {
    has_keys = true;
    add_keys("arm_cpu,cpu");
  }
  const std::string device = TextOf(config, "device");
  if (!device.empty()) keys.push_back(device);
  if (kind != nullptr) {
    BATON_RETURN_IF_ERROR(CheckArchitecture(*kind, config));
    if (!has_keys) add_keys(kind->keys);
    for (absl::string_view word :
         absl::StrSplit(kind->defaults, ' ', absl::SkipEmpty())) {
      const std::pair<absl::string_view, absl::string_view> option =
          absl::StrSplit(word, absl::MaxSplits('=', 1));
      if (config.Find(option.first).defined()) continue;
      const bool is_truth = option.second == "true";
      BATON_ASSIGN_OR_RETURN(
          PrimExpr value,
          ValueOf(option.first,
                  is_truth ? OptionType::kAny : TypeOf(kind, option.first),
                  option.second));
      entries.emplace_back(std::string(option.first), std::move(value));
    }
  }
  FlatHashSet<std::string> known;
  std::vector<std::string> distinct;
  for (std::string& key : keys) {
    if (known.insert(key).second) distinct.push_back(std::move(key));
  }
  entries.emplace_back("keys", ListOf(distinct));
  return Dict::OfAll(std::move(entries));
}

absl::StatusOr<Dict> TargetConfigOf(absl::string_view text) {
  BATON_ASSIGN_OR_RETURN(const std::vector<std::string> words,
                         Split(text, " \t\n\r"));
  if (words.empty() || words[0].front() == '-') {
    return absl::InvalidArgumentError("expected the kind of a target");
  }
  const TargetKind* kind = FindKind(words[0]);
  std::vector<Dict::Entry> entries = {{"kind", StringImm(words[0])}};
  FlatHashSet<std::string> given = {"kind"};
  for (size_t i = 1; i < words.size(); ++i) {
    absl::string_view word = words[i];
    if (!absl::ConsumePrefix(&word, "-")) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected an option -name=value, got ", words[i]));
    }
    absl::ConsumePrefix(&word, "-");
    const size_t sign = word.find('=');
    const absl::string_view option = word.substr(0, sign);
    absl::string_view value;
    if (sign != absl::string_view::npos) {
      value = word.substr(sign + 1);
      if (value.empty()) {
        return absl::InvalidArgumentError(
            absl::StrCat("expected a value of the option, got ", words[i]));
      }
    } else if (i + 1 < words.size() && words[i + 1].front() != '-') {
      value = words[++i];
    }
    if (option.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("expected the name of an option, got ", words[i]));
    }
    if (!given.insert(std::string(option)).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("the option ", option, " is given a second time"));
    }
    const OptionType type = TypeOf(kind, option);
    if (value.empty()) value = type == OptionType::kAny ? "true" : "1";
    BATON_ASSIGN_OR_RETURN(PrimExpr parsed, ValueOf(option, type, value));
    entries.emplace_back(std::string(option), std::move(parsed));
  }
  return CompleteTargetConfig(Dict::OfAll(std::move(entries)));
}

}  // namespace baton::tir
