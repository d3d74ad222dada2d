; Made by update_llvm_math.py of sources with this SHA-256:
; 135f9907e1c7e7774c13b8750e6888492ee92c2b7db733b1e382e5f84eaa2740
define internal float @baton.exp.f32(float %x) alwaysinline #0 {
entry:
  %cmp.i = fcmp olt float %x, -1.050000e+02
  %cond.i = select i1 %cmp.i, float -1.760000e+02, float %x
  %cmp1.i = fcmp ogt float %cond.i, 9.000000e+01
  %cond5.i = select i1 %cmp1.i, float 9.000000e+01, float %cond.i
  %0 = call float @llvm.fma.f32(float %cond5.i, float 0x3FF7154760000000, float 0x4168000000000000)
  %sub.i.i = fadd float %0, 0xC168000000000000
  %1 = bitcast float %0 to i32
  %2 = call float @llvm.fma.f32(float %sub.i.i, float 0xBFE62E4000000000, float %cond5.i)
  %3 = call float @llvm.fma.f32(float %sub.i.i, float 0xBEB7F7D1C0000000, float %2)
  %4 = call float @llvm.fma.f32(float %3, float 0x3F56A4A9C0000000, float 0x3F81243340000000)
  %5 = call float @llvm.fma.f32(float %4, float %3, float 0x3FA5558C40000000)
  %6 = call float @llvm.fma.f32(float %5, float %3, float 0x3FC5554860000000)
  %7 = call float @llvm.fma.f32(float %6, float %3, float 0x3FDFFFFFC0000000)
  %mul.i.i = fmul float %3, %3
  %8 = call float @llvm.fma.f32(float %7, float %mul.i.i, float %3)
  %add.i.i = fadd float %8, 1.000000e+00
  %add.i9.i = add i32 %1, -1262485248
  %shr.i.i = lshr i32 %add.i9.i, 1
  %sub.i10.i = add nsw i32 %shr.i.i, -128
  %add.i.i.i = shl i32 %sub.i10.i, 23
  %shl.i.i.i = add i32 %add.i.i.i, 1065353216
  %9 = bitcast i32 %shl.i.i.i to float
  %mul.i11.i = fmul float %add.i.i, %9
  %sub1.i.i = sub i32 %1, %sub.i10.i
  %add.i6.i.i = shl i32 %sub1.i.i, 23
  %shl.i7.i.i = add i32 %add.i6.i.i, 1065353216
  %10 = bitcast i32 %shl.i7.i.i to float
  %mul3.i.i = fmul float %mul.i11.i, %10
  ret float %mul3.i.i
}
define internal float @baton.tanh.f32(float %x) alwaysinline #0 {
entry:
  %0 = call float @llvm.fabs.f32(float %x)
  %mul.i = fmul float %x, %x
  %1 = call float @llvm.fma.f32(float %mul.i, float 0xBF78287760000000, float 0x3F954C3C20000000)
  %2 = call float @llvm.fma.f32(float %1, float %mul.i, float 0xBFAB89ABA0000000)
  %3 = call float @llvm.fma.f32(float %2, float %mul.i, float 0x3FC1109BE0000000)
  %4 = call float @llvm.fma.f32(float %3, float %mul.i, float 0xBFD55553E0000000)
  %mul2.i = fmul float %mul.i, %0
  %5 = call float @llvm.fma.f32(float %4, float %mul2.i, float %0)
  %cmp.i = fcmp ogt float %0, 1.000000e+01
  %cond.i = select i1 %cmp.i, float 1.000000e+01, float %0
  %mul4.i = fmul float %cond.i, 2.000000e+00
  %6 = call float @llvm.fma.f32(float %mul4.i, float 0x3FF7154760000000, float 0x4168000000000000)
  %sub.i.i = fadd float %6, 0xC168000000000000
  %7 = bitcast float %6 to i32
  %8 = call float @llvm.fma.f32(float %sub.i.i, float 0xBFE62E4000000000, float %mul4.i)
  %9 = call float @llvm.fma.f32(float %sub.i.i, float 0xBEB7F7D1C0000000, float %8)
  %10 = call float @llvm.fma.f32(float %9, float 0x3F56A4A9C0000000, float 0x3F81243340000000)
  %11 = call float @llvm.fma.f32(float %10, float %9, float 0x3FA5558C40000000)
  %12 = call float @llvm.fma.f32(float %11, float %9, float 0x3FC5554860000000)
  %13 = call float @llvm.fma.f32(float %12, float %9, float 0x3FDFFFFFC0000000)
  %mul.i.i = fmul float %9, %9
  %14 = call float @llvm.fma.f32(float %13, float %mul.i.i, float %9)
  %add.i.i = fadd float %14, 1.000000e+00
  %add.i22.i = shl i32 %7, 23
  %shl.i.i = add i32 %add.i22.i, 1065353216
  %15 = bitcast i32 %shl.i.i to float
  %mul7.i = fmul float %add.i.i, %15
  %add.i = fadd float %mul7.i, 1.000000e+00
  %div.i = fdiv float 2.000000e+00, %add.i
  %sub.i = fsub float 1.000000e+00, %div.i
  %cmp8.i = fcmp olt float %0, 0x3FE3333340000000
  %cond12.i = select i1 %cmp8.i, float %5, float %sub.i
  %16 = call float @llvm.copysign.f32(float %cond12.i, float %x)
  ret float %16
}
define internal float @baton.sigmoid.f32(float %x) alwaysinline #0 {
entry:
  %0 = call float @llvm.fabs.f32(float %x)
  %fneg.i = fneg float %0
  %cmp.i.i = fcmp ogt float %0, 1.050000e+02
  %cond.i.i = select i1 %cmp.i.i, float -1.760000e+02, float %fneg.i
  %cmp1.i.i = fcmp ogt float %cond.i.i, 9.000000e+01
  %cond5.i.i = select i1 %cmp1.i.i, float 9.000000e+01, float %cond.i.i
  %1 = call float @llvm.fma.f32(float %cond5.i.i, float 0x3FF7154760000000, float 0x4168000000000000)
  %sub.i.i.i = fadd float %1, 0xC168000000000000
  %2 = bitcast float %1 to i32
  %3 = call float @llvm.fma.f32(float %sub.i.i.i, float 0xBFE62E4000000000, float %cond5.i.i)
  %4 = call float @llvm.fma.f32(float %sub.i.i.i, float 0xBEB7F7D1C0000000, float %3)
  %5 = call float @llvm.fma.f32(float %4, float 0x3F56A4A9C0000000, float 0x3F81243340000000)
  %6 = call float @llvm.fma.f32(float %5, float %4, float 0x3FA5558C40000000)
  %7 = call float @llvm.fma.f32(float %6, float %4, float 0x3FC5554860000000)
  %8 = call float @llvm.fma.f32(float %7, float %4, float 0x3FDFFFFFC0000000)
  %mul.i.i.i = fmul float %4, %4
  %9 = call float @llvm.fma.f32(float %8, float %mul.i.i.i, float %4)
  %add.i.i.i = fadd float %9, 1.000000e+00
  %add.i9.i.i = add i32 %2, -1262485248
  %shr.i.i.i = lshr i32 %add.i9.i.i, 1
  %sub.i10.i.i = add nsw i32 %shr.i.i.i, -128
  %add.i.i.i.i = shl i32 %sub.i10.i.i, 23
  %shl.i.i.i.i = add i32 %add.i.i.i.i, 1065353216
  %10 = bitcast i32 %shl.i.i.i.i to float
  %mul.i11.i.i = fmul float %add.i.i.i, %10
  %sub1.i.i.i = sub i32 %2, %sub.i10.i.i
  %add.i6.i.i.i = shl i32 %sub1.i.i.i, 23
  %shl.i7.i.i.i = add i32 %add.i6.i.i.i, 1065353216
  %11 = bitcast i32 %shl.i7.i.i.i to float
  %mul3.i.i.i = fmul float %mul.i11.i.i, %11
  %cmp.i = fcmp oge float %x, 0.000000e+00
  %cond.i = select i1 %cmp.i, float 1.000000e+00, float %mul3.i.i.i
  %add.i = fadd float %mul3.i.i.i, 1.000000e+00
  %div.i = fdiv float %cond.i, %add.i
  ret float %div.i
}
define internal float @baton.erf.f32(float %x) alwaysinline #0 {
entry:
  %0 = call float @llvm.fabs.f32(float %x)
  %mul.i = fmul float %x, %x
  %1 = call float @llvm.fma.f32(float %mul.i, float 0x3F14772C00000000, float 0xBF4A351860000000)
  %2 = call float @llvm.fma.f32(float %1, float %mul.i, float 0x3F753F2260000000)
  %3 = call float @llvm.fma.f32(float %2, float %mul.i, float 0xBF9B7F71A0000000)
  %4 = call float @llvm.fma.f32(float %3, float %mul.i, float 0x3FBCE2CE60000000)
  %5 = call float @llvm.fma.f32(float %4, float %mul.i, float 0xBFD81273E0000000)
  %6 = call float @llvm.fma.f32(float %5, float %mul.i, float 0x3FC06EBA80000000)
  %7 = call float @llvm.fma.f32(float %6, float %0, float %0)
  %cmp.i = fcmp ogt float %0, 0x400F5C2900000000
  %cond.i = select i1 %cmp.i, float 0x400F5C2900000000, float %0
  %8 = call float @llvm.fma.f32(float %cond.i, float 0x3EF6BFDD20000000, float 0xBF3CEE78A0000000)
  %9 = call float @llvm.fma.f32(float %8, float %cond.i, float 0x3F71398A20000000)
  %10 = call float @llvm.fma.f32(float %9, float %cond.i, float 0xBF99D0BEE0000000)
  %11 = call float @llvm.fma.f32(float %10, float %cond.i, float 0x3FBBC18EE0000000)
  %12 = call float @llvm.fma.f32(float %11, float %cond.i, float 0x3FE4434EC0000000)
  %13 = call float @llvm.fma.f32(float %12, float %cond.i, float 0x3FF212C2E0000000)
  %14 = call float @llvm.fma.f32(float %13, float %cond.i, float 0xBF28B44E20000000)
  %fneg.i = fneg float %14
  %cmp.i.i = fcmp ogt float %14, 1.050000e+02
  %cond.i.i = select i1 %cmp.i.i, float -1.760000e+02, float %fneg.i
  %cmp1.i.i = fcmp ogt float %cond.i.i, 9.000000e+01
  %cond5.i.i = select i1 %cmp1.i.i, float 9.000000e+01, float %cond.i.i
  %15 = call float @llvm.fma.f32(float %cond5.i.i, float 0x3FF7154760000000, float 0x4168000000000000)
  %sub.i.i.i = fadd float %15, 0xC168000000000000
  %16 = bitcast float %15 to i32
  %17 = call float @llvm.fma.f32(float %sub.i.i.i, float 0xBFE62E4000000000, float %cond5.i.i)
  %18 = call float @llvm.fma.f32(float %sub.i.i.i, float 0xBEB7F7D1C0000000, float %17)
  %19 = call float @llvm.fma.f32(float %18, float 0x3F56A4A9C0000000, float 0x3F81243340000000)
  %20 = call float @llvm.fma.f32(float %19, float %18, float 0x3FA5558C40000000)
  %21 = call float @llvm.fma.f32(float %20, float %18, float 0x3FC5554860000000)
  %22 = call float @llvm.fma.f32(float %21, float %18, float 0x3FDFFFFFC0000000)
  %mul.i.i.i = fmul float %18, %18
  %23 = call float @llvm.fma.f32(float %22, float %mul.i.i.i, float %18)
  %add.i.i.i = fadd float %23, 1.000000e+00
  %add.i9.i.i = add i32 %16, -1262485248
  %shr.i.i.i = lshr i32 %add.i9.i.i, 1
  %sub.i10.i.i = add nsw i32 %shr.i.i.i, -128
  %add.i.i.i.i = shl i32 %sub.i10.i.i, 23
  %shl.i.i.i.i = add i32 %add.i.i.i.i, 1065353216
  %24 = bitcast i32 %shl.i.i.i.i to float
  %mul.i11.i.i = fmul float %add.i.i.i, %24
  %sub1.i.i.i = sub i32 %16, %sub.i10.i.i
  %add.i6.i.i.i = shl i32 %sub1.i.i.i, 23
  %shl.i7.i.i.i = add i32 %add.i6.i.i.i, 1065353216
  %25 = bitcast i32 %shl.i7.i.i.i to float
  %mul3.i.i.i = fmul float %mul.i11.i.i, %25
  %sub.i = fsub float 1.000000e+00, %mul3.i.i.i
  %cmp5.i = fcmp olt float %0, 1.000000e+00
  %cond9.i = select i1 %cmp5.i, float %7, float %sub.i
  %26 = call float @llvm.copysign.f32(float %cond9.i, float %x)
  ret float %26
}
define internal float @baton.log.f32(float %x) alwaysinline #0 {
entry:
  %cmp.i.i.i = fcmp olt float %x, 0x3810000000000000
  %mul.i.i.i = fmul float %x, 0x4170000000000000
  %cond.i.i.i = select i1 %cmp.i.i.i, float %mul.i.i.i, float %x
  %cond2.i.i.i = select i1 %cmp.i.i.i, float 2.400000e+01, float 0.000000e+00
  %0 = bitcast float %cond.i.i.i to i32
  %sub.i.i.i.i.i.i = add i32 %0, -1061158912
  %and.i.i.i.i.i.i = and i32 %sub.i.i.i.i.i.i, -8388608
  %conv.i.i.i.i.i.i = sitofp i32 %and.i.i.i.i.i.i to float
  %mul.i.i.i.i.i.i = fmul float %conv.i.i.i.i.i.i, 0x3E80000000000000
  %sub1.i.i.i.i.i.i = sub i32 %0, %and.i.i.i.i.i.i
  %1 = bitcast i32 %sub1.i.i.i.i.i.i to float
  %sub3.i.i.i.i.i.i = fadd float %1, -1.000000e+00
  %sub.i.i.i.i.i = fsub float %mul.i.i.i.i.i.i, %cond2.i.i.i
  %2 = call float @llvm.fma.f32(float %sub3.i.i.i.i.i.i, float 0x3FA33C9FC0000000, float 0xBFB750ADE0000000)
  %3 = call float @llvm.fma.f32(float %2, float %sub3.i.i.i.i.i.i, float 0x3FBDF48340000000)
  %4 = call float @llvm.fma.f32(float %3, float %sub3.i.i.i.i.i.i, float 0xBFC04B5340000000)
  %5 = call float @llvm.fma.f32(float %4, float %sub3.i.i.i.i.i.i, float 0x3FC24624A0000000)
  %6 = call float @llvm.fma.f32(float %5, float %sub3.i.i.i.i.i.i, float 0xBFC55191C0000000)
  %7 = call float @llvm.fma.f32(float %6, float %sub3.i.i.i.i.i.i, float 0x3FC9997660000000)
  %8 = call float @llvm.fma.f32(float %7, float %sub3.i.i.i.i.i.i, float 0xBFD0000700000000)
  %9 = call float @llvm.fma.f32(float %8, float %sub3.i.i.i.i.i.i, float 0x3FD55555A0000000)
  %10 = call float @llvm.fma.f32(float %9, float %sub3.i.i.i.i.i.i, float -5.000000e-01)
  %mul.i3.i.i.i.i.i = fmul float %sub3.i.i.i.i.i.i, %sub3.i.i.i.i.i.i
  %11 = call float @llvm.fma.f32(float %10, float %mul.i3.i.i.i.i.i, float %sub3.i.i.i.i.i.i)
  %12 = call float @llvm.fma.f32(float %sub.i.i.i.i.i, float 0x3FE62E4300000000, float %11)
  %cmp1.i.i = fcmp olt float %x, 0.000000e+00
  %cmp.i.i = fcmp olt float %x, 0x7FF0000000000000
  %cond.i.i = select i1 %cmp.i.i, float %12, float %x
  %cond6.i.i = select i1 %cmp1.i.i, float 0x7FF8000000000000, float %cond.i.i
  %cmp7.i.i = fcmp oeq float %x, 0.000000e+00
  %cond11.i.i = select i1 %cmp7.i.i, float 0xFFF0000000000000, float %cond6.i.i
  ret float %cond11.i.i
}
define internal float @baton.log2.f32(float %x) alwaysinline #0 {
entry:
  %cmp.i.i.i = fcmp olt float %x, 0x3810000000000000
  %mul.i.i.i = fmul float %x, 0x4170000000000000
  %cond.i.i.i = select i1 %cmp.i.i.i, float %mul.i.i.i, float %x
  %cond2.i.i.i = select i1 %cmp.i.i.i, float 2.400000e+01, float 0.000000e+00
  %0 = bitcast float %cond.i.i.i to i32
  %sub.i.i.i.i.i.i = add i32 %0, -1061997773
  %and.i.i.i.i.i.i = and i32 %sub.i.i.i.i.i.i, -8388608
  %sub1.i.i.i.i.i.i = sub i32 %0, %and.i.i.i.i.i.i
  %1 = bitcast i32 %sub1.i.i.i.i.i.i to float
  %conv.i.i.i.i.i.i = sitofp i32 %and.i.i.i.i.i.i to float
  %mul.i.i.i.i.i.i = fmul float %conv.i.i.i.i.i.i, 0x3E80000000000000
  %sub3.i.i.i.i.i.i = fsub float %mul.i.i.i.i.i.i, %cond2.i.i.i
  %cmp.i.i.i.i.i.i = fcmp olt float %1, 0x3FF24924A0000000
  %cond.i.i.i.i.i.i = select i1 %cmp.i.i.i.i.i.i, float 0.000000e+00, float 0x3FDA8F0000000000
  %add.i.i.i.i.i.i = fadd float %sub3.i.i.i.i.i.i, %cond.i.i.i.i.i.i
  %cond5.i.i.i.i.i.i = select i1 %cmp.i.i.i.i.i.i, float 0.000000e+00, float 0x3F0F2E3020000000
  %cond7.i.i.i.i.i.i = select i1 %cmp.i.i.i.i.i.i, float 1.000000e+00, float 7.500000e-01
  %2 = call float @llvm.fma.f32(float %1, float %cond7.i.i.i.i.i.i, float -1.000000e+00)
  %mul.i.i.i.i.i = fmul float %2, %2
  %3 = call float @llvm.fma.f32(float %mul.i.i.i.i.i, float 0x3FC659AEC0000000, float 0x3FCA50A240000000)
  %4 = call float @llvm.fma.f32(float %3, float %mul.i.i.i.i.i, float 0x3FD27789A0000000)
  %5 = call float @llvm.fma.f32(float %4, float %mul.i.i.i.i.i, float 0x3FDEC709C0000000)
  %6 = call float @llvm.fma.f32(float %mul.i.i.i.i.i, float 0xBFC8ABDDA0000000, float 0xBFCEBC87C0000000)
  %7 = call float @llvm.fma.f32(float %6, float %mul.i.i.i.i.i, float 0xBFD71551C0000000)
  %8 = call float @llvm.fma.f32(float %7, float %2, float %5)
  %9 = call float @llvm.fma.f32(float %2, float %8, float 0xBFE7154760000000)
  %10 = call float @llvm.fma.f32(float %mul.i.i.i.i.i, float %9, float %cond5.i.i.i.i.i.i)
  %11 = call float @llvm.fma.f32(float %2, float 0x3E54AE0C00000000, float %10)
  %12 = call float @llvm.fma.f32(float %2, float 0x3FF7154760000000, float %11)
  %add.i.i.i.i.i = fadd float %add.i.i.i.i.i.i, %12
  %cmp1.i.i = fcmp olt float %x, 0.000000e+00
  %cmp.i.i = fcmp olt float %x, 0x7FF0000000000000
  %cond.i.i = select i1 %cmp.i.i, float %add.i.i.i.i.i, float %x
  %cond6.i.i = select i1 %cmp1.i.i, float 0x7FF8000000000000, float %cond.i.i
  %cmp7.i.i = fcmp oeq float %x, 0.000000e+00
  %cond11.i.i = select i1 %cmp7.i.i, float 0xFFF0000000000000, float %cond6.i.i
  ret float %cond11.i.i
}
define internal float @baton.log10.f32(float %x) alwaysinline #0 {
entry:
  %cmp.i.i.i = fcmp olt float %x, 0x3810000000000000
  %mul.i.i.i = fmul float %x, 0x4170000000000000
  %cond.i.i.i = select i1 %cmp.i.i.i, float %mul.i.i.i, float %x
  %cond2.i.i.i = select i1 %cmp.i.i.i, float 2.400000e+01, float 0.000000e+00
  %0 = bitcast float %cond.i.i.i to i32
  %sub.i.i.i.i.i.i = add i32 %0, -1061158912
  %and.i.i.i.i.i.i = and i32 %sub.i.i.i.i.i.i, -8388608
  %conv.i.i.i.i.i.i = sitofp i32 %and.i.i.i.i.i.i to float
  %mul.i.i.i.i.i.i = fmul float %conv.i.i.i.i.i.i, 0x3E80000000000000
  %sub1.i.i.i.i.i.i = sub i32 %0, %and.i.i.i.i.i.i
  %1 = bitcast i32 %sub1.i.i.i.i.i.i to float
  %sub3.i.i.i.i.i.i = fadd float %1, -1.000000e+00
  %sub.i.i.i.i.i = fsub float %mul.i.i.i.i.i.i, %cond2.i.i.i
  %2 = call float @llvm.fma.f32(float %sub3.i.i.i.i.i.i, float 0x3FA33C9FC0000000, float 0xBFB750ADE0000000)
  %3 = call float @llvm.fma.f32(float %2, float %sub3.i.i.i.i.i.i, float 0x3FBDF48340000000)
  %4 = call float @llvm.fma.f32(float %3, float %sub3.i.i.i.i.i.i, float 0xBFC04B5340000000)
  %5 = call float @llvm.fma.f32(float %4, float %sub3.i.i.i.i.i.i, float 0x3FC24624A0000000)
  %6 = call float @llvm.fma.f32(float %5, float %sub3.i.i.i.i.i.i, float 0xBFC55191C0000000)
  %7 = call float @llvm.fma.f32(float %6, float %sub3.i.i.i.i.i.i, float 0x3FC9997660000000)
  %8 = call float @llvm.fma.f32(float %7, float %sub3.i.i.i.i.i.i, float 0xBFD0000700000000)
  %9 = call float @llvm.fma.f32(float %8, float %sub3.i.i.i.i.i.i, float 0x3FD55555A0000000)
  %10 = call float @llvm.fma.f32(float %9, float %sub3.i.i.i.i.i.i, float -5.000000e-01)
  %mul.i.i.i.i.i = fmul float %sub3.i.i.i.i.i.i, %sub3.i.i.i.i.i.i
  %mul2.i.i.i.i.i = fmul float %mul.i.i.i.i.i, %10
  %mul3.i.i.i.i.i = fmul float %mul2.i.i.i.i.i, 0x3FDBCB7B20000000
  %11 = call float @llvm.fma.f32(float %sub3.i.i.i.i.i.i, float 0xBE45B235E0000000, float %mul3.i.i.i.i.i)
  %12 = call float @llvm.fma.f32(float %sub.i.i.i.i.i, float 0x3ED3509F80000000, float %11)
  %13 = call float @llvm.fma.f32(float %sub3.i.i.i.i.i.i, float 0x3FDBCB7B20000000, float %12)
  %14 = call float @llvm.fma.f32(float %sub.i.i.i.i.i, float 0x3FD3440000000000, float %13)
  %cmp1.i.i = fcmp olt float %x, 0.000000e+00
  %cmp.i.i = fcmp olt float %x, 0x7FF0000000000000
  %cond.i.i = select i1 %cmp.i.i, float %14, float %x
  %cond6.i.i = select i1 %cmp1.i.i, float 0x7FF8000000000000, float %cond.i.i
  %cmp7.i.i = fcmp oeq float %x, 0.000000e+00
  %cond11.i.i = select i1 %cmp7.i.i, float 0xFFF0000000000000, float %cond6.i.i
  ret float %cond11.i.i
}
define internal float @baton.sin.f32(float %x) alwaysinline #0 {
entry:
  %0 = call float @llvm.fabs.f32(float %x)
  %cmp.i.i = fcmp olt float %0, 9.830400e+04
  br i1 %cmp.i.i, label %cond.true.i, label %cond.false.i
