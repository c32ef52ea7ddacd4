import { type ObservedPackages, judgePackages, type PackageSet, type PackagesState, packagesText } from "@rangewright/domain"
import { NodePackages, PackageFolder, type PackagesFault } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** What the last look at a node's packages found. */
export interface PackageLook {
  readonly at: Date
  readonly state: PackagesState
  /** For administrators: the versions, or why nobody could look. */
  readonly text: string
}

/** What this process knows of the packages of nodes. Reading it asks no node. */
export class PackageLooks extends Context.Service<
  PackageLooks,
  {
    /** The nodes whose packages are looked after. */
    readonly nodes: readonly string[]
    readonly of: (node: string) => PackageLook | undefined
    readonly note: (node: string, look: PackageLook) => void
    /** Nodes of the hypervisor whose packages nobody looks after. */
    readonly others: () => readonly string[]
    readonly noteOthers: (names: readonly string[]) => void
  }
>()("rangewright/PackageLooks") {}

export const packageLooksLayer = Layer.effect(
  PackageLooks,
  Effect.map(NodePackages, ({ nodes }) => {
    const looks = new Map<string, PackageLook>()
    let others: readonly string[] = []
    return {
      nodes,
      of: (node) => looks.get(node),
      note: (node, look) => void looks.set(node, look),
      others: () => others,
      noteOthers: (names) => {
        others = names
      },
    }
  }),
)

/** The sets of the operator's folder; none while it cannot be read. */
export const readableSets = Effect.flatMap(PackageFolder, ({ manifest }) =>
  manifest.pipe(
    Effect.map(({ sets }) => sets),
    Effect.catch(() => Effect.succeed<readonly PackageSet[]>([])),
  ),
)

/** Asks a node for its packages, and notes what it said, or why it did not. */
export const lookAtNode = (
  node: string,
  sets: readonly PackageSet[],
): Effect.Effect<ObservedPackages, PackagesFault, NodePackages | PackageLooks> =>
  Effect.gen(function* () {
    const packages = yield* NodePackages
    const looks = yield* PackageLooks
    const note = (look: Pick<PackageLook, "state" | "text">) =>
      Effect.map(Clock.currentTimeMillis, (now) => looks.note(node, { ...look, at: new Date(now) }))
    return yield* packages.observe(node).pipe(
      Effect.tap((seen) => note({ state: judgePackages(sets, seen), text: packagesText(seen) })),
      Effect.tapError((fault) => note({ state: "unknown", text: fault.message })),
    )
  })
