import type { Fault, Source, User } from "@rangewright/domain"
import type { ContentFetcher, SecretStore, Sources } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { RunEngine } from "@rangewright/run-engine"
import type { StoredFile } from "../operation/operation.ts"
import { asRefusal } from "./content-refused.ts"
import { runFetch } from "./fetch-run.ts"
import { installFrom, type InstallResult, type InstallServices } from "./install.ts"
import { installedSelection } from "./installed-selection.ts"
import type { SourceContents } from "./source-contents.ts"

/** Replaces the archive of an upload and reinstalls what was installed from it. A bad archive changes nothing. */
export const updateArchive = Effect.fnUntraced(function* (
  source: Source,
  archive: StoredFile,
  user: User,
  options: { readonly global: boolean; readonly force: boolean },
): Effect.fn.Return<InstallResult, Fault, ContentFetcher | InstallServices | RunEngine | SecretStore | SourceContents | Sources> {
  const work = Effect.gen(function* () {
    const fetched = yield* runFetch(source, { manifest: true, archive }, user.id)
    const target = { user: user.id, userRecord: user.recordId, global: options.global }
    const selection = yield* installedSelection(source, fetched.content.content, target)
    return yield* installFrom({ ...fetched, ...target }, { selection, force: options.force })
  })
  return yield* Effect.mapError(work, asRefusal)
})
