import * as Context from "effect/Context"

/** Intercepts every call of a port. */
interface Gate {
  readonly guard: <S extends object>(port: string, service: S) => S
}

/** The same ports, each wrapped by the gate under its short name (`Machines`). */
export const guardedPorts = <P>(
  gate: Gate,
  keys: readonly { readonly key: string }[],
  ports: Context.Context<P>,
): Context.Context<P> =>
  keys.reduce<Context.Context<P>>((context, key) => {
    const wide = key as unknown as Context.Key<P, object>
    const name = key.key.replace("rangewright/", "")
    return Context.add(context, wide, gate.guard(name, Context.get(ports, wide))) as Context.Context<P>
  }, ports)
