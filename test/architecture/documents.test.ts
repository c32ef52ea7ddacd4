import { globSync, readFileSync } from "node:fs"
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

/** Lines of prose wider than 120 characters. Tables and code are as wide as what they show. */
const tooWide = (text: string): readonly string[] => {
  let code = false
  return text.split("\n").filter((line) => {
    const fence = line.trimStart().startsWith("```")
    if (fence) code = !code
    return !fence && !code && !line.trimStart().startsWith("|") && line.length > 120
  })
}

test("prose in Markdown is wrapped at 120 characters", () => {
  const wide = "x".repeat(121)
  expect(tooWide(["```sh", wide, "```", `| ${wide} |`, wide].join("\n"))).toEqual([wide])
  const root = fileURLToPath(new URL("../..", import.meta.url))
  const documents = globSync("**/*.md", { cwd: root, exclude: ["**/node_modules", "**/dist", "artifacts", "bench/results"] })
  expect(documents).toContain("README.md")
  const found = documents.flatMap((name) => tooWide(readFileSync(`${root}${name}`, "utf8")).map((line) => `${name}: ${line}`))
  expect(found, "run npm run format").toEqual([])
})
