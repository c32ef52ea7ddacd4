import type { Operation } from "@rangewright/application"
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { Schema } from "./json-schema.ts"

interface Response {
  readonly $ref?: string
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>
}
export interface ContractOperation {
  readonly operationId?: string
  readonly "x-statuses"?: Readonly<Record<string, string>>
  readonly "x-optional"?: boolean
  readonly responses: Readonly<Record<string, Response>>
}
export interface Contract {
  readonly paths: Readonly<Record<string, Readonly<Record<string, ContractOperation>>>>
}

/** The wire contract is kept next to the repository; without it, the tests that read it are skipped. */
export const sharedFolder = fileURLToPath(new URL("../../../shared/", import.meta.url))
export const contractIsThere = existsSync(`${sharedFolder}contract/openapi.json`)
export const whyNoContract = `the wire contract is not at ${sharedFolder.split("/").slice(-2).join("/")} beside the repository`

const read = (name: string): Contract => JSON.parse(readFileSync(`${sharedFolder}contract/${name}`, "utf8")) as Contract

export interface Contracts {
  readonly api: Contract
  readonly record: Contract
}
export const readContracts = (): Contracts | undefined =>
  contractIsThere ? { api: read("openapi.json"), record: read("record-api.json") } : undefined

/** Finds an operation of ours in the contract: parameters may have other names. */
export const inContract = (
  contracts: Contracts,
  { route }: Operation,
): { readonly contract: Contract; readonly operation: ContractOperation } | undefined => {
  const contract = route.base === "/" ? contracts.record : contracts.api
  const plain = (path: string) => path.replace(/\{\w+\}/gu, "{}")
  const path = Object.keys(contract.paths).find((candidate) => plain(candidate) === plain(route.path))
  const operation = path === undefined ? undefined : contract.paths[path]?.[route.method.toLowerCase()]
  return operation === undefined ? undefined : { contract, operation }
}

/** Every operation of a contract by its id. */
export const operationsOf = (contract: Contract): readonly (ContractOperation & { readonly label: string })[] =>
  Object.entries(contract.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => ["get", "put", "post", "patch", "delete"].includes(method))
      .map(([method, operation]) => ({ ...operation, label: `${method.toUpperCase()} ${path}` })),
  )

/** The schema for a success with this status; undefined when the contract describes no JSON for it. */
export const successSchema = (operation: ContractOperation, status: number): Schema | undefined =>
  operation.responses[String(status)]?.content?.["application/json"]?.schema
