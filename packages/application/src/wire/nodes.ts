import { nodeUse, type ObservedMachine, type ObservedNode, type ObservedStorage } from "@rangewright/domain"
import type { Freshness, KeptCluster } from "@rangewright/ports"
import * as Schema from "effect/Schema"

/** A storage of a node; an inactive one shows no size. */
const NodeStorage = Schema.Struct({
  name: Schema.String,
  type: Schema.String,
  /** Other nodes have the same storage. */
  shared: Schema.Boolean,
  active: Schema.Boolean,
  totalBytes: Schema.Finite,
  usedBytes: Schema.Finite,
})

/** A node as it was last seen. */
export const NodeObject = Schema.Struct({
  name: Schema.String,
  online: Schema.Boolean,
  cpus: Schema.Int,
  /** 0 to 1 over all cores. */
  cpuLoad: Schema.Finite,
  memoryMiB: Schema.Finite,
  memoryUsedMiB: Schema.Finite,
  /** What the machines of ranges on it take if all of them are on. */
  promised: Schema.Struct({
    machines: Schema.Int,
    machinesOn: Schema.Int,
    cpus: Schema.Int,
    memoryMiB: Schema.Finite,
  }),
  /** Memory that is left when all of them are on; below 0: they cannot all be on. */
  freeMemoryMiB: Schema.Finite,
  storages: Schema.Array(NodeStorage),
}).annotate({ identifier: "NodeObject" })

/** `observedAt` and `awaySince` tell how fresh it is, as for a range. */
export const NodesObject = Schema.Struct({
  nodes: Schema.Array(NodeObject),
  observedAt: Schema.optionalKey(Schema.String),
  awaySince: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "NodesObject" })

const storageObject = ({ name, type, shared, active, totalBytes, usedBytes }: ObservedStorage) => ({
  name,
  type,
  shared,
  active,
  totalBytes,
  usedBytes,
})

const nodeObject = (
  node: ObservedNode,
  storages: readonly ObservedStorage[],
  all: readonly ObservedMachine[],
): typeof NodeObject.Type => {
  const { freeMemoryMiB, ...promised } = nodeUse(node, all)
  const { name, online, cpus, cpuLoad, memoryMiB, memoryUsedMiB } = node
  return {
    name,
    online,
    cpus,
    cpuLoad,
    memoryMiB,
    memoryUsedMiB,
    promised,
    freeMemoryMiB,
    storages: storages
      .filter((storage) => storage.node === name)
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .map(storageObject),
  }
}

/** Ascending by name. `machines`: those of ranges. */
export const nodesObject = (
  cluster: KeptCluster | undefined,
  machines: readonly ObservedMachine[],
  { observedAt, awaySince }: Freshness,
): typeof NodesObject.Type => ({
  nodes: (cluster?.nodes ?? [])
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((node) => nodeObject(node, cluster?.storages ?? [], machines)),
  ...(observedAt === undefined ? {} : { observedAt: observedAt.toISOString() }),
  ...(awaySince === undefined ? {} : { awaySince: awaySince.toISOString() }),
})
