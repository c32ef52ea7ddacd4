import { packageFileName, packageLimits, readPackageSets, type PackageSet, type SignedPackage } from "@rangewright/domain"
import { PackageFolder, PackagesFault, SubscriptionFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { createHash } from "node:crypto"
import { folderRegistry } from "../registry/folder-registry.ts"
import { open } from "../trust/envelope.ts"
import type { PublicKey } from "../trust/keys.ts"

/** The signed manifest, beside one folder for each version of the emulator. */
export const manifestFile = "packages.json"

/** Path of a package's file, relative to the folder. */
export const packageFilePath = (set: Pick<PackageSet, "for">, file: Omit<SignedPackage, "bytes" | "sha256">): string =>
  `${set.for}/${packageFileName(file)}`

export const sha256Of = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")

export interface PackageFolderOptions {
  readonly folder: string
  /** Only what one of them signed is accepted. */
  readonly keys: readonly PublicKey[]
}

const hint =
  "Check node_packages_folder and node_packages_keys, or sign the folder again: subscription sign-packages FOLDER --key FILE"

/** A folder of patched packages on this host, signed by `signPackages`. */
export const packageFolderLayer = ({ folder, keys }: PackageFolderOptions): Layer.Layer<PackageFolder> => {
  const registry = folderRegistry(folder)
  const broken = (doing: string, detail: string) => new PackagesFault({ doing, reason: "folder", detail, hint })
  const read = (doing: string, path: string, most: number) =>
    Effect.tryPromise({
      try: async (signal) => {
        const found = await registry.read({ doing, path, most, timeoutSeconds: 60 }, signal)
        return found === "unchanged" ? Buffer.alloc(0) : found.bytes
      },
      catch: (cause) => broken(doing, cause instanceof SubscriptionFault ? cause.facts.detail : String(cause)),
    })
  return Layer.succeed(PackageFolder, {
    manifest: Effect.gen(function* () {
      const doing = "read the signed QEMU packages"
      const envelope = (yield* read(doing, manifestFile, packageLimits.manifestBytes)).toString("utf8")
      const opened = open(envelope, "application/vnd.rangewright.node-packages+json", keys)
      if (Result.isFailure(opened)) return yield* broken(doing, `${manifestFile}: ${opened.failure.detail}`)
      const sets = readPackageSets(opened.success)
      if (Result.isFailure(sets)) return yield* broken(doing, `${manifestFile}: ${sets.failure}`)
      return { sets: sets.success, digest: sha256Of(Buffer.from(opened.success)) }
    }),
    file: (set, file) =>
      Effect.gen(function* () {
        const path = packageFilePath(set, file)
        const doing = `read the package ${path}`
        // the bytes compared here are the ones sent: the file may be replaced a moment later
        const bytes = yield* read(doing, path, file.bytes)
        if (bytes.length !== file.bytes || sha256Of(bytes) !== file.sha256)
          return yield* broken(doing, "it is not the file that was signed")
        return bytes
      }),
  })
}
