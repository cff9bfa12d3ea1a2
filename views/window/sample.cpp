// SPDX-License-Identifier: GPL-3.0-or-later
// SPDX-FileCopyrightText: Warpline contributors
#include "views/window/sample.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QSaveFile>
#include <QStandardPaths>

namespace warpline {

static QString samplesFolder() {
    return QStandardPaths::writableLocation(QStandardPaths::CacheLocation) + QStringLiteral("/samples/");
}

/// Puts a sample that is compiled in where any file can be opened from.
static Result<QString> unpacked(const QString& name) {
    QFile sample(QStringLiteral(":/samples/") + name);
    if (!sample.open(QIODevice::ReadOnly))
        return Error::failed("The sample is not part of this build: build with the resources folder.");
    const QByteArray bytes = sample.readAll();
    const QString path = samplesFolder() + name;
    QFile there(path);
    if (there.open(QIODevice::ReadOnly) && there.size() == bytes.size() && there.readAll() == bytes)
        return path;
    QDir().mkpath(samplesFolder());
    QSaveFile out(path);
    if (!out.open(QIODevice::WriteOnly) || out.write(bytes) != bytes.size() || !out.commit()) {
        return Error::failed("The sample could not be written to " + path.toStdString() + ": " +
                             out.errorString().toStdString() + ".");
    }
    return path;
}

Result<QStringList> samplePaths(Sample sample) {
    const QStringList names =
        sample == Sample::Training
            ? QStringList{QStringLiteral("gpt.json.gz"), QStringLiteral("gpt.snapshot.pickle.zst")}
            : QStringList{QStringLiteral("oom.snapshot.pickle.zst")};
    QStringList paths;
    for (const QString& name : names) {
        Result<QString> path = unpacked(name);
        if (!path.ok())
            return path.error();
        paths.append(path.value());
    }
    return paths;
}

bool isSample(const QString& path) {
    return path.startsWith(samplesFolder());
}

} // namespace warpline
