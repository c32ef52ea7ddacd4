import { makeMemoryVpn, type MemoryVpn, memoryVpnLayer } from "@rangewright/adapter-memory"
import { type GroupName, type Range, type User, userNumberRestMillis, vpnAddress } from "@rangewright/domain"
import { AccessRecords, beingTold, Groups, Ranges, Users, VpnKeys, VpnRecords } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { beforeEach, describe, expect, it } from "vitest"
import { vpnKeeperLayer } from "../src/background/vpn-keeper.ts"
import { makeTestApp, type TestApp } from "./support/app.ts"

const publicKey = "6LLkGhyZ4rh8K7xqNZ5jDLzX5A7gxrXqgGm6VhXHXXI="
const vpnSettings = { host: "vpn", port: 51_820, publicKey }
const wide = { publicKey: "SITE", allowed: ["10.99.0.0/16"] }

let vpn: MemoryVpn
let app: TestApp
let alice: User
let bob: User
let lab: Range
beforeEach(async () => {
  vpn = { ...makeMemoryVpn(), publicKey }
  vpn.peers.set("SITE", wide)
  app = makeTestApp({ settings: { vpn: vpnSettings }, vpn })
  alice = await app.addUser("Alice")
  bob = await app.addUser("Bob")
  lab = await app.addRange("LAB", [alice])
})

/** Waits until everything that can continue without the clock has continued. */
const settled = Effect.promise(async () => {
  for (let turn = 0; turn < 100; turn++) await new Promise<void>((resolve) => void setImmediate(resolve))
})
const second = Effect.andThen(TestClock.adjust(1000), settled)

/** Runs this concurrently with a keeper, for `seconds`. */
const beside = (
  of: TestApp,
  body: (pass: (seconds: number) => Effect.Effect<void>) => Effect.Effect<void, unknown, never>,
  keeper: typeof vpnKeeperLayer = vpnKeeperLayer,
) =>
  of.run(
    Effect.scoped(
      Effect.gen(function* () {
        yield* Layer.build(keeper)
        yield* settled
        yield* body((seconds) => Effect.forEach(Array.from({ length: seconds }), () => second, { discard: true }))
      }),
    ).pipe(Effect.provide(TestClock.layer()), Effect.orDie) as Effect.Effect<void>,
  )
const done = <A>(what: Promise<A>) => Effect.promise(() => what)
const write = <A>(effect: Parameters<TestApp["run"]>[0]) => done(app.run(effect) as Promise<A>)

/** Whom the server lets in: address -> networks. */
const letIn = () =>
  Object.fromEntries(
    [...vpn.peers.values()]
      .filter((peer) => peer !== wide)
      .map(({ allowed: [address = ""] }) => [
        address.replace("198.51.100.", ".").replace("/32", ""),
        vpn.pairs.filter(({ client }) => `${client}/32` === address).map(({ network }) => network),
      ]),
  )
const at = ({ number }: User) => vpnAddress(number).replace("198.51.100.", ".")
const network = ({ number }: Range) => `10.${number}.0.0/16`
const status = () => app.call("getVPNStatus", alice) as Promise<Readonly<Record<string, unknown>>>

