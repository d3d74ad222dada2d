// The reserved words of Relay's text, as kinds of tokens.

#ifndef BATON_RELAY_IR_TEXT_KEYWORDS_H_
#define BATON_RELAY_IR_TEXT_KEYWORDS_H_

#include "baton/ir/text_lexer.h"

namespace baton::relay {

struct Keyword {
  static constexpr TokenKind kDef = TokenKind::kWord0;
  static constexpr TokenKind kElse = TokenKind::kWord1;
  static constexpr TokenKind kExtern = TokenKind::kWord2;
  static constexpr TokenKind kFn = TokenKind::kWord3;
  static constexpr TokenKind kFreeVar = TokenKind::kWord4;
  static constexpr TokenKind kIf = TokenKind::kWord5;
  static constexpr TokenKind kLet = TokenKind::kWord6;
  static constexpr TokenKind kMatch = TokenKind::kWord7;
  static constexpr TokenKind kPartialMatch = TokenKind::kWord8;  // match?
  static constexpr TokenKind kRef = TokenKind::kWord9;
  static constexpr TokenKind kRefRead = TokenKind::kWord10;
  static constexpr TokenKind kRefWrite = TokenKind::kWord11;
  static constexpr TokenKind kType = TokenKind::kWord12;
};

}  // namespace baton::relay

#endif  // BATON_RELAY_IR_TEXT_KEYWORDS_H_
