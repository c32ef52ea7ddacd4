import type { Operation } from "../operation/operation.ts"
import { getConfigExample } from "./get-config-example.ts"

/** Every operation of the service. Routes, the OpenAPI document, the access matrix and the conformance tests are made from this list. */
export const operations: readonly Operation[] = [getConfigExample]
