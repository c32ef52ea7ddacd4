import { loadOrCreateCertificate } from "@rangewright/adapter-crypto"
import * as Effect from "effect/Effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { checkCertificate } from "../src/doctor/certificate-checks.ts"

let data = ""
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), "rangewright-doctor-"))
})
afterEach(() => rmSync(data, { recursive: true }))

const made = new Date("2026-01-01T00:00:00Z")
/** The last day of the ten years for which the service's own is valid. */
const last = new Date("2035-12-30T00:00:00Z")
const after = new Date("2036-01-02T00:00:00Z")
const make = (file: string) => Effect.runPromise(loadOrCreateCertificate(file, ["localhost"], made))

describe("the doctor's check of the certificate", () => {
  test("says nothing before the first start, which creates one", () => {
    expect(checkCertificate({ data, tlsCert: undefined }, made)).toEqual([])
  })

  test("warns two weeks before the end of the service's own, and fails after it", async () => {
    await make(join(data, "certificate.pem"))
    const at = (now: Date) => checkCertificate({ data, tlsCert: undefined }, now)
    expect(at(made)).toMatchObject([{ level: "ok", detail: expect.stringMatching(/is valid until 20(?:35|36)-/u) }])
    expect(at(last)).toMatchObject([{ level: "warn", hint: expect.stringMatching(/^Remove .*certificate\.pem, and restart/u) }])
    expect(at(after)).toMatchObject([{ level: "fail", detail: expect.stringContaining("expired on") }])
  })

  test("checks the operator's if there is one, and says when it is not a certificate", async () => {
    const tlsCert = join(data, "cert.pem")
    await make(tlsCert)
    const hint = "Renew it, and restart the service, which reads it at startup."
    expect(checkCertificate({ data, tlsCert }, last)).toMatchObject([{ level: "warn", hint }])
    writeFileSync(tlsCert, "no certificate")
    expect(checkCertificate({ data, tlsCert }, made)).toMatchObject([{ level: "fail", hint }])
  })
})
