// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/sniff/kinds.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace warpline {
namespace {

using namespace std::string_view_literals;

struct Magic {
    std::string_view bytes;
    std::string_view sentence;
};

constexpr Magic kMagic[] = {
    {"\0\5\x16\x07"sv,
     "This is what macOS keeps beside a file (AppleDouble, \"._\" before the name), not the file "
     "itself. Open the file of the same name without the \"._\"."},
    {"\0\5\x16\0"sv,
     "This is a file wrapped by macOS (AppleSingle). Copy the file again, in a way that keeps it "
     "plain."},
    {"\xFD\x37zXZ\0"sv,
     "This is xz-compressed, which Warpline does not unpack. Unpack it (xz -d) and open what comes "
     "out."},
    {"BZh"sv, "This is bzip2-compressed, which Warpline does not unpack. Unpack it (bzip2 -d) and open what "
              "comes out."},
    {"\x04\x22\x4D\x18"sv,
     "This is LZ4-compressed, which Warpline does not unpack. Unpack it (lz4 -d) and open what "
     "comes out."},
    {"7z\xBC\xAF\x27\x1C"sv,
     "This is a 7-Zip archive, which Warpline does not unpack. Unpack it and open what is in "
     "it."},
    {"Rar!\x1A\x07"sv,
     "This is a RAR archive, which Warpline does not unpack. Unpack it and open what is in it."},
    {"\x89PNG\r\n"sv, "This is a picture (PNG), not a trace."},
    {"\xFF\xD8\xFF"sv, "This is a picture (JPEG), not a trace."},
    {"GIF8"sv, "This is a picture (GIF), not a trace."},
    {"%PDF-"sv, "This is a PDF document, not a trace."},
    {"\x7F\x45LF"sv,
     "This is a program or library (ELF), not a trace. Run it under a profiler and open what that "
     "writes."},
    {"MZ\x90\0"sv, "This is a program or library for Windows, not a trace."},
    {"\xCA\xFE\xBA\xBE"sv, "This is a program or library (Mach-O or Java), not a trace."},
    {"\x89HDF\r\n"sv, "This is an HDF5 file, not a trace."},
    {"PAR1"sv, "This is a Parquet file, not a trace."},
    {"ARROW1\0"sv, "This is an Arrow file, not a trace."},
    {"\x93NUMPY"sv, "This is a NumPy array (.npy), not a trace."},
};

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

/// The text of the table definitions lies in the file's first pages as it was typed.
Sniffed sqlite(std::string_view head) {
    if (contains(head, "CUPTI_ACTIVITY_KIND_") || contains(head, "NVTX_EVENTS") ||
        contains(head, "StringIds")) {
        if (contains(head, "StringIds") || contains(head, "META_DATA_EXPORT"))
            return notRead("an Nsight Systems export (SQLite)");
        return notRead(
            "a profile of nvprof or the NVIDIA Visual Profiler (SQLite), which came before Nsight Systems");
    }
    if (contains(head, "compute_kernel") && contains(head, "compute_workload"))
        return notRead("a database of AMD's rocprof-compute (SQLite)");
    if (contains(head, "rocpd_"))
        return notRead("a profile of AMD's rocprofv3 (rocpd, SQLite)");
    if (contains(head, "device_traces"))
        return isMemory(Sniffed::Format::MemorySqlite, "a PyTorch memory snapshot (SQLite)");
    return notRead("an SQLite database, but neither an export of Nsight Systems nor a memory snapshot");
}

Sniffed pickle(std::string_view head) {
    // Keys stand in any order, and the oldest snapshots are a bare list of segments.
    if (contains(head, "device_traces") || contains(head, "total_size") ||
        contains(head, "segment_pool_id") || contains(head, "segment_alloc") ||
        (contains(head, "segments") && contains(head, "allocator_settings")))
        return isMemory(Sniffed::Format::MemoryPickle, "a PyTorch memory snapshot (pickle)");
    if (contains(head, "torch._utils") || contains(head, "_rebuild_tensor"))
        return notRead("saved tensors of PyTorch (pickle)");
    return notRead("a Python pickle, but not a PyTorch memory snapshot");
}

/// Reads protobuf's wire format, just far enough to tell what a message is.
class Wire {
  public:
    explicit Wire(std::string_view bytes) : m_bytes(bytes) {}

