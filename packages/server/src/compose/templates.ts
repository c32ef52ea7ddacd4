import { HypervisorFault, HypervisorTemplates, TemplateBuilder } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

export type TemplatePorts = HypervisorTemplates | TemplateBuilder

const refused = (doing: string) =>
  Effect.fail(new HypervisorFault({ doing, reason: "failed", detail: "this service has no way to templates on the hypervisor" }))

/** A service that builds no templates, and leaves those that are there alone. */
export const noTemplates: Layer.Layer<TemplatePorts> = Layer.merge(
  Layer.succeed(TemplateBuilder, {
    available: Effect.succeed({
      available: false as const,
      because: ["this service has no builder"],
      hint: "Build them with another tool, and put them into the pool SHARED.",
    }),
    build: ({ template }) => Effect.die(new Error(`nothing can build ${template}`)),
    clear: () => Effect.void,
  }),
  Layer.succeed(HypervisorTemplates, {
    open: () => refused("open a build"),
    made: () => Effect.succeed([]),
    adopt: () => refused("take over a template"),
    close: () => Effect.void,
    opened: Effect.succeed([]),
    clones: () => refused("look for clones of a template"),
    remove: () => refused("remove a template"),
  }),
)
