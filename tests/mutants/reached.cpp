// Linked into the test program of `./run mutants`: after each test case, which mutants' places it has reached, and how long it took. To the
// file WORMCUBE_MUTANTS_REACHED with .txt behind its name: NAME tab SECONDS tab NUMBERS; without a name what is reached before all tests.
// SPDX-License-Identifier: Apache-2.0
#include "schema.hpp"

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>

#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <catch2/catch.hpp>

namespace {

class Reached : public Catch::TestEventListenerBase {
 public:
  using TestEventListenerBase::TestEventListenerBase;

  void testCaseStarting(const Catch::TestCaseInfo& test) override {
    TestEventListenerBase::testCaseStarting(test);
    if (name_.empty()) tell();  // by constructors
    name_ = test.name;
    began_ = std::clock();
  }
  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    TestEventListenerBase::testCaseEnded(stats);
    tell();
  }

 private:
  void tell() {
    volatile unsigned char* const reached = wormcube_mutants::state().reached;
    if (reached == nullptr) return;
    std::ofstream file(std::string(std::getenv("WORMCUBE_MUTANTS_REACHED")) + ".txt",
                       std::ios::app);
    file << name_ << '\t' << static_cast<double>(std::clock() - began_) / CLOCKS_PER_SEC << '\t';
    for (std::size_t id = 0; id < wormcube_mutants::most; ++id) {
      if (reached[id] == 1) file << id << ' ';
      if (reached[id] == 2) file << '-' << id << ' ';
      reached[id] = 0;
    }
    file << '\n';
  }

  std::string name_;
  std::clock_t began_ = std::clock();
};

CATCH_REGISTER_LISTENER(Reached)

}  // namespace
