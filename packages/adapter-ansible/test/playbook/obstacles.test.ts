import { hinders, type User } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import { chmod, mkdir, mkdtemp, rename, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { currentAvailability } from "../../src/playbook/current.ts"
import { hostObstacles } from "../../src/playbook/obstacles.ts"
import { settingsOf } from "../../src/playbook/options.ts"
import { trustObstacles } from "../../src/playbook/trust.ts"
import { found } from "./support/obstacle.ts"

const whole = { ...found, ansible: "2.14.0", because: undefined, missing: [], winrm: true, psrp: false, sshpass: true }

describe("what stands in the way of work inside machines", () => {
  it("is nothing where the host has everything, and the one reason where it cannot run anything", () => {
    expect(hostObstacles(whole, "winrm")).toEqual([])
    const [only, ...others] = hostObstacles(
      { ...whole, ansible: undefined, because: "gone", winrm: false, sshpass: false },
      "winrm",
    )
    expect(others).toEqual([])
    expect(only).toMatchObject({ because: "gone" })
    expect(only !== undefined && hinders(only, { os: "linux", stage: "router" })).toBe(true)
  })

  it("is told for each system and stage that misses something", () => {
    const missing = ["microsoft.ad", "ansible.posix", "community.general"] as const
    const parts = hostObstacles({ ...whole, sshpass: false, missing }, "psrp")
    const hindered = (os: "linux" | "windows" | "macos", stage: "role" | "router" | "primary-dc") =>
      parts.filter((one) => hinders(one, { os, stage })).map(({ because }) => because)
    expect(hindered("linux", "router")).toEqual([expect.stringContaining("sshpass is not installed")])
    expect(hindered("macos", "role")).toEqual([expect.stringContaining("sshpass is not installed")])
    expect(hindered("windows", "role")).toEqual([expect.stringContaining("has no pypsrp")])
    expect(hindered("windows", "primary-dc")).toEqual([
      expect.stringContaining("has no pypsrp"),
      expect.stringContaining("the collection microsoft.ad is not there"),
    ])
    for (const { hint } of parts) expect(hint).toMatch(/^On the service's host: Install/u)
  })
})

describe("in a folder of its own", () => {
  let folder: string
  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "rw-now-"))))
  afterEach(() => rm(folder, { recursive: true, force: true }))

  it("what an operator removes or fixes takes effect at once, and the host is not checked again without need", async () => {
    const [program, asked] = [join(folder, "ansible-playbook"), join(folder, "asked")]
    const install = async () => {
      const says = `ansible-playbook [core 2.16.0]\\n  ansible python module location = ${folder}/modules/ansible\\n`
      await writeFile(`${program}.new`, `#!/bin/sh\necho >>${asked}\nprintf '${says}'\n`)
      await chmod(`${program}.new`, 0o755)
      await rename(`${program}.new`, program)
    }
    await install()
    const options = { folder, library: folder, program, tools: { sandbox: "off" as const } }
    const quiet = Effect.provide(Logger.layer([]))
    const current = currentAvailability(options)
    const now = async () => hostObstacles(await Effect.runPromise(current.pipe(quiet)), "winrm")[0]?.because
    const withTool = await now()
    expect(withTool).not.toContain("it is not installed")
    await rm(program)
    expect(await now()).toBe(`${program}: it is not installed`)
    await install()
    expect(await now()).toBe(withTool)
    const { size } = await stat(asked)
    expect(await now()).toBe(withTool)
    expect((await stat(asked)).size).toBe(size)
  })

  it("a member's roles, and templates of a configuration, are told before a deploy begins where there is no sandbox", async () => {
    await mkdir(join(folder, "users/alice/roles/mine"), { recursive: true })
    const without = {
      ...found,
      host: { ...found.host, choice: "auto", sandbox: { works: false, because: "bwrap: no" } },
    } as const
    const told = (user: User, text = "ludus: []\n", having: typeof found = without) =>
      trustObstacles({ settings: settingsOf({ folder, library: folder }), found: having }, user, text)
    const [alice, admin] = [{ id: "alice", isAdmin: false } as User, { id: "root", isAdmin: true } as User]
    expect(await told(alice)).toMatchObject([{ stages: ["role"], roles: ["mine"] }])
    expect(await told(admin)).toEqual([])
    expect(await told(admin, "v: '{{ x }}'")).toMatchObject([{ stages: ["role"] }])
    const trusting = { ...without, host: { ...without.host, choice: "off" as const } }
    expect(await told(alice, "v: '{{ x }}'", trusting)).toEqual([])
  })
})
