import { automationAvailability } from "@rangewright/adapter-ansible"
import * as Effect from "effect/Effect"
import { chmodSync, cpSync } from "node:fs"
import { join } from "node:path"
import { afterEach, describe, expect, test } from "vitest"
import { accountObstacle, asOrdinary, giveToOrdinary, installed } from "./support/account.ts"
import { removeFolders, temporaryFolder } from "./support/folder.ts"
import { command, endAll, type Program, repository, start } from "./support/program.ts"
import { serviceEnvironment } from "./support/service.ts"

const obstacle = accountObstacle()
const note = obstacle === undefined ? "" : ` (skipped: ${obstacle})`
const found = await Effect.runPromise(automationAvailability({ folder: "/nonexistent", library: "/nonexistent" }))

afterEach(async () => {
  await endAll()
  removeFolders()
})

/** A name that no account of a host has. */
const unknown = 64_999

describe.skipIf(obstacle !== undefined)(`an account that owns only the data folder${note}`, { timeout: 300_000 }, () => {
  const typed = (words: readonly string[], env: Readonly<Record<string, string | undefined>>, as = asOrdinary()): Program => {
    const [program = "", ...args] = [...as, ...words]
    return command(program, args, { env })
  }
  const own = (id?: number): string => {
    const data = temporaryFolder()
    giveToOrdinary(data, id)
    return data
  }
  const startIn = (data: string) => ({ ...serviceEnvironment(data), RANGEWRIGHT_GUEST_AUTOMATION: "ansible" })

  for (const [home, value] of Object.entries({ "no HOME": undefined, "a HOME of somebody else's": "/root" }))
    test(`starts the service with ${home}, from an installation that it cannot write to`, async () => {
      const words = value === undefined ? ["env", "-u", "HOME"] : ["env", `HOME=${value}`]
      const service = typed([...words, "sh", "tools/run.sh", "start"], startIn(own()))
      await service.says(/^\{.*"msg":"ready"\}$/mu)
      expect(service.stderr()).not.toContain("ermission")
    })

  test("is told to name a data folder if the default cannot be used", async () => {
    const program = typed(["sh", "tools/run.sh", "start"], {})
    expect(await program.ended).toEqual({ code: 1, signal: null })
    expect(program.stderr()).toMatch(
      /^Cannot use the data folder \S+: E(?:ACCES|ROFS): .*\. Choose one that the service's account/u,
    )
  })

  test("is told who has to install missing tools, and installs nothing elsewhere", async () => {
    const clone = temporaryFolder()
    chmodSync(clone, 0o755)
    for (const name of ["package.json", "pnpm-lock.yaml", "tools/run.sh"]) cpSync(join(repository, name), join(clone, name))
    const program = typed(["sh", join(clone, "tools/run.sh"), "start"], {})
    expect(await program.ended).toEqual({ code: 1, signal: null })
    expect(program.stderr()).toMatch(
      /^run: cannot install .* may not write to \S+\. Run `npm run setup` there as root, who owns it\.\n$/u,
    )
  })

  test.skipIf(found.ansible === undefined)("finds the tools and the sandbox that root finds", async () => {
    for (const [data, as] of [
      [own(), undefined],
      [own(unknown), unknown],
    ] as const) {
      // only the data folder is writable: there is no other place for temporary files
      const doctor = start("server", ["doctor"], {
        env: startIn(data),
        launcher: asOrdinary(data, as),
        seenAt: installed,
      })
      await doctor.ended
      expect(doctor.stderr()).toBe("")
      expect(doctor.stdout()).toContain(`ok    ansible: ansible-core ${found.ansible}`)
      expect(doctor.stdout()).toContain(found.host.sandbox.works ? "ok    sandbox: " : "warn  sandbox: ")
      expect(doctor.stdout()).toContain("ok    account: not root")
    }
  })
})
