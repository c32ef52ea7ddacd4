import { defineFault } from "@rangewright/domain"

export class BodyTooLarge extends defineFault(
  "BodyTooLarge",
  "too-large",
  (f: { readonly what: string; readonly limit: number }) => ({
    message: `Cannot accept ${f.what}: it is larger than ${f.limit} bytes`,
  }),
) {}

export class RouteNotFound extends defineFault("RouteNotFound", "not-found", (f: { readonly method: string }) => ({
  message: `not found: no operation answers ${f.method} on this path`,
  hint: "GET /api/v2/openapi lists the operations.",
})) {}
