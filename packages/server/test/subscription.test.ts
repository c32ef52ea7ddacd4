import { makeMemoryContent, memoryContentLayer } from "@rangewright/adapter-memory"
import { folderSubscriptionLayer, signedLicenseLayer } from "@rangewright/adapter-subscription"
import { LicenseProvider, SubscriptionProvider } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { UsageError } from "../src/command/arguments.ts"
import { subscription } from "../src/command/subscription.ts"

const main = fileURLToPath(new URL("../dist/bundle/main.js", import.meta.url))
let folder = ""
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rangewright-command-"))
  const role = join(folder, "roles/acme_web")
  mkdirSync(join(role, "tasks"), { recursive: true })
  mkdirSync(join(role, "meta"))
  writeFileSync(join(role, "tasks/main.yml"), "- debug: msg=web\n")
  writeFileSync(join(role, "meta/version.yml"), 'version: "1.2.3"\n')
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Runs the command in this process, in the folder of the test. */
const run = async (...argv: readonly string[]) => {
  const printed = { stdout: "", stderr: "" }
  for (const name of ["stdout", "stderr"] as const)
    vi.spyOn(process[name], "write").mockImplementation((text) => {
      printed[name] += String(text)
      return true
    })
  const paths = argv.map((word) => (inFolder.has(word) ? join(folder, word) : word))
  const status = await subscription(paths).finally(() => vi.restoreAllMocks())
  return { status, ...printed }
}
const inFolder: ReadonlySet<string> = new Set(["nothing", "empty", "key.pem", "roles", "registry", "license.json"])
const publicKeyIn = (stdout: string): string => /^Public key: (\S+)$/mu.exec(stdout)?.[1] ?? ""

