import { ContentFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { Doing } from "../faults.ts"
import type { GitTree } from "./list-tree.ts"
import { collect } from "./process.ts"
import type { Repository } from "./repository.ts"

const file = ".gitmodules"
const maxBytes = 256 * 1024

/** Path and URL text of every submodule of a commit according to `.gitmodules`; URLs are not checked yet. */
export const submodulesOf = (
  doing: Doing,
  repository: Repository,
  commit: string,
  tree: GitTree,
): Effect.Effect<readonly { readonly path: string; readonly commit: string; readonly url: string }[], ContentFault> =>
  Effect.gen(function* () {
    if (tree.submodules.length === 0) return []
    const broken = (item: string, detail: string) =>
      new ContentFault({ doing, reason: "broken", rule: "submodule", item, detail })
    const entry = tree.files.find(({ path }) => path === file)
    if (entry?.kind !== "file" || entry.size > maxBytes)
      return yield* broken(file, "there are submodules, but no .gitmodules file")
    const printed = yield* repository.run(
      ["config", `--blob=${commit}:${file}`, "--no-includes", "--null", "--get-regexp", String.raw`^submodule\..*\.(path|url)$`],
      collect(doing, 2 * maxBytes),
    )
    const urls = new Map<string, { path?: string; url?: string }>()
    for (const record of printed.toString().split("\0")) {
      const { name, key, value } =
        /^submodule\.(?<name>[\s\S]*)\.(?<key>path|url)\n(?<value>[\s\S]*)$/u.exec(record)?.groups ?? {}
      if (name === undefined || value === undefined) continue
      urls.set(name, { ...urls.get(name), [key === "path" ? "path" : "url"]: value })
    }
    const byPath = new Map([...urls.values()].map(({ path, url }) => [path, url]))
    return yield* Effect.forEach(tree.submodules, ({ path, commit: at }) => {
      const url = byPath.get(path)
      return url === undefined
        ? Effect.fail(broken(path, `no URL in ${file} belongs to this submodule`))
        : Effect.succeed({ path, commit: at, url })
    })
  })
