import type { CollectionRequirement, RoleRequirement, UserId } from "@rangewright/domain"
import { ArtifactLibrary, type InstallOutcome, type InstallRequest, type LibraryScope, RoleInstaller } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, test } from "vitest"
import type { Files } from "../library/entries.ts"

/** A published version of a role or collection: its files as its author packs them, and the dependencies they declare. */
export interface TestRelease {
  readonly type: "role" | "collection"
  /** `<namespace>.<name>`. */
  readonly name: string
  readonly version: string
  readonly files: Files
  /** Names, or a name, a blank and the matching versions. */
  readonly needs: readonly string[]
}

/** A dependency's name and the matching versions. */
export const readNeed = (need: string): { readonly name: string; readonly version?: string } => {
  const [name = "", version] = need.split(" ")
  return version === undefined ? { name } : { name, version }
}

/** What an installer is tested on. */
export interface InstallerWorld {
  readonly run: <A, E>(effect: Effect.Effect<A, E, RoleInstaller | ArtifactLibrary>) => Promise<A>
  readonly publish: (release: TestRelease) => Promise<void>
}

export interface InstallerUnderTest {
  readonly name: string
  readonly make: () => Promise<InstallerWorld>
}

export const aRelease = (
  type: TestRelease["type"],
  name: string,
  version: string,
  needs: readonly string[] = [],
  more: Files = {},
): TestRelease => {
  const [namespace = "", own = ""] = name.split(".")
  const files: Files =
    type === "role"
      ? {
          "meta/main.yml": `galaxy_info:\n  author: ${namespace}\n  description: x\ndependencies: ${JSON.stringify(needs.map(readNeed))}\n`,
          "tasks/main.yml": `# ${version}\n[]\n`,
        }
      : {
          "MANIFEST.json": JSON.stringify({
            collection_info: {
              namespace,
              name: own,
              version,
              dependencies: Object.fromEntries(needs.map(readNeed).map((need) => [need.name, need.version ?? "*"])),
            },
            format: 1,
          }),
          "README.md": `${version}\n`,
        }
  return { type, name, version, needs, files: { ...files, ...more } }
}

const scope: LibraryScope = { type: "user", userId: "JD" as UserId }

