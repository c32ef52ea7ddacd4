import { failure } from "./errors.ts"
import type { StorageState, Volume } from "./state.ts"
import { isFileBased } from "./volumes.ts"

/** Allowed names of files from outside, by content type. */
export const fileExtensions: Readonly<Record<string, RegExp>> = {
  iso: /[^/]\.(?:iso|img)$/iu,
  vztmpl: /[^/]\.tar\.(?:gz|xz|zst|bz2)$/iu,
  import: /[^/]\.(?:ova|qcow2|raw|vmdk)$/iu,
}

const folders: Readonly<Record<string, string>> = {
  iso: "template/iso",
  vztmpl: "template/cache",
  backup: "dump",
  snippets: "snippets",
  import: "import",
}

/** The name of a storage type's plugin in failures. */
const plugins: Readonly<Record<string, string>> = { lvm: "lvm", lvmthin: "lvm", zfspool: "zfs", rbd: "rbd" }

const isFile = (name: string): boolean => {
  const [, type = "", file = ""] = /^([a-z]+)\/(.+)$/u.exec(name) ?? []
  if (fileExtensions[type] !== undefined) return fileExtensions[type].test(file)
  return type === "snippets" || (type === "backup" && /\.(?:tgz|tar|vma)(?:\.(?:gz|lzo|zst|bz2))?$/u.test(file))
}

const isDiskName = (name: string): boolean => /^(?:base-\d+-[^/\s]+\/)?(?:vm|base)-\d+-[^/\s]+$/u.test(name)

/** Fails if a text cannot be the name of a volume on the storage, whether it exists or not. */
export const refuseOddName = (storage: StorageState, name: string): void => {
  const isOfDirectory = isFileBased(storage)
  const isSound = isOfDirectory ? isFile(name) || /^\d+\/[^/\s]+(?:\/\d+\/[^/\s]+)?$/u.test(name) : isDiskName(name)
  if (isSound) return
  throw failure(`unable to parse ${isOfDirectory ? "directory" : (plugins[storage.type] ?? storage.type)} volume name '${name}'`)
}

/** The path of a volume on its node: a file or a block device. */
export const pathOf = (storage: StorageState, volid: string): string => {
  const name = volid.slice(volid.indexOf(":") + 1)
  const { path = `/mnt/pve/${storage.id}`, vgname = "pve", pool = storage.id } = storage.options
  if (isFileBased(storage)) {
    const [type = "", file = ""] = name.split("/").slice(-2)
    return `${path}/${folders[type] ?? `images/${type}`}/${file}`
  }
  const own = name.split("/").at(-1)!
  if (storage.type === "zfspool") return `/dev/zvol/${pool}/${own}`
  return storage.type === "rbd" ? `rbd:${pool}/${own}` : `/dev/${vgname}/${own}`
}

/** The output of `qemu-img` when it creates a disk's file; empty for a block device. */
export const makingOf = (storage: StorageState, volume: Volume, base?: Volume): string[] => {
  if (!isFileBased(storage)) return []
  const made = `Formatting '${pathOf(storage, volume.volid)}', fmt=${volume.format}`
  if (volume.format === "raw") return [`${made} size=${volume.sizeBytes} preallocation=off`]
  if (volume.format !== "qcow2") return []
  const qcow2 = (clusters: string, backing: string) =>
    `${made} ${clusters} preallocation=metadata compression_type=zlib size=${volume.sizeBytes}${backing} lazy_refcounts=off refcount_bits=16`
  if (base === undefined) return [qcow2("cluster_size=65536 extended_l2=off", "")]
  const [owner = "", from = ""] = base.volid.slice(base.volid.indexOf(":") + 1).split("/")
  const own = volume.volid.split("/").at(-1)!
  return [
    `clone ${owner}/${from}: images, ${own}, ${volume.vmid} to ${own} (base=../${owner}/${from})`,
    qcow2("cluster_size=131072 extended_l2=on", ` backing_file=../${owner}/${from} backing_fmt=qcow2`),
  ]
}
