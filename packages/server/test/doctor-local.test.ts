import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { loadConfig } from "../src/config/config.ts"
import { checkDataFolder, checkHost } from "../src/doctor/local-checks.ts"

let folder = ""
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rangewright-doctor-"))
})
afterEach(() => rmSync(folder, { recursive: true }))

const data = (path: string) =>
  checkDataFolder(loadConfig({ file: undefined, environment: { RANGEWRIGHT_DATA: path } })).find(
    ({ what }) => what === "data folder",
  )

describe("the doctor's check of the data folder", () => {
  test("accepts one that can be created, and leaves nothing behind", () => {
    const path = join(folder, "below/data")
    expect(data(path)).toMatchObject({ level: "ok", detail: `${path} will be created at the first start` })
    expect(readdirSync(folder)).toEqual([])
  })

  test("fails for a file, and for a folder below one", () => {
    const file = join(folder, "file")
    writeFileSync(file, "")
    expect(data(file)).toMatchObject({
      level: "fail",
      detail: `${file} is not a folder`,
      hint: expect.stringContaining("(data)"),
    })
    expect(data(join(file, "data"))).toMatchObject({ level: "fail", detail: expect.stringContaining(`${file} is not a folder`) })
  })

  test.runIf(existsSync("/proc/self"))("fails where no folder can be created, whatever the permissions say", () => {
    expect(data("/proc/data")).toMatchObject({
      level: "fail",
      detail: "/proc cannot be written, so /proc/data cannot be created",
    })
  })
})

describe("the doctor's check of the host", () => {
  test.each(["127.0.0.1", "0.0.0.0"])("says nothing of %s", async (host) => {
    expect(await checkHost({ host })).toEqual([])
  })

  test.each(["999.1.1.1", "192.0.2.250"])("fails for %s, which this machine does not have", async (host) => {
    expect(await checkHost({ host })).toMatchObject([{ level: "fail", what: "host", hint: expect.stringContaining("(host)") }])
  })
})
