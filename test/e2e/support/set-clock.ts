/** Loaded before a program: sets its clock TEST_CLOCK_AHEAD seconds ahead, as on a host whose clock is wrong. */
const ahead = Number(process.env["TEST_CLOCK_AHEAD"]) * 1000
const Real = Date

globalThis.Date = new Proxy(Real, {
  construct: (_, args: readonly unknown[]) => Reflect.construct(Real, args.length === 0 ? [Real.now() + ahead] : args) as Date,
  get: (_, name) => (name === "now" ? () => Real.now() + ahead : (Reflect.get(Real, name) as unknown)),
})
