import { readFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { parse } from "yaml"
import { playbooksFolder } from "../../src/playbook/options.ts"

/** A task of a built-in playbook, or of a file of tasks. */
export interface BuiltInTask {
  readonly file: string
  readonly name: string
  readonly module: string
}

type Item = Readonly<Record<string, unknown>>

const namesModule = /^[a-z]+\.[a-z]+\.[a-z_]+$/u
const inner = ["tasks", "block", "rescue", "always"] as const

const tasksIn = (file: string, items: unknown): readonly BuiltInTask[] =>
  (Array.isArray(items) ? (items as readonly Item[]) : []).flatMap((item) => [
    ...Object.keys(item)
      .filter((key) => namesModule.test(key))
      .map((module) => ({ file, module, name: String(item["name"]) })),
    ...inner.flatMap((key) => tasksIn(file, item[key])),
  ])

const filesBelow = (folder: string): readonly string[] =>
  readdirSync(join(playbooksFolder, folder))
    .filter((name) => name.endsWith(".yml"))
    .map((name) => join(folder, name))

/** All of them, as their files say. */
export const builtInTasks = (): readonly BuiltInTask[] =>
  [...filesBelow(""), ...filesBelow("tasks")].flatMap((file) =>
    tasksIn(file, parse(readFileSync(join(playbooksFolder, file), "utf8"))),
  )
