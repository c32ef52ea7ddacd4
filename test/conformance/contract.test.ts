import { openApiDocument } from "@rangewright/adapter-http"
import { operations } from "@rangewright/application"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parse } from "yaml"
import { describe, expect, it } from "vitest"
import { contractIsThere, inContract, operationsOf, readContracts, sharedFolder, whyNoContract } from "./contract.ts"
import { startWholeService } from "./service.ts"

const contracts = readContracts()
const document = openApiDocument(operations, { version: "0.0.0" })
const offered = new Set(operations.map(({ id }) => id))

describe("the operations", () => {
  it("have unique ids", () => {
    expect(offered.size).toBe(operations.length)
  })

  it.skipIf(!contractIsThere)(`include every operation of the contract (skipped when ${whyNoContract})`, () => {
    const wanted = contracts === undefined ? [] : [...operationsOf(contracts.api), ...operationsOf(contracts.record)]
    const missing = wanted
      .filter((o) => o["x-optional"] !== true && !offered.has(o.operationId ?? o.label))
      .map((o) => o.operationId ?? o.label)
    expect(missing).toEqual([])
  })

  it.skipIf(!contractIsThere)(`have the ids and places of the contract, or are our own (skipped when ${whyNoContract})`, () => {
    if (contracts === undefined) return
    for (const operation of operations) {
      const found = inContract(contracts, operation)
      expect([operation.id, operation.origin === "ours" ? found?.operation.operationId : operation.id]).toEqual([
        operation.id,
        found?.operation.operationId,
      ])
    }
  })
})

describe("the OpenAPI description", () => {
  it("is served as YAML with the same content", async () => {
    const service = await startWholeService()
    const response = await fetch(`${service.url}/api/v2/openapi`, { headers: { "x-api-key": service.keys.member } })
    expect(parse(await response.text())).toEqual(JSON.parse(JSON.stringify(document)))
    await service.stop()
  })

  it("resolves every reference in it", () => {
    const text = JSON.stringify(document)
    const at = (pointer: string) =>
      pointer
        .split("/")
        .slice(1)
        .reduce<unknown>((node, part) => (node as Record<string, unknown> | undefined)?.[part], document)
    const references = [...new Set([...text.matchAll(/"\$ref":"([^"]+)"/gu)].map(([, reference]) => reference ?? ""))]
    expect(references.length).toBeGreaterThan(10)
    expect(references.filter((reference) => at(reference) === undefined)).toEqual([])
  })

  it.skipIf(!contractIsThere).each(["openapi.json", "record-api.json"])(
    `agrees with the contract in %s about every operation offered (skipped when ${whyNoContract})`,
    (contract) => {
      const folder = mkdtempSync(join(tmpdir(), "rangewright-openapi-"))
      const file = join(folder, "openapi.json")
      writeFileSync(file, JSON.stringify(document))
      const { stdout } = spawnSync(process.execPath, [
        join(sharedFolder, "tools/contract-diff.mjs"),
        "--json",
        "--contract",
        join(sharedFolder, "contract", contract),
        file,
      ])
      rmSync(folder, { recursive: true })
      const { findings, total } = JSON.parse(String(stdout)) as {
        findings: { kind: string; operation: string; what: string }[]
        total: number
      }
      expect(total).toBeGreaterThan(10)
      const differences = findings
        .filter(({ kind }) => kind !== "operation")
        .map(({ operation, what }) => `${operation}  ${what}`)
      expect(differences).toEqual([])
    },
  )
})
