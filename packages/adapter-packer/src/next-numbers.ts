/** Numbers to try before falling back to the hypervisor's answer. */
const mostTries = 200

/** How the hypervisor answers about VM numbers. */
export interface FreeNumbers {
  /** The lowest number that the build would use; undefined when unknown. */
  readonly least: () => Promise<number | undefined>
  readonly isFree: (vmid: number) => Promise<boolean>
}

/**
 * The next free VM numbers, for concurrent builds: each would see the same number as free until the first one has created its VM, and the
 * hypervisor would refuse the others. A build holds one number at a time, until its VM has it.
 */
export const openNumbers = () => {
  const held = new Map<string, number>()
  const isOthers = (build: string, vmid: number) => [...held].some(([other, its]) => other !== build && its === vmid)

  return {
    /** The number that a build may use next; undefined when unknown. */
    take: async (build: string, { least, isFree }: FreeNumbers): Promise<number | undefined> => {
      const start = await least()
      if (start === undefined) return undefined
      const own = held.get(build)
      if (own !== undefined && own >= start && (await isFree(own))) return own
      for (let vmid = start; vmid < start + mostTries; vmid += 1) {
        if (isOthers(build, vmid)) continue
        // reserved before the hypervisor is queried, as other builds query meanwhile
        held.set(build, vmid)
        if (await isFree(vmid)) return vmid
      }
      held.delete(build)
      return undefined
    },
    release: (build: string): void => void held.delete(build),
  }
}

export type NextNumbers = ReturnType<typeof openNumbers>