describe("the VPN's server", () => {
  it("learns within two seconds who may use what, whatever changed it, and keeps peers of others", async () => {
    const reds = "reds" as GroupName
    await beside(app, (pass) =>
      Effect.gen(function* () {
        expect(letIn()).toEqual({ [at(alice)]: [network(lab)], [at(bob)]: [] })
        expect(yield* done(status())).toEqual({
          enabled: true,
          endpoint: "vpn port 51820",
          inLine: true,
          revocations: [],
          grants: [],
          notes: [],
        })
        const created = { name: reds, recordId: "g" as never, description: "", createdAt: new Date(0) }
        yield* write(Groups.use((groups) => groups.create(created)))
        yield* write(Groups.use((groups) => groups.setRoles(reds, new Map([[bob.id, "member"]]))))
        yield* write(Groups.use((groups) => groups.addRange(reds, lab.id)))
        yield* pass(2)
        expect(letIn()).toEqual({ [at(alice)]: [network(lab)], [at(bob)]: [network(lab)] })
        yield* write(Groups.use((groups) => groups.remove(reds)))
        yield* write(Ranges.use((ranges) => ranges.revoke(lab.id, alice.id)))
        yield* pass(2)
        expect(letIn()).toEqual({ [at(alice)]: [], [at(bob)]: [] })
        const before = [...vpn.peers.keys()]
        yield* done(app.call("rotateWireguardKey", alice))
        yield* write(Users.use((users) => users.remove(bob.id)))
        yield* pass(2)
        expect(letIn()).toEqual({ [at(alice)]: [] })
        expect([...vpn.peers.keys()].filter((key) => before.includes(key))).toEqual(["SITE"])
      }),
    )
    expect(vpn.peers.get("SITE")).toBe(wide)
  })

  it("is repaired within fifteen seconds when somebody else changed it, also when it was started anew", async () => {
    await beside(app, (pass) =>
      Effect.gen(function* () {
        vpn.peers.clear()
        Object.assign(vpn, { pairs: [{ client: vpnAddress(bob.number), network: network(lab) }], guarded: false })
        yield* pass(16)
        expect([letIn(), vpn.guarded]).toEqual([{ [at(alice)]: [network(lab)], [at(bob)]: [] }, true])
      }),
    )
  })

  it("is updated later when it is unreachable; files can be downloaded, and the status shows what is pending and why", async () => {
    await beside(app, (pass) =>
      Effect.gen(function* () {
        vpn.reachable = false
        yield* write(Ranges.use((ranges) => ranges.revoke(lab.id, alice.id)))
        yield* write(Ranges.use((ranges) => ranges.grant(lab.id, bob.id)))
        yield* pass(40)
        expect(yield* done(status())).toMatchObject({
          inLine: false,
          revocations: [`${vpnAddress(alice.number)} to ${network(lab)}`],
          grants: [`${vpnAddress(bob.number)} to ${network(lab)}`],
          trouble: "Cannot check the VPN's server: nobody answers",
        })
        expect(yield* done(app.call("getRangeWireguard", bob, { range: lab }))).toEqual({
          rangeID: "LAB",
          network: network(lab),
          users: [{ userID: "Bob", address: vpnAddress(bob.number), isLetIn: false }],
          revocations: [],
        })
        const boss = yield* done(app.addUser("Boss", { isAdmin: true }))
        expect(yield* done(app.call("getRangeWireguard", boss, { range: lab }))).toMatchObject({
          users: [{ userID: "Bob", isLetIn: false }],
          revocations: [`${vpnAddress(alice.number)} to ${network(lab)}`],
        })
        expect(JSON.stringify(yield* done(app.call("getWireguardConfig", bob)))).toContain(network(lab))
        vpn.reachable = true
        yield* pass(16)
        expect(letIn()).toMatchObject({ [at(alice)]: [], [at(bob)]: [network(lab)] })
        expect(yield* done(status())).toMatchObject({ inLine: true, revocations: [], grants: [] })
      }),
    )
  })

  it("is brought in line by the next process when one dies between the store and the server", async () => {
    await beside(app, () => Effect.void)
    vpn.changing = () => {
      throw new Error("killed")
    }
    await app.run(Ranges.use((ranges) => ranges.revoke(lab.id, alice.id)))
    await app.run(Ranges.use((ranges) => ranges.grant(lab.id, bob.id)))
    const dying = makeTestApp({ settings: { vpn: vpnSettings }, vpn, after: app })
    await beside(dying, (pass) => pass(1))
    expect(letIn()).toEqual({ [at(alice)]: [network(lab)], [at(bob)]: [] })
    // what it may have put on the server is recorded
    expect(await status()).toMatchObject({ inLine: false, revocations: [`${vpnAddress(alice.number)} to ${network(lab)}`] })
    vpn.changing = () => undefined
    await beside(makeTestApp({ settings: { vpn: vpnSettings }, vpn, after: app }), () => Effect.void)
    expect(letIn()).toEqual({ [at(alice)]: [], [at(bob)]: [network(lab)] })
    expect(await status()).toMatchObject({ inLine: true })
  })

  it("reports a key that differs from the one clients are given, and foreign peers that could pass for users", async () => {
    vpn.publicKey = "ANOTHER"
    vpn.peers.set("WIDE", { publicKey: "WIDE", allowed: ["0.0.0.0/0"] })
    await beside(app, () => Effect.void)
    expect(await status()).toMatchObject({
      notes: [expect.stringContaining("public key is ANOTHER"), expect.stringContaining("the peer WIDE")],
    })
    expect(vpn.peers.has("WIDE")).toBe(true)
  })

  it("loses the peer of a removed user also while its rules cannot be changed, and revoked ranges are still shown", async () => {
    await beside(app, (pass) =>
      Effect.gen(function* () {
        vpn.rulesBroken = true
        yield* write(Users.use((users) => users.remove(bob.id)))
        yield* write(Ranges.use((ranges) => ranges.revoke(lab.id, alice.id)))
        yield* pass(7)
        expect(Object.keys(letIn())).toEqual([at(alice)])
        expect(yield* done(status())).toMatchObject({
          inLine: false,
          revocations: [`${vpnAddress(alice.number)} to ${network(lab)}`],
          trouble: expect.stringContaining("its rules"),
        })
        vpn.rulesBroken = false
        yield* pass(6)
        expect(letIn()).toEqual({ [at(alice)]: [] })
        expect(yield* done(status())).toMatchObject({ inLine: true, revocations: [] })
      }),
    )
  })

  it("loses peers with users' addresses that were never known here, which is shown from then on", async () => {
    const comes = () => void vpn.peers.set("STRANGER", { publicKey: "STRANGER", allowed: ["198.51.100.77/32"] })
    comes()
    await beside(app, (pass) =>
      Effect.gen(function* () {
        yield* write(Users.use((users) => users.remove(bob.id)))
        yield* pass(40)
        comes()
        yield* pass(16)
      }),
    )
    expect(letIn()).toEqual({ [at(alice)]: [network(lab)] })
    expect(await status()).toMatchObject({
      inLine: true,
      notes: ["1970-01-01T00:00:46.000Z: the service removes the peer STRANGER (198.51.100.77/32), which it did not put there"],
    })
  })

  it("is updated again at once with changes made during an update", async () => {
    let changes = 0
    vpn.changing = () => {
      changes += 1
      if (changes === 1) app.store.grants.get(lab.id)?.delete(alice.id)
    }
    await beside(app, () => Effect.void)
    expect([letIn(), changes]).toEqual([{ [at(alice)]: [], [at(bob)]: [] }, 2])
  })

  it("is updated at once even if something changes during each update", async () => {
    let changes = 0
    vpn.changing = () => {
      changes += 1
      const granted = app.store.grants.get(lab.id)
      if (changes >= 12) return
      if (changes % 2 === 0) granted?.add(alice.id)
      else granted?.delete(alice.id)
    }
    await beside(app, () => Effect.void)
    expect([letIn(), changes]).toEqual([{ [at(alice)]: [], [at(bob)]: [] }, 12])
    expect(await status()).toMatchObject({ inLine: true, grants: [], revocations: [] })
  })

  it("that never shows its updates is left alone for a while, which is reported", async () => {
    let changes = 0
    vpn.changing = () => {
      changes += 1
      const publicKey = `STRANGER${changes}`
      vpn.peers.set(publicKey, { publicKey, allowed: ["198.51.100.77/32"] })
    }
    await beside(app, () => Effect.void)
    expect(changes).toBe(5)
    expect(await status()).toMatchObject({ inLine: false, trouble: expect.stringContaining("it still differs after 5 changes") })
  })
})

