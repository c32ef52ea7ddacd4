import { createKeyFile, issueLicense } from "@rangewright/adapter-subscription"
import * as Effect from "effect/Effect"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it } from "vitest"
import { loadConfig } from "../src/config/config.ts"
import { checkSubscription } from "../src/doctor/subscription-checks.ts"

it("the doctor says whether the configured licence is in force", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rangewright-doctor-licence-"))
  try {
    const key = await createKeyFile(join(folder, "key.pem"))
    const file = join(folder, "license.json")
    const data = join(folder, "data")
    const check = (): Promise<readonly object[]> =>
      Effect.runPromise(
        checkSubscription(
          loadConfig({
            file: undefined,
            environment: {
              RANGEWRIGHT_DATA: data,
              RANGEWRIGHT_LICENSE_FILE: file,
              RANGEWRIGHT_LICENSE_KEYS: key.public.text,
            },
          }),
        ),
      )
    const write = (hosts: readonly string[], expiresAt: Date): void => {
      const issuedAt = new Date("2026-01-01T00:00:00Z")
      writeFileSync(
        file,
        issueLicense({ tier: "enterprise", entitlements: [], licensedTo: "A school", issuedAt, expiresAt, hosts }, key),
      )
    }
    const later = new Date("2999-01-01T00:00:00Z")
    const detail = (text: string) => expect.stringContaining(text) as string

    expect(await check()).toMatchObject([{ level: "warn", what: "licence", detail: detail("cannot be read") }])
    write(["elsewhere.example"], later)
    expect(await check()).toMatchObject([{ level: "warn", detail: detail("another host, elsewhere.example") }])
    write([], new Date("2026-02-01T00:00:00Z"))
    expect(await check()).toMatchObject([{ level: "warn", detail: detail("expired on 2026-02-01") }])
    write(["instance-1"], later)
    expect(await check()).toMatchObject([{ level: "warn", detail: detail("another host, instance-1") }])
    mkdirSync(data)
    writeFileSync(join(data, "instance"), "instance-1\n")
    expect(await check()).toEqual([{ level: "ok", what: "licence", detail: "enterprise licence" }])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
