// Files that are complete at every moment, and pipes that are read once.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/io/new_file.hpp"

#include "wormcube/apps/io/array.hpp"
#include "wormcube/apps/io/csv.hpp"
#include "wormcube/apps/io/read_once.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <thread>

#include <catch2/catch.hpp>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace wormcube;
using namespace wormcube::apps;
using Catch::Matchers::Contains;

namespace {

/// A folder of this test alone, removed at its end.
struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("wormcube-files-" + std::to_string(getpid()));
  Folder() { std::filesystem::create_directory(path); }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string operator/(const char* name) const { return (path / name).string(); }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path), {}));
  }
};

std::string content(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

void put(const std::string& file, const std::string& text) { std::ofstream(file) << text; }

}  // namespace

TEST_CASE("a file that grows is whole after each step, whatever the steps", "[apps][files]") {
  const Folder folder;
  const std::string name = folder / "rows.json";
  put(name, "of an earlier run");
  std::mt19937 random(1);
  {
    WholeFile file(name);
    CHECK(content(name) == "of an earlier run");
    std::string wanted;
    for (int step = 0; step < 200; ++step) {
      const std::string text(random() % 9000, static_cast<char>('a' + step % 26));
      const std::size_t over = random() % 3 == 0 ? wanted.size() : random() % (wanted.size() + 1);
      if (step == 0 || random() % 10 == 0) {
        file.write(text);
        wanted = text;
      } else {
        file.append(text, over);
        wanted = wanted.substr(0, wanted.size() - over) + text;
      }
      REQUIRE(content(name) == wanted);
      if (random() % 20 == 0) std::filesystem::remove(name);  // somebody else does: it comes again
    }
  }
  CHECK(folder.files() <= 1);
}

TEST_CASE("a file replaces another when it is complete, keeps its permissions, follows links",
          "[apps][files]") {
  const Folder folder;
  const std::string name = folder / "a.npy", link = folder / "link";
  put(name, "old");
  chmod(name.c_str(), 0640);
  std::filesystem::create_symlink("a.npy", link);
  {
    NewFile file(link);
    file.write("half");
    CHECK(content(name) == "old");
  }
  CHECK(content(name) == "old");
  {
    NewFile file(link);
    file.write("new");
    file.finish();
  }
  CHECK(content(name) == "new");
  CHECK(std::filesystem::is_symlink(link));
  struct stat status {};
  REQUIRE(stat(name.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
  CHECK(folder.files() == 2);
  CHECK_THROWS_WITH(NewFile(folder / "none/a"), Contains("none/a': No such file or directory"));
}

TEST_CASE("what does not fit leaves what was there", "[apps][files]") {
  const Folder folder;
  const pid_t child = fork();
  if (child == 0) {  // the limit is this process's
    std::signal(SIGXFSZ, SIG_IGN);
    WholeFile whole(folder / "whole");
    LineFile lines(folder / "lines");
    put(folder / "npy", "old");
    whole.write(std::string(3000, 'x'));
    lines.add(std::string(2999, 'x') + "\n");
    const rlimit limit{5000, 5000};
    setrlimit(RLIMIT_FSIZE, &limit);
    int failures = 0;
    try {
      whole.append(std::string(3000, 'y'));
    } catch (const CannotWrite&) {
      ++failures;
    }
    try {
      lines.add(std::string(3000, 'y') + "\n");
    } catch (const CannotWrite&) {
      ++failures;
    }
    try {
      write_npy(folder / "npy", {ElementType::float64, {1000}, std::vector<std::byte>(8000)});
    } catch (const CannotWrite&) {
      ++failures;
    }
    whole.append("z");
    lines.add("z\n");
    whole.close();
    _exit(failures);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 3);
  CHECK(content(folder / "whole") == std::string(3000, 'x') + "z");
  CHECK(content(folder / "lines") == std::string(2999, 'x') + "\nz\n");
  CHECK(content(folder / "npy") == "old");
  CHECK(folder.files() == 3);
}

TEST_CASE("lines are appended, the first ones in place of what was there", "[apps][files]") {
  const Folder folder;
  const std::string name = folder / "lines";
  put(name, "of an earlier run\n");
  LineFile file(name);
  CHECK(content(name) == "of an earlier run\n");
  file.add("one\n");
  CHECK(content(name) == "one\n");
  std::ifstream follower(name);
  std::string line;
  std::getline(follower, line);
  file.add("two\n");
  std::getline(follower, line);
  CHECK(line == "two");
}

TEST_CASE("a pipe is read once, whatever reads it, and errors name it", "[apps][files]") {
  const Folder folder;
  const std::string pipe = folder / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const auto with = [&](const std::string& text, auto act) {
    std::thread writer([&] { std::ofstream(pipe) << text; });
    act();
    writer.join();
  };
  with("3\n1\n2\n", [&] { CHECK(open_list(pipe, "").elements() == 3); });
  with("1,2\n3,4.5\n", [&] { CHECK(open_matrix(pipe).shape() == std::vector<std::size_t>{2, 2}); });
  with("1\nx\n", [&] { CHECK_THROWS_WITH(open_list(pipe, ""), Contains(pipe + ": line 2: 'x'")); });
}

TEST_CASE("a blank line between values is a missing value, elsewhere it is nothing",
          "[apps][csv]") {
  CHECK(parse_csv_column("\n# c\n\nv\n\n1\n2\n\n\n", "f", "") == std::vector<double>{1, 2});
  CHECK_THROWS_WITH(parse_csv_column("v\n1\n\n3\n", "f", ""), Contains("f: line 3: blank"));
}
