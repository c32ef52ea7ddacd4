import { createHash } from "node:crypto"
import { once } from "node:events"
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { gzipSync } from "node:zlib"
import { tar } from "../../content/support/archives.ts"
import { readNeed, type TestRelease } from "../installer.contract.ts"
import { tarEntriesOf } from "./tar-entries.ts"

const sha256 = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex")
const bytesOf = (content: TestRelease["files"][string]): Uint8Array => {
  if (content instanceof Uint8Array) return content
  return Buffer.from(typeof content === "string" ? content : "program" in content ? content.program : "")
}

/** A collection as `ansible-galaxy collection build` packs it: the tool checks every file against its list. */
const packCollection = ({ files }: TestRelease): Buffer => {
  const listed = Object.entries(files).filter(([path]) => path !== "MANIFEST.json")
  const file = (name: string, content: Uint8Array | string) => ({
    name,
    ftype: "file",
    chksum_type: "sha256",
    chksum_sha256: sha256(content),
    format: 1,
  })
  const folder = { name: ".", ftype: "dir", chksum_type: null, chksum_sha256: null, format: 1 }
  const list = JSON.stringify({ files: [folder, ...listed.map(([path, content]) => file(path, bytesOf(content)))], format: 1 })
  const manifest = {
    ...(JSON.parse(Buffer.from(bytesOf(files["MANIFEST.json"] ?? "{}")).toString()) as object),
    file_manifest_file: file("FILES.json", list),
  }
  const whole = { ...files, "MANIFEST.json": JSON.stringify(manifest), "FILES.json": list }
  return gzipSync(tar(tarEntriesOf(whole, "")))
}

const packRole = ({ name, version, files }: TestRelease): Buffer => gzipSync(tar(tarEntriesOf(files, `${name}-${version}/`)))

export interface GalaxyServer {
  readonly url: string
  readonly publish: (release: TestRelease) => void
  /** Every request, as `<method> <path>`. */
  readonly requests: readonly { readonly line: string; readonly authorization: string | undefined }[]
  /** Requests for these paths are never answered. */
  readonly hang: (path: RegExp) => void
  /** The next requests for these paths, this many, have their connection reset. */
  readonly breakOff: (path: RegExp, times: number) => void
  readonly close: () => Promise<void>
}

/**
 * Answers the requests of `ansible-galaxy` as a Galaxy server does: roles with version 1 of its API, collections with version 3. `shown`:
 * the URL that it is reached by, instead of its own.
 */
export const galaxyServer = async (shown?: string): Promise<GalaxyServer> => {
  const releases: TestRelease[] = []
  const requests: { line: string; authorization: string | undefined }[] = []
  let hanging: RegExp | undefined
  let broken: { readonly path: RegExp; times: number } | undefined
  let base = ""
  const versions = (type: TestRelease["type"], name: string) => releases.filter((one) => one.type === type && one.name === name)
  const roleNames = () => [...new Set(releases.filter(({ type }) => type === "role").map(({ name }) => name))]

  const archive = (type: string, file: string): Buffer | undefined => {
    const release = releases.find((one) => one.type === type && `${one.name}-${one.version}.tar.gz` === file)
    return release === undefined ? undefined : type === "role" ? packRole(release) : packCollection(release)
  }

  const collection = (namespace: string, name: string, version: string | undefined): unknown => {
    const found = versions("collection", `${namespace}.${name}`)
    if (version === undefined)
      return found.length === 0
        ? undefined
        : { meta: {}, links: { next: null }, data: found.map((one) => ({ version: one.version })) }
    const release = found.find((one) => one.version === version)
    if (release === undefined) return undefined
    return {
      namespace: { name: namespace },
      collection: { name },
      name,
      version,
      href: `${base}/api/v3/collections/${namespace}/${name}/versions/${version}/`,
      download_url: `${base}/download/collection/${release.name}-${version}.tar.gz`,
      artifact: { sha256: sha256(packCollection(release)) },
      metadata: { dependencies: Object.fromEntries(release.needs.map(readNeed).map((need) => [need.name, need.version ?? "*"])) },
    }
  }

  const answer = (url: URL): unknown => {
    const { pathname, searchParams } = url
    const parts = pathname.split("/").filter((part) => part !== "")
    if (parts.join("/") === "api") return { available_versions: { v1: "v1/", v3: "v3/" }, current_version: "v3" }
    if (parts.join("/") === "api/v1/roles") {
      const name = `${searchParams.get("owner__username")}.${searchParams.get("name")}`
      const id = roleNames().indexOf(name)
      return { results: id === -1 ? [] : [{ id: id + 1, name, github_user: "nobody", github_repo: "nothing" }], next_link: null }
    }
    if (parts[1] === "v1" && parts[4] === "versions") {
      const name = roleNames()[Number(parts[3]) - 1] ?? ""
      const download = (version: string) => `${base}/download/role/${name}-${version}.tar.gz`
      return {
        results: versions("role", name).map(({ version }) => ({ name: version, download_url: download(version) })),
        next_link: null,
      }
    }
    if (parts[1] === "v3" && parts.length === 5 && versions("collection", `${parts[3]}.${parts[4]}`).length > 0)
      return { namespace: parts[3], name: parts[4], created_at: "2026-01-01T00:00:00Z", updated_at: "2026-01-01T00:00:00Z" }
    if (parts[1] === "v3" && parts[2] === "collections" && parts[5] === "versions")
      return collection(parts[3] ?? "", parts[4] ?? "", parts[6])
    return undefined
  }

  const server = createServer((request: IncomingMessage, response) => {
    requests.push({ line: `${request.method} ${request.url}`, authorization: request.headers.authorization })
    const url = new URL(request.url ?? "/", base)
    if (hanging?.test(url.pathname) === true) return
    if (broken !== undefined && broken.times > 0 && broken.path.test(url.pathname)) {
      broken.times -= 1
      request.socket.resetAndDestroy()
      return
    }
    const [, place, type = "", file = ""] = url.pathname.split("/")
    const body = place === "download" ? archive(type, file) : answer(url)
    response.statusCode = body === undefined ? 404 : 200
    response.setHeader("content-type", Buffer.isBuffer(body) ? "application/gzip" : "application/json")
    response.end(Buffer.isBuffer(body) ? body : JSON.stringify(body ?? { code: "not_found", message: "Not found." }))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  base = shown ?? url
  return {
    url,
    publish: (release) => void releases.push(release),
    requests,
    hang: (path) => {
      hanging = path
    },
    breakOff: (path, times) => {
      broken = { path, times }
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
