#include "baton/backend/library/code_sizes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/status_macros.h"
#include "baton/tir/codegen/elf_reader.h"

namespace baton {
namespace {

// Bytes of a section: those of a symbol, or between symbols.
struct Part {
  int64_t begin = 0;
  int64_t end = 0;
  std::string symbol;  // empty: none
  std::vector<size_t> steps = {};
  bool is_owned = false;  // by its symbol
  std::vector<size_t> refers_to = {};
};

class Sizes {
 public:
  explicit Sizes(const tir::ElfFile& file) : file_(file) {
    std::vector<std::vector<const tir::ElfSymbol*>> symbols(
        file.sections.size());
    for (const tir::ElfSymbol& symbol : file.symbols) {
      symbols[symbol.section].push_back(&symbol);
    }
    for (size_t i = 0; i < file.sections.size(); ++i) {
      first_.push_back(parts_.size());
      if (file.sections[i].is_loaded) Divide(file.sections[i], symbols[i]);
    }
    first_.push_back(parts_.size());
    for (const tir::ElfReference& reference : file.references) {
      const int64_t from = PartAt(reference.section, reference.offset);
      const int64_t to = PartAt(reference.to_section, reference.to_offset);
      if (from < 0 || to < 0) continue;
      parts_[static_cast<size_t>(from)].refers_to.push_back(
          static_cast<size_t>(to));
    }
  }

  // Gives each part to the steps of its symbol; those without one to the steps
  // whose parts refer to them.
  void Own(absl::FunctionRef<std::vector<size_t>(absl::string_view)> steps_of) {
    for (Part& part : parts_) {
      if (part.symbol.empty()) continue;
      part.steps = steps_of(part.symbol);
      part.is_owned = !part.steps.empty();
    }
    std::vector<size_t> work;
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i].is_owned) work.push_back(i);
    }
    while (!work.empty()) {
      const size_t from = work.back();
      work.pop_back();
      for (const size_t to : parts_[from].refers_to) {
        if (to == from || parts_[to].is_owned) continue;
        std::vector<size_t> steps;
        std::set_union(parts_[from].steps.begin(), parts_[from].steps.end(),
                       parts_[to].steps.begin(), parts_[to].steps.end(),
                       std::back_inserter(steps));
        if (steps.size() == parts_[to].steps.size()) continue;
        parts_[to].steps = std::move(steps);
        work.push_back(to);
      }
    }
  }

  CodeSizes Sum(int64_t file_bytes, size_t num_steps) const {
    CodeSizes sizes;
    sizes.of_steps.resize(num_steps);
    std::map<std::string, int64_t> of_sections;
    int64_t in_file = 0;
    for (size_t i = 0; i < file_.sections.size(); ++i) {
      const tir::ElfSection& section = file_.sections[i];
      if (!section.is_loaded) continue;
      in_file += section.file_bytes;
      // Memory that begins as zeros takes no bytes of the file.
      if (section.file_bytes != section.bytes) continue;
      for (size_t k = first_[i]; k < first_[i + 1]; ++k) {
        const Part& part = parts_[k];
        const int64_t bytes = part.end - part.begin;
        if (part.steps.empty()) {
          // `.text` for `.text.NAME`.
          of_sections[section.name.substr(0, section.name.find('.', 1))] +=
              bytes;
          continue;
        }
        const auto count = static_cast<int64_t>(part.steps.size());
        for (int64_t n = 0; n < count; ++n) {
          sizes.of_steps[part.steps[static_cast<size_t>(n)]] +=
              bytes * (n + 1) / count - bytes * n / count;
        }
      }
    }
    sizes.of_sections.assign(of_sections.begin(), of_sections.end());
    sizes.of_tables = file_bytes - in_file;
    return sizes;
  }

 private:
  void Divide(const tir::ElfSection& section,
              std::vector<const tir::ElfSymbol*> symbols) {
    std::stable_sort(symbols.begin(), symbols.end(),
                     [](const tir::ElfSymbol* a, const tir::ElfSymbol* b) {
                       return a->offset < b->offset;
                     });
    int64_t at = 0;
    for (const tir::ElfSymbol* symbol : symbols) {
      const int64_t begin = std::max(symbol->offset, at);
      // A name of what another symbol names, or outside.
      if (symbol->bytes <= 0 || symbol->offset < 0 ||
          symbol->bytes > section.bytes - symbol->offset ||
          symbol->offset + symbol->bytes <= begin) {
        continue;
      }
      AddUnnamed(at, begin, section.entry_bytes);
      at = symbol->offset + symbol->bytes;
      parts_.push_back({begin, at, symbol->name});
    }
    AddUnnamed(at, section.bytes, section.entry_bytes);
  }

  // Each constant is a part, if they are all of `entry_bytes`.
  void AddUnnamed(int64_t begin, int64_t end, int64_t entry_bytes) {
    while (begin < end) {
      const int64_t next =
          entry_bytes > 0
              ? std::min(end, (begin / entry_bytes + 1) * entry_bytes)
              : end;
      parts_.push_back({begin, next, ""});
      begin = next;
    }
  }

  // The number of a part; -1 for none.
  int64_t PartAt(size_t section, int64_t offset) const {
    const auto begin =
        parts_.begin() + static_cast<std::ptrdiff_t>(first_[section]);
    const auto end =
        parts_.begin() + static_cast<std::ptrdiff_t>(first_[section + 1]);
    const auto found = std::upper_bound(
        begin, end, offset,
        [](int64_t value, const Part& part) { return value < part.end; });
    if (found == end || offset < found->begin) return -1;
    return found - parts_.begin();
  }

  const tir::ElfFile& file_;
  std::vector<Part> parts_;
  std::vector<size_t> first_;  // of each section, and the number of all parts
};

}  // namespace

int64_t CodeSizes::Total() const {
  int64_t total = of_tables;
  for (const int64_t bytes : of_steps) total += bytes;
  for (const auto& [section, bytes] : of_sections) total += bytes;
  return total;
}

absl::StatusOr<CodeSizes> CodeSizesOf(
    absl::string_view object, size_t num_steps,
    absl::FunctionRef<std::vector<size_t>(absl::string_view symbol)> steps_of) {
  BATON_ASSIGN_OR_RETURN(const tir::ElfFile file, tir::ReadElf(object));
  Sizes sizes(file);
  sizes.Own(steps_of);
  return sizes.Sum(static_cast<int64_t>(object.size()), num_steps);
}

}  // namespace baton
