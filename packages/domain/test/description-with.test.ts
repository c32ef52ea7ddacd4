import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { carriesMark, descriptionWith, notesTooLong, readDescription, type Vmid, writeDescription } from "../src/index.ts"
import { labConfig, labWorld } from "./plan-lab.ts"
import { inputFor, lab, planned } from "./plan-model.ts"

const mark = { range: lab, machine: "LAB-web" }
const old = writeDescription(mark, ["LAB"])
const wanted = writeDescription(mark, ["LAB", "web"])

describe("a planned line, written into the description that a VM has by then", () => {
  test("goes where the old line was, between the notes of that moment", () => {
    expect(descriptionWith(wanted, old)).toBe(wanted)
    expect(descriptionWith(wanted, `above\n${old}\nbelow\n`)).toBe(`above\n${wanted}\nbelow\n`)
  })

  test("replaces no notes, not even with notes that a plan of an older version froze", () => {
    expect(descriptionWith(`older note\n${wanted}`, `newer note\n${old}`)).toBe(`newer note\n${wanted}`)
    expect(descriptionWith(`older note\n${wanted}`, `newer note\n${wanted}\n`)).toBeUndefined()
  })

  test("is not written again when it says the same, however it is spelled", () => {
    for (const live of [wanted, `${wanted}\n`, `note\n${wanted}`, JSON.stringify(JSON.parse(wanted), undefined, 2)])
      expect(descriptionWith(wanted, live)).toBeUndefined()
  })

  test("without a mark is never written", () => {
    for (const text of ["", "a note", '{"groups":["LAB"]}']) expect(descriptionWith(text, old)).toBeUndefined()
  })

  test("always ends with the planned mark and groups, and then nothing is left to write", () => {
    const lines = fc.array(fc.string().filter((line) => !/[\n{]/u.test(line)))
    fc.assert(
      fc.property(lines, lines, fc.array(fc.string()), (above, below, groups) => {
        const live = [...above, old, ...below].join("\n")
        const planned = writeDescription(mark, groups)
        const text = descriptionWith(planned, live) ?? live
        expect(readDescription(text)).toEqual({ groups, mark })
        expect(text.split("\n")).toEqual([...above, text.split("\n")[above.length], ...below])
        expect(descriptionWith(planned, text)).toBeUndefined()
      }),
    )
  })
})

test("notes that leave no room for our line are told apart by the VM", () => {
  const vmid = 20_001 as Vmid
  const room = 8192 - wanted.length - 1
  expect(notesTooLong(vmid, `${"x".repeat(room)}\n${wanted}`)).toBeUndefined()
  expect(notesTooLong(vmid, `${"😀".repeat(room)}\n${wanted}`)).toBeUndefined()
  expect(notesTooLong(vmid, `${"x".repeat(room + 1)}\n${wanted}`)).toMatchObject({
    hint: "Shorten the notes of VM 20001 in Proxmox and try again.",
  })
})

test("notes are in no plan", () => {
  const world = labWorld()
  world.apply(planned(inputFor(world, labConfig())))
  const web = world.vmNamed("LAB-web")
  web.detail.description = `login: admin / hunter2\n${web.detail.description}`
  const plan = planned(inputFor(world, labConfig({ web: { cpus: 7 } })))
  expect(plan.steps.map(({ key }) => key)).toContain("configure:LAB-web")
  expect(JSON.stringify(plan)).not.toContain("hunter2")
  // somebody adds a note while the run is on its way
  web.detail.description = `Ask Jo first\n${web.detail.description}`
  world.apply(plan)
  expect(web.detail.description).toMatch(/^Ask Jo first\nlogin: admin \/ hunter2\n\{/u)
  expect(carriesMark(web.detail.description, mark)).toBe(true)
})
