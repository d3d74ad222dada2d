#include "baton/relay/ir/text_keywords.h"

#include "baton/ir/text_lexer.h"

namespace baton::relay {
namespace {

[[maybe_unused]] const bool words_are_reserved =
    ReserveWords({"def", "else", "extern", "fn", "free_var", "if", "let",
                  "match", "match?", "ref", "ref_read", "ref_write", "type"});

}  // namespace
}  // namespace baton::relay
