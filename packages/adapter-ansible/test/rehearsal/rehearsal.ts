import type { Json, Nic } from "@rangewright/domain"
import { execFile } from "node:child_process"
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { playbooksFolder } from "../../src/playbook/options.ts"
import { stageVariables } from "../../src/playbook/stage-input.ts"
import { unsafeYaml } from "../../src/playbook/unsafe-yaml.ts"
import type { Stage } from "./planned-stages.ts"

/** What a module was asked for. */
export interface Call {
  readonly module: string
  readonly task: string
  readonly arguments: Readonly<Record<string, Json>>
  /** As whom. */
  readonly become?: string
  readonly async?: true
  /** Of a template: what came of it. */
  readonly content?: string
}

export interface Performance {
  readonly ok: boolean
  readonly changed: boolean
  readonly calls: readonly Call[]
  /** Everything the tool printed. */
  readonly said: string
}

/** What modules answer, by module or by task, the latter first; `*` is for all. */
export type Answers = Readonly<Record<string, Readonly<Record<string, Json>>>> & {
  readonly "*": Readonly<Record<string, Json>>
}

const card: Nic = { index: 0, model: "virtio", mac: "BC:24:11:00:4E:20", bridge: "vmbr1007", tag: 10, firewall: false }

/** The login of the machine's template. */
export const login = { user: "localuser", password: "Of-The-Template-1" } as const

/** A playbook that waits for what never comes is ended, not left behind. */
const longest = 120_000

const run = (args: readonly string[], env: NodeJS.ProcessEnv, cwd: string) =>
  new Promise<{ readonly ok: boolean; readonly said: string }>((resolve) => {
    execFile("ansible-playbook", args, { env, cwd, maxBuffer: 2 ** 26, timeout: longest }, (error, stdout, stderr) =>
      resolve({ ok: error === null, said: stdout + stderr }),
    )
  })

export interface Theatre {
  /** Runs the stage's own playbook with Ansible itself and what the service gives it; only the modules are not the real ones. */
  readonly rehearse: (
    stage: Stage,
    answers: Answers,
    hostVariables?: Readonly<Record<string, Json>>,
    newPassword?: string,
  ) => Promise<Performance>
  readonly close: () => Promise<void>
}

/** A folder of collections with a stand-in for each of these modules. */
export const openTheatre = async (modules: Iterable<string>): Promise<Theatre> => {
  const folder = await mkdtemp(join(tmpdir(), "rw-rehearsal-"))
  for (const module of modules) {
    const [namespace = "", collection = "", name = ""] = module.split(".")
    const actions = join(folder, "ansible_collections", namespace, collection, "plugins", "action")
    await mkdir(actions, { recursive: true })
    await cp(join(import.meta.dirname, "stand_in.py"), join(actions, `${name}.py`))
  }
  let performances = 0
  return {
    rehearse: async (stage, answers, hostVariables = {}, newPassword) => {
      performances += 1
      const own = join(folder, String(performances))
      await mkdir(own)
      const name = stage.machine.mark.machine
      const site = { range: { number: 7 }, target: { name, address: "10.7.10.11" }, detail: { nics: [card] } }
      // PowerShell, which only Windows understands
      const variables = { ...Object(stageVariables(stage, site, newPassword)), same_machine: "true" } as Json
      const host = {
        ansible_connection: "local",
        ansible_host: "127.0.0.1",
        // nothing listens there: a machine that restarts is unreachable at once
        ansible_port: 1,
        ansible_python_interpreter: "{{ ansible_playbook_python }}",
        ansible_user: login.user,
        ansible_password: login.password,
        ...hostVariables,
      }
      await writeFile(join(own, "stage.yml"), `rangewright: ${unsafeYaml(variables)}\n`)
      await writeFile(join(own, "inventory.json"), JSON.stringify({ all: { hosts: { [name]: host } } }))
      await writeFile(join(own, "answers.json"), JSON.stringify(answers))
      await writeFile(join(own, "notes"), "")
      const env = {
        PATH: process.env["PATH"],
        LC_ALL: "C.UTF-8",
        HOME: own,
        ANSIBLE_NOCOLOR: "1",
        ANSIBLE_LOCALHOST_WARNING: "0",
        ANSIBLE_COLLECTIONS_PATH: folder,
        REHEARSAL_NOTES: join(own, "notes"),
        REHEARSAL_ANSWERS: join(own, "answers.json"),
      }
      const playbook = join(playbooksFolder, `${stage.stage}.yml`)
      const told = ["--inventory", join(own, "inventory.json"), "--extra-vars", `@${join(own, "stage.yml")}`]
      const { ok, said } = await run([...told, "-v", playbook], env, own)
      const notes = (await readFile(join(own, "notes"), "utf8")).split("\n").filter((line) => line !== "")
      return { ok, said, changed: !/ changed=0 /u.test(said), calls: notes.map((line) => JSON.parse(line) as Call) }
    },
    close: () => rm(folder, { recursive: true, force: true }),
  }
}
