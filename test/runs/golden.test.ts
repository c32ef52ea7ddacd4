import { readdirSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { readGolden, stateOf } from "./golden/golden.ts"

const folder = new URL("./golden/", import.meta.url)
const names = readdirSync(folder).filter((name) => name.endsWith(".jsonl"))

describe("a journal that a released version wrote", () => {
  it("exists for deploys, resumed and aborted ones, fetches, migrations and changes of access", () => {
    expect(names.filter((name) => name.startsWith("v1-"))).toHaveLength(6)
  })

  it.each(names)("%s can be read, and means the same", (name) => {
    const { entries, state } = readGolden(readFileSync(new URL(name, folder), "utf8"))
    expect(entries.at(-1)?.event.type).toBe("Ended")
    expect(stateOf(entries)).toMatchObject(state)
  })
})
