// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "capture/recorder/process_files.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace warpline::capture {

std::optional<std::string> readWhole(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return std::nullopt;
    std::string out;
    char bytes[16 << 10];
    constexpr std::size_t kMost = std::size_t{256} << 20;
    for (;;) {
        const ssize_t n = ::read(file, bytes, sizeof bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            ::close(file);
            return std::nullopt;
        }
        if (n == 0 || out.size() > kMost)
            break;
        out.append(bytes, static_cast<std::size_t>(n));
    }
    ::close(file);
    return out;
}

std::vector<Mapping> mappingsOf(pid_t pid) {
    std::vector<Mapping> out;
    const auto text = readWhole(fmt::format("/proc/{}/maps", pid));
    if (!text)
        return out;
    std::size_t at = 0;
    while (at < text->size()) {
        const std::size_t end = std::min(text->find('\n', at), text->size());
        const std::string line = text->substr(at, end - at);
        at = end + 1;
        Mapping m;
        char rights[8] = {};
        int pathAt = 0;
        unsigned long begin = 0;
        unsigned long stop = 0;
        unsigned long offset = 0;
        if (std::sscanf(line.c_str(), "%lx-%lx %7s %lx %*s %*s %n", &begin, &stop, rights, &offset, &pathAt) <
            4)
            continue;
        m.begin = begin;
        m.end = stop;
        m.offset = offset;
        m.executable = rights[2] == 'x';
        if (pathAt > 0 && static_cast<std::size_t>(pathAt) < line.size())
            m.path = line.substr(static_cast<std::size_t>(pathAt));
        out.push_back(std::move(m));
    }
    return out;
}

std::vector<pid_t> threadsOf(pid_t pid) {
    std::vector<pid_t> out{pid};
    DIR* folder = ::opendir(fmt::format("/proc/{}/task", pid).c_str());
    if (folder == nullptr)
        return out;
    while (const dirent* entry = ::readdir(folder)) {
        const auto tid = static_cast<pid_t>(std::atoi(entry->d_name));
        if (tid > 0 && tid != pid)
            out.push_back(tid);
    }
    ::closedir(folder);
    return out;
}

std::optional<std::string> statusField(pid_t pid, std::string_view name) {
    const auto text = readWhole(fmt::format("/proc/{}/status", pid));
    if (!text)
        return std::nullopt;
    std::size_t at = 0;
    while (at < text->size()) {
        const std::size_t end = std::min(text->find('\n', at), text->size());
        const std::string_view line(text->data() + at, end - at);
        at = end + 1;
        if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ':')
            continue;
        const std::size_t from = line.find_first_not_of(" \t", name.size() + 1);
        return from == std::string_view::npos ? std::string() : std::string(line.substr(from));
    }
    return std::nullopt;
}

std::string commandOf(pid_t pid) {
    std::string text = readWhole(fmt::format("/proc/{}/cmdline", pid)).value_or(std::string());
    while (!text.empty() && text.back() == '\0')
        text.pop_back();
    std::replace(text.begin(), text.end(), '\0', ' ');
    return text;
}

namespace {

/// A value at a place of the file; zeroes where the file is shorter.
template <class T>
T at(const std::string& bytes, std::uint64_t offset) {
    T value{};
    if (offset <= bytes.size() && bytes.size() - offset >= sizeof value)
        std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
}

} // namespace

int elfClassOf(const std::string& file) {
    const int opened = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (opened < 0)
        return 0;
    Elf64_Ehdr header{};
    const ssize_t n = ::read(opened, &header, sizeof header);
    ::close(opened);
    if (n < static_cast<ssize_t>(sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return 0;
    if (header.e_ident[EI_CLASS] == ELFCLASS32)
        return 1;
    return header.e_machine == EM_X86_64 ? 2 : 0;
}

std::uint64_t symbolIn(const std::string& file, std::string_view name) {
    const auto bytes = readWhole(file);
    if (!bytes)
        return 0;
    const auto header = at<Elf64_Ehdr>(*bytes, 0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
        return 0;
    for (unsigned s = 0; s < header.e_shnum; ++s) {
        const auto section = at<Elf64_Shdr>(*bytes, header.e_shoff + std::uint64_t{s} * sizeof(Elf64_Shdr));
        if (section.sh_type != SHT_DYNSYM || section.sh_link >= header.e_shnum)
            continue;
        const auto texts =
            at<Elf64_Shdr>(*bytes, header.e_shoff + std::uint64_t{section.sh_link} * sizeof(Elf64_Shdr));
        if (section.sh_offset > bytes->size() || texts.sh_offset > bytes->size())
            continue;
        const std::uint64_t count =
            std::min<std::uint64_t>(section.sh_size, bytes->size() - section.sh_offset) / sizeof(Elf64_Sym);
        for (std::uint64_t i = 0; i < count; ++i) {
            const auto symbol = at<Elf64_Sym>(*bytes, section.sh_offset + i * sizeof(Elf64_Sym));
            const std::uint64_t where = texts.sh_offset + symbol.st_name;
            if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC ||
                where + name.size() >= bytes->size() || (*bytes)[where + name.size()] != '\0' ||
                std::string_view(bytes->data() + where, name.size()) != name)
                continue;
            return symbol.st_value;
        }
    }
    return 0;
}

} // namespace warpline::capture
