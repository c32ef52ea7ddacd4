/** An event of a server-sent event stream. A reconnecting client sends the last ID as `Last-Event-ID`. */
export interface ServerSentEvent {
  readonly id: string
  readonly event: string
  readonly data: unknown
}
