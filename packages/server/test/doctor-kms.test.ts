import { storageLayer } from "@rangewright/adapter-storage"
import * as Effect from "effect/Effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it } from "vitest"
import { loadConfig } from "../src/config/config.ts"
import { checkKms } from "../src/doctor/kms-checks.ts"

const check = async (environment: Readonly<Record<string, string>>) => {
  const folder = mkdtempSync(join(tmpdir(), "rangewright-doctor-kms-"))
  try {
    const config = loadConfig({ file: undefined, environment })
    return await Effect.runPromise(Effect.provide(checkKms(config), storageLayer({ file: join(folder, "db") }, "upgrade")))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

it("doctor warns where the machine that is to be a KMS host is not there", async () => {
  expect(await check({})).toEqual([])
  const key = { RANGEWRIGHT_KMS_HOST_KEY: "AAAAA-BBBBB-CCCCC-DDDDD-EEEEE" }
  expect(await check({ RANGEWRIGHT_KMS_SERVER: "ADMIN/ADMIN-kms", ...key })).toMatchObject([
    { level: "warn", what: "kms_server", detail: expect.stringContaining("there is no range ADMIN") },
  ])
})
