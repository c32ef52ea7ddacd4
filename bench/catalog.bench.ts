/**
 * How long the catalog of a source takes from a warm snapshot, and whether it scales linearly: CPU time at 1, 4 and 16 times the size, and
 * the cost of one item relative to its cost in the smallest source. Goals: below 50 ms at 1x, below 1.3 times at 16x. Warm means as in the
 * service: everything that depends on the content alone was surveyed at the first request. The time of that first request is shown too.
 */
import { catalogOf, type Installed, type Shipped, type SourceSurvey, surveySource } from "../packages/domain/src/catalog/index.ts"
import type { ShippedBlueprint } from "../packages/domain/src/source/index.ts"

const scales = [1, 4, 16] as const
const largest = 16
/** Rounds that are not counted, until the code is compiled. */
const warmUp = 3
const goal = { milliseconds: 50, ratio: 1.3 } as const
const size = { blueprints: 500, templates: 300, roles: 1_000, collections: 200 } as const
const items = size.blueprints + size.templates + size.roles + size.collections

type Values = readonly [Shipped, Installed, ReadonlyArray<{ readonly sourceBlueprintID: string; readonly version: string }>]

const many = <A>(count: number, make: (index: number) => A): ReadonlyArray<A> =>
  Array.from({ length: count }, (_, at) => make(at))

/** Twenty references: to templates, to roles of the source by either of their names, to declared roles, and to one that is missing. */
const blueprint = (index: number, scale: number): ShippedBlueprint => {
  // Far apart and spread evenly, so that each thing is needed by about as many blueprints at every scale.
  const spread = (at: number, count: number): number => (index * 7_919 + at * 104_729) % (count * scale)
  const declared = many(3, (at) => `pub.role${spread(at, size.roles)}`)
  const local = many(9, (at) => `${at % 3 === 0 ? "dir" : "acme.role"}${spread(at, size.roles)}`)
  const ofCollection = many(3, (at) => `acme.tools${spread(at, size.collections)}.role`)
  return {
    id: `group${index % 10}/lab${index}`,
    name: `Lab ${index}`,
    description: "A lab",
    version: "1.1.0",
    tags: [],
    config: { path: "range-config.yml", text: "" },
    references: {
      templates: many(4, (at) => `template${spread(at, size.templates)}`).toSorted(),
      roles: [...declared, ...local, ...ofCollection, `lonely${index}`].toSorted(),
    },
    requirements: {
      roles: declared.map((name, at) => (at === 0 ? { name } : { name, version: `${at}.${index % 7}.0` })),
      collections: [
        { name: `acme.tools${spread(0, size.collections)}`, version: ">=1.0" },
        { name: `https://git.example/acme/net.kit${spread(1, size.collections)}.git`, type: "git", version: "main" },
      ],
      subscriptionRoles: [`paid${spread(2, 50)}`],
    },
  }
}

/** Values as they are after being read from somewhere, with lists in the order of `readSource`. */
const values = (scale: number): Values => {
  const [shipped, ...others] = made(scale)
  const { blueprints, templates, roles, collections } = shipped.content
  const content = {
    ...shipped.content,
    blueprints: blueprints.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    templates: templates.toSorted(byName),
    roles: roles.toSorted(byName),
    collections: collections.toSorted(byName),
  }
  return JSON.parse(JSON.stringify([{ ...shipped, content }, ...others])) as Values
}
const byName = (a: { readonly name: string }, b: { readonly name: string }): number => (a.name < b.name ? -1 : 1)

