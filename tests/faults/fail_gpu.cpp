// Preloaded before a program on a machine with GPUs: makes its Nth call of one kind fail, once (fail_plan.h): cuda (the
// driver's functions, which the CUDA runtime calls as well), nvrtc, cublas or nccl. All of these are looked up by name,
// so the look-up gives a thunk that counts, then goes on to the function itself. x86-64.
#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "fail_plan.h"

namespace {

constexpr std::uint32_t kThunks = 4096;
constexpr int kThunkBytes = 16;
std::atomic<std::uint32_t> used{0};

}  // namespace

extern "C" {

void* qsim_real_functions[kThunks];
std::uint8_t qsim_codes[kThunks];  // what a failing call returns
void qsim_first_thunk();

/// The code that the call of thunk `number` fails with; 0: it goes on.
std::uint64_t qsim_decide(std::uint32_t number) { return qsim::faults::is_the_nth() ? qsim_codes[number] : 0; }
}

// A thunk keeps every register that may hold an argument while it asks.
asm(R"(
    .text
    .p2align 4
qsim_ask:
    push %rdi
    push %rsi
    push %rdx
    push %rcx
    push %r8
    push %r9
    push %rax
    push %r11
    sub $136, %rsp
    movdqu %xmm0, 0(%rsp)
    movdqu %xmm1, 16(%rsp)
    movdqu %xmm2, 32(%rsp)
    movdqu %xmm3, 48(%rsp)
    movdqu %xmm4, 64(%rsp)
    movdqu %xmm5, 80(%rsp)
    movdqu %xmm6, 96(%rsp)
    movdqu %xmm7, 112(%rsp)
    mov %r11d, %edi
    call qsim_decide@PLT
    mov %rax, %r10
    movdqu 0(%rsp), %xmm0
    movdqu 16(%rsp), %xmm1
    movdqu 32(%rsp), %xmm2
    movdqu 48(%rsp), %xmm3
    movdqu 64(%rsp), %xmm4
    movdqu 80(%rsp), %xmm5
    movdqu 96(%rsp), %xmm6
    movdqu 112(%rsp), %xmm7
    add $136, %rsp
    pop %r11
    pop %rax
    pop %r9
    pop %r8
    pop %rcx
    pop %rdx
    pop %rsi
    pop %rdi
    test %r10, %r10
    jne 1f
    mov qsim_real_functions@GOTPCREL(%rip), %r10
    jmp *(%r10, %r11, 8)
1:  mov %r10, %rax
    ret
    .globl qsim_first_thunk
    .p2align 4
qsim_first_thunk:
    .set number, 0
    .rept 4096
    .p2align 4
    mov $number, %r11d
    jmp qsim_ask
    .set number, number + 1
    .endr
)");

namespace {

void* thunk_for(void* function, std::uint8_t code) {
  const std::uint32_t number = used.fetch_add(1);
  if (number >= kThunks) return function;
  qsim_real_functions[number] = function;
  qsim_codes[number] = code;
  return reinterpret_cast<std::byte*>(&qsim_first_thunk) + std::size_t{kThunkBytes} * number;
}

bool begins(const char* name, const char* with) { return std::strncmp(name, with, std::strlen(with)) == 0; }

/// Functions that give no status, or that say what a status means.
bool has_status(const char* name) {
  return std::strstr(name, "ErrorString") == nullptr && std::strstr(name, "ErrorName") == nullptr &&
         std::strstr(name, "GetProcAddress") == nullptr && std::strstr(name, "ExportTable") == nullptr &&
         std::strstr(name, "LastError") == nullptr && std::strstr(name, "StatusString") == nullptr;
}

using ProcAddress = int(const char*, void**, int, std::uint64_t, void*);
ProcAddress* real_proc_address = nullptr;

void* replaced(const char* name, void* function);

int proc_address(const char* name, void** function, int version, std::uint64_t flags, void* result) {
  const int status = real_proc_address(name, function, version, flags, result);
  if (status == 0 && function != nullptr && *function != nullptr) *function = replaced(name, *function);
  return status;
}

void* replaced(const char* name, void* function) {
  const qsim::faults::FailPlan& plan = qsim::faults::fail_plan();
  if (begins(name, "cuGetProcAddress")) {
    real_proc_address = reinterpret_cast<ProcAddress*>(function);
    return reinterpret_cast<void*>(proc_address);
  }
  if (!has_status(name)) return function;
  constexpr std::uint8_t kOutOfMemory = 2, kLaunchFailure = 200;
  if (begins(name, "nvrtc")) return plan.is_of("nvrtc") ? thunk_for(function, 1) : function;
  if (begins(name, "nccl")) return plan.is_of("nccl") ? thunk_for(function, 2) : function;
  if (begins(name, "cublas")) return plan.is_of("cublas") ? thunk_for(function, 13) : function;
  if (!begins(name, "cu") || !plan.is_of("cuda")) return function;
  return thunk_for(function, std::strstr(name, "Alloc") != nullptr ? kOutOfMemory : kLaunchFailure);
}

}  // namespace

extern "C" void* dlsym(void* library, const char* name) noexcept {
  using Find = void*(void*, const char*);
  static auto* const find = reinterpret_cast<Find*>(dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5"));
  void* const function = find(library, name);
  if (function == nullptr || library == RTLD_NEXT || library == RTLD_DEFAULT) return function;
  return replaced(name, function);
}
