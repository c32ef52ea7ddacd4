/** Reads templates, roles and collections: their names and metadata. */
import * as Result from "effect/Result"
import { quote } from "../range/config/issue.ts"
import { readBuilderFile } from "./builder-file.ts"
import { readCollectionMetadata } from "./collection.ts"
import { directoryName, type ShippedCollection, type ShippedRole, type ShippedTemplate } from "./content.ts"
import { pathProblem } from "./files.ts"
import { tellOfFile, tellOfText } from "./issue.ts"
import type { CollectionPlace, RolePlace, TemplatePlace } from "./layout.ts"
import { present } from "./manifest.ts"
import { isRoleName, isTemplateName } from "./names.ts"
import { type InParts, readFile, type Reading, type ReadItems, readItems, textAt } from "./reading.ts"
import { readRoleMetadata, roleVersion } from "./role.ts"
import { isShownText } from "./shown-text.ts"

export const readTemplates = (reading: Reading): InParts<ReadItems<ShippedTemplate>> =>
  readItems(reading, "template", reading.layout.templates, readTemplate)

const readTemplate = (reading: Reading, { directory, builders }: TemplatePlace): ShippedTemplate | undefined => {
  const { issues } = reading
  const [builder] = builders
  if (builder === undefined || builders.length > 1) {
    const message = `has ${builders.length} builder files and cannot be installed`
    tellOfFile(issues, "error", directory, { code: "builder-files", message, allowed: "one *.pkr.hcl or *.pkr.json" })
    return undefined
  }
  const text = textAt(reading, builder, "warning")
  const facts = text === undefined ? undefined : (reading.files.builders?.get(builder) ?? readBuilderFile(builder, text))
  const name = facts?.name ?? directoryName(directory)
  if (!isTemplateName(name)) {
    const message = `the template cannot be named ${quote(name)}`
    tellOfFile(issues, "error", builder, {
      code: "unsafe-name",
      message,
      allowed: "letters, digits, ., _ and -, beginning with a letter or digit",
    })
    return undefined
  }
  const icon = facts?.icon === undefined || pathProblem(facts.icon) !== undefined ? undefined : `${directory}/${facts.icon}`
  const iconThere = icon !== undefined && reading.present.has(icon) ? icon : undefined
  const description = isShownText(facts?.description ?? "") ? facts?.description : undefined
  return { name, directory, ...present({ description, os: facts?.os, icon: iconThere }) }
}

export const readRoles = (reading: Reading): InParts<ReadItems<ShippedRole>> =>
  readItems(reading, "role", reading.layout.roles, readRole)

const readRole = (reading: Reading, { directory, metadata, version }: RolePlace): ShippedRole | undefined => {
  const own = directoryName(directory)
  if (!isRoleName(own)) {
    const message = `a role cannot be named ${quote(own)}`
    tellOfFile(reading.issues, "error", directory, {
      code: "unsafe-name",
      message,
      allowed: "letters, digits, ., _ and -, not beginning with . or -",
    })
    return undefined
  }
  const file = metadata === undefined ? undefined : readFile(reading, metadata, "warning")
  const versionFile = version === undefined ? undefined : readFile(reading, version, "warning")
  const { name, description } = file === undefined ? { name: own, description: undefined } : readRoleMetadata(file.root, own)
  return {
    name,
    directory,
    ...present({ description, version: roleVersion(versionFile?.root, reading.files.tags?.get(directory)) }),
  }
}

export const readCollections = (reading: Reading): InParts<ReadItems<ShippedCollection>> =>
  readItems(reading, "collection", reading.layout.collections, readCollection)

const readCollection = (reading: Reading, { directory, metadata }: CollectionPlace): ShippedCollection | undefined => {
  if (metadata === undefined) {
    const message = "has no galaxy.yml and cannot be installed"
    tellOfFile(reading.issues, "error", directory, { code: "not-a-collection", message })
    return undefined
  }
  const file = readFile(reading, metadata, "error")
  if (file === undefined) return undefined
  const read = readCollectionMetadata(file.root)
  if (Result.isSuccess(read)) {
    const { name, ...said } = read.success
    return { name, directory, ...present(said) }
  }
  tellOfText(reading.issues, metadata, file.text, read.failure)
  return undefined
}
