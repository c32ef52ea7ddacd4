import { describe, expect, it } from "vitest"
import fc from "fast-check"
import { guestLoginOf, osIdOf, readGuestSystem, systemTagged, taggedTemplates, type RangeId } from "../src/index.ts"

const debian = {
  id: "debian",
  name: "Debian GNU/Linux",
  "pretty-name": "Debian GNU/Linux 12 (bookworm)",
  version: "12 (bookworm)",
  "version-id": "12",
  machine: "x86_64",
  "kernel-release": "6.1.0-21-amd64",
  "kernel-version": "#1 SMP PREEMPT_DYNAMIC",
}

describe("what an agent says of its system", () => {
  it("is read into a few short fields", () => {
    expect(readGuestSystem(debian)).toEqual({
      id: "debian",
      name: "Debian GNU/Linux",
      versionId: "12",
      kernel: "6.1.0-21-amd64",
      machine: "x86_64",
    })
    expect(readGuestSystem({ id: "mswindows", name: "Microsoft Windows", "version-id": "2022" })).toEqual({
      id: "windows",
      name: "Microsoft Windows",
      versionId: "2022",
    })
  })

  it.each([
    ["a template of Ansible's", "{{ lookup('pipe', 'id') }}"],
    ["a statement", "{% set x = 1 %}"],
    ["a second line", "Debian\n  ansible_host: 10.1.1.1"],
    ["a quote", 'De"bian'],
    ["an option", "-oProxyCommand=id"],
    ["signs of a terminal", "\u001b[2K"],
    ["another direction of writing", "De\u202ebian"],
    ["far too much", "x".repeat(101)],
    ["a number", 12],
    ["a list", ["debian"]],
    ["nothing", ""],
  ])("is left out where it is %s", (_what, value) => {
    expect(readGuestSystem({ ...debian, name: value })).not.toHaveProperty("name")
    expect(readGuestSystem({ id: value, name: value })).toBeUndefined()
  })

  it("is short plain text, whatever the agent reports", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom("id", "name", "version-id", "machine", "kernel-release"), fc.anything()),
        (answer) => {
          for (const value of Object.values(readGuestSystem(answer) ?? {}))
            expect(value).toMatch(/^[A-Za-z0-9 ._+~():,/-]{1,100}$/u)
        },
      ),
    )
  })
})

describe("the operating system of a machine", () => {
  const linux = { kind: "linux", claimed: undefined, template: "golden-template" } as const

  it("is what the agent says, then the tag of the template, then its name", () => {
    const named = { ...linux, template: "rocky-9-x64-server-template" }
    expect(osIdOf({ ...named, claimed: { id: "kali" }, tagged: "debian" })).toBe("kali")
    expect(osIdOf({ ...named, tagged: "debian" })).toBe("debian")
    expect(osIdOf(named)).toBe("rocky")
    expect(osIdOf(linux)).toBe("linux")
    expect(osIdOf({ kind: undefined, claimed: { id: "windows" }, template: undefined })).toBe("windows")
    expect(osIdOf({ kind: undefined, claimed: undefined, template: undefined })).toBeUndefined()
  })

  it("is of the kind that the configuration says, whatever the machine says", () => {
    for (const id of ["windows", "macos"]) expect(osIdOf({ ...linux, claimed: { id }, tagged: id })).toBe("linux")
    for (const id of ["debian", "macos"])
      expect(osIdOf({ ...linux, kind: "windows", claimed: { id }, tagged: id })).toBe("windows")
  })

  it("is never one that a machine invented", () => {
    for (const id of ["LAB_windows_endpoints", "all", "running", "LAB", "__proto__", "constructor", "web"])
      expect(osIdOf({ ...linux, claimed: { id } })).toBe("linux")
  })

  it("comes only from tags of shared templates and the range's own, and only from a single tag", () => {
    const template = { template: true, name: "golden", pool: "SHARED", tags: ["ubuntu", "lab"] }
    const of = (...machines: (typeof template)[]) => taggedTemplates(machines, "LAB" as RangeId).get("golden")
    expect(of(template)).toBe("ubuntu")
    expect(of({ ...template, pool: "LAB" })).toBe("ubuntu")
    expect(of({ ...template, pool: "EVE" })).toBeUndefined()
    expect(of({ ...template, template: false })).toBeUndefined()
    expect(systemTagged(["ubuntu", "debian"])).toBeUndefined()
  })
})

describe("the login of a machine", () => {
  const templateLogin = { user: "Administrator", password: "of the golden template" }

  it("is the template's own, where the installation knows one, in the way of its system", () => {
    expect(guestLoginOf({ osId: "windows", templateLogin })).toEqual({ connection: "winrm", ...templateLogin })
    expect(guestLoginOf({ osId: "linux", templateLogin })).toEqual({ connection: "ssh", ...templateLogin })
    expect(guestLoginOf({ osId: "linux", templateLogin, password: "its own" })).toMatchObject({ password: "its own" })
  })

  it("is one that everybody knows, whatever a machine says of its system", () => {
    const known = new Set(["password", "debian", "kali", "root"])
    for (const id of ["windows", "debian", "kali", "rocky", "ubuntu", "rhel", "fedora", "golden"]) {
      const osId = osIdOf({ kind: undefined, claimed: { id }, template: undefined })
      const login = guestLoginOf({ osId })
      if (login !== undefined) expect(known).toContain(login.password)
    }
  })
})
