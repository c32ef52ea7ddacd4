import { type Failed, forcedAddresses, type Range, type RangeId } from "@rangewright/domain"
import { Machines, type RangeOverview, Ranges, type StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { Settings } from "../settings.ts"
import { freshnessTail, isInside, rangeObject } from "../wire/range-object.ts"
import { storedConfig } from "./read-config.ts"

/**
 * Ranges as JSON text, rendered once for each revision of the store. The revision is read before the rows, and compared on every
 * request, so that an answer from here is never older than the request: a change in between only makes the next request render again.
 */
interface Rendered {
  readonly revision: number
  /** JSON objects without their closing brace: the freshness is appended. */
  readonly objects: Map<RangeId, string>
  /** Every range is in `objects`, ascending by number. */
  complete: boolean
  /** The last list of all ranges, with the freshness it was made for. */
  all: { readonly tail: string; readonly text: string } | undefined
}

/** One for each store, for plain and for detailed answers. */
const kept = { plain: new WeakMap<object, Rendered>(), detailed: new WeakMap<object, Rendered>() }

const current = (ranges: Ranges["Service"], details: boolean): Effect.Effect<Rendered, StorageFault> =>
  Effect.map(ranges.revision, (revision) => {
    const store = details ? kept.detailed : kept.plain
    const known = store.get(ranges)
    if (known?.revision === revision) return known
    // a new one: requests that are under way go on with theirs
    const rendered: Rendered = { revision, objects: new Map(), complete: false, all: undefined }
    store.set(ranges, rendered)
    return rendered
  })

const noAddresses: ReadonlyMap<string, string> = new Map()

/** Read only where it can matter: a machine of the range has no address of its own. */
const forcedOf = ({ range, machines }: RangeOverview) =>
  machines.every((machine) => machine.template || (machine.address !== undefined && isInside(range, machine.address)))
    ? Effect.succeed(noAddresses)
    : Effect.map(storedConfig(range.id), (config) => (config === undefined ? noAddresses : forcedAddresses(range, config)))

const render = (overview: RangeOverview, details: boolean) =>
  Effect.map(forcedOf(overview), (forced) => JSON.stringify(rangeObject(overview, { details, forced })).slice(0, -1))

const tail = Effect.flatMap(Machines, (machines) => Effect.map(machines.freshness, freshnessTail))

/** One range as JSON; undefined when it went in the meantime. */
export const renderedRange = (
  range: Range,
  details: boolean,
): Effect.Effect<string | undefined, Failed | StorageFault, Ranges | Machines | Settings> =>
  Effect.gen(function* () {
    const ranges = yield* Ranges
    const rendered = yield* current(ranges, details)
    let object = rendered.objects.get(range.id)
    if (object === undefined) {
      const [overview] = yield* ranges.overview({ rangeId: range.id })
      if (overview === undefined) return undefined
      object = yield* render(overview, details)
      rendered.objects.set(range.id, object)
    }
    return object + (yield* tail)
  })

const renderAll = (ranges: Ranges["Service"], rendered: Rendered, details: boolean) =>
  Effect.gen(function* () {
    const objects: (readonly [RangeId, string])[] = []
    for (const overview of yield* ranges.overview({})) objects.push([overview.range.id, yield* render(overview, details)])
    rendered.objects.clear()
    for (const [id, object] of objects) rendered.objects.set(id, object)
    rendered.complete = true
  })

const list = (objects: Iterable<string>, ending: string): string => {
  const whole = [...objects].map((object) => object + ending)
  return `[${whole.join(",")}]`
}

/** Every range as a JSON array, ascending by number; `only` narrows to these. */
export const renderedRanges = (
  only: ReadonlySet<RangeId> | undefined,
  details: boolean,
): Effect.Effect<string, Failed | StorageFault, Ranges | Machines | Settings> =>
  Effect.gen(function* () {
    const ranges = yield* Ranges
    const rendered = yield* current(ranges, details)
    if (!rendered.complete) yield* renderAll(ranges, rendered, details)
    const ending = yield* tail
    if (only !== undefined)
      return list(
        [...rendered.objects].flatMap(([id, object]) => (only.has(id) ? [object] : [])),
        ending,
      )
    if (rendered.all?.tail !== ending) rendered.all = { tail: ending, text: list(rendered.objects.values(), ending) }
    return rendered.all.text
  })
