// What neither LLVM nor the C library computes has no machine code.
// RUN: qm-opt %s --qm-expand-cpu-math --split-input-file --verify-diagnostics

llvm.func @integer_power(%x: vector<8xi32>) -> vector<8xi32> attributes {target_cpu = "x86-64-v3"} {
  // expected-error @below {{QM0408: math.ipowi has no machine code on a CPU}}
  // expected-note @below {{help: write it with other operations of arith and math}}
  %p = math.ipowi %x, %x : vector<8xi32>
  llvm.return %p : vector<8xi32>
}

// -----

llvm.func @mixed_power(%x: vector<8xf32>, %n: vector<8xi32>) -> vector<8xf32> attributes {target_cpu = "x86-64-v3"} {
  // expected-error @below {{QM0408: math.fpowi has no machine code on a CPU}}
  // expected-note @below {{help: write it with other operations of arith and math}}
  %p = math.fpowi %x, %n : vector<8xf32>, vector<8xi32>
  llvm.return %p : vector<8xf32>
}
