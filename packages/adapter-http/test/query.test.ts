import { operations, type Operation } from "@rangewright/application"
import { describe, expect, it, test } from "vitest"
import { checkMembers, nameQuery } from "../src/decode/names.ts"
import { readQuery } from "../src/decode/url.ts"

const operationOf = (id: string): Operation => {
  const found = operations.find((operation) => operation.id === id)
  if (found === undefined) throw new Error(`there is no operation ${id}`)
  return found
}
const named = (id: string, text: string) => ({ ...nameQuery(operationOf(id))(readQuery(text)) })

describe("a query parameter", () => {
  test("without an equals sign is true, and without a value absent", () => {
    expect(named("deployRange", "")).toEqual({})
    expect(named("deleteRange", "force&userID=&rangeID=x")).toEqual({ force: "true", rangeID: "x" })
    expect(named("deleteRange", "&&force=true&")).toEqual({ force: "true" })
    expect(() => readQuery("dryRun&dryRun=false")).toThrow("dryRun is given twice, with different values")
  })

  test("matches in any letter case, and must not have two values", () => {
    for (const name of ["rangeID", "rangeid", "RANGEID", "RangeId"])
      expect(named("listRange", `${name}=A`)).toEqual({ rangeID: "A" })
    expect(named("deleteRange", "FORCE=true&UserId=ME")).toEqual({ force: "true", userID: "ME" })
    expect(named("deleteRange", "rangeID=A&RANGEID=A")).toEqual({ rangeID: "A" })
    expect(() => readQuery("rangeID=A&RANGEID=B")).toThrow("rangeID is given twice, with different values")
  })

  test("that an operation does not know is left out of what only reads", () => {
    for (const name of ["range", "id", "range_id", "user", "dryRun", "__proto__", "fields"])
      expect(named("listRange", `${name}=A`)).toEqual({})
  })

  const changing = operations.filter(({ mutates }) => mutates).map((operation) => [operation.id, operation] as const)
  const spellings = {
    rangeID: [
      "range",
      "id",
      "Id",
      "range_id",
      "range-id",
      "RANGE_ID",
      "range.id",
      "rangeID[]",
      "range_number",
      "ranges",
      "amp;rangeID",
      "rangeID=X",
      "rangeID[eq]",
    ],
    userID: ["user", "user_id", "USER-ID", "userID[]", "username", "users"],
  }
  it.each(changing)("that resembles a selector is refused by %s, with the right name", (id, { input }) => {
    for (const [right, wrong] of Object.entries(spellings))
      for (const name of wrong.filter((candidate) => !(candidate in input.query)))
        expect(() => named(id, `${encodeURIComponent(name)}=A`)).toThrowError(
          expect.objectContaining({
            kind: "invalid",
            hint: expect.stringMatching(new RegExp(`\\?${right}=|in the request body`, "u")) as string,
          }) as Error,
        )
  })

  test("that resembles another parameter, a member of the body or a dry run is refused by changes", () => {
    expect(() => named("upgradeFromSource", "dry_run=true")).toThrow("dry_run")
    expect(() => named("createBlueprintFromRange", "blueprintID=x")).toThrow("blueprintID in the query")
    expect(() => named("deleteRange", "dryRun=true")).toThrow("Cannot delete a range: dryRun is not known here")
    expect(named("deleteRange", "_=1&fields=result&trace")).toEqual({})
  })
})

describe("a member of a body", () => {
  const check = (id: string, value: unknown) => () => checkMembers(operationOf(id))(value)
  test("that resembles another one is refused by changes", () => {
    for (const name of ["range_id", "range", "range-ID", "id"])
      expect(check("applyBlueprintToRange", { [name]: "A" })).toThrow(`${name} in the request body`)
    expect(check("installSource", { dry_run: true })).toThrow("dry_run")
  })
  test("that is nearly one is refused by changes", () => {
    expect(check("deployRange", { dryrunn: true })).toThrowError(
      expect.objectContaining({ kind: "invalid", hint: "Did you mean dryRun?" }) as Error,
    )
    expect(check("deployRange", { prun: true })).toThrow("prun in the request body")
  })
  test("is limited in number: a hundred thousand are not compared one by one", () => {
    const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`name${n}`, n]))
    expect(check("deployRange", many)).toThrow("the request body has 100000 members")
  })
  it.each(["deployRange", "powerOffRange", "deleteRange", "putConfig"])(
    "that stands for a selector, which %s takes in its query, is refused",
    (id) => {
      for (const name of ["rangeID", "range_id", "RangeId", "userID", "user-id"])
        expect(check(id, { [name]: "A" })).toThrowError(
          expect.objectContaining({ kind: "invalid", hint: expect.stringMatching(/\?(?:range|user)ID=/u) as string }) as Error,
        )
    },
  )
  test("that is known in any letter case, or resembles none, is accepted", () => {
    expect(check("applyBlueprintToRange", { RANGEID: "A", comment: "x", "": 1 })).not.toThrow()
    for (const value of [undefined, null, [], "text", 5]) expect(check("applyBlueprintToRange", value)).not.toThrow()
  })
})
