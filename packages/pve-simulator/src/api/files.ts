import { createHash } from "node:crypto"
import type { Disc } from "../core/disc.ts"
import { badParameter, failure } from "../core/errors.ts"
import { sleep, type Routine } from "../core/routine.ts"
import type { StorageState } from "../core/state.ts"
import { fileExtensions, pathOf } from "../core/volume-paths.ts"
import { findVolume, isFileBased, usableStorage } from "../core/volumes.ts"
import { nowSeconds } from "../core/world.ts"
import { nodeOf, optionalText, spawn, text, type Call, type Routes } from "../http/call.ts"

/** A file name as a storage stores it. */
const storedName = (name: string): string =>
  name
    .trim()
    .replace(/^.*[/\\]/u, "")
    .replaceAll(/[^-a-zA-Z0-9_.]/gu, "_")

const refuseExtension = (type: string, filename: string): void => {
  if (fileExtensions[type]?.test(filename) === true) return
  throw badParameter({ filename: type === "import" ? "invalid filename or wrong extension" : "wrong file extension" })
}

/** Stores the uploaded file of the call, replacing one of the same name. */
const upload = (call: Call): string => {
  const { world } = call
  const node = nodeOf(call).name
  const storage = usableStorage(world, text(call, "storage"), node)
  if (!isFileBased(storage)) throw failure(`can't upload to storage type '${storage.type}'`)
  const type = text(call, "content")
  const filename = storedName(text(call, "filename"))
  if (filename === "") throw failure("missing filename")
  if (call.upload === undefined) throw failure("temporary file '' does not exist")
  refuseExtension(type, filename)
  if (!storage.content.includes(type)) throw failure(`storage '${storage.id}' does not support '${type}' content`)
  const { size, checksum, disc } = call.upload
  return spawn(call, "imgcopy", "", function* (task): Routine<void> {
    const wanted = optionalText(call, "checksum")
    if (wanted !== undefined && checksum?.toLowerCase() !== wanted.toLowerCase())
      throw failure(`checksum mismatch: got '${checksum}' != expect '${wanted}'`)
    task.log(`target node: ${node}`)
    task.log(`target file: ${pathOf(storage, `${storage.id}:${type}/${filename}`)}`)
    task.log(`file size is: ${size}`)
    yield* sleep(world.clock, size / world.timing.copyBytesPerMs)
    if (storage.full || world.faults.isStorageFull(storage.id)) throw failure("import failed: No space left on device")
    keepFile(call, storage, `${type}/${filename}`, size, disc)
    task.log("finished file import successfully")
  })
}

const keepFile = (call: Call, storage: StorageState, name: string, sizeBytes: number, disc?: Disc): void => {
  const node = nodeOf(call).name
  const id = `${storage.id}:${name}`
  storage.volumes.set(storage.shared ? id : `${node}/${id}`, {
    volid: id,
    node,
    vmid: undefined,
    sizeBytes,
    usedBytes: sizeBytes,
    format: name.split(".").at(-1) ?? "iso",
    content: name.slice(0, name.indexOf("/")),
    ctime: nowSeconds(call.world),
    parent: undefined,
    ...(disc === undefined ? {} : { disc }),
  })
}

/** Nothing is fetched: every download has this size. */
const downloadBytes = 512 * 1024 ** 2

function* fetchFile(call: Call, storage: StorageState, name: string): Routine<void> {
  yield* sleep(call.world.clock, downloadBytes / call.world.timing.copyBytesPerMs)
  keepFile(call, storage, name, downloadBytes)
}

/** Fails if the text cannot be a checksum of this algorithm; any well-formed one is accepted. */
const refuseChecksum = (algorithm: string, checksum: string, filename: string): void => {
  const got = createHash(algorithm).update(filename).digest("hex")
  if (checksum.length !== got.length || !/^[0-9a-f]+$/iu.test(checksum))
    throw failure(`checksum mismatch: got '${got}' != expect '${checksum}'`)
}

/** A download by the node: an image appears with that name. */
const download = (call: Call): string => {
  const { world } = call
  const node = nodeOf(call).name
  const storage = usableStorage(world, text(call, "storage"), node)
  const type = text(call, "content")
  if (!isFileBased(storage)) throw failure(`can't upload to storage type '${storage.type}', not a file based storage!`)
  if (!storage.content.includes(type)) throw failure(`storage '${storage.id}' is not configured for content-type '${type}'`)
  const filename = storedName(text(call, "filename"))
  refuseExtension(type, filename)
  const checksum = optionalText(call, "checksum")
  return spawn(call, "download", filename, function* (task): Routine<void> {
    const path = pathOf(storage, `${storage.id}:${type}/${filename}`)
    if (findVolume(world, node, `${storage.id}:${type}/${filename}`) !== undefined && checksum === undefined)
      throw failure(`refusing to override existing file '${path}'`)
    task.log(`downloading ${text(call, "url")} to ${path}`)
    if (checksum !== undefined) refuseChecksum(text(call, "checksum-algorithm"), checksum, filename)
    yield* fetchFile(call, storage, `${type}/${filename}`)
  })
}

/** The metadata that the node would get from a URL before a download. */
const metadata = (call: Call) => {
  const filename = decoded(/^https?:\/\/[^/?#]*\/(?:[^?#]*\/)?([^/?#]*)/iu.exec(text(call, "url"))?.[1] ?? "")
  return { ...(filename === "" ? {} : { filename }), mimetype: "application/octet-stream", size: downloadBytes }
}

const decoded = (name: string): string => {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/** Some of the container templates that a node knows. */
const appliances = [
  {
    os: "alpine-3.22",
    version: "20250617",
    file: "alpine-3.22-default_20250617_amd64.tar.xz",
    headline: "LXC default image for alpine 3.22",
  },
  {
    os: "debian-12",
    version: "12.12-1",
    file: "debian-12-standard_12.12-1_amd64.tar.zst",
    headline: "Debian 12 Bookworm (standard)",
  },
  {
    os: "debian-13",
    version: "13.1-2",
    file: "debian-13-standard_13.1-2_amd64.tar.zst",
    headline: "Debian 13 Trixie (standard)",
  },
  {
    os: "ubuntu-24.04",
    version: "24.04-2",
    file: "ubuntu-24.04-standard_24.04-2_amd64.tar.zst",
    headline: "Ubuntu 24.04 Noble (standard)",
  },
].map(({ os, version, file, headline }) => ({
  template: file,
  package: file.split("_")[0],
  type: "lxc",
  section: "system",
  source: "https://appliances.example",
  location: file,
  architecture: "amd64",
  infopage: "https://pve.example/containers",
  description: headline,
  os,
  version,
  headline,
}))

const fetchAppliance = (call: Call): string => {
  const template = text(call, "template")
  if (!appliances.some((known) => known.template === template)) throw badParameter({ template: "no such template" })
  const storage = usableStorage(call.world, text(call, "storage"), nodeOf(call).name)
  if (!storage.content.includes("vztmpl"))
    throw failure(`cannot download to storage '${storage.id}': it is not configured for content type 'vztmpl'`)
  return spawn(call, "download", "", () => fetchFile(call, storage, `vztmpl/${template}`))
}

/** Files added to a storage: uploads, downloads, container templates. */
export const fileRoutes: Routes = {
  "POST /nodes/{node}/storage/{storage}/upload": upload,
  "POST /nodes/{node}/storage/{storage}/download-url": download,
  "GET /nodes/{node}/query-url-metadata": metadata,
  "GET /nodes/{node}/aplinfo": () => appliances,
  "POST /nodes/{node}/aplinfo": fetchAppliance,
}
