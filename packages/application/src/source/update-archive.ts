import type { Fault, Selection, Source, SourceContent, User } from "@rangewright/domain"
import { stillShipped } from "@rangewright/domain"
import { Blueprints, type ClaimKind, type ContentFetcher, type SecretStore, Sources, type StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { StoredFile } from "../operation/operation.ts"
import { asRefusal } from "./content-refused.ts"
import { fetchSource } from "./fetch-source.ts"
import { installFrom, type InstallResult } from "./install.ts"
import type { InstallServices } from "./install-steps.ts"
import { SourceContents } from "./source-contents.ts"

/** What was installed from the source, for whomever, as far as it still ships it: an update applies that again and never more. */
const installedBefore = Effect.fnUntraced(function* (
  source: Source,
  content: SourceContent,
): Effect.fn.Return<Selection, StorageFault, Blueprints | Sources> {
  const rows = yield* (yield* Blueprints).list({ ofSource: source.recordId })
  const claims = yield* (yield* Sources).claims(source.recordId)
  const claimed = (kind: ClaimKind) => claims.flatMap((claim) => (claim.kind === kind ? [claim.name] : []))
  return stillShipped(content, {
    blueprints: rows.flatMap(({ origin }) => (origin === undefined ? [] : [origin.sourceBlueprintID])),
    templates: claimed("template"),
    localRoles: claimed("local-role"),
    localCollections: claimed("local-collection"),
  })
})

/** Gives an upload another archive and installs again what was installed from it (contract C 2.4, 6.3). A bad archive changes nothing. */
export const updateArchive = Effect.fnUntraced(function* (
  source: Source,
  archive: StoredFile,
  user: User,
  options: { readonly global: boolean; readonly force: boolean },
): Effect.fn.Return<InstallResult, Fault, ContentFetcher | InstallServices | SecretStore | SourceContents | Sources> {
  const work = Effect.gen(function* () {
    const fetched = yield* fetchSource(source, { archive, with: { manifest: true } })
    const selection = yield* installedBefore(source, fetched.content.content)
    const target = { user: user.id, global: options.global }
    return yield* installFrom({ ...fetched, ...target }, { selection, force: options.force })
  })
  return yield* Effect.mapError(work, asRefusal).pipe((yield* SourceContents).alone(source))
})
