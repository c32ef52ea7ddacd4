import { defineFault } from "@rangewright/domain"

export class BodyTooLarge extends defineFault(
  "BodyTooLarge",
  "too-large",
  (f: { readonly what: string; readonly limit: number }) => ({
    message: `Cannot accept ${f.what}: it is larger than ${f.limit} bytes`,
  }),
) {}

/** As much of an unknown path as a person needs to see the mistake. */
const shown = (path: string): string => (path.length > 200 ? `${path.slice(0, 200)}…` : path)

export class RouteNotFound extends defineFault(
  "RouteNotFound",
  "not-found",
  (f: { readonly method: string; readonly path: string }) => ({
    message: `not found: there is no ${f.method} ${shown(f.path)}`,
    hint: "GET /api/v2/openapi lists the operations; letter case and a trailing slash matter.",
  }),
) {}
