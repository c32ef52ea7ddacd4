import { folderInstallerLayer, libraryLayer } from "@rangewright/adapter-ansible"
import { contentLayer } from "@rangewright/adapter-git"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { gzipSync } from "node:zlib"
import { expect, onTestFinished, test } from "vitest"
import { ArtifactLibrary, RoleInstaller } from "@rangewright/ports"
import { tar } from "../content/support/archives.ts"
import { installerContract, type TestRelease } from "./installer.contract.ts"
import { tarEntriesOf } from "./support/tar-entries.ts"

const write = (path: string, bytes: Uint8Array | string): void => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, bytes)
}

/** Roles are below a folder of their archive, collections are not, as their authors' tools pack them. */
const publishArchive =
  (offers: string) =>
  async ({ type, name, version, files }: TestRelease): Promise<void> =>
    type === "role"
      ? write(join(offers, "roles", `${name}-${version}.tar.gz`), gzipSync(tar(tarEntriesOf(files, `${name}-${version}/`))))
      : write(join(offers, "collections", `${name.replace(".", "-")}-${version}.tar.gz`), gzipSync(tar(tarEntriesOf(files, ""))))

installerContract({
  name: "folder",
  make: async () => {
    const root = mkdtempSync(join(tmpdir(), "installer-"))
    onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }))
    const offers = join(root, "offers")
    mkdirSync(offers)
    const below = Layer.mergeAll(libraryLayer({ folder: join(root, "library") }), contentLayer({ folder: join(root, "content") }))
    const layer = Layer.provideMerge(folderInstallerLayer({ folder: offers }), below)
    return {
      run: (effect) => Effect.runPromise(Effect.provide(effect, layer)),
      publish: publishArchive(offers),
    }
  },
})

test("roles may be unpacked, and state their own version", async () => {
  const root = mkdtempSync(join(tmpdir(), "installer-"))
  onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }))
  const offers = join(root, "offers")
  write(join(offers, "roles/acme.web/tasks/main.yml"), "[]\n")
  write(join(offers, "roles/acme.web/meta/version.yml"), "version: 4.2.0\n")
  const below = Layer.mergeAll(libraryLayer({ folder: join(root, "library") }), contentLayer({ folder: join(root, "content") }))
  const listing = await Effect.runPromise(
    Effect.gen(function* () {
      yield* RoleInstaller.use((port) =>
        port.install({ scope: { type: "global" }, roles: [{ name: "acme.web" }], collections: [], force: false }),
      )
      return yield* ArtifactLibrary.use((port) => port.list({ type: "global" }))
    }).pipe(Effect.provide(Layer.provideMerge(folderInstallerLayer({ folder: offers }), below))),
  )
  expect(listing.roles).toEqual([{ name: "acme.web", scope: "global", version: "4.2.0" }])
})

test("a role's name may have numbers of its own", async () => {
  const root = mkdtempSync(join(tmpdir(), "installer-"))
  onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }))
  const offers = join(root, "offers")
  const files = { "tasks/main.yml": "[]\n" }
  for (const file of ["acme.server-2022-1.2.0-rc.1", "acme.server-2022-1.1.0", "acme.server-1.0.0", "acme.odd-2024q1-2"])
    write(join(offers, "roles", `${file}.tar.gz`), gzipSync(tar(tarEntriesOf(files, `${file}/`))))
  const below = Layer.mergeAll(libraryLayer({ folder: join(root, "library") }), contentLayer({ folder: join(root, "content") }))
  const roles = [{ name: "acme.server-2022" }, { name: "acme.server" }, { name: "acme.odd" }]
  const outcomes = await Effect.runPromise(
    RoleInstaller.use((port) => port.install({ scope: { type: "global" }, roles, collections: [], force: false })).pipe(
      Effect.provide(Layer.provideMerge(folderInstallerLayer({ folder: offers }), below)),
    ),
  )
  expect(outcomes.map(({ name, version, because }) => [name, version ?? because])).toEqual([
    ["acme.server-2022", "1.1.0"],
    ["acme.server", "1.0.0"],
    ["acme.odd", expect.stringContaining("published")],
  ])
})

test("a missing folder is reported", async () => {
  const root = mkdtempSync(join(tmpdir(), "installer-"))
  onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }))
  const below = Layer.mergeAll(libraryLayer({ folder: join(root, "library") }), contentLayer({ folder: join(root, "content") }))
  const roles = [{ name: "acme.web" }]
  const fault = await Effect.runPromise(
    RoleInstaller.use((port) => port.install({ scope: { type: "global" }, roles, collections: [], force: false })).pipe(
      Effect.flip,
      Effect.provide(Layer.provideMerge(folderInstallerLayer({ folder: join(root, "offers") }), below)),
    ),
  )
  expect(fault).toMatchObject({
    _tag: "InstallerFault",
    message: expect.stringMatching(/the folder that the service takes them from is missing/u),
  })
})
