import { failure, type PveError } from "../core/errors.ts"
import { storageOf } from "../core/volumes.ts"
import { type Call } from "../http/call.ts"
import { demand, may } from "../http/permissions.ts"

/** The VM that a disk or a backup belongs to, by the volume's name. */
export const ownerOf = (volid: string): number | undefined => {
  const vmid = /(?:vm|base)-(\d+)-[^/]*$/u.exec(volid)?.[1] ?? /\/vzdump-[a-z]+-(\d+)-/u.exec(volid)?.[1]
  return vmid === undefined ? undefined : Number(vmid)
}

/**
 * Refuses a volume that the caller may not read. Images for installations need a right on their storage, backups and disks also one on
 * their VM; a VM's own disks (`forVm`) need nothing more.
 */
export const checkVolumeAccess = (call: Call, volid: string, forVm?: number): void => {
  const { world, identity } = call
  const storage = `/storage/${storageOf(volid)}`
  if (may(world, identity, storage, ["Datastore.Allocate"])) return
  if (/:(?:iso|vztmpl|import)\//u.test(volid))
    return demand(world, identity, storage, ["Datastore.AllocateSpace", "Datastore.Audit"], true)
  const owner = ownerOf(volid)
  if (owner === undefined || /:snippets\//u.test(volid)) throw failure(`missing privileges to access ${volid}`)
  if (owner === forVm) return
  const isBackup = /:backup\//u.test(volid)
  demand(world, identity, storage, [isBackup ? "Datastore.AllocateSpace" : "Datastore.Audit"])
  demand(world, identity, `/vms/${owner}`, [isBackup ? "VM.Backup" : "VM.Config.Disk"])
}

/** Whether the caller may read a volume. */
export const mayReadVolume = (call: Call, volid: string): boolean => {
  try {
    checkVolumeAccess(call, volid)
    return true
  } catch (error) {
    if ((error as PveError).name === "PveError") return false
    throw error
  }
}