cond.true.i:
  %1 = call float @llvm.fma.f32(float %x, float 0x3FE45F3060000000, float 0x4168000000000000)
  %sub.i.i.i.i = fadd float %1, 0xC168000000000000
  %2 = bitcast float %1 to i32
  %3 = call float @llvm.fma.f32(float %sub.i.i.i.i, float 0xBFF921FB00000000, float %x)
  %4 = call float @llvm.fma.f32(float %sub.i.i.i.i, float 0xBE95110B40000000, float %3)
  %5 = call float @llvm.fma.f32(float %sub.i.i.i.i, float 0xBCF84698A0000000, float %4)
  %mul.i.i.i = fmul float %5, %5
  %6 = call float @llvm.fma.f32(float %mul.i.i.i, float 0x3EC7C367A0000000, float 0xBF2A059680000000)
  %7 = call float @llvm.fma.f32(float %6, float %mul.i.i.i, float 0x3F81111740000000)
  %8 = call float @llvm.fma.f32(float %7, float %mul.i.i.i, float 0xBFC5555560000000)
  %mul2.i.i.i = fmul float %5, %mul.i.i.i
  %9 = call float @llvm.fma.f32(float %8, float %mul2.i.i.i, float %5)
  %10 = call float @llvm.fma.f32(float %mul.i.i.i, float 0x3EF99E8160000000, float 0xBF56C0C280000000)
  %11 = call float @llvm.fma.f32(float %10, float %mul.i.i.i, float 0x3FA55554A0000000)
  %12 = call float @llvm.fma.f32(float %11, float %mul.i.i.i, float -5.000000e-01)
  %13 = call float @llvm.fma.f32(float %12, float %mul.i.i.i, float 1.000000e+00)
  %and.i.i.i = and i32 %2, 1
  %cmp.not.i.i.i = icmp eq i32 %and.i.i.i, 0
  %cond.i.i.i = select i1 %cmp.not.i.i.i, float %9, float %13
  %14 = bitcast float %cond.i.i.i to i32
  %and7.i.i.i = shl i32 %2, 30
  %shl.i.i.i = and i32 %and7.i.i.i, -2147483648
  %xor.i.i.i = xor i32 %shl.i.i.i, %14
  %15 = bitcast i32 %xor.i.i.i to float
  %cmp.i4.i = fcmp oeq float %x, 0.000000e+00
  %cond.i.i = select i1 %cmp.i4.i, float %x, float %15
  br label %_ZN4math6AnySinEf.exit
cond.false.i:
  %16 = call float @sinf(float %x) #1000
  br label %_ZN4math6AnySinEf.exit
_ZN4math6AnySinEf.exit:
  %cond.i = phi float [ %cond.i.i, %cond.true.i ], [ %16, %cond.false.i ]
  ret float %cond.i
}
define internal float @baton.cos.f32(float %x) alwaysinline #0 {
entry:
  %0 = call float @llvm.fabs.f32(float %x)
  %cmp.i.i = fcmp olt float %0, 9.830400e+04
  br i1 %cmp.i.i, label %cond.true.i, label %cond.false.i
cond.true.i:
  %1 = call float @llvm.fma.f32(float %x, float 0x3FE45F3060000000, float 0x4168000000000000)
  %sub.i.i.i.i = fadd float %1, 0xC168000000000000
  %2 = bitcast float %1 to i32
  %3 = call float @llvm.fma.f32(float %sub.i.i.i.i, float 0xBFF921FB00000000, float %x)
  %4 = call float @llvm.fma.f32(float %sub.i.i.i.i, float 0xBE95110B40000000, float %3)
  %5 = call float @llvm.fma.f32(float %sub.i.i.i.i, float 0xBCF84698A0000000, float %4)
  %add.i.i.i = add i32 %2, 1
  %mul.i.i.i = fmul float %5, %5
  %6 = call float @llvm.fma.f32(float %mul.i.i.i, float 0x3EC7C367A0000000, float 0xBF2A059680000000)
  %7 = call float @llvm.fma.f32(float %6, float %mul.i.i.i, float 0x3F81111740000000)
  %8 = call float @llvm.fma.f32(float %7, float %mul.i.i.i, float 0xBFC5555560000000)
  %mul2.i.i.i = fmul float %5, %mul.i.i.i
  %9 = call float @llvm.fma.f32(float %8, float %mul2.i.i.i, float %5)
  %10 = call float @llvm.fma.f32(float %mul.i.i.i, float 0x3EF99E8160000000, float 0xBF56C0C280000000)
  %11 = call float @llvm.fma.f32(float %10, float %mul.i.i.i, float 0x3FA55554A0000000)
  %12 = call float @llvm.fma.f32(float %11, float %mul.i.i.i, float -5.000000e-01)
  %13 = call float @llvm.fma.f32(float %12, float %mul.i.i.i, float 1.000000e+00)
  %and.i.i.i = and i32 %add.i.i.i, 1
  %cmp.not.i.i.i = icmp eq i32 %and.i.i.i, 0
  %cond.i.i.i = select i1 %cmp.not.i.i.i, float %9, float %13
  %14 = bitcast float %cond.i.i.i to i32
  %and7.i.i.i = shl i32 %add.i.i.i, 30
  %shl.i.i.i = and i32 %and7.i.i.i, -2147483648
  %xor.i.i.i = xor i32 %shl.i.i.i, %14
  %15 = bitcast i32 %xor.i.i.i to float
  br label %_ZN4math6AnyCosEf.exit
cond.false.i:
  %16 = call float @cosf(float %x) #1000
  br label %_ZN4math6AnyCosEf.exit
_ZN4math6AnyCosEf.exit:
  %cond.i = phi float [ %15, %cond.true.i ], [ %16, %cond.false.i ]
  ret float %cond.i
}
define internal float @baton.tan.f32(float %x) alwaysinline #0 {
entry:
  %0 = call float @llvm.fabs.f32(float %x)
  %cmp.i.i = fcmp olt float %0, 9.830400e+04
  br i1 %cmp.i.i, label %cond.true.i, label %cond.false.i
cond.true.i:
  %1 = call float @llvm.fma.f32(float %x, float 0x3FE45F3060000000, float 0x4168000000000000)
  %sub.i.i.i = fadd float %1, 0xC168000000000000
  %2 = bitcast float %1 to i32
  %3 = call float @llvm.fma.f32(float %sub.i.i.i, float 0xBFF921FB00000000, float %x)
  %4 = call float @llvm.fma.f32(float %sub.i.i.i, float 0xBE95110B40000000, float %3)
  %5 = call float @llvm.fma.f32(float %sub.i.i.i, float 0xBCF84698A0000000, float %4)
  %mul.i.i = fmul float %5, %5
  %6 = call float @llvm.fma.f32(float %mul.i.i, float 0x3F71F07CA0000000, float 0x3F1642A980000000)
  %7 = call float @llvm.fma.f32(float %6, float %mul.i.i, float 0x3F8631BE40000000)
  %8 = call float @llvm.fma.f32(float %7, float %mul.i.i, float 0x3F95CB3180000000)
  %9 = call float @llvm.fma.f32(float %8, float %mul.i.i, float 0x3FABADAD80000000)
  %10 = call float @llvm.fma.f32(float %9, float %mul.i.i, float 0x3FC110D9A0000000)
  %11 = call float @llvm.fma.f32(float %10, float %mul.i.i, float 0x3FD5555600000000)
  %mul.i.i.i = fmul float %5, %mul.i.i
  %12 = call float @llvm.fma.f32(float %11, float %mul.i.i.i, float %5)
  %div.i.i = fdiv float -1.000000e+00, %12
  %and.i.i = and i32 %2, 1
  %cmp.not.i.i = icmp eq i32 %and.i.i, 0
  %cond.i.i = select i1 %cmp.not.i.i, float %12, float %div.i.i
  %cmp2.i.i = fcmp oeq float %x, 0.000000e+00
  %cond6.i.i = select i1 %cmp2.i.i, float %x, float %cond.i.i
  br label %_ZN4math6AnyTanEf.exit
cond.false.i:
  %call2.i = call float @tanf(float %x) #1000
  br label %_ZN4math6AnyTanEf.exit
