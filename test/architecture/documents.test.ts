import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { neededPrivileges } from "../../packages/adapter-proxmox/src/access/roles.ts"
import { configurationDocument } from "../../packages/server/src/config/document.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

test("docs/configuration.md matches the declaration of the settings", () => {
  const written = readFileSync(join(root, "docs/configuration.md"), "utf8")
  expect(written, "run npm run docs").toBe(configurationDocument())
})

test("the documented role of the token has exactly the privileges that the service needs", () => {
  const guide = readFileSync(join(root, "docs/guides/install.md"), "utf8")
  const role = /--privs "([^"]+)"/u.exec(guide)?.[1]?.split(" ") ?? []
  expect(new Set(role)).toEqual(new Set(Object.values(neededPrivileges).flat()))
})

const documents = globSync("**/*.md", { cwd: root, exclude: ["**/node_modules", "**/dist", "artifacts", "bench/results"] }).map(
  (name) => ({ name, text: readFileSync(join(root, name), "utf8") }),
)

/** Lines of prose wider than 120 characters. Tables and code may be wider. */
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
  const found = documents.flatMap(({ name, text }) => tooWide(text).map((line) => `${name}: ${line}`))
  expect(found, "run npm run format").toEqual([])
})

const proseOf = (text: string): string => text.replaceAll(/```.*?```/gsu, "")

/** The anchors of a document's headings, as they are shown on the web. */
const anchorsOf = (text: string): ReadonlySet<string> =>
  new Set(
    [...proseOf(text).matchAll(/^#+ (.+)$/gmu)].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  )

test("links between documents lead to files and headings that exist", () => {
  const links = documents.flatMap(({ name, text }) =>
    [...proseOf(text).matchAll(/\]\(([^)#\s]*)(?:#([^)\s]+))?\)/gu)].map(([, target = "", anchor]) => ({ name, target, anchor })),
  )
  const local = links.filter(({ target }) => !/^[a-z]+:/u.test(target))
  expect(local.length).toBeGreaterThan(50)
  const pathOf = ({ name, target }: (typeof local)[number]): string => (target === "" ? name : join(dirname(name), target))
  expect(local.filter((link) => !existsSync(join(root, pathOf(link))))).toEqual([])
  const anchored = local.filter(({ anchor }) => anchor !== undefined)
  expect(anchored.length).toBeGreaterThan(3)
  expect(anchored.filter((link) => !anchorsOf(readFileSync(join(root, pathOf(link)), "utf8")).has(link.anchor ?? ""))).toEqual([])
})
