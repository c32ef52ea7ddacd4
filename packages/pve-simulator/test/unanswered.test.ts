import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { routes } from "../src/api/routes.ts"
import { hasReference, readReferenceJson, whenPresent } from "./support/reference.ts"

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

/** The patterns of the README's list: `VERB /path` or a path for every verb. */
const listed = (): string[] => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8")
  const section = readme.split("## Calls that answer 501")[1]!.split("\n## ")[0]!
  return [...section.matchAll(/`((?:[A-Z]+ )?\/[^`]+)`/gu)].map((found) => found[1]!)
}

const expressionOf = (pattern: string): RegExp => {
  const source = pattern
    .replaceAll(/[.+?^${}()|[\]\\]/gu, String.raw`\$&`)
    .replaceAll("/**", "(?:/.*)?")
    .replaceAll("/*", "/[^/]+")
  return new RegExp(`^${pattern.startsWith("/") ? "[A-Z]+ " : ""}${source}$`, "u")
}

test.skipIf(!hasReference)(`calls of the published schema that are not answered are listed, and only those${whenPresent}`, () => {
  const { paths } = readReferenceJson<Document>("apidoc.json")
  const unanswered = Object.entries(paths)
    .flatMap(([path, methods]) => Object.keys(methods).map((verb) => `${verb} ${path}`))
    .filter((key) => !routes.has(key))
  const patterns = listed().map((pattern) => ({ pattern, expression: expressionOf(pattern) }))
  expect(unanswered.filter((key) => !patterns.some(({ expression }) => expression.test(key)))).toEqual([])
  expect(
    patterns.filter(({ expression }) => !unanswered.some((key) => expression.test(key))).map(({ pattern }) => pattern),
  ).toEqual([])
})