_ZN4math6AnyTanEf.exit:
  %cond.i = phi float [ %cond6.i.i, %cond.true.i ], [ %call2.i, %cond.false.i ]
  ret float %cond.i
}
define internal float @baton.sinh.f32(float %x) alwaysinline #0 {
entry:
  %0 = call float @llvm.fabs.f32(float %x)
  %mul.i = fmul float %x, %x
  %1 = call float @llvm.fma.f32(float %mul.i, float 0x3EC756C1E0000000, float 0x3F2A022BC0000000)
  %2 = call float @llvm.fma.f32(float %1, float %mul.i, float 0x3F81110E00000000)
  %3 = call float @llvm.fma.f32(float %2, float %mul.i, float 0x3FC5555560000000)
  %mul.i.i = fmul float %0, %mul.i
  %4 = call float @llvm.fma.f32(float %3, float %mul.i.i, float %0)
  %cmp.i.i = fcmp ogt float %0, 9.000000e+01
  %cond.i.i = select i1 %cmp.i.i, float 9.000000e+01, float %0
  %5 = call float @llvm.fma.f32(float %cond.i.i, float 0x3FF7154760000000, float 0x4168000000000000)
  %sub.i.i.i = fadd float %5, 0xC168000000000000
  %6 = bitcast float %5 to i32
  %7 = call float @llvm.fma.f32(float %sub.i.i.i, float 0xBFE62E4000000000, float %cond.i.i)
  %8 = call float @llvm.fma.f32(float %sub.i.i.i, float 0xBEB7F7D1C0000000, float %7)
  %9 = call float @llvm.fma.f32(float %8, float 0x3F56A4A9C0000000, float 0x3F81243340000000)
  %10 = call float @llvm.fma.f32(float %9, float %8, float 0x3FA5558C40000000)
  %11 = call float @llvm.fma.f32(float %10, float %8, float 0x3FC5554860000000)
  %12 = call float @llvm.fma.f32(float %11, float %8, float 0x3FDFFFFFC0000000)
  %mul.i.i.i = fmul float %8, %8
  %13 = call float @llvm.fma.f32(float %12, float %mul.i.i.i, float %8)
  %add.i.i.i = fadd float %13, 1.000000e+00
  %sub.i.i = shl i32 %6, 23
  %shl.i.i.i = add i32 %sub.i.i, 1040187392
  %14 = bitcast i32 %shl.i.i.i to float
  %mul.i10.i = fmul float %add.i.i.i, %14
  %mul2.i.i = fmul float %mul.i10.i, 4.000000e+00
  %div.i = fdiv float 2.500000e-01, %mul2.i.i
  %sub.i = fsub float %mul2.i.i, %div.i
  %cmp.i = fcmp olt float %0, 1.000000e+00
  %cond.i = select i1 %cmp.i, float %4, float %sub.i
  %15 = call float @llvm.copysign.f32(float %cond.i, float %x)
  ret float %15
}
define internal float @baton.cosh.f32(float %x) alwaysinline #0 {
entry:
  %0 = call float @llvm.fabs.f32(float %x)
  %cmp.i.i = fcmp ogt float %0, 9.000000e+01
  %cond.i.i = select i1 %cmp.i.i, float 9.000000e+01, float %0
  %1 = call float @llvm.fma.f32(float %cond.i.i, float 0x3FF7154760000000, float 0x4168000000000000)
  %sub.i.i.i = fadd float %1, 0xC168000000000000
  %2 = bitcast float %1 to i32
  %3 = call float @llvm.fma.f32(float %sub.i.i.i, float 0xBFE62E4000000000, float %cond.i.i)
  %4 = call float @llvm.fma.f32(float %sub.i.i.i, float 0xBEB7F7D1C0000000, float %3)
  %5 = call float @llvm.fma.f32(float %4, float 0x3F56A4A9C0000000, float 0x3F81243340000000)
  %6 = call float @llvm.fma.f32(float %5, float %4, float 0x3FA5558C40000000)
  %7 = call float @llvm.fma.f32(float %6, float %4, float 0x3FC5554860000000)
  %8 = call float @llvm.fma.f32(float %7, float %4, float 0x3FDFFFFFC0000000)
  %mul.i.i.i = fmul float %4, %4
  %9 = call float @llvm.fma.f32(float %8, float %mul.i.i.i, float %4)
  %add.i.i.i = fadd float %9, 1.000000e+00
  %sub.i.i = shl i32 %2, 23
  %shl.i.i.i = add i32 %sub.i.i, 1040187392
  %10 = bitcast i32 %shl.i.i.i to float
  %mul.i.i = fmul float %add.i.i.i, %10
  %mul2.i.i = fmul float %mul.i.i, 4.000000e+00
  %div.i = fdiv float 2.500000e-01, %mul2.i.i
  %add.i = fadd float %mul2.i.i, %div.i
  ret float %add.i
}
define internal float @baton.asin.f32(float %x) alwaysinline #0 {
entry:
  %0 = call float @llvm.fabs.f32(float %x)
  %cmp.i = fcmp ogt float %0, 5.000000e-01
  %sub.i = fsub float 1.000000e+00, %0
  %mul.i = fmul float %sub.i, 5.000000e-01
  %mul1.i = fmul float %x, %x
  %cond.i = select i1 %cmp.i, float %mul.i, float %mul1.i
  %1 = call float @llvm.sqrt.f32(float %cond.i)
  %cond7.i = select i1 %cmp.i, float %1, float %0
  %2 = call float @llvm.fma.f32(float %cond.i, float 0x3FA595C600000000, float 0x3F98C3E500000000)
  %3 = call float @llvm.fma.f32(float %2, float %cond.i, float 0x3FA747BB80000000)
  %4 = call float @llvm.fma.f32(float %3, float %cond.i, float 0x3FB3302040000000)
  %5 = call float @llvm.fma.f32(float %4, float %cond.i, float 0x3FC5555C80000000)
  %mul.i.i = fmul float %cond.i, %cond7.i
  %6 = call float @llvm.fma.f32(float %5, float %mul.i.i, float %cond7.i)
  %mul9.i = fmul float %6, -2.000000e+00
  %7 = call float @llvm.fma.f32(float 0x3FEDDCB020000000, float 0x3FFAEE9D60000000, float %mul9.i)
  %cond15.i = select i1 %cmp.i, float %7, float %6
  %8 = call float @llvm.copysign.f32(float %cond15.i, float %x)
  ret float %8
}
define internal float @baton.acos.f32(float %x) alwaysinline #0 {
entry:
  %0 = call float @llvm.fabs.f32(float %x)
  %cmp.i = fcmp ogt float %0, 5.000000e-01
  %sub.i = fsub float 1.000000e+00, %0
  %mul.i = fmul float %sub.i, 5.000000e-01
  %mul1.i = fmul float %x, %x
  %cond.i = select i1 %cmp.i, float %mul.i, float %mul1.i
  %1 = call float @llvm.sqrt.f32(float %cond.i)
  %cond7.i = select i1 %cmp.i, float %1, float %0
  %2 = call float @llvm.fma.f32(float %cond.i, float 0x3FA595C600000000, float 0x3F98C3E500000000)
  %3 = call float @llvm.fma.f32(float %2, float %cond.i, float 0x3FA747BB80000000)
  %4 = call float @llvm.fma.f32(float %3, float %cond.i, float 0x3FB3302040000000)
  %5 = call float @llvm.fma.f32(float %4, float %cond.i, float 0x3FC5555C80000000)
  %mul.i.i = fmul float %cond.i, %cond7.i
  %6 = call float @llvm.fma.f32(float %5, float %mul.i.i, float %cond7.i)
  %cmp9.i = fcmp olt float %x, 0.000000e+00
  %cond10.i = select i1 %cmp9.i, float 0x3FFDDCB020000000, float 0.000000e+00
  %cond15.i = select i1 %cmp.i, float %cond10.i, float 0x3FEDDCB020000000
  %mul18.i = fmul float %6, 2.000000e+00
  %fneg.i = fneg float %6
  %cond21.i = select i1 %cmp.i, float %mul18.i, float %fneg.i
  %7 = bitcast float %cond21.i to i32
  %8 = bitcast float %x to i32
  %and.i.i = and i32 %8, -2147483648
  %xor.i.i = xor i32 %and.i.i, %7
  %9 = bitcast i32 %xor.i.i to float
  %10 = call float @llvm.fma.f32(float %cond15.i, float 0x3FFAEE9D60000000, float %9)
  ret float %10
}
define internal float @baton.atan.f32(float %x) alwaysinline #0 {
entry:
  %0 = call float @llvm.fabs.f32(float %x)
  %div.i = fdiv float 1.000000e+00, %0
  %cmp.i = fcmp ogt float %0, 1.000000e+00
  %cond.i = select i1 %cmp.i, float %div.i, float %0
  %mul.i = fmul float %cond.i, %cond.i
  %1 = call float @llvm.fma.f32(float %mul.i, float 0xBF5D5581A0000000, float 0x3F86529480000000)
  %2 = call float @llvm.fma.f32(float %1, float %mul.i, float 0xBF9FE581C0000000)
  %3 = call float @llvm.fma.f32(float %2, float %mul.i, float 0x3FADA8A340000000)
  %4 = call float @llvm.fma.f32(float %3, float %mul.i, float 0xBFB5820F80000000)
  %5 = call float @llvm.fma.f32(float %4, float %mul.i, float 0x3FBC092DE0000000)
  %6 = call float @llvm.fma.f32(float %5, float %mul.i, float 0xBFC2420FA0000000)
  %7 = call float @llvm.fma.f32(float %6, float %mul.i, float 0x3FC9991EA0000000)
  %8 = call float @llvm.fma.f32(float %7, float %mul.i, float 0xBFD55553E0000000)
  %mul.i.i = fmul float %cond.i, %mul.i
  %9 = call float @llvm.fma.f32(float %8, float %mul.i.i, float %cond.i)
  %fneg.i = fneg float %9
  %10 = call float @llvm.fma.f32(float 0x3FEDDCB020000000, float 0x3FFAEE9D60000000, float %fneg.i)
  %cond7.i = select i1 %cmp.i, float %10, float %9
  %11 = call float @llvm.copysign.f32(float %cond7.i, float %x)
  ret float %11
}
define internal float @baton.asinh.f32(float %x) alwaysinline #0 {
entry:
  %0 = call float @llvm.fabs.f32(float %x)
  %cmp.i = fcmp ogt float %0, 8.192000e+03
  %cond.i = select i1 %cmp.i, float 1.000000e+00, float %0
  %mul.i = fmul float %cond.i, %cond.i
  %add.i = fadd float %mul.i, 1.000000e+00
  %1 = call float @llvm.sqrt.f32(float %add.i)
  %add2.i = fadd float %1, 1.000000e+00
  %div.i = fdiv float %mul.i, %add2.i
  %cond8.v.i = select i1 %cmp.i, float -1.000000e+00, float %div.i
  %cond8.i = fadd float %0, %cond8.v.i
  %add.i.i = fadd float %cond8.i, 1.000000e+00
  %2 = bitcast float %add.i.i to i32
  %sub.i.i = add i32 %2, -1061158912
  %and.i.i = and i32 %sub.i.i, -8388608
  %sub1.i.i = sub i32 1082130432, %and.i.i
  %3 = bitcast i32 %sub1.i.i to float
  %mul.i.i = fmul float %cond8.i, 2.500000e-01
  %4 = call float @llvm.fma.f32(float %3, float 2.500000e-01, float -1.000000e+00)
  %5 = call float @llvm.fma.f32(float %mul.i.i, float %3, float %4)
  %conv.i.i = sitofp i32 %and.i.i to float
  %mul5.i.i = fmul float %conv.i.i, 0x3E80000000000000
  %6 = call float @llvm.fma.f32(float %5, float 0x3FA33C9FC0000000, float 0xBFB750ADE0000000)
  %7 = call float @llvm.fma.f32(float %6, float %5, float 0x3FBDF48340000000)
  %8 = call float @llvm.fma.f32(float %7, float %5, float 0xBFC04B5340000000)
  %9 = call float @llvm.fma.f32(float %8, float %5, float 0x3FC24624A0000000)
  %10 = call float @llvm.fma.f32(float %9, float %5, float 0xBFC55191C0000000)
  %11 = call float @llvm.fma.f32(float %10, float %5, float 0x3FC9997660000000)
  %12 = call float @llvm.fma.f32(float %11, float %5, float 0xBFD0000700000000)
  %13 = call float @llvm.fma.f32(float %12, float %5, float 0x3FD55555A0000000)
  %14 = call float @llvm.fma.f32(float %13, float %5, float -5.000000e-01)
  %mul.i.i.i = fmul float %5, %5
  %15 = call float @llvm.fma.f32(float %14, float %mul.i.i.i, float %5)
  %16 = call float @llvm.fma.f32(float %mul5.i.i, float 0x3FE62E4300000000, float %15)
  %cmp.i.i = fcmp olt float %cond8.i, 0x7FF0000000000000
  %cond.i.i = select i1 %cmp.i.i, float %16, float %cond8.i
  %add12.i = fadd float %cond.i.i, 0x3FE62E4300000000
  %cond15.i = select i1 %cmp.i, float %add12.i, float %cond.i.i
  %17 = call float @llvm.copysign.f32(float %cond15.i, float %x)
  ret float %17
}
define internal float @baton.acosh.f32(float %x) alwaysinline #0 {
entry:
  %cmp.i = fcmp ogt float %x, 8.192000e+03
  %sub.i = fadd float %x, -1.000000e+00
  %cond.i = select i1 %cmp.i, float 1.000000e+00, float %sub.i
  %mul.i = fmul float %cond.i, 2.000000e+00
  %0 = call float @llvm.fma.f32(float %cond.i, float %cond.i, float %mul.i)
  %1 = call float @llvm.sqrt.f32(float %0)
  %add.i = select i1 %cmp.i, float -0.000000e+00, float %1
  %cond6.i = fadd float %sub.i, %add.i
  %add.i.i = fadd float %cond6.i, 1.000000e+00
  %2 = bitcast float %add.i.i to i32
  %sub.i.i = add i32 %2, -1061158912
  %and.i.i = and i32 %sub.i.i, -8388608
  %sub1.i.i = sub i32 1082130432, %and.i.i
  %3 = bitcast i32 %sub1.i.i to float
  %mul.i.i = fmul float %cond6.i, 2.500000e-01
  %4 = call float @llvm.fma.f32(float %3, float 2.500000e-01, float -1.000000e+00)
  %5 = call float @llvm.fma.f32(float %mul.i.i, float %3, float %4)
  %conv.i.i = sitofp i32 %and.i.i to float
  %mul5.i.i = fmul float %conv.i.i, 0x3E80000000000000
  %6 = call float @llvm.fma.f32(float %5, float 0x3FA33C9FC0000000, float 0xBFB750ADE0000000)
  %7 = call float @llvm.fma.f32(float %6, float %5, float 0x3FBDF48340000000)
  %8 = call float @llvm.fma.f32(float %7, float %5, float 0xBFC04B5340000000)
  %9 = call float @llvm.fma.f32(float %8, float %5, float 0x3FC24624A0000000)
  %10 = call float @llvm.fma.f32(float %9, float %5, float 0xBFC55191C0000000)
  %11 = call float @llvm.fma.f32(float %10, float %5, float 0x3FC9997660000000)
  %12 = call float @llvm.fma.f32(float %11, float %5, float 0xBFD0000700000000)
  %13 = call float @llvm.fma.f32(float %12, float %5, float 0x3FD55555A0000000)
  %14 = call float @llvm.fma.f32(float %13, float %5, float -5.000000e-01)
  %mul.i.i.i = fmul float %5, %5
  %15 = call float @llvm.fma.f32(float %14, float %mul.i.i.i, float %5)
  %16 = call float @llvm.fma.f32(float %mul5.i.i, float 0x3FE62E4300000000, float %15)
  %cmp.i.i = fcmp olt float %cond6.i, 0x7FF0000000000000
  %cond.i.i = select i1 %cmp.i.i, float %16, float %cond6.i
  %cmp14.i = fcmp olt float %x, 1.000000e+00
  %add10.i = fadd float %cond.i.i, 0x3FE62E4300000000
  %cond13.i = select i1 %cmp.i, float %add10.i, float %cond.i.i
  %cond19.i = select i1 %cmp14.i, float 0x7FF8000000000000, float %cond13.i
  ret float %cond19.i
}
define internal float @baton.atanh.f32(float %x) alwaysinline #0 {
entry:
  %0 = call float @llvm.fabs.f32(float %x)
  %mul.i = fmul float %0, 2.000000e+00
  %sub.i = fsub float 1.000000e+00, %0
  %div.i = fdiv float %mul.i, %sub.i
  %add.i.i = fadd float %div.i, 1.000000e+00
  %1 = bitcast float %add.i.i to i32
  %sub.i.i = add i32 %1, -1061158912
  %and.i.i = and i32 %sub.i.i, -8388608
  %sub1.i.i = sub i32 1082130432, %and.i.i
  %2 = bitcast i32 %sub1.i.i to float
  %mul.i.i = fmul float %div.i, 2.500000e-01
  %3 = call float @llvm.fma.f32(float %2, float 2.500000e-01, float -1.000000e+00)
  %4 = call float @llvm.fma.f32(float %mul.i.i, float %2, float %3)
  %conv.i.i = sitofp i32 %and.i.i to float
  %mul5.i.i = fmul float %conv.i.i, 0x3E80000000000000
  %5 = call float @llvm.fma.f32(float %4, float 0x3FA33C9FC0000000, float 0xBFB750ADE0000000)
  %6 = call float @llvm.fma.f32(float %5, float %4, float 0x3FBDF48340000000)
  %7 = call float @llvm.fma.f32(float %6, float %4, float 0xBFC04B5340000000)
  %8 = call float @llvm.fma.f32(float %7, float %4, float 0x3FC24624A0000000)
  %9 = call float @llvm.fma.f32(float %8, float %4, float 0xBFC55191C0000000)
  %10 = call float @llvm.fma.f32(float %9, float %4, float 0x3FC9997660000000)
  %11 = call float @llvm.fma.f32(float %10, float %4, float 0xBFD0000700000000)
  %12 = call float @llvm.fma.f32(float %11, float %4, float 0x3FD55555A0000000)
  %13 = call float @llvm.fma.f32(float %12, float %4, float -5.000000e-01)
  %mul.i.i.i = fmul float %4, %4
  %14 = call float @llvm.fma.f32(float %13, float %mul.i.i.i, float %4)
  %15 = call float @llvm.fma.f32(float %mul5.i.i, float 0x3FE62E4300000000, float %14)
  %cmp.i.i = fcmp olt float %div.i, 0x7FF0000000000000
  %cond.i.i = select i1 %cmp.i.i, float %15, float %div.i
  %cmp.i = fcmp ogt float %0, 1.000000e+00
  %mul3.i = fmul float %cond.i.i, 5.000000e-01
  %cond.i = select i1 %cmp.i, float 0x7FF8000000000000, float %mul3.i
  %16 = call float @llvm.copysign.f32(float %cond.i, float %x)
  ret float %16
}
define internal float @baton.pow.f32(float %x, float %y) alwaysinline #0 {
entry:
  %0 = call float @llvm.fabs.f32(float %x)
  %cmp.i.i = fcmp one float %x, 0.000000e+00
  %cmp1.i.i = fcmp olt float %0, 0x7FF0000000000000
  %and18.i.i = and i1 %cmp.i.i, %cmp1.i.i
  %1 = call float @llvm.fabs.f32(float %y)
  %cmp4.i.i = fcmp olt float %1, 0x7FF0000000000000
  %and619.i.i = and i1 %and18.i.i, %cmp4.i.i
  %cmp7.i.i = fcmp ogt float %x, 0.000000e+00
  %2 = call float @llvm.copysign.f32(float 0x4160000000000000, float %y)
  %add.i.i.i = fadd float %2, %y
  %sub.i.i.i = fsub float %add.i.i.i, %2
  %3 = call float @llvm.copysign.f32(float %sub.i.i.i, float %y)
  %cmp.i.i.i = fcmp olt float %1, 0x4160000000000000
  %cond.i.i.i = select i1 %cmp.i.i.i, float %3, float %y
  %cmp10.i.i = fcmp oeq float %cond.i.i.i, %y
  %or20.i.i = or i1 %cmp7.i.i, %cmp10.i.i
  %and1221.i.i = and i1 %and619.i.i, %or20.i.i
  br i1 %and1221.i.i, label %cond.true.i, label %cond.false.i
