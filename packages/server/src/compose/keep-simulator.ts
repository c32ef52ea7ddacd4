import { readFileSync, renameSync, writeFileSync } from "node:fs"
import type { Simulator } from "@rangewright/pve-simulator"
import { DataFolderError } from "./data-folder.ts"

/** How much of the simulated cluster's life a killed process may forget, in milliseconds. */
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
 * Removes what clones left that the end of the process cut off. A real cluster's clones go on without the service; here they are
 * void, and nobody else is there who could unlock them.
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

/**
 * Keeps the built-in simulator's cluster in a file, because a cluster outlives the service that uses it: takes it up from
 * there, and writes it whenever something happened in it. Returns what writes it for the last time. A disk that is full
 * stops the writing, not the service; it is tried again as long as there is something to write.
 */
export const keepSimulator = async (simulator: Simulator, file: string): Promise<() => void> => {
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
      // the next turn tries again; the service's own store says in /readyz that the disk is full
    }
  }
  const timer = setInterval(save, saveEvery).unref()
  return () => {
    clearInterval(timer)
    // what a task does between its start and its end is no event of its own
    write("")
  }
}
