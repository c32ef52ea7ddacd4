import { knownTemplates, systemByName, type TemplateDefinition, type TemplateFacts } from "@rangewright/domain"
import { describe, expect, test } from "vitest"

const machine = (name: string | undefined, pool: string | undefined = "SHARED", template = true) => ({ name, pool, template })
const none: TemplateFacts = { machines: [], closedPools: new Set(), installed: [], building: new Set() }
const defined = (name: string, system?: TemplateDefinition["system"]): TemplateDefinition => ({
  name,
  system,
  description: undefined,
})
const shown = (facts: Partial<TemplateFacts>) =>
  knownTemplates({ ...none, ...facts }).map(({ name, built, state }) => `${name} ${built} ${state}`)

describe("templates", () => {
  test("are those on the hypervisor and those that can be built, each once, ascending by name", () => {
    const machines = [
      machine("debian"),
      machine("alpine", undefined),
      machine("debian"),
      machine("dc01", "LAB", false),
      machine(undefined),
    ]
    expect(shown({ machines, installed: [defined("kali"), defined("debian")] })).toEqual([
      "alpine true built",
      "debian true built",
      "kali false not_built",
    ])
    expect(shown({})).toEqual([])
  })

  test("in the pool of a range that the viewer may not use are not theirs, also where they could build one of the name", () => {
    const machines = [machine("secret", "LAB"), machine("debian", "LAB"), machine("own", "MINE")]
    expect(shown({ machines, closedPools: new Set(["LAB"]), installed: [defined("debian")] })).toEqual([
      "debian false not_built",
      "own true built",
    ])
  })

  test("that are being built say so, also when one was built before; a build of what the viewer cannot see shows nothing", () => {
    expect(shown({ machines: [machine("a")], installed: [defined("b")], building: new Set(["a", "b", "c"]) })).toEqual([
      "a true building",
      "b false building",
    ])
  })

  test("have the system that their names suggest", () => {
    const systems = ["win2022-server-x64-template", "Windows-11", "debian-12", "macos-14", "darwin-23", "osx-template", "kali"]
    expect(systems.map(systemByName)).toEqual(["windows", "windows", "linux", "macos", "macos", "macos", "linux"])
  })
})
