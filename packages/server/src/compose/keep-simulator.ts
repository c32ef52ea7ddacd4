import { readFileSync, renameSync, writeFileSync } from "node:fs"
import type { Simulator } from "@rangewright/pve-simulator"
import { DataFolderError } from "./data-folder.ts"

/** Milliseconds of the simulated cluster's life that may be lost when the process is killed. */
const saveEvery = 25

const load = (simulator: Simulator, file: string): void => {
  let text: string
  try {
    text = readFileSync(file, "utf8")
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return
    throw error
  }
  try {
    simulator.restore(text)
  } catch (error) {
    throw new DataFolderError(
      `Cannot use ${file}: ${(error as Error).message}. It holds the built-in simulator's cluster; move it elsewhere to start with an empty one.`,
      { cause: error },
    )
  }
}

/**
 * Removes clones that were interrupted by the end of the process. A real cluster finishes clones without the service; here they are void,
 * and nobody else could unlock them.
 */
const removeHalfClones = async (simulator: Simulator): Promise<void> => {
  const cut = [...simulator.state.guests.values()].filter((guest) => guest.config["lock"] === "clone")
  if (cut.length === 0) return
  const call = async (method: string, path: string, headers: Record<string, string>, body?: string) => {
    const answer = await simulator.handle({ method, path: `/api2/json${path}`, headers, ...(body === undefined ? {} : { body }) })
    return JSON.parse(String(answer.body)) as { readonly data: { readonly ticket: string; readonly CSRFPreventionToken: string } }
  }
  const form = { "content-type": "application/x-www-form-urlencoded" }
  const login = `username=root%40pam&password=${encodeURIComponent(simulator.rootPassword)}`
  const { ticket, CSRFPreventionToken } = (await call("POST", "/access/ticket", form, login)).data
  const root = { cookie: `PVEAuthCookie=${encodeURIComponent(ticket)}`, csrfpreventiontoken: CSRFPreventionToken }
  for (const { node, vmid } of cut) await call("DELETE", `/nodes/${node}/qemu/${vmid}?skiplock=1`, root)
}

/** A cluster that was loaded from its file. */
export interface KeptSimulator {
  /** Saves it from now on, whenever it changes. Until then the file stays as it was found: the service may yet refuse the data folder. */
  readonly keep: () => void
  /** Saves it one last time if it is being kept. */
  readonly end: () => void
}

/**
 * Loads the built-in simulator's cluster from a file, because a cluster outlives the service that uses it. A full disk stops the saving, not
 * the service; it is retried as long as there is something to save.
 */
export const loadSimulator = async (simulator: Simulator, file: string): Promise<KeptSimulator> => {
  load(simulator, file)
  await removeHalfClones(simulator)
  let saved = ""
  const save = (): void => {
    const happened = `${simulator.trace.hash} ${simulator.calls.counts().mutating}`
    if (happened !== saved) write(happened)
  }
  const write = (happened: string): void => {
    try {
      writeFileSync(`${file}.new`, simulator.save(), { mode: 0o600 })
      renameSync(`${file}.new`, file)
      saved = happened
    } catch {
      // retried on the next turn; /readyz reports the full disk through the service's own store
    }
  }
  let timer: NodeJS.Timeout | undefined
  return {
    keep: () => {
      timer ??= setInterval(save, saveEvery).unref()
    },
    end: () => {
      if (timer === undefined) return
      clearInterval(timer)
      // progress of a task between its start and end raises no event
      write("")
    },
  }
}
