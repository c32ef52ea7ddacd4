import {
  bestVersion,
  type CollectionRequirement,
  type Dependencies,
  type Fetched,
  fitsPin,
  resolveDependencies,
  type InstalledVersions,
  type InstallOutcome,
  installLimits,
  type RoleRequirement,
  wantedIn,
} from "@rangewright/domain"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"

type Kind = "role" | "collection"
/** What is published: needs by kind, name and version. */
type Place = ReadonlyMap<string, ReadonlyMap<string, Dependencies>>
type Requirement = RoleRequirement & CollectionRequirement

const needing = (roles: readonly Requirement[] = [], collections: readonly Requirement[] = []): Dependencies => ({
  roles,
  collections,
})
const nothing: InstalledVersions = { roles: new Map(), collections: new Map() }

interface Brought {
  readonly outcomes: readonly InstallOutcome[]
  readonly placed: readonly Fetched[]
  /** Everything that is there afterwards. */
  readonly there: InstalledVersions
  readonly rounds: readonly (readonly string[])[]
}

/** Carries a request out on what is published. `breaks`: names that no library takes. */
const bring = (
  asked: Dependencies,
  place: Place,
  have: InstalledVersions = nothing,
  { force = false, breaks = [] as readonly string[], ofHost = new Map<string, string>() } = {},
): Brought => {
  const resolver = resolveDependencies<Fetched>(asked, have, force)
  const rounds: (readonly string[])[] = []
  for (let wanted = resolver.next(ofHost); wanted.length > 0; wanted = resolver.next(ofHost)) {
    rounds.push(wanted.map(({ type, name }) => `${type} ${name}`))
    for (const one of wanted) {
      const { type, name = "", origin, pin } = one
      const versions = place.get(`${type} ${origin.from === "name" ? origin.name : ""}`)
      const version = bestVersion([...(versions?.keys() ?? [])], pin)
      const needs = versions?.get(version ?? "")
      if (needs === undefined) resolver.onFailed(one, "it is not published")
      else resolver.onFetched({ type, name, version, needs, wanted: one })
    }
  }
  const there = { roles: new Map(have.roles), collections: new Map(have.collections) }
  const placed: Fetched[] = []
  for (const thing of resolver.placements()) {
    if (!resolver.isSound(thing)) continue
    if (breaks.includes(thing.name)) {
      resolver.onFailed(thing, "the disk is full")
      continue
    }
    resolver.onPlaced(thing)
    placed.push(thing)
    ;(thing.type === "role" ? there.roles : there.collections).set(thing.name, thing.version)
  }
  return { outcomes: resolver.outcomes(), placed, there, rounds }
}

const place = (things: Readonly<Record<string, Readonly<Record<string, Dependencies>>>>): Place =>
  new Map(Object.entries(things).map(([name, versions]) => [name, new Map(Object.entries(versions))]))
const said = ({ outcomes }: Brought) =>
  outcomes.map(({ type, name, outcome, version }) => `${type} ${name} ${outcome}${version === undefined ? "" : ` ${version}`}`)
const reasons = ({ outcomes }: Brought) => outcomes.flatMap(({ because }) => because ?? [])

