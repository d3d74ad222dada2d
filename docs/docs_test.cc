// Checks the pages of this folder against the sources that they quote.
//
// A fenced block of C++ comes after a line that names its source:
//
//   <!-- examples/write_a_pass.cc:pass -->
//   ```cpp
//   ...
//   ```
//
// The block is the text between `// [pass]` and `// [/pass]` (in a BUILD file
// `# [pass]` and `# [/pass]`), without the indentation. Blocks of other
// languages need no such line, but are checked if they have one.
//
// In a block of the language `console`, lines that begin with `$ ` are
// commands, which continue after a backslash; the other lines are their output.
// They run in folders where `examples/` is that of the repository. The blocks
// of a page share a folder.

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "baton/testing/golden.h"
#include "baton/testing/run_binary.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "re2/re2.h"

namespace baton {
namespace {

using ::testing::Contains;

std::vector<std::string> Lines(absl::string_view text) {
  return absl::StrSplit(text, '\n');
}

// The name in a line `// [name]` or `# [name]`, with the slash of an end; empty
// for any other line.
std::string MarkerName(absl::string_view line) {
  std::string name;
  RE2::FullMatch(std::string(line), R"(\s*(?://|#) \[(/?[a-z0-9_]+)\])", &name);
  return name;
}

// The lines of region `name` of `source`, without indentation and without the
// markers of other regions; nullopt if there is no such region, or two.
std::optional<std::string> Region(absl::string_view source,
                                  absl::string_view name) {
  std::vector<std::string> region;
  int begins = 0;
  int ends = 0;
  size_t indentation = std::string::npos;
  for (const std::string& line : Lines(source)) {
    const std::string marker = MarkerName(line);
    if (marker == name) ++begins;
    if (marker == absl::StrCat("/", name)) ++ends;
    if (begins == ends || !marker.empty()) continue;
    region.push_back(line);
    indentation = std::min(indentation, line.find_first_not_of(' '));
  }
  if (begins != 1 || ends != 1) return std::nullopt;
  for (std::string& line : region) {
    line.erase(0, std::min(indentation, line.size()));
  }
  return absl::StrJoin(region, "\n");
}

struct Block {
  int line;              // of the opening fence, from 1
  std::string language;  // empty if the fence names none
  std::string source;    // `examples/write_a_pass.cc:pass`; empty if not named
  std::string text;
};

std::vector<Block> Blocks(absl::string_view page) {
  std::vector<Block> blocks;
  std::vector<std::string> text;
  std::string previous;
  bool open = false;
  int number = 0;
  for (const std::string& line : Lines(page)) {
    ++number;
    absl::string_view rest = line;
    if (!absl::ConsumePrefix(&rest, "```")) {
      if (open) text.push_back(line);
    } else if (!open) {
      blocks.push_back({.line = number, .language = std::string(rest)});
      RE2::FullMatch(previous, R"(<!-- (\S+:[a-z0-9_]+) -->)",
                     &blocks.back().source);
      open = true;
    } else {
      blocks.back().text = absl::StrJoin(text, "\n");
      text.clear();
      open = false;
    }
    previous = line;
  }
  if (open) ADD_FAILURE() << "a block is not closed";
  return blocks;
}

// The names of the pages, sorted.
std::vector<std::string> Pages() {
  std::vector<std::string> pages;
  for (const auto& entry :
       std::filesystem::directory_iterator(testing::RunfilePath("docs"))) {
    const std::string name = entry.path().filename().string();
    if (absl::EndsWith(name, ".md")) pages.push_back(name);
  }
  std::sort(pages.begin(), pages.end());
  return pages;
}

std::string ReadPage(absl::string_view name) {
  return testing::ReadFileOrFail(
      testing::RunfilePath(absl::StrCat("docs/", name)));
}

// The local files that a page links to, without anchors. Code has no links.
std::vector<std::string> Links(absl::string_view page) {
  std::string text;
  bool in_block = false;
  for (const std::string& line : Lines(page)) {
    if (absl::StartsWith(line, "```")) in_block = !in_block;
    if (!in_block) absl::StrAppend(&text, line, "\n");
  }
  RE2::GlobalReplace(&text, "`[^`\\n]*`", "");
  std::vector<std::string> links;
  re2::StringPiece rest(text);
  std::string target;
  while (RE2::FindAndConsume(&rest, R"(\]\(([^)#]*)[^)]*\))", &target)) {
    if (!target.empty() && !absl::StrContains(target, "://")) {
      links.push_back(target);
    }
  }
  return links;
}

TEST(RegionTest, LosesItsIndentationAndMarkersInside) {
  constexpr char kSource[] =
      "a\n  // [x]\n  b\n  // [y]\n\n    c\n  // [/y]\n  // [/x]\nd\n";
  EXPECT_EQ(Region(kSource, "x"), "b\n\n  c");
  EXPECT_EQ(Region(kSource, "y"), "\nc");
  EXPECT_FALSE(Region(kSource, "z").has_value());
  EXPECT_EQ(Region("# [x]\na = 1\n# [/x]\n", "x"), "a = 1");
  EXPECT_FALSE(Region("// [x]\n", "x").has_value());
}

TEST(BlocksTest, HaveALanguageAndASource) {
  const std::vector<Block> blocks = Blocks(
      "text\n\n<!-- a/b.cc:r -->\n```cpp\nint x;\n\nint y;\n```\n"
      "```sh\nls\n```\n");
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].line, 4);
  EXPECT_EQ(blocks[0].language, "cpp");
  EXPECT_EQ(blocks[0].source, "a/b.cc:r");
  EXPECT_EQ(blocks[0].text, "int x;\n\nint y;");
  EXPECT_EQ(blocks[1].language, "sh");
  EXPECT_EQ(blocks[1].source, "");
}

