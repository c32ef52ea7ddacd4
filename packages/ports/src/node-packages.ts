import type { ObservedPackages, PackageSet, PackageVersion, SignedPackage } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { PackagesFault } from "./faults.ts"

/** The package sets that the operator has signed. */
export interface PackageManifest {
  readonly sets: readonly PackageSet[]
  /** Equal if and only if the signed texts are equal. */
  readonly digest: string
}

/** The operator's folder of patched packages. Only content signed by one of the operator's keys counts. */
export class PackageFolder extends Context.Service<
  PackageFolder,
  {
    /** The current manifest; a missing or untrusted signature is a fault. */
    readonly manifest: Effect.Effect<PackageManifest, PackagesFault>
    /** The bytes of a package file, checked against the signed size and hash. */
    readonly file: (set: PackageSet, file: SignedPackage) => Effect.Effect<Uint8Array, PackagesFault>
  }
>()("rangewright/PackageFolder") {}

/** A package and its file. */
export interface PackageFile {
  readonly package: SignedPackage
  readonly content: Uint8Array
}

/**
 * The QEMU packages on the hypervisor's nodes. No machine is stopped or started: a running one keeps the emulator it started with. All
 * calls can be repeated; a failure may leave part of the work done.
 */
export class NodePackages extends Context.Service<
  NodePackages,
  {
    /** The nodes whose packages the service manages, in the order of the configuration; empty if it manages none. */
    readonly nodes: readonly string[]
    readonly observe: (node: string) => Effect.Effect<ObservedPackages, PackagesFault>
    /**
     * Installs the packages of a set from these files in place of the installed ones, and holds them, so that the node's updates skip them.
     * Refuses without a change if the node's packages are not the ones the set is for, a file is not the package it claims to be, or any
     * other package would change.
     */
    readonly install: (node: string, set: PackageSet, files: readonly PackageFile[]) => Effect.Effect<void, PackagesFault>
    /** Installs these versions from the node's repositories and removes the hold. Refuses if any other package would change. */
    readonly restore: (node: string, versions: readonly PackageVersion[]) => Effect.Effect<void, PackagesFault>
  }
>()("rangewright/NodePackages") {}
