// Calls become arithmetic on vectors; narrow floats become integer code where the CPU has no instruction.
// RUN: qm-opt %s --qm-expand-cpu-math | FileCheck %s

// CHECK-LABEL: llvm.func @transcendental
// CHECK-NOT: math.tanh
// CHECK-NOT: math.exp
// CHECK: arith.mulf {{.*}} : vector<8xf32>
llvm.func @transcendental(%x: vector<8xf32>) -> vector<8xf32> attributes {target_cpu = "x86-64-v3"} {
  %t = math.tanh %x : vector<8xf32>
  %e = math.exp %t : vector<8xf32>
  llvm.return %e : vector<8xf32>
}

// sin and cos: a multiple of pi/2 is taken off in three exact steps, in four without fused multiply-adds.
// CHECK-LABEL: llvm.func @trigonometry
// CHECK-NOT: math.sin
// CHECK-DAG: arith.constant dense<-1.57079637> : vector<8xf32>
// CHECK-DAG: arith.constant dense<4.37113883E-8> : vector<8xf32>
// CHECK-DAG: arith.constant dense<1.71512451E-15> : vector<8xf32>
// CHECK: %[[BITS:.*]] = arith.bitcast {{.*}} : vector<8xf32> to vector<8xi32>
// CHECK: arith.andi %[[BITS]]
llvm.func @trigonometry(%x: vector<8xf32>) -> vector<8xf32> attributes {target_cpu = "x86-64-v3"} {
  %s = math.sin %x : vector<8xf32>
  llvm.return %s : vector<8xf32>
}

// CHECK-LABEL: llvm.func @trigonometry_generic
// CHECK-NOT: math.cos
// CHECK-DAG: arith.constant dense<-1.5703125> : vector<4xf32>
// CHECK-DAG: arith.constant dense<-4.83751297E-4> : vector<4xf32>
// CHECK-DAG: arith.constant dense<-7.54953362E-8> : vector<4xf32>
// CHECK-DAG: arith.constant dense<-2.56334407E-12> : vector<4xf32>
llvm.func @trigonometry_generic(%x: vector<4xf32>) -> vector<4xf32> attributes {target_cpu = "generic"} {
  %c = math.cos %x : vector<4xf32>
  llvm.return %c : vector<4xf32>
}

// CHECK-LABEL: llvm.func @bf16
// CHECK-NOT: arith.truncf
// CHECK-NOT: arith.extf
// CHECK: arith.trunci {{.*}} : vector<8xi32> to vector<8xi16>
// CHECK: arith.shli
llvm.func @bf16(%x: vector<8xf32>) -> vector<8xf32> attributes {target_cpu = "x86-64-v3"} {
  %n = arith.truncf %x : vector<8xf32> to vector<8xbf16>
  %w = arith.extf %n : vector<8xbf16> to vector<8xf32>
  llvm.return %w : vector<8xf32>
}

// With F16C they are two instructions.
// CHECK-LABEL: llvm.func @f16_avx2
// CHECK-NEXT: arith.truncf
// CHECK-NEXT: arith.extf
llvm.func @f16_avx2(%x: vector<8xf32>) -> vector<8xf32> attributes {target_cpu = "x86-64-v3"} {
  %n = arith.truncf %x : vector<8xf32> to vector<8xf16>
  %w = arith.extf %n : vector<8xf16> to vector<8xf32>
  llvm.return %w : vector<8xf32>
}

// CHECK-LABEL: llvm.func @f16_generic
// CHECK-NOT: arith.truncf
// CHECK-NOT: arith.extf
// CHECK: arith.trunci {{.*}} : vector<4xi32> to vector<4xi16>
// CHECK: arith.extui {{.*}} : vector<4xi16> to vector<4xi32>
llvm.func @f16_generic(%x: vector<4xf32>) -> vector<4xf32> attributes {target_cpu = "generic"} {
  %n = arith.truncf %x : vector<4xf32> to vector<4xf16>
  %w = arith.extf %n : vector<4xf16> to vector<4xf32>
  llvm.return %w : vector<4xf32>
}

// The translation to LLVM has it: 1 / sqrt(x).
// CHECK-LABEL: llvm.func @rsqrt
// CHECK: math.rsqrt
llvm.func @rsqrt(%x: vector<8xf32>) -> vector<8xf32> attributes {target_cpu = "x86-64-v3"} {
  %r = math.rsqrt %x : vector<8xf32>
  llvm.return %r : vector<8xf32>
}

// CHECK-LABEL: llvm.func @floor_division
// CHECK-NOT: arith.floordivsi
// CHECK: arith.divsi
llvm.func @floor_division(%x: vector<8xi32>, %y: vector<8xi32>) -> vector<8xi32> {
  %q = arith.floordivsi %x, %y : vector<8xi32>
  llvm.return %q : vector<8xi32>
}
