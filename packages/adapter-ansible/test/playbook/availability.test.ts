import { automationAvailability, automationFindings, playbookLayer } from "@rangewright/adapter-ansible"
import {
  licenseLayer,
  makeMemoryLibrary,
  makeMemoryStore,
  makeMemoryWorld,
  memoryHypervisorLayer,
  memoryLibraryLayer,
  memoryStorageLayer,
  openLicense,
} from "@rangewright/adapter-memory"
import type { RangeId, UserId } from "@rangewright/domain"
import { GuestAutomation } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import { execFileSync, spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { patience, sandboxObstacle, skipNote } from "./support/obstacle.ts"
import { plainSecrets } from "./support/plain-secrets.ts"

describe("what the service's host has", () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "rw-have-"))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  /** A program that answers `--version` as Ansible does. */
  const toolOf = async (version: string): Promise<string> => {
    const program = join(folder, `ansible-${version}`)
    const says = `ansible-playbook [core ${version}]\\n  ansible python module location = ${folder}/modules/ansible\\n  python version = 3.11.2 (main) [GCC] (${folder}/python)`
    await writeFile(program, `#!/bin/sh\nprintf '${says}\\n'\n`)
    await chmod(program, 0o755)
    return program
  }
  const look = (more: Parameters<typeof automationAvailability>[0] | object) =>
    Effect.runPromise(automationAvailability({ folder, library: folder, ...more }))

  it("no Ansible is said, with the way out", async () => {
    const found = await look({ program: join(folder, "none") })
    expect(found.ansible).toBeUndefined()
    const [finding, ...others] = automationFindings(found, "winrm")
    expect(others).toEqual([])
    expect(finding).toMatchObject({
      level: "fail",
      what: "ansible",
      detail: expect.stringContaining("it is not installed") as string,
    })
    expect(finding?.hint).toContain("ansible-core 2.14")
  })

  it("an Ansible that is too old, and a program that is not Ansible, are not used", async () => {
    expect((await look({ program: await toolOf("2.13.9") })).because).toBe(
      "ansible-core 2.13.9 is too old; 2.14 or later is needed",
    )
    expect((await look({ program: "/bin/true" })).because).toBe("/bin/true does not report its version")
    expect((await look({ program: await toolOf("2.14.0") })).ansible).toBe("2.14.0")
    expect((await look({ program: await toolOf("10.1.2") })).ansible).toBe("10.1.2")
  })

  it("collections are found beside the modules and in given folders, and what a missing one prevents is reported", async () => {
    const program = await toolOf("2.16.1")
    const collection = async (below: string, name: string, manifest?: string) => {
      const path = join(folder, below, "ansible_collections", ...name.split("."))
      await mkdir(path, { recursive: true })
      if (manifest !== undefined) await writeFile(join(path, "MANIFEST.json"), manifest)
    }
    await collection("modules", "ansible.posix", '{"collection_info": {"version": "1.5.4"}}')
    await collection("given", "ansible.windows", "no JSON")
    await collection("given", "microsoft.ad")
    const found = await look({ program, collections: [join(folder, "given")] })
    expect(found.collections.get("ansible.posix")).toBe("1.5.4")
    expect(found.collections.get("ansible.windows")).toBe("unknown")
    expect(found.missing).not.toContain("microsoft.ad")
    const without = { ...found, missing: ["chocolatey.chocolatey" as const] }
    expect(automationFindings(without, "winrm").find(({ what }) => what === "collections")).toMatchObject({
      level: "warn",
      detail: "missing: chocolatey.chocolatey (packages on Windows)",
    })
  })

  it("a disabled sandbox is a warning; a missing one that is required means that nothing runs", async () => {
    const program = await toolOf("2.14.18")
    const without = await look({ program, tools: { sandbox: "off" } })
    expect(automationFindings(without, "psrp").find(({ what }) => what === "sandbox")).toMatchObject({ level: "warn" })
    expect(automationFindings(without, "psrp").find(({ what }) => what === "Windows")?.hint).toContain("pypsrp")
    const required = { ...without, host: { ...without.host, sandbox: { works: false, because: "bwrap: no" } } } as const
    expect(automationFindings(required, "psrp").find(({ what }) => what === "sandbox")?.detail).toContain("bwrap: no")
  })

  it("without Ansible no work inside machines is possible, but leftovers of a killed service are still removed", async () => {
    const runs = join(folder, "automation", "runs", "left")
    await mkdir(runs, { recursive: true })
    await writeFile(join(runs, "stage.yml"), "secret")
    const needs = Layer.mergeAll(
      memoryHypervisorLayer(makeMemoryWorld()),
      memoryStorageLayer(makeMemoryStore()),
      licenseLayer(openLicense),
      plainSecrets,
      memoryLibraryLayer(makeMemoryLibrary()),
    )
    const layer = playbookLayer({
      folder: join(folder, "automation"),
      library: join(folder, "library"),
      program: join(folder, "none"),
    })
    const { obstacles, roles } = await Effect.runPromise(
      GuestAutomation.use((guests) =>
        Effect.all({
          obstacles: guests.obstacles?.("LAB" as RangeId, "alice" as UserId) ?? Effect.succeed([]),
          roles: guests.roles("alice" as UserId),
        }),
      ).pipe(Effect.provide(layer.pipe(Layer.provide(needs), Layer.provide(Layer.succeed(References.MinimumLogLevel, "None"))))),
    )
    expect(obstacles).toEqual([
      {
        because: `${join(folder, "none")}: it is not installed`,
        hint: expect.stringMatching(/^On the service's host: Install ansible-core 2\.14 .*guest_automation: none/u) as string,
      },
    ])
    expect(roles?.size).toBe(0)
    expect(existsSync(runs)).toBe(false)
  })

  it.skipIf(sandboxObstacle !== undefined)(
    `an Ansible in a virtual environment of its own runs in the sandbox too${skipNote(sandboxObstacle)}`,
    { timeout: patience },
    async () => {
      const venv = join(folder, "venv")
      execFileSync("/usr/bin/python3", ["-m", "venv", "--without-pip", "--system-site-packages", venv])
      const program = join(venv, "bin", "ansible-playbook")
      await writeFile(program, `#!${venv}/bin/python3\nfrom ansible.cli.playbook import main\nmain()\n`)
      await chmod(program, 0o755)
      expect((await look({ program })).toolFolders).toEqual([venv, join(venv, "bin")])
      const service = join(import.meta.dirname, "../programs/one-run.ts")
      const args = [service, join(folder, "service"), "uname -n", program]
      const { status, stdout } = spawnSync(process.execPath, args, { encoding: "utf8" })
      expect(status, stdout).toBe(0)
      expect(stdout).toMatch(/changed: \[localhost\]|"changed":true/u)
    },
  )
})
