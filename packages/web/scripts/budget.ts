import { readdirSync, readFileSync } from "node:fs"
import { extname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { brotliCompressSync } from "node:zlib"

/** What people load before they see the page: each file of the document, compressed as the service sends it. */
const limits = { ".js": 45_000, ".css": 12_000 } as const
/** What a part that is loaded later may weigh: the editor of configurations, and any other, of which the viewer of consoles is the largest. */
const later = (file: string): number => (file.startsWith("assets/editor-") ? 130_000 : 60_000)

const dist = fileURLToPath(new URL("../dist/", import.meta.url))
const size = (file: string): number => brotliCompressSync(readFileSync(join(dist, file))).length

const document = readFileSync(join(dist, "index.html"), "utf8")
const first = [...document.matchAll(/(?:href|src)="\/ui\/(assets\/[^"]+)"/gu)].map(([, file]) => file ?? "")
const problems: string[] = []

for (const [extension, limit] of Object.entries(limits)) {
  const bytes = first.filter((file) => extname(file) === extension).reduce((sum, file) => sum + size(file), 0)
  process.stdout.write(`page: first load ${extension} ${bytes} of ${limit} bytes\n`)
  if (bytes > limit)
    problems.push(
      `The page loads ${bytes} bytes of ${extension} first; ${limit} are allowed. Load what is not needed at once later.`,
    )
}
for (const file of readdirSync(join(dist, "assets")).map((name) => `assets/${name}`)) {
  if (first.includes(file) || extname(file) !== ".js") continue
  const bytes = size(file)
  if (bytes > later(file))
    problems.push(`${file} has ${bytes} bytes; ${later(file)} are allowed for a part that is loaded later.`)
}

for (const problem of problems) process.stderr.write(`${problem}\n`)
process.exitCode = problems.length === 0 ? 0 : 1
