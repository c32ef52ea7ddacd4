/** An event of a server-sent event stream. A client that comes back sends the last id as `Last-Event-ID`. */
export interface ServerSentEvent {
  readonly id: string
  readonly event: string
  readonly data: unknown
}