cond.true.i:
  %cmp.i.i6.i = fcmp olt float %0, 0x3810000000000000
  %mul.i.i.i = fmul float %0, 0x4170000000000000
  %cond.i.i7.i = select i1 %cmp.i.i6.i, float %mul.i.i.i, float %0
  %cond2.i.i.i = select i1 %cmp.i.i6.i, float 2.400000e+01, float 0.000000e+00
  %4 = bitcast float %cond.i.i7.i to i32
  %sub.i.i.i.i.i.i.i = add i32 %4, -1061997773
  %and.i.i.i.i.i.i.i = and i32 %sub.i.i.i.i.i.i.i, -8388608
  %sub1.i.i.i.i.i.i.i = sub i32 %4, %and.i.i.i.i.i.i.i
  %5 = bitcast i32 %sub1.i.i.i.i.i.i.i to float
  %conv.i.i.i.i.i.i.i = sitofp i32 %and.i.i.i.i.i.i.i to float
  %mul.i.i.i.i.i.i.i = fmul float %conv.i.i.i.i.i.i.i, 0x3E80000000000000
  %sub3.i.i.i.i.i.i.i = fsub float %mul.i.i.i.i.i.i.i, %cond2.i.i.i
  %cmp.i.i.i.i.i.i.i = fcmp olt float %5, 0x3FF24924A0000000
  %cond.i.i.i.i.i.i.i = select i1 %cmp.i.i.i.i.i.i.i, float 0.000000e+00, float 0x3FDA8F0000000000
  %add.i.i.i.i.i.i.i = fadd float %sub3.i.i.i.i.i.i.i, %cond.i.i.i.i.i.i.i
  %cond5.i.i.i.i.i.i.i = select i1 %cmp.i.i.i.i.i.i.i, float 0.000000e+00, float 0x3F0F2E3020000000
  %cond7.i.i.i.i.i.i.i = select i1 %cmp.i.i.i.i.i.i.i, float 1.000000e+00, float 7.500000e-01
  %6 = call float @llvm.fma.f32(float %5, float %cond7.i.i.i.i.i.i.i, float -1.000000e+00)
  %mul.i.i.i.i.i.i = fmul float %6, %6
  %7 = call float @llvm.fma.f32(float %mul.i.i.i.i.i.i, float 0x3FC64226A0000000, float 0x3FCA521E60000000)
  %8 = call float @llvm.fma.f32(float %7, float %mul.i.i.i.i.i.i, float 0x3FD27786C0000000)
  %9 = call float @llvm.fma.f32(float %8, float %mul.i.i.i.i.i.i, float 0x3FDEC709C0000000)
  %10 = call float @llvm.fma.f32(float %mul.i.i.i.i.i.i, float 0xBFC4228E40000000, float 0xBFC705A420000000)
  %11 = call float @llvm.fma.f32(float %10, float %mul.i.i.i.i.i.i, float 0xBFCEC74520000000)
  %12 = call float @llvm.fma.f32(float %11, float %mul.i.i.i.i.i.i, float 0xBFD7154740000000)
  %13 = call float @llvm.fma.f32(float %12, float %6, float %9)
  %14 = call float @llvm.fma.f32(float %6, float %13, float 0xBFE7154760000000)
  %sub.i.i.i.i.i.i = fsub float 0xBFE7154760000000, %14
  %15 = call float @llvm.fma.f32(float %6, float %13, float %sub.i.i.i.i.i.i)
  %sub6.i.i.i.i.i.i = fadd float %15, 0xBE44AE0C00000000
  %16 = call float @llvm.fma.f32(float %6, float %14, float 0x3FF7154760000000)
  %sub8.i.i.i.i.i.i = fsub float 0x3FF7154760000000, %16
  %17 = call float @llvm.fma.f32(float %6, float %14, float %sub8.i.i.i.i.i.i)
  %18 = call float @llvm.fma.f32(float %6, float %sub6.i.i.i.i.i.i, float 0x3E54AE0C00000000)
  %add.i.i.i.i.i.i = fadd float %17, %18
  %mul.i25.i.i.i.i.i.i = fmul float %6, %16
  %fneg.i.i.i.i.i.i.i = fneg float %mul.i25.i.i.i.i.i.i
  %19 = call float @llvm.fma.f32(float %6, float %16, float %fneg.i.i.i.i.i.i.i)
  %20 = call float @llvm.fma.f32(float %6, float %add.i.i.i.i.i.i, float %19)
  %add.i26.i.i.i.i.i.i = fadd float %add.i.i.i.i.i.i.i, %mul.i25.i.i.i.i.i.i
  %sub.i27.i.i.i.i.i.i = fsub float %add.i.i.i.i.i.i.i, %add.i26.i.i.i.i.i.i
  %add2.i.i.i.i.i.i.i = fadd float %mul.i25.i.i.i.i.i.i, %sub.i27.i.i.i.i.i.i
  %add3.i.i.i.i.i.i.i = fadd float %cond5.i.i.i.i.i.i.i, %20
  %add4.i.i.i.i.i.i.i = fadd float %add2.i.i.i.i.i.i.i, %add3.i.i.i.i.i.i.i
  %mul.i18.i.i.i.i.i = fmul float %add.i26.i.i.i.i.i.i, %y
  %fneg.i.i.i.i.i.i = fneg float %mul.i18.i.i.i.i.i
  %21 = call float @llvm.fma.f32(float %add.i26.i.i.i.i.i.i, float %y, float %fneg.i.i.i.i.i.i)
  %22 = call float @llvm.fma.f32(float %add4.i.i.i.i.i.i.i, float %y, float %21)
  %cmp.i.i.i.i.i = fcmp olt float %mul.i18.i.i.i.i.i, -2.000000e+02
  %cond.i.i.i.i.i = select i1 %cmp.i.i.i.i.i, float -2.000000e+02, float %mul.i18.i.i.i.i.i
  %cmp2.i.i.i.i.i = fcmp ogt float %cond.i.i.i.i.i, 2.000000e+02
  %cond6.i.i.i.i.i = select i1 %cmp2.i.i.i.i.i, float 2.000000e+02, float %cond.i.i.i.i.i
  %cmp7.i.i.i.i.i = fcmp oeq float %cond6.i.i.i.i.i, %mul.i18.i.i.i.i.i
  %cond11.i.i.i.i.i = select i1 %cmp7.i.i.i.i.i, float %22, float 0.000000e+00
  %add.i19.i.i.i.i.i = fadd float %cond6.i.i.i.i.i, 0x4168000000000000
  %23 = bitcast float %add.i19.i.i.i.i.i to i32
  %sub2.i.i.i.i.i.i = fadd float %add.i19.i.i.i.i.i, 0xC168000000000000
  %sub3.i.i.i.i.i.i = fsub float %cond6.i.i.i.i.i, %sub2.i.i.i.i.i.i
  %add4.i.i.i.i.i.i = fadd float %cond11.i.i.i.i.i, %sub3.i.i.i.i.i.i
  %mul.i21.i.i.i.i.i = fmul float %add4.i.i.i.i.i.i, %add4.i.i.i.i.i.i
  %24 = call float @llvm.fma.f32(float %mul.i21.i.i.i.i.i, float 0x3F55F09760000000, float 0x3FAC6AF7A0000000)
  %25 = call float @llvm.fma.f32(float %24, float %mul.i21.i.i.i.i.i, float 0x3FE62E4300000000)
  %26 = call float @llvm.fma.f32(float %mul.i21.i.i.i.i.i, float 0x3F24172A60000000, float 0x3F83B2DDA0000000)
  %27 = call float @llvm.fma.f32(float %26, float %mul.i21.i.i.i.i.i, float 0x3FCEBFBDC0000000)
  %28 = call float @llvm.fma.f32(float %27, float %add4.i.i.i.i.i.i, float %25)
  %29 = call float @llvm.fma.f32(float %28, float %add4.i.i.i.i.i.i, float 1.000000e+00)
  %add.i22.i.i.i.i.i = add i32 %23, -1262485248
  %shr.i.i.i.i.i.i = lshr i32 %add.i22.i.i.i.i.i, 1
  %sub.i23.i.i.i.i.i = add nsw i32 %shr.i.i.i.i.i.i, -128
  %add.i.i24.i.i.i.i.i = shl i32 %sub.i23.i.i.i.i.i, 23
  %shl.i.i.i.i.i.i.i = add i32 %add.i.i24.i.i.i.i.i, 1065353216
  %30 = bitcast i32 %shl.i.i.i.i.i.i.i to float
  %mul.i25.i.i.i.i.i = fmul float %29, %30
  %sub1.i.i.i.i.i.i = sub i32 %23, %sub.i23.i.i.i.i.i
  %add.i6.i.i.i.i.i.i = shl i32 %sub1.i.i.i.i.i.i, 23
  %shl.i7.i.i.i.i.i.i = add i32 %add.i6.i.i.i.i.i.i, 1065353216
  %31 = bitcast i32 %shl.i7.i.i.i.i.i.i to float
  %mul3.i.i.i.i.i.i = fmul float %mul.i25.i.i.i.i.i, %31
  %mul.i.i = fmul float %y, 5.000000e-01
  %32 = call float @llvm.copysign.f32(float 0x4160000000000000, float %mul.i.i)
  %add.i.i8.i = fadd float %mul.i.i, %32
  %sub.i.i9.i = fsub float %add.i.i8.i, %32
  %33 = call float @llvm.copysign.f32(float %sub.i.i9.i, float %mul.i.i)
  %34 = call float @llvm.fabs.f32(float %mul.i.i)
  %cmp.i22.i.i = fcmp olt float %34, 0x4160000000000000
  %cond.i23.i.i = select i1 %cmp.i22.i.i, float %33, float %mul.i.i
  %cmp.i10.i = fcmp une float %cond.i23.i.i, %mul.i.i
  %cmp3.i.i = fcmp olt float %x, 0.000000e+00
  %fneg.i.i = fneg float %mul3.i.i.i.i.i.i
  %35 = and i1 %cmp3.i.i, %cmp.i10.i
  %cond7.i.i = select i1 %35, float %fneg.i.i, float %mul3.i.i.i.i.i.i
  %cmp8.i.i = fcmp oeq float %y, 2.000000e+00
  %mul10.i.i = fmul float %x, %x
  %cond13.i.i = select i1 %cmp8.i.i, float %mul10.i.i, float %cond7.i.i
  br label %_ZN4math8AnyPowerEff.exit
cond.false.i:
  %36 = call float @powf(float %x, float %y) #1000
  br label %_ZN4math8AnyPowerEff.exit
