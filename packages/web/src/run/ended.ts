import type { Run } from "@rangewright/application/wire"
import { read, Refusal } from "../api/client.ts"
import { onLive } from "../live/live.ts"

/** Resolves to the run once it has ended. */
export const ended = (runID: string): Promise<Run> =>
  new Promise((resolve, reject) => {
    const stop = onLive(({ topic, runID: told, data }) => {
      if (topic === "reset" || (topic === "run" && told === runID && data["endedAt"] !== undefined)) void look()
    })
    const look = async (): Promise<void> => {
      try {
        const run = await read<Run>("/runs/{runID}", { runID })
        if (run.endedAt === undefined) return
        stop()
        resolve(run)
      } catch (error) {
        // an unavailable service says nothing about the run; the next event or reset asks again
        if (error instanceof Refusal && (error.status === 0 || error.status >= 500)) return
        stop()
        reject(error)
      }
    }
    // it may have ended before the listener was attached
    void look()
  })
