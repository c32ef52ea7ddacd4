import type { Operation } from "../operation/operation.ts"
import { addUser } from "./add-user.ts"
import { deleteUser } from "./delete-user.ts"
import { diagnostics } from "./diagnostics.ts"
import { getApiKey } from "./get-api-key.ts"
import { getConfigExample } from "./get-config-example.ts"
import { getCredentials } from "./get-credentials.ts"
import { getDefaultRangeId } from "./get-default-range-id.ts"
import { getIndex } from "./get-index.ts"
import { getLicense } from "./get-license.ts"
import { getOpenApiSpec } from "./get-openapi-spec.ts"
import { listAllUsers } from "./list-all-users.ts"
import { listUser } from "./list-user.ts"
import { postCredentials } from "./post-credentials.ts"
import { recordAuthMethods } from "./record/record-auth-methods.ts"
import { recordHealth } from "./record/record-health.ts"
import { recordListUsers } from "./record/record-list-users.ts"
import { recordLogin } from "./record/record-login.ts"
import { recordRefresh } from "./record/record-refresh.ts"
import { recordUpdateUser } from "./record/record-update-user.ts"
import { setDefaultRangeId } from "./set-default-range-id.ts"
import { whoami } from "./whoami.ts"

const host = [getIndex, getLicense, diagnostics, getOpenApiSpec, recordHealth]
const user = [
  whoami,
  listUser,
  listAllUsers,
  addUser,
  deleteUser,
  getCredentials,
  postCredentials,
  getApiKey,
  getDefaultRangeId,
  setDefaultRangeId,
  recordLogin,
  recordRefresh,
  recordAuthMethods,
  recordListUsers,
  recordUpdateUser,
]
const range = [getConfigExample]

/** Every operation of the service. Routes, the OpenAPI document, the access matrix and the conformance tests are made from this list. */
export const operations: readonly Operation[] = [...host, ...user, ...range]
