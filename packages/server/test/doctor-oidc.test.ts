import * as Effect from "effect/Effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { expect, it } from "vitest"
import { loadConfig } from "../src/config/config.ts"
import { checkProvider } from "../src/doctor/oidc-checks.ts"

it("doctor says where people sign in, and warns where the provider says or answers nothing", async () => {
  const check = (environment: Readonly<Record<string, string>>) =>
    Effect.runPromise(checkProvider(loadConfig({ file: undefined, environment })))
  expect(await check({})).toEqual([])

  let issuer = ""
  const server = createServer((_, response) => {
    const document = { issuer, authorization_endpoint: `${issuer}/authorize` }
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(document))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const configured = {
    RANGEWRIGHT_OIDC_ISSUER: issuer,
    RANGEWRIGHT_OIDC_CLIENT_ID: "rangewright",
    RANGEWRIGHT_OIDC_CLIENT_SECRET: "very secret",
    RANGEWRIGHT_OIDC_PUBLIC_URL: "https://lab.example.org",
  }
  expect(await check(configured)).toMatchObject([{ level: "ok", what: "oidc_issuer", detail: `people sign in at ${issuer}` }])
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  const away = await check(configured)
  expect(away).toMatchObject([
    { level: "warn", what: "oidc_issuer", detail: expect.stringContaining("cannot be reached") as string },
  ])
  expect(JSON.stringify(away)).not.toContain("very secret")
})
