/** The packages of QEMU and its firmware. No other package on a node is ever installed, changed or removed. */
export const patchablePackages = [
  "pve-qemu-kvm",
  "pve-edk2-firmware",
  "pve-edk2-firmware-legacy",
  "pve-edk2-firmware-ovmf",
] as const
export type PatchablePackage = (typeof patchablePackages)[number]

/** The emulator's package; its version determines which package set is built for a node. */
export const emulatorPackage = "pve-qemu-kvm" satisfies PatchablePackage

export const isPatchable = (name: string): name is PatchablePackage => (patchablePackages as readonly string[]).includes(name)

/** A package in one version. */
export interface PackageVersion {
  readonly name: PatchablePackage
  readonly version: string
}

/** A patched package, as the operator's signature names it. */
export interface SignedPackage extends PackageVersion {
  readonly architecture: string
  /** Size of the file. */
  readonly bytes: number
  /** Of the file, in lowercase hex. */
  readonly sha256: string
}

/** The patched packages for one version of the emulator. */
export interface PackageSet {
  /** The version of `emulatorPackage` that a node must have; these packages replace it. */
  readonly for: string
  readonly packages: readonly SignedPackage[]
}

/** A package installed on a node. */
export interface NodePackage extends PackageVersion {
  /** Whether the node's updates skip it. */
  readonly held: boolean
  /** False while it is half installed. */
  readonly settled: boolean
  /** The versions in the node's repositories, newest first. */
  readonly offered: readonly string[]
}

/** A node's packages as observed. */
export interface ObservedPackages {
  /** As dpkg reports it, such as `amd64`. */
  readonly architecture: string
  /** The installed ones among `patchablePackages`. */
  readonly packages: readonly NodePackage[]
}

/**
 * Whether a text is a valid package version. It begins with a digit and ends with a letter or digit, so that no program takes it for an
 * option, or apt takes a trailing sign for an install or remove request.
 */
export const isPackageVersion = (text: string): boolean =>
  text.length <= 100 && /^(?:\d{1,9}:)?\d(?:[A-Za-z0-9.+~-]*[A-Za-z0-9])?$/u.test(text)

/** Whether a text is a valid architecture name. */
export const isArchitecture = (text: string): boolean => /^[a-z][a-z0-9-]{0,31}$/u.test(text)

/** The file name of a package as the build tools choose it: without the epoch. */
export const packageFileName = ({ name, version, architecture }: Omit<SignedPackage, "bytes" | "sha256">): string =>
  `${name}_${version.replace(/^\d+:/u, "")}_${architecture}.deb`

/** Parses the file name of a package; undefined for any other name. */
export const parsePackageFileName = (file: string): Omit<SignedPackage, "bytes" | "sha256"> | undefined => {
  const [, name = "", version = "", architecture = ""] = /^([^_]+)_([^_]+)_([^_.]+)\.deb$/u.exec(file) ?? []
  return isPatchable(name) && isPackageVersion(version) && isArchitecture(architecture)
    ? { name, version, architecture }
    : undefined
}
