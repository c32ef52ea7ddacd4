import type { User } from "@rangewright/domain"
import * as Effect from "effect/Effect"

/** A build of a template that goes on. */
export interface RunningBuild {
  readonly template: string
  readonly by: User
}

/** The builds that go on, of all users. There are none: nothing builds templates yet. */
export const runningBuilds: Effect.Effect<readonly RunningBuild[]> = Effect.succeed([])
