import { createHash } from "node:crypto"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { extname, join } from "node:path"
import { promisify } from "node:util"
import { brotliCompress, constants, gzip } from "node:zlib"
import type { Context, Middleware } from "koa"
import { RouteNotFound } from "./faults.ts"
import { problemOf } from "./problem.ts"
import { reply, replyNotModified, replyProblem } from "./reply.ts"
import type { HeaderList, RequestState } from "./request-state.ts"

/** What our documents may do: run our own files, and connect to us. */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

const permissions =
  "accelerometer=(), autoplay=(), camera=(), display-capture=(), encrypted-media=(), geolocation=(), gyroscope=(), magnetometer=(), microphone=(), midi=(), payment=(), picture-in-picture=(), publickey-credentials-get=(), screen-wake-lock=(), usb=(), xr-spatial-tracking=(), clipboard-read=(self), clipboard-write=(self), fullscreen=(self)"

/** The headers of everything below `/ui`, replacing those of the API: no other origin may read any of it. */
export const uiHeaders = (strictTransport: boolean): HeaderList => [
  "X-Content-Type-Options",
  "nosniff",
  "X-Frame-Options",
  "DENY",
  // switches off the browser's XSS filter, which leaked what it filtered
  "X-XSS-Protection",
  "0",
  "Referrer-Policy",
  "no-referrer",
  "Cross-Origin-Opener-Policy",
  "same-origin",
  "Cross-Origin-Resource-Policy",
  "same-origin",
  "Permissions-Policy",
  permissions,
  ...(strictTransport ? ["Strict-Transport-Security", "max-age=31536000"] : []),
  "Cache-Control",
  "no-store",
]

export const isUiPath = (path: string): boolean => path === "/ui" || path.startsWith("/ui/")

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json",
  ".webmanifest": "application/manifest+json",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/vnd.microsoft.icon",
  ".woff2": "font/woff2",
  ".txt": "text/plain; charset=utf-8",
  ".wasm": "application/wasm",
}

type Encoding = "br" | "gzip"
const encodings: readonly Encoding[] = ["br", "gzip"]
const endings: Readonly<Record<Encoding, string>> = { br: ".br", gzip: ".gz" }
/** Images and fonts are already compressed. */
const compressible = /^(?:text\/|application\/|image\/svg)/u

/** One file, ready to be sent. */
interface UiFile {
  readonly type: string
  readonly bodies: Readonly<{ plain: Uint8Array } & Partial<Record<Encoding, Uint8Array>>>
  readonly headers: HeaderList
  readonly etag: string
}

/** The built page: its files by path below `/ui/`, as they were when read. */
export type UiFiles = ReadonlyMap<string, UiFile>

const indexPath = "index.html"
/** Limits that no page of ours exceeds. */
const mostFiles = 2_000
const mostBytes = 64 * 1024 * 1024

const compressed = {
  br: (bytes: Uint8Array) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (bytes: Uint8Array) => promisify(gzip)(bytes, { level: 9 }),
} as const

const headersOf = (path: string, type: string, etag: string, strictTransport: boolean): HeaderList => {
  const common = uiHeaders(strictTransport).slice(0, -2)
  const caching = path.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache"
  // an image opened by itself is a document too
  const isDocument = type.startsWith("text/html") || type.startsWith("image/svg")
  return [
    ...common,
    ...(isDocument ? ["Content-Security-Policy", contentSecurityPolicy] : []),
    "Cache-Control",
    caching,
    "ETag",
    etag,
    "Vary",
    "Accept-Encoding",
  ]
}

const uiFile = async (
  path: string,
  plain: Uint8Array,
  ready: ReadonlyMap<string, Uint8Array>,
  strictTransport: boolean,
): Promise<UiFile> => {
  const type = types[extname(path).toLowerCase()] ?? "application/octet-stream"
  const etag = `"${createHash("sha256").update(plain).digest("base64url").slice(0, 22)}"`
  const bodies: { plain: Uint8Array } & Partial<Record<Encoding, Uint8Array>> = { plain }
  if (compressible.test(type))
    for (const encoding of encodings) {
      const body = ready.get(path + endings[encoding]) ?? (await compressed[encoding](plain))
      if (body.length < plain.length) bodies[encoding] = body
    }
  return { type, bodies, etag, headers: headersOf(path, type, etag, strictTransport) }
}

