/** The part of autocannon that the benchmarks use; the package has no types. */
declare module "autocannon" {
  export interface Result {
    readonly requests: { readonly average: number; readonly total: number }
    readonly latency: { readonly p50: number; readonly p99: number }
    readonly throughput: { readonly average: number }
    readonly errors: number
    readonly non2xx: number
  }
  const autocannon: (options: {
    readonly url: string
    readonly connections: number
    readonly duration: number
    readonly headers?: Readonly<Record<string, string>>
  }) => Promise<Result>
  export default autocannon
}
