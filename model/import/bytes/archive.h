// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/import/byte_source.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace warpline {

enum class ArchiveKind { None, Zip, Tar };
/// What archive begins with these bytes. A tar is told by its checksum, so that it needs no magic number.
ArchiveKind archiveKind(std::string_view head);

/// A member with bytes in it that is neither a folder nor macOS's metadata.
using MemberUse = std::function<Result<Done>(std::unique_ptr<ByteSource> member, const std::string& name)>;

/// Calls `use` for the members of an archive, in the order they lie there. `label` is the archive's name for
/// messages. Members that `wanted` refuses are passed over without being unpacked.
Result<Done> forEachMember(std::unique_ptr<ByteSource> archive, ArchiveKind kind, const std::string& label,
                           const std::function<bool(std::string_view name)>& wanted, const MemberUse& use);

} // namespace warpline
