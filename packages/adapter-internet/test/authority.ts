import { execFileSync, spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

export interface Signed {
  readonly cert: string
  readonly key: string
}

/** A certificate authority of the tests' own. `extensions` are lines as `openssl x509 -extfile` reads them. */
export interface Authority {
  readonly root: string
  /** Signed by `by`, by the root where absent. */
  readonly sign: (subject: string, extensions: readonly string[], by?: string) => Signed
  readonly remove: () => void
}

/** Without the program there are no certificates to test with. */
export const hasOpenssl = spawnSync("openssl", ["version"]).status === 0

export const makeAuthority = (): Authority => {
  const folder = mkdtempSync(join(tmpdir(), "rangewright-authority-"))
  const openssl = (...args: readonly string[]) => execFileSync("openssl", args, { cwd: folder, stdio: "ignore" })
  const read = (file: string) => readFileSync(join(folder, file), "utf8")
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
  const ca = ["-addext", "basicConstraints=critical,CA:true"]
  openssl("req", "-x509", ...newKey, "-keyout", "root.key", "-out", "root.pem", "-days", "10", "-subj", "/CN=root", ...ca)
  return {
    root: read("root.pem"),
    sign: (subject, extensions, by = "root") => {
      writeFileSync(join(folder, "extensions"), extensions.join("\n"))
      openssl("req", ...newKey, "-keyout", `${subject}.key`, "-out", "request", "-subj", `/CN=${subject}`)
      const signer = ["-CA", `${by}.pem`, "-CAkey", `${by}.key`, "-CAcreateserial", "-days", "5"]
      openssl("x509", "-req", "-in", "request", ...signer, "-extfile", "extensions", "-out", `${subject}.pem`)
      return { cert: read(`${subject}.pem`), key: read(`${subject}.key`) }
    },
    remove: () => rmSync(folder, { recursive: true }),
  }
}
