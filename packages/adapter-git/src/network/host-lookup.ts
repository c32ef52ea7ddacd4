import { systemPath } from "@rangewright/host-tools"
import { execFile } from "node:child_process"
import { lookup } from "node:dns/promises"
import { isIP } from "node:net"

/** Resolves a name to its addresses, as the host does. */
export type Lookup = (host: string) => Promise<readonly string[]>

/** Longer than resolvers try by default. */
const longestMillis = 30_000

const failed = (code: string): NodeJS.ErrnoException => Object.assign(new Error(code), { code })

const byProgram: Lookup = (host) =>
  new Promise((resolve, reject) => {
    const options = { env: { PATH: systemPath, LC_ALL: "C" }, cwd: "/", timeout: longestMillis }
    execFile("getent", ["ahosts", host], options, (error, stdout) => {
      if (error === null) return resolve([...new Set(stdout.split("\n").flatMap((line) => line.split(" ", 1)))].filter(isIP))
      if (error.killed === true) return reject(failed("ETIMEOUT"))
      // the program's exit code for a name that it does not find
      reject(error.code === 2 ? failed("ENOTFOUND") : error)
    })
  })

/**
 * Resolves in a program of its own: Node.js resolves two names at a time, so a few whose servers never answer, which anybody can name as
 * sources, would hold up the service's own connections.
 */
export const hostLookup: Lookup = (host) =>
  isIP(host) > 0
    ? Promise.resolve([host])
    : byProgram(host).catch(async (error: NodeJS.ErrnoException) => {
        if (error.code !== "ENOENT") throw error
        // a host without the program
        return (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address)
      })
