//===- ScheduleFile.cpp - schedules that were timed -----------------------===//
#include "qmc/ScheduleFile.h"
#include "qmc/Console.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace qm;
using namespace qm::driver;

std::string TimedSchedule::title() const {
  if (overrides.empty())
    return "default";
  return llvm::join(llvm::map_range(overrides,
                                    [](llvm::StringRef text) {
                                      return text.split('.').second;
                                    }),
                    " ");
}

static FailureOr<TimedSchedule> readRow(const llvm::json::Value &value) {
  const llvm::json::Object *object = value.getAsObject();
  auto spec = object ? object->getString("spec") : std::nullopt;
  auto target = object ? object->getString("target") : std::nullopt;
  auto time = object ? object->getNumber("ms") : std::nullopt;
  const llvm::json::Array *set = object ? object->getArray("set") : nullptr;
  if (!spec || !target || !set || !time || *time <= 0)
    return failure();
  TimedSchedule row{spec->str(), target->str(), {}, *time, {}, {}};
  for (const llvm::json::Value &text : *set) {
    std::optional<llvm::StringRef> word = text.getAsString();
    if (!word || !word->starts_with("schedule."))
      return failure();
    row.overrides.push_back(word->str());
  }
  if (const llvm::json::Object *call = object->getObject("call"))
    row.call = *call;
  row.gpu = object->getString("gpu").value_or("").str();
  return row;
}

FailureOr<std::vector<TimedSchedule>>
qm::driver::readTimedSchedules(llvm::StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return reportError(diag::Id::CannotRead,
                       "cannot read '" + path +
                           "': " + buffer.getError().message(),
                       path, "`qmc tune` writes it");
  llvm::Expected<llvm::json::Value> root =
      llvm::json::parse((*buffer)->getBuffer());
  auto bad = [&](const llvm::Twine &why) {
    return reportError(diag::Id::BadSchedules, "'" + path + "' " + why, path,
                       "`qmc explain QM0028` has the format");
  };
  if (!root)
    return bad("is no JSON: " + llvm::toString(root.takeError()));
  const llvm::json::Array *array = root->getAsArray();
  if (!array || array->empty())
    return bad("is no list of rows");
  std::vector<TimedSchedule> rows;
  for (auto [index, value] : llvm::enumerate(*array)) {
    FailureOr<TimedSchedule> row = readRow(value);
    if (failed(row))
      return bad("row " + llvm::Twine(index + 1) +
                 " lacks a field, or has one of another kind");
    rows.push_back(std::move(*row));
  }
  return rows;
}

std::vector<TimedSchedule>
qm::driver::getFastest(const std::vector<TimedSchedule> &rows) {
  std::vector<TimedSchedule> fastest;
  for (const TimedSchedule &row : rows) {
    auto same = llvm::find_if(fastest, [&](const TimedSchedule &other) {
      return other.spec == row.spec && other.target == row.target;
    });
    if (same == fastest.end())
      fastest.push_back(row);
    else if (row.milliseconds < same->milliseconds)
      *same = row;
  }
  return fastest;
}

llvm::json::Value qm::driver::toJson(const std::vector<TimedSchedule> &rows) {
  llvm::json::Array array;
  for (const TimedSchedule &row : rows)
    array.push_back(
        llvm::json::Object{{"spec", row.spec},
                           {"target", row.target},
                           {"set", llvm::json::Array(row.overrides)},
                           {"ms", row.milliseconds},
                           {"call", llvm::json::Object(row.call)},
                           {"gpu", row.gpu}});
  return array;
}

FailureOr<std::vector<std::string>>
qm::driver::readScheduleOverrides(llvm::StringRef path,
                                  llvm::StringRef target) {
  FailureOr<std::vector<TimedSchedule>> rows = readTimedSchedules(path);
  if (failed(rows))
    return failure();
  std::vector<std::string> overrides;
  for (const TimedSchedule &row : getFastest(*rows))
    if (row.target == target)
      for (const std::string &text : row.overrides)
        overrides.push_back(row.spec + ":" + text);
  return overrides;
}
