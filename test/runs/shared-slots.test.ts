import { makeMemoryStore, memoryStorageLayer } from "@rangewright/adapter-memory"
import { storageLayer } from "@rangewright/adapter-storage"
import { RunEngine, runKind, work } from "@rangewright/run-engine"
import { type RunId, type UserId, workPlan } from "@rangewright/domain"
import { SharedSlots } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { describe, expect, it, vi } from "vitest"
import { createDatabase, noServer, openSession, testServer } from "../contracts/storage/postgres-server.ts"
import type { CrashGate } from "./support/crash-gate.ts"
import { boot, engineOf, type Lab, makeLab, type Process } from "./support/lab.ts"

const slots = 3
const thing = { resource: "thing@world", slots }

/** What happens in the world: a step is one thing there, whichever process follows it. */
interface World {
  readonly goingOn: Map<string, Deferred.Deferred<void>>
  /** Which process began what, in order. */
  readonly began: { readonly process: string; readonly step: string }[]
  /** The largest number that were in progress at once. */
  most: number
}

/** Runs with this many steps, each of which lasts until the test ends it. */
const kindOf = (world: World, process: string) => {
  const go = work({
    name: "go",
    input: Schema.Struct({ step: Schema.String }),
    settle: ({ step }) =>
      Effect.suspend(() => {
        const end = world.goingOn.get(step) ?? Deferred.makeUnsafe<void>()
        world.goingOn.set(step, end)
        world.began.push({ process, step })
        world.most = Math.max(world.most, world.goingOn.size)
        return Effect.as(Deferred.await(end), {})
      }),
  })
  return runKind({
    name: "many",
    doing: "many steps",
    request: Schema.Struct({ name: Schema.String, steps: Schema.Int }),
    works: [go],
    plan: ({ name, steps }) =>
      Effect.succeed(
        workPlan(
          Array.from({ length: steps }, (_, i) =>
            go.step({ key: `${name}${i}`, title: `${name} ${i}`, uses: [thing], estimate: 60 }, { step: `${name}${i}` }),
          ),
        ),
      ),
  })
}

const end = ({ goingOn }: World, step: string): void => {
  const going = goingOn.get(step)
  goingOn.delete(step)
  if (going !== undefined) Deferred.doneUnsafe(going, Effect.void)
}
/** Ends the step that has lasted longest. */
const endOne = (world: World): void => {
  const [longest] = world.goingOn.keys()
  if (longest === undefined) throw new Error("nothing goes on")
  end(world, longest)
}

/** Stops every call of a process's ports until it is woken. */
const makeFreezer = () => {
  let awake: Deferred.Deferred<void> | undefined
  const frozen = Effect.suspend(() => (awake === undefined ? Effect.void : Deferred.await(awake)))
  const through = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    frozen.pipe(Effect.andThen(effect), Effect.tap(frozen))
  const guard: CrashGate["guard"] = (_, service) =>
    Object.fromEntries(
      Object.entries(service).map(([name, member]: [string, unknown]) => {
        const wrap = (value: unknown) => (Effect.isEffect(value) ? through(value as Effect.Effect<unknown, unknown>) : value)
        if (typeof member !== "function") return [name, wrap(member)]
        return [name, (...args: readonly unknown[]) => wrap(Reflect.apply(member, service, args))]
      }),
    ) as typeof service
  return {
    gate: { points: () => 0, dead: () => false, died: Effect.never, trace: [], guard } satisfies CrashGate,
    freeze: () => void (awake = Deferred.makeUnsafe()),
    wake: () => {
      if (awake !== undefined) Deferred.doneUnsafe(awake, Effect.void)
      awake = undefined
    },
  }
}

interface Store {
  readonly storage: Lab["storage"]
  /** Ends the leases of a process. */
  readonly expire: (owner: string) => Promise<void>
  readonly close: () => Promise<void>
}

const inMemory = async (): Promise<Store> => {
  const store = makeMemoryStore()
  return {
    storage: memoryStorageLayer(store),
    expire: async (owner) => {
      for (const [id, run] of store.runs)
        if (run.lease?.owner === owner) store.runs.set(id, { ...run, lease: { owner, until: 0 } })
    },
    close: async () => {},
  }
}
const onPostgres = (server: string) => async (): Promise<Store> => {
  const database = await createDatabase(server)
  const session = openSession(database.url)
  return {
    storage: storageLayer({ databaseUrl: database.url }),
    expire: async (owner) => void (await session.run(`update runs set lease_until = 0 where lease_owner = '${owner}'`)),
    close: async () => {
      await session.close()
      await database.drop()
    },
  }
}

