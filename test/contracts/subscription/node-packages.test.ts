import { packageFolderLayer, type PublicKey, signPackages, type SigningKey } from "@rangewright/adapter-subscription"
import type { PackageSet } from "@rangewright/domain"
import { PackageFolder, type PackagesFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { execFileSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { newKey } from "./support/signed-world.ts"

const version = "10.0.2-4"
const name = "pve-qemu-kvm_10.0.2-4+lab1_amd64.deb"

let place = ""
let key: SigningKey
let folder = ""
let file = ""
beforeEach(async () => {
  place = mkdtempSync(join(tmpdir(), "rangewright-packages-"))
  folder = join(place, "packages")
  file = join(folder, version, name)
  mkdirSync(join(folder, version), { recursive: true })
  writeFileSync(file, "a package")
  key = await newKey(place)
})
afterEach(() => rmSync(place, { recursive: true }))

const ask = <A>(use: Effect.Effect<A, PackagesFault, PackageFolder>, keys: readonly PublicKey[] = [key.public]) =>
  Effect.runPromise(Effect.result(Effect.provide(use, packageFolderLayer({ folder, keys }))))
const manifest = PackageFolder.use((one) => one.manifest)
const content = (set: PackageSet) => PackageFolder.use((one) => one.file(set, set.packages[0]!))
const refused = (detail: RegExp) => ({
  failure: { kind: "failed", message: expect.stringMatching(detail), hint: expect.stringContaining("sign-packages") },
})

test("signed folders are read, and a change of the folder changes the text", async () => {
  const sets = await signPackages(folder, key)
  expect(sets).toMatchObject([{ for: version, packages: [{ name: "pve-qemu-kvm", version: "10.0.2-4+lab1", bytes: 9 }] }])
  const first = await ask(manifest)
  expect(first).toMatchObject({ success: { sets } })
  expect(await ask(content(sets[0]!))).toMatchObject({ success: Buffer.from("a package") })
  expect(await ask(manifest)).toEqual(first)
  writeFileSync(file, "b package")
  await signPackages(folder, key)
  expect(await ask(manifest)).not.toEqual(first)
})

describe("a folder is refused", () => {
  test("that is not signed, not by a trusted key, or changed since", async () => {
    expect(await ask(manifest)).toMatchObject(refused(/there is no packages\.json/u))
    await signPackages(folder, key)
    expect(await ask(manifest, [(await newKey(place)).public])).toMatchObject(refused(/none of the trusted keys/u))
    expect(await ask(manifest, [])).toMatchObject(refused(/there is none/u))
    const signed = join(folder, "packages.json")
    const envelope = JSON.parse(readFileSync(signed, "utf8")) as { payload: string }
    const changed = Buffer.from(Buffer.from(envelope.payload, "base64").toString().replace("lab1", "lab2")).toString("base64")
    for (const text of [JSON.stringify({ ...envelope, payload: changed }), '{"sets":[]}', "", "x".repeat(300_000)]) {
      writeFileSync(signed, text)
      expect(await ask(manifest)).toMatchObject({ _tag: "Failure", failure: { kind: "failed" } })
    }
  })

  test("that was signed as something else", async () => {
    await signPackages(folder, key)
    const signed = join(folder, "packages.json")
    writeFileSync(signed, readFileSync(signed, "utf8").replace("node-packages", "license"))
    expect(await ask(manifest)).toMatchObject(refused(/signed as something else/u))
  })

  test.each<[string, () => void, RegExp]>([
    ["a file of the same size", () => writeFileSync(file, "x package"), /not the file that was signed/u],
    ["a longer file", () => writeFileSync(file, "a package and more"), /larger than 9 bytes/u],
    ["a shorter file", () => writeFileSync(file, "a"), /not the file that was signed/u],
    ["no file", () => rmSync(file), /there is no/u],
    [
      "a link to the same bytes",
      () => (cpSync(file, join(place, "copy")), rmSync(file), symlinkSync(join(place, "copy"), file)),
      /symbolic link|ELOOP/iu,
    ],
    ["a folder", () => (rmSync(file), mkdirSync(file)), /is not a file/u],
    ["a pipe", () => (rmSync(file), void execFileSync("mkfifo", [file])), /is not a file/u],
  ])("whose package became %s", async (_what, change, detail) => {
    const [set] = await signPackages(folder, key)
    change()
    expect(await ask(content(set!))).toMatchObject(refused(detail))
  })
})

describe("nothing is signed", () => {
  test.each<[string, () => void]>([
    ["of a folder that is not named like a version", () => mkdirSync(join(folder, "not a version"))],
    ["of a folder without packages", () => mkdirSync(join(folder, "10.1.0-1"))],
    ["of another package", () => writeFileSync(join(folder, version, "openssh-server_1_amd64.deb"), "x")],
    ["of a file with another name", () => writeFileSync(join(folder, version, "notes.txt"), "x")],
    ["of a link", () => (rmSync(file), symlinkSync("/etc/hostname", file))],
    ["of two versions of one package", () => writeFileSync(join(folder, version, "pve-qemu-kvm_10.0.2-4+lab2_amd64.deb"), "x")],
    ["of what it replaces", () => writeFileSync(join(folder, version, "pve-qemu-kvm_10.0.2-4_amd64.deb"), "x")],
    ["of a file instead of a folder", () => writeFileSync(join(folder, "9.0.0-1"), "x")],
  ])("%s", async (_what, change) => {
    change()
    await expect(signPackages(folder, key)).rejects.toMatchObject({
      message: expect.stringMatching(/^Cannot /u),
      hint: expect.stringContaining("one folder for each version"),
    })
    expect(await ask(manifest)).toMatchObject(refused(/there is no packages\.json/u))
  })
})
