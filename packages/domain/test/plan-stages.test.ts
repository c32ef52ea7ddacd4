import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { coverOf, type Json, macOf, maskAction, maskSecrets, type Plan, secretsOf, stageFingerprint } from "../src/index.ts"
import { labConfig, labWorld, routerName } from "./plan-lab.ts"
import { grant, inputFor, planned, range, settings, stepOf } from "./plan-model.ts"

const inputOf = (plan: Plan, key: string): { readonly [key: string]: Json } => {
  const { action } = stepOf(plan, key)
  if (action.kind !== "guest") throw new Error(`${key} is no stage`)
  return action.input as { readonly [key: string]: Json }
}
const plan = (config = labConfig()): Plan => planned(inputFor(labWorld(), config))

describe("the input of a stage", () => {
  const first = plan()

  test("address: the static address, the router's leg as gateway and name server, the host name", () => {
    expect(inputOf(first, "address:LAB-web")).toEqual({
      interface: 0,
      address: "10.7.20.5/24",
      gateway: "10.7.20.254",
      dns: ["10.7.20.254"],
      search: "home.arpa",
      hostname: "LAB-web",
      timezone: "America/New_York",
    })
    const own = plan(labConfig({ web: { primary_dns_server: "1.1.1.1", secondary_dns_server: "9.9.9.9" } }))
    expect(inputOf(own, "address:LAB-web")["dns"]).toEqual(["1.1.1.1", "9.9.9.9"])
  })

  test("address: waits for the router's rules where stages speak to machines over their network, and for nothing else where not", () => {
    const overNetwork = planned(inputFor(labWorld(), labConfig(), {}, { settings: { ...settings, guestsOverNetwork: true } }))
    expect(stepOf(overNetwork, "address:LAB-web").after).toContain(`firewall:${routerName}`)
    expect(stepOf(first, "address:LAB-web").after).toEqual(["start:LAB-web"])
  })

  test("logins: routers always have their own, machines when the range says so, and a changed setting runs the stage again", () => {
    expect(inputOf(first, `router:${routerName}`)["login"]).toBe("generated")
    expect(inputOf(first, "address:LAB-web")["login"]).toBeUndefined()
    const own = plan(labConfig({}, { defaults: { machine_logins: "generated" } }))
    expect(inputOf(own, "address:LAB-web")["login"]).toBe("generated")
    const world = labWorld()
    const before = planned(inputFor(world, labConfig()))
    for (const step of before.steps) world.run(step)
    expect(planned(inputFor(world, labConfig())).steps).toEqual([])
    const changed = inputFor(world, labConfig({}, { defaults: { machine_logins: "generated" } }))
    const keys = planned(changed).steps.map(({ key }) => key)
    expect(keys).toContain("address:LAB-web")
    expect(keys.filter((key) => !/^(?:address|windows-base):/u.test(key))).toEqual([])
  })

  test("router: its outer address and a leg in each VLAN", () => {
    expect(inputOf(first, `router:${routerName}`)).toMatchObject({
      address: "192.0.2.107/24",
      gateway: "192.0.2.254",
      hostname: "LAB-router",
      legs: [
        { vlan: 10, address: "10.7.10.254/24" },
        { vlan: 20, address: "10.7.20.254/24" },
        { vlan: 99, address: "10.7.99.254/24" },
      ],
    })
  })

  test("firewall: all rules in the form that is loaded at once, with grants once each", () => {
    const twice = [grant("BEN", 3), grant("ANNA", 2), { ...grant("ANNA", 2), accessType: "Group Member" as const }]
    const rules = inputOf(planned(inputFor(labWorld(), labConfig(), {}, { grants: twice })), `firewall:${routerName}`)["rules"]
    expect(rules).toContain("*filter\n")
    expect(rules).toContain("-s 198.51.100.2 -i outside")
    expect(`${rules as string}`.split("-s 198.51.100.2 ")).toHaveLength(2)
    expect(rules).toContain("10.0.0.2")
  })

  test("firewall and names in testing mode: what is allowed passes and stays pinned", () => {
    const testing = { mode: "on" as const, allowedDomains: ["example.org (93.184.215.14)"], allowedIps: ["203.0.113.9"] }
    const tested = planned(inputFor(labWorld(), labConfig(), {}, { range: { ...range, testing } }))
    const { rules, guard } = inputOf(tested, `firewall:${routerName}`)
    for (const ip of ["93.184.215.14", "203.0.113.9"])
      expect([rules, guard].every((text) => JSON.stringify(text).includes(ip))).toBe(true)
    expect(inputOf(tested, `dns:${routerName}`)).toMatchObject({
      closed: {
        listen: ["10.7.10.254", "10.7.20.254", "10.7.99.254"],
        domains: [{ name: "example.org", address: "93.184.215.14", set: "name_example.org" }],
      },
    })
    expect(inputOf(first, `dns:${routerName}`)).not.toHaveProperty("closed")
    expect(inputOf(first, `firewall:${routerName}`)["guard"]).toMatch(/^# open\n/u)
    expect(inputOf(first, `dns:${routerName}`)["records"]).toContainEqual({ name: "web", address: "10.7.20.5" })
  })

  test("firewall in testing mode: a machine that keeps its way out is known by the card that it has, or will have", () => {
    const config = labConfig({ kali: { testing: { snapshot: true, block_internet: false } } })
    const testing = { mode: "on" as const, allowedDomains: [], allowedIps: [] }
    const world = labWorld()
    const guard = (mac?: string) => {
      const input = inputFor(world, config, { force: true }, { range: { ...range, testing } })
      const details = [...input.world.details].map(([vmid, detail]) => {
        const nics = detail.nics.map((nic) => (mac === undefined || detail.name !== "LAB-kali" ? nic : { ...nic, mac }))
        return [vmid, { ...detail, nics }] as const
      })
      const known = { ...input, world: { ...input.world, details: new Map(details) } }
      return inputOf(planned(known), `firewall:${routerName}`)["guard"]
    }
    const before = guard()
    const mac = /ip saddr 10\.7\.99\.5 ether saddr \{ ([0-9a-f:]{17}) \} accept/u.exec(JSON.stringify(before))?.[1]
    expect(mac).toBe(macOf(world.reservations.get("LAB-kali") as number, 0).toLowerCase())
    for (const step of planned(inputFor(world, config)).steps) world.run(step)
    expect(guard()).toBe(before)
    expect(guard("BC:24:11:00:00:01")).toContain("ip saddr 10.7.99.5 ether saddr { bc:24:11:00:00:01 } accept")
  })

  test("domain stages: one domain, written in whatever case, with its first controller as name server", () => {
    expect(inputOf(first, "primary-dc:LAB-dc")).toMatchObject({
      fqdn: "corp.example",
      netbios_name: "CORP",
      forwarder: "10.7.10.254",
    })
    expect(inputOf(first, "domain-join:LAB-ws")).toMatchObject({ dns: ["10.7.10.11"], organizational_unit: "Workstations" })
    expect(inputOf(first, "alt-dc:LAB-dc2")).toMatchObject({ dns: ["10.7.10.11"] })
  })

  test("domain stages: of two first controllers in the file the first one counts", () => {
    const twice = plan(labConfig({ dc2: { domain: { fqdn: "corp.example", role: "primary-dc" } } }))
    expect(inputOf(twice, "domain-join:LAB-ws")).toMatchObject({ dns: ["10.7.10.11"], restart_for_policies: false })
    const policies = plan(labConfig({ dc: { windows: { gpos: ["disable_defender"] } }, ws: { template: "win-server" } }))
    expect(inputOf(policies, "domain-join:LAB-ws")).toMatchObject({ organizational_unit: "Servers", restart_for_policies: true })
    expect(inputOf(policies, "primary-dc:LAB-dc")).toMatchObject({ gpos: ["disable_defender"] })
  })

  test("autologon: set at once on a machine without a domain, else when the domain knows the user", () => {
    const autologon = (key: string, config = labConfig()) => inputOf(plan(config), key)["autologon"]
    const administrator = { user: "domainadmin", password: "password", domain: "CORP" }
    expect(autologon("primary-dc:LAB-dc")).toEqual(administrator)
    expect(autologon("alt-dc:LAB-dc2")).toEqual(administrator)
    expect(autologon("domain-join:LAB-ws")).toEqual({ ...administrator, user: "domainuser" })
    for (const name of ["dc", "dc2", "ws"]) expect(autologon(`windows-base:LAB-${name}`)).toBeUndefined()
    expect(autologon("windows-base:LAB-ws", labConfig({ ws: { domain: undefined } }))).toEqual({ user: "localuser" })
    const eve = labConfig({ ws: { windows: { autologon_user: "eve", autologon_password: "x" } } })
    expect(autologon("domain-join:LAB-ws", eve)).toEqual({ user: "eve", password: "x" })
  })

  test("windows-base: policies of a machine in no domain", () => {
    const gpos = ["anon_share_access"]
    const alone = plan(labConfig({ ws: { domain: undefined, windows: { gpos } } }))
    expect(inputOf(alone, "windows-base:LAB-ws")).toMatchObject({ gpos })
    expect(inputOf(plan(labConfig({ dc: { windows: { gpos } } })), "windows-base:LAB-dc")).not.toHaveProperty("gpos")
  })

  test("role: its variables, the machine's over the range's, and what roles may rely on", () => {
    const config = labConfig(
      { web: { role_vars: { port: 8080 } }, ws: { roles: ["agent"] } },
      { global_role_vars: { port: 80, site: "lab" } },
    )
    expect(inputOf(plan(config), "role:LAB-web:shop")).toEqual({
      role: "shop",
      range_id: "LAB",
      range_second_octet: 7,
      ludus_dns_server: "10.7.20.254",
      vars: { port: 8080, site: "lab" },
    })
    expect(inputOf(plan(config), "role:LAB-ws:agent")).toMatchObject({
      ludus_domain_fqdn: "CORP.example",
      ludus_domain_netbios_name: "CORP",
      ludus_domain_fqdn_tail: "example",
      ludus_dc_vm_name: "LAB-dc",
      ludus_dc_hostname: "LAB-dc",
      ludus_dc_ip: "10.7.10.11",
    })
  })
})

describe("secrets in inputs", () => {
  const config = labConfig(
    {
      web: {
        role_vars: {
          api_token: "t0ken-t0ken",
          nested: { db_password: ["deep-one"] },
          vault_secrets: { site: "inner" },
          color: "red",
        },
      },
    },
    { defaults: { ad_domain_admin_password: "admin-secret" } },
  )
  const made = plan(config)

  test("are found wherever they are", () => {
    expect(secretsOf(inputOf(made, "role:LAB-web:shop"))).toEqual(["t0ken-t0ken", "deep-one", "inner"])
    expect(secretsOf(inputOf(made, "primary-dc:LAB-dc"))).toContain("admin-secret")
  })

  test("are masked in output, in every form in which tools print them", () => {
    const cover = coverOf(
      { password: 'one"two', nested: { token: "long-line-1\nlong-line-2" }, db_secret: 987_654, plain: "stays" },
      ["of the environment"],
    )
    expect(cover('x one"two y')).toBe("x *** y")
    expect(cover(JSON.stringify({ msg: 'one"two' }))).toBe('{"msg":"***"}')
    expect(cover(JSON.stringify({ out: JSON.stringify({ msg: 'one"two' }) }))).toBe('{"out":"{\\"msg\\":\\"***\\"}"}')
    expect(cover(`${btoa('one"two')} ${encodeURIComponent('one"two')}`)).toBe("*** ***")
    expect(cover("a long-line-2 b")).toBe("a *** b")
    expect(cover("987654")).toBe("***")
    expect(cover("of the environment stays")).toBe("*** stays")
  })

  test("are looked for in the beginning of a text alone if only that is wanted, and none is cut in half", () => {
    const cover = coverOf({ password: "0123456789" })
    expect(cover(`${"a".repeat(95)}0123456789 and more`, 100)).toBe(`${"a".repeat(95)}*** a`)
    expect(cover(`0123456789${"a".repeat(200)}0123456789${"b".repeat(200)}`, 100)).toMatch(/^\*{3}a{90,97}$/u)
    expect(cover("0123456789".repeat(30), 100)).toMatch(/^\**$/u)
    expect(cover("short", 100)).toBe("short")
    expect(cover(`0123456789${"b".repeat(200)}`, -100)).toBe("b".repeat(100))
    expect(cover(`${"a".repeat(200)}0123456789${"b".repeat(95)}`, -100)).toMatch(/^b{90,95}$/u)
  })

  test("do not hold up the service, however many there are and however much is printed", () => {
    const cover = coverOf({ password: Array.from({ length: 10_000 }, (_, at) => `aaaaaaaa${at}`) })
    expect(cover("It failed with aaaaaaaa77.")).toBe("It failed with ***.")
    expect(cover("a".repeat(4_000_000))).toMatch(/^\[not shown/u)
    expect(cover("It failed with aaaaaaaa77.")).toMatch(/^\[not shown/u)
  })

  test("are recognized by their keys", () => {
    for (const key of ["admin_password", "apiKey", "pin", "user_pin", "license_key", "psk", "ssh_private_key"])
      expect([key, maskSecrets({ [key]: "x" })]).toEqual([key, { [key]: "***" }])
    for (const key of ["pinned", "shipping", "keyboard", "monkey", "size"])
      expect([key, maskSecrets({ [key]: "x" })]).toEqual([key, { [key]: "x" }])
  })

  test("are masked in what is shown, and nothing else is", () => {
    const shown = JSON.stringify(made.steps.map((s) => maskAction(s.action)))
    for (const secret of made.steps.flatMap(({ action }) => (action.kind === "guest" ? secretsOf(action.input) : [])))
      if (secret !== "password") expect(shown).not.toContain(secret)
    expect(maskSecrets(inputOf(made, "role:LAB-web:shop"))).toMatchObject({
      vars: { api_token: "***", nested: { db_password: "***" }, color: "red" },
    })
    const { action } = stepOf(made, "clone:LAB-web")
    expect(maskAction(action)).toEqual(action)
  })
})

describe("the fingerprint of an input", () => {
  const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>
  const shuffled = (value: Json): Json => {
    if (typeof value !== "object" || value === null) return value
    if (Array.isArray(value)) return (value as readonly Json[]).map(shuffled)
    return Object.fromEntries(
      Object.entries(value)
        .toReversed()
        .map(([k, v]) => [k, shuffled(v)]),
    )
  }

  test("is 32 hexadecimal digits, and the same whatever the order of keys", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(stageFingerprint(value)).toMatch(/^[0-9a-f]{32}$/u)
        expect(stageFingerprint(shuffled(value))).toBe(stageFingerprint(value))
      }),
    )
  })

  test("differs between inputs that differ, in many that are alike", () => {
    const seen = new Set(Array.from({ length: 20_000 }, (_, i) => stageFingerprint({ address: `10.0.${i >> 8}.${i & 255}` })))
    expect(seen.size).toBe(20_000)
  })

  test("distinguishes types and positions", () => {
    const alike: readonly Json[] = [[], {}, "", "[]", 0, "0", null, false, [[]], { a: [] }, { a: {} }, ["a"], { a: "" }]
    expect(new Set(alike.map(stageFingerprint)).size).toBe(alike.length)
  })
})
