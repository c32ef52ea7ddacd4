/**
 * Stands for a service that runs a tool; it is started as a process of its own, so that it can be killed. Its arguments are the tool's
 * folder and its command line.
 */
import * as Effect from "effect/Effect"
import { runCommand } from "../../src/run-command.ts"

const [, , folder = "", program = "", ...args] = process.argv
const env = { PATH: process.env["PATH"] ?? "", HOME: `${folder}/home` }
await Effect.runPromise(runCommand({ program, args, env, folder }, 1e6, () => undefined))
