import * as Result from "effect/Result"
import { readYaml } from "../range/config/read-yaml.ts"
import { templateReceiptFile, type TemplateTold, writeTemplateReceipt } from "../template/definition.ts"
import { type ArtifactKind, collectionManifestFile, collectionMetadataFile, roleMetadataFiles, shapeProblem } from "./artifact.ts"
import {
  minimalRoleMetadata,
  readCollectionManifest,
  readCollectionSource,
  readRoleReceipt,
  readRoleVersion,
  roleReceiptFile,
  roleVersionFile,
  writeCollectionManifest,
  writeRoleReceipt,
} from "./receipt.ts"

/** The files whose text `prepareArtifact` uses, if they exist. Files longer than `longestText` are ignored. */
export const preparedTexts = (kind: ArtifactKind): ReadonlyArray<string> => {
  switch (kind) {
    case "template":
      return []
    case "role":
      return [...roleMetadataFiles, roleVersionFile, roleReceiptFile]
    case "collection":
      return [collectionManifestFile, collectionMetadataFile]
  }
}
export const longestText = 1024 * 1024

/** An artifact to install, and what is known about it. */
export interface ArtifactGiven {
  readonly kind: ArtifactKind
  readonly name: string
  /** Paths of all its files and links. */
  readonly paths: ReadonlySet<string>
  /** Text of a file; undefined if it does not exist. */
  readonly textOf: (path: string) => string | undefined
  /** Takes precedence over the version in the files. */
  readonly version?: string
  readonly description?: string
  /** For a template: its details for lists. */
  readonly template?: TemplateTold
  /** A date for display, written to the receipt. */
  readonly installedOn: string
}

export interface PreparedArtifact {
  /** Files to write, by path, in addition to the given files or in place of them. */
  readonly added: ReadonlyMap<string, string>
  /** The added files that are ignored when two copies are compared. */
  readonly receipts: ReadonlySet<string>
  /** The version in the receipts. */
  readonly version?: string
}

/**
 * The files that a copy gets in addition to its own: a role's receipt, and metadata if it has none; a collection's manifest if it has none.
 * Fails with the reason if the files are not an artifact of this kind, or are another one than stated.
 */
export const prepareArtifact = (given: ArtifactGiven): Result.Result<PreparedArtifact, string> => {
  const problem = shapeProblem(given.kind, given.paths)
  if (problem !== undefined) return Result.fail(problem)
  switch (given.kind) {
    case "template":
      return Result.succeed(prepareTemplate(given))
    case "role":
      return prepareRole(given)
    case "collection":
      return prepareCollection(given)
  }
}

/** A template's details for lists are stored next to its files. */
const prepareTemplate = ({ template = { system: undefined, description: undefined } }: ArtifactGiven): PreparedArtifact => {
  const receipt = writeTemplateReceipt(template)
  return { added: new Map([[templateReceiptFile, receipt]]), receipts: new Set([templateReceiptFile]) }
}

const shapes = { scalar: "a single value", list: "a list" } as const

/** Why Ansible could not read a role's metadata; undefined if it can, or if the file exceeds our limits. */
const metadataProblem = ({ paths, textOf }: Pick<ArtifactGiven, "paths" | "textOf">): string | undefined => {
  const folder = roleMetadataFiles.find((file) => [...paths].some((path) => path.startsWith(`${file}/`)))
  if (folder !== undefined) return `its ${folder} is a folder`
  const file = roleMetadataFiles.find((candidate) => paths.has(candidate))
  const text = file === undefined ? undefined : textOf(file)
  if (text === undefined) return undefined
  const read = readYaml(text, [])
  if (Result.isFailure(read)) {
    const syntax = read.failure.find(({ code }) => code === "yaml-syntax")
    return syntax === undefined ? undefined : `its ${file} is not valid YAML: ${syntax.message}`
  }
  const { success: root } = read
  if (root.kind === "map" || (root.kind === "scalar" && root.value === null)) return undefined
  return `its ${file} is ${shapes[root.kind]}, and must be a mapping`
}

const prepareRole = ({ paths, textOf, version, installedOn }: ArtifactGiven): Result.Result<PreparedArtifact, string> => {
  const problem = metadataProblem({ paths, textOf })
  if (problem !== undefined) return Result.fail(problem)
  const said = (path: string, read: (text: string) => string | undefined) => {
    const text = textOf(path)
    return text === undefined ? undefined : read(text)
  }
  const known = version ?? said(roleVersionFile, readRoleVersion) ?? said(roleReceiptFile, readRoleReceipt)
  const added = new Map([[roleReceiptFile, writeRoleReceipt(known, installedOn)]])
  if (!roleMetadataFiles.some((file) => paths.has(file))) added.set(roleMetadataFiles[0], minimalRoleMetadata)
  return Result.succeed({ added, receipts: new Set([roleReceiptFile]), ...(known === undefined ? {} : { version: known }) })
}

const prepareCollection = (given: ArtifactGiven): Result.Result<PreparedArtifact, string> => {
  const { name, paths, textOf, version, description } = given
  const built = paths.has(collectionManifestFile)
  const file = built ? collectionManifestFile : collectionMetadataFile
  const text = textOf(file) ?? ""
  const identity = built ? readCollectionManifest(text) : readCollectionSource(text)
  if (identity === undefined) return Result.fail(`its ${file} does not say what collection it is`)
  if (identity.name !== name) return Result.fail(`its ${file} says that it is ${JSON.stringify(identity.name.slice(0, 100))}`)
  if (built) return Result.succeed({ added: new Map(), receipts: new Set() })
  const [known, told] = [version ?? identity.version, description ?? identity.description]
  const manifest = writeCollectionManifest({
    name,
    ...(known === undefined ? {} : { version: known }),
    ...(told === undefined ? {} : { description: told }),
  })
  return Result.succeed({
    added: new Map([[collectionManifestFile, manifest]]),
    receipts: new Set([collectionManifestFile]),
    ...(known === undefined ? {} : { version: known }),
  })
}

/**
 * Whether the receipts of an installed copy must be rewritten: they are missing, or the version is known now and differs. A known version
 * is never replaced by an unknown one.
 */
export const receiptsAreStale = (
  { receipts, version }: PreparedArtifact,
  there: string | undefined,
  paths: ReadonlySet<string>,
): boolean =>
  [...receipts].some((receipt) => !paths.has(receipt)) || (receipts.size > 0 && version !== undefined && version !== there)
