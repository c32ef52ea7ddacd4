import { folderInstallerLayer, libraryLayer } from "@rangewright/adapter-ansible"
import { contentLayer } from "@rangewright/adapter-git"
import type { CollectionRequirement, RoleRequirement } from "@rangewright/domain"
import { ArtifactLibrary, ContentFetcher, type InstallOutcome, RoleInstaller } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { tarGz } from "../content/support/archives.ts"
import { gitHttp } from "../content/support/git-http.ts"
import { testRepository } from "../content/support/repository.ts"
import { loopback } from "../content/support/world.ts"

/** An installer whose names come from an empty folder; repositories are served from another one. */
const world = () => {
  const root = mkdtempSync(join(tmpdir(), "installer-git-"))
  onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }))
  const [served, offers] = [join(root, "served"), join(root, "offers")]
  for (const folder of [served, join(offers, "roles/acme.base/tasks")]) mkdirSync(folder, { recursive: true })
  writeFileSync(join(offers, "roles/acme.base/tasks/main.yml"), "[]\n")
  const below = Layer.mergeAll(
    libraryLayer({ folder: join(root, "library") }),
    contentLayer({ folder: join(root, "content"), schemes: ["file", "http"], folders: [served], networks: loopback }),
  )
  const layer = Layer.provideMerge(folderInstallerLayer({ folder: offers }), below)
  const run = <A, E>(effect: Effect.Effect<A, E, RoleInstaller | ArtifactLibrary | ContentFetcher>) =>
    Effect.runPromise(Effect.provide(effect, layer))
  const scope = { type: "global" } as const
  const install = (
    wanted: { readonly roles?: readonly RoleRequirement[]; readonly collections?: readonly CollectionRequirement[] },
    force = false,
  ) => run(RoleInstaller.use((port) => port.install({ scope, roles: [], collections: [], force, ...wanted })))
  const listed = async () => {
    const { roles, collections } = await run(ArtifactLibrary.use((port) => port.list(scope)))
    return [...roles, ...collections].map(({ name, version }) => `${name} ${version ?? "?"}`)
  }
  /** The number of snapshots that nothing needs any more. */
  const pruned = () => run(ContentFetcher.use((port) => port.prune)).then((snapshots) => snapshots.length)
  return { served, install, listed, pruned, urlOf: (name: string) => `file://${served}/${name}.git` }
}

const said = (outcomes: readonly InstallOutcome[]) =>
  outcomes.map(({ type, outcome, version = "?" }) => `${type} ${outcome} ${version}`)
const roleFiles = (dependencies = "[]") => ({
  "meta/main.yml": `galaxy_info: {author: acme}\ndependencies: ${dependencies}\n`,
  "tasks/main.yml": "[]\n",
})

