import { describe, expect, test } from "vitest"
import { carriesMark, driftOf, isServiceDescription, readDescription, writeDescription } from "../src/index.ts"
import { labConfig, labWorld } from "./plan-lab.ts"
import { inputFor, keysOf, lab, type ModelWorld, planned, refusal } from "./plan-model.ts"

const mark = { range: lab, machine: "LAB-web" }
const ours = writeDescription(mark, ["LAB"])
const noted = `# Web server\n\n${ours}\nlogin: admin / secret\n`

const deployedLab = (): ModelWorld => {
  const world = labWorld()
  world.apply(planned(inputFor(world, labConfig())))
  return world
}

test("a mark names a range by an ID that ranges may have: members write notes, and what a mark names is printed", () => {
  const text = (range: string) => JSON.stringify({ rangewright: { range, machine: "web" } })
  for (const range of ["LAB", "a", "alice/lab_1/x-2", `A${"b".repeat(63)}`])
    expect(readDescription(text(range)).mark).toEqual({ range, machine: "web" })
  for (const range of ["LAB\u001B[2J", "LAB\n", "LAB ", "", "a/b/c/d", `A${"b".repeat(64)}`])
    expect(readDescription(text(range)).mark).toBeUndefined()
})

describe("notes that people write on a machine in Proxmox", () => {
  test("leave it ours, above and below our line", () => {
    for (const text of [noted, `${ours}\nnote`, `note\n${ours}`, noted.replaceAll("\n", "\r\n")]) {
      expect(readDescription(text)).toEqual({ groups: ["LAB"], mark })
      expect(carriesMark(text, mark)).toBe(true)
      expect(isServiceDescription(text)).toBe(false)
    }
  })

  test("do not make it ours without our line, or with two of them", () => {
    const other = writeDescription({ ...mark, machine: "LAB-kali" }, [])
    for (const text of [
      `was: ${ours}`,
      `\`${ours}\``,
      '{"groups":["LAB"]}\nnote',
      `${ours}\n${other}`,
      `${ours}\n${ours}`,
      "{\n{\n",
    ])
      expect(readDescription(text)).toEqual({ groups: [], mark: undefined })
  })

  test("stay when our line changes", () => {
    const changed = writeDescription(mark, ["LAB", "web"], noted)
    expect(changed).toBe(`# Web server\n\n${writeDescription(mark, ["LAB", "web"])}\nlogin: admin / secret\n`)
    expect(writeDescription(mark, ["LAB", "web"], ours)).toBe(writeDescription(mark, ["LAB", "web"]))
    expect(writeDescription(mark, [], "only a note")).toBe(writeDescription(mark, []))
  })

  test("are no difference, and a deploy that changes the machine keeps them", () => {
    const world = deployedLab()
    const web = world.vmNamed("LAB-web")
    web.detail.description = `Ask Jo before you stop it\n${web.detail.description}`
    expect(keysOf(planned(inputFor(world, labConfig())))).toEqual([])
    world.apply(planned(inputFor(world, labConfig({ web: { cpus: 7 } }))))
    expect(web.detail.description).toMatch(/^Ask Jo before you stop it\n\{/u)
    expect(carriesMark(web.detail.description, mark)).toBe(true)
  })
})

test("a machine whose notes were replaced is refused with the line that has to come back, and that line makes it ours again", () => {
  const world = deployedLab()
  const { detail, machine } = world.vmNamed("LAB-web")
  detail.description = "my web server"
  const [issue] = refusal(inputFor(world, labConfig()))
  expect(issue).toMatchObject({
    code: "not-ours",
    message: `a VM named LAB-web is in the pool LAB (VM ${machine.vmid} on pve1) and does not carry our mark for it`,
    hint: expect.stringContaining(
      `add this line to the notes of VM ${machine.vmid} in Proxmox:\n${writeDescription(mark, [])}\n`,
    ),
  })
  const [, line = ""] = (issue?.hint ?? "").split("\n")
  detail.description += `\n${line}`
  expect(keysOf(planned(inputFor(world, labConfig())))).not.toContain("clone:LAB-web")
  world.apply(planned(inputFor(world, labConfig())))
  expect(driftOf(inputFor(world, labConfig()))).toMatchObject({ success: { inSync: true } })
  expect(detail.description).toMatch(/^my web server\n\{"groups":\["/u)
})
