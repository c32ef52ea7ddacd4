import { rmSync } from "node:fs"
import { workerData } from "node:worker_threads"
import { yieldToOthers } from "../own-priority.ts"

yieldToOthers()
rmSync(workerData as string, { recursive: true, force: true, maxRetries: 5 })
