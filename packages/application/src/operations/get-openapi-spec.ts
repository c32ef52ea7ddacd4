import * as Effect from "effect/Effect"
import { ApiDescription } from "../api-description.ts"
import { operation } from "../operation/operation.ts"

export const getOpenApiSpec = operation({
  id: "getOpenAPISpec",
  route: "GET /openapi",
  group: "Host",
  does: "read the description of this API",
  summary: "This API, described as OpenAPI",
  access: "user",
  target: "none",
  output: { type: "text", contentType: "text/yaml" },
  statuses: { 200: "the description, as YAML", 400: undefined, 401: "no valid credentials" },
  handle: () => Effect.map(ApiDescription, (description) => description.yaml),
})
