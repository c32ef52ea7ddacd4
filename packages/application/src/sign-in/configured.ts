import { NotFound } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import { Settings, type SingleSignOn } from "../settings.ts"

/** The page to which the provider sends browsers back. */
const returnPath = "/ui/login/return"

export const returnUrl = ({ origin }: SingleSignOn): string => `${origin}${returnPath}`

/** Every address to which the provider may redirect a browser for us. */
export const redirectUrlsOf = (sso: SingleSignOn): readonly string[] => [returnUrl(sso), ...sso.redirectUrls]

const off = new NotFound({ what: "Cannot sign in with an identity provider: none is configured" })

/** Fails if there is no provider. */
export const configuredSingleSignOn: Effect.Effect<SingleSignOn, NotFound, Settings> = Effect.flatMap(
  Settings,
  ({ singleSignOn }) => (singleSignOn === undefined ? Effect.fail(off) : Effect.succeed(singleSignOn)),
)
