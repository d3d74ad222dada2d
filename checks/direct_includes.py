#!/usr/bin/env python3
"""Checks that files include the headers of the standard and Abseil names that they use.

usage: direct_includes.py [ROOT]

A file must include the header of each name of _HEADERS that it uses, itself or
in the header of the same name (shape.h for shape.cc), even if another header
includes it. It must not include a header of _HEADERS of which it uses no name.
The check reads names in code, not in comments and literals. Fragments (.inc)
are included in the middle of other files, which are passed over.
Exits with 1 if an include is missing or not needed, and says which.
"""

import functools
import re

from include_graph import report, run_alone

# Header -> names, as they are written. A name that ends with `*` is a prefix.
_HEADERS = {
    "algorithm": """std::adjacent_find std::all_of std::any_of std::binary_search std::clamp std::copy
        std::copy_backward std::copy_if std::copy_n std::count std::count_if std::equal std::equal_range
        std::fill std::fill_n std::find std::find_end std::find_first_of std::find_if std::find_if_not
        std::for_each std::generate std::generate_n std::includes std::inplace_merge std::is_permutation
        std::is_sorted std::is_sorted_until std::iter_swap std::lexicographical_compare std::lower_bound
        std::make_heap std::max std::max_element std::merge std::min std::min_element std::minmax
        std::minmax_element std::mismatch std::move_backward std::next_permutation std::none_of std::nth_element
        std::partial_sort std::partition std::partition_point std::pop_heap std::prev_permutation std::push_heap
        std::ranges::* std::remove std::remove_copy_if std::remove_if std::replace std::replace_if std::reverse
        std::reverse_copy std::rotate std::rotate_copy std::search std::search_n std::set_difference
        std::set_intersection std::set_symmetric_difference std::set_union std::shuffle std::sort std::sort_heap
        std::stable_partition std::stable_sort std::swap_ranges std::transform std::unique std::unique_copy
        std::upper_bound""",
    "array": """std::array std::begin std::data std::empty std::end std::get std::rbegin std::rend std::size
        std::ssize std::to_array std::tuple_size std::tuple_size_v""",
    "atomic": "std::atomic* std::memory_order*",
    "bit": """std::bit_cast std::bit_ceil std::bit_floor std::bit_width std::countl_one std::countl_zero
        std::countr_one std::countr_zero std::endian std::has_single_bit std::popcount std::rotl std::rotr""",
    "cctype": """std::isalnum std::isalpha std::iscntrl std::isdigit std::isgraph std::islower std::isprint
        std::ispunct std::isspace std::isupper std::isxdigit std::tolower std::toupper""",
    "charconv": "std::chars_format std::from_chars std::to_chars",
    "chrono": "std::chrono std::chrono::* std::micro std::milli std::nano",
    "cmath": """HUGE_VAL INFINITY M_PI NAN std::abs std::acos std::acosh std::asin std::asinh std::atan
        std::atan2 std::atanh std::cbrt std::ceil std::copysign std::cos std::cosh std::erf std::erfc std::exp
        std::exp2 std::expm1 std::fabs std::floor std::fma std::fmax std::fmin std::fmod std::frexp std::hypot
        std::ilogb std::isfinite std::isinf std::isnan std::isnormal std::ldexp std::lgamma std::llround
        std::log std::log10 std::log1p std::log2 std::lrint std::lround std::modf std::nan std::nanf
        std::nearbyint std::nextafter std::pow std::remainder std::rint std::round std::scalbn std::signbit
        std::sin std::sinh std::sqrt std::tan std::tanh std::tgamma std::trunc""",
    "complex": "std::arg std::complex std::conj std::norm std::polar",
    "concepts": """std::constructible_from std::convertible_to std::copyable std::derived_from
        std::floating_point std::integral std::invocable std::movable std::same_as std::signed_integral
        std::unsigned_integral""",
    "condition_variable": "std::condition_variable*",
    "cstddef": "offsetof ptrdiff_t size_t std::byte std::max_align_t std::nullptr_t std::ptrdiff_t std::size_t",
    "cstdint": """int16_t INT32_MAX int32_t INT64_MAX INT64_MIN int64_t int8_t intptr_t SIZE_MAX std::int16_t
        std::int32_t std::int64_t std::int8_t std::intptr_t std::uint16_t std::uint32_t std::uint64_t
        std::uint8_t std::uintptr_t uint16_t UINT32_MAX uint32_t UINT64_MAX uint64_t uint8_t uintptr_t""",
    "cstdio": """FILE std::fclose std::fflush std::fgets std::FILE std::fopen std::fprintf std::fputc std::fputs
        std::fread std::fseek std::ftell std::fwrite std::getc std::perror std::printf std::puts std::remove
        std::rename std::snprintf std::sscanf std::tmpfile stderr stdin stdout""",
    "cstdlib": """EXIT_FAILURE EXIT_SUCCESS mkdtemp mkstemp realpath setenv std::_Exit std::abort std::abs
        std::aligned_alloc std::atexit std::atof std::atoi std::atoll std::calloc std::div std::exit std::free
        std::getenv std::malloc std::qsort std::quick_exit std::realloc std::strtod std::strtof std::strtol
        std::strtoll std::strtoull std::system unsetenv""",
    "cstring": """std::memchr std::memcmp std::memcpy std::memmove std::memset std::strchr std::strcmp
        std::strerror std::strlen std::strncmp std::strstr strsignal""",
    "deque": """std::begin std::data std::deque std::empty std::end std::erase std::erase_if std::rbegin
        std::rend std::size""",
    "exception": "std::current_exception std::exception std::exception_ptr std::rethrow_exception std::terminate",
    "filesystem": "std::filesystem std::filesystem::*",
    "fstream": """std::dec std::fstream std::hex std::ifstream std::ios std::ios_base std::istream std::ofstream
        std::ostream std::streamoff std::streamsize""",
    "functional": """std::bind std::bit_and std::bit_or std::bit_xor std::cref std::divides std::equal_to
        std::function std::greater std::greater_equal std::hash std::invoke std::less std::less_equal
        std::logical_and std::logical_or std::mem_fn std::minus std::modulus std::multiplies std::negate
        std::not_equal_to std::plus std::ref std::reference_wrapper""",
    "future": "std::async std::future* std::promise",
    "initializer_list": "std::initializer_list",
    "ios": "std::dec std::hex std::ios std::ios_base std::streamoff std::streamsize",
    "iosfwd": "std::istream std::ostream std::streambuf",
    "iostream": """std::cerr std::cin std::clog std::cout std::dec std::endl std::flush std::hex std::ios
        std::ios_base std::istream std::ostream std::streambuf std::streamoff std::streamsize""",
    "istream": "std::dec std::hex std::ios std::ios_base std::istream std::streambuf std::streamoff std::streamsize",
    "iterator": """std::advance std::back_insert_iterator std::back_inserter std::begin
        std::bidirectional_iterator_tag std::data std::distance std::empty std::end std::forward_iterator_tag
        std::input_iterator_tag std::inserter std::istreambuf_iterator std::iterator_traits
        std::make_move_iterator std::make_reverse_iterator std::next std::ostream_iterator
        std::ostreambuf_iterator std::prev std::random_access_iterator_tag std::rbegin std::rend
        std::reverse_iterator std::size std::ssize""",
    "limits": "std::float_round_style std::numeric_limits",
    "list": """std::begin std::data std::empty std::end std::erase std::erase_if std::list std::rbegin std::rend
        std::size""",
    "map": """std::begin std::data std::empty std::end std::erase_if std::map std::multimap std::rbegin
        std::rend std::size""",
    "memory": """std::addressof std::align std::allocator std::allocator_traits std::assume_aligned
        std::const_pointer_cast std::construct_at std::default_delete std::destroy std::destroy_at
        std::dynamic_pointer_cast std::enable_shared_from_this std::get_deleter std::hash std::make_shared
        std::make_unique std::make_unique_for_overwrite std::shared_ptr std::static_pointer_cast std::to_address
        std::uninitialized_copy* std::uninitialized_default* std::uninitialized_fill* std::uninitialized_move*
        std::uninitialized_value_construct* std::unique_ptr std::weak_ptr""",
    "mutex": """std::adopt_lock std::call_once std::defer_lock std::lock_guard std::mutex std::once_flag
        std::recursive_mutex std::scoped_lock std::try_to_lock std::unique_lock""",
    "new": """std::align_val_t std::bad_alloc std::bad_array_new_length std::get_new_handler
        std::hardware_destructive_interference_size std::launder std::new_handler std::nothrow std::nothrow_t
        std::set_new_handler""",
    "numeric": """std::accumulate std::adjacent_difference std::exclusive_scan std::gcd std::inclusive_scan
        std::inner_product std::iota std::lcm std::midpoint std::partial_sum std::reduce
        std::transform_reduce""",
    "optional": "std::hash std::make_optional std::nullopt std::nullopt_t std::optional",
    "ostream": """std::dec std::endl std::flush std::hex std::ios std::ios_base std::ostream std::streambuf
        std::streamoff std::streamsize""",
    "random": """std::bernoulli_distribution std::discrete_distribution std::mt19937 std::mt19937_64
        std::normal_distribution std::random_device std::seed_seq std::uniform_int_distribution
        std::uniform_real_distribution""",
    "set": """std::begin std::data std::empty std::end std::erase_if std::multiset std::rbegin std::rend
        std::set std::size""",
    "sstream": """std::dec std::hex std::ios std::ios_base std::istream std::istringstream std::ostream
        std::ostringstream std::streamoff std::streamsize std::stringbuf std::stringstream""",
    "stdexcept": """std::domain_error std::invalid_argument std::length_error std::logic_error std::out_of_range
        std::overflow_error std::range_error std::runtime_error""",
    "streambuf": "std::dec std::hex std::ios std::ios_base std::streambuf std::streamoff std::streamsize",
    "string": """std::basic_string std::begin std::char_traits std::data std::empty std::end std::erase
        std::erase_if std::getline std::hash std::rbegin std::rend std::size std::ssize std::stod std::stof
        std::stoi std::stol std::stoll std::stoul std::stoull std::string std::to_string std::u32string""",
    "string_view": """std::basic_string_view std::begin std::data std::empty std::end std::hash std::rbegin
        std::rend std::size std::string_view""",
    "system_error": "std::errc std::error_code std::generic_category std::hash std::system_error",
    "thread": "std::hash std::jthread std::this_thread::* std::thread",
    "tuple": """std::apply std::forward_as_tuple std::get std::ignore std::make_from_tuple std::make_tuple
        std::tie std::tuple std::tuple_cat std::tuple_element std::tuple_element_t std::tuple_size
        std::tuple_size_v""",
    "type_traits": """std::add_const_t std::add_lvalue_reference_t std::add_pointer_t std::alignment_of_v
        std::bool_constant std::common_type_t std::conditional std::conditional_t std::decay_t std::enable_if
        std::enable_if_t std::extent_v std::false_type std::has_virtual_destructor_v std::integral_constant
        std::invoke_result_t std::is_* std::is_constant_evaluated std::make_signed_t std::make_unsigned_t
        std::rank_v std::remove_const_t std::remove_cv_t std::remove_cvref_t std::remove_extent_t
        std::remove_pointer_t std::remove_reference_t std::true_type std::type_identity* std::underlying_type_t
        std::void_t""",
    "unordered_map": "std::unordered_map std::unordered_multimap",
    "unordered_set": "std::unordered_set",
    "utility": """std::as_const std::cmp_* std::declval std::exchange std::forward std::get std::in_place
        std::in_place_index std::in_place_t std::in_place_type std::in_place_type_t std::in_range
        std::index_sequence std::index_sequence_for std::integer_sequence std::make_index_sequence
        std::make_integer_sequence std::make_pair std::move std::pair std::piecewise_construct std::swap
        std::tuple_element std::tuple_element_t std::tuple_size std::tuple_size_v""",
    "variant": """std::get std::get_if std::hash std::holds_alternative std::monostate std::variant
        std::variant_alternative_t std::variant_size_v std::visit""",
    "vector": """std::begin std::data std::empty std::end std::erase std::erase_if std::rbegin std::rend
        std::size std::ssize std::vector""",
    "absl/algorithm/container.h": "absl::c_*",
    "absl/container/flat_hash_map.h": "absl::flat_hash_map",
    "absl/container/flat_hash_set.h": "absl::flat_hash_set",
    "absl/container/inlined_vector.h": "absl::InlinedVector",
    "absl/flags/commandlineflag.h": "absl::CommandLineFlag",
    "absl/flags/flag.h": "absl::Flag absl::GetFlag absl::SetFlag ABSL_FLAG",
    "absl/flags/marshalling.h": "absl::ParseFlag absl::UnparseFlag",
    "absl/flags/parse.h": "absl::ParseCommandLine",
    "absl/flags/reflection.h": "absl::FindCommandLineFlag absl::FlagSaver absl::GetAllFlags",
    "absl/flags/usage.h": "absl::ProgramUsageMessage absl::SetProgramUsageMessage",
    "absl/functional/function_ref.h": "absl::FunctionRef",
    "absl/hash/hash.h": "absl::Hash absl::HashOf absl::HashState",
    "absl/memory/memory.h": "absl::WrapUnique",
    "absl/numeric/bits.h": """absl::bit_ceil absl::bit_width absl::countl_zero absl::countr_zero
        absl::has_single_bit absl::popcount absl::rotl""",
    "absl/numeric/int128.h": """absl::int128 absl::Int128* absl::MakeInt128 absl::MakeUint128 absl::uint128
        absl::Uint128*""",
    "absl/status/status.h": """absl::AbortedError absl::AlreadyExistsError absl::CancelledError
        absl::DataLossError absl::DeadlineExceededError absl::ErrnoToStatus absl::FailedPreconditionError
        absl::InternalError absl::InvalidArgumentError absl::IsAborted absl::IsAlreadyExists absl::IsCancelled
        absl::IsDataLoss absl::IsDeadlineExceeded absl::IsFailedPrecondition absl::IsInternal
        absl::IsInvalidArgument absl::IsNotFound absl::IsOutOfRange absl::IsPermissionDenied
        absl::IsResourceExhausted absl::IsUnavailable absl::IsUnimplemented absl::IsUnknown absl::NotFoundError
        absl::OkStatus absl::OutOfRangeError absl::PermissionDeniedError absl::ResourceExhaustedError
        absl::Status absl::StatusCode absl::StatusCodeToString absl::UnauthenticatedError absl::UnavailableError
        absl::UnimplementedError absl::UnknownError""",
    "absl/status/statusor.h": "absl::StatusOr",
    "absl/strings/ascii.h": """absl::ascii_* absl::AsciiStrToLower absl::AsciiStrToUpper
        absl::RemoveExtraAsciiWhitespace absl::StripAsciiWhitespace absl::StripLeadingAsciiWhitespace
        absl::StripTrailingAsciiWhitespace""",
    "absl/strings/cord.h": "absl::Cord",
    "absl/strings/escaping.h": """absl::Base64* absl::BytesToHexString absl::CEscape absl::CHexEscape
        absl::CUnescape absl::HexStringToBytes absl::Utf8SafeCEscape absl::Utf8SafeCHexEscape absl::WebSafe*""",
    "absl/strings/match.h": """absl::EndsWith absl::EndsWithIgnoreCase absl::EqualsIgnoreCase absl::StartsWith
        absl::StartsWithIgnoreCase absl::StrContains""",
    "absl/strings/numbers.h": """absl::SimpleAtob absl::SimpleAtod absl::SimpleAtof absl::SimpleAtoi
        absl::SimpleHexAtoi""",
    "absl/strings/str_cat.h": """absl::AlphaNum absl::Dec absl::Hex absl::kSpacePad* absl::kZeroPad*
        absl::StrAppend absl::StrCat""",
    "absl/strings/str_format.h": """absl::FormatConv* absl::FormatSink absl::FormatSpec absl::FPrintF
        absl::ParsedFormat absl::PrintF absl::SNPrintF absl::StrAppendFormat absl::StreamFormat
        absl::StrFormat""",
    "absl/strings/str_join.h": """absl::AlphaNumFormatter absl::DereferenceFormatter absl::PairFormatter
        absl::StreamFormatter absl::StrJoin""",
    "absl/strings/str_replace.h": "absl::StrReplaceAll",
    "absl/strings/str_split.h": """absl::AllowEmpty absl::ByAnyChar absl::ByChar absl::ByLength absl::ByString
        absl::MaxSplits absl::SkipEmpty absl::SkipWhitespace absl::StrSplit""",
    "absl/strings/string_view.h": "absl::ClippedSubstr absl::NullSafeStringView absl::string_view",
    "absl/strings/strip.h": "absl::ConsumePrefix absl::ConsumeSuffix absl::StripPrefix absl::StripSuffix",
    "absl/strings/substitute.h": "absl::Substitute absl::SubstituteAndAppend",
    "absl/synchronization/mutex.h": "absl::Condition absl::CondVar absl::Mutex absl::MutexLock absl::ReaderMutexLock",
    "absl/synchronization/notification.h": "absl::Notification",
    "absl/time/clock.h": "absl::GetCurrentTimeNanos absl::Now absl::SleepFor",
    "absl/time/time.h": """absl::Duration absl::FormatDuration absl::FormatTime absl::Hours
        absl::InfiniteDuration absl::Microseconds absl::Milliseconds absl::Minutes absl::Nanoseconds
        absl::Seconds absl::Time absl::TimeZone absl::ToDoubleMicroseconds absl::ToDoubleMilliseconds
        absl::ToDoubleSeconds absl::ToInt64* absl::UTCTimeZone absl::ZeroDuration""",
    "absl/types/optional.h": "absl::make_optional absl::nullopt absl::optional",
    "absl/types/span.h": "absl::MakeConstSpan absl::MakeSpan absl::Span",
}

