import { vpnKeysLayer } from "@rangewright/adapter-crypto"
import { vpnKeeperLayer } from "@rangewright/application"
import type { GroupName, Range, User } from "@rangewright/domain"
import { Groups, Ranges, Users, VpnKeys, VpnServer } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { makeTestApp, type TestApp } from "../../packages/application/test/support/app.ts"
import { obstacle, openVpnLab, skipNote, type VpnLab } from "./support/lab.ts"

const patience = 120_000
const newKey = Effect.provide(
  VpnKeys.use(({ make }) => make),
  vpnKeysLayer,
)
const reds = "reds" as GroupName

describe.skipIf(obstacle !== undefined)(`the VPN${skipNote}`, { timeout: patience }, () => {
  let lab: VpnLab
  const scope = Scope.makeUnsafe()
  let app: TestApp
  let alice: User
  let bob: User
  let carol: User
  let one: Range
  let two: Range
  const stop = Promise.withResolvers<void>()
  let kept: Promise<void> = Promise.resolve()

  const fileOf = async (user: User): Promise<string> =>
    ((await app.call("getWireguardConfig", user)) as { readonly result: { readonly wireGuardConfig: string } }).result
      .wireGuardConfig
  const isInLine = async (): Promise<boolean> => ((await app.call("getVPNStatus", alice)) as { readonly inLine: boolean }).inLine
  const inLine = () => vi.waitFor(async () => expect(await isInLine()).toBe(true), { timeout: 20_000, interval: 20 })
  const reaches = (user: string, range: Range): boolean => lab.reaches(user, lab.machine(range.number))
  const arrives = (user: string, range: Range): boolean => lab.arrives(user, lab.machine(range.number))
  /** Makes a change and waits until the server has it; all of Alice's packets to ONE must be answered meanwhile. */
  const undisturbed = async (
    change: () => Promise<unknown>,
    isDone: () => boolean,
    { least = 100, interval }: { readonly least?: number; readonly interval?: number } = {},
  ): Promise<void> => {
    const stopFlow = await lab.flow("a", lab.machine(one.number), { least, ...(interval === undefined ? {} : { interval }) })
    await change()
    await vi.waitFor(() => expect(isDone()).toBe(true), { timeout: 20_000, interval: 20 })
    const { sent, got } = await stopFlow()
    expect([sent >= least, sent - got]).toEqual([true, 0])
  }
  const listed = (): string => lab.onServer("nft", "list", "ruleset") + lab.onServer("wg", "show", lab.interface, "allowed-ips")
  const leads = (user: User, range: Range): boolean => listed().includes(`198.51.100.${user.number} . 10.${range.number}.0.0/16`)
  const add = (): Promise<void> =>
    app.run(
      Effect.gen(function* () {
        const groups = yield* Groups
        yield* groups.create({ name: reds, recordId: "g" as never, description: "", createdAt: new Date(0) })
        yield* groups.setRoles(reds, new Map([[bob.id, "member"]]))
        yield* groups.addRange(reds, one.id)
      }),
    )

  beforeAll(async () => {
    lab = await openVpnLab([1, 2])
    const vpn = { host: "203.0.113.1", port: 51_820, publicKey: lab.publicKey }
    app = makeTestApp({ settings: { vpn }, vpn: Layer.merge(vpnKeysLayer, Layer.succeed(VpnServer, lab.server)), scope })
    alice = await app.addUser("Alice")
    bob = await app.addUser("Bob")
    carol = await app.addUser("Carol")
    one = await app.addRange("ONE", [alice])
    two = await app.addRange("TWO", [bob, carol])
    // another user's packets, and a rule of theirs
    lab.onServer("wg", "set", lab.interface, "peer", Effect.runSync(newKey).publicKey, "allowed-ips", "10.99.0.0/16")
    lab.onServer("nft", "add", "table", "inet", "others")
    kept = app.run(
      Effect.scoped(
        Effect.andThen(
          Layer.build(vpnKeeperLayer),
          Effect.promise(() => stop.promise),
        ),
      ),
    )
    await inLine()
    for (const [name, user] of [
      ["a", alice],
      ["b", bob],
      ["c", carol],
    ] as const)
      await lab.addClient(name, await fileOf(user))
  }, patience)
  afterAll(async () => {
    stop.resolve()
    await kept
    await Effect.runPromise(Scope.close(scope, Exit.void))
    lab?.close()
  }, patience)

  it("accepts the issued file unchanged, which routes only the user's own range", () => {
    expect([arrives("a", one), reaches("a", two), reaches("b", one), arrives("b", two)]).toEqual([true, false, false, true])
    // not to other clients, and on the server only to its own address
    expect(lab.arrives("a", "198.51.100.1")).toBe(true)
    lab.onClient("a", "ip", "route", "add", "default", "dev", lab.interfaceOf("a"))
    lab.onClient("a", "wg", "set", lab.interfaceOf("a"), "peer", lab.publicKey, "allowed-ips", "0.0.0.0/0")
    const targets = [
      lab.machine(two.number),
      `198.51.100.${bob.number}`,
      "192.0.2.254",
      `192.0.2.${100 + one.number}`,
      "203.0.113.11",
    ]
    expect(targets.map((target) => lab.reaches("a", target, `198.51.100.${alice.number}`))).toEqual(targets.map(() => false))
    expect(arrives("a", one)).toBe(true)
    // another client's address, and an unassigned one
    for (const source of [bob.number, 149]) {
      lab.onClient("a", "ip", "address", "add", `198.51.100.${source}/32`, "dev", lab.interfaceOf("a"))
      for (const range of [one, two]) expect(lab.reaches("a", lab.machine(range.number), `198.51.100.${source}`)).toBe(false)
    }
  })

  it("lets machines reach the clients that may use their range, and no others", async () => {
    const address = `198.51.100.${alice.number}`
    await lab.answer("a", address)
    const enters = ({ number }: Range, source: string): boolean => lab.reaches(`r${number}`, address, source)
    expect(lab.arrives(`r${one.number}`, address, lab.machine(one.number))).toBe(true)
    // not from a router's own address, and not as a machine of another range
    expect(enters(one, `192.0.2.${100 + one.number}`)).toBe(false)
    expect(enters(two, lab.machine(two.number))).toBe(false)
  })

  it("opens and closes ranges without packet loss for others", async () => {
    await undisturbed(add, () => leads(bob, one))
    await undisturbed(
      () => app.run(Groups.use((groups) => groups.remove(reds))),
      () => !leads(bob, one),
    )
    await undisturbed(
      () => app.run(Ranges.use((ranges) => ranges.revoke(two.id, bob.id))),
      () => !leads(bob, two),
    )
  })

  it("changes over and over without packet loss in another client's dense traffic", async () => {
    await undisturbed(
      async () => {
        for (let change = 0; change < 20; change++) {
          const isGiven = change % 2 === 0
          await app.run(Ranges.use((ranges) => (isGiven ? ranges.grant(one.id, bob.id) : ranges.revoke(one.id, bob.id))))
          await vi.waitFor(() => expect(leads(bob, one)).toBe(isGiven), { timeout: 20_000, interval: 50 })
        }
      },
      () => true,
      { interval: 0.0003 },
    )
  })

  it("cuts ongoing connections when a range is revoked, even for a client that never pauses", async () => {
    await inLine()
    const stopFlow = await lab.flow("c", lab.machine(two.number), { interval: 0.01, patience: 1 })
    await undisturbed(
      () => app.run(Ranges.use((ranges) => ranges.revoke(two.id, carol.id))),
      () => !listed().includes(`198.51.100.${carol.number} . `),
      { least: 1000 },
    )
    expect(reaches("c", two)).toBe(false)
    const { sent, got } = await stopFlow()
    expect(got).toBeLessThan(sent)
  })

  it("forgets the key of a removed user and a replaced key, and nobody else's", async () => {
    await app.run(Ranges.use((ranges) => ranges.grant(two.id, carol.id)))
    await inLine()
    const before = listed()
    await undisturbed(
      () => app.run(Users.use((users) => users.remove(bob.id))),
      () => !listed().includes(`198.51.100.${bob.number}/32`),
    )
    expect(lab.reaches("b", "198.51.100.1")).toBe(false)
    await undisturbed(
      () => app.call("rotateWireguardKey", carol),
      () =>
        listed().includes(`198.51.100.${carol.number}/32`) &&
        listed()
          .match(/^\S{43}=/gmu)
          ?.some((key) => !before.includes(key)) === true,
    )
    await inLine()
    expect(lab.reaches("c", "198.51.100.1")).toBe(false)
    await lab.changeFile("c", await fileOf(carol))
    expect([arrives("c", two), reaches("c", one), arrives("a", one)]).toEqual([true, false, true])
    expect(listed()).toContain("10.99.0.0/16")
    expect(listed()).toContain("table inet others")
  })

  it("is repaired after somebody changed it by hand", async () => {
    await inLine()
    const table = `rangewright_${lab.interface}`
    lab.onServer("nft", "insert", "rule", "inet", table, "from_users", "accept")
    await vi.waitFor(() => expect(listed()).not.toMatch(/from_users \{\s+accept/u), { timeout: 20_000 })
    lab.onServer("nft", "delete", "table", "inet", table)
    await vi.waitFor(() => expect(listed()).toContain("from_users"), { timeout: 20_000 })
    expect([arrives("a", one), reaches("a", two)]).toEqual([true, false])
  })

  it("says what prevents packets from passing", async () => {
    expect(await Effect.runPromise(lab.server.obstacles([1, 2]))).toEqual([])
    lab.onServer("sh", "-c", "echo 0 > /proc/sys/net/ipv4/ip_forward")
    expect(await Effect.runPromise(lab.server.obstacles([1, 9]))).toEqual([
      expect.stringContaining("it does not forward packets"),
      "it has no route to a range: ip route add 10.9.0.0/16 via 192.0.2.109",
    ])
    lab.onServer("sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")
  })
})