_ZN4math8AnyPowerEff.exit:
  %cond.i = phi float [ %cond13.i.i, %cond.true.i ], [ %36, %cond.false.i ]
  ret float %cond.i
}
define internal double @baton.exp.f64(double %x) alwaysinline #0 {
entry:
  %cmp.i = fcmp olt double %x, -7.500000e+02
  %cond.i = select i1 %cmp.i, double -1.418200e+03, double %x
  %cmp1.i = fcmp ogt double %cond.i, 7.500000e+02
  %cond5.i = select i1 %cmp1.i, double 7.500000e+02, double %cond.i
  %0 = call double @llvm.fma.f64(double %cond5.i, double 0x3FF71547652B82FE, double 0x4338000000000000)
  %sub.i.i = fadd double %0, 0xC338000000000000
  %1 = bitcast double %0 to i64
  %2 = call double @llvm.fma.f64(double %sub.i.i, double 0xBFE62E42FEFA39EF, double %cond5.i)
  %3 = call double @llvm.fma.f64(double %sub.i.i, double 0xBC7ABC9E3B39803F, double %2)
  %4 = call double @llvm.fma.f64(double %3, double 0x3E21F7340DBC337E, double 0x3E5AF4E554377204)
  %5 = call double @llvm.fma.f64(double %4, double %3, double 0x3E927E4DB46CDDD1)
  %6 = call double @llvm.fma.f64(double %5, double %3, double 0x3EC71DE01FDBF9CA)
  %7 = call double @llvm.fma.f64(double %6, double %3, double 0x3EFA01A01A6E1E2A)
  %8 = call double @llvm.fma.f64(double %7, double %3, double 0x3F2A01A01ABF85AB)
  %9 = call double @llvm.fma.f64(double %8, double %3, double 0x3F56C16C16C162C3)
  %10 = call double @llvm.fma.f64(double %9, double %3, double 0x3F811111111100BE)
  %11 = call double @llvm.fma.f64(double %10, double %3, double 0x3FA5555555555556)
  %12 = call double @llvm.fma.f64(double %11, double %3, double 0x3FC5555555555557)
  %13 = call double @llvm.fma.f64(double %12, double %3, double 5.000000e-01)
  %mul.i.i = fmul double %3, %3
  %14 = call double @llvm.fma.f64(double %13, double %mul.i.i, double %3)
  %add.i.i = fadd double %14, 1.000000e+00
  %add.i9.i = add i64 %1, -4843621399236964352
  %shr.i.i = lshr i64 %add.i9.i, 1
  %sub.i10.i = add nsw i64 %shr.i.i, -2048
  %add.i.i.i = shl i64 %sub.i10.i, 52
  %shl.i.i.i = add i64 %add.i.i.i, 4607182418800017408
  %15 = bitcast i64 %shl.i.i.i to double
  %mul.i11.i = fmul double %add.i.i, %15
  %sub1.i.i = sub i64 %1, %sub.i10.i
  %add.i6.i.i = shl i64 %sub1.i.i, 52
  %shl.i7.i.i = add i64 %add.i6.i.i, 4607182418800017408
  %16 = bitcast i64 %shl.i7.i.i to double
  %mul3.i.i = fmul double %mul.i11.i, %16
  ret double %mul3.i.i
}
define internal double @baton.tanh.f64(double %x) alwaysinline #0 {
entry:
  %0 = call double @llvm.fabs.f64(double %x)
  %mul.i = fmul double %x, %x
  %1 = call double @llvm.fma.f64(double %mul.i, double 0x3EDD13BDFA704373, double 0xBF00D234B1490B87)
  %2 = call double @llvm.fma.f64(double %1, double %mul.i, double 0x3F1876BB46CD1CA2)
  %3 = call double @llvm.fma.f64(double %2, double %mul.i, double 0xBF2F304EF3209573)
  %4 = call double @llvm.fma.f64(double %3, double %mul.i, double 0x3F435354B03D7E73)
  %5 = call double @llvm.fma.f64(double %4, double %mul.i, double 0xBF57DA0CDE84C945)
  %6 = call double @llvm.fma.f64(double %5, double %mul.i, double 0x3F6D6D3B04C2AF56)
  %7 = call double @llvm.fma.f64(double %6, double %mul.i, double 0xBF8226E34DBD0684)
  %8 = call double @llvm.fma.f64(double %7, double %mul.i, double 0x3F9664F4880554FB)
  %9 = call double @llvm.fma.f64(double %8, double %mul.i, double 0xBFABA1BA1BA15AEB)
  %10 = call double @llvm.fma.f64(double %9, double %mul.i, double 0x3FC11111111110E3)
  %11 = call double @llvm.fma.f64(double %10, double %mul.i, double 0xBFD5555555555555)
  %mul2.i = fmul double %mul.i, %0
  %12 = call double @llvm.fma.f64(double %11, double %mul2.i, double %0)
  %cmp.i = fcmp ogt double %0, 2.000000e+01
  %cond.i = select i1 %cmp.i, double 2.000000e+01, double %0
  %mul4.i = fmul double %cond.i, 2.000000e+00
  %13 = call double @llvm.fma.f64(double %mul4.i, double 0x3FF71547652B82FE, double 0x4338000000000000)
  %sub.i.i = fadd double %13, 0xC338000000000000
  %14 = bitcast double %13 to i64
  %15 = call double @llvm.fma.f64(double %sub.i.i, double 0xBFE62E42FEFA39EF, double %mul4.i)
  %16 = call double @llvm.fma.f64(double %sub.i.i, double 0xBC7ABC9E3B39803F, double %15)
  %17 = call double @llvm.fma.f64(double %16, double 0x3E21F7340DBC337E, double 0x3E5AF4E554377204)
  %18 = call double @llvm.fma.f64(double %17, double %16, double 0x3E927E4DB46CDDD1)
  %19 = call double @llvm.fma.f64(double %18, double %16, double 0x3EC71DE01FDBF9CA)
  %20 = call double @llvm.fma.f64(double %19, double %16, double 0x3EFA01A01A6E1E2A)
  %21 = call double @llvm.fma.f64(double %20, double %16, double 0x3F2A01A01ABF85AB)
  %22 = call double @llvm.fma.f64(double %21, double %16, double 0x3F56C16C16C162C3)
  %23 = call double @llvm.fma.f64(double %22, double %16, double 0x3F811111111100BE)
  %24 = call double @llvm.fma.f64(double %23, double %16, double 0x3FA5555555555556)
  %25 = call double @llvm.fma.f64(double %24, double %16, double 0x3FC5555555555557)
  %26 = call double @llvm.fma.f64(double %25, double %16, double 5.000000e-01)
  %mul.i.i = fmul double %16, %16
  %27 = call double @llvm.fma.f64(double %26, double %mul.i.i, double %16)
  %add.i.i = fadd double %27, 1.000000e+00
  %add.i22.i = shl i64 %14, 52
  %shl.i.i = add i64 %add.i22.i, 4607182418800017408
  %28 = bitcast i64 %shl.i.i to double
  %mul7.i = fmul double %add.i.i, %28
  %add.i = fadd double %mul7.i, 1.000000e+00
  %div.i = fdiv double 2.000000e+00, %add.i
  %sub.i = fsub double 1.000000e+00, %div.i
  %cmp8.i = fcmp olt double %0, 6.000000e-01
  %cond12.i = select i1 %cmp8.i, double %12, double %sub.i
  %29 = call double @llvm.copysign.f64(double %cond12.i, double %x)
  ret double %29
}
define internal double @baton.sigmoid.f64(double %x) alwaysinline #0 {
entry:
  %0 = call double @llvm.fabs.f64(double %x)
  %fneg.i = fneg double %0
  %cmp.i.i = fcmp ogt double %0, 7.500000e+02
  %cond.i.i = select i1 %cmp.i.i, double -1.418200e+03, double %fneg.i
  %cmp1.i.i = fcmp ogt double %cond.i.i, 7.500000e+02
  %cond5.i.i = select i1 %cmp1.i.i, double 7.500000e+02, double %cond.i.i
  %1 = call double @llvm.fma.f64(double %cond5.i.i, double 0x3FF71547652B82FE, double 0x4338000000000000)
  %sub.i.i.i = fadd double %1, 0xC338000000000000
  %2 = bitcast double %1 to i64
  %3 = call double @llvm.fma.f64(double %sub.i.i.i, double 0xBFE62E42FEFA39EF, double %cond5.i.i)
  %4 = call double @llvm.fma.f64(double %sub.i.i.i, double 0xBC7ABC9E3B39803F, double %3)
  %5 = call double @llvm.fma.f64(double %4, double 0x3E21F7340DBC337E, double 0x3E5AF4E554377204)
  %6 = call double @llvm.fma.f64(double %5, double %4, double 0x3E927E4DB46CDDD1)
  %7 = call double @llvm.fma.f64(double %6, double %4, double 0x3EC71DE01FDBF9CA)
  %8 = call double @llvm.fma.f64(double %7, double %4, double 0x3EFA01A01A6E1E2A)
  %9 = call double @llvm.fma.f64(double %8, double %4, double 0x3F2A01A01ABF85AB)
  %10 = call double @llvm.fma.f64(double %9, double %4, double 0x3F56C16C16C162C3)
  %11 = call double @llvm.fma.f64(double %10, double %4, double 0x3F811111111100BE)
  %12 = call double @llvm.fma.f64(double %11, double %4, double 0x3FA5555555555556)
  %13 = call double @llvm.fma.f64(double %12, double %4, double 0x3FC5555555555557)
  %14 = call double @llvm.fma.f64(double %13, double %4, double 5.000000e-01)
  %mul.i.i.i = fmul double %4, %4
  %15 = call double @llvm.fma.f64(double %14, double %mul.i.i.i, double %4)
  %add.i.i.i = fadd double %15, 1.000000e+00
  %add.i9.i.i = add i64 %2, -4843621399236964352
  %shr.i.i.i = lshr i64 %add.i9.i.i, 1
  %sub.i10.i.i = add nsw i64 %shr.i.i.i, -2048
  %add.i.i.i.i = shl i64 %sub.i10.i.i, 52
  %shl.i.i.i.i = add i64 %add.i.i.i.i, 4607182418800017408
  %16 = bitcast i64 %shl.i.i.i.i to double
  %mul.i11.i.i = fmul double %add.i.i.i, %16
  %sub1.i.i.i = sub i64 %2, %sub.i10.i.i
  %add.i6.i.i.i = shl i64 %sub1.i.i.i, 52
  %shl.i7.i.i.i = add i64 %add.i6.i.i.i, 4607182418800017408
  %17 = bitcast i64 %shl.i7.i.i.i to double
  %mul3.i.i.i = fmul double %mul.i11.i.i, %17
  %cmp.i = fcmp oge double %x, 0.000000e+00
  %cond.i = select i1 %cmp.i, double 1.000000e+00, double %mul3.i.i.i
  %add.i = fadd double %mul3.i.i.i, 1.000000e+00
  %div.i = fdiv double %cond.i, %add.i
  ret double %div.i
}
define internal double @baton.erf.f64(double %x) alwaysinline #0 {
entry:
  %call.i.i = call double @erf(double %x) #1000
  ret double %call.i.i
}
define internal double @baton.log.f64(double %x) alwaysinline #0 {
entry:
  %cmp.i.i.i = fcmp olt double %x, 0x10000000000000
  %mul.i.i.i = fmul double %x, 0x4340000000000000
  %cond.i.i.i = select i1 %cmp.i.i.i, double %mul.i.i.i, double %x
  %cond2.i.i.i = select i1 %cmp.i.i.i, double 5.300000e+01, double 0.000000e+00
  %0 = bitcast double %cond.i.i.i to i64
  %add.i.i.i.i.i.i.i = add i64 %0, 4618827767356588032
  %shr.i.i.i.i.i.i.i = lshr i64 %add.i.i.i.i.i.i.i, 52
  %add1.i.i.i.i.i.i.i = xor i64 %0, -9223372036854775808
  %shl.i.i.i.i.i.i.i = and i64 %add.i.i.i.i.i.i.i, -4503599627370496
  %sub2.i.i.i.i.i.i.i = sub i64 %add1.i.i.i.i.i.i.i, %shl.i.i.i.i.i.i.i
  %1 = bitcast i64 %sub2.i.i.i.i.i.i.i to double
  %sub3.i.i.i.i.i.i.i = fadd double %1, -1.000000e+00
  %or.i.i.i.i.i.i = or i64 %shr.i.i.i.i.i.i.i, 4841369599423283200
  %2 = bitcast i64 %or.i.i.i.i.i.i to double
  %sub.i.i.i.i.i.i = fadd double %2, 0xC330000000000800
  %sub.i.i.i.i.i = fsub double %sub.i.i.i.i.i.i, %cond2.i.i.i
  %add.i.i2.i.i.i.i.i = fadd double %sub3.i.i.i.i.i.i.i, 2.000000e+00
  %div.i.i.i.i.i.i.i = fdiv double %sub3.i.i.i.i.i.i.i, %add.i.i2.i.i.i.i.i
  %mul.i.i.i.i.i.i.i = fmul double %div.i.i.i.i.i.i.i, %div.i.i.i.i.i.i.i
  %3 = call double @llvm.fma.f64(double %mul.i.i.i.i.i.i.i, double 0x3FC2B5F68A50D903, double 0x3FC39FDCCEB4BB45)
  %4 = call double @llvm.fma.f64(double %3, double %mul.i.i.i.i.i.i.i, double 0x3FC7462B91B8DF65)
  %5 = call double @llvm.fma.f64(double %4, double %mul.i.i.i.i.i.i.i, double 0x3FCC71C62D5E53E0)
  %6 = call double @llvm.fma.f64(double %5, double %mul.i.i.i.i.i.i.i, double 0x3FD2492492DFD86C)
  %7 = call double @llvm.fma.f64(double %6, double %mul.i.i.i.i.i.i.i, double 0x3FD9999999995273)
  %8 = call double @llvm.fma.f64(double %7, double %mul.i.i.i.i.i.i.i, double 0x3FE5555555555558)
  %mul1.i.i.i.i.i.i.i = fmul double %sub3.i.i.i.i.i.i.i, 5.000000e-01
  %mul2.i.i.i.i.i.i.i = fmul double %sub3.i.i.i.i.i.i.i, %mul1.i.i.i.i.i.i.i
  %9 = call double @llvm.fma.f64(double %8, double %mul.i.i.i.i.i.i.i, double %mul2.i.i.i.i.i.i.i)
  %mul4.i.i.i.i.i.i.i = fmul double %div.i.i.i.i.i.i.i, %9
  %sub.i.i.i.i.i.i.i = fsub double %mul2.i.i.i.i.i.i.i, %mul4.i.i.i.i.i.i.i
  %fneg.i.i.i.i.i.i = fneg double %sub.i.i.i.i.i.i.i
  %10 = call double @llvm.fma.f64(double %sub.i.i.i.i.i, double 0x3DEA39EF35793C76, double %fneg.i.i.i.i.i.i)
  %add.i.i.i.i.i.i = fadd double %sub3.i.i.i.i.i.i.i, %10
  %11 = call double @llvm.fma.f64(double %sub.i.i.i.i.i, double 0x3FE62E42FEE00000, double %add.i.i.i.i.i.i)
  %cmp1.i.i = fcmp olt double %x, 0.000000e+00
  %cmp.i.i = fcmp olt double %x, 0x7FF0000000000000
  %cond.i.i = select i1 %cmp.i.i, double %11, double %x
  %cond6.i.i = select i1 %cmp1.i.i, double 0x7FF8000000000000, double %cond.i.i
  %cmp7.i.i = fcmp oeq double %x, 0.000000e+00
  %cond11.i.i = select i1 %cmp7.i.i, double 0xFFF0000000000000, double %cond6.i.i
  ret double %cond11.i.i
}
define internal double @baton.log2.f64(double %x) alwaysinline #0 {
entry:
  %cmp.i.i.i = fcmp olt double %x, 0x10000000000000
  %mul.i.i.i = fmul double %x, 0x4340000000000000
  %cond.i.i.i = select i1 %cmp.i.i.i, double %mul.i.i.i, double %x
  %cond2.i.i.i = select i1 %cmp.i.i.i, double 5.300000e+01, double 0.000000e+00
  %0 = bitcast double %cond.i.i.i to i64
  %add.i.i.i.i.i.i.i = add i64 %0, 4618827767356588032
  %shr.i.i.i.i.i.i.i = lshr i64 %add.i.i.i.i.i.i.i, 52
  %add1.i.i.i.i.i.i.i = xor i64 %0, -9223372036854775808
  %shl.i.i.i.i.i.i.i = and i64 %add.i.i.i.i.i.i.i, -4503599627370496
  %sub2.i.i.i.i.i.i.i = sub i64 %add1.i.i.i.i.i.i.i, %shl.i.i.i.i.i.i.i
  %1 = bitcast i64 %sub2.i.i.i.i.i.i.i to double
  %sub3.i.i.i.i.i.i.i = fadd double %1, -1.000000e+00
  %or.i.i.i.i.i.i = or i64 %shr.i.i.i.i.i.i.i, 4841369599423283200
  %2 = bitcast i64 %or.i.i.i.i.i.i to double
  %sub.i.i.i.i.i.i = fadd double %2, 0xC330000000000800
  %add.i.i.i.i.i.i = fadd double %sub3.i.i.i.i.i.i.i, 2.000000e+00
  %div.i.i.i.i.i.i = fdiv double %sub3.i.i.i.i.i.i.i, %add.i.i.i.i.i.i
  %mul.i.i.i.i.i.i = fmul double %div.i.i.i.i.i.i, %div.i.i.i.i.i.i
  %3 = call double @llvm.fma.f64(double %mul.i.i.i.i.i.i, double 0x3FC2B5F68A50D903, double 0x3FC39FDCCEB4BB45)
  %4 = call double @llvm.fma.f64(double %3, double %mul.i.i.i.i.i.i, double 0x3FC7462B91B8DF65)
  %5 = call double @llvm.fma.f64(double %4, double %mul.i.i.i.i.i.i, double 0x3FCC71C62D5E53E0)
  %6 = call double @llvm.fma.f64(double %5, double %mul.i.i.i.i.i.i, double 0x3FD2492492DFD86C)
  %7 = call double @llvm.fma.f64(double %6, double %mul.i.i.i.i.i.i, double 0x3FD9999999995273)
  %8 = call double @llvm.fma.f64(double %7, double %mul.i.i.i.i.i.i, double 0x3FE5555555555558)
  %mul1.i.i.i.i.i.i = fmul double %sub3.i.i.i.i.i.i.i, 5.000000e-01
  %mul2.i.i.i.i.i.i = fmul double %sub3.i.i.i.i.i.i.i, %mul1.i.i.i.i.i.i
  %9 = call double @llvm.fma.f64(double %8, double %mul.i.i.i.i.i.i, double %mul2.i.i.i.i.i.i)
  %mul4.i.i.i.i.i.i = fmul double %div.i.i.i.i.i.i, %9
  %sub.i6.i.i.i.i.i = fsub double %mul2.i.i.i.i.i.i, %mul4.i.i.i.i.i.i
  %mul.i.i.i.i.i = fmul double %sub.i6.i.i.i.i.i, 0xBFF71547652B82FE
  %10 = call double @llvm.fma.f64(double %sub3.i.i.i.i.i.i.i, double 0x3C7777D0FFDA0D24, double %mul.i.i.i.i.i)
  %sub.i.i.i.i.i = fsub double %sub.i.i.i.i.i.i, %cond2.i.i.i
  %11 = call double @llvm.fma.f64(double %sub3.i.i.i.i.i.i.i, double 0x3FF71547652B82FE, double %10)
  %add.i.i.i.i.i = fadd double %sub.i.i.i.i.i, %11
  %cmp1.i.i = fcmp olt double %x, 0.000000e+00
  %cmp.i.i = fcmp olt double %x, 0x7FF0000000000000
  %cond.i.i = select i1 %cmp.i.i, double %add.i.i.i.i.i, double %x
  %cond6.i.i = select i1 %cmp1.i.i, double 0x7FF8000000000000, double %cond.i.i
  %cmp7.i.i = fcmp oeq double %x, 0.000000e+00
  %cond11.i.i = select i1 %cmp7.i.i, double 0xFFF0000000000000, double %cond6.i.i
  ret double %cond11.i.i
}
define internal double @baton.log10.f64(double %x) alwaysinline #0 {
entry:
  %cmp.i.i.i = fcmp olt double %x, 0x10000000000000
  %mul.i.i.i = fmul double %x, 0x4340000000000000
  %cond.i.i.i = select i1 %cmp.i.i.i, double %mul.i.i.i, double %x
  %cond2.i.i.i = select i1 %cmp.i.i.i, double 5.300000e+01, double 0.000000e+00
  %0 = bitcast double %cond.i.i.i to i64
  %add.i.i.i.i.i.i.i = add i64 %0, 4618827767356588032
  %shr.i.i.i.i.i.i.i = lshr i64 %add.i.i.i.i.i.i.i, 52
  %add1.i.i.i.i.i.i.i = xor i64 %0, -9223372036854775808
  %shl.i.i.i.i.i.i.i = and i64 %add.i.i.i.i.i.i.i, -4503599627370496
  %sub2.i.i.i.i.i.i.i = sub i64 %add1.i.i.i.i.i.i.i, %shl.i.i.i.i.i.i.i
  %1 = bitcast i64 %sub2.i.i.i.i.i.i.i to double
  %sub3.i.i.i.i.i.i.i = fadd double %1, -1.000000e+00
  %or.i.i.i.i.i.i = or i64 %shr.i.i.i.i.i.i.i, 4841369599423283200
  %2 = bitcast i64 %or.i.i.i.i.i.i to double
  %sub.i.i.i.i.i.i = fadd double %2, 0xC330000000000800
  %sub.i.i.i.i.i = fsub double %sub.i.i.i.i.i.i, %cond2.i.i.i
  %add.i.i.i.i.i.i = fadd double %sub3.i.i.i.i.i.i.i, 2.000000e+00
  %div.i.i.i.i.i.i = fdiv double %sub3.i.i.i.i.i.i.i, %add.i.i.i.i.i.i
  %mul.i.i.i.i.i.i = fmul double %div.i.i.i.i.i.i, %div.i.i.i.i.i.i
  %3 = call double @llvm.fma.f64(double %mul.i.i.i.i.i.i, double 0x3FC2B5F68A50D903, double 0x3FC39FDCCEB4BB45)
  %4 = call double @llvm.fma.f64(double %3, double %mul.i.i.i.i.i.i, double 0x3FC7462B91B8DF65)
  %5 = call double @llvm.fma.f64(double %4, double %mul.i.i.i.i.i.i, double 0x3FCC71C62D5E53E0)
  %6 = call double @llvm.fma.f64(double %5, double %mul.i.i.i.i.i.i, double 0x3FD2492492DFD86C)
  %7 = call double @llvm.fma.f64(double %6, double %mul.i.i.i.i.i.i, double 0x3FD9999999995273)
  %8 = call double @llvm.fma.f64(double %7, double %mul.i.i.i.i.i.i, double 0x3FE5555555555558)
  %mul1.i.i.i.i.i.i = fmul double %sub3.i.i.i.i.i.i.i, 5.000000e-01
  %mul2.i.i.i.i.i.i = fmul double %sub3.i.i.i.i.i.i.i, %mul1.i.i.i.i.i.i
  %9 = call double @llvm.fma.f64(double %8, double %mul.i.i.i.i.i.i, double %mul2.i.i.i.i.i.i)
  %mul4.i.i.i.i.i.i = fmul double %div.i.i.i.i.i.i, %9
  %sub.i8.i.i.i.i.i = fsub double %mul2.i.i.i.i.i.i, %mul4.i.i.i.i.i.i
  %mul.i.i.i.i.i = fmul double %sub.i8.i.i.i.i.i, 0xBFDBCB7B1526E50E
  %10 = call double @llvm.fma.f64(double %sub3.i.i.i.i.i.i.i, double 0x3C695355BAAAFAD3, double %mul.i.i.i.i.i)
  %11 = call double @llvm.fma.f64(double %sub.i.i.i.i.i, double 0x3D43FDE623E2566B, double %10)
  %12 = call double @llvm.fma.f64(double %sub3.i.i.i.i.i.i.i, double 0x3FDBCB7B1526E50E, double %11)
  %13 = call double @llvm.fma.f64(double %sub.i.i.i.i.i, double 0x3FD34413509F7000, double %12)
  %cmp1.i.i = fcmp olt double %x, 0.000000e+00
  %cmp.i.i = fcmp olt double %x, 0x7FF0000000000000
  %cond.i.i = select i1 %cmp.i.i, double %13, double %x
  %cond6.i.i = select i1 %cmp1.i.i, double 0x7FF8000000000000, double %cond.i.i
  %cmp7.i.i = fcmp oeq double %x, 0.000000e+00
  %cond11.i.i = select i1 %cmp7.i.i, double 0xFFF0000000000000, double %cond6.i.i
  ret double %cond11.i.i
}
define internal double @baton.sin.f64(double %x) alwaysinline #0 {
entry:
  %0 = call double @llvm.fabs.f64(double %x)
  %cmp.i.i = fcmp olt double %0, 0x41D0000000000000
  br i1 %cmp.i.i, label %cond.true.i, label %cond.false.i
