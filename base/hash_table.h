// FlatHashMap, FlatHashSet: absl::flat_hash_map and absl::flat_hash_set that
// survive failed allocations.
//
// Abseil's tables do not survive them: if growing a table or constructing a new
// element throws, the table is corrupt, and its destructor crashes. The tables
// here grow by moving into a new table, and construct an element before they
// reserve its slot. So an operation that throws leaves the table unchanged.

#ifndef BATON_BASE_HASH_TABLE_H_
#define BATON_BASE_HASH_TABLE_H_

#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

namespace baton {
namespace internal {

// `Table` is one of Abseil's tables. The members declared here replace the
// members of `Table` that add elements. Do not call a member of `Table` that
// adds elements and is not declared here.
template <typename Table>
class SafeHashTable : public Table {
 public:
  using typename Table::const_iterator;
  using typename Table::iterator;
  using typename Table::key_type;
  using typename Table::size_type;
  using typename Table::value_type;

  SafeHashTable() = default;
  SafeHashTable(std::initializer_list<value_type> values)
      : SafeHashTable(values.begin(), values.end()) {}
  template <typename It>
  SafeHashTable(It first, It last) {
    insert(first, last);
  }
  SafeHashTable(const SafeHashTable& other) : Table(BucketsFor(other.size())) {
    insert(other.begin(), other.end());
  }
  SafeHashTable(SafeHashTable&& other) noexcept
      : Table(std::move(static_cast<Table&>(other))),
        num_erased_(std::exchange(other.num_erased_, 0)) {}
  SafeHashTable& operator=(SafeHashTable other) noexcept {
    static_cast<Table&>(*this) = std::move(static_cast<Table&>(other));
    num_erased_ = other.num_erased_;
    return *this;
  }
  ~SafeHashTable() = default;

  // A set adds an element constructed from the arguments. A map adds a key and
  // a value constructed from the other argument, unless it contains the key.
  template <typename... Args>
  std::pair<iterator, bool> emplace(Args&&... args) {
    if constexpr (kIsMap && sizeof...(Args) == 2) {
      return Add(std::forward<Args>(args)...);
    } else {
      return insert(value_type(std::forward<Args>(args)...));
    }
  }
  std::pair<iterator, bool> insert(value_type value) {
    if constexpr (kIsMap) {
      return Add(std::move(value.first), std::move(value.second));
    } else {
      return Add(std::move(value));
    }
  }
  template <typename It>
  void insert(It first, It last) {
    for (; first != last; ++first) insert(value_type(*first));
  }

  // Makes room for a total of `n` elements.
  void reserve(size_t n) {
    if (n > MaxLoad(this->bucket_count())) MoveTo(BucketsFor(n));
  }

  void clear() {
    Table::clear();
    num_erased_ = 0;
  }
  template <typename K>
  size_type erase(const K& key) {
    const size_type n = Table::erase(key);
    num_erased_ += n;
    return n;
  }
  template <typename Predicate>
  void EraseIf(Predicate predicate) {
    const size_t before = this->size();
    absl::erase_if(static_cast<Table&>(*this), predicate);
    num_erased_ += before - this->size();
  }
  void erase(iterator it) {
    Table::erase(it);
    ++num_erased_;
  }
  void erase(const_iterator it) {
    Table::erase(it);
    ++num_erased_;
  }

 protected:
  static constexpr bool kIsMap = !std::is_same_v<key_type, value_type>;

  template <typename K, typename... Args>
  std::pair<iterator, bool> Add(K&& key, Args&&... args) {
    if (this->size() + num_erased_ >= MaxLoad(this->bucket_count())) {
      if (const iterator it = this->find(key); it != this->end()) {
        return {it, false};
      }
      // If erased elements occupy many slots, rehash without growing.
      const size_t buckets = this->bucket_count();
      MoveTo(num_erased_ > this->size() / 2 ? buckets : 2 * buckets + 1);
    }
    if constexpr (!kIsMap) {
      if constexpr (!std::is_nothrow_constructible_v<key_type, K>) {
        if (const iterator it = this->find(key); it != this->end()) {
          return {it, false};
        }
      }
      key_type made(std::forward<K>(key));
      return Table::insert(std::move(made));
    } else {
      using Mapped = typename Table::mapped_type;
      if constexpr (std::is_nothrow_constructible_v<key_type, K> &&
                    std::is_nothrow_constructible_v<Mapped, Args...>) {
        return Table::try_emplace(std::forward<K>(key),
                                  std::forward<Args>(args)...);
      } else {
        if (const iterator it = this->find(key); it != this->end()) {
          return {it, false};
        }
        key_type made(std::forward<K>(key));
        Mapped value(std::forward<Args>(args)...);
        return Table::try_emplace(std::move(made), std::move(value));
      }
    }
  }

 private:
  // The number of elements that fit into `buckets` without growth.
  static constexpr size_t MaxLoad(size_t buckets) {
    return buckets == 7 ? 6 : buckets - buckets / 8;
  }
  static constexpr size_t BucketsFor(size_t n) { return n + n / 7 + 1; }

  void MoveTo(size_t buckets) {
    // If this constructor throws, the old table is unchanged.
    Table other(buckets, this->hash_function(), this->key_eq());
    other.merge(static_cast<Table&>(*this));
    static_cast<Table&>(*this) = std::move(other);
    num_erased_ = 0;
  }

  size_t num_erased_ = 0;  // since the last rehash; may be tombstones
};

}  // namespace internal

template <typename T, typename... Options>
class FlatHashSet
    : public internal::SafeHashTable<absl::flat_hash_set<T, Options...>> {
  static_assert(std::is_nothrow_move_constructible_v<T>);

 public:
  using internal::SafeHashTable<
      absl::flat_hash_set<T, Options...>>::SafeHashTable;
};

template <typename K, typename V, typename... Options>
class FlatHashMap
    : public internal::SafeHashTable<absl::flat_hash_map<K, V, Options...>> {
  // Moving elements into another table must not copy a key with a copy
  // constructor that can throw. Abseil moves keys only if both types have
  // standard layout.
  static_assert(std::is_nothrow_copy_constructible_v<K> ||
                (std::is_standard_layout_v<K> && std::is_standard_layout_v<V>));
  static_assert(std::is_nothrow_move_constructible_v<K>);
  static_assert(std::is_nothrow_move_constructible_v<V>);

  using Base = internal::SafeHashTable<absl::flat_hash_map<K, V, Options...>>;

 public:
  using typename Base::iterator;
  using internal::SafeHashTable<
      absl::flat_hash_map<K, V, Options...>>::SafeHashTable;

  template <typename Key = K, typename... Args>
  std::pair<iterator, bool> try_emplace(Key&& key, Args&&... args) {
    return Base::Add(std::forward<Key>(key), std::forward<Args>(args)...);
  }
  template <typename Key = K>
  V& operator[](Key&& key) {
    return Base::Add(std::forward<Key>(key)).first->second;
  }
  template <typename Key = K, typename Value = V>
  std::pair<iterator, bool> insert_or_assign(Key&& key, Value&& value) {
    const iterator it = this->find(key);
    if (it == this->end()) {
      return Base::Add(std::forward<Key>(key), std::forward<Value>(value));
    }
    it->second = std::forward<Value>(value);
    return {it, false};
  }
};

}  // namespace baton

#endif  // BATON_BASE_HASH_TABLE_H_
