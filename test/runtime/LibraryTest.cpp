//===- LibraryTest.cpp - loading, listing and running on the CPU ----------===//

#include "runtime/cuda/ImageFormat.h"
#include "runtime/qm.h"
#include "test/runtime/Probe.h"
#include "test/runtime/TempFolder.h"

#include <cstring>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <thread>

using probe::Arguments;

namespace {

void expectError(int status, int expected, const char *message) {
  EXPECT_EQ(status, expected);
  EXPECT_NE(strstr(qm_last_error(), message), nullptr) << qm_last_error();
}

int launch(const qm_kernel *kernel, const Arguments &arguments,
           const qm_launch_options *options = nullptr) {
  std::vector<qm_value> values = arguments.values();
  return qm_launch(kernel, values.data(), values.size(), options);
}

TEST(Library, RunsOnTheCpuFromAFunction) {
  qm_library *library = probe::cpuLibrary();
  for (uint32_t threads : {0u, 1u, 3u}) {
    Arguments arguments;
    qm_launch_options options = {sizeof options, nullptr, threads, 0};
    ASSERT_EQ(launch(probe::kernelOf(library), arguments, &options), QM_OK)
        << qm_last_error();
    EXPECT_TRUE(arguments.outputsAreRight());
  }
  qm_library_destroy(library);
}

TEST(Library, RunsOnTheCpuFromASharedObject) {
  TempFolder folder;
  std::filesystem::copy_file(QM_PROBE_CPU, folder.path("probe.so"));
  std::string path = folder.write(
      "probe.json", probe::manifest({probe::entry("cpu", "probe.so")}));
  qm_library *library = nullptr;
  ASSERT_EQ(qm_library_load(path.c_str(), &library), QM_OK) << qm_last_error();
  EXPECT_EQ(qm_kernel_prepare(probe::kernelOf(library), {kDLCPU, 0}), QM_OK);
  Arguments arguments;
  ASSERT_EQ(launch(probe::kernelOf(library), arguments), QM_OK)
      << qm_last_error();
  EXPECT_TRUE(arguments.outputsAreRight());
  qm_library_destroy(library);
}

TEST(Library, NoQueriesRunNothing) {
  qm_library *library = probe::cpuLibrary();
  Arguments arguments({kDLCPU, 0}, 2, 0, 5);
  EXPECT_EQ(launch(probe::kernelOf(library), arguments), QM_OK);
  qm_library_destroy(library);
}

TEST(Library, ManyThreadsMayLaunchAtOnce) {
  qm_library *library = probe::cpuLibrary();
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        Arguments arguments;
        right += launch(probe::kernelOf(library), arguments) == QM_OK &&
                 arguments.outputsAreRight();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(right, 8 * 50);
  qm_library_destroy(library);
}

TEST(Library, ListsWhatIsInIt) {
  qm_library *library = probe::gpuLibrary({"sm_80:cubin", "sm_90a:ptx"});
  EXPECT_EQ(qm_library_kernel_count(library), 1u);
  const qm_kernel *kernel = nullptr;
  ASSERT_EQ(qm_library_kernel_at(library, 0, &kernel), QM_OK);
  qm_kernel_info info = {sizeof info, nullptr, 0, 0};
  ASSERT_EQ(qm_kernel_get_info(kernel, &info), QM_OK);
  EXPECT_STREQ(info.name, "probe");
  EXPECT_EQ(info.argument_count, 8u);
  EXPECT_EQ(info.variant_count, 2u);

  qm_argument_info argument = {};
  argument.size = sizeof argument;
  ASSERT_EQ(qm_kernel_get_argument(kernel, 1, &argument), QM_OK);
  EXPECT_STREQ(argument.name, "k");
  EXPECT_STREQ(argument.role, "k");
  EXPECT_STREQ(argument.dtype, "f32");
  EXPECT_EQ(argument.is_tensor, 1);
  EXPECT_EQ(argument.is_output, 0);
  EXPECT_EQ(argument.rank, 4);
  EXPECT_EQ(argument.shape[1], 2);
  EXPECT_EQ(argument.shape[2], -1);
  ASSERT_EQ(qm_kernel_get_argument(kernel, 7, &argument), QM_OK);
  EXPECT_EQ(argument.is_output, 1);
  ASSERT_EQ(qm_kernel_get_argument(kernel, 4, &argument), QM_OK);
  EXPECT_EQ(argument.is_tensor, 0);

  qm_variant_info variant = {};
  variant.size = sizeof variant;
  ASSERT_EQ(qm_kernel_get_variant(kernel, 1, &variant), QM_OK);
  EXPECT_STREQ(variant.target, "sm_90a");
  EXPECT_STREQ(variant.format, "ptx");
  EXPECT_EQ(variant.tile_m, 4);
  EXPECT_EQ(variant.threads, 128);
  qm_library_destroy(library);
}

TEST(Library, AnOlderCallersStructIsFilledAsFarAsItGoes) {
  qm_library *library = probe::cpuLibrary();
  struct {
    size_t size;
    const char *name;
    size_t guard;
  } old = {2 * sizeof(size_t), nullptr, 42};
  ASSERT_EQ(qm_kernel_get_info(probe::kernelOf(library),
                               reinterpret_cast<qm_kernel_info *>(&old)),
            QM_OK);
  EXPECT_STREQ(old.name, "probe");
  EXPECT_EQ(old.guard, 42u);
  qm_library_destroy(library);
}

TEST(Library, NullAndOutOfRangeArgumentsAreNamed) {
  qm_library *library = probe::cpuLibrary();
  const qm_kernel *kernel = probe::kernelOf(library), *out = nullptr;
  qm_kernel_info info = {sizeof info, nullptr, 0, 0};
  size_t index = 0;
  constexpr int null = QM_ERROR_NULL_ARGUMENT;
  expectError(qm_library_load(nullptr, &library), null, "path is null");
  expectError(qm_library_load("x", nullptr), null, "library");
  expectError(qm_library_create(nullptr, 0, nullptr, 0, &library), null,
              "manifest");
  expectError(qm_library_create("", 0, nullptr, 0, nullptr), null, "library");
  expectError(qm_library_kernel_at(nullptr, 0, &out), null, "library");
  expectError(qm_library_kernel_at(library, 0, nullptr), null, "kernel");
  expectError(qm_library_find(nullptr, "x", &out), null, "library");
  expectError(qm_library_find(library, nullptr, &out), null, "name");
  expectError(qm_library_find(library, "x", nullptr), null, "kernel");
  expectError(qm_kernel_get_info(nullptr, &info), null, "kernel");
  expectError(qm_kernel_get_info(kernel, nullptr), null, "info");
  expectError(qm_kernel_get_argument(nullptr, 0, nullptr), null, "kernel");
  expectError(qm_kernel_get_variant(nullptr, 0, nullptr), null, "kernel");
  expectError(qm_kernel_select(nullptr, {kDLCPU, 0}, &index), null, "kernel");
  expectError(qm_kernel_select(kernel, {kDLCPU, 0}, nullptr), null, "variant");
  expectError(qm_kernel_prepare(nullptr, {kDLCPU, 0}), null, "kernel");
  expectError(qm_kernel_check(nullptr, nullptr, 0), null, "kernel");
  expectError(qm_launch(nullptr, nullptr, 0, nullptr), null, "kernel");
  expectError(qm_launch(kernel, nullptr, 8, nullptr), null, "arguments");
  expectError(qm_library_kernel_at(library, 1, &out), QM_ERROR_INDEX_RANGE,
              "index 1 is past the last of 1");
  expectError(qm_kernel_get_argument(kernel, 8, nullptr), QM_ERROR_INDEX_RANGE,
              "index 8");
  expectError(qm_kernel_get_variant(kernel, 1, nullptr), QM_ERROR_INDEX_RANGE,
              "index 1");
  EXPECT_EQ(qm_library_kernel_count(nullptr), 0u);
  qm_library_destroy(nullptr); // is allowed
  qm_library_destroy(library);
}

TEST(Library, StructSizesAreChecked) {
  qm_library *library = probe::cpuLibrary(), *made = nullptr;
  const qm_kernel *kernel = probe::kernelOf(library);
  qm_kernel_info info = {};
  expectError(qm_kernel_get_info(kernel, &info), QM_ERROR_STRUCT_SIZE,
              "info->size is 0");
  Arguments arguments;
  qm_launch_options options = {};
  expectError(launch(kernel, arguments, &options), QM_ERROR_STRUCT_SIZE,
              "options->size is 0");
  options = {sizeof options, nullptr, 0, 1};
  expectError(launch(kernel, arguments, &options), QM_ERROR_STRUCT_SIZE,
              "flags 1");
  struct {
    qm_launch_options known;
    size_t added;
  } newer = {{sizeof newer, nullptr, 0, 0}, 1};
  expectError(launch(kernel, arguments, &newer.known), QM_ERROR_STRUCT_SIZE,
              "this runtime knows");
  EXPECT_TRUE(arguments.outputsAreUntouched());
  newer.added = 0;
  EXPECT_EQ(launch(kernel, arguments, &newer.known), QM_OK);
  qm_image image = {};
  expectError(qm_library_create("{}", 2, &image, 1, &made),
              QM_ERROR_STRUCT_SIZE, "images[0].size is 0");
  image.size = sizeof image;
  expectError(qm_library_create("{}", 2, &image, 1, &made),
              QM_ERROR_NULL_ARGUMENT, "images[0].name");
  expectError(qm_library_create("{}", 2, nullptr, 1, &made),
              QM_ERROR_NULL_ARGUMENT, "image_count is 1");
  qm_library_destroy(library);
}

TEST(Library, MissingFilesAreNamed) {
  TempFolder folder;
  qm_library *library = nullptr;
  expectError(qm_library_load(folder.path("none.json").c_str(), &library),
              QM_ERROR_MANIFEST_UNREADABLE, "No such file");
  expectError(qm_library_load(folder.path().c_str(), &library),
              QM_ERROR_MANIFEST_UNREADABLE, "not a regular file");
  std::string gpu = folder.write(
      "gpu.json", probe::manifest({probe::entry("sm_80", "gone.cubin")}));
  expectError(qm_library_load(gpu.c_str(), &library), QM_ERROR_IMAGE_UNREADABLE,
              "gone.cubin");
  std::string cpu = folder.write(
      "cpu.json", probe::manifest({probe::entry("cpu", "gone.so")}));
  expectError(qm_library_load(cpu.c_str(), &library), QM_ERROR_IMAGE_UNREADABLE,
              "gone.so");
  EXPECT_EQ(library, nullptr);
}

TEST(Library, FilesOfAnotherKindAreNamed) {
  TempFolder folder;
  qm_library *library = nullptr;
  // Opening it would wait for somebody who writes.
  std::string pipe = folder.path("pipe.so");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  expectError(qm_library_load(pipe.c_str(), &library),
              QM_ERROR_MANIFEST_UNREADABLE, "not a regular file");
  std::string archive = folder.write("libattn.a", "!<arch>\n");
  expectError(qm_library_load(archive.c_str(), &library), QM_ERROR_LIBRARY_FILE,
              "load libNAME.so, or link it");
  for (const char *image : {"cpu:attn_d64", "sha256:00"}) {
    std::string manifest = folder.write(
        "attn.json", probe::manifest({probe::entry("cpu", image)}));
    expectError(qm_library_load(manifest.c_str(), &library),
                QM_ERROR_IMAGE_UNREADABLE, "load libNAME.so");
  }
  EXPECT_EQ(library, nullptr);
}

TEST(Library, ImagesMissingInMemoryAreNamed) {
  std::string text = probe::manifest({probe::entry("sm_80", "a.cubin")});
  qm_image image = {sizeof image, "b.cubin", "x", 1, nullptr};
  qm_library *library = nullptr;
  expectError(qm_library_create(text.data(), text.size(), &image, 1, &library),
              QM_ERROR_IMAGE_UNREADABLE,
              "no data was given for image 'a.cubin'");
  text = probe::manifest({probe::entry("cpu", "b.cubin")});
  expectError(qm_library_create(text.data(), text.size(), &image, 1, &library),
              QM_ERROR_IMAGE_UNREADABLE,
              "no entry was given for image 'b.cubin'");
}

TEST(Library, DamagedManifestsAndTargetsAreNamed) {
  qm_library *library = nullptr;
  expectError(qm_library_create("[", 1, nullptr, 0, &library),
              QM_ERROR_MANIFEST_INVALID, "not JSON");
  for (const char *target : {"sm_8x", "gfx90a", "sm_", "sm_90ab", "sm_90b"}) {
    std::string text = probe::manifest({probe::entry(target, "a.cubin")});
    expectError(
        qm_library_create(text.data(), text.size(), nullptr, 0, &library),
        QM_ERROR_MANIFEST_INVALID, target);
  }
}

TEST(Library, OneNameMeansOneSignature) {
  std::string other = probe::entry("sm_90", "b.ptx"), bytes = probe::ptx();
  other.replace(other.find("\"i32\""), 5, "\"f32\"");
  std::string text = probe::manifest({probe::entry("sm_80", "b.ptx"), other});
  qm_image image = {sizeof image, "b.ptx", bytes.data(), bytes.size(), nullptr};
  qm_library *library = nullptr;
  expectError(qm_library_create(text.data(), text.size(), &image, 1, &library),
              QM_ERROR_MANIFEST_INVALID, "differ in their 'args'");
}

TEST(Library, UnknownKernelsAreNamed) {
  qm_library *library = probe::cpuLibrary();
  const qm_kernel *kernel = nullptr;
  expectError(qm_library_find(library, "prob", &kernel),
              QM_ERROR_UNKNOWN_KERNEL, "no kernel 'prob' among 1");
  qm_library_destroy(library);
}

TEST(Library, BrokenSharedObjectsAreNamed) {
  TempFolder folder;
  folder.write("junk.so", "this is no shared object");
  std::filesystem::copy_file(QM_PROBE_CPU, folder.path("probe.so"));
  std::string junk = folder.write(
      "junk.json", probe::manifest({probe::entry("cpu", "junk.so")}));
  std::string entry = probe::entry("cpu", "probe.so", R"("entry": "other")");
  std::string other = folder.write("other.json", probe::manifest({entry}));
  for (auto [path, message] : {std::pair(junk, "junk.so"),
                               std::pair(other, "undefined symbol: other")}) {
    qm_library *library = nullptr;
    ASSERT_EQ(qm_library_load(path.c_str(), &library), QM_OK);
    Arguments arguments;
    expectError(launch(probe::kernelOf(library), arguments), QM_ERROR_CPU_ENTRY,
                message);
    expectError(qm_kernel_prepare(probe::kernelOf(library), {kDLCPU, 0}),
                QM_ERROR_CPU_ENTRY, message);
    EXPECT_TRUE(arguments.outputsAreUntouched());
    qm_library_destroy(library);
  }
}

TEST(Library, CpuTensorsNeedACpuImage) {
  qm_library *library = probe::gpuLibrary({"sm_80:ptx"});
  Arguments arguments;
  expectError(launch(probe::kernelOf(library), arguments),
              QM_ERROR_NO_IMAGE_FOR_DEVICE, "no image for the CPU");
  size_t variant = 0;
  expectError(
      qm_kernel_select(probe::kernelOf(library), {kDLVulkan, 0}, &variant),
      QM_ERROR_TENSOR_DEVICE, "neither CPU");
  expectError(qm_kernel_prepare(probe::kernelOf(library), {kDLVulkan, 0}),
              QM_ERROR_TENSOR_DEVICE, "neither CPU");
  qm_library_destroy(library);
}

TEST(Library, ErrorTextBelongsToItsThread) {
  qm_library *library = nullptr;
  qm_library_load(nullptr, &library);
  std::string mine = qm_last_error();
  std::thread([] {
    EXPECT_STREQ(qm_last_error(), "");
    qm_library_load("/nowhere", nullptr);
  }).join();
  EXPECT_EQ(mine, qm_last_error());
}

using qm::runtime::cuda::isCubin;
using qm::runtime::cuda::isPtx;

TEST(ImageFormat, CutOrDamagedCubinsAreFound) {
  std::string whole = probe::cubin();
  EXPECT_TRUE(isCubin(whole));
  EXPECT_FALSE(isPtx(whole));
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(isCubin(whole.substr(0, length))) << length;
  std::string otherMachine = whole;
  otherMachine[18] = 62; // e_machine: x86-64
  EXPECT_FALSE(isCubin(otherMachine));
}

TEST(ImageFormat, PtxIsFoundByItsFirstDirective) {
  EXPECT_TRUE(isPtx(probe::ptx()));
  EXPECT_TRUE(isPtx(".version 8.0"));
  EXPECT_TRUE(isPtx(std::string("/* a */ /* b */\n// c\n .version 8.0\0", 35)));
  EXPECT_FALSE(isPtx(""));
  EXPECT_FALSE(isPtx("// only a comment"));
  EXPECT_FALSE(isPtx("/* never closed .version 8.0"));
  EXPECT_FALSE(isPtx(".target sm_80"));
  EXPECT_FALSE(isPtx(std::string(".version 8.0\0.target", 20)));
}

TEST(ImageFormat, ThePtxTargetIsRead) {
  using qm::runtime::cuda::ptxTarget;
  EXPECT_EQ(ptxTarget(probe::ptx("sm_90a")), "sm_90a");
  EXPECT_EQ(ptxTarget(".version 7.0\n.target sm_75, debug\n"), "sm_75");
  EXPECT_EQ(ptxTarget(".version 7.0\n.target\tsm_75"), "sm_75");
  EXPECT_EQ(ptxTarget(".version 7.0\n.target "), "");
  EXPECT_EQ(ptxTarget(".version 7.0\n"), "");
}

TEST(ImageFormat, PtxForAnotherTargetThanTheManifestsIsRefused) {
  std::string text = probe::manifest({probe::entry("sm_80", "a.ptx")}),
              bytes = probe::ptx("sm_100");
  qm_image image = {sizeof image, "a.ptx", bytes.data(), bytes.size(), nullptr};
  qm_library *library = nullptr;
  expectError(qm_library_create(text.data(), text.size(), &image, 1, &library),
              QM_ERROR_IMAGE_REJECTED,
              "is PTX for 'sm_100', the manifest says sm_80");
}

TEST(ImageFormat, DamagedImagesAreRefusedAtLoad) {
  std::string text = probe::manifest({probe::entry("sm_80", "a.cubin")});
  for (std::string bytes :
       {std::string("garbage"), probe::cubin().substr(0, 99)}) {
    qm_image image = {sizeof image, "a.cubin", bytes.data(), bytes.size(),
                      nullptr};
    qm_library *library = nullptr;
    expectError(
        qm_library_create(text.data(), text.size(), &image, 1, &library),
        QM_ERROR_IMAGE_REJECTED, "neither a whole cubin nor PTX");
  }
}

} // namespace