const made = (scale: number): Values => {
  const copies = (count: number, name: (index: number) => string): Installed["roles"] =>
    many(count * scale, (index) => ({
      name: name(index),
      scope: index % 3 === 0 ? "global" : "user",
      version: `1.${index % 9}.0`,
    }))
  return [
    {
      source: { id: "acme", name: "Acme" },
      content: {
        manifest: { authors: [] },
        broken: [],
        blueprints: many(size.blueprints * scale, (index) => blueprint(index, scale)),
        templates: many(size.templates * scale, (index) => ({ name: `template${index}`, directory: `templates/t${index}` })),
        roles: many(size.roles * scale, (index) => ({ name: `acme.role${index}`, directory: `ansible/roles/dir${index}` })),
        collections: many(size.collections * scale, (index) => ({
          name: `acme.tools${index}`,
          directory: `ansible/collections/tools${index}`,
          version: "1.0.0",
        })),
      },
    },
    {
      templates: many((size.templates / 2) * scale, (index) => `template${index * 2}`),
      roles: [
        ...copies(size.roles / 2, (index) => `acme.role${index * 2}`),
        ...copies(size.roles / 2, (index) => `pub.role${index * 2}`),
      ],
      collections: copies(size.collections, (index) => `acme.tools${index}`),
    },
    many((size.blueprints / 2) * scale, (index) => ({
      sourceBlueprintID: `group${(index * 2) % 10}/lab${index * 2}`,
      version: index % 2 === 0 ? "1.1.0" : "1.0.0",
    })),
  ]
}

export interface CatalogTiming {
  readonly scale: number
  readonly items: number
  /** Milliseconds of CPU, the median of the rounds. */
  readonly cpu: number
  /** Milliseconds of CPU for the single survey. */
  readonly survey: number
  /** Microseconds of CPU for one item. */
  readonly perItem: number
}

const median = (times: ReadonlyArray<number>): number => times.toSorted((a, b) => a - b)[times.length >> 1] ?? Number.NaN

const cpuOf = (work: () => unknown): number => {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

/**
 * Each sample builds catalogs with the same total number of items (16 sources at 1x, one source at 16x) and keeps them all until its end.
 * So caches and garbage collection affect all scales equally, and the difference is how the work grows. The scales alternate, so that other
 * load affects them equally too.
 */
export const timeCatalogs = (rounds: number): ReadonlyArray<CatalogTiming> => {
  const cases = scales.map((scale) => ({
    scale,
    sources: many(largest / scale, () => values(scale)),
    times: [] as Array<number>,
    surveys: [] as Array<number>,
  }))
  for (let round = 0; round < rounds + warmUp; round += 1)
    for (const { sources, times, surveys } of cases) {
      const surveyed: Array<SourceSurvey> = []
      const first = cpuOf(() => {
        for (const [{ content }] of sources) surveyed.push(surveySource(content))
      })
      const held: Array<unknown> = []
      const took = cpuOf(() => {
        for (const [at, source] of sources.entries()) held.push(catalogOf(...source, surveyed[at]))
      })
      if (round < warmUp) continue
      surveys.push(first / sources.length)
      times.push(took / sources.length)
    }
  return cases.map(({ scale, times, surveys }) => {
    const cpu = median(times)
    return { scale, items: items * scale, cpu, survey: median(surveys), perItem: (cpu * 1_000) / (items * scale) }
  })
}

if (import.meta.main) {
  const timings = timeCatalogs(process.argv.includes("--quick") ? 5 : 25)
  const row = (...cells: ReadonlyArray<string>): void => console.log(cells.map((cell) => cell.padStart(12)).join(""))
  row("scale", "items", "CPU ms", "us per item", "first, ms")
  for (const { scale, items: count, cpu, perItem, survey } of timings)
    row(`${scale}x`, `${count}`, cpu.toFixed(2), perItem.toFixed(3), (survey + cpu).toFixed(2))
  const [first, last] = [timings[0], timings.at(-1)]
  if (first === undefined || last === undefined) throw new Error("nothing was measured")
  const ratio = last.perItem / first.perItem
  const met = (fits: boolean): string => (fits ? "met" : "MISSED")
  console.log(`${first.cpu.toFixed(1)} ms of CPU at 1x: goal of ${goal.milliseconds} ms ${met(first.cpu < goal.milliseconds)}`)
  console.log(
    `an item at ${last.scale}x costs ${ratio.toFixed(2)} times what it costs at 1x: goal of ${goal.ratio} ${met(ratio < goal.ratio)}`,
  )
}
