import { Conflict, isVmid, listed, type RunHead, type Vmid, workPlan } from "@rangewright/domain"
import { HypervisorTemplates, Machines } from "@rangewright/ports"
import { runKind, work } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

const isNumber = (n: number): n is Vmid => isVmid(n)
const Removal = Schema.Struct({
  template: Schema.String,
  vmid: Schema.Int.pipe(Schema.refine(isNumber)),
})
const readRemoval = Schema.decodeUnknownOption(Removal)

/** What a removal's run removes; undefined: its request cannot be read. */
export const removalOf = ({ options }: Pick<RunHead, "options">) => Option.getOrUndefined(readRemoval(options))

/** Fails while disks of other VMs are linked to the template's. */
const needNothing = Effect.fnUntraced(function* ({ template, vmid }: typeof Removal.Type) {
  const templates = yield* HypervisorTemplates
  const clones = yield* templates.clones({ vmid, name: template })
  if (clones.length === 0) return
  const named = clones.map((clone) => `${clone.name} (VM ${clone.vmid})`)
  return yield* new Conflict({
    what: `Cannot delete template ${template}: the disks of ${clones.length === 1 ? "a machine" : `${clones.length} machines`} are linked to it: ${listed(named)}`,
    hint: "Delete these machines first, or deploy them again as full clones.",
  })
})

const remove = work({
  name: "remove-template",
  input: Removal,
  settle: (removal) =>
    Effect.gen(function* () {
      const templates = yield* HypervisorTemplates
      const machines = yield* Machines
      yield* needNothing(removal)
      yield* templates.remove({ vmid: removal.vmid, name: removal.template })
      yield* machines.forget(removal.vmid)
      return { changed: true }
    }),
})

/** Removes a template from the hypervisor, unless it is being built or needed. */
export const templateRemoval = runKind({
  name: "template-removal",
  doing: "its removal",
  request: Removal,
  plan: (removal) =>
    Effect.as(
      needNothing(removal),
      workPlan([
        remove.step(
          {
            key: "remove",
            title: `Remove template ${removal.template} (VM ${removal.vmid})`,
            estimate: 5,
            pointOfNoReturn: true,
          },
          removal,
        ),
      ]),
    ),
  works: [remove],
})
