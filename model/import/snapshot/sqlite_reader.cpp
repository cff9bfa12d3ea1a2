// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/snapshot/sqlite_reader.h"

#include "model/import/snapshot/json_reader.h"

#include <fmt/format.h>

#include <sqlite3.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <unordered_map>

namespace warpline::snapshot {

namespace {

struct CloseDatabase {
    void operator()(sqlite3* db) const { sqlite3_close(db); }
};
struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
struct FreeBytes {
    void operator()(unsigned char* bytes) const { sqlite3_free(bytes); }
};

constexpr std::size_t kFirstBytes = std::size_t{1} << 20;

int onlyReading(void* /*unused*/, int action, const char* /*a*/, const char* /*b*/, const char* /*database*/,
                const char* inside) {
    // `inside` is the view or trigger that wants it.
    if (inside != nullptr)
        return SQLITE_DENY;
    return action == SQLITE_SELECT || action == SQLITE_READ ? SQLITE_OK : SQLITE_DENY;
}

class SqliteReader {
  public:
    SqliteReader(ByteSource& source, Sink& sink, const ImportOptions& options)
        : m_source(source), m_sink(sink), m_options(options), m_machine(sink) {}

    Result<Done> run() {
        if (auto r = readAll(); !r.ok())
            return r;
        if (auto r = open(); !r.ok())
            return r;
        bool any = false;
        for (const auto& [name, read] : {std::pair<const char*, std::function<void(sqlite3_stmt*)>>{
                                             "segments", [&](sqlite3_stmt* s) { segment(s); }},
                                         {"blocks", [&](sqlite3_stmt* s) { block(s); }},
                                         {"device_traces", [&](sqlite3_stmt* s) { event(s); }}}) {
            auto r = table(name, read);
            if (!r.ok())
                return r.error();
            any = any || r.value();
        }
        if (!any)
            return Error::wrongKind(
                fmt::format("{}: This is an SQLite database without the tables of a PyTorch memory "
                            "snapshot (device_traces, segments, blocks).",
                            m_source.name));
        m_sink.odd += m_lostBlocks;
        for (RawMemorySegment& s : m_segments)
            m_sink.addSegment(std::move(s), false);
        return Done{};
    }

  private:
    Result<Done> readAll() {
        std::size_t room = kFirstBytes;
        m_bytes.reset(static_cast<unsigned char*>(sqlite3_malloc64(room)));
        for (;;) {
            if (m_options.stop.stop_requested())
                return Error::cancelled();
            if (m_bytes == nullptr)
                throw std::bad_alloc();
            if (m_size == room) {
                room += room / 2;
                m_bytes.reset(static_cast<unsigned char*>(sqlite3_realloc64(m_bytes.release(), room)));
                continue;
            }
            auto r = m_source.read(reinterpret_cast<char*>(m_bytes.get()) + m_size, room - m_size);
            if (!r.ok())
                return r.error();
            if (r.value() == 0)
                break;
            m_size += r.value();
            if (m_options.progress != nullptr)
                m_options.progress->bytesDone = m_source.bytesDone();
        }
        // A database whose last writer used a log beside the file says so in two bytes; without the log it is
        // read as it is.
        if (m_size > 20 && m_bytes.get()[18] == 2 && m_bytes.get()[19] == 2)
            m_bytes.get()[18] = m_bytes.get()[19] = 1;
        return Done{};
    }

