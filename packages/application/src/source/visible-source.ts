import { isSourceId, type Source, SourceNotFound, type User } from "@rangewright/domain"
import { Sources, type StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** Parameters of every operation on sources: whether a user is named matters, even if it is the caller. */
export const actingAs = { userID: Schema.optionalKey(Schema.String) } as const

/** The viewer, and whether the call names a user to act as. */
export interface Viewer {
  readonly user: User
  readonly query: { readonly userID?: string }
}

/** Whose sources the viewer sees: everybody's for administrators who act for themselves, else the user's own. */
const seenBy = ({ user, query }: Viewer): { readonly owner?: User["id"] } =>
  user.isAdmin && query.userID === undefined ? {} : { owner: user.id }

/** The sources that the viewer sees, the newest first. */
export const visibleSources = (viewer: Viewer) => Effect.flatMap(Sources, (sources) => sources.list(seenBy(viewer)))

/** The source, for those who may see it; not found for all others. */
export const visibleSource = Effect.fnUntraced(function* (
  id: string,
  viewer: Viewer,
): Effect.fn.Return<Source, SourceNotFound | StorageFault, Sources> {
  const sources = yield* Sources
  const source = isSourceId(id) ? yield* sources.find(id) : undefined
  const { owner } = seenBy(viewer)
  if (source !== undefined && (owner === undefined || source.owner === owner)) return source
  return yield* new SourceNotFound({ source: id.slice(0, 255) })
})
