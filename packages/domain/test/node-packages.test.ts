import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import {
  isPackageVersion,
  judgePackages,
  type NodePackage,
  type ObservedPackages,
  type PackageSet,
  packagesToInstall,
  packagesToRestore,
  parsePackageFileName,
  readPackageSets,
  writePackageSets,
} from "../src/node-packages/index.ts"

const signed = (name: PackageSet["packages"][number]["name"], version: string, architecture = "amd64") => ({
  name,
  version,
  architecture,
  bytes: 10,
  sha256: "0".repeat(64),
})
const lab1: PackageSet = { for: "10.0.2-4", packages: [signed("pve-qemu-kvm", "10.0.2-4+lab1")] }
const lab2: PackageSet = { for: "10.0.2-4+lab1", packages: [signed("pve-qemu-kvm", "10.0.2-4+lab2")] }
const both: PackageSet = { ...lab1, packages: [...lab1.packages, signed("pve-edk2-firmware", "4.2025.02-4+lab1", "all")] }

const qemu = (version: string, more: Partial<NodePackage> = {}): NodePackage => ({
  name: "pve-qemu-kvm",
  version,
  held: false,
  settled: true,
  offered: ["10.1.0-1", "10.0.2-4"],
  ...more,
})
const firmware = (version = "4.2025.02-4", more: Partial<NodePackage> = {}): NodePackage =>
  qemu(version, { name: "pve-edk2-firmware", offered: ["4.2025.02-4"], ...more })
const node = (...packages: NodePackage[]): ObservedPackages => ({ architecture: "amd64", packages })

describe("what a node's packages are", () => {
  it.each([
    ["standard", [lab1], node(qemu("10.0.2-4"), firmware())],
    ["custom", [lab1], node(qemu("10.0.2-4+lab1", { held: true }), firmware())],
    ["custom", [lab1, lab2], node(qemu("10.0.2-4+lab1"), firmware())],
    ["mixed", [both], node(qemu("10.0.2-4+lab1"), firmware())],
    ["custom", [both], node(qemu("10.0.2-4+lab1"), firmware("4.2025.02-4+lab1"))],
    // in no repository, and in no signature
    ["unknown", [lab1], node(qemu("10.0.2-3"), firmware())],
    ["unknown", [], node(qemu("10.0.2-4+lab1"))],
    ["unknown", [lab1], node(qemu("10.0.2-4+lab1", { settled: false }))],
    ["unknown", [lab1], node()],
    // offered by a repository, and signed
    ["custom", [lab1], node(qemu("10.0.2-4+lab1", { offered: ["10.0.2-4+lab1", "10.0.2-4"] }))],
  ] as const)("is %s", (state, sets, seen) => expect(judgePackages(sets, seen)).toBe(state))
})

describe("patched packages", () => {
  const install = (sets: readonly PackageSet[], seen: ObservedPackages) =>
    Result.match(packagesToInstall(sets, seen), { onFailure: (text) => text, onSuccess: (set) => set?.packages[0]?.version })

  it("are for exactly the version that they are built for", () => {
    expect(install([lab1], node(qemu("10.0.2-4")))).toBe("10.0.2-4+lab1")
    expect(install([lab1], node(qemu("10.1.0-1")))).toBe(
      "it has pve-qemu-kvm 10.1.0-1, and the signed packages are built for 10.0.2-4",
    )
    expect(install([lab1], node(firmware()))).toBe("it has no pve-qemu-kvm")
    expect(install([both], node(qemu("10.0.2-4")))).toContain("pve-edk2-firmware is not installed there")
    expect(install([lab1], { ...node(qemu("10.0.2-4")), architecture: "arm64" })).toBe(
      "it is arm64, and the signed pve-qemu-kvm is built for amd64",
    )
  })

  it("are there when all are installed and held", () => {
    expect(install([lab1], node(qemu("10.0.2-4+lab1", { held: true })))).toBeUndefined()
    expect(install([lab1], node(qemu("10.0.2-4+lab1")))).toBe("10.0.2-4+lab1")
    expect(install([lab1], node(qemu("10.0.2-4+lab1", { held: true, settled: false })))).toBe("10.0.2-4+lab1")
    expect(install([both], node(qemu("10.0.2-4+lab1", { held: true }), firmware()))).toBe("10.0.2-4+lab1")
    // a newer one, for those who have the older
    expect(install([lab1, lab2], node(qemu("10.0.2-4+lab1", { held: true })))).toBe("10.0.2-4+lab2")
    expect(install([lab1, lab2], node(qemu("10.0.2-4+lab2", { held: true })))).toBeUndefined()
  })
})

