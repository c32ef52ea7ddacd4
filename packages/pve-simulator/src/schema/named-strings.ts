import type { Property } from "./schema.ts"

const flag: Property = { type: "boolean", optional: 1 }
const text: Property = { type: "string", optional: 1 }
const count: Property = { type: "integer", optional: 1 }
const number: Property = { type: "number", optional: 1 }

const hex = (digits: number): Property => ({ type: "string", optional: 1, pattern: `(0x)?[0-9A-Fa-f]{1,${digits}}` })

/** An IDE disk; the server's error messages call it by this name. */
const ideDisk: Readonly<Record<string, Property>> = {
  file: { type: "string", format: "pve-volume-id-or-qm-path", default_key: 1 },
  volume: { alias: "file" },
  ...Object.fromEntries(
    ["aio", "cache", "detect_zeroes", "discard", "format", "media", "rerror", "werror", "serial", "size", "model"].map((key) => [
      key,
      text,
    ]),
  ),
  ...Object.fromEntries(["backup", "replicate", "shared", "snapshot", "ssd"].map((key) => [key, flag])),
  ...Object.fromEntries(
    ["bps", "bps_rd", "bps_wr", "iops", "iops_rd", "iops_wr", "iops_max", "iops_rd_max", "iops_wr_max"].map((key) => [
      key,
      count,
    ]),
  ),
  ...Object.fromEntries(["mbps", "mbps_rd", "mbps_wr", "mbps_max", "mbps_rd_max", "mbps_wr_max"].map((key) => [key, number])),
}

/** Keys of the property strings that the schema mentions only by name, as far as callers may send them. */
export const namedStrings: Readonly<
  Record<string, { readonly format: Readonly<Record<string, Property>>; readonly path?: string }>
> = {
  "pve-qm-ide": { format: ideDisk, path: "cdrom" },
  "pve-qm-boot": {
    format: {
      legacy: { type: "string", optional: 1, default_key: 1, pattern: "[acdn]{1,4}" },
      order: { type: "string", optional: 1, pattern: "[a-z0-9;]*" },
    },
  },
  "pve-qm-cicustom": {
    format: Object.fromEntries(["meta", "network", "user", "vendor"].map((key) => [key, { ...text, format: "pve-volume-id" }])),
  },
  "pve-qm-ipconfig": {
    format: {
      ip: { ...text, pattern: String.raw`dhcp|\d+\.\d+\.\d+\.\d+/\d+` },
      gw: { ...text, format: "ipv4", requires: "ip" },
      ip6: { ...text, pattern: "auto|dhcp|[0-9a-fA-F:.]+/\\d+" },
      gw6: { ...text, format: "ipv6", requires: "ip6" },
    },
  },
  "pve-qm-hostpci": {
    format: {
      host: { ...text, default_key: 1, pattern: String.raw`(?:[0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}(?:\.[0-9a-f])?(?:;.*)?` },
      mapping: { ...text, format: "pve-configid" },
      rombar: flag,
      romfile: text,
      mdev: text,
      pcie: flag,
      "x-vga": flag,
      "legacy-igd": flag,
      driver: text,
      "vendor-id": hex(4),
      "device-id": hex(4),
      "sub-vendor-id": hex(4),
      "sub-device-id": hex(4),
    },
  },
  "pve-qm-rng": {
    format: {
      source: { type: "string", default_key: 1, enum: ["/dev/urandom", "/dev/random", "/dev/hwrng"] },
      max_bytes: count,
      period: count,
    },
  },
  "pve-qm-smbios1": {
    format: {
      uuid: { ...text, pattern: "[a-fA-F0-9]{8}(?:-[a-fA-F0-9]{4}){3}-[a-fA-F0-9]{12}" },
      ...Object.fromEntries(["manufacturer", "product", "version", "serial", "sku", "family"].map((key) => [key, text])),
      base64: flag,
    },
  },
  "pve-qm-watchdog": {
    format: {
      model: { type: "string", optional: 1, default_key: 1, enum: ["i6300esb", "ib700"] },
      action: { ...text, enum: ["reset", "shutdown", "poweroff", "pause", "debug", "none"] },
    },
  },
  "pve-qemu-sev-fmt": {
    format: {
      type: { type: "string", default_key: 1, enum: ["std", "es", "snp"], maxLength: 3 },
      "no-debug": flag,
      "no-key-sharing": flag,
      "allow-smt": flag,
      "kernel-hashes": flag,
    },
  },
  "pve-qemu-tdx-fmt": {
    format: {
      type: { type: "string", default_key: 1, enum: ["tdx"] },
      attestation: { type: "boolean" },
      "vsock-cid": count,
      "vsock-port": count,
    },
  },
  "pve-vm-cpu-conf": {
    format: {
      cputype: { type: "string", optional: 1, default_key: 1 },
      "reported-model": text,
      hidden: flag,
      "hv-vendor-id": text,
      flags: text,
      "phys-bits": text,
      "guest-phys-bits": count,
    },
  },
  "pve-sdn-dhcp-range": {
    format: { "start-address": { type: "string", format: "ip" }, "end-address": { type: "string", format: "ip" } },
  },
  "backup-fleecing": { format: { enabled: { ...flag, default_key: 1 }, storage: { optional: 1, format: "pve-storage-id" } } },
  "backup-performance": {
    format: { "max-workers": { ...count, minimum: 1, maximum: 256 }, "pbs-entries-max": { ...count, minimum: 1 } },
  },
  "prune-backups": {
    format: {
      "keep-all": flag,
      ...Object.fromEntries(["last", "hourly", "daily", "weekly", "monthly", "yearly"].map((key) => [`keep-${key}`, count])),
    },
  },
}

