import type { ObservedPackages, PackageSet, PackageVersion, SignedPackage } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { PackagesFault } from "./faults.ts"

/** What the operator has signed. */
export interface PackageManifest {
  readonly sets: readonly PackageSet[]
  /** Equal exactly for equal signed texts. */
  readonly digest: string
}

/** The operator's folder of patched packages. Nothing of it counts that one of the operator's keys has not signed. */
export class PackageFolder extends Context.Service<
  PackageFolder,
  {
    /** As it is now; a signature that is missing or nobody's is a fault. */
    readonly manifest: Effect.Effect<PackageManifest, PackagesFault>
    /** The bytes of a package's file, which have the size and the hash that the signature names. */
    readonly file: (set: PackageSet, file: SignedPackage) => Effect.Effect<Uint8Array, PackagesFault>
  }
>()("rangewright/PackageFolder") {}

/** A package and its file. */
export interface PackageFile {
  readonly package: SignedPackage
  readonly content: Uint8Array
}

/**
 * The packages of QEMU on the nodes of the hypervisor. No machine is stopped or started: what runs keeps the emulator with which it started. All may be
 * repeated; when it fails, some of it may have been done.
 */
export class NodePackages extends Context.Service<
  NodePackages,
  {
    /** The nodes whose packages are looked after, in the order of the configuration. Empty: the service does not do so. */
    readonly nodes: readonly string[]
    readonly observe: (node: string) => Effect.Effect<ObservedPackages, PackagesFault>
    /**
     * Puts the packages of a set, whose files these are, in the place of those that a node has, and holds them, so that its updates leave them.
     * Refuses without a change when the node has not what the set is for, a file is not the package that it is said to be, or any other package
     * would be changed by it.
     */
    readonly install: (node: string, set: PackageSet, files: readonly PackageFile[]) => Effect.Effect<void, PackagesFault>
    /** Installs these versions from the node's repositories, and holds them no more. Refuses when any other package would be changed by it. */
    readonly restore: (node: string, versions: readonly PackageVersion[]) => Effect.Effect<void, PackagesFault>
  }
>()("rangewright/NodePackages") {}
