// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: Warpline contributors
#include "model/import/byte_source.h"
#include "tests/support/pack.h"

#include <fcntl.h>
#include <fstream>
#include <QTemporaryDir>
#include <QtTest>
#include <random>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace warpline;
using namespace std::string_literals;

namespace {

struct Document {
    std::string name;
    std::string compression;
    std::string bytes;
    std::uint64_t bytesDone = 0;
    std::uint64_t fileBytes = 0;
    std::optional<ByteSource::Damage> damage;
};

struct Outcome {
    std::vector<Document> documents;
    std::optional<Error> error;

    [[nodiscard]] const Document& only() const {
        if (documents.size() != 1)
            throw std::runtime_error("not exactly one document");
        return documents.front();
    }
    [[nodiscard]] QString message() const {
        return error ? QString::fromStdString(error->message) : QString();
    }
};

Result<Done> readAll(ByteSource& source, std::size_t piece, Document& to) {
    std::string buffer(piece, '\0');
    for (;;) {
        Result<std::size_t> got = source.read(buffer.data(), buffer.size());
        if (!got.ok())
            return got.error();
        if (got.value() == 0)
            break;
        to.bytes.append(buffer, 0, got.value());
    }
    to.name = source.name;
    to.compression = source.compression;
    to.bytesDone = source.bytesDone();
    to.fileBytes = source.fileBytes;
    to.damage = source.damage();
    return Done{};
}

template <class From>
Outcome open(From&& from, std::size_t piece = 1 << 16) {
    Outcome out;
    const auto use = [&](ByteSource& source) -> Result<Done> {
        out.documents.emplace_back();
        return readAll(source, piece, out.documents.back());
    };
    const Result<Done> done = from(use);
    if (!done.ok())
        out.error = done.error();
    return out;
}
Outcome openBytes(std::string_view bytes, std::size_t piece = 1 << 16) {
    return open([&](const auto& use) { return forEachByteSource(bytes, "memory", use); }, piece);
}
Outcome openPath(const std::string& path, std::size_t piece = 1 << 16) {
    return open([&](const auto& use) { return forEachByteSource(path, use); }, piece);
}

/// Text that does not compress to nothing and tells where it was cut.
std::string sampleText(std::size_t size) {
    std::mt19937 random(7);
    std::string text = "{\"traceEvents\":[";
    while (text.size() < size)
        text += "{\"ph\":\"X\",\"ts\":" + std::to_string(random()) + "},\n";
    text.resize(size);
    return text;
}

} // namespace

class TestByteSource : public QObject {
    Q_OBJECT

    QTemporaryDir m_dir;
    std::string path(const char* name) { return m_dir.filePath(QString::fromLatin1(name)).toStdString(); }
    std::string write(const char* name, std::string_view bytes) {
        std::string p = path(name);
        std::ofstream(p, std::ios::binary) << bytes;
        return p;
    }

  private slots:
    void plainFile() {
        const std::string text = sampleText(3'000'000);
        const std::string file = write("a.json", text);
        for (const std::size_t piece : {std::size_t{1} << 20, std::size_t{4096}, std::size_t{777}}) {
            const Outcome out = openPath(file, piece);
            QVERIFY2(!out.error, qPrintable(out.message()));
            QVERIFY(out.only().bytes == text);
            QCOMPARE(out.only().name, file);
            QCOMPARE(out.only().compression, ""s);
            QCOMPARE(out.only().fileBytes, text.size());
            QCOMPARE(out.only().bytesDone, text.size());
            QVERIFY(!out.only().damage);
        }
        QVERIFY(openBytes(text).only().bytes == text);
        QCOMPARE(openPath(write("empty.json", "")).only().bytes, ""s);
    }

