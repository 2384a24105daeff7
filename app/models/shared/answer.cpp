// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/shared/answer.h"

#include "app/models/shared/text.h"
#include "app/view/answer.h"

#include <algorithm>

namespace fourfold::ui {

namespace {
Tone toneOf(view::Tone tone)
{
    return static_cast<Tone>(tone); // the same words in the same order
}

Figure shownFigure(const view::Figure& figure)
{
    return {fromUtf8(figure.title), fromUtf8(figure.value), fromUtf8(figure.unit), fromUtf8(figure.short_unit),
        fromUtf8(figure.basis), fromUtf8(figure.confidence), fromUtf8(figure.detail), figure.fraction,
        toneOf(figure.tone)};
}
} // namespace

Figure unknownFigure(const QString& title, const QString& unit, const QString& shortUnit)
{
    return shownFigure(view::unknown_figure(title.toStdString(), unit.toStdString(), shortUnit.toStdString()));
}

Figure unknownThroughput()
{
    return shownFigure(view::unknown_throughput());
}

std::array<Figure, 5> answerFigures(const Prediction& prediction)
{
    std::array<Figure, 5> figures;
    const std::array<view::Figure, 5> answer = view::answer_figures(prediction);
    std::transform(answer.begin(), answer.end(), figures.begin(), shownFigure);
    return figures;
}

const std::array<const char*, 5>& answerKeys()
{
    return view::kAnswerKeys;
}

Verdict verdictOf(const Prediction& prediction)
{
    const view::Verdict verdict = view::verdict_of(prediction);
    return {fromUtf8(verdict.word), fromUtf8(verdict.rest), toneOf(verdict.tone)};
}

Verdict invalidVerdict(std::size_t fields)
{
    if (fields == 0)
        return {tr("Not valid."), tr("See the message below"), Tone::bad};
    return {tr("Not valid."), tr("%1 marked in red").arg(counted(double(fields), tr("field"))), Tone::bad};
}

QString warningLines(const std::vector<std::string>& warnings)
{
    QString lines;
    for (const std::string& warning : warnings)
        lines += QLatin1Char('\n') + tr("Warning: %1").arg(fromUtf8(warning));
    return lines;
}

QString evidenceText(Evidence evidence)
{
    return fromUtf8(view::evidence_text(evidence));
}

std::span<const PartWord> partWords()
{
    static const std::vector<PartWord> words = [] {
        std::vector<PartWord> all;
        for (const view::PartWord& word : view::part_words())
            all.push_back({word.part, word.label});
        return all;
    }();
    return words;
}

QString partLabel(Part part)
{
    const auto words = partWords();
    return tr(std::find_if(words.begin(), words.end(), [part](const PartWord& at) { return at.part == part; })->label);
}

} // namespace fourfold::ui
