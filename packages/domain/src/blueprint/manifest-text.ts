import { shownText } from "../source/shown-text.ts"
import type { BlueprintText } from "./blueprint.ts"
import type { BlueprintId } from "./origin.ts"

/** The content of an archive's `blueprint.yml`. Paths are from the folder that contains it. */
export interface ArchiveManifest extends BlueprintText {
  readonly id: BlueprintId
  readonly config: string
  readonly thumbnail: string | undefined
}

/** Words that some version of YAML does not read as text. */
const keyword = /^(true|false|yes|no|on|off|y|n|null)$/iu
const plain = /^[A-Za-z][A-Za-z0-9._/-]*$/u
/** Characters that JSON leaves unescaped but YAML rejects or reads as a line break. */
const unprintable = /[\u007f-\u00a0\u2028\u2029\ufeff\ufffe\uffff]/gu

const scalar = (text: string): string =>
  plain.test(text) && !keyword.test(text)
    ? text
    : JSON.stringify(shownText(text)).replace(unprintable, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`)

/**
 * The text of a `blueprint.yml`. `readBlueprintManifest` reads it back unchanged, except for control characters and unpaired surrogates,
 * which manifests must not contain. Equal input gives equal text.
 */
export const blueprintManifestText = (manifest: ArchiveManifest): string => {
  const line = (key: string, text: string | undefined) => (text ? [`${key}: ${scalar(text)}`] : [])
  return [
    "manifest_version: 1",
    `id: ${scalar(manifest.id)}`,
    `name: ${scalar(manifest.name)}`,
    ...line("description", manifest.description),
    `version: ${scalar(manifest.version)}`,
    ...(manifest.tags.length === 0 ? [] : [`tags: [${manifest.tags.map(scalar).join(", ")}]`]),
    ...line("min_ludus_version", manifest.minVersion),
    ...line("thumbnail_path", manifest.thumbnail),
    `config: ${scalar(manifest.config)}`,
    "",
  ].join("\n")
}
