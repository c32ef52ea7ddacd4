import { collectionSegments } from "@rangewright/domain"
import { placesOf, systemPath } from "@rangewright/host-tools"
import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import { mkdtemp, open, readdir, readFile, realpath, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

/** Answer of a host program. */
export interface Answer {
  readonly ok: boolean
  readonly output: string
  readonly because: string
}

/** Runs a quick query on a host program, found and run like tools are: with nothing of the service's own environment. */
export const ask = (program: string, args: readonly string[]): Effect.Effect<Answer> =>
  Effect.acquireUseRelease(
    // Ansible always writes to its home, and an ordinary account can create no folder elsewhere
    Effect.promise(() => mkdtemp(join(tmpdir(), "rangewright-ask-"))),
    (home) =>
      Effect.callback<Answer>((resume) => {
        const env = { PATH: systemPath, LC_ALL: "C.UTF-8", HOME: home }
        execFile(program, args, { env, timeout: 20_000, cwd: "/" }, (error, stdout, stderr) => {
          const because = error === null ? "" : error.code === "ENOENT" ? "it is not installed" : stderr.trim() || error.message
          resume(Effect.succeed({ ok: error === null, output: stdout, because: because.slice(0, 300) }))
        })
      }),
    (home) => Effect.promise(() => rm(home, { recursive: true, force: true })),
  )

const isOwn = (folder: string): boolean => folder !== "/" && !`${folder}/`.startsWith("/usr/")

/** The folders that a script needs besides the system's own: the virtual environment in its first line, and its own folder. */
const foldersOf = async (file: string): Promise<readonly string[]> => {
  const path = await realpath(file)
  const start = Buffer.alloc(256)
  await using opened = await open(path)
  const { bytesRead } = await opened.read(start, 0, start.length, 0)
  const python = /^#! *(?<path>\/\S+)/u.exec(start.toString("latin1", 0, bytesRead))?.groups?.["path"]
  const environment = python === undefined ? [] : [dirname(dirname(python))]
  return [...new Set([...environment, dirname(path), dirname(file)])].filter(isOwn)
}

/** Folders besides the system's own that a program needs, read from its file without running it. None if it does not exist. */
export const programFolders = async (program: string): Promise<readonly string[]> => {
  for (const file of placesOf(program)) {
    const found = await foldersOf(file).catch(() => undefined)
    if (found !== undefined) return found
  }
  return []
}

/** Ansible's version, Python and modules folder, from the output of `--version` of any of its programs. */
export const readVersion = (output: string) => ({
  version: /\bcore (?<version>[0-9][^\]\s]*)/u.exec(output)?.groups?.["version"],
  modules: /python module location = (?<path>\/\S+)/u.exec(output)?.groups?.["path"],
  python: /python version = .*\((?<path>\/[^)]+)\)\s*$/mu.exec(output)?.groups?.["path"],
})

/** The oldest version that the playbooks and the installer are tested with. */
const oldest = [2, 14] as const

/** Why an Ansible of this version cannot be used; undefined when it can. */
export const versionProblem = (version: string): string | undefined => {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  return major < oldest[0] || (major === oldest[0] && minor < oldest[1])
    ? `ansible-core ${version} is too old; ${oldest.join(".")} or later is needed`
    : undefined
}

/** Folders of the host's collections, the configured ones first. `modules` is the folder of Ansible's own modules. */
export const hostCollectionFolders = (configured: readonly string[], modules: string | undefined): readonly string[] => [
  ...configured,
  "/usr/share/ansible/collections",
  // the `ansible` package installs them beside the modules
  ...(modules === undefined ? [] : [join(modules, "..")]),
]

const namesIn = (folder: string): Promise<readonly string[]> => readdir(folder).catch(() => [])

const versionIn = async (folder: string): Promise<string | undefined> => {
  try {
    const manifest: unknown = JSON.parse(await readFile(join(folder, "MANIFEST.json"), "utf8"))
    const info: unknown = Object(Object(manifest).collection_info).version
    return typeof info === "string" ? info : undefined
  } catch {
    return undefined
  }
}

/** The collections in these folders, by name, with their versions if known. The first folder that has one takes precedence. */
export const collectionsIn = async (folders: readonly string[]): Promise<ReadonlyMap<string, string | undefined>> => {
  const found = new Map<string, string | undefined>()
  for (const root of folders.map((folder) => join(folder, "ansible_collections")))
    for (const namespace of await namesIn(root))
      for (const own of await namesIn(join(root, namespace))) {
        const name = `${namespace}.${own}`
        if (collectionSegments(name) !== undefined && !found.has(name))
          found.set(name, await versionIn(join(root, namespace, own)))
      }
  return found
}

/** The collections of the host's Ansible, as its programs find them; `program` is one of them. */
export const hostCollections = (
  program: string,
  configured: readonly string[],
): Effect.Effect<ReadonlyMap<string, string | undefined>> =>
  Effect.flatMap(ask(program, ["--version"]), ({ output }) =>
    Effect.promise(() => collectionsIn(hostCollectionFolders(configured, readVersion(output).modules))),
  )