describe("a dependency with a version", () => {
  test("replaces a copy that does not fit", () => {
    const offered = place({
      "collection acme.app": { "1.0.0": needing([], [{ name: "acme.util", version: ">=2.0.0" }]) },
      "collection acme.util": { "1.0.0": needing(), "2.0.0": needing() },
    })
    const have = { roles: new Map(), collections: new Map([["acme.util", "1.0.0"]]) }
    const brought = bring(needing([], [{ name: "acme.app" }]), offered, have)
    expect(said(brought)).toEqual(["collection acme.app installed 1.0.0", "collection acme.util installed 2.0.0"])
    expect(brought.there.collections.get("acme.util")).toBe("2.0.0")
  })

  test("that is not available leaves everything as it is, and says so", () => {
    const offered = place({ "role acme.web": { "1.0.0": needing([{ name: "acme.base", version: "9.9.9" }]) } })
    const have = { roles: new Map([["acme.base", "1.0.0"]]), collections: new Map() }
    const brought = bring(needing([{ name: "acme.web" }]), offered, have)
    expect(said(brought)).toEqual(["role acme.web failed", "role acme.base failed"])
    expect(reasons(brought)[0]).toBe("it needs the role acme.base, which is not available: it is not published")
    expect(brought.there.roles).toEqual(have.roles)
  })

  test("of several items is installed in a version that satisfies all of them", () => {
    const offered = place({
      "collection acme.a": { "1.0.0": needing([], [{ name: "acme.util" }]) },
      "collection acme.b": { "1.0.0": needing([], [{ name: "acme.c" }]) },
      "collection acme.c": { "1.0.0": needing([], [{ name: "acme.util", version: "<2.0.0" }]) },
      "collection acme.util": { "1.5.0": needing(), "2.0.0": needing() },
    })
    const brought = bring(needing([], [{ name: "acme.a" }, { name: "acme.b" }]), offered)
    expect(said(brought).filter((line) => line.includes("failed"))).toEqual([])
    expect(brought.there.collections.get("acme.util")).toBe("1.5.0")
  })

  test("that contradicts the request leaves the requested version, and fails its dependents", () => {
    const offered = place({
      "collection acme.app": { "1.0.0": needing([], [{ name: "acme.util", version: ">=2.0.0" }]) },
      "collection acme.util": { "1.0.0": needing(), "2.0.0": needing() },
    })
    const brought = bring(needing([], [{ name: "acme.util", version: "1.0.0" }, { name: "acme.app" }]), offered)
    expect(said(brought)).toEqual(["collection acme.util installed 1.0.0", "collection acme.app failed"])
    expect(reasons(brought)[0]).toContain("needs the collection acme.util >=2.0.0, but 1.0.0 will be installed")
  })

  test("that is not available leaves the installed copy to those whom it satisfies", () => {
    const offered = place({
      "role acme.a": { "1.0.0": needing([{ name: "acme.base" }]) },
      "role acme.b": { "1.0.0": needing([{ name: "acme.base", version: "9.9.9" }]) },
      "role acme.base": { "1.0.0": needing() },
    })
    const brought = bring(needing([{ name: "acme.a" }, { name: "acme.b" }]), offered)
    expect(said(brought)).toEqual(["role acme.a installed 1.0.0", "role acme.b failed", "role acme.base installed 1.0.0"])
  })

  test("on a role of a collection is met by the collection", () => {
    const offered = place({
      "role acme.web": { "1.0.0": needing([{ name: "acme.util.base" }]) },
      "collection acme.util": { "1.0.0": needing() },
    })
    const request = needing([{ name: "acme.web" }])
    expect(said(bring(request, offered))).toEqual(["role acme.web installed 1.0.0", "collection acme.util installed 1.0.0"])
    const ofHost = new Map([["acme.util", "1.0.0"]])
    expect(said(bring(request, offered, nothing, { ofHost }))).toEqual(["role acme.web installed 1.0.0"])
    const own = { roles: new Map([["acme.util.base", undefined]]), collections: new Map() }
    expect(said(bring(request, offered, own))).toEqual(["role acme.web installed 1.0.0"])
    const gone = bring(request, place({ "role acme.web": { "1.0.0": needing([{ name: "acme.util.base" }]) } }))
    expect(reasons(gone)[0]).toBe("it needs the collection acme.util, which is not available: it is not published")
  })

  test("is met by a collection from a branch, whose version nobody knows", () => {
    const offered = place({ "collection acme.app": { "1.0.0": needing([], [{ name: "acme.util", version: ">=1.0.0,<3.0.0" }]) } })
    const have = { roles: new Map(), collections: new Map([["acme.util", "main"]]) }
    expect(said(bring(needing([], [{ name: "acme.app" }]), offered, have))).toEqual(["collection acme.app installed 1.0.0"])
  })

  test("is met by collections that come with the host's tools", () => {
    const offered = place({ "collection acme.app": { "1.0.0": needing([], [{ name: "acme.util", version: ">=1.0.0" }]) } })
    const brought = bring(needing([], [{ name: "acme.app" }]), offered, nothing, { ofHost: new Map([["acme.util", "1.2.0"]]) })
    expect(said(brought)).toEqual(["collection acme.app installed 1.0.0"])
  })
})

