import {
  type Failed,
  isInside,
  type Range,
  type RangeConfig,
  type RangeId,
  RangeNotFound,
  shownAddresses,
} from "@rangewright/domain"
import { type Freshness, GuestAutomation, Machines, type RangeOverview, Ranges, type StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Settings } from "../settings.ts"
import { commonTail, type RangeForm, rangeObject } from "../wire/range-object.ts"
import { readRangeConfig } from "./read-config.ts"

/**
 * Ranges as JSON, rendered once for each revision of the store. The revision is read before the rows, and compared on every request, so a
 * cached answer is never older than the request: a change in between only makes the next request render again.
 */
interface Rendered {
  readonly revision: number
  /** JSON objects without their closing brace: the freshness is appended. */
  readonly objects: Map<RangeId, string>
  /** Parsed configurations, with the text they were parsed from: parsing costs more than everything else here. */
  readonly configs: Map<RangeId, { readonly text: string; readonly config: RangeConfig | undefined }>
  /** Every range is in `objects`, ascending by number. */
  complete: boolean
  /** The last answer for a range, and under `undefined` for all of them, with its freshness. */
  readonly answers: Map<RangeId | undefined, { readonly tail: string; readonly bytes: Uint8Array }>
}

/** One per store and form. */
const kept: Readonly<Record<RangeForm, WeakMap<object, Rendered>>> = {
  plain: new WeakMap(),
  detailed: new WeakMap(),
  "of-group": new WeakMap(),
}

const current = (ranges: Ranges["Service"], form: RangeForm, revision: number): Rendered => {
  const store = kept[form]
  const known = store.get(ranges)
  if (known?.revision === revision) return known
  // a new object: requests in progress continue with theirs
  const rendered: Rendered = {
    revision,
    objects: new Map(),
    configs: known?.configs ?? new Map(),
    complete: false,
    answers: new Map(),
  }
  store.set(ranges, rendered)
  return rendered
}

/** The configuration, which is needed only when a machine reports no address inside its range. */
const configFor = ({ range, machines }: RangeOverview, { configs }: Rendered) =>
  Effect.gen(function* () {
    const ranges = yield* Ranges
    if (machines.every(({ template, address }) => template || isInside(range, address))) return undefined
    const text = yield* ranges.deployedConfig(range.id)
    const known = configs.get(range.id)
    if (text === undefined) return undefined
    if (known?.text === text) return known.config
    const parsed = yield* readRangeConfig(text)
    const config = Result.isSuccess(parsed) ? parsed.success.config : undefined
    configs.set(range.id, { text, config })
    return config
  })

const render = (overview: RangeOverview, rendered: Rendered, form: RangeForm) =>
  Effect.map(configFor(overview, rendered), (config) => {
    const addressOf = shownAddresses(overview.range, config)
    return JSON.stringify(rangeObject(overview, { form, addressOf })).slice(0, -1)
  })

/** Rendered texts of freshness objects: the store may return the same object again. */
const tails = new WeakMap<Freshness, string>()

const tailOf = (freshness: Freshness, guestsLeftOut: boolean | undefined): string => {
  const known = tails.get(freshness)
  if (known !== undefined) return known
  const made = commonTail(freshness, guestsLeftOut)
  tails.set(freshness, made)
  return made
}

const encoder = new TextEncoder()

/** The bytes of an answer, rendered again when its freshness has changed. */
const bytesOf = ({ answers }: Rendered, of: RangeId | undefined, ending: string, text: () => string): Uint8Array => {
  const known = answers.get(of)
  if (known?.tail === ending) return known.bytes
  const bytes = encoder.encode(text())
  answers.set(of, { tail: ending, bytes })
  return bytes
}

/** One range as JSON; fails if it was removed in the meantime. */
export const renderedRange = Effect.fnUntraced(function* (
  range: Range,
  form: RangeForm,
): Effect.fn.Return<Uint8Array, Failed | RangeNotFound | StorageFault, GuestAutomation | Ranges | Machines | Settings> {
  const { leftOut } = yield* GuestAutomation
  const machines = yield* Machines
  const ranges = yield* Ranges
  const rendered = current(ranges, form, yield* ranges.revision)
  let object = rendered.objects.get(range.id)
  if (object === undefined) {
    const [overview] = yield* ranges.overview({ rangeId: range.id })
    if (overview === undefined) return yield* new RangeNotFound({ rangeId: range.id })
    object = yield* render(overview, rendered, form)
    rendered.objects.set(range.id, object)
  }
  const ending = tailOf(yield* machines.freshness, leftOut)
  return bytesOf(rendered, range.id, ending, () => object + ending)
})

const renderAll = (ranges: Ranges["Service"], rendered: Rendered, form: RangeForm) =>
  Effect.gen(function* () {
    const objects: (readonly [RangeId, string])[] = []
    for (const overview of yield* ranges.overview({})) objects.push([overview.range.id, yield* render(overview, rendered, form)])
    rendered.objects.clear()
    for (const [id, object] of objects) rendered.objects.set(id, object)
    for (const id of rendered.configs.keys()) if (!rendered.objects.has(id)) rendered.configs.delete(id)
    rendered.complete = true
  })

const list = (objects: Iterable<string>, ending: string): string => {
  const whole = [...objects].map((object) => object + ending)
  return `[${whole.join(",")}]`
}

/** Every range as a JSON array, ascending by number; `only` narrows to these. */
export const renderedRanges = Effect.fnUntraced(function* (
  only: ReadonlySet<RangeId> | undefined,
  form: RangeForm,
): Effect.fn.Return<Uint8Array, Failed | StorageFault, GuestAutomation | Ranges | Machines | Settings> {
  const { leftOut } = yield* GuestAutomation
  const machines = yield* Machines
  const ranges = yield* Ranges
  const rendered = current(ranges, form, yield* ranges.revision)
  if (!rendered.complete) yield* renderAll(ranges, rendered, form)
  const ending = tailOf(yield* machines.freshness, leftOut)
  if (only === undefined) return bytesOf(rendered, undefined, ending, () => list(rendered.objects.values(), ending))
  const own = [...rendered.objects].flatMap(([id, object]) => (only.has(id) ? [object] : []))
  return encoder.encode(list(own, ending))
})
