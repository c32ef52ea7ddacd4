/** The packages of QEMU and of its firmware. No other package of a node is ever installed, changed or removed. */
export const patchablePackages = [
  "pve-qemu-kvm",
  "pve-edk2-firmware",
  "pve-edk2-firmware-legacy",
  "pve-edk2-firmware-ovmf",
] as const
export type PatchablePackage = (typeof patchablePackages)[number]

/** The package of the emulator: by its version a node is told for which packages are built. */
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
  /** Of the file, in lower-case hexadecimal. */
  readonly sha256: string
}

/** The patched packages for nodes with one version of the emulator. */
export interface PackageSet {
  /** The version of `emulatorPackage` that a node must have: these packages are built to take its place. */
  readonly for: string
  readonly packages: readonly SignedPackage[]
}

/** One of the packages that a node has. */
export interface NodePackage extends PackageVersion {
  /** The node's updates leave it as it is. */
  readonly held: boolean
  /** False while it is half installed. */
  readonly settled: boolean
  /** The versions in the node's repositories, newest first. */
  readonly offered: readonly string[]
}

/** What a node says of its packages. */
export interface ObservedPackages {
  /** As dpkg names it, such as `amd64`. */
  readonly architecture: string
  /** Those of `patchablePackages` that are installed. */
  readonly packages: readonly NodePackage[]
}

/**
 * Whether a text can be the version of a package. It begins with a digit and ends with one or a letter, so that no program takes it for an option, nor a
 * sign at its end for a wish of its own.
 */
export const isPackageVersion = (text: string): boolean =>
  text.length <= 100 && /^(?:\d{1,9}:)?\d(?:[A-Za-z0-9.+~-]*[A-Za-z0-9])?$/u.test(text)

/** Whether a text can be the name of an architecture. */
export const isArchitecture = (text: string): boolean => /^[a-z][a-z0-9-]{0,31}$/u.test(text)

/** The name of a package's file, as the tools that build packages choose it: without the epoch. */
export const packageFileName = ({ name, version, architecture }: Omit<SignedPackage, "bytes" | "sha256">): string =>
  `${name}_${version.replace(/^\d+:/u, "")}_${architecture}.deb`

/** Reads the name of a package's file; undefined for any other. */
export const parsePackageFileName = (file: string): Omit<SignedPackage, "bytes" | "sha256"> | undefined => {
  const [, name = "", version = "", architecture = ""] = /^([^_]+)_([^_]+)_([^_.]+)\.deb$/u.exec(file) ?? []
  return isPatchable(name) && isPackageVersion(version) && isArchitecture(architecture)
    ? { name, version, architecture }
    : undefined
}
