import { noBuilderLayer } from "@rangewright/adapter-memory"
import { type BuilderFinding, builderFindings, type PackerOptions, packerLayer } from "@rangewright/adapter-packer"
import { proxmoxAgent } from "@rangewright/adapter-proxmox"
import { isCluster, natNetworkName } from "@rangewright/domain"
import { type BuildFault, Hypervisor, ImageServers, type TemplateBuilder } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { join } from "node:path"
import { type Config, hypervisorKind } from "../config/config.ts"
import { diskStorage, proxmoxTls } from "./proxmox-parts.ts"
import { toolOptions } from "./tools.ts"

/** The built-in simulator's machines cannot have anything installed in them. */
const noBuilder = noBuilderLayer(
  "the built-in simulator is the hypervisor, which has no real machines",
  "Set proxmox_url. The simulator has the templates of public labs; simulator_templates adds further ones.",
)

export const packerOptions = (config: Config, data: string): Omit<PackerOptions, "hypervisor" | "bridge"> => ({
  folder: join(data, "template-builds"),
  program: config.packer,
  ...(config.packerPlugins === undefined ? {} : { plugins: config.packerPlugins }),
  tools: toolOptions(config),
  storage: diskStorage(config),
  storageFormat: config.vmStorageFormat,
  isoStorage: config.isoStorage,
  nodeDownloads: config.templateNodeDownloads,
  caps: {
    vms: config.templateBuildVms,
    cores: config.templateBuildCores,
    memoryMiB: config.templateBuildMemory * 1024,
    diskBytes: config.templateBuildDisk * 1024 ** 3,
  },
  ...(config.packerAddress === undefined ? {} : { address: config.packerAddress }),
})

/** Builds with the operator's Packer. */
export const bindBuilder = (
  config: Config,
  data: string,
): Layer.Layer<TemplateBuilder, BuildFault, Hypervisor | ImageServers> => {
  const [url] = config.proxmoxUrl
  if (hypervisorKind(config) === "simulator" || url === undefined) return noBuilder
  return Layer.unwrap(
    Effect.map(Effect.all([Hypervisor, ImageServers]), ([hypervisor, servers]) =>
      packerLayer({
        ...packerOptions(config, data),
        hypervisor: { url, agent: proxmoxAgent(url, proxmoxTls(config)) },
        ...(config.templateImageStorage === 0
          ? {}
          : {
              images: { folder: join(data, "template-images"), storageBytes: config.templateImageStorage * 1024 ** 3, servers },
            }),
        bridge: Effect.map(
          hypervisor.observe,
          ({ nodes }) => config.natNetwork ?? natNetworkName(isCluster(config.clusterMode, nodes)),
        ),
      }),
    ),
  )
}

/** What this host provides for template builds, for people. */
export const templateFindings = (config: Config): Effect.Effect<readonly BuilderFinding[]> =>
  hypervisorKind(config) === "simulator" ? Effect.succeed([]) : builderFindings(packerOptions(config, config.data))
