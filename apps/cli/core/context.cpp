// What one run of the program knows.
// SPDX-License-Identifier: Apache-2.0
#include "wormcube/apps/cli/core/context.hpp"

#include "wormcube/runtime/base/error.hpp"

#include <cstdio>
#include <filesystem>
#include <utility>

namespace wormcube::cli {

void Context::set_command_line(int argc, const char* const* argv) {
  command_line_.clear();
  std::string doing;
  if (argc > 0) command_line_ = std::filesystem::path(argv[0]).filename();
  for (int i = 1; i < argc; ++i) command_line_ += " " + std::string(argv[i]);
  for (int i = 1; i < argc; ++i) doing += (i == 1 ? "" : " ") + std::string(argv[i]);
  constexpr std::size_t most = 200;
  if (doing.size() > most) doing = doing.substr(0, most) + "...";
  set_doing(std::move(doing));
}

void Context::set_cluster(Cluster* cluster) {
  cluster_ = cluster;
  if (is_first_process()) return;
  // Their results are not wanted; if this fails they print too.
  [[maybe_unused]] const std::FILE* nowhere = std::freopen("/dev/null", "w", stdout);
}

bool Context::is_first_process() const {
  const Cluster* const processes = cluster();
  return processes == nullptr || processes->process() == 0;
}

void Context::in_first_process(const std::function<void()>& act) const {
  if (cluster() == nullptr) {
    act();
    return;
  }
  std::string text;
  try {
    if (is_first_process()) act();
  } catch (const UsageError& error) {
    text = error.what();
  }
  cluster()->agree(0, text);
  if (!text.empty()) throw UsageError(text);
}

void Context::set_doing(std::string text) {
  const std::scoped_lock lock(doing_mutex_);
  doing_ = std::move(text);
}

std::string Context::doing() const {
  const std::scoped_lock lock(doing_mutex_);
  return doing_.empty() ? "" : doing_ + ": ";
}

void Context::begin_work(Unfinished& work) {
  const std::scoped_lock lock(work_mutex_);
  work_ = &work;
}

void Context::forget_work(Unfinished& work) {
  const std::scoped_lock lock(work_mutex_);
  if (work_ == &work) work_ = nullptr;
}

void Context::end_work(std::string_view status, std::string_view reason) noexcept {
  const std::scoped_lock lock(work_mutex_);
  if (work_ != nullptr) work_->end(status, reason);
}

}  // namespace wormcube::cli
