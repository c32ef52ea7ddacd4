import {
  Conflict,
  NotFound,
  packagesText,
  packagesToInstall,
  packagesToRestore,
  type PackageSet,
  type PackageVersion,
  type ObservedPackages,
  type Step,
  workPlan,
} from "@rangewright/domain"
import { NodePackages, PackageFolder, PackagesFault } from "@rangewright/ports"
import { runKind, work } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { restKey, restStep, restWork } from "../run/ranges-at-rest.ts"
import { lookAtNode, readableSets } from "./package-looks.ts"

/** The packages that nodes should have. */
export const PackageTarget = Schema.Literals(["custom", "standard"])
export type PackageTarget = typeof PackageTarget.Type

/** Completes "Cannot …". */
export const changeTexts = {
  custom: "install the patched QEMU packages",
  standard: "install the standard QEMU packages",
} as const satisfies Record<PackageTarget, string>

/** Concurrent requests to nodes. */
const askedAtOnce = 4

const wrongNode = (to: PackageTarget, node: string, because: string) =>
  new Conflict({
    what: `Cannot ${changeTexts[to]} on node ${node}: ${because}`,
    hint:
      to === "custom"
        ? "Sign packages for exactly the version that the node has, or go back first: POST /antisandbox/install-standard. docs/guides/anti-sandbox.md says how."
        : "Update the node's package lists (apt-get update).",
  })

interface Missing {
  /** From the folder; undefined: from the node's repositories. */
  readonly set: PackageSet | undefined
  readonly versions: readonly PackageVersion[]
}

const missingIn = (
  to: PackageTarget,
  sets: readonly PackageSet[],
  seen: ObservedPackages,
): Result.Result<Missing | undefined, string> =>
  to === "custom"
    ? Result.map(packagesToInstall(sets, seen), (set) => (set === undefined ? undefined : { set, versions: set.packages }))
    : Result.map(packagesToRestore(sets, seen), (versions) => (versions === undefined ? undefined : { set: undefined, versions }))

/** What a node lacks; undefined: nothing. Fails with the reason why the node cannot get it. */
const missingOn = (
  to: PackageTarget,
  sets: readonly PackageSet[],
  node: string,
  seen: ObservedPackages,
): Effect.Effect<Missing | undefined, Conflict> =>
  Effect.mapError(Effect.fromResult(missingIn(to, sets, seen)), (because) => wrongNode(to, node, because))

const change = work({
  name: "node-packages",
  input: Schema.Struct({
    node: Schema.String,
    to: PackageTarget,
    /** Digest of the signed manifest that the plan was made from: all nodes get the packages of one signature. */
    digest: Schema.optionalKey(Schema.String),
  }),
  settle: ({ node, to, digest }, { print }) =>
    Effect.gen(function* () {
      const packages = yield* NodePackages
      const folder = yield* PackageFolder
      const manifest = digest === undefined ? undefined : yield* folder.manifest
      if (manifest?.digest !== digest)
        return yield* new Conflict({
          what: `Cannot ${changeTexts[to]} on node ${node}: the signed folder has changed since the run began`,
          hint: "Start again: nodes that already have the packages signed now are left as they are.",
        })
      const sets = manifest?.sets ?? (yield* readableSets)
      const missing = yield* missingOn(to, sets, node, yield* lookAtNode(node, sets))
      if (missing !== undefined) {
        const { set, versions } = missing
        yield* print(`${node}: ${versions.map(({ name, version }) => `${name} ${version}`).join(", ")}`)
        const done =
          set === undefined
            ? packages.restore(node, versions)
            : Effect.flatMap(
                Effect.forEach(set.packages, (one) =>
                  Effect.map(folder.file(set, one), (content) => ({ package: one, content })),
                ),
                (files) => packages.install(node, set, files),
              )
        // a partial change is shown as it is
        yield* Effect.tapError(done, () => Effect.ignore(lookAtNode(node, sets)))
      }
      const after = yield* lookAtNode(node, sets)
      const still = yield* missingOn(to, sets, node, after)
      if (still !== undefined)
        return yield* new PackagesFault({
          doing: `${changeTexts[to]} on node ${node}`,
          reason: "refused",
          detail: `apt succeeded, but afterwards ${packagesText(after)}`,
        })
      return { changed: missing !== undefined, data: { node, packages: packagesText(after) } }
    }),
})

