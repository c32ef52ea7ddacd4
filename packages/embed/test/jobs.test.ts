import { describe, expect, it } from "vitest"
import {
  InvalidInputError,
  planNetworkMigration,
  planRange,
  rangeId,
  readCatalog,
  recordId,
  resolveSubscriptionRoles,
  userId,
  validateConfiguration,
  vmid,
} from "../src/index.ts"

const machine = (more: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify({
    ludus: [
      {
        vm_name: "web",
        hostname: "web",
        template: "debian-12",
        vlan: 20,
        ip_last_octet: 5,
        ram_gb: 2,
        cpus: 1,
        linux: true,
        ...more,
      },
    ],
  })

describe("validating a configuration", () => {
  it("finds no problem in a valid one", () => {
    expect(validateConfiguration(machine(), { templates: ["debian-12", "debian-11-x64-server-template"] })).toEqual({
      valid: true,
      problems: [],
    })
  })

  it("checks templates, roles and nodes only if they are given", () => {
    expect(validateConfiguration(machine({ template: "none", roles: ["acme.hello"] })).valid).toBe(true)
    const { valid, problems } = validateConfiguration(machine({ template: "none", roles: ["acme.hello"] }), {
      templates: ["debian-12"],
      roles: [],
    })
    expect(valid).toBe(false)
    expect(problems.map(({ path }) => path)).toEqual(expect.arrayContaining(["ludus[0].template", "ludus[0].roles[0]"]))
  })

  it.each(["", "\0", "[", "ludus: &a [*a]", "- ".repeat(10_000), "ludus: !!js/function x", "{".repeat(5_000)])(
    "says what is wrong with %j, and never throws",
    (text) => {
      const { valid, problems } = validateConfiguration(text)
      expect(valid).toBe(false)
      expect(problems.length).toBeGreaterThan(0)
    },
  )
})

describe("input of another kind", () => {
  const others = [undefined, null, 7, []] as const
  it.each(others)("%j is refused by every job, by name", async (value) => {
    const wrong = value as never
    const made: readonly (() => unknown)[] = [
      () => validateConfiguration(wrong),
      () => planRange(wrong),
      () => planRange({ configuration: wrong, templates: [] }),
      () => readCatalog(wrong),
      () => readCatalog({ id: "labs", files: wrong }),
      () => resolveSubscriptionRoles(wrong),
      () => resolveSubscriptionRoles({ index: [], license: wrong, wanted: [] }),
      () => planNetworkMigration(wrong),
      () => planNetworkMigration({ installation: wrong }),
    ]
    for (const make of made) {
      const thrown = await Promise.resolve()
        .then(make)
        .catch((cause: unknown) => cause)
      expect(thrown).toBeInstanceOf(InvalidInputError)
    }
  })

  const role = { role: "acme.exchange", version: "1.0.0", entitlements: ["PRO_ROLES"] } as never
  const license = { active: true, entitlements: [] }
  const files = { "ansible/roles/hello/meta/main.yml": "galaxy_info: {author: acme, role_name: hello}\n" }
  const installation = { nodes: [], ranges: [], machines: [] }
  it.each<readonly [string, () => unknown]>([
    ["facts: templates must be a list of strings", () => validateConfiguration(machine(), { templates: "debian-12" })],
    ["facts: roles must be a list of strings", () => validateConfiguration(machine(), { roles: 5 as never })],
    ["facts: collections[0] must be a string", () => validateConfiguration(machine(), { collections: [null as never] })],
    ["facts: rangeId must be a string", () => validateConfiguration(machine(), { rangeId: 7 as never })],
    ["is not the ID of a range", () => validateConfiguration(machine(), { rangeId: "a b" })],
    ["facts: nodes must be a list of objects", () => validateConfiguration(machine(), { nodes: null as never })],
    ["templates[1] must be a string", () => planRange({ configuration: machine(), templates: ["debian-12", 5 as never] })],
    ["nodes[0] must be a string", () => planRange({ configuration: machine(), templates: [], nodes: [null as never] })],
    ["rangeId must be a string", () => planRange({ configuration: machine(), templates: [], rangeId: null as never })],
    ["files: a/b must be a string", () => readCatalog({ id: "acme", files: { "a/b": null as never } })],
    [
      "installed: roles[0] must be an object",
      () => readCatalog({ id: "acme", files, installed: { roles: ["acme.hello" as never] } }),
    ],
    [
      "installed: roles[0] needs scope, a string",
      () => readCatalog({ id: "acme", files, installed: { roles: [{ name: "acme.hello" } as never] } }),
    ],
    [
      "installed: collections: the scope of acme.x must be one of global, user, but it is all",
      () => readCatalog({ id: "acme", files, installed: { collections: [{ name: "acme.x", scope: "all" as never }] } }),
    ],
    [
      "settings: protectedAddresses must be a list of strings",
      () => planRange({ configuration: machine(), templates: [], settings: { protectedAddresses: 7 as never } }),
    ],
    [
      "settings: vmidSpan needs from, a number",
      () => planRange({ configuration: machine(), templates: [], settings: { vmidSpan: {} as never } }),
    ],
    ["facts: nodes[0] needs name, a string", () => validateConfiguration(machine(), { nodes: [{} as never] })],
    ["blueprints[0] must be an object", () => readCatalog({ id: "acme", files, blueprints: [null as never] })],
    ["index[0] must be an object", () => resolveSubscriptionRoles({ index: [null as never], license, wanted: [] })],
    [
      "machines[0] must be an object",
      () => planNetworkMigration({ installation: { ...installation, machines: [null as never] } }),
    ],
    ...[Number.NaN, -5, 0, 1.5, 154].map(
      (rangeNumber) =>
        [
          `facts: rangeNumber must be a whole number from 1 to 153, but it is ${rangeNumber}`,
          () => validateConfiguration(machine(), { rangeNumber }),
        ] as const,
    ),
    ...(["to-sdn", "to-bridges"] as const).flatMap((direction) =>
      Object.entries({
        "installation: nodes[0] needs missingPackages, a list of strings": { nodes: [{ name: "pve1", online: true }] },
        "installation: ranges[0] needs number, a number": { ranges: [{ id: "LAB" }] },
        "installation: machines[0] needs kind, a string": { machines: [{ vmid: 100, node: "pve1", name: "x" }] },
        "installation: zones must be a list of objects, but it is null": { zones: null },
        "installation: vnets[0] needs name, a string": { vnets: [{}] },
        "installation: bridges[0] needs node, a string": { bridges: [{}] },
        "installation: rights[0] needs vnet, a string": { rights: [{}] },
        "installation: quorate must be true or false": { quorate: "no" },
        "installation: otherPending[0] must be a string": { otherPending: [5] },
        "installation: record needs zone, a string": { record: {} },
      }).map(
        ([words, parts]) =>
          [words, () => planNetworkMigration({ direction, installation: { ...installation, ...(parts as object) } })] as const,
      ),
    ),
    [
      "options: natGroups must be a list of strings",
      () => planNetworkMigration({ installation, options: { natGroups: "x" as never } }),
    ],
    ["installed: roles must be a list of objects", () => readCatalog({ id: "acme", files, installed: { roles: {} as never } })],
    ["license needs active", () => resolveSubscriptionRoles({ index: [], license: {} as never, wanted: [] })],
    [
      "license: active must be true or false",
      () => resolveSubscriptionRoles({ index: [role], license: { ...license, active: "false" as never }, wanted: [] }),
    ],
    [
      "license: entitlements must be a list of strings",
      () => resolveSubscriptionRoles({ index: [role], license: { ...license, entitlements: "PRO_ROLES" as never }, wanted: [] }),
    ],
    [
      "index[1] needs entitlements, a list of strings",
      () => resolveSubscriptionRoles({ index: [role, { role: "acme.forest", version: "1.0.0" } as never], license, wanted: [] }),
    ],
    ["wanted needs configuration", () => resolveSubscriptionRoles({ index: [], license, wanted: {} as never })],
    ["wanted[0] must be a string", () => resolveSubscriptionRoles({ index: [], license, wanted: [5 as never] })],
    ["direction must be one of to-sdn, to-bridges", () => planNetworkMigration({ installation, direction: "sideways" as never })],
    ["rangeId needs id", () => rangeId(undefined as never)],
    ["userId needs id", () => userId(undefined as never)],
    ["recordId: id must be a string, but it is 5", () => recordId(5n as never)],
    ["vmid: id must be a number, but it is a string", () => vmid("100" as never)],
  ])("is refused inside what is given too: %s", async (words, make) => {
    const thrown = await Promise.resolve()
      .then(make)
      .catch((cause: unknown) => cause)
    expect(thrown).toBeInstanceOf(InvalidInputError)
    expect((thrown as Error).message).toContain(words)
  })

  it("names what is missing, and what is given", () => {
    expect(() => validateConfiguration(undefined as never)).toThrow("validateConfiguration needs yaml, a string")
    expect(() => readCatalog({ id: "labs", files: null as never })).toThrow(
      "readCatalog: files must be an object, but it is null",
    )
  })
})

describe("what is given as undefined", () => {
  const absent = undefined as never
  it("counts as absent in the settings of a range", async () => {
    const asked = { configuration: machine(), templates: ["debian-11-x64-server-template", "debian-12"], nodes: ["a", "b"] }
    const settings = { sdnZone: absent, vxlanTagBase: absent, vmidSpan: absent }
    expect(await planRange({ ...asked, settings })).toEqual(await planRange(asked))
  })

  it("counts as absent in what is installed", () => {
    const files = { "ansible/roles/hello/meta/main.yml": "galaxy_info: {author: acme, role_name: hello}\n" }
    const installed = { templates: absent, roles: absent, collections: absent }
    expect(readCatalog({ id: "acme", files, installed })).toEqual(readCatalog({ id: "acme", files }))
  })

  it("counts as absent in an installation and in the options of its migration", () => {
    const node = { name: "pve1", online: true, address: "192.0.2.11", missingPackages: [], pending: [] }
    const installation = { nodes: [node], ranges: [], machines: [] }
    expect(
      planNetworkMigration({
        installation: { ...installation, quorate: absent, zones: absent, bridges: absent },
        options: { clusterMode: absent, zone: absent },
      }),
    ).toEqual(planNetworkMigration({ installation }))
  })
})

describe("planning a range", () => {
  it("gives the plan as data and as text", async () => {
    const { plan, text } = await planRange({
      configuration: machine(),
      templates: ["debian-11-x64-server-template", "debian-12"],
    })
    expect(plan.rangeId).toBe("LAB")
    expect(plan.steps.map(({ key }) => key)).toContain("clone:web")
    expect(text).toContain("10.1.20.5")
  })

  it.each([
    ["a configuration that is none", { configuration: "ludus: 5", templates: [] }, /configuration/iu],
    ["a template that is missing", { configuration: machine(), templates: [] }, /template/iu],
    ["a range ID that is none", { configuration: machine(), templates: [], rangeId: "../x" }, /is not the ID of a range/u],
    ["no node", { configuration: machine(), templates: [], nodes: [] }, /node/iu],
  ])("rejects %s, and says so", async (_, asked, words) => {
    const rejected = await planRange(asked).catch((error: unknown) => error)
    expect(rejected).toBeInstanceOf(InvalidInputError)
    expect((rejected as Error).message).toMatch(words)
  })
})

describe("reading a catalog", () => {
  const files = { "ansible/roles/hello/meta/main.yml": "galaxy_info: {author: acme, role_name: hello}\n" }

  it("lists what is installed, and nothing if nothing is given", () => {
    const stateOf = (installed?: Parameters<typeof readCatalog>[0]["installed"]) =>
      readCatalog({ id: "acme", files, ...(installed === undefined ? {} : { installed }) }).localRoles.map(({ state }) => state)
    expect(stateOf()).toEqual(["not_installed"])
    expect(stateOf({ roles: [{ name: "acme.hello", scope: "global" }] })).toEqual(["installed"])
  })

  it.each([{}, { "README.md": "" }, { "../x": "" }, { "blueprints/web/blueprint.yml": "id: 5\n" }])(
    "of %j throws, and says where it is wrong",
    (wrong) => {
      expect(() => readCatalog({ id: "acme", files: wrong })).toThrow(/^Cannot read the source acme: ./u)
    },
  )
})

describe("resolving subscription roles", () => {
  const role = {
    role: "acme.exchange",
    version: "1.0.0",
    description: "An example",
    file_count: 1,
    last_modified_unix: 0,
    package_uuid: "00000000-0000-4000-8000-000000000001",
    entitlements: ["PRO_ROLES"],
    package: { bytes: 1, sha256: "0".repeat(64) },
  }
  const index = JSON.stringify({ serial: 1, issued_unix: 0, roles: [role] })

  it("lists the roles of a configuration, and which of them a license includes", () => {
    const wanted = { configuration: machine({ roles: ["acme.exchange", "other.role"] }) }
    const resolved = (entitlements: readonly string[], active = true) =>
      resolveSubscriptionRoles({ index, license: { active, entitlements }, wanted }).map(({ name, mayInstall }) => [
        name,
        mayInstall,
      ])
    expect(resolved(["PRO_ROLES"])).toEqual([["acme.exchange", true]])
    expect(resolved([])).toEqual([["acme.exchange", false]])
    expect(resolved(["PRO_ROLES"], false)).toEqual([["acme.exchange", false]])
  })

  it("says what is wrong with a configuration, and where", () => {
    const resolve = () =>
      resolveSubscriptionRoles({
        index,
        license: { active: true, entitlements: [] },
        wanted: { configuration: "ludus:\n  - vlan: 5000\n" },
      })
    expect(resolve).toThrow(InvalidInputError)
    expect(resolve).toThrow(/ludus\.0\.vlan: 5000 is out of range .* at line 2/u)
  })

  it.each(["", "{}", "[]", "null", index.replace("acme.exchange", "../x")])("refuses the index %j", (text) => {
    expect(() => resolveSubscriptionRoles({ index: text, license: { active: true, entitlements: [] }, wanted: [] })).toThrow(
      InvalidInputError,
    )
  })
})

describe("planning a migration", () => {
  it("of an installation without anything on bridges has nothing to do for machines", () => {
    const node = { name: "pve1", online: true, address: "192.0.2.11", missingPackages: [], pending: [] }
    const { plan, text } = planNetworkMigration({ installation: { nodes: [node], ranges: [], machines: [] } })
    expect(plan.machines).toEqual([])
    expect(text).not.toBe("")
  })
})

describe("an ID", () => {
  it("is returned if it is valid", () => {
    expect([rangeId("LAB/a"), userId("ADA"), recordId("a".repeat(15)), vmid(100)]).toEqual(["LAB/a", "ADA", "a".repeat(15), 100])
  })

  it.each([() => rangeId("a b"), () => userId("1"), () => recordId("A"), () => vmid(99), () => vmid(Number.NaN)])(
    "that is none is refused (%#)",
    (make) => {
      expect(make).toThrow(InvalidInputError)
    },
  )
})
