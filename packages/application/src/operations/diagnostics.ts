import type { ObservedStorage } from "@rangewright/domain"
import { Machines } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { NodeFigures } from "../host/node-figures.ts"
import { parseLscpu, parsePveperf } from "../host/pveperf.ts"
import { operation } from "../operation/operation.ts"
import { Settings } from "../settings.ts"

const Diagnostics = Schema.Struct({
  cpu: Schema.Struct({ model: Schema.String, cores: Schema.Int }),
  storage_pools: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      type: Schema.String,
      size_gb: Schema.Finite,
      used_gb: Schema.Finite,
      free_gb: Schema.Finite,
      free_percentage: Schema.Finite,
    }),
  ),
  pveperf: Schema.Struct({
    cpu_bogomips: Schema.Finite,
    regex_per_second: Schema.Int,
    hd_size: Schema.String,
    buffered_reads: Schema.String,
    average_seek_time: Schema.String,
    fsyncs_per_second: Schema.Finite,
    dns_ext: Schema.String,
  }),
  notes: Schema.Array(Schema.String),
})

const twoDecimals = (n: number): number => Math.round(n * 100) / 100
const gib = (bytes: number): number => twoDecimals(bytes / 2 ** 30)

const poolOf = ({ name, type, totalBytes, usedBytes }: ObservedStorage) => ({
  name,
  type,
  size_gb: gib(totalBytes),
  used_gb: gib(usedBytes),
  free_gb: gib(Math.max(0, totalBytes - usedBytes)),
  free_percentage: totalBytes === 0 ? 0 : twoDecimals(100 - (100 * usedBytes) / totalBytes),
})

/** The node's figures. Clients need every number: `notes` says which of them were not measured, and why. */
export const diagnostics = operation({
  id: "diagnostics",
  route: "GET /diagnostics",
  group: "Host",
  does: "read the node's diagnostics",
  summary: "Processor, storage and speed of the node",
  access: "admin",
  target: "none",
  output: { type: "json", schema: Diagnostics },
  statuses: { 200: "processor, storage and speed figures", 500: "a measuring tool failed" },
  handle: () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const cluster = yield* machines.cluster
      const settings = yield* Settings
      const node = cluster?.nodes.find((n) => n.name === settings.defaultNode) ?? cluster?.nodes[0]
      const { available, of } = yield* NodeFigures
      const measured = (program: "lscpu" | "pveperf") =>
        node === undefined || !available ? Effect.succeed("") : of(node.name, program)
      const [lscpu, pveperf] = yield* Effect.all([measured("lscpu"), measured("pveperf")], { concurrency: 2 })
      const cpu = parseLscpu(lscpu)
      const cores = cpu.cores ?? node?.cpus
      const { figures, missing } = parsePveperf(pveperf)
      const storages = (cluster?.storages ?? []).filter((s) => s.node === node?.name)
      const unsized = storages.filter(({ totalBytes }) => totalBytes === 0).map(({ name }) => name)
      const why = available ? "pveperf did not print them" : "that needs a shell on the node, and none is configured (ssh_host)"
      return {
        cpu: { model: cpu.model, cores: cores ?? 0 },
        storage_pools: storages.map(poolOf),
        pveperf: figures,
        notes: [
          ...(node === undefined ? ["no node was observed yet: nothing was measured"] : []),
          ...(missing.length === 0 ? [] : [`not measured (not zero): ${missing.join(", ")}; ${why}`]),
          ...(unsized.length === 0 ? [] : [`inactive, so their size is not known (not zero): ${unsized.join(", ")}`]),
        ],
      }
    }),
})
