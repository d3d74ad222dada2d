#!/usr/bin/env python3
"""Disassembles the kernels' objects.

Arguments: the compilation mode, and the archives.

- The innermost loops that multiply and add vectors keep all in registers: none
  refers to the stack. The two halves of 512 bits are left out: a tile that fills
  the registers of 512 bits takes twice as many of 256, more than there are. The
  products of rows (Matmul) load addresses of rows from there, of which there are
  more than registers, but no vectors; and so may all kernels of bytes.
- An instruction belongs to the set that the object stands for. In objects of
  several sets (int8), functions that other objects call have instructions of any
  processor alone; others may have those of the set that their name names, or, if
  it names none, of any set but AMX: the object calls them once it knows the
  processor.
- A function that linkers merge by name has instructions of any processor alone.
"""

import re
import shutil
import subprocess
import sys
import unittest

# By the member's name: the sets that its functions may use.
SETS = {
    "kernels_plain128": "plain",
    "kernels_fma128": "avx2",
    "kernels_avx2": "avx2",
    "kernels_avx2_halves": "avx2",
    "kernels_avx512": "avx512",
}
# Objects of several sets.
BYTES = ["int8_conv", "int_matmul", "byte_slabs"]
AUDITED_LOOPS = [
    "kernels_fma128", "kernels_avx2", "kernels_avx512", "int8_conv",
    "int_matmul"
]

_ORDER = ["plain", "avx2", "avx512", "vnni", "amx"]


class Function:

    def __init__(self, member, name):
        self.member = member
        self.name = name
        self.instructions = []  # (address, mnemonic, operands)


def parse(text):
    """Functions of objdump's text, of an archive or an object."""
    functions = []
    member = ""
    for line in text.splitlines():
        if match := re.match(r"(\S+):\s+file format", line):
            member = match[1].split("/")[-1].split(".")[0]
        elif match := re.match(r"[0-9a-f]+ <(.*)>:$", line):
            functions.append(Function(member, match[1]))
        elif match := re.match(r"\s*([0-9a-f]+):\s+(\S+)\s*(.*)$", line):
            operands = match[3]
            if functions:
                functions[-1].instructions.append(
                    (int(match[1], 16), match[2], operands))
    return functions


def set_of(mnemonic, operands):
    """The least set of instructions that has the instruction."""
    if re.match(r"(tile|tdp|(ld|st)tilecfg)", mnemonic):
        return "amx"
    if re.match(r"vp(dpbusds?|dpwssds?)$", mnemonic):
        return "vnni"
    if (re.search(r"%zmm|%k[0-7]|%[xy]mm(1[6-9]|2\d|3[01])", operands) or
            re.match(r"k(mov|and|or|not|xor|test|shift)", mnemonic)):
        return "avx512"
    if mnemonic.startswith("v") and not mnemonic.startswith("ver"):
        return "avx2"
    return "plain"


def allowed_set(function, is_global):
    """By the object; in objects of several sets by who calls the function, and
    its name."""
    if function.member in SETS:
        return SETS[function.member]
    if is_global or function.member not in BYTES:
        return "plain"
    if "Amx" in function.name:
        return "amx"
    if "512" in function.name:
        return "avx512"
    if "Avx2" in function.name:
        return "avx2"
    return "vnni"


def foreign_instructions(functions, global_functions=frozenset()):
    """Instructions of a higher set than the function may use, one each."""
    problems = []
    for function in functions:
        allowed = allowed_set(
            function, (function.member, function.name) in global_functions)
        for address, mnemonic, operands in function.instructions:
            used = set_of(mnemonic, operands)
            if _ORDER.index(used) > _ORDER.index(allowed):
                problems.append(
                    f"{function.member}: {function.name}: {address:x}: "
                    f"{mnemonic} {operands} is of {used}, not of {allowed}")
                break
    return problems


def innermost_loops(function):
    """Lists of instructions from a jump's earlier target to the jump."""
    begin = function.instructions[0][0] if function.instructions else 0
    loops = []
    for address, mnemonic, operands in function.instructions:
        match = re.match(r"([0-9a-f]+)\b", operands)
        if mnemonic.startswith("j") and match:
            target = int(match[1], 16)
            if begin <= target <= address:
                loops.append((target, address))
    inner = [
        loop for loop in loops if not any(
            other != loop and loop[0] <= other[0] and other[1] <= loop[1]
            for other in loops)
    ]
    return [[i for i in function.instructions if begin <= i[0] <= end]
            for begin, end in sorted(set(inner))]


def is_product(mnemonic):
    """True for products that are added: of floats, of bytes, of tiles."""
    return re.match(r"vfn?m(add|sub)|vp(dp|madd)|tdp", mnemonic) is not None


def stack_registers(function):
    """%rsp, and %rbp where it is the frame's."""
    for _, mnemonic, operands in function.instructions:
        if mnemonic.startswith("mov") and operands == "%rsp,%rbp":
            return ("%rsp", "%rbp")
    return ("%rsp",)


