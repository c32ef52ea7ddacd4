import { readBuilderFile } from "@rangewright/domain/source"
import { parentPort } from "node:worker_threads"
import { yieldToOthers } from "../own-priority.ts"
import type { BuilderText } from "./builder-reader.ts"

yieldToOthers()
parentPort?.on("message", ({ path, text }: BuilderText) => parentPort?.postMessage(readBuilderFile(path, text)))
