import type { Run } from "@rangewright/application/wire"
import { useEffect } from "preact/hooks"

/** Seconds after which the remaining time of a run is read again: a long step sends no event. */
const freshFor = 30

/** Keeps the remaining time of a run in progress up to date. */
export const useFresh = (run: Run | undefined, reload: () => Promise<void>): void => {
  const isRunning = run?.status === "running"
  useEffect(() => {
    if (!isRunning) return
    const timer = setInterval(() => void reload(), freshFor * 1_000)
    return () => clearInterval(timer)
  }, [isRunning, reload])
}
