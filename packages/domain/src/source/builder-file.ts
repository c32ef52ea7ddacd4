/** What a template's builder file says about the template. */
import * as Result from "effect/Result"
import { childOf, type Node } from "../range/config/node.ts"
import { readYaml } from "../range/config/read-yaml.ts"
import { type Block, type Expression, literal, readBlocks, readTemplateText, type Span } from "./hcl.ts"

export interface BuilderFacts {
  /** Name of the machine that is built; undefined if it cannot be determined without running anything. */
  readonly name: string | undefined
  readonly description: string | undefined
  readonly os: string | undefined
  /** As written: relative to the template's directory. */
  readonly icon: string | undefined
  /** Names of the declared variables. */
  readonly declares: ReadonlySet<string>
}

/** A disc image that a template is installed from, as far as it can be determined without running anything. */
export interface BuilderImage {
  readonly url: string | undefined
  /** In Packer's forms: `sha256:…`, `file:` and a URL, `none`, or the checksum alone. */
  readonly checksum: string | undefined
  /** A volume on the hypervisor, in place of a URL. */
  readonly file: string | undefined
}

/** The images that a builder file names; an entry without a URL and a file is one that cannot be determined. */
export const readBuilderImages = (path: string, text: string): ReadonlyArray<BuilderImage> => {
  const file = path.endsWith(".json") ? inJson(text) : inHcl(text)
  const values = valuesOf(file)
  return file.images.map((image) => imageIn(image, values))
}

const imageIn = ({ url, checksum, file }: BuilderFile["images"][number], values: Values): BuilderImage => {
  const told = (expression: Expression) => evaluate(expression, values)?.trim() || undefined
  return { url: told(url), checksum: told(checksum), file: told(file) }
}

/** The attributes for an image given by URL. */
const keysOfUrl = ["iso_url", "iso_checksum", "iso_checksum_type", "iso_target_path", "iso_target_extension", "iso_download_pve"]

/**
 * Rewrites an HCL builder file to use hypervisor volumes for the images that `stored` knows: `iso_file` replaces `iso_url`. Everything else
 * stays, and so do line numbers. Images with several URLs, and those that are files already, are not passed to `stored`.
 */
export const withStoredImages = (text: string, stored: (image: BuilderImage) => string | undefined | void): string => {
  const values = valuesOf(inHcl(text))
  const changes: Array<Span & { readonly put: string }> = []
  for (const block of imageBlocksIn(readBlocks(text))) {
    if (block.attributes.has("iso_urls") || block.attributes.has("iso_file")) continue
    const volume = stored(imageIn(namedBy(block), values))
    if (typeof volume !== "string") continue
    for (const key of keysOfUrl) {
      const span = block.spans.get(key)
      if (span === undefined) continue
      const lines = text.slice(span.from, span.to).replaceAll(/[^\n]/gu, "")
      changes.push({ ...span, put: (key === "iso_url" ? `iso_file = ${JSON.stringify(volume)}` : "") + lines })
    }
  }
  let written = ""
  let at = 0
  for (const { from, to, put } of changes.toSorted((a, b) => a.from - b.from)) {
    written += text.slice(at, from) + put
    at = to
  }
  return written + text.slice(at)
}

/** Reads a builder file, in HCL or, by its extension, JSON. Any other text gives empty facts. */
export const readBuilderFile = (path: string, text: string): BuilderFacts => {
  const file = path.endsWith(".json") ? inJson(text) : inHcl(text)
  const values = valuesOf(file)
  const told = file.machines.map((machine) => evaluate(machine, values)?.trim()).find((name) => name !== undefined && name !== "")
  const variable = (name: string): string | undefined => values.var.get(name)?.trim() || undefined
  return {
    name: told ?? variable("vm_name"),
    description: variable("description"),
    os: variable("os"),
    icon: variable("icon_path") ?? variable("thumbnail_path"),
    declares: new Set(file.variables.map(([name]) => name)),
  }
}

const valuesOf = (file: BuilderFile): Values => {
  const values: Values = { var: new Map(), local: new Map() }
  for (const [name, value] of file.variables) setKnown(values.var, name, literal(value))
  // Locals can use variables only: dependencies between locals are not resolved.
  for (const [name, value] of file.locals) setKnown(values.local, name, evaluate(value, { ...values, local: new Map() }))
  return values
}