    /// The next field; false at the end or where this is no protobuf.
    bool next() {
        std::uint64_t key = 0;
        if (m_at >= m_bytes.size() || !varint(key) || key >> 3 == 0 || key >> 3 > 0x1FFFFFFF)
            return m_bad = m_bad || m_at < m_bytes.size(), false;
        field = key >> 3;
        text = {};
        std::uint64_t size = 0;
        switch (key & 7) {
        case 0:
            return varint(size) || (m_bad = true, false);
        case 1:
            size = 8;
            break;
        case 5:
            size = 4;
            break;
        case 2:
            if (!varint(size))
                return m_bad = true, false;
            text = m_bytes.substr(
                m_at, static_cast<std::size_t>(std::min<std::uint64_t>(size, m_bytes.size() - m_at)));
            break;
        default:
            return m_bad = true, false;
        }
        whole = size <= m_bytes.size() - m_at;
        m_at = whole ? m_at + static_cast<std::size_t>(size) : m_bytes.size();
        return true;
    }
    [[nodiscard]] bool bad() const { return m_bad; }

    std::uint64_t field = 0;
    std::string_view text;
    bool whole = true; ///< the field does not go on beyond the bytes

  private:
    bool varint(std::uint64_t& value) {
        value = 0;
        for (int shift = 0; shift < 64 && m_at < m_bytes.size(); shift += 7) {
            const auto byte = static_cast<unsigned char>(m_bytes[m_at++]);
            value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
            if (byte < 0x80)
                return true;
        }
        return false;
    }

    std::string_view m_bytes;
    std::size_t m_at = 0;
    bool m_bad = false;
};

/// XLA's and Perfetto's files are both a list of messages in field 1.
std::optional<Sniffed> protobuf(std::string_view head) {
    Wire file(head);
    std::size_t packets = 0;
    for (; packets < 8 && file.next(); ++packets) {
        if (file.field != 1)
            return std::nullopt;
        Wire packet(file.text);
        std::size_t fields = 0;
        for (; fields < 8 && packet.next(); ++fields)
            if (packet.field == 2 &&
                (packet.text.starts_with("/host:") || packet.text.starts_with("/device:")))
                return notRead(
                    "an XLA profile (xplane.pb) of JAX or TensorFlow",
                    "Open the trace.json.gz that JAX writes beside it (create_perfetto_trace=True).");
        if (packet.bad() || (fields == 0 && !file.text.empty()))
            return std::nullopt;
        if (!file.whole)
            break;
    }
    if (file.bad() || packets < 2)
        return std::nullopt;
    return notRead("a Perfetto trace (protobuf, .pftrace)",
                   "Convert it with Perfetto's traceconv json and open that.");
}

} // namespace

std::optional<Sniffed> sniffBinary(std::string_view head) {
    if (head.starts_with("SQLite format 3\0"sv))
        return sqlite(head);
    if (head.size() >= 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5)
        return pickle(head);
    if (head.starts_with("NVIDIA Tegra Profiler Report"))
        return notRead("an Nsight Systems report (.nsys-rep)");
    if (head.starts_with("NVR\0"sv))
        return notRead("an Nsight Compute report (.ncu-rep)");
    for (const Magic& magic : kMagic)
        if (head.starts_with(magic.bytes))
            return isOther(std::string(magic.sentence));
    const std::string_view start = head.substr(0, 4096);
    const bool binary = std::any_of(start.begin(), start.end(), [](char c) {
        const auto u = static_cast<unsigned char>(c);
        return u < 0x09 || (u > 0x0D && u < 0x20 && u != 0x1B);
    });
    if (!binary)
        return std::nullopt;
    if (std::all_of(head.begin(), head.end(), [](char c) { return c == '\0'; }))
        return isOther(
            "This file holds nothing but zero bytes: the disk was full or the computer went down while it "
            "was written. Record the trace again.");
    if (head.starts_with('\n'))
        if (std::optional<Sniffed> known = protobuf(head))
            return known;
    // A trace that is damaged at its start is still one.
    if (hasTraceEvents(head))
        return isChromeTrace();
    if (head.starts_with('{') || head.starts_with('['))
        return std::nullopt;
    return isOther("This is a binary file of a kind that Warpline does not know, not a trace.");
}

} // namespace warpline
