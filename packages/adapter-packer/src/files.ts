import { endProcessesBelow, removeFolder } from "@rangewright/host-tools"
import { BuildFault, type TemplateBuild } from "@rangewright/ports"
import type { RunId } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises"
import { dirname, join, normalize } from "node:path"

/** Folders of a build on this host. Packer writes only to `work`. */
export interface Places {
  readonly template: string
  readonly work: string
}

const folderOf = (folder: string, id: RunId): string => join(folder, encodeURIComponent(id).replaceAll(".", "%2E"))

export const failed = (doing: string, detail: string, hint?: string): BuildFault =>
  new BuildFault({ doing, reason: "failed", detail, ...(hint === undefined ? {} : { hint }) })

const attempt = <A>(doing: string, work: () => Promise<A>): Effect.Effect<A, BuildFault> =>
  Effect.tryPromise({
    try: work,
    catch: (cause) => failed(doing, `the service's host failed: ${cause instanceof Error ? cause.message : String(cause)}`),
  })

/** Ends and removes the processes and files of a build left by a killed service. */
export const clearBuild = (folder: string, id: RunId): Effect.Effect<void, BuildFault> =>
  attempt(`clear the files of build ${id}`, async () => {
    await endProcessesBelow(folderOf(folder, id))
    await removeFolder(folderOf(folder, id))
  })

/** Whether a path leads out of its folder. */
const leaves = (path: string): boolean => path === "" || normalize(path).startsWith("..") || path.startsWith("/")

/** Creates the folders of one build with the template's files; they are removed when the scope ends. */
export const buildFolders = (
  folder: string,
  { id, files }: Pick<TemplateBuild, "id" | "files">,
  doing: string,
): Effect.Effect<Places, BuildFault, Scope.Scope> =>
  Effect.gen(function* () {
    const own = folderOf(folder, id)
    const places = { template: join(own, "template"), work: join(own, "work") }
    yield* clearBuild(folder, id)
    yield* Effect.acquireRelease(
      attempt(doing, async () => {
        for (const path of ["home", "tmp", "cache"]) await mkdir(join(places.work, path), { recursive: true, mode: 0o700 })
        await mkdir(places.template, { recursive: true, mode: 0o700 })
      }),
      () => Effect.ignore(clearBuild(folder, id)),
    )
    for (const file of files) {
      if (leaves(file.path)) return yield* failed(doing, `the template's file ${file.path} is outside its folder`)
      const path = join(places.template, file.path)
      yield* attempt(doing, () => mkdir(dirname(path), { recursive: true, mode: 0o700 }))
      if (file.kind === "link") yield* attempt(doing, () => symlink(file.target, path))
      else {
        const bytes = yield* Effect.mapError(file.read, ({ message }) => failed(doing, message))
        yield* attempt(doing, async () => {
          await writeFile(path, bytes, { mode: 0o600, flag: "wx" })
          if (file.executable) await chmod(path, 0o700)
        })
      }
    }
    return places
  })
