// SPDX-License-Identifier: GPL-3.0-or-later
// The groups of inputs of a plan: model, hardware, layout, batch. What is shown stands beside what it changes.
#pragma once

#include <functional>

namespace fourfold::ui {

class FormSection;
class PlanDocument;

// `document` outlives the section.
FormSection* makeModelSection(PlanDocument& document, const std::function<void()>& askImport); // from a file
FormSection* makeHardwareSection(PlanDocument& document);
FormSection* makeLayoutSection(PlanDocument& document);
FormSection* makeTechniquesSection(PlanDocument& document); // how the work is done, not how it is laid out
FormSection* makeBatchSection(PlanDocument& document);

} // namespace fourfold::ui