interface BuilderFile {
  /** Default values by variable name. */
  readonly variables: ReadonlyArray<readonly [string, Expression]>
  readonly locals: ReadonlyArray<readonly [string, Expression]>
  /** The machine name in each source block. */
  readonly machines: ReadonlyArray<Expression>
  readonly images: ReadonlyArray<{ readonly url: Expression; readonly checksum: Expression; readonly file: Expression }>
}
interface Values {
  readonly var: Map<string, string>
  readonly local: Map<string, string>
}

const setKnown = (values: Map<string, string>, name: string, value: string | undefined): void => {
  if (value !== undefined && !values.has(name)) values.set(name, value)
}

/** Longer than any real name or description; keeps references from expanding to huge texts. */
const longestValue = 10_000

const evaluate = (expression: Expression, values: Values): string | undefined => {
  let text = ""
  for (const part of expression ?? [undefined]) {
    const value = part === undefined || typeof part === "string" ? part : values[part.scope].get(part.name)
    if (value === undefined) return undefined
    text += value
    if (text.length > longestValue) return undefined
  }
  return text
}

/** Blocks in a source block that can name an image, besides the source block itself. */
const imageBlocks: ReadonlySet<string> = new Set(["boot_iso", "additional_iso_files"])
const imageKeys = ["iso_url", "iso_urls", "iso_file"] as const

const inHcl = (text: string): BuilderFile => {
  const blocks = readBlocks(text)
  const ofType = (type: string) => blocks.filter((block) => block.type === type)
  return {
    variables: ofType("variable").map(({ labels, attributes }) => [labels[0] ?? "", attributes.get("default")]),
    locals: ofType("locals").flatMap(({ attributes }) => [...attributes]),
    machines: ofType("source").map(({ attributes }) => attributes.get("vm_name")),
    images: imageBlocksIn(blocks).map(namedBy),
  }
}

/** The blocks that name an image. */
const imageBlocksIn = (blocks: ReadonlyArray<Block>): ReadonlyArray<Block> =>
  blocks
    .filter(({ type }) => type === "source")
    .flatMap((source) => [source, ...source.blocks.filter(({ type }) => imageBlocks.has(type))])
    .filter(({ attributes }) => imageKeys.some((key) => attributes.has(key)))

const namedBy = ({ attributes }: Block): BuilderFile["images"][number] => ({
  url: attributes.get("iso_url"),
  checksum: attributes.get("iso_checksum"),
  file: attributes.get("iso_file"),
})

/** In JSON a block is an object keyed by its labels, or a list of such objects. */
const inJson = (text: string): BuilderFile => {
  const read = readYaml(text, [])
  if (Result.isFailure(read)) return { variables: [], locals: [], machines: [], images: [] }
  const root = read.success
  const sources = members(childOf(root, "source"))
    .flatMap(([, named]) => members(named))
    .map(([, block]) => block)
  return {
    variables: members(childOf(root, "variable")).map(([name, block]) => [name, expressionAt(block, "default")]),
    locals: members(childOf(root, "locals")).map(([name, value]) => [name, expressionOf(value)]),
    machines: sources.map((block) => expressionAt(block, "vm_name")),
    images: sources
      .flatMap((source) => [source, ...[...imageBlocks].flatMap((key) => inList(valueAt(source, key)))])
      .filter((block) => imageKeys.some((key) => valueAt(block, key) !== undefined))
      .map((block) => ({
        url: expressionAt(block, "iso_url"),
        checksum: expressionAt(block, "iso_checksum"),
        file: expressionAt(block, "iso_file"),
      })),
  }
}

const members = (node: Node | undefined): ReadonlyArray<readonly [string, Node]> => {
  if (node?.kind === "list") return node.items.filter((item) => item.kind === "map").flatMap(members)
  return node?.kind === "map" ? Array.from(node.entries, ([name, entry]) => [name, entry.value] as const) : []
}

const inList = (node: Node | undefined): ReadonlyArray<Node> =>
  node === undefined ? [] : node.kind === "list" ? node.items : [node]

const valueAt = (block: Node, key: string): Node | undefined => {
  const first = block.kind === "list" ? block.items[0] : block
  return first === undefined ? undefined : childOf(first, key)
}
const expressionAt = (block: Node, key: string): Expression => expressionOf(valueAt(block, key))
const expressionOf = (node: Node | undefined): Expression =>
  node?.kind === "scalar" && node.value !== null ? readTemplateText(node.source) : undefined
