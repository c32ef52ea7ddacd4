import { openApiDocument } from "@rangewright/adapter-http"
import { operations } from "@rangewright/application"
import { version } from "../version.ts"

/** Prints the OpenAPI document as JSON without starting anything. */
export const printOpenApi = (): number => {
  process.stdout.write(`${JSON.stringify(openApiDocument(operations, { version }), null, 2)}\n`)
  return 0
}
