#include "baton/relay/ir/unmatched_cases.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace baton::relay {
namespace {

constexpr size_t kMaxCases = 10;
constexpr int kMaxSteps = 100000;

// Values still to be handled, as a pattern of wildcards, and the first clause
// that was not tried on them yet.
struct Candidate {
  Pattern pattern;
  size_t clause;
};

enum class Fit { kYes, kNo, kPartly };

// Compares `clause` with the values of `candidate`: it matches all, none, or
// some. If some, `*path` leads to the wildcard of `candidate` that must be
// divided, and `*divider` is the part of `clause` at that place.
Fit Compare(const PatternNode* clause, const PatternNode* candidate,
            std::vector<size_t>* path, const PatternNode** divider) {
  struct Pair {
    const PatternNode* clause;
    const PatternNode* candidate;
    std::vector<size_t> path;
  };
  std::vector<Pair> work;
  work.push_back({clause, candidate, {}});
  bool partly = false;
  while (!work.empty()) {
    const Pair pair = std::move(work.back());
    work.pop_back();
    const PatternNode::Form form = pair.clause->form();
    if (form == PatternNode::Form::kWildcard ||
        form == PatternNode::Form::kVar) {
      continue;
    }
    if (pair.candidate->form() == PatternNode::Form::kWildcard) {
      if (!partly) {
        partly = true;
        *path = pair.path;
        *divider = pair.clause;
      }
      continue;
    }
    if (form == PatternNode::Form::kConstructor &&
        !SameConstructor(*pair.clause->constructor(),
                         *pair.candidate->constructor())) {
      return Fit::kNo;
    }
    const absl::Span<const Pattern> x = pair.clause->patterns();
    const absl::Span<const Pattern> y = pair.candidate->patterns();
    for (size_t i = x.size(); i-- > 0;) {
      std::vector<size_t> part = pair.path;
      part.push_back(i);
      work.push_back({x[i].get(), y[i].get(), std::move(part)});
    }
  }
  return partly ? Fit::kPartly : Fit::kYes;
}

std::vector<Pattern> Wildcards(size_t n) {
  return std::vector<Pattern>(n, Pattern::Wildcard());
}

// `pattern` with `part` at the end of `path`.
Pattern Replace(const Pattern& pattern, absl::Span<const size_t> path,
                Pattern part) {
  std::vector<const PatternNode*> nodes;
  const PatternNode* node = pattern.get();
  for (const size_t i : path) {
    nodes.push_back(node);
    node = node->patterns()[i].get();
  }
  for (size_t depth = path.size(); depth-- > 0;) {
    const PatternNode* whole = nodes[depth];
    std::vector<Pattern> parts(whole->patterns().begin(),
                               whole->patterns().end());
    parts[path[depth]] = std::move(part);
    part = whole->form() == PatternNode::Form::kTuple
               ? Pattern::OfTuple(std::move(parts))
               : Pattern::OfConstructor(whole->constructor(), std::move(parts));
  }
  return part;
}

}  // namespace

absl::StatusOr<std::vector<Pattern>> UnmatchedCases(const MatchNode& match,
                                                    const IRModule* module) {
  std::vector<Pattern> unmatched;
  std::vector<Candidate> candidates = {{Pattern::Wildcard(), 0}};
  const absl::Span<const Clause> clauses = match.clauses();
  std::vector<size_t> path;
  for (int steps = 0; !candidates.empty(); ++steps) {
    if (steps == kMaxSteps) {
      return absl::ResourceExhaustedError(
          "the match has too many cases to see whether all are handled; use "
          "`match?`");
    }
    const Candidate candidate = std::move(candidates.back());
    candidates.pop_back();
    if (candidate.clause == clauses.size()) {
      unmatched.push_back(candidate.pattern);
      if (unmatched.size() == kMaxCases) break;
      continue;
    }
    const PatternNode* divider = nullptr;
    switch (Compare(clauses[candidate.clause].lhs.get(),
                    candidate.pattern.get(), &path, &divider)) {
      case Fit::kYes:
        continue;
      case Fit::kNo:
        candidates.push_back({candidate.pattern, candidate.clause + 1});
        continue;
      case Fit::kPartly:
        break;
    }
    if (divider->form() == PatternNode::Form::kTuple) {
      candidates.push_back(
          {Replace(candidate.pattern, path,
                   Pattern::OfTuple(Wildcards(divider->patterns().size()))),
           candidate.clause});
      continue;
    }
    const TypeData type =
        module == nullptr ? TypeData()
                          : module->FindType<TypeData>(
                                divider->constructor()->belongs_to()->name());
    if (!type.defined()) {
      candidates.push_back({candidate.pattern, candidate.clause + 1});
      continue;
    }
    const absl::Span<const Constructor> constructors = type->constructors();
    for (size_t i = constructors.size(); i-- > 0;) {
      candidates.push_back(
          {Replace(candidate.pattern, path,
                   Pattern::OfConstructor(
                       constructors[i],
                       Wildcards(constructors[i]->inputs().size()))),
           candidate.clause});
    }
  }
  return unmatched;
}

}  // namespace baton::relay