describe("nothing is half done", () => {
  const offered = place({
    "role acme.web": { "1.0.0": needing([{ name: "acme.base" }, { name: "acme.gone" }]) },
    "role acme.base": { "1.0.0": needing() },
    "role acme.db": { "1.0.0": needing([{ name: "acme.base" }]) },
  })

  test("if a dependency is not available, neither the role nor what only the role needs is installed", () => {
    const brought = bring(needing([{ name: "acme.web" }]), offered)
    expect(said(brought)).toEqual(["role acme.web failed", "role acme.gone failed"])
    expect(brought.placed).toEqual([])
  })

  test("an installed copy is not replaced for an item that is not installed", () => {
    const needy = needing([{ name: "acme.gone" }], [{ name: "acme.util", version: "2.0.0" }])
    const offering = place({
      "collection acme.app": { "1.0.0": needy },
      "collection acme.util": { "1.0.0": needing(), "2.0.0": needing() },
    })
    const have = { roles: new Map(), collections: new Map([["acme.util", "1.0.0"]]) }
    const brought = bring(needing([], [{ name: "acme.app" }, { name: "acme.util" }]), offering, have)
    expect(brought.placed).toEqual([])
    expect(brought.there.collections.get("acme.util")).toBe("1.0.0")
    expect(said(brought).slice(0, 2)).toEqual(["collection acme.app failed", "collection acme.util present 1.0.0"])
  })

  test("what other items need is still installed", () => {
    const brought = bring(needing([{ name: "acme.web" }, { name: "acme.db" }]), offered)
    expect(brought.placed.map(({ name }) => name)).toEqual(["acme.base", "acme.db"])
  })

  test("an item that the library refuses fails all its dependents", () => {
    const brought = bring(needing([{ name: "acme.db" }]), offered, nothing, { breaks: ["acme.base"] })
    expect(said(brought)).toEqual(["role acme.db failed", "role acme.base failed"])
    expect(reasons(brought)[0]).toContain("the disk is full")
    expect(brought.placed).toEqual([])
  })
})

describe("requests without end", () => {
  test("a dependency chain that is too long fails, and nothing of it is installed", () => {
    const names = Array.from({ length: installLimits.rounds + 5 }, (_, at) => `acme.r${at}`)
    const offered = new Map(
      names.map((name, at) => [`role ${name}`, new Map([["1.0.0", needing([{ name: `acme.r${at + 1}` }])]])] as const),
    )
    const brought = bring(needing([{ name: "acme.r0" }]), offered)
    expect(brought.outcomes[0]).toMatchObject({ name: "acme.r0", outcome: "failed" })
    expect(brought.rounds).toHaveLength(installLimits.rounds)
    expect(brought.placed).toEqual([])
    expect(brought.outcomes.at(1)?.because).toContain("chain of dependencies is longer than 20")
  })

  test("items beyond the maximum per request fail, and none is dropped", () => {
    const names = Array.from({ length: installLimits.things + 2 }, (_, at) => ({ name: `acme.r${at}` }))
    const offered = new Map(names.map(({ name }) => [`role ${name}`, new Map([["1.0.0", needing()]])] as const))
    const { outcomes, placed } = bring(needing(names), offered)
    expect(outcomes).toHaveLength(installLimits.things + 2)
    expect(placed).toHaveLength(installLimits.things)
    expect(outcomes.at(-1)).toMatchObject({ outcome: "failed", because: expect.stringContaining("1000 items") })
  })

  test("an item requested twice in two versions is reported", () => {
    const offered = place({ "role acme.web": { "1.0.0": needing(), "2.0.0": needing() } })
    const wanted = [{ name: "acme.web", version: "1.0.0" }, { name: "acme.web", version: "2.0.0" }, { name: "acme.web" }]
    expect(said(bring(needing(wanted), offered))).toEqual(["role acme.web installed 1.0.0", "role acme.web failed"])
  })
})

