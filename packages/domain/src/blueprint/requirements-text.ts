import { Document, isMap, isSeq, parseDocument } from "yaml"
import { noRequirements, readRequirements } from "../source/requirements.ts"
import type { Requirements } from "../source/content.ts"
import { requiresNothing, stillRequired } from "./required-roles.ts"

/** The lists of a `requirements.yml` that have entries. */
const listsOf = ({ roles, collections, subscriptionRoles }: Requirements) =>
  (
    [
      ["roles", roles],
      ["collections", collections],
      ["subscription_roles", subscriptionRoles.map((name) => ({ name }))],
    ] as const
  ).filter(([, entries]) => entries.length > 0)

/** Adds the entries to the list under the key; existing text stays as written. */
const append = (document: Document, key: string, entries: ReadonlyArray<object>): void => {
  const list = document.get(key, true)
  if (isSeq(list)) for (const entry of entries) list.add(document.createNode(entry))
  else document.set(key, document.createNode(entries))
}

/** An empty document with the comments of the given one. */
const withoutEntries = ({ commentBefore, comment }: Document): Document => {
  const document: Document = new Document({})
  document.commentBefore = [commentBefore, comment].filter((text) => typeof text === "string").join("\n") || null
  return document
}

/**
 * Adds requirements to the text of a `requirements.yml`; comments and all other entries stay as they were. Undefined if nothing is
 * required. An invalid file is returned unchanged, because only its author can fix it.
 */
export const withRequirements = (text: string | undefined, wanted: Requirements): string | undefined => {
  const { requirements, warnings } = text === undefined ? { requirements: noRequirements, warnings: [] } : readRequirements(text)
  const missing = stillRequired(requirements, wanted)
  if (warnings.length > 0 || requiresNothing(missing)) return text
  const written: Document = parseDocument(text ?? "")
  const document = isMap(written.contents) ? written : withoutEntries(written)
  for (const [key, entries] of listsOf(missing)) append(document, key, entries)
  return document.toString({ lineWidth: 0 })
}
