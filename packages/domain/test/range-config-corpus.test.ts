import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as Result from "effect/Result"
import { describe, expect, test } from "vitest"
import { checkRangeConfig, parseRangeConfig } from "../src/range/config/index.ts"

const folder = join(import.meta.dirname, "../../../../shared/corpus/range-configs")
const present = existsSync(join(folder, "MANIFEST.tsv"))

/**
 * Files that the peer's verdict accepts and that are refused here. The verdict is about the form of a file; the peer resolves role
 * dependencies in a later step of the same upload, which refuses these four too.
 */
const disagreements: ReadonlyMap<string, string> = new Map([
  ["Beardhammer-ludus_rustdesk__README-b1.yml", "role-dependency-not-found"],
  ["cisagov-LME__ansible-roles-ludus_caldera_agent-README-b1.yml", "role-dependency-not-found"],
  ["cisagov-LME__ansible-roles-ludus_lme_agents-README-b1.yml", "role-dependency-not-found"],
  ["badsectorlabs-ludus__ludus-server-ci-configs-depends-on-circular.yml", "role-dependency-cycle"],
])

interface Entry {
  readonly file: string
  readonly accepted: boolean
}
const entries = (): ReadonlyArray<Entry> => {
  const [header = "", ...rows] = readFileSync(join(folder, "MANIFEST.tsv"), "utf8").trimEnd().split("\n")
  const columns = header.split("\t")
  const column = (row: string, name: string): string => row.split("\t")[columns.indexOf(name)] ?? ""
  return rows.map((row) => ({ file: column(row, "file"), accepted: column(row, "peer_verdict") === "ACCEPT" }))
}

const errorsOf = (file: string): ReadonlyArray<string> => {
  const parsed = parseRangeConfig(readFileSync(join(folder, file), "utf8"))
  const issues = Result.isFailure(parsed) ? parsed.failure : checkRangeConfig(parsed.success, { rangeId: "LAB", rangeNumber: 7 })
  return issues.filter(({ severity }) => severity === "error").map(({ code }) => code)
}

describe.skipIf(!present)(
  `configurations in use${present ? "" : " (skipped: the folder of collected files is not here)"}`,
  () => {
    test("there are 174 of them", () => {
      expect(entries()).toHaveLength(174)
    })

    test("each is accepted or refused as the peer does, apart from the listed ones", () => {
      const differing = entries().filter(({ file, accepted }) => accepted !== (errorsOf(file).length === 0))
      expect(new Map(differing.map(({ file }) => [file, errorsOf(file).join()]))).toEqual(disagreements)
    })
  },
)