# Headers that code may need without a name of them: for lists in braces, for
# allocation at an address, for `<<` on a stream that another header declares.
_WITHOUT_NAMES = ("initializer_list", "istream", "new", "ostream")

# Includes, and text that is no code: comments and literals. A quote behind a
# digit parts digits. Each alternative begins with a character of its own, which
# makes the search fast.
_NO_NAMES = re.compile(
    r"""#[ \t]*include[ \t]*[<"]?(?P<header>[^>"\n]*)[^\n]*|//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"|"""
    r""""(?:[^"\\\n]|\\.)*"|'(?<![0-9a-fA-F]')(?:[^'\\\n]|\\.)*'""",
    re.DOTALL,
)
_NAME = re.compile(r"(?:std|absl)(?:::\w+)+|(?<![\w:.>])[A-Za-z_]\w*")


def _read_headers():
    """name -> headers, and a list of (prefix, header)."""
    exact, prefixes = {}, []
    for header, names in _HEADERS.items():
        for name in names.split():
            if name.endswith("*"):
                prefixes.append((name[:-1], header))
            else:
                exact.setdefault(name, []).append(header)
    return exact, prefixes


_EXACT, _PREFIXES = _read_headers()


@functools.cache
def headers_of(name):
    """The headers that have `name`, as std::string has std::string::npos."""
    part = name
    while part:
        if part in _EXACT:
            return _EXACT[part]
        part = part.rpartition("::")[0]
    return [header for prefix, header in _PREFIXES if name.startswith(prefix)]


