import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import * as Effect from "effect/Effect"
import { sandboxArguments } from "../src/sandbox.ts"
import { sandboxAvailability } from "../src/sandbox-availability.ts"

const found = await Effect.runPromise(sandboxAvailability("auto"))
const note = found.works ? "" : ` (skipped: ${found.because})`

describe.skipIf(!found.works)(`the sandbox of tools${note}`, () => {
  it("allows no kernel settings to be changed, whatever account the service has", () => {
    const look =
      "for d in /proc/sys /proc/bus /proc/fs /proc/irq; do [ -d $d ] && find $d -type f -writable; done; test -w /proc/sysrq-trigger && echo sysrq; echo looked"
    const seen = execFileSync("bwrap", [...sandboxArguments([]), "/bin/sh", "-c", look], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    })
    expect(seen).toBe("looked\n")
  })

  it("has the certificates of authorities on hosts that keep them next to private keys, but no key", () => {
    const etc = mkdtempSync(join(tmpdir(), "rw-etc-"))
    onTestFinished(() => rmSync(etc, { recursive: true, force: true }))
    const files = {
      "pki/ca-trust/extracted/pem/tls-ca-bundle.pem": "authorities",
      "pki/tls/openssl.cnf": "settings",
      "pki/tls/private/host.key": "secret",
      "pki/consumer/key.pem": "secret",
      "pki/nssdb/key4.db": "secret",
      "ssl/private/host.key": "secret",
    }
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(etc, name)), { recursive: true })
      writeFileSync(join(etc, name), text)
    }
    mkdirSync(join(etc, "pki/tls/certs"))
    const links = {
      "pki/tls/certs/ca-bundle.crt": "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
      "pki/tls/cert.pem": "/etc/pki/tls/certs/ca-bundle.crt",
      "pki/tls/certs/host.key": "../private/host.key",
      "ssl/certs": "../pki/tls/certs",
    }
    for (const [name, target] of Object.entries(links)) symlinkSync(target, join(etc, name))
    const host = ["--dev-bind", "/", "/", "--tmpfs", "/etc"]
    for (const name of ["pki", "ssl"]) host.push("--bind", join(etc, name), `/etc/${name}`)
    const wanted = ["pki/tls/cert.pem", "pki/tls/certs/ca-bundle.crt", "ssl/certs/ca-bundle.crt", "pki/tls/openssl.cnf"]
    const look = `cd /etc; for f in ${wanted.join(" ")}; do cat $f; echo; done; grep -rs secret . ssl/certs/host.key; echo looked`
    const seen = execFileSync("bwrap", [...host, "--", "bwrap", ...sandboxArguments([]), "/bin/sh", "-c", look], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    })
    expect(seen).toBe("authorities\nauthorities\nauthorities\nsettings\nlooked\n")
  })
})

it("a sandbox sees nothing of the host but its programs and what it is given", () => {
  const args = sandboxArguments([
    { from: "/data/scratch", writable: true },
    { from: "/library", to: "/roles" },
  ])
  const pairs = args.flatMap((arg, at) => (arg.includes("bind") ? [[arg, args[at + 1], args[at + 2]]] : []))
  expect(pairs).toContainEqual(["--bind", "/data/scratch", "/data/scratch"])
  expect(pairs).toContainEqual(["--ro-bind-try", "/library", "/roles"])
  expect(pairs.filter(([how]) => how === "--bind")).toHaveLength(1)
  const sources = pairs.map(([, from = ""]) => from)
  for (const hidden of [
    "/",
    "/etc",
    "/home",
    "/root",
    "/var",
    "/run",
    "/etc/shadow",
    "/etc/ssl",
    "/etc/ssl/private",
    "/etc/pki",
    "/etc/pki/tls",
  ])
    expect(sources).not.toContain(hidden)
  for (const word of ["--die-with-parent", "--unshare-net", "--disable-userns"]) expect(args).toContain(word)
  expect(args.join(" ")).toContain("--cap-drop ALL")
})
