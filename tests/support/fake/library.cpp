// A library that SharedLibraries.* opens.
extern "C" __attribute__((visibility("default"))) int qsim_fake_number() { return 7; }