describe("the keeper of the VPN", () => {
  it("revokes also while keys cannot be made", async () => {
    const noKeys = Layer.succeed(VpnKeys, { make: Effect.die("no randomness") })
    await beside(app, () => Effect.void)
    const without = makeTestApp({
      settings: { vpn: vpnSettings },
      vpn: Layer.provideMerge(noKeys, memoryVpnLayer(vpn)),
      after: app,
    })
    await without.addUser("Keyless")
    await beside(without, (pass) =>
      Effect.gen(function* () {
        yield* write(Users.use((users) => users.remove(bob.id)))
        yield* pass(2)
        expect(letIn()).toEqual({ [at(alice)]: [network(lab)] })
      }),
    )
  })

  it("reads the store again after it hung", async () => {
    let hangs = false
    const hanging = Layer.effect(
      VpnRecords,
      Effect.map(VpnRecords, (records) => ({
        ...records,
        members: Effect.suspend(() => (hangs ? Effect.never : records.members)),
      })),
    )
    await beside(
      app,
      (pass) =>
        Effect.gen(function* () {
          hangs = true
          yield* pass(2)
          yield* write(Users.use((users) => users.remove(bob.id)))
          hangs = false
          yield* pass(12)
          expect(letIn()).toEqual({ [at(alice)]: [network(lab)] })
        }),
      Layer.provide(vpnKeeperLayer, hanging),
    )
  })

  it("checks every fifteen seconds even when the host's clock was set back", async () => {
    let back = 0
    const wrong = Layer.effect(
      Clock.Clock,
      Effect.map(Clock.Clock, (clock) => ({
        ...clock,
        sleep: clock.sleep.bind(clock),
        monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
        monotonicTimeNanos: clock.monotonicTimeNanos,
        currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() - back,
        currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now - back),
      })),
    )
    await beside(
      app,
      (pass) =>
        Effect.gen(function* () {
          back = 3_600_000
          vpn.peers.clear()
          yield* pass(17)
          expect(letIn()).toEqual({ [at(alice)]: [network(lab)], [at(bob)]: [] })
        }),
      Layer.provide(vpnKeeperLayer, wrong),
    )
  })
})