/** What is known about a node when the run is planned. */
interface Asked {
  readonly node: string
  readonly needs: Result.Result<boolean, Conflict | PackagesFault>
}

const ask = (to: PackageTarget, sets: readonly PackageSet[]) =>
  Effect.flatMap(NodePackages, ({ nodes }) =>
    Effect.forEach(
      nodes,
      (node) =>
        lookAtNode(node, sets).pipe(
          Effect.flatMap((seen) => missingOn(to, sets, node, seen)),
          Effect.map((missing) => missing !== undefined),
          Effect.result,
          Effect.map((needs): Asked => ({ node, needs })),
        ),
      { concurrency: askedAtOnce },
    ),
  )

/** Fails with the obstacles on any node, before any is changed. */
const refuseObstacles = (to: PackageTarget, asked: readonly Asked[]) =>
  Effect.gen(function* () {
    const faults = asked.flatMap(({ needs }) => (Result.isFailure(needs) ? [needs.failure] : []))
    const [first] = faults
    if (first === undefined) return
    // an unreachable node tells nothing about its packages
    const away = faults.find((fault) => !(fault instanceof Conflict))
    if (faults.length === 1 || away !== undefined) return yield* away ?? first
    return yield* new Conflict({
      what: `Cannot ${changeTexts[to]}: ${faults.map(({ message }) => message).join("; ")}`,
      ...(first.hint === undefined ? {} : { hint: first.hint }),
    })
  })

const stepsFor = (to: PackageTarget, nodes: readonly string[], digest: string | undefined): readonly Step[] => {
  let last = restKey
  return nodes.map((node) => {
    const key = `node:${node}`
    const step = change.step(
      {
        key,
        title: `${to === "custom" ? "Install patched" : "Restore standard"} packages on ${node}`,
        after: [last],
        estimate: 60,
      },
      { node, to, ...(digest === undefined ? {} : { digest }) },
    )
    last = key
    return step
  })
}

/**
 * Installs the patched packages on every configured node, or restores its own, one node after another, and none after a failure. No range
 * is changed meanwhile, so no machine starts with a half-installed emulator.
 */
export const packagesRun = runKind({
  name: "node-packages",
  doing: "a change of the QEMU packages of nodes",
  request: Schema.Struct({ to: PackageTarget }),
  plan: ({ to }) =>
    Effect.gen(function* () {
      const { nodes } = yield* NodePackages
      const folder = yield* PackageFolder
      if (nodes.length === 0)
        return yield* new NotFound({
          what: `Cannot ${changeTexts[to]}: this service does not manage packages on the nodes`,
          hint: "Machines are disguised by their own settings, without any packages: POST /antisandbox/enable. If you want patched packages anyway, build and sign them, and set node_packages_folder, node_packages_keys, node_packages_nodes and node_packages_ssh_key_file; docs/guides/anti-sandbox.md says how, and what they add.",
        })
      const manifest = to === "custom" ? yield* folder.manifest : undefined
      const asked = yield* ask(to, manifest?.sets ?? (yield* readableSets))
      // an unreachable node prevents the installation of patched packages, but not their removal
      if (to === "custom") yield* refuseObstacles(to, asked)
      const [failing, able] = [
        asked.filter(({ needs }) => Result.isFailure(needs)),
        asked.filter(({ needs }) => Result.isSuccess(needs)),
      ]
      const todo = [...able.filter(({ needs }) => Result.isSuccess(needs) && needs.success), ...failing]
      const steps = stepsFor(
        to,
        todo.map(({ node }) => node),
        manifest?.digest,
      )
      return workPlan(steps.length === 0 ? [] : [restStep, ...steps])
    }),
  works: [restWork, change],
})
