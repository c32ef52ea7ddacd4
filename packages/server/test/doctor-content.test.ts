import * as Effect from "effect/Effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, test } from "vitest"
import { loadConfig } from "../src/config/config.ts"
import { checkContent } from "../src/doctor/content-checks.ts"

const folder = mkdtempSync(join(tmpdir(), "doctor-content-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const finding = async (name: string, environment: Readonly<Record<string, string>>) => {
  const findings = await Effect.runPromise(checkContent(loadConfig({ file: undefined, environment })))
  return findings.find(({ what }) => what === name)
}

describe("the doctor's check of the source of roles and collections", () => {
  const galaxy = (said: string) => {
    const program = join(folder, "ansible-galaxy")
    writeFileSync(program, `#!/bin/sh\necho '${said}'\n`, { mode: 0o755 })
    return finding("ansible-galaxy", { RANGEWRIGHT_ANSIBLE_GALAXY: program })
  }

  test("names the version of the tool", async () => {
    expect(await galaxy("ansible-galaxy [core 2.16.3]")).toEqual({
      level: "ok",
      what: "ansible-galaxy",
      detail: "from ansible-core 2.16.3",
    })
  })

  test("warns of a tool that is too old, or missing, and says what to install", async () => {
    expect(await galaxy("ansible-galaxy [core 2.13.9]")).toMatchObject({
      level: "warn",
      detail: "ansible-core 2.13.9 is too old; 2.14 or later is needed",
      hint: expect.stringContaining("Install ansible-core 2.14 or later"),
    })
    const missing = await finding("ansible-galaxy", { RANGEWRIGHT_ANSIBLE_GALAXY: join(folder, "nothing") })
    expect(missing).toMatchObject({ level: "warn", detail: "it is not installed" })
  })

  test("checks the folder instead when one is configured", async () => {
    const there = { RANGEWRIGHT_ROLE_FOLDER: folder }
    expect([await finding("role folder", there), await finding("ansible-galaxy", there)]).toEqual([
      { level: "ok", what: "role folder", detail: folder },
      undefined,
    ])
    const path = join(folder, "nothing")
    expect(await finding("role folder", { RANGEWRIGHT_ROLE_FOLDER: path })).toMatchObject({
      level: "fail",
      detail: `there is no folder ${path}`,
    })
  })
})