describe("a removed user's number", () => {
  const nextNumber = async (): Promise<number> => (await app.addUser(`Next${Math.random().toString(36).slice(2, 8)}`)).number
  const age = () => {
    for (const [number, since] of app.store.restingNumbers) app.store.restingNumbers.set(number, since - userNumberRestMillis)
  }

  it("is reused after a day, when the server and every router have removed it", async () => {
    await beside(app, () => Effect.void)
    const freed = bob.number
    await app.run(AccessRecords.use((records) => records.tell(lab.id, [alice.number, freed])))
    vpn.reachable = false
    await app.run(Users.use((users) => users.remove(bob.id)))
    age()
    expect(await nextNumber()).not.toBe(freed)
    await app.run(AccessRecords.use((records) => records.tell(lab.id, [alice.number])))
    expect(await nextNumber()).not.toBe(freed)
    vpn.reachable = true
    await beside(app, () => Effect.void)
    await app.run(AccessRecords.use((records) => records.tell(lab.id, [beingTold, alice.number])))
    expect(await nextNumber()).not.toBe(freed)
    await app.run(AccessRecords.use((records) => records.tell(lab.id, [alice.number])))
    expect(await nextNumber()).toBe(freed)
    expect(await app.run(VpnRecords.use((records) => records.key(bob.id)))).toBeUndefined()
  })

  it("is not reused if the server cannot be observed, and keys that were issued are shown as not revoked", async () => {
    const unseen = makeTestApp({ settings: { vpn: vpnSettings }, after: app })
    await beside(unseen, (pass) =>
      Effect.gen(function* () {
        const { publicKey: handedOut } =
          (yield* write<{ publicKey: string }>(VpnRecords.use((records) => records.key(bob.id)))) ?? {}
        yield* write(Users.use((users) => users.remove(bob.id)))
        // removed before the keeper saw it
        const brief = yield* done(unseen.addUser("Brief"))
        yield* write(Users.use((users) => users.remove(brief.id)))
        yield* pass(6)
        age()
        expect([bob.number, brief.number]).not.toContain(yield* done(nextNumber()))
        expect(yield* done(unseen.call("getVPNStatus", alice))).toMatchObject({
          inLine: false,
          revocations: [`${vpnAddress(bob.number)} with the key ${handedOut}`],
        })
      }),
    )
    // the server can be observed
    await beside(app, () => Effect.void)
    expect(await status()).toMatchObject({ inLine: true, revocations: [] })
    expect(await nextNumber()).toBe(bob.number)
  })
})
