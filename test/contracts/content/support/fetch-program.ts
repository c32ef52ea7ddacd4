/** Fetches a repository in a process of its own, as its arguments say. For tests that kill it: their git writes where none in a sandbox could. */
import { contentLayer } from "@rangewright/adapter-git"
import { ContentFetcher } from "@rangewright/ports"
import * as Effect from "effect/Effect"

const [folder = "", allowed = "", git = "", url = ""] = process.argv.slice(2)

await Effect.runPromise(
  ContentFetcher.use((fetcher) => fetcher.fetch({ location: { type: "git", url }, holder: "test" })).pipe(
    Effect.provide(contentLayer({ folder, schemes: ["file"], folders: [allowed], git, tools: { sandbox: "off" } })),
  ),
)