TEST(DocsTest, CodeIsWhatIsCompiled) {
  int num_checked = 0;
  for (const std::string& page : Pages()) {
    for (const Block& block : Blocks(ReadPage(page))) {
      SCOPED_TRACE(absl::StrCat("docs/", page, ":", block.line));
      if (block.source.empty()) {
        EXPECT_NE(block.language, "cpp") << "this C++ has no source";
        continue;
      }
      const std::vector<std::string> parts = absl::StrSplit(block.source, ':');
      ASSERT_EQ(parts.size(), 2u) << block.source;
      const std::optional<std::string> region = Region(
          testing::ReadFileOrFail(testing::RunfilePath(parts[0])), parts[1]);
      ASSERT_TRUE(region.has_value()) << "no region " << block.source;
      EXPECT_TRUE(testing::SameText(block.text, *region)) << block.source;
      ++num_checked;
    }
  }
  EXPECT_GT(num_checked, 20);
}

struct Command {
  std::string text;
  std::string output;
};

std::vector<Command> Commands(absl::string_view block) {
  std::vector<Command> commands;
  bool goes_on = false;
  for (absl::string_view line : absl::StrSplit(block, '\n')) {
    if (goes_on) {
      absl::StrAppend(&commands.back().text, "\n", line);
    } else if (absl::ConsumePrefix(&line, "$ ")) {
      commands.push_back({.text = std::string(line)});
    } else if (!commands.empty()) {
      absl::StrAppend(&commands.back().output, line, "\n");
      continue;
    }
    goes_on = absl::EndsWith(line, "\\");
  }
  return commands;
}

// The output of a shell that runs `command` in `folder`, where the repository's
// programs are found by name.
std::string OutputOf(const std::string& command, const std::string& folder) {
  namespace fs = std::filesystem;
  const auto absolute = [](absl::string_view path) {
    return fs::absolute(testing::RunfilePath(path)).string();
  };
  fs::create_directories(folder);
  const std::string examples = folder + "/examples";
  if (!fs::exists(examples)) {
    fs::create_directory_symlink(absolute("examples"), examples);
  }
  const std::string script = folder + "/command.sh";
  const std::string output = folder + "/command.out";
  std::ofstream(script) << "PATH=\"" << absolute("tools") << ":"
                        << absolute("testing") << ":" << absolute("examples")
                        << ":$PATH\"\n"
                        << "cd '" << folder << "'\n"
                        << command << "\n";
  const std::string shell =
      absl::StrCat("sh '", script, "' >'", output, "' 2>&1 </dev/null");
  // The exit code is what it is.
  [[maybe_unused]] const int status = std::system(shell.c_str());  // NOLINT
  return testing::ReadFileOrFail(output);
}

TEST(CommandsTest, GoOnAfterABackslash) {
  const std::vector<Command> commands =
      Commands("$ echo a\na\n\n$ echo \\\n  b\n$ true");
  ASSERT_EQ(commands.size(), 3u);
  EXPECT_EQ(commands[0].text, "echo a");
  EXPECT_EQ(commands[0].output, "a\n\n");
  EXPECT_EQ(commands[1].text, "echo \\\n  b");
  EXPECT_EQ(commands[1].output, "");
  EXPECT_EQ(commands[2].text, "true");
}

TEST(DocsTest, CommandsPrintWhatIsShown) {
  int num_run = 0;
  for (const std::string& page : Pages()) {
    const std::string folder = absl::StrCat(testing::TempDir(), "/", page);
    for (const Block& block : Blocks(ReadPage(page))) {
      if (block.language != "console") continue;
      for (const Command& command : Commands(block.text)) {
        SCOPED_TRACE(
            absl::StrCat("docs/", page, ":", block.line, ": ", command.text));
        EXPECT_TRUE(
            testing::SameText(OutputOf(command.text, folder), command.output));
        ++num_run;
      }
    }
  }
  EXPECT_GT(num_run, 5);
}

TEST(DocsTest, IndexLinksToEveryPage) {
  const std::vector<std::string> links = Links(ReadPage("README.md"));
  for (const std::string& page : Pages()) {
    if (page == "README.md") continue;
    EXPECT_THAT(links, Contains(page));
  }
}

TEST(DocsTest, LinksLeadSomewhere) {
  const std::vector<std::string> pages = Pages();
  for (const std::string& page : pages) {
    for (const std::string& link : Links(ReadPage(page))) {
      SCOPED_TRACE(absl::StrCat("docs/", page));
      absl::string_view path = link;
      if (absl::ConsumePrefix(&path, "../examples/")) {
        EXPECT_TRUE(std::filesystem::exists(
            testing::RunfilePath(absl::StrCat("examples/", path))))
            << link;
      } else if (!absl::ConsumePrefix(&path, "../")) {
        EXPECT_THAT(pages, Contains(link));
      }
    }
  }
}

}  // namespace
}  // namespace baton
