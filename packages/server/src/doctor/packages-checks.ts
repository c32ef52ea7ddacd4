import { packagesText, packagesToInstall, type PackageSet } from "@rangewright/domain"
import { Hypervisor, NodePackages, PackageFolder } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { fail, type Finding, ok, warn } from "./finding.ts"

const what = "node packages"

/** Verifies the folder's signature, and that every file is the signed one. */
const checkFolder = Effect.gen(function* () {
  const folder = yield* PackageFolder
  const { sets } = yield* folder.manifest
  for (const set of sets) for (const file of set.packages) yield* folder.file(set, file)
  return sets
})

const checkNode = (node: string, sets: readonly PackageSet[]) =>
  Effect.gen(function* () {
    const packages = yield* NodePackages
    const seen = yield* packages.observe(node)
    const wanted = packagesToInstall(sets, seen)
    return Result.isFailure(wanted)
      ? warn(
          what,
          `${node}: ${wanted.failure}`,
          "Build and sign packages for the version that the node has: docs/guides/anti-sandbox.md.",
        )
      : ok(what, `${node}: ${packagesText(seen)}${wanted.success === undefined ? "" : "; patched packages are signed for it"}`)
  }).pipe(
    Effect.catch(({ message, hint }) =>
      Effect.succeed(
        fail(
          what,
          message,
          hint ?? "Check node_packages_nodes and node_packages_ssh_key_file, and that root may log in with the key.",
        ),
      ),
    ),
  )

/** Nodes of the cluster that are not configured keep their packages, so machines on them differ from those on other nodes. */
const checkNames = (nodes: readonly string[]) =>
  Effect.gen(function* () {
    const hypervisor = yield* Hypervisor
    const there = (yield* hypervisor.observe).nodes.map(({ name }) => name)
    const missing = there.filter((name) => !nodes.includes(name))
    const unknown = nodes.filter((name) => !there.includes(name))
    return [
      ...(missing.length === 0
        ? []
        : [warn(what, `node_packages_nodes does not name ${missing.join(", ")}`, "Name all nodes, or keep ranges off these.")]),
      ...(unknown.length === 0
        ? []
        : [warn(what, `the cluster has no node ${unknown.join(", ")}`, "Correct the names in node_packages_nodes.")]),
    ]
  }).pipe(Effect.catch(() => Effect.succeed<readonly Finding[]>([])))

/** Checks the folder of patched packages and each node. No findings when the service manages none; changes nothing. */
export const checkPackages: Effect.Effect<readonly Finding[], never, Hypervisor | NodePackages | PackageFolder> = Effect.gen(
  function* () {
    const { nodes } = yield* NodePackages
    if (nodes.length === 0) return []
    const sets = yield* Effect.result(checkFolder)
    const folder = Result.isFailure(sets)
      ? fail(what, sets.failure.message, sets.failure.hint ?? "Check node_packages_folder.")
      : ok(what, `signed for pve-qemu-kvm ${sets.success.map((set) => set.for).join(", ")}`)
    const found = Result.isFailure(sets) ? [] : sets.success
    return [
      folder,
      ...(yield* checkNames(nodes)),
      ...(yield* Effect.forEach(nodes, (node) => checkNode(node, found), { concurrency: 4 })),
    ]
  },
)