/** The tests that every installer of roles and collections passes. */
export const installerContract = ({ name, make }: InstallerUnderTest): void => {
  const world = async (...releases: readonly TestRelease[]) => {
    const made = await make()
    for (const release of releases) await made.publish(release)
    const install = (request: Partial<InstallRequest>) =>
      made.run(RoleInstaller.use((port) => port.install({ scope, roles: [], collections: [], force: false, ...request })))
    const roles = (wanted: readonly (string | RoleRequirement)[], more: Partial<InstallRequest> = {}) =>
      install({ roles: wanted.map((role) => (typeof role === "string" ? { name: role } : role)), ...more })
    const collections = (wanted: readonly (string | CollectionRequirement)[], more: Partial<InstallRequest> = {}) =>
      install({
        collections: wanted.map((collection) => (typeof collection === "string" ? { name: collection } : collection)),
        ...more,
      })
    const listed = async (of: LibraryScope = scope) => {
      const listing = await made.run(ArtifactLibrary.use((port) => port.list(of)))
      return [...listing.roles, ...listing.collections].map((copy) => `${copy.name} ${copy.version ?? "?"}`)
    }
    return { ...made, install, roles, collections, listed }
  }
  const said = (outcomes: readonly InstallOutcome[]) =>
    outcomes
      .map((one) => `${one.type} ${one.name} ${one.outcome}${one.version === undefined ? "" : ` ${one.version}`}`)
      .toSorted()

  describe(`${name}: installing roles and collections`, () => {
    test("an empty request does nothing", async () => {
      const { install, listed } = await world()
      expect(await install({})).toEqual([])
      expect(await listed()).toEqual([])
    })

    test("installs the newest version if none is named, and otherwise the named one", async () => {
      const of = (type: "role" | "collection", own: string) =>
        ["1.9.0", "1.10.0", "1.2.0"].map((version) => aRelease(type, `acme.${own}`, version))
      const { install, listed } = await world(
        ...of("role", "web"),
        ...of("role", "db"),
        ...of("collection", "util"),
        ...of("collection", "net"),
      )
      const outcomes = await install({
        roles: [{ name: "acme.web" }, { name: "acme.db", version: "1.2.0" }],
        collections: [{ name: "acme.util" }, { name: "acme.net", version: "1.9.0" }],
      })
      expect(said(outcomes)).toEqual([
        "collection acme.net installed 1.9.0",
        "collection acme.util installed 1.10.0",
        "role acme.db installed 1.2.0",
        "role acme.web installed 1.10.0",
      ])
      expect(await listed()).toEqual(["acme.db 1.2.0", "acme.web 1.10.0", "acme.net 1.9.0", "acme.util 1.10.0"])
    })

    test("a version range of a collection gives the newest match", async () => {
      const { collections } = await world(
        ...["1.0.0", "1.5.0", "2.0.0"].map((version) => aRelease("collection", "acme.util", version)),
      )
      expect(said(await collections([{ name: "acme.util", version: ">=1.0.0,<2.0.0" }]))).toEqual([
        "collection acme.util installed 1.5.0",
      ])
    })

    test("files are installed as published, only into the requested scope", async () => {
      const { roles, listed, run } = await world(
        aRelease("role", "acme.web", "1.0.0", [], { "files/run.sh": { program: "#!/bin/sh\n" } }),
      )
      await roles(["acme.web"], { scope: { type: "global" } })
      expect(await listed()).toEqual([])
      expect(await listed({ type: "global" })).toEqual(["acme.web 1.0.0"])
      const files = await run(
        ArtifactLibrary.use((port) => port.files({ scope: { type: "global" }, kind: "role", name: "acme.web" })),
      )
      expect(files?.map(({ path }) => path)).toEqual([
        "files/run.sh",
        "meta/.galaxy_install_info",
        "meta/main.yml",
        "tasks/main.yml",
      ])
      expect(files?.find(({ path }) => path === "files/run.sh")).toMatchObject({ executable: true })
    })

    test("a role may be installed under a name other than its published one", async () => {
      const { roles, listed } = await world(aRelease("role", "acme.web", "1.0.0"))
      expect(said(await roles([{ src: "acme.web", name: "site" }]))).toEqual(["role site installed 1.0.0"])
      expect(await listed()).toEqual(["site 1.0.0"])
    })

    test("dependencies are installed and reported; those present are not", async () => {
      const { install, listed } = await world(
        aRelease("role", "acme.web", "1.0.0", ["acme.base", "acme.certs"]),
        aRelease("role", "acme.base", "2.0.0", ["acme.certs"]),
        aRelease("role", "acme.certs", "3.0.0"),
        aRelease("collection", "acme.util", "1.0.0", ["acme.core"]),
        aRelease("collection", "acme.core", "1.1.0"),
      )
      await install({ roles: [{ name: "acme.certs" }] })
      const outcomes = await install({ roles: [{ name: "acme.web" }], collections: [{ name: "acme.util" }] })
      expect(said(outcomes)).toEqual([
        "collection acme.core installed 1.1.0",
        "collection acme.util installed 1.0.0",
        "role acme.base installed 2.0.0",
        "role acme.web installed 1.0.0",
      ])
      expect(await listed()).toEqual([
        "acme.base 2.0.0",
        "acme.certs 3.0.0",
        "acme.web 1.0.0",
        "acme.core 1.1.0",
        "acme.util 1.0.0",
      ])
    })

    test.each(["role", "collection"] as const)("a required %s in another version replaces the present one", async (type) => {
      const made = await world(
        aRelease(type, "acme.app", "1.0.0", [type === "role" ? "acme.base 2.0.0" : "acme.base >=2.0.0"]),
        aRelease(type, "acme.base", "1.0.0"),
        aRelease(type, "acme.base", "2.0.0"),
      )
      const ask = (wanted: { name: string; version?: string }) =>
        type === "role" ? made.roles([wanted]) : made.collections([wanted])
      await ask({ name: "acme.base", version: "1.0.0" })
      expect(said(await ask({ name: "acme.app" }))).toEqual([
        `${type} acme.app installed 1.0.0`,
        `${type} acme.base installed 2.0.0`,
      ])
      expect(await made.listed()).toEqual(["acme.app 1.0.0", "acme.base 2.0.0"])
    })

    test("listeners get whole lines", async () => {
      const { roles } = await world(aRelease("role", "acme.web", "1.0.0"))
      const heard: string[] = []
      await roles(["acme.web"], { output: (text) => Effect.sync(() => void heard.push(text)) })
      expect(heard.join("")).toContain("acme.web")
      for (const text of heard) expect(text).toMatch(/\n$/u)
    })
  })

  describe(`${name}: what is present`, () => {
    test.each(["role", "collection"] as const)(
      "a matching %s is present, another version is kept, force replaces it",
      async (type) => {
        const made = await world(aRelease(type, "acme.x", "1.0.0"), aRelease(type, "acme.x", "2.0.0"))
        const ask = (version: string | undefined, force = false) => {
          const wanted = { name: "acme.x", ...(version === undefined ? {} : { version }) }
          return type === "role" ? made.roles([wanted], { force }) : made.collections([wanted], { force })
        }
        expect(said(await ask("1.0.0"))).toEqual([`${type} acme.x installed 1.0.0`])
        for (const version of ["1.0.0", undefined]) expect(said(await ask(version))).toEqual([`${type} acme.x present 1.0.0`])
        const [other] = await ask("2.0.0")
        expect(other).toMatchObject({ outcome: "other-version", version: "1.0.0" })
        expect(other?.because).toContain("acme.x (1.0.0) is already installed")
        expect(await made.listed()).toEqual(["acme.x 1.0.0"])
        expect(said(await ask("2.0.0", true))).toEqual([`${type} acme.x installed 2.0.0`])
        expect(await made.listed()).toEqual(["acme.x 2.0.0"])
      },
    )
  })

  describe(`${name}: what is not available`, () => {
    test("unknown names and versions fail with the reason, without affecting the others", async () => {
      const { install, listed } = await world(aRelease("role", "acme.web", "1.0.0"), aRelease("collection", "acme.util", "1.0.0"))
      const outcomes = await install({
        roles: [{ name: "acme.nothing" }, { name: "acme.web" }, { src: "acme.web", name: "old", version: "0.1.0" }],
        collections: [{ name: "acme.nowhere" }, { name: "acme.util" }],
      })
      expect(said(outcomes)).toEqual([
        "collection acme.nowhere failed",
        "collection acme.util installed 1.0.0",
        "role acme.nothing failed",
        "role acme.web installed 1.0.0",
        "role old failed",
      ])
      for (const { outcome, because } of outcomes) if (outcome === "failed") expect(because ?? "").not.toBe("")
      expect(await listed()).toEqual(["acme.web 1.0.0", "acme.util 1.0.0"])
    })

    test("a missing version leaves the present one", async () => {
      const { roles, collections, listed } = await world(
        aRelease("role", "acme.web", "1.0.0"),
        aRelease("collection", "acme.util", "1.0.0"),
      )
      await roles(["acme.web"])
      await collections(["acme.util"])
      expect(said(await roles([{ name: "acme.web", version: "9.9.9" }], { force: true }))).toEqual(["role acme.web failed"])
      expect(said(await collections([{ name: "acme.util", version: "9.9.9" }], { force: true }))).toEqual([
        "collection acme.util failed",
      ])
      expect(await listed()).toEqual(["acme.web 1.0.0", "acme.util 1.0.0"])
    })

    test("a missing dependency fails what needs it, and nothing is half done", async () => {
      const { roles, listed } = await world(
        aRelease("role", "acme.web", "1.0.0", ["acme.base", "acme.gone"]),
        aRelease("role", "acme.base", "1.0.0"),
        aRelease("role", "acme.db", "1.0.0"),
      )
      const outcomes = await roles(["acme.web", "acme.db"])
      expect(said(outcomes)).toEqual(["role acme.db installed 1.0.0", "role acme.gone failed", "role acme.web failed"])
      expect(outcomes.find(({ name: of }) => of === "acme.web")?.because).toContain("it needs the role acme.gone")
      expect(await listed()).toEqual(["acme.db 1.0.0"])
    })

    test("a dependency in a version that does not exist fails what needs it, and the present copy stays", async () => {
      const { roles, listed } = await world(
        aRelease("role", "acme.web", "1.0.0", ["acme.base 9.9.9"]),
        aRelease("role", "acme.base", "1.0.0"),
      )
      await roles(["acme.base"])
      expect(said(await roles(["acme.web"]))).toContain("role acme.web failed")
      expect(await listed()).toEqual(["acme.base 1.0.0"])
    })

    test("what depends on something broken is not installed", async () => {
      const broken = { "meta/main.yml": "- not\n- a mapping\n", "tasks/main.yml": "[]\n" }
      const { roles, listed } = await world(aRelease("role", "acme.web", "1.0.0", ["acme.list"]), {
        ...aRelease("role", "acme.list", "1.0.0"),
        files: broken,
      })
      expect(said(await roles(["acme.web"]))).toContain("role acme.web failed")
      expect(await listed()).toEqual([])
    })

    test.each(["../../etc", "-r", "--force", "a/b", "a\nb", "a\0b", "acme.web;id", "$(id)", "x".repeat(300)])(
      "a role or collection called %j fails, and nothing is done",
      async (hostile) => {
        const { install, listed } = await world(aRelease("role", "acme.web", "1.0.0"))
        const outcomes = await install({
          roles: [{ name: hostile }, { src: "acme.web", name: hostile }, { src: hostile, name: "fine" }],
          collections: [{ name: hostile }],
        })
        expect(outcomes.map(({ outcome }) => outcome)).not.toContain("installed")
        expect(outcomes.map(({ outcome }) => outcome)).toContain("failed")
        expect(await listed()).toEqual([])
      },
    )

    test("a requirement without a name fails", async () => {
      const { install } = await world()
      expect(said(await install({ roles: [{}], collections: [{ name: "" }] }))).toEqual(["collection  failed", "role  failed"])
    })

    test("a role that is no role, or has links leading outside, is not installed", async () => {
      const { roles, listed } = await world(
        {
          ...aRelease("role", "acme.out", "1.0.0"),
          files: { ...aRelease("role", "acme.out", "1.0.0").files, "files/x": { link: "../../../../etc/passwd" } },
        },
        aRelease("role", "acme.web", "1.0.0"),
      )
      expect(said(await roles(["acme.out", "acme.web"]))).toEqual(["role acme.out failed", "role acme.web installed 1.0.0"])
      expect(await listed()).toEqual(["acme.web 1.0.0"])
    })
  })
}