describe("laws of every installation", () => {
  const names = ["acme.a", "acme.b", "acme.c", "acme.d"] as const
  const name = fc.constantFrom(...names)
  const version = fc.constantFrom("1.0.0", "1.1.0", "2.0.0")
  const pin = fc.oneof(version, fc.constantFrom(">=1.1.0", "<2.0.0"))
  const requirement = fc
    .record({ name, version: fc.option(pin, { nil: undefined }) })
    .map(({ name: of, version: fits }): Requirement => (fits === undefined ? { name: of } : { name: of, version: fits }))
  const dependencies: fc.Arbitrary<Dependencies> = fc.record({
    roles: fc.array(requirement, { maxLength: 3 }),
    collections: fc.array(requirement, { maxLength: 3 }),
  })
  const offered: fc.Arbitrary<Place> = fc
    .array(
      fc.tuple(fc.constantFrom<Kind>("role", "collection"), name, fc.array(fc.tuple(version, dependencies), { minLength: 1 })),
      { maxLength: 8 },
    )
    .map((triples) => new Map(triples.map(([kind, of, versions]) => [`${kind} ${of}`, new Map(versions)])))
  const copies = fc.array(fc.tuple(name, version)).map((pairs) => new Map<string, string | undefined>(pairs))
  const installed: fc.Arbitrary<InstalledVersions> = fc.record({ roles: copies, collections: copies })
  const copiesOf = (there: InstalledVersions, type: Kind) => (type === "role" ? there.roles : there.collections)

  test("whatever is installed has all that it needs, in versions that fit", () => {
    fc.assert(
      fc.property(dependencies, offered, installed, fc.boolean(), (asked, from, have, force) => {
        const { placed, there } = bring(asked, from, have, { force })
        for (const { needs } of placed)
          for (const { type, name: of = "", pin: fits } of wantedIn(needs)) {
            expect(copiesOf(there, type).has(of)).toBe(true)
            expect(fitsPin(copiesOf(there, type).get(of), fits)).toBe(true)
          }
      }),
    )
  })

  test("requested items are reported first, and those reported as present are", () => {
    fc.assert(
      fc.property(dependencies, offered, installed, fc.boolean(), (asked, from, have, force) => {
        const { outcomes, there } = bring(asked, from, have, { force })
        const told = outcomes.map(({ type, name: of }) => `${type} ${of}`)
        const wanted = [...new Set(wantedIn(asked).map(({ type, name: of }) => `${type} ${of}`))]
        expect(told.slice(0, wanted.length)).toEqual(wanted)
        for (const { type, name: of, version: is, outcome } of outcomes)
          if (outcome !== "failed") expect(copiesOf(there, type).get(of)).toBe(is)
      }),
    )
  })

  test("without force an installed item that is requested keeps its version, unless a dependency needs another", () => {
    fc.assert(
      fc.property(dependencies, offered, installed, (asked, from, have) => {
        const { there, placed } = bring(asked, from, have)
        const needed = new Set(placed.flatMap(({ needs }) => wantedIn(needs).map(({ type, name: of }) => `${type} ${of}`)))
        for (const { type, name: of = "" } of wantedIn(asked)) {
          const before = copiesOf(have, type).get(of)
          if (before !== undefined && !needed.has(`${type} ${of}`)) expect(copiesOf(there, type).get(of)).toBe(before)
        }
      }),
    )
  })

  test("nothing is installed that nobody asked for and nothing needs", () => {
    fc.assert(
      fc.property(dependencies, offered, installed, fc.boolean(), (asked, from, have, force) => {
        const { placed } = bring(asked, from, have, { force })
        const wanted = new Set(
          [asked, ...placed.map(({ needs }) => needs)].flatMap(wantedIn).map(({ type, name: of }) => `${type} ${of}`),
        )
        for (const { type, name: of } of placed) expect(wanted).toContain(`${type} ${of}`)
      }),
    )
  })

  test("force reinstalls requested items, but not their dependencies", () => {
    const from = place({
      "role acme.a": { "1.0.0": needing([{ name: "acme.b" }]) },
      "role acme.b": { "1.0.0": needing() },
    })
    const have = { roles: new Map(["acme.a", "acme.b"].map((of) => [of, "1.0.0"])), collections: new Map() }
    expect(said(bring(needing([{ name: "acme.a" }]), from, have, { force: true }))).toEqual(["role acme.a installed 1.0.0"])
  })
})