def is_address(function, mnemonic, operands):
    """True for an address, or another number, that is loaded from the stack."""
    if function.member in BYTES:
        return re.search(r"%[xyzt]mm", operands) is None
    return "::Matmul(" in function.name and mnemonic == "mov" and re.match(
        r"0x[0-9a-f]+\(%rsp\),%r\w+$", operands)


def spills(functions, audited):
    """References to the stack in innermost loops with products, and the number
    of such loops by member."""
    problems = []
    counts = {}
    for function in functions:
        if function.member not in audited:
            continue
        registers = stack_registers(function)
        for loop in innermost_loops(function):
            if not any(is_product(mnemonic) for _, mnemonic, _ in loop):
                continue
            counts[function.member] = counts.get(function.member, 0) + 1
            for address, mnemonic, operands in loop:
                if any(f"({r}" in operands for r in registers
                      ) and not is_address(function, mnemonic, operands):
                    problems.append(f"{function.member}: {function.name}: "
                                    f"{address:x}: {mnemonic} {operands}")
    return problems, counts


def functions_of_binding(table, binding):
    """(member, name) of each function in the text of `objdump -t` that is weak
    (`w`) or global (`g`)."""
    found = set()
    flags = {"w": "  w.{4}F", "g": " g.{5}F"}[binding]
    member = ""
    for line in table.splitlines():
        if match := re.match(r"(\S+):\s+file format", line):
            member = match[1].split("/")[-1].split(".")[0]
        elif match := re.match(
                rf"[0-9a-f]+{flags} (\S+)\t[0-9a-f]+ +(?:\.hidden )?(.*)$",
                line):
            if match[1].startswith(".text"):
                found.add((member, match[2]))
    return found


def merged(functions, weak):
    """Weak functions with instructions that not every processor has."""
    return [
        f"{function.member}: {function.name}: {mnemonic} {operands}"
        for function in functions if (function.member, function.name) in weak
        for _, mnemonic, operands in function.instructions
        if set_of(mnemonic, operands) != "plain"
    ]


SAMPLE = """
kernels_avx2.pic.o:     file format elf64-x86-64

0000000000000000 <avx2::Tile(long)>:
   0:\tpush   %rbp
   1:\tmov    0x8(%rsp),%rax
   8:\tvbroadcastss (%rdi),%ymm0
  10:\tvfmadd231ps (%rsi),%ymm0,%ymm1
{spill}  20:\tadd    $0x20,%rsi
  28:\tcmp    %rax,%rsi
  2c:\tjne    8 <avx2::Tile(long)+0x8>
  30:\tmov    %rcx,0x10(%rsp)
  34:\tjne    1 <avx2::Tile(long)+0x1>
  38:\tret
"""