class Code:
    """The includes of a text, and the names in its code."""

    def __init__(self, text):
        self.includes = {}  # Header -> where it is included first.

        def blank(match):
            if match["header"] is not None:
                self.includes.setdefault(match["header"], match.start())
            return "\n" * match[0].count("\n")

        self._text = text
        self._code = _NO_NAMES.sub(blank, text)

    def names(self):
        """The names, in the order of their first uses."""
        return dict.fromkeys(_NAME.findall(self._code))

    def line_of_include(self, header):
        return self._text.count("\n", 0, self.includes[header]) + 1

    def line_of_name(self, name):
        """The line of its first use."""
        first = next(match for match in _NAME.finditer(self._code) if match[0] == name)
        return self._code.count("\n", 0, first.start()) + 1


def written(headers):
    """The headers as an include has them: `<array>, <tuple> or <utility>`."""
    texts = [f'"{header}"' if "/" in header else f"<{header}>" for header in headers]
    return " or ".join(filter(None, [", ".join(texts[:-1]), texts[-1]]))


def check_code(path, code, own_header):
    """Returns what is wrong in the file `path`; `own_header` is the header of the same name, or None."""
    problems = []
    available = {*code.includes, *(own_header.includes if own_header else ())}
    used = set()
    for name in code.names():
        headers = headers_of(name)
        used.update(headers)
        if headers and available.isdisjoint(headers):
            available.update(headers)
            problems.append(f"{path}:{code.line_of_name(name)}: {name} needs #include {written(headers)}")
    for header in code.includes:
        if header in _HEADERS and header not in used and header not in _WITHOUT_NAMES:
            problems.append(f"{path}:{code.line_of_include(header)}: no name of {written([header])} is used")
    return problems


def check(sources):
    """Returns what is wrong, one line each."""
    codes = {source.path: Code(source.text) for source in sources if not source.path.endswith(".inc")}
    problems = []
    for path, code in codes.items():
        own_header = codes.get(path[: -len(".cc")] + ".h") if path.endswith(".cc") else None
        problems += check_code(path, code, own_header)
    return problems


def main(root, sources):
    return report(check(sources), f"{len(sources)} files")


if __name__ == "__main__":
    run_alone(main)
