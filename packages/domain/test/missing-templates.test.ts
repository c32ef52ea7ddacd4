import { missingHint, missingText, unbuilt } from "@rangewright/domain"
import { describe, expect, test } from "vitest"

const known = unbuilt([
  { name: "debian", built: true, state: "built", system: "linux" },
  { name: "kali", built: false, state: "not_built", system: "linux" },
  { name: "win11", built: false, state: "not_built", system: "windows" },
  { name: "win2022", built: false, state: "building", system: "windows" },
])

describe("a template that machines cannot be cloned from", () => {
  test("is said to be not built, being built or not there", () => {
    expect(["kali", "win2022", "nothing"].map((name) => missingText(name, known))).toEqual([
      'the template "kali" is not built',
      'the template "win2022" is still being built',
      'there is no template "nothing"',
    ])
  })

  test("gets a hint: one call for all that can be built, waiting, or adding it", () => {
    expect(missingHint(["win11", "kali", "kali"], known)).toBe('build with POST /templates {"templates":["kali","win11"]}')
    expect(missingHint(["win2022"], known)).toBe("wait for the build of win2022")
    expect(missingHint(["nothing"], known)).toBe('add "nothing" with PUT /templates or from a source, or use others')
    expect(missingHint(["nothing", "win2022", "kali"], known).split("; ")).toHaveLength(3)
  })
})
