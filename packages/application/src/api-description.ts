import * as Context from "effect/Context"

/** The OpenAPI document as YAML. Rendered from the registry by the adapter that serves it. */
export class ApiDescription extends Context.Service<ApiDescription, { readonly yaml: string }>()("rangewright/ApiDescription") {}