const notBuilt = Buffer.from(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Rangewright</title>
<h1>The web page is not built</h1>
<p>The service runs, and its API is at <a href="/api/v2/openapi">/api/v2/openapi</a>. The files of the page are missing.</p>
<p>In a clone of the repository, <code>npm run setup</code> builds them; or set <code>web_folder</code> to another folder. Then restart the service.</p>
</html>
`)

/** Served when no page was built. */
const withoutPage = async (strictTransport: boolean): Promise<UiFiles> =>
  new Map([[indexPath, await uiFile(indexPath, notBuilt, new Map(), strictTransport)]])

const isMissing = (error: unknown): boolean =>
  ["ENOENT", "ENOTDIR"].includes(((error as NodeJS.ErrnoException | undefined)?.code ?? "") as string)

/**
 * Reads the built page: every regular file of the folder except those whose own or folder's name begins with a dot. Nothing is read later,
 * so no request can name a file of this host. If the folder or its index.html is missing, returns a page that says so.
 */
export const loadUi = async (folder: string, { strictTransport }: { readonly strictTransport: boolean }): Promise<UiFiles> => {
  const contents = new Map<string, Uint8Array>()
  let total = 0
  // synchronously: a few hundred small asynchronous reads in sequence would delay a start more than anything else
  const read = (below: string): void => {
    for (const entry of readdirSync(join(folder, below), { withFileTypes: true })) {
      if (entry.name.startsWith(".")) continue
      const path = below === "" ? entry.name : `${below}/${entry.name}`
      if (entry.isDirectory()) read(path)
      else if (entry.isFile()) {
        total += statSync(join(folder, path)).size
        if (total > mostBytes || contents.size >= mostFiles)
          throw new Error(`it holds more than ${mostFiles} files or ${mostBytes} bytes`)
        contents.set(path, readFileSync(join(folder, path)))
      }
    }
  }
  try {
    read("")
  } catch (cause) {
    if (isMissing(cause)) return withoutPage(strictTransport)
    const because = (cause as Error).message
    throw new Error(
      `Cannot serve the web page in ${folder}: ${because}. Set web_folder to the folder of the built page itself.`,
      { cause },
    )
  }
  if (!contents.has(indexPath)) return withoutPage(strictTransport)
  const files = new Map<string, UiFile>()
  for (const [path, plain] of contents) {
    const isReady = encodings.some((encoding) => path.endsWith(endings[encoding]) && contents.has(path.slice(0, -3)))
    if (!isReady) files.set(path, await uiFile(path, plain, contents, strictTransport))
  }
  return files
}

/** The compressed body that the client accepts. */
const chosen = (ctx: Context, { bodies }: UiFile): Encoding | undefined =>
  encodings.find((encoding) => bodies[encoding] !== undefined && ctx.acceptsEncodings(encoding) === encoding)

/** Whether the client already has the file. */
const hasIt = (ctx: Context, etag: string): boolean =>
  ctx
    .get("If-None-Match")
    .split(",")
    .some((sent) => sent.trim().replace(/^W\//u, "") === etag || sent.trim() === "*")

/** Whether this is the path of a file, whether or not there is one: pages are below folders of their own, and names in them may contain dots. */
const namesFile = (path: string): boolean =>
  path.startsWith("assets/") ||
  path.includes("\\") ||
  (path.includes(".") && !path.includes("/")) ||
  path.split("/").some((part) => part.startsWith("."))

/** The file for an address. Every other address is the page's document, unless it names a file. */
const fileAt = (files: UiFiles, path: string): UiFile | undefined => {
  const below = decodeURIComponent(path).replace(/^\/ui\/?/u, "")
  const found = files.get(below)
  if (found !== undefined) return found
  return namesFile(below) ? undefined : files.get(indexPath)
}

/** Serves the page below `/ui` from memory. */
export const serveUi =
  (files: UiFiles): Middleware =>
  async (ctx, next) => {
    if (!isUiPath(ctx.path) || (ctx.method !== "GET" && ctx.method !== "HEAD")) return next()
    const state = ctx.state as RequestState
    const file = fileAt(files, ctx.path)
    if (file === undefined)
      return replyProblem(ctx, problemOf(new RouteNotFound({ method: ctx.method, path: ctx.path }), "api", state.requestId))
    state.headers = ["X-Request-Id", state.requestId, ...file.headers]
    if (hasIt(ctx, file.etag)) return replyNotModified(ctx)
    const encoding = chosen(ctx, file)
    if (encoding === undefined) return reply(ctx, 200, file.type, file.bodies.plain)
    return reply(ctx, 200, file.type, file.bodies[encoding] ?? file.bodies.plain, ["Content-Encoding", encoding])
  }