    void layers_data() {
        QTest::addColumn<QByteArray>("packed");
        QTest::addColumn<QString>("compression");
        const auto row = [](const char* name, const std::string& packed, const char* compression) {
            QTest::newRow(name) << QByteArray::fromStdString(packed) << QString::fromLatin1(compression);
        };
        const std::string text = sampleText(300'000);
        const std::string_view a = std::string_view(text).substr(0, 100'001);
        const std::string_view b = std::string_view(text).substr(100'001);
        row("plain", text, "");
        row("gzip", pack::gzip(text), "gzip");
        row("stored gzip", pack::gzip(text, 0), "gzip");
        row("gzip of two members", pack::gzip(a) + pack::gzip(b), "gzip");
        row("empty members", pack::gzip("") + pack::gzip(text) + pack::gzip(""), "gzip");
        row("gzip with zero bytes after", pack::gzip(text) + std::string(5000, '\0'), "gzip");
        row("members with zero bytes between", pack::gzip(a) + std::string(512, '\0') + pack::gzip(b),
            "gzip");
        row("gzip in gzip", pack::gzip(pack::gzip(text)), "gzip in gzip");
        row("zstd", pack::zstd(text), "zstd");
        row("zstd of two frames", pack::zstd(a) + pack::zstd(b), "zstd");
        row("zstd with zero bytes after", pack::zstd(text) + std::string(700, '\0'), "zstd");
        row("zstd after a skippable frame", pack::zstdSkippable("index") + pack::zstd(text), "zstd");
        row("zstd around a skippable frame", pack::zstd(a) + pack::zstdSkippable("") + pack::zstd(b), "zstd");
        row("zstd with the largest window", pack::zstd(text, 3, 31), "zstd");
        row("zstd in gzip", pack::gzip(pack::zstd(text)), "zstd in gzip");
        row("zip", pack::archive(pack::Kind::Zip, {{"t.json", text}}), "zip");
        row("tar", pack::archive(pack::Kind::Tar, {{"t.json", text}}), "tar");
        row("tar.gz", pack::gzip(pack::archive(pack::Kind::Tar, {{"t.json", text}})), "tar.gz");
        row("tar.zst", pack::zstd(pack::archive(pack::Kind::Tar, {{"t.json", text}})), "tar.zst");
        row("gzip in zip", pack::archive(pack::Kind::Zip, {{"t.json.gz", pack::gzip(text)}}), "gzip in zip");
    }
    void layers() {
        QFETCH(QByteArray, packed);
        QFETCH(QString, compression);
        const std::string text = sampleText(300'000);
        // The name must not matter.
        const std::string file = write("named.json", packed.toStdString());
        for (const std::size_t piece : {std::size_t{1} << 20, std::size_t{4097}}) {
            for (const Outcome& out : {openPath(file, piece), openBytes(packed.toStdString(), piece)}) {
                QVERIFY2(!out.error, qPrintable(out.message()));
                QVERIFY(out.only().bytes == text);
                QCOMPARE(QString::fromStdString(out.only().compression), compression);
                QVERIFY2(!out.only().damage,
                         out.only().damage ? out.only().damage->message.c_str() : nullptr);
                QCOMPARE(out.only().fileBytes, static_cast<std::uint64_t>(packed.size()));
            }
        }
    }

    void plainNamedGz() {
        const std::string text = sampleText(5000);
        const Outcome out = openPath(write("plain.json.gz", text));
        QVERIFY(out.only().bytes == text);
        QCOMPARE(out.only().compression, ""s);
    }

    void cutStreams_data() {
        QTest::addColumn<QByteArray>("packed");
        const std::string text = sampleText(400'000);
        const auto row = [](const char* name, const std::string& packed) {
            QTest::newRow(name) << QByteArray::fromStdString(packed);
        };
        row("gzip", pack::gzip(text));
        row("zstd", pack::zstd(text));
        row("gzip in gzip", pack::gzip(pack::gzip(text), 0));
        row("tar.gz", pack::gzip(pack::archive(pack::Kind::Tar, {{"t.json", text}})));
        row("zip", pack::archive(pack::Kind::Zip, {{"t.json", text}}));
    }
    void cutStreams() {
        QFETCH(QByteArray, packed);
        const std::string text = sampleText(400'000);
        const std::string whole = packed.toStdString();
        for (int part = 1; part < 20; ++part) {
            const Outcome out = openBytes(std::string_view(whole).substr(0, whole.size() * part / 20));
            QVERIFY2(!out.error, qPrintable(out.message()));
            QVERIFY(text.starts_with(out.only().bytes));
            // Nearly all that is there comes out; a Zstandard block is 128 KiB of text.
            QVERIFY(out.only().bytes.size() + 140'000 > text.size() * static_cast<std::size_t>(part) / 20);
            QVERIFY(out.only().damage);
            QCOMPARE(out.only().damage->offset, out.only().bytes.size());
            const QString message = QString::fromStdString(out.only().damage->message);
            QVERIFY2(message.contains("cut short") || message.contains("damaged") || message.contains("ends"),
                     qPrintable(message));
        }
    }

    void damagedStreams() {
        const std::string text = sampleText(400'000);
        for (const std::string& good : {pack::gzip(text), pack::zstd(text)}) {
            std::mt19937 random(11);
            int damaged = 0;
            for (int round = 0; round < 40; ++round) {
                std::string bad = good;
                bad[100 + random() % (bad.size() - 100)] ^= static_cast<char>(1 + random() % 255);
                const Outcome out = openBytes(bad);
                QVERIFY2(!out.error, qPrintable(out.message()));
                if (out.only().damage)
                    ++damaged;
                else
                    QVERIFY(out.only().bytes == text);
            }
            QVERIFY(damaged >= 38); // checksums see the rest
        }
        for (const std::string& good : {pack::gzip(text), pack::zstd(text)}) {
            const Outcome out = openBytes(good + "and what is this?");
            QVERIFY(out.only().bytes == text);
            QVERIFY(out.only().damage);
            QVERIFY(out.only().damage->message.find("left out") != std::string::npos);
        }
        // Two members, the second one cut: the first stays whole.
        const std::string two = pack::gzip(text) + pack::gzip(text);
        const Outcome out = openBytes(std::string_view(two).substr(0, two.size() - 100));
        QVERIFY(out.only().bytes.size() > text.size());
        QVERIFY(out.only().damage);
    }

    void encodings_data() {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QByteArray>("utf8");
        const std::u16string text = u" \r\n{\"name\": \"\u00FCber \u4E16 \U0001F600\"}";
        const std::string utf8 = " \r\n{\"name\": \"\u00FCber \u4E16 \U0001F600\"}";
        const auto row = [](const char* name, const std::string& bytes, const std::string& expected) {
            QTest::newRow(name) << QByteArray::fromStdString(bytes) << QByteArray::fromStdString(expected);
        };
        row("utf-8", utf8, utf8);
        row("utf-8 with mark", "\xEF\xBB\xBF" + utf8, utf8);
        row("only a mark", "\xEF\xBB\xBF", "");
        row("utf-16 le with mark", "\xFF\xFE" + pack::utf16(text, false), utf8);
        row("utf-16 be with mark", "\xFE\xFF" + pack::utf16(text, true), utf8);
        row("utf-16 le", pack::utf16(text, false), utf8);
        row("utf-16 be", pack::utf16(text, true), utf8);
        row("utf-16 array", pack::utf16(u"[]", false), "[]");
        row("lone surrogates",
            "\xFF\xFE" + pack::utf16(u"a\xD83D"
                                     u"b\xDE00"
                                     u"c\xD83D",
                                     false),
            "a\uFFFDb\uFFFDc\uFFFD");
        row("half a unit at the end", "\xFF\xFE" + pack::utf16(u"ab", false) + "c", "ab\uFFFD");
        row("gzip of utf-16", pack::gzip("\xFF\xFE" + pack::utf16(text, false)), utf8);
        row("zero bytes are not utf-16", "{\0\0\0\"a\""s, "{\0\0\0\"a\""s);
        row("text in utf-8 that has a zero byte", "[\0{\"a\":1}]"s, "[\0{\"a\":1}]"s);
    }
    void encodings() {
        QFETCH(QByteArray, bytes);
        QFETCH(QByteArray, utf8);
        for (const std::size_t piece :
             {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{5}, std::size_t{4096}}) {
            const Outcome out = openBytes(bytes.toStdString(), piece);
            QVERIFY2(!out.error, qPrintable(out.message()));
            QCOMPARE(QByteArray::fromStdString(out.only().bytes), utf8);
        }
    }

    void longUtf16() {
        // Longer than any buffer, with characters of every length across their borders.
        std::u16string text = u"[";
        std::string utf8 = "[";
        for (int i = 0; i < 400'000; ++i) {
            text += i % 5 == 0 ? u"\u4E16" : i % 7 == 0 ? u"\U0001F600" : u"\u00FCx";
            utf8 += i % 5 == 0 ? "\u4E16" : i % 7 == 0 ? "\U0001F600" : "\u00FCx";
        }
        QVERIFY(openBytes("\xFF\xFE" + pack::utf16(text, false), 4093).only().bytes == utf8);
    }

    void archiveMembers() {
        const std::string inner = pack::archive(pack::Kind::Zip, {{"x.json", "[3]"}, {"y.json", "[4]"}});
        const pack::Members members = {{"run/", ""},
                                       {"run/rank0.json", "[0]"},
                                       {"__MACOSX/run/._rank0.json", "junk"},
                                       {"run/._rank1.json", "junk"},
                                       {"run/rank1.json.gz", pack::gzip("[1]")},
                                       {"run/empty.json", ""},
                                       {"run/empty.json.gz", pack::gzip("")},
                                       {"run/.DS_Store", "junk"},
                                       {"run/\u00FC.json", "[2]"},
                                       {"in.zip", inner}};
        for (const pack::Kind kind : {pack::Kind::Zip, pack::Kind::Tar}) {
            const std::string file = write("m.bin", pack::archive(kind, members));
            const Outcome out = openPath(file);
            QVERIFY2(!out.error, qPrintable(out.message()));
            QStringList names;
            for (const Document& d : out.documents)
                names << QString::fromStdString(d.name.substr(file.size())) + "=" +
                             QString::fromStdString(d.bytes);
            QCOMPARE(names, (QStringList{"!run/rank0.json=[0]", "!run/rank1.json.gz=[1]",
                                         QString::fromUtf8("!run/\u00FC.json=[2]"), "!in.zip!x.json=[3]",
                                         "!in.zip!y.json=[4]"}));

            QCOMPARE(openPath(file + "!run/rank1.json.gz").only().bytes, "[1]"s);
            QCOMPARE(openPath(file + "!in.zip!y.json").only().bytes, "[4]"s);
            QCOMPARE(openPath(file + "!in.zip").documents.size(), std::size_t{2});
            const QString missing = openPath(file + "!rank7.json").message();
            QVERIFY2(missing.contains("no such member") && missing.contains("\"run/rank0.json\"") &&
                         missing.contains("\"in.zip\""),
                     qPrintable(missing));
        }
        const QString notArchive = openPath(write("p.json", "[]") + "!x").message();
        QVERIFY2(notArchive.contains("not an archive"), qPrintable(notArchive));
        // A file whose own name has the sign in it.
        QCOMPARE(openPath(write("a!b.json", "[5]")).only().bytes, "[5]"s);
    }

    void archiveWithoutFiles() {
        const Outcome out = openBytes(pack::archive(pack::Kind::Zip, {{"a/", ""}, {"a/e.json", ""}}));
        QVERIFY(out.documents.empty());
        QVERIFY(out.error && out.error->kind == Error::Kind::WrongKind);
        QVERIFY2(out.message().contains("archive without a file to open"), qPrintable(out.message()));
        const Outcome empty = openBytes(pack::archive(pack::Kind::Zip, {}));
        QVERIFY2(empty.message().contains("archive without a file to open"), qPrintable(empty.message()));
    }

    void useStopsTheWalk() {
        const std::string zip = pack::archive(pack::Kind::Zip, {{"a", "[1]"}, {"b", "[2]"}, {"c", "[3]"}});
        int calls = 0;
        const Result<Done> done =
            forEachByteSource(std::string_view(zip), "m", [&](ByteSource&) -> Result<Done> {
                if (++calls == 2)
                    return Error::cancelled();
                return Done{}; // without reading it
            });
        QVERIFY(done.cancelled());
        QCOMPARE(calls, 2);
    }

    void cutArchiveTellsAtItsLastMember() {
        const std::string text = sampleText(50'000);
        const std::string tar =
            pack::archive(pack::Kind::Tar, {{"a.json", text}, {"b.json", text}, {"c.json", text}});
        // Inside the header of the third member, and inside the data of the second.
        for (const std::size_t cut :
             {std::size_t{2} * (512 + 50'176) + 100, std::size_t{512 + 50'176 + 512 + 999}}) {
            const Outcome out = openBytes(std::string_view(tar).substr(0, cut));
            QVERIFY2(!out.error, qPrintable(out.message()));
            QCOMPARE(out.documents.size(), std::size_t{2});
            QVERIFY(out.documents[0].bytes == text);
            QVERIFY(!out.documents[0].damage);
            QVERIFY(text.starts_with(out.documents[1].bytes));
            QVERIFY(out.documents[1].damage);
        }
    }

    void damagedZipMember() {
        const std::string text = sampleText(50'000);
        std::string zip = pack::archive(pack::Kind::Zip, {{"a.json", text}, {"b.json", text}});
        zip[5000] ^= 0x55;
        const Outcome out = openBytes(zip);
        QVERIFY2(!out.error, qPrintable(out.message()));
        QCOMPARE(out.documents.size(), std::size_t{2});
        QVERIFY(out.documents[0].damage);
        QVERIFY(out.documents[1].bytes == text);
    }

    void encryptedZip() {
        // The flag for encryption in the header and in the list at the end is all that it takes.
        std::string zip = pack::archive(pack::Kind::Zip, {{"secret.json", "[1]"}});
        zip[6] |= 1;
        zip[zip.find("PK\x01\x02") + 8] |= 1;
        const Outcome out = openBytes(zip);
        QVERIFY(out.error);
        QVERIFY2(out.message().contains("encrypted") && out.message().contains("secret.json"),
                 qPrintable(out.message()));
    }

    void neverPackedThisOften() {
        std::string bytes = "[]";
        for (int i = 0; i < 8; ++i)
            bytes = pack::gzip(bytes);
        QCOMPARE(openBytes(bytes).only().bytes, "[]"s);
        const Outcome out = openBytes(pack::gzip(bytes));
        QVERIFY(out.error && out.error->kind == Error::Kind::WrongKind);
        QVERIFY2(out.message().contains("more than 8 times"), qPrintable(out.message()));
    }

    void bombStreams() {
        // 512 MiB of zeros from half a megabyte: they pass through, nothing grows with them.
        const std::string zeros(8 << 20, '\0');
        const std::string member = pack::gzip(zeros);
        std::string bomb;
        for (int i = 0; i < 64; ++i)
            bomb += member;
        std::uint64_t total = 0;
        const Result<Done> done =
            forEachByteSource(std::string_view(bomb), "m", [&](ByteSource& s) -> Result<Done> {
                std::string buffer(1 << 20, '\0');
                for (;;) {
                    Result<std::size_t> got = s.read(buffer.data(), buffer.size());
                    if (!got.ok() || got.value() == 0)
                        return Done{};
                    total += got.value();
                }
            });
        QVERIFY(done.ok());
        QCOMPARE(total, std::uint64_t{512} << 20);
    }

    void standardInput() {
        const std::string text = sampleText(300'000);
        for (const std::string& bytes :
             {text, pack::gzip(text), pack::archive(pack::Kind::Zip, {{"t", text}})}) {
            int ends[2];
            QCOMPARE(::pipe(ends), 0);
            const int saved = ::dup(STDIN_FILENO);
            ::dup2(ends[0], STDIN_FILENO);
            ::close(ends[0]);
            std::thread writer([&, fd = ends[1]] {
                for (std::size_t at = 0; at < bytes.size();)
                    at += static_cast<std::size_t>(std::max<ssize_t>(
                        0, ::write(fd, bytes.data() + at, std::min<std::size_t>(1000, bytes.size() - at))));
                ::close(fd);
            });
            const Outcome out = openPath("-");
            writer.join();
            ::dup2(saved, STDIN_FILENO);
            ::close(saved);
            QVERIFY2(!out.error, qPrintable(out.message()));
            QVERIFY(out.only().bytes == text);
            QVERIFY(out.only().name.starts_with("standard input"));
            QCOMPARE(out.only().fileBytes, std::uint64_t{0});
        }
    }

    void sentences() {
        const auto message = [](const std::string& p) { return openPath(p).message(); };
        QVERIFY2(message(path("nothing.json")).contains("no such file"),
                 qPrintable(message(path("nothing.json"))));
        QVERIFY(message(path("nothing.json")).contains("nothing.json"));
        QVERIFY(message(path("no/where.json")).contains("no folder"));
        QVERIFY(message(write("file.json", "[]") + "/x.json").contains("not a folder"));
        QVERIFY(message(m_dir.path().toStdString()).contains("it is a folder"));
        QVERIFY(message("").contains("empty"));
        QVERIFY(message("a\0b"s).contains("zero byte"));
        const std::string loop = path("loop");
        QCOMPARE(::symlink("loop", loop.c_str()), 0);
        QVERIFY(message(loop).contains("circle"));
    }

    void noPermission() {
        const std::string file = write("locked.json", "[]");
        QCOMPARE(::chmod(file.c_str(), 0), 0);
        QCOMPARE(::chmod(m_dir.path().toStdString().c_str(), 0755), 0);
        // Root may read everything, so look with the eyes of nobody.
        const bool root = ::geteuid() == 0;
        if (root && ::seteuid(65534) != 0)
            QSKIP("cannot become another user");
        const Outcome out = openPath(file);
        if (root)
            QCOMPARE(::seteuid(0), 0);
        QVERIFY(out.error && out.error->kind == Error::Kind::Failed);
        QVERIFY2(out.message().contains("no permission"), qPrintable(out.message()));
    }
};

QTEST_GUILESS_MAIN(TestByteSource)
#include "tst_byte_source.moc"