describe("standard packages", () => {
  const restore = (sets: readonly PackageSet[], seen: ObservedPackages) =>
    Result.match(packagesToRestore(sets, seen), {
      onFailure: (text) => text,
      onSuccess: (versions) => versions?.map(({ name, version }) => `${name}=${version}`),
    })

  it("are those for which the patched ones were built, or else the newest", () => {
    expect(restore([lab1], node(qemu("10.0.2-4"), firmware()))).toBeUndefined()
    expect(restore([lab1], node(qemu("10.0.2-4+lab1", { held: true }), firmware()))).toEqual(["pve-qemu-kvm=10.0.2-4"])
    expect(restore([lab1, lab2], node(qemu("10.0.2-4+lab2")))).toEqual(["pve-qemu-kvm=10.0.2-4"])
    expect(restore([lab1], node(qemu("10.0.2-4+lab1", { offered: ["10.1.0-1"] })))).toEqual(["pve-qemu-kvm=10.1.0-1"])
    // the signature that named it is gone
    expect(restore([], node(qemu("10.0.2-4+lab1")))).toEqual(["pve-qemu-kvm=10.1.0-1"])
    // a repository that also has the patched one
    expect(restore([lab1], node(qemu("10.0.2-4+lab1", { offered: ["10.0.2-4+lab1", "10.0.2-3"] })))).toEqual([
      "pve-qemu-kvm=10.0.2-3",
    ])
    expect(restore([], node(qemu("10.0.2-4+lab1", { offered: [] })))).toBe("none of its repositories offers pve-qemu-kvm")
    expect(restore([lab1], node())).toBe("it has no QEMU packages")
  })

  it("are no longer held", () =>
    expect(restore([lab1], node(qemu("10.0.2-4", { held: true })))).toEqual(["pve-qemu-kvm=10.0.2-4"]))

  it("are found even if signed sets form a circle", () => {
    const back: PackageSet = { for: "10.0.2-4+lab2", packages: [signed("pve-qemu-kvm", "10.0.2-4+lab1")] }
    expect(restore([lab2, back], node(qemu("10.0.2-4+lab2", { held: true })))).toEqual(["pve-qemu-kvm=10.1.0-1"])
  })
})

describe("what is signed", () => {
  const problem = (sets: unknown) => {
    const read = readPackageSets(JSON.stringify({ sets }))
    return Result.isFailure(read) ? read.failure : "(read)"
  }
  it("is read as it was written", () =>
    expect(readPackageSets(writePackageSets([both, lab2]))).toEqual(Result.succeed([both, lab2])))

  it.each([
    ["no set", []],
    ["a set of nothing", [{ for: "1", packages: [] }]],
    ["another package", [{ for: "1", packages: [{ ...signed("pve-qemu-kvm", "2"), name: "openssh-server" }] }]],
    ["a path for a version", [{ for: "../1", packages: lab1.packages }]],
    ["an option for a version", [{ for: "1", packages: [signed("pve-qemu-kvm", "--help")] }]],
    ["a command in a version", [{ for: "1", packages: [signed("pve-qemu-kvm", "1;reboot")] }]],
    ["a wish of apt's in a version", [{ for: "1", packages: [signed("pve-qemu-kvm", "1-")] }]],
    ["a path for an architecture", [{ for: "1", packages: [signed("pve-qemu-kvm", "2", "../amd64")] }]],
    ["no hash", [{ for: "1", packages: [{ ...signed("pve-qemu-kvm", "2"), sha256: "" }] }]],
    ["too large a file", [{ for: "1", packages: [{ ...signed("pve-qemu-kvm", "2"), bytes: 1e12 }] }]],
    ["one version twice", [lab1, lab1]],
    ["one package twice", [{ ...lab1, packages: [...lab1.packages, ...lab1.packages] }]],
    ["what it replaces", [{ for: "2", packages: [signed("pve-qemu-kvm", "2")] }]],
  ])("has not %s", (_what, sets) => expect(problem(sets)).not.toBe("(read)"))

  it("names files as the tools that build packages do", () => {
    expect(parsePackageFileName("pve-qemu-kvm_10.0.2-4+lab1_amd64.deb")).toEqual({
      name: "pve-qemu-kvm",
      version: "10.0.2-4+lab1",
      architecture: "amd64",
    })
    for (const name of [
      "openssh-server_1_amd64.deb",
      "pve-qemu-kvm_1_amd64.deb.asc",
      "pve-qemu-kvm_$(id)_amd64.deb",
      "pve-qemu-kvm_1_am/d64.deb",
      "pve-qemu-kvm_-1_amd64.deb",
      "pve-qemu-kvm__amd64.deb",
    ])
      expect([name, parsePackageFileName(name)]).toEqual([name, undefined])
    for (const version of ["1", "1:2.3~rc1-1+b2", "10.0.2-4"]) expect(isPackageVersion(version)).toBe(true)
    for (const version of ["", "v1", "1 2", "1\n", "1+", "1-", "1=2", "é1", `1${"0".repeat(100)}`])
      expect([version, isPackageVersion(version)]).toEqual([version, false])
  })
})
