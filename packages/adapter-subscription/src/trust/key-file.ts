import { constants } from "node:fs"
import { open } from "node:fs/promises"
import { KeyFileUnusable, reasonOf } from "../faults.ts"
import { newSigningKey, parseSigningKey, pemOf, type SigningKey } from "./keys.ts"

const readableByOthers = 0o077
const mostBytes = 16 * 1024

/** Creates a private key in a new file that only its owner may read; refuses to touch an existing file. */
export const createKeyFile = async (path: string): Promise<SigningKey> => {
  const key = newSigningKey()
  const file = await open(path, "wx", 0o600).catch((cause: NodeJS.ErrnoException) => {
    throw new KeyFileUnusable({
      doing: `make the key file ${path}`,
      detail: cause.code === "EEXIST" ? "the file already exists, and may be a key in use" : reasonOf(cause),
      ...(cause.code === "EEXIST" ? { hint: "Choose another file, or remove this one if nothing trusts its key." } : {}),
    })
  })
  try {
    await file.writeFile(pemOf(key))
    await file.sync()
  } finally {
    await file.close()
  }
  return key
}

/** Reads a private key from a file that only its owner may read. */
export const readKeyFile = async (path: string): Promise<SigningKey> => {
  const doing = `use the key file ${path}`
  const unusable = (detail: string, hint?: string) =>
    new KeyFileUnusable({ doing, detail, ...(hint === undefined ? {} : { hint }) })
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch((cause: NodeJS.ErrnoException) => {
    throw unusable(
      reasonOf(cause),
      cause.code === "ENOENT" ? `Create one with: npm start -- subscription keygen --key ${path}` : undefined,
    )
  })
  try {
    const stat = await file.stat()
    if (!stat.isFile() || stat.size > mostBytes) throw unusable("it is not a key file")
    if ((stat.mode & readableByOthers) !== 0)
      throw unusable(
        `its mode is ${(stat.mode & 0o777).toString(8).padStart(4, "0")}, so others on this machine may read it`,
        `Run chmod 600 ${path}; if somebody else may have read it, create a new one.`,
      )
    const key = parseSigningKey(await file.readFile("utf8"))
    if (key === undefined) throw unusable("it does not contain an Ed25519 private key in PEM format")
    return key
  } finally {
    await file.close()
  }
}
