import {
  isPackageVersion,
  packageLimits,
  type PackageSet,
  parsePackageFileName,
  readPackageSets,
  type SignedPackage,
  writePackageSets,
} from "@rangewright/domain"
import * as Result from "effect/Result"
import { lstat, readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { CannotPack, reasonOf } from "../faults.ts"
import { replaceFile } from "../replace-file.ts"
import { seal } from "../trust/envelope.ts"
import type { SigningKey } from "../trust/keys.ts"
import { manifestFile, sha256Of } from "./folder.ts"

const layout =
  "The folder must contain one folder for each version of pve-qemu-kvm that nodes have, named like it, and in it the .deb files of QEMU packages that are built to replace that version."

const refuse = (what: string, detail: string) => new CannotPack({ doing: "sign", what, detail, hint: layout })

const namesIn = async (folder: string): Promise<readonly string[]> => {
  const names = await readdir(folder).catch((cause: unknown) => {
    throw refuse(folder, reasonOf(cause))
  })
  return names.filter((name) => !name.startsWith(".") && name !== manifestFile).toSorted()
}

const signedPackage = async (folder: string, name: string): Promise<SignedPackage> => {
  const file = join(folder, name)
  const named = parsePackageFileName(name)
  if (named === undefined) throw refuse(file, "it is not named like a QEMU package: NAME_VERSION_ARCHITECTURE.deb")
  const stat = await lstat(file)
  if (!stat.isFile()) throw refuse(file, "it is not a file")
  if (stat.size > packageLimits.bytes) throw refuse(file, `it is larger than ${packageLimits.bytes} bytes`)
  const bytes = await readFile(file)
  return { ...named, bytes: bytes.length, sha256: sha256Of(bytes) }
}

/**
 * Signs the patched packages of a folder: `FOLDER/10.0.2-4/pve-qemu-kvm_10.0.2-4+lab1_amd64.deb` is for nodes with pve-qemu-kvm 10.0.2-4.
 * One signature covers all of them, and replaces the previous one. Rejects with `CannotPack`.
 */
export const signPackages = async (folder: string, key: SigningKey): Promise<readonly PackageSet[]> => {
  const sets: PackageSet[] = []
  const versions = await namesIn(folder)
  if (versions.length === 0) throw refuse(folder, "it contains no folder of packages")
  for (const version of versions) {
    if (!isPackageVersion(version)) throw refuse(join(folder, version), "its name is not the version of a package")
    const packages: SignedPackage[] = []
    const names = await namesIn(join(folder, version))
    if (names.length === 0) throw refuse(join(folder, version), "it contains no package")
    for (const name of names) packages.push(await signedPackage(join(folder, version), name))
    sets.push({ for: version, packages })
  }
  const text = writePackageSets(sets)
  const readable = readPackageSets(text)
  if (Result.isFailure(readable)) throw refuse(folder, readable.failure)
  await replaceFile(join(folder, manifestFile), seal("application/vnd.rangewright.node-packages+json", text, key), 0o644)
  return sets
}
