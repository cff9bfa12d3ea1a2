// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#pragma once

#include "model/import/import.h"

#include <filesystem>
#include <string>
#include <vector>

namespace warpline::test {

/// The memory history in a file or in bytes; null where there is none.
inline MemoryHistoryPtr memoryOf(Result<Opened> opened) {
    if (!opened.ok() || opened.value().memory.empty())
        return nullptr;
    return opened.value().memory.front();
}
inline MemoryHistoryPtr memoryOfText(std::string_view text) {
    return memoryOf(openFromMemory(text, "test"));
}

/// The recorded snapshots and the public ones; empty where the folder is not there.
inline std::vector<std::filesystem::path> snapshotFiles(const std::filesystem::path& root) {
    std::vector<std::filesystem::path> files;
    for (const char* folder : {"h200", "corpus/memory_snapshot"}) {
        if (!std::filesystem::exists(root / folder))
            continue;
        for (const auto& entry : std::filesystem::directory_iterator(root / folder)) {
            const std::string name = entry.path().filename().string();
            if (std::string(folder) != "h200" || name.find(".snapshot.pickle") != std::string::npos)
                files.push_back(entry.path());
        }
    }
    return files;
}

} // namespace warpline::test
