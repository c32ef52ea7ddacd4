import { contentLayer } from "@rangewright/adapter-git"
import { isGitScheme } from "@rangewright/domain"
import type { Archives, BuilderFiles, ContentFault, ContentFetcher } from "@rangewright/ports"
import type * as Layer from "effect/Layer"
import type { Config } from "../config/config.ts"
import { readNamedFile } from "./named-file.ts"
import { networksOf, toolOptions } from "./tools.ts"

export type ContentPorts = Archives | BuilderFiles | ContentFetcher

/** Sources from Git, archives and folders, stored below this folder. */
export const bindContent = (config: Config, folder: string): Layer.Layer<ContentPorts, ContentFault> => {
  // checked now: otherwise an unreadable file would only show at the first fetch
  if (config.sourceCaFile !== undefined) readNamedFile("source_ca_file", config.sourceCaFile)
  return contentLayer({
    folder,
    schemes: config.sourceSchemes.filter(isGitScheme),
    networks: networksOf(config.sourceNetworks),
    folders: config.sourceFolders,
    git: config.git,
    tools: toolOptions(config),
    ...(config.sourceCaFile === undefined ? {} : { caFile: config.sourceCaFile }),
  })
}
