import { extname } from "node:path"
import { Worker, type WorkerOptions } from "node:worker_threads"

/** Passes nothing of the service's environment except the compile cache: with it a thread starts twice as fast. */
const environment = (): NodeJS.ProcessEnv => {
  const { NODE_COMPILE_CACHE: cache } = process.env
  return cache === undefined ? {} : { NODE_COMPILE_CACHE: cache }
}

/** Starts the program `name` beside `here`, as source or compiled, in a thread of its own. */
export const startThread = (here: string, name: string, options: Pick<WorkerOptions, "workerData" | "resourceLimits">): Worker =>
  new Worker(new URL(`./${name}${extname(here)}`, here), { ...options, env: environment(), execArgv: [], name })