cond.true.i:
  %1 = call double @llvm.fma.f64(double %x, double 0x3FD45F306DC9C883, double 0x4338000000000000)
  %sub.i.i = fadd double %1, 0xC338000000000000
  %2 = call double @llvm.fma.f64(double %sub.i.i, double 0xC00921FB54442D18, double %x)
  %3 = call double @llvm.fma.f64(double %sub.i.i, double 0xBCA1A62633145C07, double %2)
  %4 = call double @llvm.fma.f64(double %sub.i.i, double 0x392F1976B7ED8FBC, double %3)
  %5 = bitcast double %1 to i64
  %mul.i.i.i = fmul double %4, %4
  %6 = call double @llvm.fma.f64(double %mul.i.i.i, double 0x3CE882991F7F8BCF, double 0xBD6AE431CFA763AA)
  %7 = call double @llvm.fma.f64(double %6, double %mul.i.i.i, double 0x3DE6123CB26B1031)
  %8 = call double @llvm.fma.f64(double %7, double %mul.i.i.i, double 0xBE5AE6454CB4E44B)
  %9 = call double @llvm.fma.f64(double %8, double %mul.i.i.i, double 0x3EC71DE3A5287B42)
  %10 = call double @llvm.fma.f64(double %9, double %mul.i.i.i, double 0xBF2A01A01A0148BA)
  %11 = call double @llvm.fma.f64(double %10, double %mul.i.i.i, double 0x3F811111111110C1)
  %12 = call double @llvm.fma.f64(double %11, double %mul.i.i.i, double 0xBFC5555555555555)
  %mul1.i.i.i = fmul double %4, %mul.i.i.i
  %13 = call double @llvm.fma.f64(double %12, double %mul1.i.i.i, double %4)
  %14 = bitcast double %13 to i64
  %shl.i.i.i = shl i64 %5, 63
  %xor.i.i.i = xor i64 %shl.i.i.i, %14
  %15 = bitcast i64 %xor.i.i.i to double
  %cmp.i4.i = fcmp oeq double %x, 0.000000e+00
  %cond.i.i = select i1 %cmp.i4.i, double %x, double %15
  br label %_ZN4math6AnySinEd.exit
cond.false.i:
  %16 = call double @sin(double %x) #1000
  br label %_ZN4math6AnySinEd.exit
_ZN4math6AnySinEd.exit:
  %cond.i = phi double [ %cond.i.i, %cond.true.i ], [ %16, %cond.false.i ]
  ret double %cond.i
}
define internal double @baton.cos.f64(double %x) alwaysinline #0 {
entry:
  %0 = call double @llvm.fabs.f64(double %x)
  %cmp.i.i = fcmp olt double %0, 0x41D0000000000000
  br i1 %cmp.i.i, label %cond.true.i, label %cond.false.i
cond.true.i:
  %1 = call double @llvm.fma.f64(double %x, double 0x3FD45F306DC9C883, double -5.000000e-01)
  %add.i.i = fadd double %1, 0x4338000000000001
  %sub.i.i = fadd double %add.i.i, 0xC338000000000001
  %add1.i.i = fadd double %sub.i.i, 5.000000e-01
  %2 = call double @llvm.fma.f64(double %add1.i.i, double 0xC00921FB54442D18, double %x)
  %3 = call double @llvm.fma.f64(double %add1.i.i, double 0xBCA1A62633145C07, double %2)
  %4 = call double @llvm.fma.f64(double %add1.i.i, double 0x392F1976B7ED8FBC, double %3)
  %5 = bitcast double %add.i.i to i64
  %mul.i.i.i = fmul double %4, %4
  %6 = call double @llvm.fma.f64(double %mul.i.i.i, double 0x3CE882991F7F8BCF, double 0xBD6AE431CFA763AA)
  %7 = call double @llvm.fma.f64(double %6, double %mul.i.i.i, double 0x3DE6123CB26B1031)
  %8 = call double @llvm.fma.f64(double %7, double %mul.i.i.i, double 0xBE5AE6454CB4E44B)
  %9 = call double @llvm.fma.f64(double %8, double %mul.i.i.i, double 0x3EC71DE3A5287B42)
  %10 = call double @llvm.fma.f64(double %9, double %mul.i.i.i, double 0xBF2A01A01A0148BA)
  %11 = call double @llvm.fma.f64(double %10, double %mul.i.i.i, double 0x3F811111111110C1)
  %12 = call double @llvm.fma.f64(double %11, double %mul.i.i.i, double 0xBFC5555555555555)
  %mul1.i.i.i = fmul double %4, %mul.i.i.i
  %13 = call double @llvm.fma.f64(double %12, double %mul1.i.i.i, double %4)
  %14 = bitcast double %13 to i64
  %shl.i.i.i = shl i64 %5, 63
  %xor.i.i.i = xor i64 %shl.i.i.i, %14
  %15 = bitcast i64 %xor.i.i.i to double
  br label %_ZN4math6AnyCosEd.exit
cond.false.i:
  %16 = call double @cos(double %x) #1000
  br label %_ZN4math6AnyCosEd.exit
_ZN4math6AnyCosEd.exit:
  %cond.i = phi double [ %15, %cond.true.i ], [ %16, %cond.false.i ]
  ret double %cond.i
}
define internal double @baton.tan.f64(double %x) alwaysinline #0 {
entry:
  %0 = call double @llvm.fabs.f64(double %x)
  %cmp.i.i = fcmp olt double %0, 0x41D0000000000000
  br i1 %cmp.i.i, label %cond.true.i, label %cond.false.i
cond.true.i:
  %1 = call double @llvm.fma.f64(double %x, double 0x3FE45F306DC9C883, double 0x4338000000000000)
  %2 = bitcast double %1 to i64
  %sub.i.i.i = fadd double %1, 0xC338000000000000
  %mul.i.i.i = fmul double %sub.i.i.i, 5.000000e-01
  %3 = call double @llvm.fma.f64(double %mul.i.i.i, double 0xC00921FB54442D18, double %x)
  %4 = call double @llvm.fma.f64(double %mul.i.i.i, double 0xBCA1A62633145C07, double %3)
  %5 = call double @llvm.fma.f64(double %mul.i.i.i, double 0x392F1976B7ED8FBC, double %4)
  %mul.i.i = fmul double %5, %5
  %6 = call double @llvm.fma.f64(double %mul.i.i, double 0x3EE4601BD0F389D5, double 0xBEF90FDA5AC72557)
  %7 = call double @llvm.fma.f64(double %6, double %mul.i.i, double 0x3F091B121C324AB9)
  %8 = call double @llvm.fma.f64(double %7, double %mul.i.i, double 0xBEF9F08404F79F93)
  %9 = call double @llvm.fma.f64(double %8, double %mul.i.i, double 0x3F116FD0A8ABC948)
  %10 = call double @llvm.fma.f64(double %9, double %mul.i.i, double 0x3F1601777E49A768)
  %11 = call double @llvm.fma.f64(double %10, double %mul.i.i, double 0x3F2FEDE1830F646E)
  %12 = call double @llvm.fma.f64(double %11, double %mul.i.i, double 0x3F434C1B48E7B858)
  %13 = call double @llvm.fma.f64(double %12, double %mul.i.i, double 0x3F57DB1004EA29FE)
  %14 = call double @llvm.fma.f64(double %13, double %mul.i.i, double 0x3F6D6D2F1A69C190)
  %15 = call double @llvm.fma.f64(double %14, double %mul.i.i, double 0x3F8226E3A44BA1EF)
  %16 = call double @llvm.fma.f64(double %15, double %mul.i.i, double 0x3F9664F485F023EF)
  %17 = call double @llvm.fma.f64(double %16, double %mul.i.i, double 0x3FABA1BA1BAB68B5)
  %18 = call double @llvm.fma.f64(double %17, double %mul.i.i, double 0x3FC1111111110674)
  %19 = call double @llvm.fma.f64(double %18, double %mul.i.i, double 0x3FD555555555555D)
  %mul.i12.i.i = fmul double %5, %mul.i.i
  %20 = call double @llvm.fma.f64(double %19, double %mul.i12.i.i, double %5)
  %div.i.i = fdiv double -1.000000e+00, %20
  %and.i.i = and i64 %2, 1
  %cmp.not.i.i = icmp eq i64 %and.i.i, 0
  %cond.i.i = select i1 %cmp.not.i.i, double %20, double %div.i.i
  %cmp2.i.i = fcmp oeq double %x, 0.000000e+00
  %cond6.i.i = select i1 %cmp2.i.i, double %x, double %cond.i.i
  br label %_ZN4math6AnyTanEd.exit
cond.false.i:
  %call2.i = call double @tan(double %x) #1000
  br label %_ZN4math6AnyTanEd.exit
