import { type ObservedPackages, packageFileName, type NodePackage, type PackageSet } from "@rangewright/domain"
import { NodePackages, PackageFolder, PackagesFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** A node with packages. */
export interface MemoryPackageNode {
  readonly architecture: string
  packages: readonly NodePackage[]
  /** False simulates an unreachable node. */
  reachable: boolean
  /** Why it installs nothing; undefined when it does. */
  broken: string | undefined
}

/** Nodes with packages, and the operator's folder of patched ones. */
export interface MemoryPackages {
  readonly nodes: Map<string, MemoryPackageNode>
  sets: readonly PackageSet[]
  /** Why the folder cannot be used; undefined when it can. */
  damaged: string | undefined
  /** Changes in order: `install pve1`. */
  readonly changes: string[]
  /** Called before a node is changed. */
  changing: (node: string) => void
}

export const makeMemoryPackages = (sets: readonly PackageSet[] = []): MemoryPackages => ({
  nodes: new Map(),
  sets,
  damaged: undefined,
  changes: [],
  changing: () => undefined,
})

const folderOf = (memory: MemoryPackages): PackageFolder["Service"] => {
  const whole = <A>(doing: string, value: () => A) =>
    Effect.suspend(() =>
      memory.damaged === undefined
        ? Effect.succeed(value())
        : Effect.fail(new PackagesFault({ doing, reason: "folder", detail: memory.damaged })),
    )
  return {
    manifest: whole("read the signed packages", () => ({ sets: memory.sets, digest: JSON.stringify(memory.sets) })),
    file: (_set, file) => whole("read a package", () => new TextEncoder().encode(packageFileName(file))),
  }
}

const nodesOf = (memory: MemoryPackages): NodePackages["Service"] => {
  const reach = (node: string, doing: string) =>
    Effect.suspend(() => {
      const found = memory.nodes.get(node)
      return found?.reachable === true
        ? Effect.succeed(found)
        : Effect.fail(new PackagesFault({ doing: `${doing} on node ${node}`, reason: "unreachable", detail: "nobody answers" }))
    })
  const change = (node: string, what: string, change: (one: NodePackage) => NodePackage) =>
    Effect.flatMap(reach(node, what), (found) => {
      memory.changing(node)
      if (found.broken !== undefined)
        return Effect.fail(
          new PackagesFault({ doing: `${what} packages on node ${node}`, reason: "refused", detail: found.broken }),
        )
      memory.changes.push(`${what} ${node}`)
      found.packages = found.packages.map(change)
      return Effect.void
    })
  return {
    nodes: [...memory.nodes.keys()],
    observe: (node) =>
      Effect.map(reach(node, "look at the packages"), ({ architecture, packages }): ObservedPackages => ({
        architecture,
        packages,
      })),
    install: (node, _set, files) =>
      change(node, "install", (one) => {
        const file = files.find((each) => each.package.name === one.name)
        return file === undefined ? one : { ...one, version: file.package.version, held: true, settled: true }
      }),
    restore: (node, versions) =>
      change(node, "restore", (one) => {
        const version = versions.find(({ name }) => name === one.name)?.version
        return version === undefined ? one : { ...one, version, held: false, settled: true }
      }),
  }
}

/** With no nodes, the service manages no packages. */
export const memoryPackagesLayer = (memory = makeMemoryPackages()): Layer.Layer<NodePackages | PackageFolder> =>
  Layer.merge(
    Layer.sync(NodePackages, () => nodesOf(memory)),
    Layer.succeed(PackageFolder, folderOf(memory)),
  )
