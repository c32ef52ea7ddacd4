import * as Result from "effect/Result"
import { blueprintManifestOf, type BlueprintManifest } from "./blueprint.ts"
import type { FileText, ShippedBlueprint } from "./content.ts"
import { tellOfFile, tellOfText } from "./issue.ts"
import type { BlueprintPlace } from "./layout.ts"
import { type InParts, readFile, type Reading, type ReadItems, readItems, textAt } from "./reading.ts"
import { readReferences } from "./references.ts"
import { noRequirements, readRequirements } from "./requirements.ts"

export const readBlueprints = (reading: Reading): InParts<ReadItems<ShippedBlueprint>> =>
  readItems(reading, "blueprint", reading.layout.blueprints, readBlueprint)

const readBlueprint = (reading: Reading, place: BlueprintPlace): ShippedBlueprint | undefined => {
  const file = readFile(reading, place.manifest, "error")
  if (file === undefined) return undefined
  const manifest = blueprintManifestOf(file.root, place.directory)
  if (Result.isFailure(manifest)) {
    tellOfText(reading.issues, place.manifest, file.text, manifest.failure)
    return undefined
  }
  const { thumbnail, config: path, ...said } = manifest.success
  const config = readConfig(reading, place, path)
  if (config === undefined) return undefined
  return {
    ...said,
    ...(thumbnail !== undefined && reading.present.has(thumbnail) ? { thumbnail } : {}),
    config,
    references: referencesOf(reading, config),
    ...requirementsOf(reading, place),
  }
}

const readConfig = (reading: Reading, place: BlueprintPlace, path: BlueprintManifest["config"]): FileText | undefined => {
  if (reading.present.has(path)) {
    const text = textAt(reading, path, "error")
    return text === undefined ? undefined : { path, text }
  }
  const message = `its configuration ${path} is not a file of the source`
  tellOfFile(reading.issues, "error", place.manifest, { code: "config-not-found", message })
  return undefined
}

const referencesOf = ({ issues }: Reading, { path, text }: FileText): ShippedBlueprint["references"] => {
  const references = readReferences(text)
  if (Result.isSuccess(references)) return references.success
  tellOfText(issues, path, text, references.failure, "warning")
  return { templates: [], roles: [] }
}

const requirementsOf = (
  reading: Reading,
  { requirements: path }: BlueprintPlace,
): Pick<ShippedBlueprint, "requirements" | "requirementsFile"> => {
  const text = path === undefined ? undefined : textAt(reading, path, "error")
  if (path === undefined || text === undefined) return { requirements: noRequirements }
  const { requirements, warnings, unsafe } = readRequirements(text)
  tellOfText(reading.issues, path, text, warnings, "warning")
  tellOfText(reading.issues, path, text, unsafe)
  return { requirements, requirementsFile: { path, text } }
}
