// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/support.h"

#include "app/desktop/pages/plan/plan_page.h"

#include <QFile>
#include <QMessageBox>
#include <QTabBar>

namespace fourfold::ui::test {

namespace {
const Home* theHome = nullptr;

const Presets& undressed(const Presets& presets)
{
    qApp->setStyleSheet({});
    return presets;
}
} // namespace

Home::Home()
{
    theHome = this;
    for (const auto& [variable, folder] : {std::pair("HOME", "home"), std::pair("XDG_DATA_HOME", "data"),
             std::pair("XDG_CONFIG_HOME", "config"), std::pair("XDG_CACHE_HOME", "cache")})
        qputenv(variable, path(QLatin1String(folder)).toUtf8());
    QCoreApplication::setAttribute(Qt::AA_DontUseNativeDialogs);
}

const Home& Home::the()
{
    return *theHome;
}

QString Home::write(const QString& name, const QByteArray& text) const
{
    QFile file(path(name));
    if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size())
        qFatal("cannot write %s", qPrintable(file.fileName()));
    return file.fileName();
}

QByteArray clusterPlan()
{
    return R"({
  "fourfold_plan": 1,
  "name": "Llama 3.1 8B on 16 H100",
  "model": "llama-3.1-8b",
  "cluster": "tsubame4",
  "gpus": 16,
  "stack": "megatron-lm",
  "layout": { "tp": 2, "cp": 1, "pp": 1, "dp": 8 },
  "training": { "seq_len": 8192, "micro_batch": 1, "global_batch": 1024, "sharding": "optimizer", "precision": "bf16" },
  "notes_of_mine": { "kept": [1, 2, 3] }
}
)";
}

QByteArray tinyPlan(int steps, int milliseconds)
{
    return QByteArray(R"({
  "fourfold_plan": 1, "name": "Tiny", "cluster": "this-computer", "stack": "fourfold", "gpus": 2,
  "model": { "model_type": "llama", "hidden_size": 64, "intermediate_size": 176, "num_hidden_layers": 2,
             "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": 256, "rms_norm_eps": 1e-5,
             "max_position_embeddings": 128, "tie_word_embeddings": false },
  "layout": { "tp": 2, "dp": 1 },
  "training": { "seq_len": 64, "micro_batch": 1, "global_batch": 2, "precision": "fp32", "sharding": "none" },
  "run": { "steps": STEPS, "data": [ { "path": "corpus/devils-dictionary.txt" } ],
           "environment": { "FAKE_TWO_HOSTS": "1", "FAKE_STEPS": "STEPS", "FAKE_STEP_MS": "MILLISECONDS" } }
}
)")
        .replace("MILLISECONDS", QByteArray::number(milliseconds))
        .replace("STEPS", QByteArray::number(steps))
        .replace("FAKE_" + QByteArray::number(steps), "FAKE_STEPS");
}

QByteArray readFile(const QString& file)
{
    QFile in(file);
    return in.open(QIODevice::ReadOnly) ? in.readAll() : QByteArray();
}

MainWindow::Options WindowFixture::options(const std::filesystem::path& trainer)
{
    MainWindow::Options options;
    options.history = historyFile();
    options.trainer = trainer;
    options.session = false;
    return options;
}

std::filesystem::path WindowFixture::historyFile()
{
    return Home::the().path(QStringLiteral("history.db")).toStdString();
}

FreshWindow::FreshWindow(const Presets& presets, Options options)
    : MainWindow(undressed(presets), std::move(options))
{
}

WindowFixture::WindowFixture(const std::filesystem::path& trainer, QSize size)
    : window(presets, options(trainer))
{
    window.resize(size);
    window.show();
    window.activateWindow(); // shortcuts are the active window's
    static_cast<void>(QTest::qWaitForWindowActive(&window));
}

bool WindowFixture::open(const QString& name, const QByteArray& plan)
{
    return window.openPlan(Home::the().write(name, plan).toStdString());
}

bool WindowFixture::answered()
{
    return QTest::qWaitFor([this] { return window.document().isAnswered(); }, kPatience);
}

void WindowFixture::showPicture(const QString& name)
{
    for (auto* bar : window.planPage().findChildren<QTabBar*>(QStringLiteral("cardSwitch"))) {
        for (int i = 0; i < bar->count(); ++i) {
            if (bar->tabText(i) == name)
                bar->setCurrentIndex(i);
        }
    }
}

DialogWatch::DialogWatch(std::function<void(QMessageBox&)> answer)
    : m_answer(std::move(answer))
{
    QObject::connect(&m_timer, &QTimer::timeout, &m_timer, [this] {
        auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
        if (!box || !box->isVisible())
            return;
        ++m_seen;
        m_answer(*box);
        if (box->isVisible())
            box->reject();
    });
    m_timer.start(20);
}

} // namespace fourfold::ui::test
