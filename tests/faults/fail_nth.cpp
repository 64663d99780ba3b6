// Preloaded before a program: makes its Nth call of one kind fail, once (fail_plan.h): alloc, map, thread, open, write,
// sync, rename or mpi. Only calls by the program itself and by the C++ library for it count: what MPI and the C library
// do inside is theirs.
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <mpi.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "fail_plan.h"

namespace {

struct Range {
  std::uintptr_t begin = 0, end = 0;
};

std::array<Range, 2> callers{};  // the program, the C++ library

int note_range(dl_phdr_info* info, std::size_t, void*) {
  const bool program = info->dlpi_name == nullptr || info->dlpi_name[0] == 0;
  const bool library = !program && std::strstr(info->dlpi_name, "libstdc++") != nullptr;
  if (!program && !library) return 0;
  if (program && callers[0].end != 0) return 0;  // the kernel's own page has no name either
  Range range{UINTPTR_MAX, 0};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
    const std::uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    if (begin < range.begin) range.begin = begin;
    if (begin + info->dlpi_phdr[i].p_memsz > range.end) range.end = begin + info->dlpi_phdr[i].p_memsz;
  }
  callers[program ? 0 : 1] = range;
  return 0;
}

std::atomic<bool> ready{false};  // from the program's main on: what fails before it cannot be caught

using Main = int(int, char**, char**);
Main* program_main = nullptr;

int main_with_faults(int count, char** words, char** variables) {
  dl_iterate_phdr(note_range, nullptr);
  ready = true;
  return program_main(count, words, variables);
}

/// True when this call, of `kind` and made at `caller`, is the one that fails.
bool fails(const char* kind, void* caller) {
  if (!ready || !qsim::faults::fail_plan().is_of(kind)) return false;
  const auto place = reinterpret_cast<std::uintptr_t>(caller);
  bool counts = false;
  for (const Range& range : callers) counts = counts || (place >= range.begin && place < range.end);
  return counts && qsim::faults::is_the_nth();
}

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

void* allocate(std::size_t bytes, std::size_t alignment, void* caller) {
  if (fails("alloc", caller)) return nullptr;
  if (alignment <= alignof(std::max_align_t)) return std::malloc(bytes == 0 ? 1 : bytes);
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

void* require(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

int failed(int error) {
  errno = error;
  return -1;
}

}  // namespace

#define CALLER __builtin_return_address(0)

void* operator new(std::size_t bytes) { return require(allocate(bytes, 0, CALLER)); }
void* operator new[](std::size_t bytes) { return require(allocate(bytes, 0, CALLER)); }
void* operator new(std::size_t bytes, std::align_val_t align) {
  return require(allocate(bytes, static_cast<std::size_t>(align), CALLER));
}
void* operator new[](std::size_t bytes, std::align_val_t align) {
  return require(allocate(bytes, static_cast<std::size_t>(align), CALLER));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, 0, CALLER); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, 0, CALLER); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

extern "C" {

int __libc_start_main(Main* main, int count, char** words, Main* init, void (*fini)(), void (*end)(), void* stack) {
  using Start = int(Main*, int, char**, Main*, void (*)(), void (*)(), void*);
  program_main = main;
  return next<Start>("__libc_start_main")(main_with_faults, count, words, init, fini, end, stack);
}

void* mmap(void* where, std::size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
  if (fails("map", CALLER)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return reinterpret_cast<void*>(syscall(SYS_mmap, where, bytes, protection, flags, file, offset));
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*), void* data) noexcept {
  if (fails("thread", CALLER)) return EAGAIN;
  static auto* const real = next<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
  return real(thread, attributes, body, data);
}

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (fails("open", CALLER)) return failed(EMFILE);
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}
int open64(const char* path, int flags, ...) __attribute__((alias("open")));

int openat(int folder, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (fails("open", CALLER)) return failed(EMFILE);
  return static_cast<int>(syscall(SYS_openat, folder, path, flags, mode));
}
int openat64(int folder, const char* path, int flags, ...) __attribute__((alias("openat")));

