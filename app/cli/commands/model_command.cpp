// SPDX-License-Identifier: GPL-3.0-or-later
// `fourfold model import`: a Hugging Face config.json becomes a preset of the user.
#include "app/cli/command.h"
#include "core/base/paths.h"
#include "core/base/text.h"
#include "core/model/config_file.h"
#include "core/model/import_report.h"
#include "core/model/model_shape.h"

#include <algorithm>
#include <iostream>
#include <memory>

namespace fourfold::cli {

namespace {

struct ModelOptions {
    std::string config, id;
    bool replace = false, json = false;
};

// Lower-case letters, digits, '.', '-' and '_', beginning with a letter or digit: safe as a file name.
bool is_preset_id(const std::string& id)
{
    const auto plain = [](unsigned char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
    if (id.empty() || id.size() > 100 || !plain(static_cast<unsigned char>(id[0])))
        return false;
    for (const unsigned char c : id)
        if (!plain(c) && c != '.' && c != '-' && c != '_')
            return false;
    return true;
}

// Plans that name such a preset, those that ship among them, would be predicted as another model.
bool belongs_to_others(const std::string& id)
{
    const auto own = config_folder() / "presets";
    const std::vector<std::filesystem::path> folders = preset_folders();
    return std::any_of(folders.begin(), folders.end(), [&](const std::filesystem::path& folder) {
        std::error_code error;
        return !std::filesystem::equivalent(folder, own, error)
            && std::filesystem::exists(folder / "models" / (id + ".json"), error);
    });
}

Expected<int> import_model(const ModelOptions& options)
{
    FOURFOLD_TRY(const auto config, read_config_file(options.config, true));
    ImportReport report;
    FOURFOLD_TRY(auto model, model_from_config(config, options.config, &report));
    if (!is_preset_id(options.id))
        return fail({ProblemCode::bad_input, "is not the id of a preset: " + in_quotes(options.id),
            "use lower-case letters, digits, '.', '-' and '_'", "--id"});
    if (belongs_to_others(options.id))
        return fail({ProblemCode::bad_input, in_quotes(options.id) + " is a preset that is not yours",
            "choose another id: plans that name it would be of another model", "--id"});
    model.id = options.id;
    if (const auto name = config.find("name"); name == config.end() || !name->is_string())
        model.name = options.id;
    const std::filesystem::path folder = config_folder() / "presets" / "models";
    const std::filesystem::path file = folder / (options.id + ".json");
    std::error_code error;
    if (std::filesystem::exists(file, error) && !options.replace)
        return fail({ProblemCode::bad_input, "a preset of this id exists", "name another --id, or add --replace",
            file.string()});
    FOURFOLD_CHECK(make_folders(folder));
    Json preset = config_from_model(model);
    preset["source"] = "imported from " + std::filesystem::path(options.config).filename().string();
    if (const auto written
        = write_file_atomically(file, preset.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
        !written)
        return fail(written.error());
    if (options.json)
        print_json({{"id", options.id}, {"file", file.string()}, {"parameters", model.parameters()},
            {"model", config_from_model(model)}, {"import", to_json(report)}});
    else {
        std::cout << options.id << ": " << shown_number(model.parameters() / 1e9, 3) << " billion parameters, "
                  << model.layers << " layers; saved as " << file.string() << "\n";
        for (const std::string& line : lines_of(report))
            std::cout << "  " << line << "\n";
    }
    return kDone;
}

} // namespace

void add_model(Cli& cli)
{
    auto* command = cli.app.add_subcommand("model", "Models of your own");
    command->require_subcommand(1);
    // Not named `import`: clang-format takes that for a module's keyword.
    auto* importer = command->add_subcommand("import", "Make a preset from a Hugging Face config.json");
    const auto options = std::make_shared<ModelOptions>();
    importer->add_option("CONFIG", options->config, "config.json of the model")->required();
    importer->add_option("--id", options->id, "id of the preset, as plans will name it")->required()->type_name("ID");
    importer->add_flag("--replace", options->replace, "replace your preset of this id");
    importer->add_flag("--json", options->json, "print the result as JSON");
    importer->callback([&cli, options] { cli.chosen = [options] { return import_model(*options); }; });
}

} // namespace fourfold::cli
