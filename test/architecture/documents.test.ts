import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { neededPrivileges } from "../../packages/adapter-proxmox/src/access/roles.ts"
import { configurationDocument } from "../../packages/server/src/config/document.ts"

test("docs/configuration.md says what the declaration of the keys says", () => {
  const written = readFileSync(fileURLToPath(new URL("../../docs/configuration.md", import.meta.url)), "utf8")
  expect(written, "run npm run docs").toBe(configurationDocument())
})

test("the README's role for the token has exactly the privileges that the service needs", () => {
  const readme = readFileSync(fileURLToPath(new URL("../../README.md", import.meta.url)), "utf8")
  const role = /--privs "([^"]+)"/u.exec(readme)?.[1]?.split(" ") ?? []
  expect(new Set(role)).toEqual(new Set(Object.values(neededPrivileges).flat()))
})
