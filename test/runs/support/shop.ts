import { runKind, work } from "@rangewright/run-engine"
import { Failed, type Fault, type Json, type UserId, workPlan } from "@rangewright/domain"
import { StorageFault } from "@rangewright/ports"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { CrashGate } from "./crash-gate.ts"

/** A world outside of the process: orders in progress, items on the shelves, and items that do not arrive. */
export interface Shop {
  readonly orders: Set<string>
  readonly shelves: Map<string, number>
  /** Items that never arrive. */
  readonly broken: Set<string>
  /** How often the shop's book cannot be written before it can. */
  bookFails: number
  closed: boolean
  readonly ends: string[]
  /** What every item that arrives is warned about. */
  readonly warnings: string[]
  /** Items wait for this before they arrive; undefined: they arrive at once. */
  hold: Deferred.Deferred<void> | undefined
}

export const makeShop = (): Shop => ({
  orders: new Set(),
  shelves: new Map(),
  broken: new Set(),
  bookFails: 0,
  closed: false,
  ends: [],
  warnings: [],
  hold: undefined,
})

export const shopOwner = "KEEPER" as UserId
const Item = Schema.Struct({ name: Schema.String, size: Schema.Int, password: Schema.optionalKey(Schema.String) })
const Nothing = Schema.Struct({})

/** The shop as a port, so that a crash can be placed before and after each of its calls. */
const portOf = (shop: Shop) => ({
  isOpen: Effect.sync(() => !shop.closed),
  order: (name: string): Effect.Effect<Json> => Effect.sync(() => (shop.orders.add(name), `order of ${name}`)),
  arrive: (name: string, size: number, token: Json): Effect.Effect<number, Fault> =>
    Effect.gen(function* () {
      if (token !== `order of ${name}` || !shop.orders.has(name)) return yield* Effect.die(new Error(`${name} was not ordered`))
      if (shop.hold !== undefined) yield* Deferred.await(shop.hold)
      if (shop.broken.has(name)) return yield* new Failed({ what: `Cannot get ${name}: it is broken` })
      shop.shelves.set(name, size)
      return size
    }),
  keepBook: Effect.suspend(() =>
    shop.bookFails-- > 0 ? Effect.fail(new StorageFault({ doing: "keep the book", because: "the pen is dry" })) : Effect.void,
  ),
  close: (status: string) => Effect.sync(() => void shop.ends.push(status)),
})

/** A minimal run kind that uses every feature of kinds. */
export const shopKind = (shop: Shop, gate: CrashGate, whenBusy: "refuse" | "join" = "refuse") => {
  const port = gate.guard("Shop", portOf(shop))
  const stock = work({
    name: "stock",
    input: Item,
    dispatch: ({ name }) => port.order(name),
    settle: ({ name, size, password }, { print, progress }, token) =>
      Effect.gen(function* () {
        yield* print(`${name} is under way${password === undefined ? "" : `, the word is ${password}`}\n`)
        for (let part = 0; part <= 10; part++) {
          yield* progress(part, 10)
          yield* Effect.sleep(300)
        }
        const pieces = yield* port.arrive(name, size, token)
        return { data: { pieces }, ...(shop.warnings.length === 0 ? {} : { warnings: shop.warnings }) }
      }),
  })
  const count = work({
    name: "count",
    input: Nothing,
    settle: (_, { head, factsOf }) =>
      Effect.gen(function* () {
        yield* port.keepBook
        const items = (head.options as { readonly items: readonly string[] }).items
        return { data: items.filter((name) => factsOf(`stock:${name}`) !== undefined) }
      }),
  })
  return runKind({
    name: "shop-stock",
    doing: "a delivery",
    request: Schema.Struct({ items: Schema.Array(Schema.String), must: Schema.Array(Schema.String) }),
    plan: ({ items, must }) =>
      Effect.gen(function* () {
        if (!(yield* port.isOpen)) return yield* new Failed({ what: "Cannot deliver: the shop is closed" })
        const steps = items.map((name, i) =>
          stock.step(
            { key: `stock:${name}`, title: `Stock ${name}`, estimate: 3, ...(must.includes(name) ? {} : { tolerated: true }) },
            { name, size: i + 1, password: "open-sesame" },
          ),
        )
        const after = steps.map(({ key }) => key)
        return workPlan([...steps, count.step({ key: "count", title: "Count", after, estimate: 1 }, {})], {
          notes: ["mind the step"],
        })
      }),
    works: [stock, count],
    whenBusy,
    owner: () => Effect.succeed(shopOwner),
    finish: (end) => port.close(end.status),
  })
}