/** A process over the store, in real time, with leases that only the test ends. */
const bootOver = (store: Store, world: World, owner: string) => {
  const freezer = makeFreezer()
  const seen = Layer.effect(
    SharedSlots,
    Effect.map(SharedSlots, (shared) => (shared === undefined ? undefined : freezer.gate.guard("SharedSlots", shared))),
  )
  const clock = Effect.runSync(Clock.clockWith(Effect.succeed)) as Lab["clock"]
  const lab: Lab = { ...makeLab([]), clock, storage: seen.pipe(Layer.provideMerge(store.storage)) }
  const kind = kindOf(world, owner)
  const process = boot(lab, freezer.gate, { owner, leaseSeconds: 300 }, [kind])
  const start = (name: string, steps: number): Promise<RunId> =>
    engineOf(process, (engine) =>
      Effect.map(
        engine.start(kind.request({ type: "source", id: name }, { name, steps }), `Owner${owner}` as UserId),
        ({ id }) => id,
      ),
    )
  return { process, start, ...freezer }
}
const endOf = (process: Process, run: RunId) => process.runPromise(RunEngine.use((engine) => engine.wait(run)))
const until = (is: () => boolean) => vi.waitFor(() => expect(is()).toBe(true), { timeout: 30_000, interval: 5 })

const stores = { memory: inMemory, ...(testServer === undefined ? {} : { postgresql: onPostgres(testServer) }) }
if (testServer === undefined) describe("two processes on one PostgreSQL", () => it.skip(noServer, () => {}))

describe.each(Object.entries(stores))("two processes on one store (%s)", (_, open) => {
  const setUp = async () => {
    const store = await open()
    const world: World = { goingOn: new Map(), began: [], most: 0 }
    const [first, second] = [bootOver(store, world, "first"), bootOver(store, world, "second")]
    return { store, world, first, second }
  }

  it("use no more of a resource than there is, and each gets its share", { timeout: 60_000 }, async () => {
    const { store, world, first, second } = await setUp()
    const runs = [await first.start("a", 12)]
    await until(() => world.goingOn.size === slots)
    runs.push(await second.start("b", 12))
    for (let ended = 0; ended < 24; ended++) {
      await until(() => world.goingOn.size === Math.min(slots, 24 - ended))
      endOne(world)
    }
    expect((await endOf(first.process, runs[0]!)).status).toBe("success")
    expect((await endOf(second.process, runs[1]!)).status).toBe("success")
    expect(world.most).toBe(slots)
    const joined = world.began.findIndex(({ process }) => process === "second")
    const both = world.began.slice(joined, joined + 12).filter(({ process }) => process === "second")
    expect(both.length).toBeGreaterThanOrEqual(4)
    await Promise.all([first.process.dispose(), second.process.dispose()])
    await store.close()
  })

  it("count the slots of a stalled process until the other has taken over its runs", { timeout: 60_000 }, async () => {
    const { store, world, first, second } = await setUp()
    const a = await first.start("a", 12)
    await until(() => world.goingOn.size === slots)
    const b = await second.start("b", 8)
    const beganBy = (name: string) => world.began.filter(({ process }) => process === name).length
    while (beganBy("second") === 0) {
      endOne(world)
      await until(() => world.goingOn.size === slots)
    }
    first.freeze()
    const left = (name: string) => [...world.goingOn.keys()].filter((step) => step.startsWith(name))
    const still = left("a")
    expect(still.length).toBeGreaterThan(0)
    const soFar = beganBy("second")
    await until(() => {
      for (const step of left("b")) end(world, step)
      return beganBy("second") >= soFar + 3
    })
    expect(left("a")).toEqual(still)
    await store.expire("first")
    expect(await engineOf(second.process, (engine) => engine.recover)).toBe(1)
    const before = beganBy("first")
    const over = Promise.all([endOf(second.process, a), endOf(second.process, b)])
    await until(() => still.every((step) => world.began.some((one) => one.process === "second" && one.step === step)))
    for (let isOver = false; !isOver;) {
      if (world.goingOn.size > 0) endOne(world)
      isOver = await Promise.race([over.then(() => true), new Promise<false>((resolve) => setTimeout(resolve, 1, false))])
    }
    expect((await over).map(({ status }) => status)).toEqual(["success", "success"])
    first.wake()
    await first.process.dispose()
    expect(beganBy("first")).toBe(before)
    expect(world.most).toBe(slots)
    await second.process.dispose()
    await store.close()
  })
})
