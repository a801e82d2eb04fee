// The kind of a file by its content, and its text.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wormcube/runtime/base/text.hpp"  // IWYU pragma: export

#include <cstddef>
#include <string>
#include <string_view>

namespace wormcube::apps {

enum class FileKind { text, npy };

/// Checks the kind of a file by its first bytes, not its name. Throws UsageError, `name` in front,
/// with advice, for kinds that no reader accepts: .npz and other zip archives, compressed files,
/// UTF-16, other binary data.
FileKind kind_of(std::string_view first_bytes, std::string_view name);

/// The same for a file. Throws UsageError if it cannot be opened, with the system's reason.
FileKind kind_of_file(const std::string& file);

/// The whole content of a file. A device may be endless, and a sparse file larger than its disk:
/// more than `most` bytes are refused, and the rest is not read.
/// Throws UsageError "cannot read 'FILE': REASON", "'FILE' has more than 256 MiB, ADVICE".
std::string read_whole(const std::string& file, std::size_t most, std::string_view advice);

/// Throws UsageError "FILE: cannot be opened: REASON" (a directory, no such file, ..) unless the
/// file can be read.
void require_readable(const std::string& file);

}  // namespace wormcube::apps
