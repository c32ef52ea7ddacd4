import { communityLicense, openLicense, publishTo } from "@rangewright/adapter-memory"
import {
  type BlueprintId,
  type License,
  type RangeId,
  rangeSubject,
  type RecordId,
  type RunHead,
  type RunId,
  type User,
} from "@rangewright/domain"
import { ArtifactLibrary, Blueprints, type LibraryScope, RunJournal, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { beforeEach, describe, expect, it } from "vitest"
import { makeTestApp, type TestApp } from "./support/app.ts"
import { type Labs, labsFiles, makeLabs, path } from "./support/labs.ts"

const configWith = (...roles: readonly string[]) => `ludus:
  - vm_name: "{{ range_id }}-web"
    hostname: web
    template: debian-12-x64-server-template
    vlan: 10
    ip_last_octet: 11
    ram_gb: 2
    cpus: 2
    linux: true
    roles: [${roles.join(", ")}]
`

let app: TestApp
let boss: User
let ada: User
let bob: User
beforeEach(async () => {
  app = makeTestApp()
  boss = await app.addUser("Boss", { isAdmin: true })
  ada = await app.addUser("Ada")
  bob = await app.addUser("Bob")
  await app.call("createBlueprint", bob, { body: { blueprintID: "lab", config: configWith("gone.role") } })
  await app.call("shareBlueprintWithUsers", boss, { path: { blueprintID: "lab" }, body: { userIDs: ["Ada"] } })
})

const runsOf = () => app.run(RunJournal.use((journal) => journal.list({ limit: 20 })))
const install = async (user: User, body = {}): Promise<string> => {
  await app.call("installBlueprintDeps", user, { path: { blueprintID: "lab" }, body })
  const [run] = await runsOf()
  if (run === undefined) throw new Error("no run")
  return run.id
}
/** The owner of the blueprint publishes a role, and makes the blueprint require it. */
const requireEvil = async () => {
  const read = Effect.succeed(new TextEncoder().encode("[]\n"))
  publishTo(app.artifacts.galaxy, "role", "bob.evil", "1.0.0", {
    entries: [{ kind: "file", path: "tasks/main.yml", size: 3, executable: false, read }],
  })
  await app.run(
    Blueprints.use((blueprints) =>
      blueprints.setConfig("lab" as BlueprintId, configWith("bob.evil"), "roles:\n  - name: bob.evil\n"),
    ),
  )
}
const rolesIn = (scope: LibraryScope) =>
  app.run(ArtifactLibrary.use((library) => Effect.map(library.list(scope), ({ roles }) => roles.map(({ name }) => name))))
const everybodys: LibraryScope = { type: "global" }
const own = (user: User): LibraryScope => ({ type: "user", userId: user.id })
const resume = async (user: User, runID: string) => {
  const next = (await app.call("resumeRun", user, { path: { runID } })) as { readonly runID: string }
  await app.ended(next.runID)
  return next.runID
}
const refuses = (user: User, runID: string) => app.fails("resumeRun", user, { path: { runID } })
const demote = (user: User) => app.run(Users.use((users) => users.setAdmin(user.id, false)))

describe("resuming an installation", () => {
  it("installs nothing for everybody when the owner of the blueprint resumes an administrator's", async () => {
    const runID = await install(boss, { global: true })
    await requireEvil()
    expect(await refuses(bob, runID)).toMatchObject({
      kind: "forbidden",
      message: `Cannot resume run ${runID}: it acts for another user`,
      hint: "Start it yourself, or ask Boss or an administrator to resume it.",
    })
    expect(await rolesIn(everybodys)).toEqual([])
  })

  it("installs nothing for another user, and what the run's own user wants", async () => {
    const runID = await install(ada)
    await requireEvil()
    expect(await refuses(bob, runID)).toMatchObject({ kind: "forbidden" })
    expect(await rolesIn(own(ada))).toEqual([])
    await resume(ada, runID)
    expect(await rolesIn(own(ada))).toEqual(["bob.evil"])
  })

  it("by an administrator acts for the run's user, however often", async () => {
    const first = await install(ada)
    const second = await resume(boss, first)
    await requireEvil()
    await resume(boss, second)
    expect(await rolesIn(own(ada))).toEqual(["bob.evil"])
    expect([...(await rolesIn(own(boss))), ...(await rolesIn(everybodys))]).toEqual([])
  })

  it("checks again whether its user may install for everybody", async () => {
    const second = await app.addUser("Second", { isAdmin: true })
    const runID = await install(second, { global: true })
    await requireEvil()
    const demoted = await demote(second)
    for (const user of [demoted, boss])
      expect(await refuses(user, runID)).toMatchObject({
        kind: "forbidden",
        message: "Only administrators can perform global ansible actions",
      })
    expect(await rolesIn(everybodys)).toEqual([])
  })

  it("is not for a user who was created again under the ID of the one who started it", async () => {
    const runID = await install(ada)
    await requireEvil()
    await app.call("deleteUser", boss, { path: { userID: "Ada" } })
    const again = await app.run(
      Users.use((users) =>
        users.create({
          id: ada.id,
          recordId: "anotherrecord00" as RecordId,
          name: "Ada",
          email: "again@lab.example",
          isAdmin: false,
          hypervisorUsername: "ada",
          hypervisorRealm: "pve",
          secrets: { apiKeyHash: undefined, sealedPassword: undefined, tokenKey: "again" },
          createdAt: new Date(),
        }),
      ),
    )
    expect(await refuses(again, runID)).toMatchObject({ kind: "forbidden" })
    expect((await refuses(boss, runID)).message).toContain("who was removed")
    expect(await rolesIn(own(again))).toEqual([])
  })
})

describe("a run", () => {
  it("tells each caller whether they may resume it, which makes sense only once it is over without success", async () => {
    const mayResume = async (user: User, runID: string) =>
      ((await app.call("getRun", user, { path: { runID } })) as { readonly mayResume: boolean }).mayResume
    const first = await install(ada)
    expect(await Promise.all([ada, bob, boss].map((user) => mayResume(user, first)))).toEqual([true, false, true])
    await requireEvil()
    const second = await resume(ada, first)
    expect(await mayResume(ada, second)).toBe(false)
  })
})

/** A run that failed, as an earlier version or another process left it. */
const failed = (head: Omit<RunHead, "id" | "startedAt">): Promise<RunId> =>
  app.run(
    Effect.gen(function* () {
      const journal = yield* RunJournal
      const id = "failedrun000001" as RunId
      yield* journal.open({ id, startedAt: new Date(1), ...head }, undefined)
      const generation = (yield* journal.claim(id, "test", 30)) ?? 0
      yield* journal.close(id, generation, { type: "Ended", status: "failure", message: "no" }, undefined, new Date(2))
      return id
    }),
  )

describe("resuming a disguise of machines", () => {
  const disguised = async (license: License) => {
    app = makeTestApp({ license })
    const user = await app.addUser("Ada")
    await app.call("createRange", user, { body: { name: "Lab", rangeID: "LAB" } })
    const kind = "anti-sandbox-enable"
    const disguise = { vendor: "Dell", dropFiles: false, browserData: false, persist: false }
    const subject = rangeSubject("LAB" as RangeId)
    return [user, await failed({ kind, subject, by: user.id, options: { kind, vmids: [], disguise } })] as const
  }

  it("needs the licence that a disguise needs, for administrators too", async () => {
    const [user, runID] = await disguised(communityLicense)
    const admin = await app.addUser("Root", { isAdmin: true })
    for (const who of [user, admin])
      expect(await refuses(who, runID)).toMatchObject({ kind: "forbidden", message: expect.stringContaining("licence") })
  })

  it("is not refused with it", async () => {
    const [user, runID] = await disguised(openLicense)
    await resume(user, runID)
  })
})

describe("resuming a run of a source", () => {
  const changed = async (operation: string, lab: Labs, body: object) => {
    await lab.app.call(operation, lab.admin, { path, body })
    const [run] = await runsOf()
    expect(run?.by).toBe(lab.admin.id)
    expect(run?.status).not.toBe("success")
    return run?.id ?? ""
  }

  it("that an administrator started for everybody is not for the owner of the source", async () => {
    const lab = await makeLabs()
    app = lab.app
    lab.ship({ ...labsFiles, "blueprints/bare/requirements.yml": "roles: [{name: gone.role}]\n" })
    const installed = await changed("installSource", lab, { global: true })
    expect(await refuses(lab.ada, installed)).toMatchObject({ kind: "forbidden" })
    const removed = await changed("uninstallFromSource", lab, { global: true, selection: { localRoles: ["acme.hello"] } })
    expect(await refuses(lab.ada, removed)).toMatchObject({ kind: "forbidden" })
    await resume(lab.admin, removed)
    expect(await rolesIn(everybodys)).toContain("acme.hello")
  })
})

describe("resuming a run of a template", () => {
  const files = { "deb/deb.pkr.hcl": 'variable "vm_name" {\n  default = "debian"\n}\n' }
  const build = async () => {
    app.builds.script = () => ({ prints: [], seconds: 0.01, fails: "no disk" })
    app.artifacts.content.archives.set("/upload", files)
    const file = { filename: "deb", contentType: "application/x-tar", size: 0, path: "/upload" }
    await app.observe([])
    await app.call("addTemplateFromTar", ada, { body: { force: false }, file })
    const { builds } = (await app.call("buildTemplates", ada, { body: { templates: ["debian"] } })) as {
      readonly builds: readonly { readonly runID: string }[]
    }
    const runID = builds[0]?.runID ?? ""
    await app.ended(runID)
    app.builds.script = () => ({ prints: [], seconds: 0.01 })
    return runID
  }

  it("builds nothing for a member once templates are left to administrators", async () => {
    const runID = await build()
    app = makeTestApp({ after: app, settings: { onlyAdminsBuildTemplates: true } })
    expect(await refuses(ada, runID)).toMatchObject({
      kind: "forbidden",
      message: "Cannot build template debian: only administrators may manage templates on this service",
    })
  })

  it("builds nothing for a member under a name that the service itself uses by now", async () => {
    const runID = await build()
    app = makeTestApp({ after: app, settings: { templateLogins: new Map([["debian", { user: "a", password: "b" }]]) } })
    expect(await refuses(ada, runID)).toMatchObject({ kind: "forbidden" })
  })

  it("builds the template for the user who started it", async () => {
    const runID = await build()
    await app.ended(await resume(ada, runID))
    expect(app.builds.begun).toHaveLength(2)
    expect(await app.call("getTemplates", bob)).toMatchObject([{ name: "debian", built: true }])
  })

  it("removes none that somebody else built, if its user was an administrator only then", async () => {
    const runID = await failed({
      kind: "template-removal",
      subject: { type: "template", id: "debian" },
      by: ada.id,
      options: { template: "debian", vmid: 900 },
    })
    expect(await refuses(ada, runID)).toMatchObject({
      kind: "forbidden",
      message: `Cannot resume run ${runID}: you did not build template debian`,
    })
  })
})

describe("resuming a run of a range", () => {
  it("acts for the user who resumes it, with that user's roles", async () => {
    const range = await app.addRange("LAB", [ada, bob])
    app.runs.ending = () => ({ status: "failure", message: "x" })
    const { runID } = (await app.call("deployRange", ada, { range })) as { readonly runID: string }
    await app.ended(runID)
    const next = await resume(bob, runID)
    expect(app.runs.asked.map(({ by }) => by)).toEqual(["Ada", "Bob"])
    expect(await app.call("getRun", ada, { path: { runID: next } })).toMatchObject({ by: "Bob" })
  })

  it("that sets up a KMS host is for administrators, as the operation is", async () => {
    await app.addRange("LAB", [boss, ada])
    const kms = { kind: "kms-install", vmid: 120 }
    const runID = await failed({ kind: kms.kind, subject: { type: "range", id: "LAB" as RangeId }, by: boss.id, options: kms })
    expect(await refuses(ada, runID)).toMatchObject({
      kind: "forbidden",
      message: `Cannot resume run ${runID}: only administrators may set up a KMS host`,
    })
    await resume(boss, runID)
  })
})