/** The processor flags that a VM may have in addition to those of its model. */
export const cpuFlags: ReadonlySet<string> = new Set(
  "nested-virt md-clear pcid spec-ctrl ssbd ibpb virt-ssbd amd-ssbd amd-no-ssb pdpe1gb hv-tlbflush hv-evmcs aes".split(" "),
)

/** The processor models a VM may name without a `custom-` prefix. */
export const cpuModels: ReadonlySet<string> = new Set(
  [
    "486 Broadwell Broadwell-IBRS Broadwell-noTSX Broadwell-noTSX-IBRS Cascadelake-Server Cascadelake-Server-noTSX Cascadelake-Server-v2",
    "Cascadelake-Server-v4 Cascadelake-Server-v5 Conroe Cooperlake Cooperlake-v2 EPYC EPYC-Genoa EPYC-IBPB EPYC-Milan EPYC-Milan-v2",
    "EPYC-Rome EPYC-Rome-v2 EPYC-Rome-v3 EPYC-Rome-v4 EPYC-v3 EPYC-v4 GraniteRapids Haswell Haswell-IBRS Haswell-noTSX",
    "Haswell-noTSX-IBRS Icelake-Client Icelake-Client-noTSX Icelake-Server Icelake-Server-noTSX Icelake-Server-v3 Icelake-Server-v4",
    "Icelake-Server-v5 Icelake-Server-v6 IvyBridge IvyBridge-IBRS KnightsMill Nehalem Nehalem-IBRS Opteron_G1 Opteron_G2 Opteron_G3",
    "Opteron_G4 Opteron_G5 Penryn SandyBridge SandyBridge-IBRS SapphireRapids SapphireRapids-v2 Skylake-Client Skylake-Client-IBRS",
    "Skylake-Client-noTSX-IBRS Skylake-Client-v4 Skylake-Server Skylake-Server-IBRS Skylake-Server-noTSX-IBRS Skylake-Server-v4",
    "Skylake-Server-v5 Westmere Westmere-IBRS athlon core2duo coreduo host kvm32 kvm64 max pentium pentium2 pentium3 phenom qemu32",
    "qemu64 x86-64-v2 x86-64-v2-AES x86-64-v3 x86-64-v4",
  ].flatMap((line) => line.split(" ")),
)