describe("roles and collections from repositories and archives", () => {
  test("a role is named after its repository or as requested, and has the requested version", async () => {
    const { served, install, listed, urlOf } = world()
    const repository = testRepository(served, "web", roleFiles())
    repository.tag("v1.0")
    repository.commit({ "files/new": "x" })
    const outcomes = await install({
      roles: [
        { src: urlOf("web"), version: "v1.0" },
        { src: `git+${urlOf("web")}`, name: "site", version: "main" },
      ],
    })
    expect(said(outcomes)).toEqual(["role installed v1.0", "role installed main"])
    expect(await listed()).toEqual(["site main", "web v1.0"])
  })

  test("a collection can be in a folder of its repository, at a ref", async () => {
    const { served, install, listed, urlOf } = world()
    const galaxy = (version: string) => `namespace: acme\nname: util\nversion: ${version}\nreadme: README.md\nauthors: [Acme]\n`
    const repository = testRepository(served, "many", { "kept/util/galaxy.yml": galaxy("1.0.0"), "kept/util/README.md": "x" })
    repository.tag("v1")
    repository.commit({ "kept/util/galaxy.yml": galaxy("2.0.0") })
    const ask = (name: string) => install({ collections: [{ name, type: "git" }] })
    expect((await ask(`${urlOf("many")}#/kept/nothing`)).map(({ outcome }) => outcome)).toEqual(["failed"])
    expect((await ask(`git+${urlOf("many")}#/kept/util/,v1`)).map(({ outcome }) => outcome)).toEqual(["installed"])
    expect(await listed()).toEqual(["acme.util v1"])
  })

  test("a present copy stays, also for another ref, and force replaces it", async () => {
    const { served, install, listed, urlOf } = world()
    testRepository(served, "web", roleFiles()).tag("v1.0")
    const ask = (version: string, force = false) => install({ roles: [{ src: urlOf("web"), version }] }, force)
    expect(said(await ask("v1.0"))).toEqual(["role installed v1.0"])
    expect(said(await ask("v1.0"))).toEqual(["role present v1.0"])
    expect(said(await ask("main"))).toEqual(["role other-version v1.0"])
    expect(said(await ask("main", true))).toEqual(["role installed main"])
    expect(await listed()).toEqual(["web main"])
  })

  test("a collection has the name that it declares, whatever its repository is called", async () => {
    const { served, install, listed, urlOf } = world()
    testRepository(served, "anything", { "galaxy.yml": "namespace: acme\nname: util\nversion: 1.2.3\n", "plugins/x.py": "" })
    const ask = () => install({ collections: [{ name: urlOf("anything"), type: "git", version: "main" }] })
    expect((await ask())[0]).toMatchObject({ type: "collection", name: urlOf("anything"), outcome: "installed" })
    expect((await ask())[0]).toMatchObject({ outcome: "present" })
    expect(await listed()).toHaveLength(1)
  })

  test("dependencies of a role come from where it says, by name or from another repository", async () => {
    const { served, install, listed, urlOf } = world()
    testRepository(served, "lib", roleFiles())
    testRepository(served, "web", roleFiles(`[acme.base, beside, {src: "git+${urlOf("lib")}", name: acme.lib, version: main}]`))
    const outcomes = await install({ roles: [{ src: urlOf("web") }] })
    expect(outcomes.map(({ name, outcome }) => `${name} ${outcome}`).toSorted()).toEqual([
      "acme.base installed",
      "acme.lib installed",
      `${urlOf("web")} installed`,
    ])
    expect(await listed()).toEqual(["acme.base ?", "acme.lib main", "web ?"])
  })

  test("two that depend on each other are both installed, once", async () => {
    const { served, install, listed, urlOf } = world()
    testRepository(served, "a", roleFiles(`[{src: "git+${urlOf("b")}"}]`))
    testRepository(served, "b", roleFiles(`[{src: "git+${urlOf("a")}"}]`))
    expect(await install({ roles: [{ src: urlOf("a") }] })).toHaveLength(2)
    expect(await listed()).toEqual(["a ?", "b ?"])
  })

  test.each([
    ["an option", "git+--upload-pack=x://y"],
    ["a program", "git+ext::sh -c id"],
    ["a place that is not allowed", "git+https://git.example/x.git"],
    ["credentials in it", "git+https://me:s3cret@git.example/x.git"],
    ["nothing there", "git+file:///nonexistent/x.git"],
    ["an archive that may not be had", "https://git.example/x.tar.gz"],
  ])("a URL with %s fails with the reason", async (_, src) => {
    const { install, listed } = world()
    const [outcome] = await install({ roles: [{ src, name: "web" }] })
    expect(outcome).toMatchObject({ name: "web", outcome: "failed" })
    expect(outcome?.because).not.toContain("s3cret")
    expect(await listed()).toEqual([])
  })

  test("an archive is downloaded: a role without its wrapping folder, a collection as built", async () => {
    const { install, listed } = world()
    const archives: Readonly<Record<string, Buffer>> = {
      "/web-1.0.tar.gz": tarGz([{ name: "web-1.0/tasks/main.yml", content: "[]\n" }]),
      "/acme-util.tar.gz": tarGz([{ name: "galaxy.yml", content: "namespace: acme\nname: util\nversion: 1.2.3\n" }]),
    }
    const server = await gitHttp("/nonexistent", (request, response) => {
      response.end(archives[request.url ?? ""])
      return true
    })
    onTestFinished(server.close)
    const urlOf = (path: string) => `http://127.0.0.1:${server.port}${path}`
    const outcomes = await install({
      roles: [{ src: urlOf("/web-1.0.tar.gz"), name: "web", version: "1.0" }],
      collections: [{ name: urlOf("/acme-util.tar.gz") }],
    })
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(["installed", "installed"])
    expect(await listed()).toEqual(["web 1.0", "acme.util 1.2.3"])
  })

  test("content is not kept once it is installed", async () => {
    const { served, install, pruned, urlOf } = world()
    testRepository(served, "web", roleFiles())
    await install({ roles: [{ src: urlOf("web") }] })
    expect(await pruned()).toBe(1)
  })
})
