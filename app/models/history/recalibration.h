// SPDX-License-Identifier: GPL-3.0-or-later
// Constants fitted to stored runs: what they would change, before anything is saved.
#pragma once

#include "app/models/shared/background.h"
#include "core/calibration/user/calibrate.h"
#include "core/report/table/table.h"

#include <QStringList>

#include <filesystem>
#include <memory>

namespace fourfold::ui {

// One run with the stack's constants as they are and as they would be.
struct RecalibratedRun {
    std::string label;
    std::optional<double> measured_s, before_s, after_s; // step time
    std::optional<double> measured_gib, before_gib, after_gib;
};

struct Recalibrated {
    Calibration calibration;
    std::vector<RecalibratedRun> runs;
    std::vector<std::string> skipped; // runs that could not be used, and why
};

class Recalibration : public QObject {
    Q_OBJECT
public:
    // `presets` outlives it; empty `history`: the user's.
    Recalibration(const Presets& presets, const std::filesystem::path& history, QObject* parent = nullptr);

    // Fits `stack` to these runs of the history on another thread; ready() or failed() follows.
    void start(const std::string& stack, const QStringList& runs);
    [[nodiscard]] bool isRunning() const { return m_work.isRunning(); }
    [[nodiscard]] const std::shared_ptr<const Recalibrated>& result() const { return m_result; } // null before ready()
    [[nodiscard]] Table runsTable() const; // measured, predicted before and after, with errors
    [[nodiscard]] Table constantsTable() const; // those that moved
    [[nodiscard]] QString summary() const; // mean errors before and after, in one line
    [[nodiscard]] QString defaultId() const;
    // Saves the fitted stack as a preset of the user's own and returns its file.
    Expected<std::filesystem::path> save(const QString& id) const;

signals:
    void ready();
    void failed(const fourfold::Problem& problem);

private:
    const Presets& m_presets;
    std::filesystem::path m_history;
    std::shared_ptr<const Recalibrated> m_result;
    Background m_work;
};

} // namespace fourfold::ui
