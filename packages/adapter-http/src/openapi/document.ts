import { ApiDescription, type Operation } from "@rangewright/application"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { stringify } from "yaml"
import type { WireSchema } from "@rangewright/application"
import { parametersOf } from "./parameters.ts"
import { namedSchemas, type NamedSchemas, type SchemaObject } from "./schemas.ts"

/** The whole API as OpenAPI 3.1. */
export type OpenApiDocument = Readonly<Record<string, unknown>>

const json = (schema: SchemaObject) => ({ "application/json": { schema } })

const contentOf = ({ output }: Operation, { describe }: NamedSchemas): SchemaObject => {
  switch (output.type) {
    case "json":
    case "prepared-json":
    case "marked-json":
    case "session":
      return json(describe(output.schema))
    case "text":
      return { [output.contentType.split(";")[0] ?? output.contentType]: { schema: { type: "string" } } }
    case "binary":
    case "download":
      return { [output.contentType]: { schema: { type: "string", format: "binary" } } }
    case "json-or-download":
    case "json-or-file":
      return { ...json(describe(output.schema)), [output.contentType]: { schema: { type: "string" } } }
    case "json-or-zip":
      return { "application/zip": { schema: { type: "string", format: "binary" } }, ...json(describe(output.schema)) }
    case "zip":
      return { "application/zip": { schema: { type: "string", format: "binary" } } }
    case "socket":
      return {}
    case "events":
      return {
        "text/event-stream": {
          schema: { type: "string", contentMediaType: "application/json", contentSchema: describe(output.schema) },
        },
      }
  }
}

const bodyOf = ({ input: { body } }: Operation, { describe }: NamedSchemas): SchemaObject | undefined => {
  switch (body.type) {
    case "none":
      return undefined
    case "json":
      return { required: body.required, content: json(describe(body.schema)) }
    case "json-or-multipart": {
      const schema = describe(body.schema)
      const properties = { ...(schema["properties"] as SchemaObject), [body.file]: { type: "string", format: "binary" } }
      return { required: true, content: { ...json(schema), "multipart/form-data": { schema: { type: "object", properties } } } }
    }
    case "multipart": {
      const fields = describe(Schema.Struct(body.fields) as unknown as WireSchema)
      const properties = { ...(fields["properties"] as SchemaObject), [body.file]: { type: "string", format: "binary" } }
      return {
        required: true,
        content: { "multipart/form-data": { schema: { type: "object", required: [body.file], properties } } },
      }
    }
  }
}

/** Headers that may accompany a list or a versioned resource. */
const marks = {
  Link: { description: 'The next page, where there is one: `</api/v2/…>; rel="next"`', schema: { type: "string" } },
  ETag: { description: "The version of the answer, for If-Match", schema: { type: "string" } },
}

const responsesOf = (operation: Operation, schemas: NamedSchemas): SchemaObject => {
  const form = operation.route.base === "/" ? "Record" : ""
  const failure = { $ref: `#/components/responses/${form}Failure` }
  const throttled = { $ref: `#/components/responses/${form}Throttled` }
  return Object.fromEntries(
    Object.entries(operation.statuses).map(([status, description]) => [
      status,
      Number(status) < 300
        ? {
            description,
            ...(operation.output.type === "marked-json" ? { headers: marks } : {}),
            ...(status === "101" ? {} : { content: contentOf(operation, schemas) }),
          }
        : { ...(status === "429" ? throttled : failure), description },
    ]),
  )
}

const describeOperation = (operation: Operation, schemas: NamedSchemas): SchemaObject => {
  const parameters = parametersOf(operation, schemas)
  const requestBody = bodyOf(operation, schemas)
  return {
    operationId: operation.id,
    summary: operation.summary,
    tags: [operation.group],
    "x-group": operation.group,
    "x-access": operation.access,
    ...(operation.accessNote === undefined ? {} : { "x-access-note": operation.accessNote }),
    "x-tier": operation.tier,
    "x-origin": operation.origin,
    "x-statuses": operation.statuses,
    ...(operation.access === "anonymous" ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: responsesOf(operation, schemas),
  }
}

const string = { type: "string" } as const
const Issue = {
  type: "object",
  required: ["path", "message"],
  properties: { path: string, message: string, line: { type: "integer" }, column: { type: "integer" }, allowed: string },
}
/** The two formats of a failure, as `problem.ts` writes them. */
const failures: Readonly<Record<string, SchemaObject>> = {
  ErrorBody: {
    type: "object",
    required: ["error", "type", "title", "status", "detail", "requestId"],
    properties: {
      error: { ...string, description: "What went wrong, and what to do" },
      type: string,
      title: string,
      status: { type: "integer" },
      detail: string,
      hint: string,
      requestId: string,
      issues: { type: "array", items: Issue },
    },
  },
  RecordError: {
    type: "object",
    required: ["status", "message", "data"],
    properties: {
      status: { type: "integer" },
      message: string,
      data: {
        type: "object",
        additionalProperties: { type: "object", required: ["code", "message"], properties: { code: string, message: string } },
      },
    },
  },
}

const failureResponse = (schema: string) => ({
  description: "refused or failed",
  content: json({ $ref: `#/components/schemas/${schema}` }),
})

const throttledResponse = (schema: string) => ({
  ...failureResponse(schema),
  headers: { "Retry-After": { description: "Seconds to wait", schema: { type: "integer" } } },
})

/** Describes the operations, using only facts from the registry. Paths that are not below `/api/v2` have their own server. */
export const openApiDocument = (operations: readonly Operation[], { version }: { readonly version: string }): OpenApiDocument => {
  const schemas = namedSchemas()
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of operations) {
    const { path, method, base } = operation.route
    const item = (paths[path] ??= base === "/api/v2" ? {} : { servers: [{ url: base }] })
    item[method.toLowerCase()] = describeOperation(operation, schemas)
  }
  return {
    openapi: "3.1.0",
    info: { title: "Rangewright", version, description: "Builds, runs and changes lab environments on Proxmox VE." },
    servers: [{ url: "/api/v2" }],
    security: [{ bearer: [] }, { apiKey: [] }, { session: [] }],
    tags: [...new Set(operations.map(({ group }) => group))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" },
        apiKey: { type: "apiKey", in: "header", name: "X-API-KEY" },
        session: { type: "apiKey", in: "cookie", name: "__Host-rangewright" },
      },
      responses: {
        Failure: failureResponse("ErrorBody"),
        RecordFailure: failureResponse("RecordError"),
        Throttled: throttledResponse("ErrorBody"),
        RecordThrottled: throttledResponse("RecordError"),
      },
      schemas: { ...schemas.all, ...failures },
    },
  }
}

/** The document served by `GET /openapi`; generated on first request. */
export const apiDescriptionLayer = (
  operations: readonly Operation[],
  about: { readonly version: string },
): Layer.Layer<ApiDescription> =>
  Layer.sync(ApiDescription, () => {
    let made: string | undefined
    return {
      get yaml() {
        return (made ??= stringify(openApiDocument(operations, about), { aliasDuplicateObjects: false }))
      },
    }
  })
