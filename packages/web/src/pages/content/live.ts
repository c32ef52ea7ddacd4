import type { LiveEvent } from "../../live/live.ts"

const ofSubject =
  (type: string) =>
  ({ topic, data }: LiveEvent): boolean =>
    topic === "run" && (data["subject"] as { readonly type?: unknown } | undefined)?.type === type

/** An event of a run that fetches a source or installs from it. */
export const ofSources = ofSubject("source")

/** An event of a run that builds a template. */
export const ofTemplates = ofSubject("template")
