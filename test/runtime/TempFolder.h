//===- TempFolder.h - a folder that goes with the test --------------------===//
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

class TempFolder {
public:
  TempFolder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "qm-test-XXXXXX").string();
    if (!mkdtemp(name.data()))
      throw std::runtime_error("cannot make a temporary folder");
    folder = name;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  TempFolder(const TempFolder &) = delete;
  TempFolder &operator=(const TempFolder &) = delete;

  std::string path(const std::string &name) const {
    return folder + "/" + name;
  }
  const std::string &path() const { return folder; }

  std::string write(const std::string &name, const std::string &bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

private:
  std::string folder;
};