    Result<Done> open() {
        sqlite3* db = nullptr;
        const int opened =
            sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY, nullptr);
        m_db.reset(db);
        if (opened != SQLITE_OK)
            return broken();
        sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
        sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
        sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
        sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
        sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
        for (const auto& [limit, value] : {std::pair{SQLITE_LIMIT_LENGTH, 64 << 20},
                                           {SQLITE_LIMIT_SQL_LENGTH, 100'000},
                                           {SQLITE_LIMIT_COLUMN, 256},
                                           {SQLITE_LIMIT_EXPR_DEPTH, 32},
                                           {SQLITE_LIMIT_COMPOUND_SELECT, 2},
                                           {SQLITE_LIMIT_VDBE_OP, 100'000},
                                           {SQLITE_LIMIT_FUNCTION_ARG, 8},
                                           {SQLITE_LIMIT_ATTACHED, 0},
                                           {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
                                           {SQLITE_LIMIT_WORKER_THREADS, 0}})
            sqlite3_limit(db, limit, value);
        const auto size = static_cast<sqlite3_int64>(m_size);
        if (sqlite3_deserialize(db, "main", m_bytes.get(), size, size, SQLITE_DESERIALIZE_READONLY) !=
            SQLITE_OK)
            return broken();
        sqlite3_set_authorizer(db, onlyReading, nullptr);
        sqlite3_progress_handler(
            db, 10'000,
            [](void* self) {
                return static_cast<SqliteReader*>(self)->m_options.stop.stop_requested() ? 1 : 0;
            },
            this);
        return Done{};
    }

    [[nodiscard]] Error broken() const {
        return Error::failed(
            fmt::format("{}: This SQLite database cannot be read: {}. Copy or write it again.", m_source.name,
                        m_db ? sqlite3_errmsg(m_db.get()) : "out of memory"));
    }

    /// Reads all rows of a table in its order; false where there is no such table.
    Result<bool> table(const std::string& name, const std::function<void(sqlite3_stmt*)>& row) {
        if (auto r = isTable(name); !r.ok() || !r.value())
            return r;
        sqlite3_stmt* raw = nullptr;
        const std::string sql = fmt::format("SELECT * FROM \"{}\"", name);
        const int prepared = sqlite3_prepare_v2(m_db.get(), sql.c_str(), -1, &raw, nullptr);
        const std::unique_ptr<sqlite3_stmt, Finalize> statement(raw);
        if (prepared != SQLITE_OK)
            return broken();
        m_columns.clear();
        for (int i = 0; i < sqlite3_column_count(raw); ++i)
            m_columns.push_back(columnNamed(sqlite3_column_name(raw, i)));
        for (;;) {
            const int step = sqlite3_step(raw);
            if (step == SQLITE_DONE)
                return true;
            if (step == SQLITE_INTERRUPT)
                return Error::cancelled();
            if (step != SQLITE_ROW) {
                m_sink.cut = {sqlite3_errmsg(m_db.get()), m_size};
                return true;
            }
            row(raw);
            ++m_rows;
            if ((m_rows & 255) == 0 && m_machine.held() + m_rows * 200 > Machine::budget(m_size))
                return Error::failed(fmt::format(
                    "{}: This database builds far more than its own size, so reading it was given up.",
                    m_source.name));
        }
    }

    Result<bool> isTable(const std::string& name) {
        sqlite3_stmt* raw = nullptr;
        const int prepared = sqlite3_prepare_v2(
            m_db.get(), "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1 AND rootpage > 0", -1,
            &raw, nullptr);
        const std::unique_ptr<sqlite3_stmt, Finalize> statement(raw);
        if (prepared != SQLITE_OK)
            return broken();
        sqlite3_bind_text(raw, 1, name.c_str(), -1, SQLITE_TRANSIENT);
        const int step = sqlite3_step(raw);
        if (step != SQLITE_ROW && step != SQLITE_DONE)
            return broken();
        return step == SQLITE_ROW;
    }

    /// Columns beside the dictionaries' keys.
    enum class Own : std::uint8_t { None, Id, SegmentId, Device };
    struct ColumnIs {
        Key key = Key::None;
        Own own = Own::None;
    };
    static ColumnIs columnNamed(const char* name) {
        const std::string_view n = name != nullptr ? name : "";
        if (n == "id" || n == "segment_index")
            return {Key::None, Own::Id};
        if (n == "segment_id" || n == "segment" || n == "segment_address")
            return {Key::None, Own::SegmentId};
        if (n == "device" || n == "device_id" || n == "device_index" || n == "device_idx")
            return {Key::Device, Own::Device};
        if (n == "device_free")
            return {Key::DeviceFree, Own::None};
        return {keyNamed(n), Own::None};
    }

    [[nodiscard]] static std::optional<std::int64_t> integer(sqlite3_stmt* s, int i) {
        if (sqlite3_column_type(s, i) == SQLITE_NULL)
            return std::nullopt;
        return sqlite3_column_int64(s, i);
    }
    [[nodiscard]] static std::string_view text(sqlite3_stmt* s, int i) {
        const unsigned char* t = sqlite3_column_text(s, i);
        if (t == nullptr)
            return {};
        return {reinterpret_cast<const char*>(t), static_cast<std::size_t>(sqlite3_column_bytes(s, i))};
    }
    StackId stack(sqlite3_stmt* s, int i) {
        const std::string_view json = text(s, i);
        if (json.empty() || json == "[]")
            return {};
        std::string key(json);
        if (const auto at = m_stacks.find(key); at != m_stacks.end())
            return at->second;
        const Machine::Height height = m_machine.height();
        StackId id;
        if (pushJson(json, m_machine)) {
            id = m_machine.popStack();
        } else {
            m_machine.restore(height);
            m_sink.addOdd(Diagnostic::kNoOffset);
        }
        m_stacks.emplace(std::move(key), id);
        return id;
    }
    std::optional<MemoryPool> pool(sqlite3_stmt* s, int i) {
        std::string pair(text(s, i));
        if (pair.empty())
            return std::nullopt;
        std::replace(pair.begin(), pair.end(), '(', '[');
        std::replace(pair.begin(), pair.end(), ')', ']');
        const Machine::Height height = m_machine.height();
        if (pushJson(pair, m_machine))
            return m_machine.popPool();
        m_machine.restore(height);
        return std::nullopt;
    }

    void event(sqlite3_stmt* s) {
        RawMemoryEvent e;
        std::int64_t device = 0;
        for (int i = 0; i < static_cast<int>(m_columns.size()); ++i) {
            const auto number = [&] { return integer(s, i).value_or(0); };
            switch (m_columns[static_cast<std::size_t>(i)].key) {
            case Key::Device:
                device = number();
                break;
            case Key::Action:
                e.action = actionNamed(text(s, i));
                break;
            case Key::Addr:
            case Key::Address:
                e.address = static_cast<std::uint64_t>(number());
                break;
            case Key::DeviceFree:
                e.deviceFree = integer(s, i).value_or(-1);
                break;
            case Key::Size:
                e.size = number();
                break;
            case Key::Stream:
                e.stream = number();
                break;
            case Key::TimeUs:
                if (const auto us = integer(s, i))
                    e.time = fromMicroseconds(*us);
                break;
            case Key::Frames:
                e.stack = stack(s, i);
                break;
            case Key::ForwardFrames:
                e.forwardStack = stack(s, i);
                break;
            case Key::PoolId:
            case Key::SegmentPoolId:
                e.pool = pool(s, i);
                break;
            case Key::CompileContext:
                if (const std::string_view t = text(s, i); !t.empty() && t != "N/A")
                    e.compileContext = m_sink.text(t);
                break;
            case Key::UserMetadata:
                if (const std::string_view t = text(s, i); !t.empty())
                    e.userMetadata = m_sink.text(t);
                break;
            case Key::Category:
                e.category = categoryNamed(text(s, i));
                break;
            default:
                break;
            }
        }
        m_sink.sawHistory = true;
        if (MemoryDeviceBuilder* to = m_sink.device(device, false))
            to->addEvent(e);
        else
            ++m_sink.odd;
    }

    void segment(sqlite3_stmt* s) {
        RawMemorySegment g;
        std::int64_t id = static_cast<std::int64_t>(m_segments.size());
        bool joined = false; // by a column that has the name it has in the table of blocks
        for (int i = 0; i < static_cast<int>(m_columns.size()); ++i) {
            const ColumnIs column = m_columns[static_cast<std::size_t>(i)];
            if (column.own == Own::SegmentId || (column.own == Own::Id && !joined)) {
                id = integer(s, i).value_or(id);
                joined = joined || column.own == Own::SegmentId;
            }
            const auto number = [&] { return integer(s, i).value_or(0); };
            switch (column.key) {
            case Key::Device:
                g.device = number();
                break;
            case Key::Addr:
            case Key::Address:
                g.address = static_cast<std::uint64_t>(number());
                break;
            case Key::TotalSize:
            case Key::Size:
                g.size = number();
                break;
            case Key::AllocatedSize:
                g.allocated = number();
                break;
            case Key::ActiveSize:
                g.active = number();
                break;
            case Key::RequestedSize:
                g.requested = std::max<std::int64_t>(number(), 0);
                break;
            case Key::Stream:
                g.stream = number();
                break;
            case Key::SegmentType:
                g.flags |= SegmentFlag::KindKnown;
                if (text(s, i) == "small")
                    g.flags |= SegmentFlag::Small;
                break;
            case Key::IsExpandable:
                if (const std::string_view t = text(s, i); t == "1" || t == "true" || t == "True")
                    g.flags |= SegmentFlag::Expandable;
                break;
            case Key::SegmentPoolId:
            case Key::PoolId:
                g.pool = pool(s, i);
                break;
            case Key::Frames:
                g.stack = stack(s, i);
                break;
            default:
                break;
            }
        }
        m_byId[id] = m_segments.size();
        m_byId.try_emplace(static_cast<std::int64_t>(g.address), m_segments.size());
        m_segments.push_back(std::move(g));
    }

    void block(sqlite3_stmt* s) {
        RawMemoryBlock b;
        std::optional<std::int64_t> segment;
        for (int i = 0; i < static_cast<int>(m_columns.size()); ++i) {
            const ColumnIs column = m_columns[static_cast<std::size_t>(i)];
            if (column.own == Own::SegmentId)
                segment = integer(s, i);
            switch (column.key) {
            case Key::Address:
            case Key::Addr:
                if (const auto address = integer(s, i))
                    b.address = static_cast<std::uint64_t>(*address);
                break;
            case Key::Size:
                b.size = integer(s, i).value_or(0);
                break;
            case Key::RequestedSize:
                b.requested = std::max<std::int64_t>(integer(s, i).value_or(-1), -1);
                break;
            case Key::State: {
                const std::string_view state = text(s, i);
                b.active = state.starts_with("active");
                b.pending = b.active && state != "active_allocated";
                break;
            }
            case Key::Frames:
                b.stack = stack(s, i);
                break;
            default:
                break;
            }
        }
        const auto known = segment ? m_byId.find(*segment) : m_byId.end();
        if (known != m_byId.end()) {
            m_segments[known->second].blocks.push_back(b);
            return;
        }
        // Nothing names the segment: the one whose addresses hold the block, as they mostly come in order.
        if (b.address) {
            for (std::size_t tried = 0; tried < std::min<std::size_t>(m_segments.size(), 4096); ++tried) {
                RawMemorySegment& g = m_segments[(m_lastSegment + tried) % m_segments.size()];
                if (*b.address - g.address < static_cast<std::uint64_t>(std::max<std::int64_t>(g.size, 0))) {
                    m_lastSegment = (m_lastSegment + tried) % m_segments.size();
                    g.blocks.push_back(b);
                    return;
                }
            }
        }
        ++m_lostBlocks;
    }

    ByteSource& m_source;
    Sink& m_sink;
    const ImportOptions& m_options;
    Machine m_machine;
    std::unique_ptr<unsigned char, FreeBytes> m_bytes; ///< outlives the database
    std::size_t m_size = 0;
    std::unique_ptr<sqlite3, CloseDatabase> m_db;
    std::vector<ColumnIs> m_columns;
    std::vector<RawMemorySegment> m_segments;
    std::unordered_map<std::int64_t, std::size_t> m_byId;
    std::unordered_map<std::string, StackId> m_stacks;
    std::size_t m_lastSegment = 0;
    std::uint64_t m_lostBlocks = 0;
    std::uint64_t m_rows = 0;
};

} // namespace

Result<Done> readSqlite(ByteSource& source, Sink& sink, const ImportOptions& options) {
    return SqliteReader(source, sink, options).run();
}

} // namespace warpline::snapshot