describe("the command subscription", () => {
  test("makes a key, packs roles and issues a licence that a service takes", async () => {
    const made = await run("keygen", "--key", "key.pem")
    expect([made.status, made.stderr]).toEqual([0, ""])
    expect(statSync(join(folder, "key.pem")).mode & 0o777).toBe(0o600)
    const key = publicKeyIn(made.stdout)

    const packed = await run("pack", "roles", "--key", "key.pem", "--out", "registry", "--entitlements", "PRO_ROLES")
    expect([packed.status, publicKeyIn(packed.stdout)]).toEqual([0, key])
    expect(packed.stdout).toContain("acme_web 1.2.3  2 files  PRO_ROLES")
    expect(packed.stdout).toContain("registry holds 1 role, serial")
    const layer = folderSubscriptionLayer({ folder: join(folder, "registry"), keys: [key], state: join(folder, "state") })
    const provided = Layer.provide(layer, memoryContentLayer(makeMemoryContent()))
    const roles = await Effect.runPromise(SubscriptionProvider.use((port) => port.list).pipe(Effect.provide(provided)))
    expect(roles.map(({ role }) => role)).toEqual(["acme_web"])
    expect((await run("pack", "roles", "--key", "key.pem", "--out", "registry", "--entitlements", "PRO_ROLES")).stdout).toContain(
      "already",
    )

    const terms = ["--tier", "professional", "--to", "Example Training", "--expires", "2999-01-31", "--host", "lab.example"]
    const issued = await run("license", "--key", "key.pem", "--out", "license.json", ...terms)
    expect([issued.status, issued.stdout]).toEqual([
      0,
      expect.stringContaining("for Example Training, on lab.example, until the beginning of 2999-01-31 (UTC)."),
    ])
    const again = await run("license", "--key", "key.pem", "--out", "license.json", ...terms)
    expect([again.status, again.stderr]).toEqual([1, expect.stringMatching(/Cannot write the licence .*: the file exists\n/u)])
    const licenses = signedLicenseLayer({
      file: join(folder, "license.json"),
      keys: [key],
      hosts: ["lab.example"],
      state: join(folder, "state"),
    })
    const license = await Effect.runPromise(LicenseProvider.use((port) => port.current).pipe(Effect.provide(licenses)))
    expect(license).toMatchObject({ active: true, licensedTo: "Example Training", entitlements: ["PRO_ROLES"] })
    expect(license.expiresAt).toEqual(new Date("2999-01-31T00:00:00Z"))
  })

  test("explains itself", async () => {
    for (const argv of [["--help"], ["pack", "-h"], ["help"]]) {
      const { status, stdout } = await run(...argv)
      expect([status, stdout]).toEqual([0, expect.stringContaining("subscription COMMAND")])
    }
    const refusal = await run().catch((cause: unknown) => cause)
    expect(refusal).toMatchObject({ more: expect.stringContaining("subscription COMMAND") })
  })

  test("is a command of the service's program, which refuses what it does not understand with status 2", () => {
    const { status, stderr } = spawnSync(process.execPath, [main, "subscription", "frob"], { encoding: "utf8" })
    expect([status, stderr]).toEqual([
      2,
      "Unknown command subscription frob. Commands: keygen, pack, sign-packages, license\nTry --help.\n",
    ])
  })

  test.each([
    [["keygen"], /needs --key/u],
    [["keygen", "surplus", "--key", "key.pem"], /does not accept surplus/u],
    [["pack", "--key", "key.pem", "--out", "registry"], /folder of roles/u],
    [["pack", "roles", "--out", "registry"], /needs --key/u],
    [["license", "--key", "key.pem", "--out", "license.json", "--tier", "gold", "--to", "x"], /one of community, professional/u],
    [
      ["license", "--key", "key.pem", "--out", "license.json", "--tier", "community", "--to", "x", "--expires", "2026-02-30"],
      /a day such as/u,
    ],
    [
      ["license", "--key", "key.pem", "--out", "license.json", "--tier", "community", "--to", "x", "--expires", "2020-01-31"],
      /--expires needs a day in the future, not 2020-01-31/u,
    ],
    [
      ["license", "--key", "key.pem", "--out", "license.json", "--tier", "community", "--to", "x", "--host", "bad host!"],
      /--host needs the name of a host .*, not bad host!/u,
    ],
    [["pack", "--frob"], /frob/u],
  ])("does not take %j", async (argv, expected) => {
    const refusal = await run(...argv).catch((cause: unknown) => cause)
    expect(refusal).toBeInstanceOf(UsageError)
    expect(String(refusal)).toMatch(expected)
  })

  test("fails with status 1 where it cannot do it, says what to do, and changes nothing", async () => {
    writeFileSync(join(folder, "key.pem"), "precious", { mode: 0o600 })
    const over = await run("keygen", "--key", "key.pem")
    expect([over.status, over.stderr]).toEqual([1, expect.stringContaining("Choose another file")])
    expect(readFileSync(join(folder, "key.pem"), "utf8")).toBe("precious")
    const wrong = await run("pack", "roles", "--key", "key.pem", "--out", "registry")
    expect([wrong.status, wrong.stderr]).toEqual([1, expect.stringContaining("not contain an Ed25519 private key")])
    expect(wrong.stderr).not.toContain("precious")
  })

  test("names what is missing or empty, in words", async () => {
    const stderr = async (...argv: readonly string[]) => {
      const { status, stderr: text } = await run(...argv)
      expect(status).toBe(1)
      return text.replaceAll(`${folder}/`, "")
    }
    const noKey = await stderr("pack", "roles", "--key", "nothing", "--out", "registry")
    expect(noKey).toMatch(/^Cannot use the key file nothing: there is no such file or folder\nCreate one with: .* keygen/u)
    await run("keygen", "--key", "key.pem")
    expect(await stderr("pack", "nothing", "--key", "key.pem", "--out", "registry")).toMatch(
      /^Cannot pack nothing: there is no such file or folder\n/u,
    )
    expect(await stderr("sign-packages", "nothing", "--key", "key.pem")).toMatch(
      /^Cannot sign nothing: there is no such file or folder\n/u,
    )
    mkdirSync(join(folder, "empty"))
    expect(await stderr("sign-packages", "empty", "--key", "key.pem")).toMatch(
      /^Cannot sign empty: it contains no folder of packages\n/u,
    )
    mkdirSync(join(folder, "empty/10.0.2-4"))
    expect(await stderr("sign-packages", "empty", "--key", "key.pem")).toMatch(
      /^Cannot sign empty\/10\.0\.2-4: it contains no package\n/u,
    )
  })
})
