import * as Result from "effect/Result"
import type { MapNode } from "../range/config/node.ts"
import { type BrokenItem, directoryName, type ItemKind } from "./content.ts"
import { roots, type SourceFiles } from "./files.ts"
import { type Issues, sayIssues, type SourceIssue, tellOfFile, tellOfText } from "./issue.ts"
import type { Layout } from "./layout.ts"
import { readManifest } from "./manifest.ts"

/** A source being read. */
export interface Reading {
  readonly files: SourceFiles
  readonly layout: Layout
  /** Paths of all files. */
  readonly present: ReadonlySet<string>
  readonly issues: Issues
}

/** A parsed manifest: its text, and the mapping in it. */
export interface ManifestFile {
  readonly text: string
  readonly root: MapNode
}

/** The YAML mapping in a required file. If it cannot be read, reports that with the given severity and returns undefined. */
export const readFile = (reading: Reading, path: string, severity: SourceIssue["severity"]): ManifestFile | undefined => {
  const text = textAt(reading, path, severity)
  if (text === undefined) return undefined
  const root = readManifest(text)
  if (Result.isSuccess(root)) return { text, root: root.success }
  tellOfText(reading.issues, path, text, root.failure, severity)
  return undefined
}

/** The text of a file in the tree. If it was not given, reports that and returns undefined. */
export const textAt = ({ files, issues }: Reading, path: string, severity: SourceIssue["severity"]): string | undefined => {
  const text = files.texts.get(path)
  if (text === undefined)
    tellOfFile(issues, severity, path, {
      code: "unreadable",
      message: "is not text, or is too large",
      allowed: "a text file in UTF-8",
    })
  return text
}

/** Work that yields now and then, so that the caller can do something else in between. */
export type InParts<A> = Generator<undefined, A>

/** The result of reading the items of one kind. */
export interface ReadItems<T> {
  readonly items: ReadonlyArray<T>
  readonly broken: ReadonlyArray<BrokenItem>
  /** The problems of the broken items. */
  readonly errors: ReadonlyArray<SourceIssue>
}

/** The fallback name of an item whose own name cannot be used. */
const nameOfPlace = (kind: ItemKind, directory: string): string =>
  kind === "blueprint" ? directory.slice(`${roots.blueprints}/`.length) : directoryName(directory)

/** Number of problems shown per item; the warnings have all of them. */
const mostShown = 3

const saySome = (issues: ReadonlyArray<SourceIssue>): string => {
  const more = issues.length - mostShown
  return `${sayIssues(issues.slice(0, mostShown))}${more > 0 ? `; and ${more} more` : ""}`
}

/** Reads item by item, yielding after each. An item with errors is broken and does not affect the others. */
export function* readItems<P extends { readonly directory: string }, T>(
  reading: Reading,
  kind: ItemKind,
  places: ReadonlyArray<P>,
  read: (reading: Reading, place: P) => T | undefined,
): InParts<ReadItems<T>> {
  const items: Array<T> = []
  const broken: Array<BrokenItem> = []
  const errors: Array<SourceIssue> = []
  for (const place of places) {
    const { directory } = place
    const issues: Issues = { errors: [], warnings: [] }
    const item = read({ ...reading, issues }, place)
    reading.issues.warnings.push(...issues.warnings)
    errors.push(...issues.errors)
    if (issues.errors.length > 0)
      broken.push({ kind, name: nameOfPlace(kind, directory), directory, state: "invalid", problem: saySome(issues.errors) })
    else if (item !== undefined) items.push(item)
    yield
  }
  return { items, broken, errors }
}

/** Reads item by item, yielding after each; unreadable ones are left out. */
export function* readEach<P, T>(places: ReadonlyArray<P>, read: (place: P) => T | undefined): InParts<ReadonlyArray<T>> {
  const found: Array<T> = []
  for (const place of places) {
    const thing = read(place)
    if (thing !== undefined) found.push(thing)
    yield
  }
  return found
}

/** Runs the work without pausing. */
export const atOnce = <A>(work: InParts<A>): A => {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
  }
}
