/**
 * Stands for a service that runs a playbook of one task; it is started as a process of its own, so that it can be killed. Its arguments are a
 * folder, the task's command, and the program and use of the sandbox where they are not the usual ones. It ends as the tool does.
 */
import { nowhere, prepareRun, runCommand } from "@rangewright/host-tools"
import * as Effect from "effect/Effect"
import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { automationAvailability } from "../../src/playbook/availability.ts"
import { playbookRun } from "../../src/playbook/command.ts"
import { settingsOf } from "../../src/playbook/options.ts"

const [, , folder = "", task = "true", program = "ansible-playbook", sandbox] = process.argv
const tools = { sandbox: sandbox === "off" ? "off" : "auto" } as const
const options = { folder, library: join(folder, "library"), program, tools }
const scratch = join(folder, "scratch")
const workspace = join(folder, "workspace")
await mkdir(join(scratch, "home"), { recursive: true })
await mkdir(workspace, { recursive: true })
await writeFile(join(scratch, "ansible.cfg"), "")
await writeFile(join(scratch, "inventory.yml"), "all: {hosts: {localhost: {ansible_connection: local}}}\n")
await writeFile(
  join(scratch, "play.yml"),
  JSON.stringify([{ hosts: "localhost", gather_facts: false, tasks: [{ "ansible.builtin.command": task }] }]),
)
const found = await Effect.runPromise(automationAvailability(options))
const run = playbookRun(settingsOf(options), found, {
  scratch,
  playbook: join(scratch, "play.yml"),
  inventories: ["inventory.yml"],
  variables: [],
  userId: undefined,
  facts: undefined,
  carried: undefined,
  workspace,
  environment: {},
  verbose: false,
})
const work = Effect.gen(function* () {
  const { confine, limits } = yield* prepareRun(found.host, { folder: scratch, mounts: run.mounts, reach: nowhere })
  const [first = "", ...args] = confine(run.tool)
  const command = { program: first, args, env: run.env, folder: scratch, ...limits }
  return yield* runCommand(command, 1e6, (_stream, line) => void process.stdout.write(`${line}\n`))
})
const end = await Effect.runPromise(Effect.scoped(work))
process.exitCode = end.type === "exited" ? end.code : 99