_ZN4math6AnyTanEd.exit:
  %cond.i = phi double [ %cond6.i.i, %cond.true.i ], [ %call2.i, %cond.false.i ]
  ret double %cond.i
}
define internal double @baton.sinh.f64(double %x) alwaysinline #0 {
entry:
  %0 = call double @llvm.fabs.f64(double %x)
  %mul.i = fmul double %x, %x
  %1 = call double @llvm.fma.f64(double %mul.i, double 0x3D6B4C75AB4BF852, double 0x3DE611A561D7ED35)
  %2 = call double @llvm.fma.f64(double %1, double %mul.i, double 0x3E5AE64671B19125)
  %3 = call double @llvm.fma.f64(double %2, double %mul.i, double 0x3EC71DE3A465B1E1)
  %4 = call double @llvm.fma.f64(double %3, double %mul.i, double 0x3F2A01A01A02899D)
  %5 = call double @llvm.fma.f64(double %4, double %mul.i, double 0x3F811111111110A6)
  %6 = call double @llvm.fma.f64(double %5, double %mul.i, double 0x3FC5555555555556)
  %mul.i.i = fmul double %0, %mul.i
  %7 = call double @llvm.fma.f64(double %6, double %mul.i.i, double %0)
  %cmp.i.i = fcmp ogt double %0, 7.200000e+02
  %cond.i.i = select i1 %cmp.i.i, double 7.200000e+02, double %0
  %8 = call double @llvm.fma.f64(double %cond.i.i, double 0x3FF71547652B82FE, double 0x4338000000000000)
  %sub.i.i.i = fadd double %8, 0xC338000000000000
  %9 = bitcast double %8 to i64
  %10 = call double @llvm.fma.f64(double %sub.i.i.i, double 0xBFE62E42FEFA39EF, double %cond.i.i)
  %11 = call double @llvm.fma.f64(double %sub.i.i.i, double 0xBC7ABC9E3B39803F, double %10)
  %12 = call double @llvm.fma.f64(double %11, double 0x3E21F7340DBC337E, double 0x3E5AF4E554377204)
  %13 = call double @llvm.fma.f64(double %12, double %11, double 0x3E927E4DB46CDDD1)
  %14 = call double @llvm.fma.f64(double %13, double %11, double 0x3EC71DE01FDBF9CA)
  %15 = call double @llvm.fma.f64(double %14, double %11, double 0x3EFA01A01A6E1E2A)
  %16 = call double @llvm.fma.f64(double %15, double %11, double 0x3F2A01A01ABF85AB)
  %17 = call double @llvm.fma.f64(double %16, double %11, double 0x3F56C16C16C162C3)
  %18 = call double @llvm.fma.f64(double %17, double %11, double 0x3F811111111100BE)
  %19 = call double @llvm.fma.f64(double %18, double %11, double 0x3FA5555555555556)
  %20 = call double @llvm.fma.f64(double %19, double %11, double 0x3FC5555555555557)
  %21 = call double @llvm.fma.f64(double %20, double %11, double 5.000000e-01)
  %mul.i.i.i = fmul double %11, %11
  %22 = call double @llvm.fma.f64(double %21, double %mul.i.i.i, double %11)
  %add.i.i.i = fadd double %22, 1.000000e+00
  %add.i3.i.i = add i64 %9, -4843621399236964353
  %shr.i.i.i = lshr i64 %add.i3.i.i, 1
  %sub.i4.i.i = shl i64 %shr.i.i.i, 52
  %shl.i.i.i.i = add i64 %sub.i4.i.i, -4616189618054758400
  %23 = bitcast i64 %shl.i.i.i.i to double
  %mul.i5.i.i = fmul double %add.i.i.i, %23
  %24 = sub i64 %9, %shr.i.i.i
  %sub1.i.i.i = shl i64 %24, 52
  %shl.i7.i.i.i = add i64 %sub1.i.i.i, -4620693217682128896
  %25 = bitcast i64 %shl.i7.i.i.i to double
  %mul3.i.i.i = fmul double %mul.i5.i.i, %25
  %div.i = fdiv double 2.500000e-01, %mul3.i.i.i
  %sub.i = fsub double %mul3.i.i.i, %div.i
  %cmp.i = fcmp olt double %0, 1.000000e+00
  %cond.i = select i1 %cmp.i, double %7, double %sub.i
  %26 = call double @llvm.copysign.f64(double %cond.i, double %x)
  ret double %26
}
define internal double @baton.cosh.f64(double %x) alwaysinline #0 {
entry:
  %0 = call double @llvm.fabs.f64(double %x)
  %cmp.i.i = fcmp ogt double %0, 7.200000e+02
  %cond.i.i = select i1 %cmp.i.i, double 7.200000e+02, double %0
  %1 = call double @llvm.fma.f64(double %cond.i.i, double 0x3FF71547652B82FE, double 0x4338000000000000)
  %sub.i.i.i = fadd double %1, 0xC338000000000000
  %2 = bitcast double %1 to i64
  %3 = call double @llvm.fma.f64(double %sub.i.i.i, double 0xBFE62E42FEFA39EF, double %cond.i.i)
  %4 = call double @llvm.fma.f64(double %sub.i.i.i, double 0xBC7ABC9E3B39803F, double %3)
  %5 = call double @llvm.fma.f64(double %4, double 0x3E21F7340DBC337E, double 0x3E5AF4E554377204)
  %6 = call double @llvm.fma.f64(double %5, double %4, double 0x3E927E4DB46CDDD1)
  %7 = call double @llvm.fma.f64(double %6, double %4, double 0x3EC71DE01FDBF9CA)
  %8 = call double @llvm.fma.f64(double %7, double %4, double 0x3EFA01A01A6E1E2A)
  %9 = call double @llvm.fma.f64(double %8, double %4, double 0x3F2A01A01ABF85AB)
  %10 = call double @llvm.fma.f64(double %9, double %4, double 0x3F56C16C16C162C3)
  %11 = call double @llvm.fma.f64(double %10, double %4, double 0x3F811111111100BE)
  %12 = call double @llvm.fma.f64(double %11, double %4, double 0x3FA5555555555556)
  %13 = call double @llvm.fma.f64(double %12, double %4, double 0x3FC5555555555557)
  %14 = call double @llvm.fma.f64(double %13, double %4, double 5.000000e-01)
  %mul.i.i.i = fmul double %4, %4
  %15 = call double @llvm.fma.f64(double %14, double %mul.i.i.i, double %4)
  %add.i.i.i = fadd double %15, 1.000000e+00
  %add.i3.i.i = add i64 %2, -4843621399236964353
  %shr.i.i.i = lshr i64 %add.i3.i.i, 1
  %sub.i4.i.i = shl i64 %shr.i.i.i, 52
  %shl.i.i.i.i = add i64 %sub.i4.i.i, -4616189618054758400
  %16 = bitcast i64 %shl.i.i.i.i to double
  %mul.i5.i.i = fmul double %add.i.i.i, %16
  %17 = sub i64 %2, %shr.i.i.i
  %sub1.i.i.i = shl i64 %17, 52
  %shl.i7.i.i.i = add i64 %sub1.i.i.i, -4620693217682128896
  %18 = bitcast i64 %shl.i7.i.i.i to double
  %mul3.i.i.i = fmul double %mul.i5.i.i, %18
  %div.i = fdiv double 2.500000e-01, %mul3.i.i.i
  %add.i = fadd double %mul3.i.i.i, %div.i
  ret double %add.i
}
define internal double @baton.asin.f64(double %x) alwaysinline #0 {
entry:
  %0 = call double @llvm.fabs.f64(double %x)
  %cmp.i = fcmp ogt double %0, 5.000000e-01
  %sub.i = fsub double 1.000000e+00, %0
  %mul.i = fmul double %sub.i, 5.000000e-01
  %mul1.i = fmul double %x, %x
  %cond.i = select i1 %cmp.i, double %mul.i, double %mul1.i
  %1 = call double @llvm.sqrt.f64(double %cond.i)
  %cond7.i = select i1 %cmp.i, double %1, double %0
  %2 = call double @llvm.fma.f64(double %cond.i, double 0x3FA0B4B40CE40252, double 0xBF9580CB0B5D7957)
  %3 = call double @llvm.fma.f64(double %2, double %cond.i, double 0x3F963A7D0D55C0E0)
  %4 = call double @llvm.fma.f64(double %3, double %cond.i, double 0x3F6E5CDC4363327B)
  %5 = call double @llvm.fma.f64(double %4, double %cond.i, double 0x3F8613F5DBB8BB44)
  %6 = call double @llvm.fma.f64(double %5, double %cond.i, double 0x3F87584FECA8C630)
  %7 = call double @llvm.fma.f64(double %6, double %cond.i, double 0x3F8CA1F9FF0C10CA)
  %8 = call double @llvm.fma.f64(double %7, double %cond.i, double 0x3F91C49EF8299341)
  %9 = call double @llvm.fma.f64(double %8, double %cond.i, double 0x3F96E8BDEEDEA6B1)
  %10 = call double @llvm.fma.f64(double %9, double %cond.i, double 0x3F9F1C71A9463CA1)
  %11 = call double @llvm.fma.f64(double %10, double %cond.i, double 0x3FA6DB6DB7214303)
  %12 = call double @llvm.fma.f64(double %11, double %cond.i, double 0x3FB333333332E101)
  %13 = call double @llvm.fma.f64(double %12, double %cond.i, double 0x3FC5555555555577)
  %mul.i.i = fmul double %cond.i, %cond7.i
  %14 = call double @llvm.fma.f64(double %13, double %mul.i.i, double %cond7.i)
  %mul9.i = fmul double %14, -2.000000e+00
  %15 = call double @llvm.fma.f64(double 0x3FEDDC7441E56ED7, double 0x3FFAEED35EC6CA11, double %mul9.i)
  %cond15.i = select i1 %cmp.i, double %15, double %14
  %16 = call double @llvm.copysign.f64(double %cond15.i, double %x)
  ret double %16
}
define internal double @baton.acos.f64(double %x) alwaysinline #0 {
entry:
  %0 = call double @llvm.fabs.f64(double %x)
  %cmp.i = fcmp ogt double %0, 5.000000e-01
  %sub.i = fsub double 1.000000e+00, %0
  %mul.i = fmul double %sub.i, 5.000000e-01
  %mul1.i = fmul double %x, %x
  %cond.i = select i1 %cmp.i, double %mul.i, double %mul1.i
  %1 = call double @llvm.sqrt.f64(double %cond.i)
  %cond7.i = select i1 %cmp.i, double %1, double %0
  %2 = call double @llvm.fma.f64(double %cond.i, double 0x3FA0B4B40CE40252, double 0xBF9580CB0B5D7957)
  %3 = call double @llvm.fma.f64(double %2, double %cond.i, double 0x3F963A7D0D55C0E0)
  %4 = call double @llvm.fma.f64(double %3, double %cond.i, double 0x3F6E5CDC4363327B)
  %5 = call double @llvm.fma.f64(double %4, double %cond.i, double 0x3F8613F5DBB8BB44)
  %6 = call double @llvm.fma.f64(double %5, double %cond.i, double 0x3F87584FECA8C630)
  %7 = call double @llvm.fma.f64(double %6, double %cond.i, double 0x3F8CA1F9FF0C10CA)
  %8 = call double @llvm.fma.f64(double %7, double %cond.i, double 0x3F91C49EF8299341)
  %9 = call double @llvm.fma.f64(double %8, double %cond.i, double 0x3F96E8BDEEDEA6B1)
  %10 = call double @llvm.fma.f64(double %9, double %cond.i, double 0x3F9F1C71A9463CA1)
  %11 = call double @llvm.fma.f64(double %10, double %cond.i, double 0x3FA6DB6DB7214303)
  %12 = call double @llvm.fma.f64(double %11, double %cond.i, double 0x3FB333333332E101)
  %13 = call double @llvm.fma.f64(double %12, double %cond.i, double 0x3FC5555555555577)
  %mul.i.i = fmul double %cond.i, %cond7.i
  %14 = call double @llvm.fma.f64(double %13, double %mul.i.i, double %cond7.i)
  %cmp9.i = fcmp olt double %x, 0.000000e+00
  %cond10.i = select i1 %cmp9.i, double 0x3FFDDC7441E56ED7, double 0.000000e+00
  %cond15.i = select i1 %cmp.i, double %cond10.i, double 0x3FEDDC7441E56ED7
  %mul18.i = fmul double %14, 2.000000e+00
  %fneg.i = fneg double %14
  %cond21.i = select i1 %cmp.i, double %mul18.i, double %fneg.i
  %15 = bitcast double %cond21.i to i64
  %16 = bitcast double %x to i64
  %and.i.i = and i64 %16, -9223372036854775808
  %xor.i.i = xor i64 %and.i.i, %15
  %17 = bitcast i64 %xor.i.i to double
  %18 = call double @llvm.fma.f64(double %cond15.i, double 0x3FFAEED35EC6CA11, double %17)
  ret double %18
}
define internal double @baton.atan.f64(double %x) alwaysinline #0 {
entry:
  %0 = call double @llvm.fabs.f64(double %x)
  %div.i = fdiv double 1.000000e+00, %0
  %cmp.i = fcmp ogt double %0, 1.000000e+00
  %cond.i = select i1 %cmp.i, double %div.i, double %0
  %mul.i = fmul double %cond.i, %cond.i
  %1 = call double @llvm.fma.f64(double %mul.i, double 0xBEF53E1E6767DF7A, double 0x3F2D3B65579588BF)
  %2 = call double @llvm.fma.f64(double %1, double %mul.i, double 0xBF5312795F00BB52)
  %3 = call double @llvm.fma.f64(double %2, double %mul.i, double 0x3F6F9691E0D8E79A)
  %4 = call double @llvm.fma.f64(double %3, double %mul.i, double 0xBF82CF5B2C19967F)
  %5 = call double @llvm.fma.f64(double %4, double %mul.i, double 0x3F9162B1073D33C0)
  %6 = call double @llvm.fma.f64(double %5, double %mul.i, double 0xBF9A725751C7FF45)
  %7 = call double @llvm.fma.f64(double %6, double %mul.i, double 0x3FA171562BD04E29)
  %8 = call double @llvm.fma.f64(double %7, double %mul.i, double 0xBFA4F44D95AF9EEF)
  %9 = call double @llvm.fma.f64(double %8, double %mul.i, double 0x3FA7EE3D46E4D315)
  %10 = call double @llvm.fma.f64(double %9, double %mul.i, double 0xBFAAD32AE2D8827B)
  %11 = call double @llvm.fma.f64(double %10, double %mul.i, double 0x3FAE17813E0A96B9)
  %12 = call double @llvm.fma.f64(double %11, double %mul.i, double 0xBFB11089CAA998C9)
  %13 = call double @llvm.fma.f64(double %12, double %mul.i, double 0x3FB3B12B2DB722B6)
  %14 = call double @llvm.fma.f64(double %13, double %mul.i, double 0xBFB745D022F90D5E)
  %15 = call double @llvm.fma.f64(double %14, double %mul.i, double 0x3FBC71C709DFEC38)
  %16 = call double @llvm.fma.f64(double %15, double %mul.i, double 0xBFC2492491FA1753)
  %17 = call double @llvm.fma.f64(double %16, double %mul.i, double 0x3FC99999999840D2)
  %18 = call double @llvm.fma.f64(double %17, double %mul.i, double 0xBFD555555555544C)
  %mul.i.i = fmul double %cond.i, %mul.i
  %19 = call double @llvm.fma.f64(double %18, double %mul.i.i, double %cond.i)
  %fneg.i = fneg double %19
  %20 = call double @llvm.fma.f64(double 0x3FEDDC7441E56ED7, double 0x3FFAEED35EC6CA11, double %fneg.i)
  %cond7.i = select i1 %cmp.i, double %20, double %19
  %21 = call double @llvm.copysign.f64(double %cond7.i, double %x)
  ret double %21
}
define internal double @baton.asinh.f64(double %x) alwaysinline #0 {
entry:
  %0 = call double @llvm.fabs.f64(double %x)
  %cmp.i = fcmp ogt double %0, 0x41B0000000000000
  %cond.i = select i1 %cmp.i, double 1.000000e+00, double %0
  %mul.i = fmul double %cond.i, %cond.i
  %add.i = fadd double %mul.i, 1.000000e+00
  %1 = call double @llvm.sqrt.f64(double %add.i)
  %add2.i = fadd double %1, 1.000000e+00
  %div.i = fdiv double %mul.i, %add2.i
  %cond8.v.i = select i1 %cmp.i, double -1.000000e+00, double %div.i
  %cond8.i = fadd double %0, %cond8.v.i
  %add.i.i = fadd double %cond8.i, 1.000000e+00
  %2 = bitcast double %add.i.i to i64
  %add.i.i.i = add i64 %2, 4618827767356588032
  %shr.i.i.i = lshr i64 %add.i.i.i, 52
  %3 = and i64 %add.i.i.i, -4503599627370496
  %shl.i.i = sub i64 -4607182418800017408, %3
  %4 = bitcast i64 %shl.i.i to double
  %mul.i.i = fmul double %cond8.i, 2.500000e-01
  %5 = call double @llvm.fma.f64(double %4, double 2.500000e-01, double -1.000000e+00)
  %6 = call double @llvm.fma.f64(double %mul.i.i, double %4, double %5)
  %or.i.i = or i64 %shr.i.i.i, 4841369599423283200
  %7 = bitcast i64 %or.i.i to double
  %sub6.i.i = fadd double %7, 0xC330000000000800
  %add.i.i.i.i = fadd double %6, 2.000000e+00
  %div.i.i.i.i = fdiv double %6, %add.i.i.i.i
  %mul.i.i.i.i = fmul double %div.i.i.i.i, %div.i.i.i.i
  %8 = call double @llvm.fma.f64(double %mul.i.i.i.i, double 0x3FC2B5F68A50D903, double 0x3FC39FDCCEB4BB45)
  %9 = call double @llvm.fma.f64(double %8, double %mul.i.i.i.i, double 0x3FC7462B91B8DF65)
  %10 = call double @llvm.fma.f64(double %9, double %mul.i.i.i.i, double 0x3FCC71C62D5E53E0)
  %11 = call double @llvm.fma.f64(double %10, double %mul.i.i.i.i, double 0x3FD2492492DFD86C)
  %12 = call double @llvm.fma.f64(double %11, double %mul.i.i.i.i, double 0x3FD9999999995273)
  %13 = call double @llvm.fma.f64(double %12, double %mul.i.i.i.i, double 0x3FE5555555555558)
  %mul1.i.i.i.i = fmul double %6, 5.000000e-01
  %mul2.i.i.i.i = fmul double %6, %mul1.i.i.i.i
  %14 = call double @llvm.fma.f64(double %13, double %mul.i.i.i.i, double %mul2.i.i.i.i)
  %mul4.i.i.i.i = fmul double %div.i.i.i.i, %14
  %sub.i.i.i.i = fsub double %mul2.i.i.i.i, %mul4.i.i.i.i
  %fneg.i.i.i = fneg double %sub.i.i.i.i
  %15 = call double @llvm.fma.f64(double %sub6.i.i, double 0x3DEA39EF35793C76, double %fneg.i.i.i)
  %add.i13.i.i = fadd double %6, %15
  %16 = call double @llvm.fma.f64(double %sub6.i.i, double 0x3FE62E42FEE00000, double %add.i13.i.i)
  %cmp.i.i = fcmp olt double %cond8.i, 0x7FF0000000000000
  %cond.i.i = select i1 %cmp.i.i, double %16, double %cond8.i
  %add12.i = fadd double %cond.i.i, 0x3FE62E42FEFA39EF
  %cond15.i = select i1 %cmp.i, double %add12.i, double %cond.i.i
  %17 = call double @llvm.copysign.f64(double %cond15.i, double %x)
  ret double %17
}
define internal double @baton.acosh.f64(double %x) alwaysinline #0 {
entry:
  %cmp.i = fcmp ogt double %x, 0x41B0000000000000
  %sub.i = fadd double %x, -1.000000e+00
  %cond.i = select i1 %cmp.i, double 1.000000e+00, double %sub.i
  %mul.i = fmul double %cond.i, 2.000000e+00
  %0 = call double @llvm.fma.f64(double %cond.i, double %cond.i, double %mul.i)
  %1 = call double @llvm.sqrt.f64(double %0)
  %add.i = select i1 %cmp.i, double -0.000000e+00, double %1
  %cond6.i = fadd double %sub.i, %add.i
  %add.i.i = fadd double %cond6.i, 1.000000e+00
  %2 = bitcast double %add.i.i to i64
  %add.i.i.i = add i64 %2, 4618827767356588032
  %shr.i.i.i = lshr i64 %add.i.i.i, 52
  %3 = and i64 %add.i.i.i, -4503599627370496
  %shl.i.i = sub i64 -4607182418800017408, %3
  %4 = bitcast i64 %shl.i.i to double
  %mul.i.i = fmul double %cond6.i, 2.500000e-01
  %5 = call double @llvm.fma.f64(double %4, double 2.500000e-01, double -1.000000e+00)
  %6 = call double @llvm.fma.f64(double %mul.i.i, double %4, double %5)
  %or.i.i = or i64 %shr.i.i.i, 4841369599423283200
  %7 = bitcast i64 %or.i.i to double
  %sub6.i.i = fadd double %7, 0xC330000000000800
  %add.i.i.i.i = fadd double %6, 2.000000e+00
  %div.i.i.i.i = fdiv double %6, %add.i.i.i.i
  %mul.i.i.i.i = fmul double %div.i.i.i.i, %div.i.i.i.i
  %8 = call double @llvm.fma.f64(double %mul.i.i.i.i, double 0x3FC2B5F68A50D903, double 0x3FC39FDCCEB4BB45)
  %9 = call double @llvm.fma.f64(double %8, double %mul.i.i.i.i, double 0x3FC7462B91B8DF65)
  %10 = call double @llvm.fma.f64(double %9, double %mul.i.i.i.i, double 0x3FCC71C62D5E53E0)
  %11 = call double @llvm.fma.f64(double %10, double %mul.i.i.i.i, double 0x3FD2492492DFD86C)
  %12 = call double @llvm.fma.f64(double %11, double %mul.i.i.i.i, double 0x3FD9999999995273)
  %13 = call double @llvm.fma.f64(double %12, double %mul.i.i.i.i, double 0x3FE5555555555558)
  %mul1.i.i.i.i = fmul double %6, 5.000000e-01
  %mul2.i.i.i.i = fmul double %6, %mul1.i.i.i.i
  %14 = call double @llvm.fma.f64(double %13, double %mul.i.i.i.i, double %mul2.i.i.i.i)
  %mul4.i.i.i.i = fmul double %div.i.i.i.i, %14
  %sub.i.i.i.i = fsub double %mul2.i.i.i.i, %mul4.i.i.i.i
  %fneg.i.i.i = fneg double %sub.i.i.i.i
  %15 = call double @llvm.fma.f64(double %sub6.i.i, double 0x3DEA39EF35793C76, double %fneg.i.i.i)
  %add.i13.i.i = fadd double %6, %15
  %16 = call double @llvm.fma.f64(double %sub6.i.i, double 0x3FE62E42FEE00000, double %add.i13.i.i)
  %cmp.i.i = fcmp olt double %cond6.i, 0x7FF0000000000000
  %cond.i.i = select i1 %cmp.i.i, double %16, double %cond6.i
  %cmp14.i = fcmp olt double %x, 1.000000e+00
  %add10.i = fadd double %cond.i.i, 0x3FE62E42FEFA39EF
  %cond13.i = select i1 %cmp.i, double %add10.i, double %cond.i.i
  %cond19.i = select i1 %cmp14.i, double 0x7FF8000000000000, double %cond13.i
  ret double %cond19.i
}
define internal double @baton.atanh.f64(double %x) alwaysinline #0 {
entry:
  %0 = call double @llvm.fabs.f64(double %x)
  %mul.i = fmul double %0, 2.000000e+00
  %sub.i = fsub double 1.000000e+00, %0
  %div.i = fdiv double %mul.i, %sub.i
  %add.i.i = fadd double %div.i, 1.000000e+00
  %1 = bitcast double %add.i.i to i64
  %add.i.i.i = add i64 %1, 4618827767356588032
  %shr.i.i.i = lshr i64 %add.i.i.i, 52
  %2 = and i64 %add.i.i.i, -4503599627370496
  %shl.i.i = sub i64 -4607182418800017408, %2
  %3 = bitcast i64 %shl.i.i to double
  %mul.i.i = fmul double %div.i, 2.500000e-01
  %4 = call double @llvm.fma.f64(double %3, double 2.500000e-01, double -1.000000e+00)
  %5 = call double @llvm.fma.f64(double %mul.i.i, double %3, double %4)
  %or.i.i = or i64 %shr.i.i.i, 4841369599423283200
  %6 = bitcast i64 %or.i.i to double
  %sub6.i.i = fadd double %6, 0xC330000000000800
  %add.i.i.i.i = fadd double %5, 2.000000e+00
  %div.i.i.i.i = fdiv double %5, %add.i.i.i.i
  %mul.i.i.i.i = fmul double %div.i.i.i.i, %div.i.i.i.i
  %7 = call double @llvm.fma.f64(double %mul.i.i.i.i, double 0x3FC2B5F68A50D903, double 0x3FC39FDCCEB4BB45)
  %8 = call double @llvm.fma.f64(double %7, double %mul.i.i.i.i, double 0x3FC7462B91B8DF65)
  %9 = call double @llvm.fma.f64(double %8, double %mul.i.i.i.i, double 0x3FCC71C62D5E53E0)
  %10 = call double @llvm.fma.f64(double %9, double %mul.i.i.i.i, double 0x3FD2492492DFD86C)
  %11 = call double @llvm.fma.f64(double %10, double %mul.i.i.i.i, double 0x3FD9999999995273)
  %12 = call double @llvm.fma.f64(double %11, double %mul.i.i.i.i, double 0x3FE5555555555558)
  %mul1.i.i.i.i = fmul double %5, 5.000000e-01
  %mul2.i.i.i.i = fmul double %5, %mul1.i.i.i.i
  %13 = call double @llvm.fma.f64(double %12, double %mul.i.i.i.i, double %mul2.i.i.i.i)
  %mul4.i.i.i.i = fmul double %div.i.i.i.i, %13
  %sub.i.i.i.i = fsub double %mul2.i.i.i.i, %mul4.i.i.i.i
  %fneg.i.i.i = fneg double %sub.i.i.i.i
  %14 = call double @llvm.fma.f64(double %sub6.i.i, double 0x3DEA39EF35793C76, double %fneg.i.i.i)
  %add.i13.i.i = fadd double %5, %14
  %15 = call double @llvm.fma.f64(double %sub6.i.i, double 0x3FE62E42FEE00000, double %add.i13.i.i)
  %cmp.i.i = fcmp olt double %div.i, 0x7FF0000000000000
  %cond.i.i = select i1 %cmp.i.i, double %15, double %div.i
  %cmp.i = fcmp ogt double %0, 1.000000e+00
  %mul3.i = fmul double %cond.i.i, 5.000000e-01
  %cond.i = select i1 %cmp.i, double 0x7FF8000000000000, double %mul3.i
  %16 = call double @llvm.copysign.f64(double %cond.i, double %x)
  ret double %16
}
define internal double @baton.pow.f64(double %x, double %y) alwaysinline #0 {
entry:
  %0 = call double @llvm.fabs.f64(double %x)
  %cmp.i.i = fcmp one double %x, 0.000000e+00
  %cmp1.i.i = fcmp olt double %0, 0x7FF0000000000000
  %and18.i.i = and i1 %cmp.i.i, %cmp1.i.i
  %1 = call double @llvm.fabs.f64(double %y)
  %cmp4.i.i = fcmp olt double %1, 0x7FF0000000000000
  %and619.i.i = and i1 %and18.i.i, %cmp4.i.i
  %cmp7.i.i = fcmp ogt double %x, 0.000000e+00
  %2 = call double @llvm.copysign.f64(double 0x4330000000000000, double %y)
  %add.i.i.i = fadd double %2, %y
  %sub.i.i.i = fsub double %add.i.i.i, %2
  %3 = call double @llvm.copysign.f64(double %sub.i.i.i, double %y)
  %cmp.i.i.i = fcmp olt double %1, 0x4330000000000000
  %cond.i.i.i = select i1 %cmp.i.i.i, double %3, double %y
  %cmp10.i.i = fcmp oeq double %cond.i.i.i, %y
  %or20.i.i = or i1 %cmp7.i.i, %cmp10.i.i
  %and1221.i.i = and i1 %and619.i.i, %or20.i.i
  br i1 %and1221.i.i, label %cond.true.i, label %cond.false.i