FILE* fopen(const char* path, const char* mode) {
  static auto* const real = next<FILE*(const char*, const char*)>("fopen");
  if (!fails("open", CALLER)) return real(path, mode);
  errno = EMFILE;
  return nullptr;
}
FILE* fopen64(const char* path, const char* mode) __attribute__((alias("fopen")));

// What is said on standard error has nowhere to be told when it fails.
ssize_t write(int file, const void* data, std::size_t bytes) {
  if (file != STDERR_FILENO && fails("write", CALLER)) return failed(ENOSPC);
  return syscall(SYS_write, file, data, bytes);
}
ssize_t writev(int file, const iovec* parts, int count) {
  if (file != STDERR_FILENO && fails("write", CALLER)) return failed(ENOSPC);
  return syscall(SYS_writev, file, parts, count);
}
ssize_t pwrite(int file, const void* data, std::size_t bytes, off_t offset) {
  if (fails("write", CALLER)) return failed(ENOSPC);
  return syscall(SYS_pwrite64, file, data, bytes, offset);
}
ssize_t pwrite64(int file, const void* data, std::size_t bytes, off64_t offset) __attribute__((alias("pwrite")));

int ftruncate(int file, off_t bytes) noexcept {
  if (fails("write", CALLER)) return failed(ENOSPC);
  return static_cast<int>(syscall(SYS_ftruncate, file, bytes));
}
int ftruncate64(int file, off64_t bytes) noexcept __attribute__((alias("ftruncate")));

int fsync(int file) {
  if (fails("sync", CALLER)) return failed(EIO);
  return static_cast<int>(syscall(SYS_fsync, file));
}
int fdatasync(int file) {
  if (fails("sync", CALLER)) return failed(EIO);
  return static_cast<int>(syscall(SYS_fdatasync, file));
}

int rename(const char* from, const char* to) noexcept {
  if (fails("rename", CALLER)) return failed(EACCES);
  return static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
  if (fails("rename", CALLER)) return failed(EACCES);
  return static_cast<int>(syscall(SYS_linkat, from_folder, from, to_folder, to, flags));
}

int MPI_Init_thread(int* count, char*** words, int required, int* provided) {
  return fails("mpi", CALLER) ? MPI_ERR_OTHER : PMPI_Init_thread(count, words, required, provided);
}
int MPI_Comm_dup(MPI_Comm from, MPI_Comm* to) { return fails("mpi", CALLER) ? MPI_ERR_OTHER : PMPI_Comm_dup(from, to); }
int MPI_Sendrecv(const void* out, int out_count, MPI_Datatype out_type, int to, int out_tag, void* in, int in_count,
                 MPI_Datatype in_type, int from, int in_tag, MPI_Comm world, MPI_Status* status) {
  if (fails("mpi", CALLER)) return MPI_ERR_OTHER;
  return PMPI_Sendrecv(out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag, world, status);
}
int MPI_Alltoall(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type,
                 MPI_Comm world) {
  if (fails("mpi", CALLER)) return MPI_ERR_OTHER;
  return PMPI_Alltoall(out, out_count, out_type, in, in_count, in_type, world);
}
int MPI_Allgather(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type,
                  MPI_Comm world) {
  if (fails("mpi", CALLER)) return MPI_ERR_OTHER;
  return PMPI_Allgather(out, out_count, out_type, in, in_count, in_type, world);
}
int MPI_Allreduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm world) {
  return fails("mpi", CALLER) ? MPI_ERR_OTHER : PMPI_Allreduce(out, in, count, type, operation, world);
}
int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm world) {
  return fails("mpi", CALLER) ? MPI_ERR_OTHER : PMPI_Bcast(data, count, type, root, world);
}
int MPI_Barrier(MPI_Comm world) { return fails("mpi", CALLER) ? MPI_ERR_OTHER : PMPI_Barrier(world); }
int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm world, MPI_Request* request) {
  return fails("mpi", CALLER) ? MPI_ERR_OTHER : PMPI_Isend(data, count, type, to, tag, world, request);
}
int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm world, MPI_Request* request) {
  return fails("mpi", CALLER) ? MPI_ERR_OTHER : PMPI_Irecv(data, count, type, from, tag, world, request);
}
int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  return fails("mpi", CALLER) ? MPI_ERR_OTHER : PMPI_Test(request, done, status);
}

}  // extern "C"
