#include "baton/ir/module.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "baton/base/hash_table.h"
#include "baton/base/near_names.h"

namespace baton {
namespace {

using Index = FlatHashMap<std::string, int>;

}  // namespace

IRModule::IRModule() {
  static const auto* const kEmptyIndex =
      new std::shared_ptr<const Index>(std::make_shared<Index>());
  data_ = std::make_shared<Data>();
  data_->index = *kEmptyIndex;
}

absl::Span<const IRModule::Definition> IRModule::functions() const {
  return data_->functions;
}

int IRModule::IndexOf(absl::string_view name) const {
  const auto it = data_->index->find(name);
  return it == data_->index->end() ? -1 : it->second;
}

BaseFunc IRModule::Find(absl::string_view name) const {
  const int i = IndexOf(name);
  return i < 0 ? BaseFunc() : data_->functions[i].function;
}

GlobalVar IRModule::FindGlobalVar(absl::string_view name) const {
  const int i = IndexOf(name);
  return i < 0 ? GlobalVar() : data_->functions[i].var;
}

absl::Span<const TypeDefinition> IRModule::types() const {
  return data_->types;
}

TypeDefinition IRModule::FindType(absl::string_view name) const {
  for (const TypeDefinition& type : data_->types) {
    if (type->name() == name) return type;
  }
  return {};
}

void IRModule::SetType(TypeDefinition type) {
  for (size_t i = 0; i < data_->types.size(); ++i) {
    if (data_->types[i]->name() != type->name()) continue;
    if (data_->types[i] != type) Mutable().types[i] = std::move(type);
    return;
  }
  Mutable().types.push_back(std::move(type));
}

absl::StatusOr<BaseFunc> IRModule::Lookup(absl::string_view name) const {
  if (BaseFunc function = Find(name)) return function;
  std::vector<std::string> names;
  for (const Definition& d : data_->functions) names.push_back(d.var->name());
  return absl::NotFoundError(absl::StrCat("the module has no function @", name,
                                          DidYouMean(name, names)));
}

absl::Status IRModule::WrongKind(absl::string_view name, const BaseFunc& is,
                                 absl::string_view wanted) {
  return absl::FailedPreconditionError(
      absl::StrCat("@", name, " is a function of kind ",
                   NodeKindName(is->kind()), ", not ", wanted));
}

IRModule::Data& IRModule::Mutable() {
  if (data_.use_count() != 1) data_ = std::make_shared<Data>(*data_);
  return *data_;
}

void IRModule::Set(absl::string_view name, BaseFunc function) {
  const int i = IndexOf(name);
  Set(i < 0 ? GlobalVar(std::string(name)) : data_->functions[i].var,
      std::move(function));
}

void IRModule::Set(const GlobalVar& var, BaseFunc function) {
  const int i = IndexOf(var->name());
  if (i >= 0) {
    if (data_->functions[i].function == function &&
        data_->functions[i].var == var) {
      return;
    }
    Mutable().functions[i] = {var, std::move(function)};
    return;
  }
  Data& data = Mutable();
  // The index is copied only if another module shares it, so that building a
  // module of n functions takes O(n).
  std::shared_ptr<Index> index =
      data.index.use_count() == 1
          ? std::const_pointer_cast<Index>(std::move(data.index))
          : std::make_shared<Index>(*data.index);
  index->emplace(var->name(), static_cast<int>(data.functions.size()));
  data.index = std::move(index);
  data.functions.push_back({var, std::move(function)});
}

void IRModule::Remove(absl::string_view name) {
  const int i = IndexOf(name);
  if (i < 0) return;
  Data& data = Mutable();
  data.functions.erase(data.functions.begin() + i);
  auto index = std::make_shared<Index>();
  for (const Definition& d : data.functions) {
    index->emplace(d.var->name(), static_cast<int>(index->size()));
  }
  data.index = std::move(index);
}

IRModule IRModule::WithAllFunctions(
    absl::Span<const BaseFunc> functions) const {
  std::shared_ptr<Data> data;
  for (size_t i = 0; i < functions.size(); ++i) {
    if (functions[i] == data_->functions[i].function) continue;
    if (data == nullptr) data = std::make_shared<Data>(*data_);
    data->functions[i].function = functions[i];
  }
  return data == nullptr ? *this : IRModule(std::move(data));
}

bool IRModule::IdenticalTo(const IRModule& other) const {
  if (data_ == other.data_) return true;
  const auto a = functions();
  const auto b = other.functions();
  if (a.size() != b.size() || data_->types != other.data_->types) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].function != b[i].function ||
        a[i].var->name() != b[i].var->name()) {
      return false;
    }
  }
  return true;
}

}  // namespace baton
