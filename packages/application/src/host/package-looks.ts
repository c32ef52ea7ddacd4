import { type ObservedPackages, judgePackages, type PackageSet, type PackagesState, packagesText } from "@rangewright/domain"
import { NodePackages, PackageFolder, type PackagesFault } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** The result of the last check of a node's packages. */
export interface PackageLook {
  readonly at: Date
  readonly state: PackagesState
  /** For administrators: the versions, or why they could not be read. */
  readonly text: string
}

/** What this process knows about the packages of nodes. Reading it makes no call to a node. */
export class PackageLooks extends Context.Service<
  PackageLooks,
  {
    /** The nodes whose packages the service manages. */
    readonly nodes: readonly string[]
    readonly of: (node: string) => PackageLook | undefined
    readonly note: (node: string, look: PackageLook) => void
    /** Nodes of the hypervisor whose packages the service does not manage. */
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

/** The package sets of the operator's folder; none while it cannot be read. */
export const readableSets = Effect.flatMap(PackageFolder, ({ manifest }) =>
  manifest.pipe(
    Effect.map(({ sets }) => sets),
    Effect.catch(() => Effect.succeed<readonly PackageSet[]>([])),
  ),
)

/** Asks a node for its packages, and notes the answer, or why there was none. */
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