class FindsProblemsTest(unittest.TestCase):

    def test_a_spill(self):
        fine = parse(SAMPLE.format(spill=""))
        self.assertEqual(spills(fine, AUDITED_LOOPS), ([], {"kernels_avx2": 1}))
        spilled = parse(
            SAMPLE.format(spill="  18:\tvmovaps %ymm1,0x40(%rsp)\n"))
        self.assertEqual(
            spills(spilled, AUDITED_LOOPS)[0],
            ["kernels_avx2: avx2::Tile(long): 18: vmovaps %ymm1,0x40(%rsp)"])
        # %rbp is a register as others, but for functions that make it a frame's.
        other = SAMPLE.format(spill="  18:\tvmovaps %ymm1,-0x40(%rbp)\n")
        self.assertEqual(spills(parse(other), AUDITED_LOOPS)[0], [])
        frame = other.replace("mov    0x8(%rsp),%rax", "mov    %rsp,%rbp")
        self.assertEqual(len(spills(parse(frame), AUDITED_LOOPS)[0]), 1)
        # Addresses of rows.
        for name, count in [("a::Matmul(long)", 0), ("a::Conv(long)", 1)]:
            rows = SAMPLE.format(spill="  18:\tmov    0x40(%rsp),%rdx\n")
            rows = rows.replace("avx2::Tile(long)", name)
            self.assertEqual(len(spills(parse(rows), AUDITED_LOOPS)[0]), count)
        # Kernels of bytes.
        for line, count in [("mov    0x40(%rsp),%rdx", 0),
                            ("vmovdqu64 0x40(%rsp),%zmm1", 1),
                            ("tileloadd 0x40(%rsp,%rax,1),%tmm1", 1)]:
            rows = SAMPLE.format(spill=f"  18:\t{line}\n")
            for product in ("vpdpbusd %zmm1,%zmm2,%zmm3", "tdpbusd %tmm1,%tmm2",
                            "vpmaddwd %ymm1,%ymm2,%ymm3"):
                loop = parse(
                    rows.replace("kernels_avx2", "int_matmul").replace(
                        "vfmadd231ps (%rsi),%ymm0,%ymm1", product))
                self.assertEqual(len(spills(loop, AUDITED_LOOPS)[0]), count)
        vectors = SAMPLE.format(
            spill="  18:\tvmovaps 0x40(%rsp),%ymm1\n").replace(
                "avx2::Tile(long)", "a::Matmul(long)")
        self.assertEqual(len(spills(parse(vectors), AUDITED_LOOPS)[0]), 1)

    def test_an_instruction_of_a_higher_set(self):
        text = SAMPLE.format(spill="  18:\tvaddps %zmm0,%zmm1,%zmm1\n")
        self.assertEqual(foreign_instructions(parse(text)), [
            "kernels_avx2: avx2::Tile(long): 18: vaddps %zmm0,%zmm1,%zmm1 is "
            "of avx512, not of avx2"
        ])
        fine = text.replace("kernels_avx2", "kernels_avx512")
        self.assertEqual(foreign_instructions(parse(fine)), [])
        for name, count in [("Conv(long)", 1), ("Avx2Part<2>(long)", 1),
                            ("VnniTile<2>(long)", 0), ("Tile(long)", 0)]:
            several = parse(
                text.replace("kernels_avx2", "int8_conv").replace(
                    "avx2::Tile(long)", name))
            self.assertEqual(
                len(foreign_instructions(several, {("int8_conv", "Conv(long)")})),
                count, name)
        plain = parse(text.replace("kernels_avx2", "matmul"))
        self.assertEqual(len(foreign_instructions(plain)), 1)
        tiles = text.replace("vaddps %zmm0,%zmm1,%zmm1",
                             "tdpbusd %tmm1,%tmm2,%tmm3")
        for name, count in [("VnniTile(long)", 1), ("AmxSums(long)", 0)]:
            several = parse(
                tiles.replace("kernels_avx2", "int_matmul").replace(
                    "avx2::Tile(long)", name))
            self.assertEqual(len(foreign_instructions(several)), count, name)
        self.assertEqual(set_of("ldtilecfg", "(%rsp)"), "amx")
        self.assertEqual(set_of("vpdpbusd", "%zmm0,%zmm1,%zmm2"), "vnni")
        self.assertEqual(set_of("vaddps", "%ymm17,%ymm1,%ymm2"), "avx512")
        self.assertEqual(set_of("verw", "%ax"), "plain")
        self.assertEqual(set_of("addps", "%xmm0,%xmm1"), "plain")

    def test_a_function_that_linkers_merge(self):
        table = ("kernels_avx2.pic.o:     file format elf64-x86-64\n"
                 "0000000000000000  w    F .text._Z4Tilel\t0000000000000039 "
                 "avx2::Tile(long)\n"
                 "0000000000000000 l     F .text\t0000000000000039 Other\n")
        weak = functions_of_binding(table, "w")
        self.assertEqual(weak, {("kernels_avx2", "avx2::Tile(long)")})
        self.assertEqual(functions_of_binding(table, "g"), set())
        self.assertEqual(
            functions_of_binding(
                table.replace("  w    F", " g     F"), "g"), weak)
        self.assertEqual(
            len(merged(parse(SAMPLE.format(spill="")), weak)), 2)


class ObjectsTest(unittest.TestCase):
    archives = []
    mode = ""

    def disassembled(self):
        if self.mode != "opt":
            self.skipTest(f"objects of the mode {self.mode} are not optimized")
        if shutil.which("objdump") is None:
            self.skipTest("objdump of binutils is not installed")

        def run(*options):
            return subprocess.run(["objdump", *options, *self.archives],
                                  check=True,
                                  stdout=subprocess.PIPE,
                                  text=True).stdout

        table = run("-t", "-C")
        if "elf64-x86-64" not in table:
            self.skipTest("the objects are not for x86-64")
        return parse(run("-d", "-C", "--no-show-raw-insn")), table

    def test_objects(self):
        functions, table = self.disassembled()
        of_all = functions_of_binding(table, "g")
        self.assertGreater(len(of_all), 10)
        self.assertEqual(foreign_instructions(functions, of_all), [])
        self.assertEqual(
            merged(functions, functions_of_binding(table, "w")), [])
        problems, counts = spills(functions, AUDITED_LOOPS)
        print(f"innermost loops with products: {counts}; kernels_avx2_halves are "
              "left out: their tiles take more registers than there are")
        self.assertEqual(problems, [])
        for member in AUDITED_LOOPS:
            least = 3 if member in BYTES else 10
            self.assertGreater(counts.get(member, 0), least, member)


if __name__ == "__main__":
    ObjectsTest.mode = sys.argv[1]
    ObjectsTest.archives = [a for a in sys.argv[2:] if a.endswith(".a")]
    assert ObjectsTest.archives, "name the archives of the kernels"
    unittest.main(argv=sys.argv[:1], verbosity=2)