cond.true.i:
  %cmp.i.i6.i = fcmp olt double %0, 0x10000000000000
  %mul.i.i.i = fmul double %0, 0x4340000000000000
  %cond.i.i7.i = select i1 %cmp.i.i6.i, double %mul.i.i.i, double %0
  %4 = bitcast double %cond.i.i7.i to i64
  %add.i.i.i.i.i.i = add i64 %4, 4617190417971951844
  %shr.i.i.i.i.i.i = lshr i64 %add.i.i.i.i.i.i, 52
  %add1.i.i.i.i.i.i = xor i64 %4, -9223372036854775808
  %shl.i.i.i.i.i.i = and i64 %add.i.i.i.i.i.i, -4503599627370496
  %sub2.i.i.i.i.i.i = sub i64 %add1.i.i.i.i.i.i, %shl.i.i.i.i.i.i
  %5 = bitcast i64 %sub2.i.i.i.i.i.i to double
  %or.i.i.i.i.i.i = or i64 %shr.i.i.i.i.i.i, 4841369599423283200
  %6 = bitcast i64 %or.i.i.i.i.i.i to double
  %add5.i.i.i.i.i.i = select i1 %cmp.i.i6.i, double 0x4330000000000835, double 0x4330000000000800
  %sub6.i.i.i.i.i.i = fsub double %6, %add5.i.i.i.i.i.i
  %cmp.i.i.i.i.i.i.i.i = fcmp olt double %5, 0x3FF1111111111111
  %cond.i.i.i.i.i.i.i.i = select i1 %cmp.i.i.i.i.i.i.i.i, double 1.000000e+00, double 8.750000e-01
  %cmp2.i.i.i.i.i.i.i.i = fcmp olt double %5, 0x3FF745D1745D1746
  %cond6.i.i.i.i.i.i.i.i = select i1 %cmp2.i.i.i.i.i.i.i.i, double 7.500000e-01, double 6.250000e-01
  %cmp7.i.i.i.i.i.i.i.i = fcmp olt double %5, 0x3FF3B13B13B13B14
  %cond11.i.i.i.i.i.i.i.i = select i1 %cmp7.i.i.i.i.i.i.i.i, double %cond.i.i.i.i.i.i.i.i, double %cond6.i.i.i.i.i.i.i.i
  %7 = call double @llvm.fma.f64(double %5, double %cond11.i.i.i.i.i.i.i.i, double -1.000000e+00)
  %cond.i41.i.i.i.i.i.i.i = select i1 %cmp.i.i.i.i.i.i.i.i, double 0.000000e+00, double 0x3FC8A8980ABF8000
  %cond6.i43.i.i.i.i.i.i.i = select i1 %cmp2.i.i.i.i.i.i.i.i, double 0x3FDA8FF971810000, double 0x3FE5B2C3DA196000
  %cond11.i45.i.i.i.i.i.i.i = select i1 %cmp7.i.i.i.i.i.i.i.i, double %cond.i41.i.i.i.i.i.i.i, double %cond6.i43.i.i.i.i.i.i.i
  %add.i.i.i.i.i.i.i = fadd double %sub6.i.i.i.i.i.i, %cond11.i45.i.i.i.i.i.i.i
  %cond.i47.i.i.i.i.i.i.i = select i1 %cmp.i.i.i.i.i.i.i.i, double 0.000000e+00, double 0x3D5E9933354DBF17
  %cond6.i49.i.i.i.i.i.i.i = select i1 %cmp2.i.i.i.i.i.i.i.i, double 0x3D44BC302FFA76FB, double 0x3D623A80DB6A0480
  %cond11.i51.i.i.i.i.i.i.i = select i1 %cmp7.i.i.i.i.i.i.i.i, double %cond.i47.i.i.i.i.i.i.i, double %cond6.i49.i.i.i.i.i.i.i
  %mul.i.i.i.i.i.i.i = fmul double %7, %7
  %8 = call double @llvm.fma.f64(double %mul.i.i.i.i.i.i.i, double 0xBFBB7A070D33F5B6, double 0xBFBEC1CC78AA021C)
  %9 = call double @llvm.fma.f64(double %8, double %mul.i.i.i.i.i.i.i, double 0xBFC27772AB29890F)
  %10 = call double @llvm.fma.f64(double %9, double %mul.i.i.i.i.i.i.i, double 0xBFC715475CEF55CD)
  %11 = call double @llvm.fma.f64(double %10, double %mul.i.i.i.i.i.i.i, double 0xBFCEC709DC3F7DBF)
  %12 = call double @llvm.fma.f64(double %11, double %mul.i.i.i.i.i.i.i, double 0xBFD71547652B8231)
  %13 = call double @llvm.fma.f64(double %mul.i.i.i.i.i.i.i, double 0x3FB9CB6E372919A6, double 0x3FBC627752EA4D99)
  %14 = call double @llvm.fma.f64(double %13, double %mul.i.i.i.i.i.i.i, double 0x3FC0C9B1A853A694)
  %15 = call double @llvm.fma.f64(double %14, double %mul.i.i.i.i.i.i.i, double 0x3FC484B12E6D0289)
  %16 = call double @llvm.fma.f64(double %15, double %mul.i.i.i.i.i.i.i, double 0x3FCA61762A881BBA)
  %17 = call double @llvm.fma.f64(double %16, double %mul.i.i.i.i.i.i.i, double 0x3FD2776C50EF991C)
  %18 = call double @llvm.fma.f64(double %17, double %7, double %12)
  %19 = call double @llvm.fma.f64(double %7, double %18, double 0x3FDEC709DC3A03FE)
  %sub.i.i.i.i.i.i.i = fsub double 0x3FDEC709DC3A03FE, %19
  %20 = call double @llvm.fma.f64(double %7, double %18, double %sub.i.i.i.i.i.i.i)
  %sub9.i.i.i.i.i.i.i = fadd double %20, 0xBC4E9C49DAE9C7C0
  %21 = call double @llvm.fma.f64(double %7, double %19, double 0xBFE71547652B82FE)
  %sub11.i.i.i.i.i.i.i = fsub double 0xBFE71547652B82FE, %21
  %22 = call double @llvm.fma.f64(double %7, double %19, double %sub11.i.i.i.i.i.i.i)
  %23 = call double @llvm.fma.f64(double %7, double %sub9.i.i.i.i.i.i.i, double 0xBC7015D3C7F5C7A2)
  %add14.i.i.i.i.i.i.i = fadd double %22, %23
  %24 = call double @llvm.fma.f64(double %7, double %21, double 0x3FF71547652B82FE)
  %sub16.i.i.i.i.i.i.i = fsub double 0x3FF71547652B82FE, %24
  %25 = call double @llvm.fma.f64(double %7, double %21, double %sub16.i.i.i.i.i.i.i)
  %26 = call double @llvm.fma.f64(double %7, double %add14.i.i.i.i.i.i.i, double 0x3C7776F2B456E125)
  %add19.i.i.i.i.i.i.i = fadd double %25, %26
  %mul.i.i.i.i.i.i.i.i = fmul double %7, %24
  %fneg.i.i.i.i.i.i.i.i = fneg double %mul.i.i.i.i.i.i.i.i
  %27 = call double @llvm.fma.f64(double %7, double %24, double %fneg.i.i.i.i.i.i.i.i)
  %28 = call double @llvm.fma.f64(double %7, double %add19.i.i.i.i.i.i.i, double %27)
  %add.i.i.i.i.i.i.i.i = fadd double %add.i.i.i.i.i.i.i, %mul.i.i.i.i.i.i.i.i
  %sub.i.i.i.i.i.i.i.i = fsub double %add.i.i.i.i.i.i.i, %add.i.i.i.i.i.i.i.i
  %add2.i.i.i.i.i.i.i.i = fadd double %mul.i.i.i.i.i.i.i.i, %sub.i.i.i.i.i.i.i.i
  %add3.i.i.i.i.i.i.i.i = fadd double %cond11.i51.i.i.i.i.i.i.i, %28
  %add4.i.i.i.i.i.i.i.i = fadd double %add2.i.i.i.i.i.i.i.i, %add3.i.i.i.i.i.i.i.i
  %mul.i.i.i.i.i.i = fmul double %add.i.i.i.i.i.i.i.i, %y
  %fneg.i.i.i.i.i.i = fneg double %mul.i.i.i.i.i.i
  %29 = call double @llvm.fma.f64(double %add.i.i.i.i.i.i.i.i, double %y, double %fneg.i.i.i.i.i.i)
  %30 = call double @llvm.fma.f64(double %add4.i.i.i.i.i.i.i.i, double %y, double %29)
  %cmp.i.i.i.i.i = fcmp olt double %mul.i.i.i.i.i.i, -1.200000e+03
  %cond.i.i.i.i.i = select i1 %cmp.i.i.i.i.i, double -1.200000e+03, double %mul.i.i.i.i.i.i
  %cmp2.i.i.i.i.i = fcmp ogt double %cond.i.i.i.i.i, 1.200000e+03
  %cond6.i.i.i.i.i = select i1 %cmp2.i.i.i.i.i, double 1.200000e+03, double %cond.i.i.i.i.i
  %cmp7.i.i.i.i.i = fcmp oeq double %cond6.i.i.i.i.i, %mul.i.i.i.i.i.i
  %cond11.i.i.i.i.i = select i1 %cmp7.i.i.i.i.i, double %30, double 0.000000e+00
  %add.i18.i.i.i.i.i = fadd double %cond6.i.i.i.i.i, 0x4338000000000000
  %31 = bitcast double %add.i18.i.i.i.i.i to i64
  %sub2.i19.i.i.i.i.i = fadd double %add.i18.i.i.i.i.i, 0xC338000000000000
  %sub3.i.i.i.i.i.i = fsub double %cond6.i.i.i.i.i, %sub2.i19.i.i.i.i.i
  %add4.i.i.i.i.i.i = fadd double %cond11.i.i.i.i.i, %sub3.i.i.i.i.i.i
  %32 = call double @llvm.fma.f64(double %add4.i.i.i.i.i.i, double 0x3DBC4DAD90AE61FF, double 0x3DFEA043FD1D879D)
  %33 = call double @llvm.fma.f64(double %32, double %add4.i.i.i.i.i.i, double 0x3E3E4CEE812FC810)
  %34 = call double @llvm.fma.f64(double %33, double %add4.i.i.i.i.i.i, double 0x3E7B524DB3F49135)
  %35 = call double @llvm.fma.f64(double %34, double %add4.i.i.i.i.i.i, double 0x3EB62C0224DB0855)
  %36 = call double @llvm.fma.f64(double %35, double %add4.i.i.i.i.i.i, double 0x3EEFFCBFC75ED63C)
  %37 = call double @llvm.fma.f64(double %36, double %add4.i.i.i.i.i.i, double 0x3F2430912F868D2A)
  %38 = call double @llvm.fma.f64(double %37, double %add4.i.i.i.i.i.i, double 0x3F55D87FE78A22B1)
  %39 = call double @llvm.fma.f64(double %38, double %add4.i.i.i.i.i.i, double 0x3F83B2AB6FBA4E82)
  %40 = call double @llvm.fma.f64(double %39, double %add4.i.i.i.i.i.i, double 0x3FAC6B08D704A0D1)
  %41 = call double @llvm.fma.f64(double %40, double %add4.i.i.i.i.i.i, double 0x3FCEBFBDFF82C58F)
  %42 = call double @llvm.fma.f64(double %41, double %add4.i.i.i.i.i.i, double 0x3FE62E42FEFA39EF)
  %43 = call double @llvm.fma.f64(double %42, double %add4.i.i.i.i.i.i, double 1.000000e+00)
  %add.i20.i.i.i.i.i = add i64 %31, -4843621399236964352
  %shr.i21.i.i.i.i.i = lshr i64 %add.i20.i.i.i.i.i, 1
  %sub.i22.i.i.i.i.i = add nsw i64 %shr.i21.i.i.i.i.i, -2048
  %add.i.i23.i.i.i.i.i = shl i64 %sub.i22.i.i.i.i.i, 52
  %shl.i.i.i.i.i.i.i = add i64 %add.i.i23.i.i.i.i.i, 4607182418800017408
  %44 = bitcast i64 %shl.i.i.i.i.i.i.i to double
  %mul.i24.i.i.i.i.i = fmul double %43, %44
  %sub1.i.i.i.i.i.i = sub i64 %31, %sub.i22.i.i.i.i.i
  %add.i6.i.i.i.i.i.i = shl i64 %sub1.i.i.i.i.i.i, 52
  %shl.i7.i.i.i.i.i.i = add i64 %add.i6.i.i.i.i.i.i, 4607182418800017408
  %45 = bitcast i64 %shl.i7.i.i.i.i.i.i to double
  %mul3.i.i.i.i.i.i = fmul double %mul.i24.i.i.i.i.i, %45
  %mul.i.i = fmul double %y, 5.000000e-01
  %46 = call double @llvm.copysign.f64(double 0x4330000000000000, double %mul.i.i)
  %add.i.i8.i = fadd double %mul.i.i, %46
  %sub.i.i9.i = fsub double %add.i.i8.i, %46
  %47 = call double @llvm.copysign.f64(double %sub.i.i9.i, double %mul.i.i)
  %48 = call double @llvm.fabs.f64(double %mul.i.i)
  %cmp.i22.i.i = fcmp olt double %48, 0x4330000000000000
  %cond.i23.i.i = select i1 %cmp.i22.i.i, double %47, double %mul.i.i
  %cmp.i10.i = fcmp une double %cond.i23.i.i, %mul.i.i
  %cmp3.i.i = fcmp olt double %x, 0.000000e+00
  %fneg.i.i = fneg double %mul3.i.i.i.i.i.i
  %49 = and i1 %cmp3.i.i, %cmp.i10.i
  %cond7.i.i = select i1 %49, double %fneg.i.i, double %mul3.i.i.i.i.i.i
  %cmp8.i.i = fcmp oeq double %y, 2.000000e+00
  %mul10.i.i = fmul double %x, %x
  %cond13.i.i = select i1 %cmp8.i.i, double %mul10.i.i, double %cond7.i.i
  br label %_ZN4math8AnyPowerEdd.exit
cond.false.i:
  %50 = call double @pow(double %x, double %y) #1000
  br label %_ZN4math8AnyPowerEdd.exit
_ZN4math8AnyPowerEdd.exit:
  %cond.i = phi double [ %cond13.i.i, %cond.true.i ], [ %50, %cond.false.i ]
  ret double %cond.i
}
