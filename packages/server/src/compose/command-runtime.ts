import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { type Config, hypervisorKind } from "../config/config.ts"
import { buildContainer } from "./container.ts"
import { type DataFolder, DataFolderError, openDataFolder, requireDatabase, shareDataFolder } from "./data-folder.ts"
import { makeSimulator } from "./hypervisor.ts"
import { loadSimulator } from "./keep-simulator.ts"
import { T, type AppRuntime } from "./tokens.ts"

/** The whole application without its surface and background work, for the duration of a command. */
export interface CommandRuntime {
  readonly runtime: AppRuntime
  /** Stops between two journal entries and releases leases, so that other processes on the store can continue. */
  readonly close: () => Promise<void>
}

/** The built-in simulator lives in one process, so its folder is held exclusively; otherwise a service may run on the same folder. */
const folderFor = (config: Config): DataFolder => {
  const shared = shareDataFolder(config.data)
  if (hypervisorKind(config) !== "simulator") return shared
  try {
    return openDataFolder(config.data, "run this command")
  } catch (error) {
    if (!(error instanceof DataFolderError)) throw error
    throw new DataFolderError(
      `${error.message} The built-in simulator runs inside that service: use its HTTP interface while it runs.`,
      { cause: error },
    )
  }
}

/** Opens the configured application, alongside a service that may be using the same data. */
export const openForCommand = async (config: Config): Promise<CommandRuntime> => {
  const folder = folderFor(config)
  const closers: (() => Promise<void> | void)[] = [folder.release]
  const close = async () => {
    for (const one of closers.reverse()) await one()
  }
  try {
    if (config.databaseUrl === undefined) requireDatabase(folder)
    const simulator = await makeSimulator(config)
    const cluster = simulator === undefined ? undefined : await loadSimulator(simulator, join(folder.path, "simulator.json"))
    if (cluster !== undefined) closers.push(cluster.end)
    const container = buildContainer({
      config: { ...config, logLevel: "error" },
      folder,
      simulator,
      // a name of its own: two living processes must not share one
      owner: `${folder.instance}-${randomBytes(4).toString("hex")}`,
      background: false,
    })
    closers.push(() => container.unbindAllAsync())
    const runtime = container.get<AppRuntime>(T.runtime)
    await runtime.context()
    cluster?.keep()
    return { runtime, close }
  } catch (error) {
    await close()
    throw error
  }
}
