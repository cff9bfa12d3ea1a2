// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/base/ids.h"
#include "model/base/result.h"
#include "model/base/time.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warpline {

/// What a session file (.wps) keeps: which files were open and how they were looked at, none of their data.
/// JSON with a version; keys that a reader does not know are left alone and kept.
struct SessionFile {
    static constexpr int kVersion = 1;

    struct SourceRef {
        std::string path;     ///< as it is to be opened: beside the session file, or absolute
        std::string checksum; ///< "xxh3:16 hex digits" of the file's bytes; empty = not taken
        std::uint64_t bytes = 0;
        TimeNs shift = 0; ///< of Source
    };
    /// A track by what the file calls it, not by a number of one opening.
    struct TrackRef {
        std::uint32_t source = 0;
        std::string process;
        std::string track;
        bool operator==(const TrackRef&) const = default;
    };
    struct Mark {
        TimeNs time = 0;
        std::optional<TimeNs> end; ///< a marked range
        std::string note;
        std::string colour; ///< "#RRGGBB"; empty = the theme's
    };
    struct Selection {
        std::optional<TimeRange> range;
        std::vector<TrackRef> tracks;
        std::optional<std::int64_t> step;
        std::string op;
        std::string kernel;
        std::string frame;
        std::string block; ///< an allocation: its address as text
        std::string search;
    };

    std::vector<SourceRef> sources;
    std::string layout; ///< what the window's own code makes of it: opaque bytes
    std::optional<TimeRange> visible;
    std::vector<TrackRef> pinned;
    std::vector<TrackRef> hidden;
    std::vector<Mark> marks;
    Selection selection;
    std::vector<std::pair<std::string, std::string>> settings; ///< of the views: name, JSON value
    std::vector<std::pair<std::string, std::string>> unknown;  ///< top-level keys of later versions, as JSON
};

/// A source that is not as the session remembers it, and a sentence that says so.
struct SourceTrouble {
    enum class Kind { Missing, Changed, Unreadable };
    std::size_t source = 0;
    Kind kind = Kind::Missing;
    std::string message;
};

/// The session as JSON, its sources relative to the folder of `path` where they lie in it or beside it.
std::string sessionText(const SessionFile& session, const std::string& path);
/// The other way; `path` is where the text came from. Damage is an error with a sentence.
Result<SessionFile> parseSession(std::string_view text, const std::string& path);

/// Takes the checksums of sources that have none, and writes the file whole or not at all.
Result<Done> writeSession(SessionFile session, const std::string& path);
Result<SessionFile> readSession(const std::string& path);
/// Which sources are gone or have changed.
std::vector<SourceTrouble> checkSources(const SessionFile& session);
/// "xxh3:..." of a file's bytes.
Result<std::string> fileChecksum(const std::string& path);
/// Whether bytes begin as a session file does.
bool looksLikeSession(std::string_view head);

} // namespace warpline
