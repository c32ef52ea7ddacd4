# A guest in one boot sector. It writes what it sees of its hardware to its first serial port, and turns itself off: CPUID, PCI, the first ATA
# disk, and the firmware's tables. seen-by-guest.ts holds it in machine code:
#   as --32 guest.S -o guest.o && ld -m elf_i386 -Ttext 0x7c00 --oformat binary guest.o -o guest.bin && xxd -p guest.bin
  .code16
  .globl _start
_start:
  cli
  xor %ax, %ax
  mov %ax, %ds
  mov %ax, %ss
  mov $0x7c00, %sp
  cld
# CPUID: eax, ebx, ecx, edx of each leaf
  mov $leaves, %si
next_leaf:
  lodsl
  cmp $-1, %eax
  je pci
  xor %ecx, %ecx
  cpuid
  push %edx
  push %ecx
  push %ebx
  push %eax
  call put4
  pop %eax
  pop %eax
  call put4
  pop %eax
  call put4
  pop %eax
  call put4
  jmp next_leaf
# PCI, bus 0, every device and function: ids, class, ids of the subsystem
pci:
  mov $0x80000000, %ebp
next_function:
  mov %ebp, %ebx
  call get_pci
  lea 0x08(%ebp), %ebx
  call get_pci
  lea 0x2c(%ebp), %ebx
  call get_pci
  add $0x100, %ebp
  cmp $0x80010000, %ebp
  jb next_function
# IDENTIFY DEVICE of the first disk: 512 bytes
  mov $0x1f6, %dx
  mov $0xa0, %al
  out %al, %dx
  mov $0x1f7, %dx
  mov $0xec, %al
  out %al, %dx
1:
  in %dx, %al
  test $0x08, %al
  jz 1b
  mov $0x1f0, %dx
  mov $256, %cx
2:
  in %dx, %ax
  push %dx
  call put2
  pop %dx
  loop 2b
# the firmware's own 64 KiB, where its tables begin
  mov $0xf000, %ax
  mov %ax, %ds
  xor %si, %si
3:
  lodsb
  call put1
  test %si, %si
  jnz 3b
# off
  mov $0xfe, %al
  out %al, $0x64
4:
  hlt
  jmp 4b

get_pci:
  mov $0xcf8, %dx
  mov %ebx, %eax
  out %eax, %dx
  mov $0xcfc, %dx
  in %dx, %eax
put4:
  call put2
  shr $8, %eax
put2:
  call put1
  shr $8, %eax
  call put1
  ret
put1:
  push %ax
  mov $0x3fd, %dx
5:
  in %dx, %al
  test $0x20, %al
  jz 5b
  pop %ax
  mov $0x3f8, %dx
  out %al, %dx
  ret

leaves:
  .long 1, 0x40000000, 0x80000002, 0x80000003, 0x80000004, -1
  .org 510
  .word 0xaa55
