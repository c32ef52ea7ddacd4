import { spawn } from "node:child_process"
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http"
import { createServer as createTlsServer } from "node:https"
import type { AddressInfo } from "node:net"

export interface GitHttp {
  readonly port: number
  /** Every request, as `METHOD path`, with its login and password. */
  readonly requests: { readonly line: string; readonly authorization: string | undefined }[]
  readonly close: () => Promise<void>
}

/** Answers itself, or leaves the request to git. */
export type Interceptor = (request: IncomingMessage, response: ServerResponse) => boolean

/** Git's own CGI program for the bare repositories below `root`. */
const backend =
  (root: string): RequestListener =>
  (request, response) => {
    const url = new URL(request.url ?? "/", "http://server")
    const cgi = spawn("git", ["http-backend"], {
      env: {
        PATH: process.env["PATH"],
        GIT_PROJECT_ROOT: root,
        GIT_HTTP_EXPORT_ALL: "1",
        REQUEST_METHOD: request.method,
        PATH_INFO: decodeURIComponent(url.pathname),
        QUERY_STRING: url.search.slice(1),
        CONTENT_TYPE: request.headers["content-type"] ?? "",
        HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
        GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
        REMOTE_ADDR: "127.0.0.1",
      },
    })
    request.pipe(cgi.stdin).on("error", () => {})
    response.on("close", () => cgi.kill())
    let head: Buffer | undefined = Buffer.alloc(0)
    cgi.stdout.on("data", (chunk: Buffer) => {
      if (head === undefined) return void response.write(chunk)
      head = Buffer.concat([head, chunk])
      const end = head.indexOf("\r\n\r\n")
      if (end < 0) return
      let status = 200
      for (const line of head.toString("latin1", 0, end).split("\r\n")) {
        const [name = "", ...value] = line.split(": ")
        if (name.toLowerCase() === "status") status = Number.parseInt(value.join(""), 10)
        else response.setHeader(name, value.join(": "))
      }
      response.writeHead(status)
      response.write(head.subarray(end + 4))
      head = undefined
    })
    cgi.stdout.on("end", () => response.end())
  }

/** Serves repositories on the loopback address, over https with a certificate. */
export const gitHttp = async (
  root: string,
  intercept: Interceptor = () => false,
  certificate?: { readonly cert: string; readonly key: string },
): Promise<GitHttp> => {
  const requests: GitHttp["requests"] = []
  const serve = backend(root)
  const listener: RequestListener = (request, response) => {
    const { authorization } = request.headers
    requests.push({
      line: `${request.method} ${request.url}`,
      authorization: authorization === undefined ? undefined : Buffer.from(authorization.slice(6), "base64").toString(),
    })
    if (!intercept(request, response)) serve(request, response)
  }
  const server: Server = certificate === undefined ? createServer(listener) : createTlsServer(certificate, listener)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Requires this password on every request. */
export const wantsPassword =
  (password: string): Interceptor =>
  (request, response) => {
    const given = Buffer.from((request.headers.authorization ?? "").slice(6), "base64").toString()
    if (given.endsWith(`:${password}`)) return false
    response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end()
    return true
  }
