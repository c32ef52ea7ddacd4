/** Numbers that are looked at before the hypervisor's answer is given as it is. */
const mostTries = 200

/** What the hypervisor says of numbers of VMs. */
export interface FreeNumbers {
  /** The least that the build would take; undefined where nobody knows. */
  readonly least: () => Promise<number | undefined>
  readonly isFree: (vmid: number) => Promise<boolean>
}

/**
 * The next free numbers of VMs, for builds that go on at once: each sees the same ones as free before the first has made its VM, and the
 * hypervisor then refuses to make the others'. A build holds one number at a time, until its VM has it.
 */
export const openNumbers = () => {
  const held = new Map<string, number>()
  const isOthers = (build: string, vmid: number) => [...held].some(([other, its]) => other !== build && its === vmid)

  return {
    /** The number that a build may use next; undefined: nobody knows. */
    take: async (build: string, { least, isFree }: FreeNumbers): Promise<number | undefined> => {
      const start = await least()
      if (start === undefined) return undefined
      const own = held.get(build)
      if (own !== undefined && own >= start && (await isFree(own))) return own
      for (let vmid = start; vmid < start + mostTries; vmid += 1) {
        if (isOthers(build, vmid)) continue
        // before the hypervisor is asked: meanwhile others look too
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
